# SPDX-License-Identifier: Apache-2.0
# policy/language/local.mk -- what the makefile knows of this folder.
policy_libpolicy_a_SOURCES += \
	policy/language/rule.h \
	policy/language/arena.c \
	policy/language/arena.h \
	policy/language/build.c \
	policy/language/check.c \
	policy/language/file.c \
	policy/language/lex.c \
	policy/language/lex.h \
	policy/language/load.c \
	policy/language/names.c \
	policy/language/names.h \
	policy/language/number.c \
	policy/language/number.h \
	policy/language/parse.c \
	policy/language/parse.h \
	policy/language/parse_condition.c \
	policy/language/parse_include.c \
	policy/language/parse_rule.c \
	policy/language/parse_scaling.c \
	policy/language/parse_setting.c \
	policy/language/parse_statement.c \
	policy/language/print.c \
	policy/language/problems.c \
	policy/language/problems.h
