/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/shared/handle.h -- what the handles of libcublas and libcudnn have
 * in common. Each library has its own copy of handle.c. A destroyed handle's
 * memory is reused for the next one and freed at the library's end, so that a
 * stale handle can be recognised. */
#ifndef AC_EMULATOR_HANDLE_H
#define AC_EMULATOR_HANDLE_H

#include "emulator/driver/emu.h"

/* The first member of a library's handle. */
struct emu_handle {
	_Atomic uint32_t    mark;       /* the library's, while it lives */
	struct CUctx_st    *context;    /* where it was made; NULL: any */
	uint64_t            context_id;
	int                 device;
	uint64_t            held;       /* bytes of the device */
	struct CUstream_st *stream;
	struct emu_handle  *next;       /* of destroyed ones */
};

/* A new one of `bytes`, zero except for the fields above, in the current
 * context, which takes `held` bytes of its device. NULL: no memory. */
void *emu_handle_new(size_t bytes, uint32_t mark, uint64_t held);
bool emu_handle_lives(const struct emu_handle *handle, uint32_t mark);
/* The stream for its work, in the current context. On another device than the
 * handle's, the library's own workspace, which lies on that one, must be in
 * reach. Complains. */
int emu_handle_locate(const struct emu_handle *handle,
    struct CUstream_st **stream_out);
/* Wait for its context, if that still exists, and destroy it; returns an error
 * of the context, for one that is lost. Only a capture that forbids the wait
 * keeps the handle. */
int emu_handle_destroy(struct emu_handle *handle);

/* A library's own numbers for an emu_status. */
struct emu_meanings {
	int no_memory, not_initialized, invalid, failed, internal;
};
/* 0: success. */
int emu_status_means(int status, const struct emu_meanings *meanings);

#endif
