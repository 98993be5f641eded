# SPDX-License-Identifier: Apache-2.0
# shim/trial/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/trial/chain.c \
	shim/trial/chain.h \
	shim/trial/conduct.c \
	shim/trial/conduct.h \
	shim/trial/learn.c \
	shim/trial/learn.h \
	shim/trial/origin.c \
	shim/trial/origin.h \
	shim/trial/origin_hear.c \
	shim/trial/origin_state.h \
	shim/trial/tuning.h \
	shim/trial/timing.c \
	shim/trial/timing.h \
	shim/trial/trial.c \
	shim/trial/trial.h \
	shim/trial/trial_home.c \
	shim/trial/trial_turn.c \
	shim/trial/turn.h \
	shim/trial/variants.c \
	shim/trial/variants_record.c \
	shim/trial/variants.h \
	shim/trial/wait.c \
	shim/trial/wait.h
