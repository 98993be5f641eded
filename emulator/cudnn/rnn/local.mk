# SPDX-License-Identifier: Apache-2.0
# emulator/cudnn/rnn/local.mk -- what the makefile knows of this folder.
emulator_libcudnn_so_9_SOURCES += \
	emulator/cudnn/rnn/cudnn_rnn.h \
	emulator/cudnn/rnn/cudnn_rnn_backward.c \
	emulator/cudnn/rnn/cudnn_rnn_call.c \
	emulator/cudnn/rnn/cudnn_rnn_descriptor.c \
	emulator/cudnn/rnn/cudnn_rnn_forward.c \
	emulator/cudnn/rnn/cudnn_rnn_space.c
