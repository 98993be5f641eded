# SPDX-License-Identifier: Apache-2.0
# emulator/cudnn/base/local.mk -- what the makefile knows of this folder.
emulator_libcudnn_so_9_SOURCES += \
	emulator/cudnn/base/cudnn.h \
	emulator/cudnn/base/cudnn_8.h \
	emulator/cudnn/base/cudnn_call.c \
	emulator/cudnn/base/cudnn_descriptor.c \
	emulator/cudnn/base/cudnn_descriptor.h \
	emulator/cudnn/base/cudnn_descriptor_conv.c \
	emulator/cudnn/base/cudnn_error.c \
	emulator/cudnn/base/cudnn_error.def \
	emulator/cudnn/base/cudnn_error_8.def \
	emulator/cudnn/base/cudnn_tensor.c
