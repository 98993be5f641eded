# SPDX-License-Identifier: Apache-2.0
# emulator/runtime/local.mk -- what the makefile knows of this folder.
emulator_librun_a_SOURCES += \
	emulator/runtime/cudart.h \
	emulator/runtime/cudart_copy.c \
	emulator/runtime/cudart_device.c \
	emulator/runtime/cudart_entry.c \
	emulator/runtime/cudart_error.c \
	emulator/runtime/cudart_event.c \
	emulator/runtime/cudart_graph.c \
	emulator/runtime/cudart_kernel.c \
	emulator/runtime/cudart_memory.c \
	emulator/runtime/cudart_ptsz.c \
	emulator/runtime/cudart_register.c \
	emulator/runtime/cudart_register.h \
	emulator/runtime/cudart_stream.c \
	emulator/runtime/cudart_symbol.c
