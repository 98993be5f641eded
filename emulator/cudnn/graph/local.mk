# SPDX-License-Identifier: Apache-2.0
# emulator/cudnn/graph/local.mk -- what the makefile knows of this folder.
emulator_libcudnn_so_9_SOURCES += \
	emulator/cudnn/graph/cudnn_backend.c \
	emulator/cudnn/graph/cudnn_backend.h \
	emulator/cudnn/graph/cudnn_backend_answer.c \
	emulator/cudnn/graph/cudnn_backend_attribute.c \
	emulator/cudnn/graph/cudnn_backend_engine.c \
	emulator/cudnn/graph/cudnn_backend_execute.c \
	emulator/cudnn/graph/cudnn_backend_final.c \
	emulator/cudnn/graph/cudnn_backend_graph.c \
	emulator/cudnn/graph/cudnn_backend_json.c \
	emulator/cudnn/graph/cudnn_backend_load.c \
	emulator/cudnn/graph/cudnn_backend_text.h
