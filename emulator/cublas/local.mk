# SPDX-License-Identifier: Apache-2.0
# emulator/cublas/local.mk -- what the makefile knows of this folder.
emulator_libblas_a_SOURCES += \
	emulator/cublas/cublas.h \
	emulator/cublas/cublas_blas.c \
	emulator/cublas/cublas_exact.c \
	emulator/cublas/cublas_exact.h \
	emulator/cublas/cublas_gemm.c \
	emulator/cublas/cublas_gemm.def \
	emulator/cublas/cublas_gemm.h \
	emulator/cublas/cublas_gemm_entry.c \
	emulator/cublas/cublas_grouped.c \
	emulator/cublas/cublas_handle.c \
	emulator/cublas/cublas_info.c \
	emulator/cublas/cublas_lanes.c \
	emulator/cublas/cublas_once.c \
	emulator/cublas/cublas_once.h \
	emulator/cublas/cublas_product.c \
	emulator/cublas/cublas_scalar.c \
	emulator/cublas/cublas_sums.c \
	emulator/cublas/cublas_sums.h \
	emulator/cublas/cublas_touch.c \
	emulator/cublas/cublas_touch.h \
	emulator/cublas/cublas_xt.c
