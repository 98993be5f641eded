# SPDX-License-Identifier: Apache-2.0
# kernels/recast/local.mk -- what the makefile knows of this folder.
kernels_libkernels_a_SOURCES += \
	kernels/recast/ptx.S \
	kernels/recast/recast.c \
	kernels/recast/recast.h \
	kernels/recast/recast_body.h \
	kernels/recast/recast_module.c
