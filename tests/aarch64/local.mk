# SPDX-License-Identifier: Apache-2.0
# tests/aarch64/local.mk -- what the makefile knows of this folder.
# By a cross compiler and an emulator of the processor, where they are.
aarch64_tests = tests/aarch64/qemu.sh
TESTS += $(aarch64_tests)
EXTRA_DIST += $(aarch64_tests) \
	tests/aarch64/binding.sh \
	tests/aarch64/entries.sh \
	tests/aarch64/registers.S \
	tests/aarch64/registers.c \
	tests/aarch64/registers.h \
	tests/aarch64/unwind.c
