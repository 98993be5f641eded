# SPDX-License-Identifier: Apache-2.0
# cmd/calibrate/local.mk -- what the makefile knows of this folder.
autocast_SOURCES += \
	cmd/calibrate/calibrate.c \
	cmd/calibrate/calibrate.h \
	cmd/calibrate/calibrate_measure.c \
	cmd/calibrate/calibrate_operand.c
