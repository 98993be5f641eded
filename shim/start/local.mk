# SPDX-License-Identifier: Apache-2.0
# shim/start/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/start/asked.h \
	shim/start/nvtx.c \
	shim/start/nvtx.h \
	shim/start/start.c \
	shim/start/start.h
