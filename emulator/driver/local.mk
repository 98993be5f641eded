# SPDX-License-Identifier: Apache-2.0
# emulator/driver/local.mk -- what the makefile knows of this folder.
emulator_libcuda_so_1_SOURCES += \
	emulator/driver/ahead.c \
	emulator/driver/attribute.c \
	emulator/driver/call.c \
	emulator/driver/capture.c \
	emulator/driver/capture.h \
	emulator/driver/capture_rules.c \
	emulator/driver/clock.c \
	emulator/driver/context.c \
	emulator/driver/context.h \
	emulator/driver/copy.c \
	emulator/driver/counters.c \
	emulator/driver/counters.def \
	emulator/driver/device.c \
	emulator/driver/device.h \
	emulator/driver/emu.h \
	emulator/driver/entries.c \
	emulator/driver/error.def \
	emulator/driver/event.c \
	emulator/driver/findings.c \
	emulator/driver/findings.h \
	emulator/driver/graph.c \
	emulator/driver/kernel.c \
	emulator/driver/launch.c \
	emulator/driver/life.c \
	emulator/driver/launch.h \
	emulator/driver/late.c \
	emulator/driver/memory.c \
	emulator/driver/memory.h \
	emulator/driver/memory_table.c \
	emulator/driver/model.c \
	emulator/driver/module.c \
	emulator/driver/module.h \
	emulator/driver/nvidia.h \
	emulator/driver/order.c \
	emulator/driver/pool.c \
	emulator/driver/print.c \
	emulator/driver/print.h \
	emulator/driver/regraph.c \
	emulator/driver/replay.c \
	emulator/driver/stream.c \
	emulator/driver/streams.c \
	emulator/driver/streams.h \
	emulator/driver/token.c \
	emulator/driver/twins.c \
	emulator/driver/wait.h
