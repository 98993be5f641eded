# SPDX-License-Identifier: Apache-2.0
# cmd/compare/local.mk -- what the makefile knows of this folder.
autocast_SOURCES += \
	cmd/compare/compare.c \
	cmd/compare/compare.h \
	cmd/compare/compare_history.c \
	cmd/compare/compare_json.c \
	cmd/compare/compare_judge.c \
	cmd/compare/compare_outputs.c \
	cmd/compare/compare_print.c \
	cmd/compare/compare_progress.c \
	cmd/compare/compare_rounds.c \
	cmd/compare/compare_run.c \
	cmd/compare/compare_table.c \
	cmd/compare/compare_words.c \
	cmd/compare/numbers.c \
	cmd/compare/numbers.h \
	cmd/compare/numbers_lines.c \
	cmd/compare/numbers_lines.h \
	cmd/compare/numbers_piece.c
