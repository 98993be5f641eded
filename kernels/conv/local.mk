# SPDX-License-Identifier: Apache-2.0
# kernels/conv/local.mk -- what the makefile knows of this folder.
kernels_libkernels_a_SOURCES += \
	kernels/conv/conv_body.h \
	kernels/conv/conv_check.c \
	kernels/conv/conv_check.h \
	kernels/conv/conv_job.c \
	kernels/conv/conv_look.h
