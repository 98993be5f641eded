# SPDX-License-Identifier: Apache-2.0
# shim/device/local.mk -- what the makefile knows of this folder.
libautocast_so_SOURCES += \
	shim/device/blocks.c \
	shim/device/blocks.h \
	shim/device/device.c \
	shim/device/device.h \
	shim/device/handle.c \
	shim/device/handle.h \
	shim/device/hold.c \
	shim/device/hold.h \
	shim/device/lane.c \
	shim/device/lane.h \
	shim/device/lane_make.c \
	shim/device/lane_make.h \
	shim/device/ledger.c \
	shim/device/ledger.h \
	shim/device/mailbox.c \
	shim/device/mailbox.h \
	shim/device/place.c \
	shim/device/place.h \
	shim/device/scratch.c \
	shim/device/scratch.h
