/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/context.h -- contexts of the emulated device: there is one, the
 * primary context. Only libcuda.so.1 knows. */
#ifndef AC_EMULATOR_CONTEXT_H
#define AC_EMULATOR_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What NVIDIA's headers know as struct CUctx_st. */
struct CUctx_st {
	_Atomic bool     alive;    /* false before the first use and after reset */
	_Atomic uint64_t id;       /* a new one each time it comes alive */
	_Atomic int      retained; /* cuDevicePrimaryCtxRetain */
};

struct CUctx_st *emu_context_primary(void);
/* Bring it to life, if it is not. */
void emu_context_activate(struct CUctx_st *context);
void emu_context_make_current(struct CUctx_st *context);

/* Whether somebody initialised the device already; never does so itself. */
bool emu_device_is_up(void);
/* The error that queued work left behind, or EMU_OK. */
int emu_device_error(void);

#endif
