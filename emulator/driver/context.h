/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/context.h -- contexts of the emulated devices: a primary one
 * each, and those that the driver API creates beside it. Only libcuda.so.1
 * knows.
 *
 * A context owns its default stream, the streams and events made in it and the
 * memory allocated in it; they go when it does. Destroyed ones keep their
 * memory for the next one (the newest first): addresses are no identity, ids
 * are. */
#ifndef AC_EMULATOR_CONTEXT_H
#define AC_EMULATOR_CONTEXT_H

#include "emulator/driver/device.h"

/* What NVIDIA's headers know as struct CUctx_st. */
struct CUctx_st {
	_Atomic uint32_t mark;
	int              device;
	bool             primary;
	_Atomic bool     alive;    /* primary: false before use, after reset */
	_Atomic uint64_t id;       /* a new one each time it comes alive */
	_Atomic int      retained; /* cuDevicePrimaryCtxRetain */
	_Atomic uint32_t peers;    /* devices whose memory it may touch, bits */
	_Atomic int      poison;   /* the error that queued work left behind */
	/* streams.c, order.c */
	struct CUstream_st legacy;
	_Atomic int      blocking; /* live blocking streams */
	_Atomic uint64_t legacy_work;
	struct CUctx_st *next_all, *next_free;
};

/* All that ever were, dead ones included; from program threads. */
struct CUctx_st *emu_context_first(void);
struct CUctx_st *emu_context_primary(int device);
/* A created one, current nowhere yet. */
struct CUctx_st *emu_context_create(int device);
/* Wait for its work, then drop what it owns. A primary one can come back. */
int emu_context_end(struct CUctx_st *context);
/* Whether the handle means a context that is or was (primary: any). */
bool emu_context_exists(const struct CUctx_st *context);
/* Bring a primary one to life, if it is not. */
void emu_context_activate(struct CUctx_st *context);

/* This thread's stack of current contexts. false: it is full, or empty. */
void emu_context_make_current(struct CUctx_st *context);
bool emu_context_push(struct CUctx_st *context);
bool emu_context_pop(struct CUctx_st **context_out);

/* At start and at the end. */
void emu_contexts_prepare(int devices);
void emu_contexts_release(void);

/* Whether somebody initialised the device already; never does so itself. */
bool emu_device_is_up(void);
/* The error that queued work of a context left behind, or EMU_OK. */
int emu_context_error(const struct CUctx_st *context);

#endif
