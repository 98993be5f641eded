# SPDX-License-Identifier: Apache-2.0
# shim/trial/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/trial/chain.c \
	shim/trial/chain.h \
	shim/trial/conduct.c \
	shim/trial/conduct.h \
	shim/trial/pair.c \
	shim/trial/pair.h \
	shim/trial/size_class.c \
	shim/trial/size_class.h \
	shim/trial/steady.h \
	shim/trial/timing.c \
	shim/trial/timing.h \
	shim/trial/trial.c \
	shim/trial/trial.h \
	shim/trial/trial_end.c \
	shim/trial/trial_graph.c \
	shim/trial/trial_judge.c \
	shim/trial/trial_slots.c \
	shim/trial/trial_state.h \
	shim/trial/trial_times.c \
	shim/trial/trial_try.c \
	shim/trial/trial_turn.c \
	shim/trial/trial_verdict.c \
	shim/trial/trial_wait.c
