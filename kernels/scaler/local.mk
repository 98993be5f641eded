# SPDX-License-Identifier: Apache-2.0
# kernels/scaler/local.mk -- what the makefile knows of this folder.
kernels_libkernels_a_SOURCES += \
	kernels/scaler/scaler.c \
	kernels/scaler/scaler.h \
	kernels/scaler/scaler_body.h \
	kernels/scaler/scaler_ptx.S \
	kernels/scaler/scaler_rule.c \
	kernels/scaler/scaler_update.h
