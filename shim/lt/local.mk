# SPDX-License-Identifier: Apache-2.0
# shim/lt/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/lt/content.c \
	shim/lt/content.h \
	shim/lt/cublaslt_handle.c \
	shim/lt/library.c \
	shim/lt/library.h \
	shim/lt/memo.c \
	shim/lt/memo.h
