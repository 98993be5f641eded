# SPDX-License-Identifier: Apache-2.0
# emulator/cudnn/ops/local.mk -- what the makefile knows of this folder.
emulator_libcudnn_so_9_SOURCES += \
	emulator/cudnn/ops/cudnn_tensor_op.c \
	emulator/cudnn/ops/cudnn_activation.c \
	emulator/cudnn/ops/cudnn_dropout.c \
	emulator/cudnn/ops/cudnn_norm.c \
	emulator/cudnn/ops/cudnn_norm_ex.c \
	emulator/cudnn/ops/cudnn_ops.c \
	emulator/cudnn/ops/cudnn_ops.h \
	emulator/cudnn/ops/cudnn_pool.c \
	emulator/cudnn/ops/cudnn_reduce.c \
	emulator/cudnn/ops/cudnn_softmax.c
