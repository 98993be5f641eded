/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart.h -- what the files of libcudart share: the opening
 * of a call, and the thread's last error. The device belongs to
 * libcuda.so.1. */
#ifndef AC_EMULATOR_CUDART_H
#define AC_EMULATOR_CUDART_H

#define EMU_RUNTIME
#include "emulator/driver/nvidia.h"
#include "emulator/driver/emu.h"

/* Count the call, fail it on demand, refuse it after this library's end. */
int emu_runtime_count(struct emu_call *call);
/* The same, and bring the device up with its primary context current. */
int emu_runtime_enter(struct emu_call *call);
/* Remember `status` as the thread's last error if it is one; returns it. */
cudaError_t emu_runtime_keep(int status);

#define RUNTIME_OPEN(enter)                                               \
	static struct emu_call emu_this_call = { .name = __func__ };      \
	do {                                                              \
		const int emu_entered = enter(&emu_this_call);            \
		if (emu_entered)                                          \
			return emu_runtime_keep(emu_entered);             \
	} while (0)

/* The opening of a call that uses the device, and of one that does not. */
#define RUNTIME_ENTER() RUNTIME_OPEN(emu_runtime_enter)
#define RUNTIME_COUNT() RUNTIME_OPEN(emu_runtime_count)

#endif
