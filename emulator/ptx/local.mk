# SPDX-License-Identifier: Apache-2.0
# emulator/ptx/local.mk -- what the makefile knows of this folder.
# Runs PTX on the CPU: its own arithmetic has a GPU's bits, as the twins'.
noinst_LIBRARIES += emulator/ptx/libptx.a
emulator_ptx_libptx_a_SOURCES = \
	emulator/ptx/arguments.c \
	emulator/ptx/async.c \
	emulator/ptx/atomic.c \
	emulator/ptx/barrier.c \
	emulator/ptx/bits.c \
	emulator/ptx/block.c \
	emulator/ptx/body.c \
	emulator/ptx/carry.c \
	emulator/ptx/compare.c \
	emulator/ptx/convert.c \
	emulator/ptx/declare.c \
	emulator/ptx/decode.c \
	emulator/ptx/directed.c \
	emulator/ptx/exchange.c \
	emulator/ptx/float.c \
	emulator/ptx/found.c \
	emulator/ptx/frame.c \
	emulator/ptx/grid.c \
	emulator/ptx/group.c \
	emulator/ptx/half.c \
	emulator/ptx/idle.c \
	emulator/ptx/helpers.c \
	emulator/ptx/initial.c \
	emulator/ptx/inside.h \
	emulator/ptx/integer.c \
	emulator/ptx/lanes.c \
	emulator/ptx/lanes.h \
	emulator/ptx/lex.c \
	emulator/ptx/load.c \
	emulator/ptx/matrices.c \
	emulator/ptx/matrix.c \
	emulator/ptx/matrix.h \
	emulator/ptx/memory.c \
	emulator/ptx/module.c \
	emulator/ptx/move.c \
	emulator/ptx/multiply.c \
	emulator/ptx/number.h \
	emulator/ptx/operand.c \
	emulator/ptx/parse.h \
	emulator/ptx/ptx.h \
	emulator/ptx/quick.c \
	emulator/ptx/quick.h \
	emulator/ptx/quick_choose.h \
	emulator/ptx/quick_memory.h \
	emulator/ptx/quick_more.h \
	emulator/ptx/rare.c \
	emulator/ptx/reach.c \
	emulator/ptx/run.h \
	emulator/ptx/shadow.c \
	emulator/ptx/warp.c \
	emulator/ptx/wide.c \
	emulator/ptx/words.c
emulator_ptx_libptx_a_CFLAGS = $(AM_CFLAGS) $(NO_CONTRACT) -fno-math-errno \
	-fno-trapping-math
