# SPDX-License-Identifier: Apache-2.0
# cmd/gpu/local.mk -- what the makefile knows of this folder.
autocast_SOURCES += \
	cmd/gpu/energy.c \
	cmd/gpu/energy.h \
	cmd/gpu/gpu.c \
	cmd/gpu/gpu.h
