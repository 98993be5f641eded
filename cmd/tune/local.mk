# SPDX-License-Identifier: Apache-2.0
# cmd/tune/local.mk -- what the makefile knows of this folder.
autocast_SOURCES += \
	cmd/tune/bisect.c \
	cmd/tune/freeze.c \
	cmd/tune/search.c \
	cmd/tune/search.h \
	cmd/tune/tune.c \
	cmd/tune/tune.h \
	cmd/tune/tune_check.c \
	cmd/tune/tune_files.c \
	cmd/tune/tune_journal.c \
	cmd/tune/tune_key.c \
	cmd/tune/tune_lines.c \
	cmd/tune/tune_lines.h \
	cmd/tune/tune_loop.c \
	cmd/tune/tune_parts.c \
	cmd/tune/tune_plan.c \
	cmd/tune/tune_run.c \
	cmd/tune/tune_tell.c \
	cmd/tune/tune_text.c \
	cmd/tune/tune_verb.c
