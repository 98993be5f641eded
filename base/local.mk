# SPDX-License-Identifier: Apache-2.0
# base/local.mk -- what the makefile knows of this folder.
EXTRA_DIST += base/README.md
noinst_LIBRARIES += base/libbase.a
base_libbase_a_SOURCES = \
	base/elf.c \
	base/elf.h \
	base/elf_symbol.c \
	base/elf_symbol.h \
	base/env.c \
	base/env.def \
	base/env.h \
	base/env_words.c \
	base/in_call.c \
	base/in_call.h \
	base/lock.c \
	base/lock.h \
	base/log.c \
	base/log.h \
	base/mapped.c \
	base/mapped.h \
	base/rank.c \
	base/rank.h \
	base/table.c \
	base/table.h \
	base/text.c \
	base/text.h \
	base/text_compare.c \
	base/text_double.c \
	base/text_hex.c
# The symbol walk must not turn into calls of memset or strlen, which may
# not be bound yet.
base_libbase_a_CFLAGS = $(AM_CFLAGS) $(NO_LOOP_PATTERNS)
