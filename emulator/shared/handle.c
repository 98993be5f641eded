/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/shared/handle.c -- the life of handles, the stream of their work,
 * and how a library translates statuses. libcublas and libcudnn each have a
 * copy, with a list of their own. */
#include "emulator/shared/handle.h"
#include "emulator/driver/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Memory of destroyed handles, newest first. A stale handle is read there, and
 * the next handle, of any device, reuses it. */
static struct emu_handle *unused;
static pthread_mutex_t unused_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((destructor))
static void
release(void)
{
	while (unused) {
		struct emu_handle *next = unused->next;

		free(unused);
		unused = next;
	}
}

void *
emu_handle_new(size_t bytes, uint32_t mark, uint64_t held)
{
	struct CUctx_st *const context = emu_context_current();
	struct emu_handle *handle;

	if (held && emu_memory_hold(held))
		return NULL;
	pthread_mutex_lock(&unused_lock);
	handle = unused;
	if (handle)
		unused = handle->next;
	pthread_mutex_unlock(&unused_lock);
	if (!handle)
		handle = malloc(bytes);
	if (!handle && held)
		emu_memory_unhold(context, emu_context_id(context), held);
	if (!handle)
		return NULL;
	memset(handle, 0, bytes);
	handle->context = context;
	handle->context_id = emu_context_id(context);
	handle->device = emu_context_device();
	handle->held = held;
	atomic_store(&handle->mark, mark);
	return handle;
}

bool
emu_handle_lives(const struct emu_handle *handle, uint32_t mark)
{
	return atomic_load_explicit(&handle->mark, memory_order_relaxed) ==
	    mark;
}

int
emu_handle_locate(const struct emu_handle *handle,
    struct CUstream_st **stream_out)
{
	if (handle->context && emu_context_id(handle->context) !=
	    handle->context_id) {
		emu_complain("the handle's context is gone");
		return EMU_CONTEXT_DESTROYED;
	}
	if (handle->context && !emu_context_reaches(emu_context_current(),
	    handle->device)) {
		emu_complain("the handle belongs to device %d, device %d is "
		    "current and has no peer access to it", handle->device,
		    emu_context_device());
		return EMU_ILLEGAL_ADDRESS;
	}
	return emu_stream_find_here(handle->stream, stream_out);
}

int
emu_handle_destroy(struct emu_handle *handle)
{
	const int status = emu_context_wait(handle->context,
	    handle->context_id);

	if (status == EMU_CAPTURE_UNSUPPORTED)
		return status;
	atomic_store(&handle->mark, 0);
	if (handle->held)
		emu_memory_unhold(handle->context, handle->context_id,
		    handle->held);
	pthread_mutex_lock(&unused_lock);
	handle->next = unused;
	unused = handle;
	pthread_mutex_unlock(&unused_lock);
	return status;
}

int
emu_status_means(int status, const struct emu_meanings *meanings)
{
	switch (status) {
	case EMU_OK:
		return 0;
	case EMU_OUT_OF_MEMORY:
		return meanings->no_memory;
	case EMU_NOT_INITIALIZED:
	case EMU_DEINITIALIZED:
	case EMU_NO_DEVICE:
		return meanings->not_initialized;
	case EMU_INVALID_VALUE:
		return meanings->invalid;
	case EMU_ILLEGAL_ADDRESS:
	case EMU_ILLEGAL_INSTRUCTION:
	case EMU_MISALIGNED:
	case EMU_LAUNCH_FAILED:
	case EMU_ASSERT:
	case EMU_TIMEOUT:
	case EMU_INVALID_HANDLE:
	case EMU_CONTEXT_DESTROYED:
	case EMU_CAPTURE_UNSUPPORTED:
	case EMU_CAPTURE_INVALIDATED:
	case EMU_CAPTURE_IMPLICIT:
		return meanings->failed;
	default:
		return meanings->internal;
	}
}
