# SPDX-License-Identifier: Apache-2.0
# shim/lt/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/lt/call.h \
	shim/lt/content.c \
	shim/lt/content.h \
	shim/lt/cublaslt_handle.c \
	shim/lt/cublaslt_matmul.c \
	shim/lt/lt_backend.c \
	shim/lt/epilogues.def \
	shim/lt/library.c \
	shim/lt/library.h \
	shim/lt/known_calls.c \
	shim/lt/known_calls.h \
	shim/lt/pairs.h \
	shim/lt/plan.c \
	shim/lt/plan.h \
	shim/lt/product.c \
	shim/lt/product.h \
	shim/lt/proof.c \
	shim/lt/proof.h
