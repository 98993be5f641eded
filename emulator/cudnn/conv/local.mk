# SPDX-License-Identifier: Apache-2.0
# emulator/cudnn/conv/local.mk -- what the makefile knows of this folder.
emulator_libcudnn_so_9_SOURCES += \
	emulator/cudnn/conv/cudnn_conv.h \
	emulator/cudnn/conv/cudnn_conv_bias.c \
	emulator/cudnn/conv/cudnn_conv_call.c \
	emulator/cudnn/conv/cudnn_conv_describe.c \
	emulator/cudnn/conv/cudnn_conv_find.c \
	emulator/cudnn/conv/cudnn_conv_onednn.c \
	emulator/cudnn/conv/cudnn_conv_plain.c \
	emulator/cudnn/conv/cudnn_conv_run.c
