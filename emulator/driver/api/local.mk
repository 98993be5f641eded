# SPDX-License-Identifier: Apache-2.0
# emulator/driver/api/local.mk -- what the makefile knows of this folder.
emulator_libcuda_so_1_SOURCES += \
	emulator/driver/api/cuda.def \
	emulator/driver/api/cuda.h \
	emulator/driver/api/cuda_capture.c \
	emulator/driver/api/cuda_context.c \
	emulator/driver/api/cuda_copy.c \
	emulator/driver/api/cuda_device.c \
	emulator/driver/api/cuda_error.c \
	emulator/driver/api/cuda_first.c \
	emulator/driver/api/cuda_function.c \
	emulator/driver/api/cuda_graph.c \
	emulator/driver/api/cuda_kernel.c \
	emulator/driver/api/cuda_link.c \
	emulator/driver/api/cuda_memory.c \
	emulator/driver/api/cuda_module.c \
	emulator/driver/api/cuda_pointer.c \
	emulator/driver/api/cuda_query.c \
	emulator/driver/api/cuda_rows.c \
	emulator/driver/api/cuda_stream.c
