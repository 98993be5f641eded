# SPDX-License-Identifier: Apache-2.0
# emulator/driver/image/local.mk -- what the makefile knows of this folder.
emulator_libcuda_so_1_SOURCES += \
	emulator/driver/image/image.c \
	emulator/driver/image/image.h \
	emulator/driver/image/lz4.c \
	emulator/driver/image/zstd.c
