# SPDX-License-Identifier: Apache-2.0
# shim/gemm/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/gemm/cublas_backend.c \
	shim/gemm/cublas_gemm.c \
	shim/gemm/cublas_grouped.c \
	shim/gemm/cublas_syrk.c \
	shim/gemm/gemm.c \
	shim/gemm/objection.c \
	shim/gemm/gemm.h \
	shim/gemm/job.c \
	shim/gemm/layout.c \
	shim/gemm/layout.h \
	shim/gemm/ranges.c \
	shim/gemm/recipe.h \
	shim/gemm/recipe_verified.c \
	shim/gemm/recipe_library.c
