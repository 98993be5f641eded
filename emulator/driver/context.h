/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/context.h -- contexts of the emulated devices: a primary one
 * each, and those that the driver API creates. For libcuda.so.1 only.
 *
 * A context owns its default stream, the streams and events made in it and the
 * memory allocated in it; they end with it. The memory of destroyed ones is
 * reused for the next one (newest first): an address does not identify a
 * context, its id does. */
#ifndef AC_EMULATOR_CONTEXT_H
#define AC_EMULATOR_CONTEXT_H

#include "emulator/driver/device.h"

/* What NVIDIA's headers know as struct CUctx_st. */
struct CUctx_st {
	_Atomic uint32_t mark;
	int              device;
	bool             primary;
	_Atomic bool     alive;    /* primary: false before use, after reset */
	_Atomic uint64_t id;       /* a new one each time it comes to life */
	_Atomic int      retained; /* cuDevicePrimaryCtxRetain */
	_Atomic uint32_t peers;    /* devices whose memory it may touch, bits */
	_Atomic int      poison;   /* the error of queued work */
	_Atomic uint64_t held;     /* bytes that libraries hold (memory.c) */
	/* streams.c, order.c */
	struct CUstream_st legacy;
	_Atomic int      blocking; /* live blocking streams */
	_Atomic uint64_t legacy_work;
	struct CUctx_st *next_all, *next_free;
};

/* All there ever were, dead ones too; from program threads. */
struct CUctx_st *emu_context_first(void);
struct CUctx_st *emu_context_primary(int device);
/* Create one; it is current nowhere yet. */
struct CUctx_st *emu_context_create(int device);
/* life.c: wait for its work, then drop what it owns. A primary one can come
 * back. */
int emu_context_end(struct CUctx_st *context);
/* It owns nothing any more and is dead. */
void emu_context_retire(struct CUctx_st *context);
/* Whether the handle means a context that is or was alive (primary: any). */
bool emu_context_exists(const struct CUctx_st *context);
/* Bring a primary one to life, if it is not alive. */
void emu_context_activate(struct CUctx_st *context);

/* This thread's stack of current contexts. false: it is full, or empty. */
void emu_context_make_current(struct CUctx_st *context);
bool emu_context_push(struct CUctx_st *context);
bool emu_context_pop(struct CUctx_st **context_out);

/* At start and at the end. */
void emu_contexts_prepare(int devices);
void emu_contexts_release(void);

/* Whether the device was initialised already; does not do so itself. */
bool emu_device_is_up(void);
/* The error of queued work in a context, or EMU_OK. */
int emu_context_error(const struct CUctx_st *context);

#endif
