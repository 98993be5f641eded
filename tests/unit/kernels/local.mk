# SPDX-License-Identifier: Apache-2.0
# tests/unit/kernels/local.mk -- what the makefile knows of this folder.
check_PROGRAMS += tests/unit/emulator/test_ptx tests/unit/kernels/test_shipped_ptx
TESTS += tests/unit/emulator/test_ptx tests/unit/kernels/test_shipped_ptx
tests_unit_emulator_test_ptx_LDADD = emulator/ptx/libptx.a base/libbase.a -lm
tests_unit_kernels_test_shipped_ptx_SOURCES = tests/unit/kernels/test_shipped_ptx.c \
	tests/unit/kernels/lockstep.c tests/unit/kernels/lockstep.h \
	tests/unit/kernels/lockstep_scaler.c \
	tests/unit/kernels/shipped.h tests/unit/kernels/shipped_regions.c \
	tests/unit/kernels/shipped_single.c tests/unit/kernels/conv_cases.c \
	tests/unit/kernels/conv_cases.h $(recast_sources) \
	tests/unit/scaler/scaler_cases.c tests/unit/scaler/scaler_cases.h
tests_unit_kernels_test_shipped_ptx_LDADD = emulator/ptx/libptx.a \
	kernels/libtwins.a kernels/libkernels.a base/libbase.a -lm
