# SPDX-License-Identifier: Apache-2.0
# tests/api/local.mk -- what the makefile knows of this folder.
api_tests = \
	tests/api/compile.sh \
	tests/api/cplusplus.sh \
	tests/api/dynamic.sh \
	tests/api/installed.sh \
	tests/api/links.sh
TESTS += $(api_tests)
EXTRA_DIST += $(api_tests) \
	tests/api/ages.c tests/api/ages.cc \
	tests/api/disabled.c \
	tests/api/everything.c \
	tests/api/late.c \
	tests/api/older.c \
	tests/api/regions.cc \
	tests/api/training.c
