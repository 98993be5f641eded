# SPDX-License-Identifier: Apache-2.0
# emulator/cublas/blas/local.mk -- what the makefile knows of this folder.
emulator_libblas_a_SOURCES += \
	emulator/cublas/blas/cublas_copy.c \
	emulator/cublas/blas/cublas_factor.c \
	emulator/cublas/blas/cublas_legacy.c \
	emulator/cublas/blas/cublas_level1.c \
	emulator/cublas/blas/cublas_level1_ex.c \
	emulator/cublas/blas/cublas_level2.c \
	emulator/cublas/blas/cublas_level3.c \
	emulator/cublas/blas/cublas_matrix.h \
	emulator/cublas/blas/cublas_rotate.c \
	emulator/cublas/blas/cublas_stored.c \
	emulator/cublas/blas/cublas_stored.h \
	emulator/cublas/blas/cublas_stored_entry.c \
	emulator/cublas/blas/cublas_symmetric.c \
	emulator/cublas/blas/cublas_triangular.c \
	emulator/cublas/blas/cublas_vector.c \
	emulator/cublas/blas/cublas_vector.h
