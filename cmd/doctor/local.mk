# SPDX-License-Identifier: Apache-2.0
# cmd/doctor/local.mk -- what the makefile knows of this folder.
autocast_SOURCES += \
	cmd/doctor/doctor.c \
	cmd/doctor/doctor.h \
	cmd/doctor/doctor_binding.c \
	cmd/doctor/doctor_causes.c \
	cmd/doctor/doctor_emulated.c \
	cmd/doctor/doctor_kept.c \
	cmd/doctor/doctor_machine.c \
	cmd/doctor/doctor_print.c \
	cmd/doctor/doctor_process.c \
	cmd/doctor/doctor_program.c \
	cmd/doctor/doctor_record.c \
	cmd/doctor/doctor_words.c
