# SPDX-License-Identifier: Apache-2.0
# emulator/cublaslt/local.mk -- what the makefile knows of this folder.
emulator_liblt_a_SOURCES += \
	emulator/cublaslt/cublaslt.h \
	emulator/cublaslt/cublaslt_algorithm.c \
	emulator/cublaslt/cublaslt_config.c \
	emulator/cublaslt/cublaslt_describe.c \
	emulator/cublaslt/cublaslt_descriptor.c \
	emulator/cublaslt/cublaslt_epilogue.c \
	emulator/cublaslt/cublaslt_handle.c \
	emulator/cublaslt/cublaslt_integer.c \
	emulator/cublaslt/cublaslt_matmul.c
