# SPDX-License-Identifier: Apache-2.0
# shim/scaling/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/scaling/cublas_vector.c \
	shim/scaling/scaling.c \
	shim/scaling/scaling.h \
	shim/scaling/scaling_site.c \
	shim/scaling/scaling_trace.c
