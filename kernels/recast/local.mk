# SPDX-License-Identifier: Apache-2.0
# kernels/recast/local.mk -- what the makefile knows of this folder.
kernels_libkernels_a_SOURCES += \
	kernels/recast/cast.h \
	kernels/recast/gelu.h \
	kernels/recast/recast_module.c \
	kernels/recast/recast_ptx.S \
	kernels/recast/recast_ranges.c \
	kernels/recast/recast_ranges.h \
	kernels/recast/recast_symmetric.c \
	kernels/recast/recast_symmetric.h
