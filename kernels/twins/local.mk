# SPDX-License-Identifier: Apache-2.0
# kernels/twins/local.mk -- what the makefile knows of this folder.
kernels_libtwins_a_SOURCES += \
	kernels/twins/twins.c \
	kernels/twins/twins.h \
	kernels/twins/twins_conv.c \
	kernels/twins/twins_inside.h \
	kernels/twins/twins_meter.c \
	kernels/twins/twins_ranges.c \
	kernels/twins/twins_scaler.c \
	kernels/twins/twins_symmetric.c \
	kernels/twins/twins_verified.c \
	kernels/twins/twins_verified.h \
	kernels/twins/twins_verified_apart.c \
	kernels/twins/twins_verified_judge.c \
	kernels/twins/twins_verified_mend.c
