# SPDX-License-Identifier: Apache-2.0
# shim/process/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/process/facts.c \
	shim/process/unload.c
