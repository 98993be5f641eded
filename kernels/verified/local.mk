# SPDX-License-Identifier: Apache-2.0
# kernels/verified/local.mk -- what the makefile knows of this folder.
kernels_libkernels_a_SOURCES += \
	kernels/verified/verified.c \
	kernels/verified/verified.h \
	kernels/verified/verified_apart.h \
	kernels/verified/verified_body.h \
	kernels/verified/verified_cancelled.h \
	kernels/verified/verified_judge.h \
	kernels/verified/verified_rung.h
