# SPDX-License-Identifier: Apache-2.0
# tests/lint/local.mk -- what the makefile knows of this folder.
lint_tests = \
	tests/lint/catalogue.sh \
	tests/lint/dist.sh \
	tests/lint/elf.sh \
	tests/lint/emulated.sh \
	tests/lint/headers.sh \
	tests/lint/layers.sh \
	tests/lint/lockstep.sh \
	tests/lint/man.sh \
	tests/lint/monopolies.sh \
	tests/lint/names.sh \
	tests/lint/ptx.sh \
	tests/lint/public.sh \
	tests/lint/shell.sh \
	tests/lint/source.sh \
	tests/lint/symbols.sh
TESTS += $(lint_tests)
EXTRA_DIST += $(lint_tests) tests/lint/public.rows tests/lint/tap.sh
# What lockstep.sh compiles; test_shipped_ptx has its cases, too.
EXTRA_DIST += tests/unit/kernels/lockstep.c tests/unit/kernels/lockstep.cc \
	tests/unit/kernels/lockstep.h tests/unit/kernels/lockstep_threads.h \
	tests/unit/kernels/lockstep_scaler.c tests/unit/kernels/lockstep_scaler.cc
