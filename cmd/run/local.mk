# SPDX-License-Identifier: Apache-2.0
# cmd/run/local.mk -- what the makefile knows of this folder.
autocast_SOURCES += \
	cmd/run/elf_facts.c \
	cmd/run/compared.h \
	cmd/run/compared.c \
	cmd/run/again.c \
	cmd/run/again.h \
	cmd/run/child.c \
	cmd/run/child.h \
	cmd/run/chosen.c \
	cmd/run/end.c \
	cmd/run/launch.c \
	cmd/run/launch.h \
	cmd/run/launch_state.c \
	cmd/run/launcher.c \
	cmd/run/launcher.h \
	cmd/run/preflight.c \
	cmd/run/preload.c \
	cmd/run/quote.c \
	cmd/run/program.c \
	cmd/run/program.h \
	cmd/run/ranks.c \
	cmd/run/run.c \
	cmd/run/run.h \
	cmd/run/where.c
