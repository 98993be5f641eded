# SPDX-License-Identifier: Apache-2.0
# kernels/load/local.mk -- what the makefile knows of this folder.
kernels_libkernels_a_SOURCES += \
	kernels/load/driver.c \
	kernels/load/driver.def \
	kernels/load/driver.h \
	kernels/load/image.c \
	kernels/load/image.h \
	kernels/load/kernels.h \
	kernels/load/load.c \
	kernels/load/load.h \
	kernels/load/packed.c \
	kernels/load/packed.h
