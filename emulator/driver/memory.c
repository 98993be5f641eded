/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/memory.c -- allocates and frees memory. Device memory is host
 * memory of exactly the requested size, so that ASan and valgrind see its ends.
 * Workers only free memory. */
#include "emulator/driver/memory.h"
#include "emulator/driver/capture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* As on a GPU, which gives pages of its own to what is as large as that: there
 * are programs that count on it. */
enum { ALIGNMENT = 256, PAGE = 4096, PAGED = 1 << 20 };
/* From this size on directly from the system, not resident until used. */
#define LARGE ((size_t)1 << 30)
/* Bytes of an allocation that are set, to NaN. */
enum { FRESH = 0xff, FILLED = 16 << 20 };
/* Kinds as bits, for the table. */
#define BIT(kind) (1u << EMU_MEMORY_##kind)

static bool
counts(enum emu_memory_kind kind)
{
	return kind == EMU_MEMORY_DEVICE || kind == EMU_MEMORY_MANAGED;
}

/* Device memory is never zero at first; what is large only in its beginning, so
 * that a program may take more than it uses. */
static void *
get(size_t bytes, bool fill)
{
	void *memory;

	if (bytes >= LARGE) {
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		return memory == MAP_FAILED ? NULL : memory;
	}
	if (posix_memalign(&memory, bytes >= PAGED ? PAGE : ALIGNMENT, bytes))
		return NULL;
	if (fill)
		memset(memory, FRESH, bytes < FILLED ? bytes : FILLED);
	return memory;
}

static void
give_back(void *memory, size_t bytes)
{
	if (bytes >= LARGE)
		munmap(memory, bytes);
	else
		free(memory);
}

/* For an allocation, which is counted. */
static bool
take(struct CUmemPoolHandle_st *pool, int device, uint64_t bytes)
{
	if (pool ? !emu_pool_take(pool, bytes) :
	    !emu_memory_reserve(device, bytes))
		return false;
	emu_count(EMU_device_bytes, bytes);
	return true;
}

/* If nothing is left, wait for stream-ordered frees, and have the pools give
 * back what they keep: that may be enough. */
static bool
take_if_need_be(struct CUmemPoolHandle_st *pool, int device, uint64_t bytes)
{
	if (take(pool, device, bytes))
		return true;
	emu_stream_wait_device(device);
	emu_pools_relax(device, true);
	return take(pool, device, bytes);
}

static void
untake(struct CUmemPoolHandle_st *pool, int device, uint64_t bytes)
{
	if (pool)
		emu_pool_give(pool, bytes);
	else
		emu_memory_unreserve(device, bytes);
	emu_count(EMU_device_bytes, -bytes);
}

static void
give_back_device(const struct emu_allocation *a)
{
	untake(a->pool, a->context->device, a->bytes);
	give_back(a->base, a->bytes);
}

int
emu_memory_hold(uint64_t bytes)
{
	struct CUctx_st *const context = emu_context_current();

	if (!emu_memory_reserve(context->device, bytes)) {
		emu_stream_wait_device(context->device);
		emu_pools_relax(context->device, true);
		if (!emu_memory_reserve(context->device, bytes))
			return EMU_OUT_OF_MEMORY;
	}
	atomic_fetch_add(&context->held, bytes);
	return EMU_OK;
}

void
emu_memory_unhold(struct CUctx_st *context, uint64_t id, uint64_t bytes)
{
	if (emu_context_id(context) != id)
		return;
	atomic_fetch_sub(&context->held, bytes);
	emu_memory_unreserve(context->device, bytes);
}

static int
allocate(struct CUctx_st *context, const struct emu_allocation *wanted,
    struct CUstream_st *stream, void **pointer_out)
{
	struct emu_allocation new = *wanted;
	const size_t bytes = new.bytes;
	const int device = context->device;
	int status = EMU_OUT_OF_MEMORY;

	if (!bytes) {
		*pointer_out = NULL;
		return EMU_OK;
	}
	new.context = context;
	if (counts(new.kind) && !take_if_need_be(new.pool, device, bytes))
		return EMU_OUT_OF_MEMORY;
	new.base = get(bytes, new.kind == EMU_MEMORY_DEVICE);
	if (new.base && stream && emu_is_capturing(stream))
		emu_capture_own(stream, new.base, &new.capture);
	if (new.base)
		status = emu_table_enter(&new);
	if (status) {
		if (new.base)
			give_back(new.base, bytes);
		if (counts(new.kind))
			untake(new.pool, device, bytes);
		return status;
	}
	emu_count(EMU_allocations, 1);
	emu_capture_count(EMU_allocations_in_capture);
	*pointer_out = new.base;
	return EMU_OK;
}

int
emu_memory_allocate(size_t bytes, enum emu_memory_kind kind,
    void **pointer_out)
{
	const struct emu_allocation wanted = { .bytes = bytes, .kind = kind };
	const int status = emu_capture_forbid();

	return status ? status : allocate(emu_context_current(), &wanted, NULL,
	    pointer_out);
}

int
emu_memory_allocate_async(struct CUmemPoolHandle_st *pool, size_t bytes,
    struct CUstream_st *handle, void **pointer_out)
{
	struct emu_allocation wanted = { .bytes = bytes,
		.kind = EMU_MEMORY_DEVICE };
	struct CUctx_st *context = emu_context_current();
	struct CUstream_st *stream;
	int device, status = emu_pool_find(pool, &device);

	if (!status)
		status = emu_stream_find_work(handle, &stream);
	if (status)
		return status;
	if (context->device != device)
		context = emu_context_primary(device);
	if (!emu_is_capturing(stream)) /* what a graph owns is of no pool */
		wanted.pool = pool;
	return allocate(context, &wanted, stream, pointer_out);
}

/* `from_table`: emu_table_take() or emu_table_leave(). */
static int
forget(void *pointer, bool host, bool (*from_table)(const void *, unsigned,
    struct emu_allocation *), struct emu_allocation *out)
{
	if (!from_table(pointer, host ? BIT(PINNED) :
	    BIT(DEVICE) | BIT(MANAGED), out)) {
		emu_complain("%p is not the start of live %s memory", pointer,
		    host ? "page-locked" : "device");
		return EMU_INVALID_VALUE;
	}
	emu_count(EMU_frees, 1);
	return EMU_OK;
}

int
emu_memory_free(void *pointer, bool host)
{
	struct emu_allocation a;
	int status = emu_capture_forbid();

	if (status || !pointer || emu_table_capture(pointer))
		return status;
	/* What is queued may still use it. */
	emu_stream_wait_device(emu_context_current()->device);
	status = forget(pointer, host, emu_table_take, &a);
	if (status)
		return status;
	emu_stream_wait_device(a.context->device);
	status = emu_context_error(emu_context_current());
	if (host)
		give_back(a.base, a.bytes);
	else
		give_back_device(&a);
	return status;
}

void
emu_memory_free_captured(void *pointer, uint64_t capture)
{
	struct emu_allocation a;

	/* The reset of its context may have freed it, and its address be
	 * reused. */
	if (emu_table_capture(pointer) != capture ||
	    !emu_table_take(pointer, BIT(DEVICE), &a))
		return;
	emu_count(EMU_frees, 1);
	emu_stream_wait_device(a.context->device);
	give_back_device(&a);
}

static void
run_return(void *arguments)
{
	const struct emu_allocation *a = arguments;

	emu_table_left(a->base);
	give_back_device(a);
}

int
emu_memory_free_async(void *pointer, struct CUstream_st *handle)
{
	struct CUstream_st *stream;
	struct emu_allocation *task;
	int status;

	if (!pointer)
		return EMU_OK;
	status = emu_stream_find_work(handle, &stream);
	if (status)
		return status;
	if (emu_is_capturing(stream))
		return emu_capture_owns(stream, pointer) ? EMU_OK :
		    EMU_INVALID_VALUE;
	if (emu_table_capture(pointer))
		return EMU_OK;
	task = emu_task_new(run_return, sizeof *task);
	if (!task)
		return EMU_OUT_OF_MEMORY;
	status = forget(pointer, false, emu_table_leave, task);
	if (status)
		emu_task_drop(task);
	else
		emu_stream_submit(stream, task);
	return status;
}

int
emu_memory_register(void *pointer, size_t bytes)
{
	const struct emu_allocation new = { .base = pointer, .bytes = bytes,
		.kind = EMU_MEMORY_REGISTERED,
		.context = emu_context_current() };
	const int status = emu_capture_forbid();

	if (status)
		return status;
	return !pointer || !bytes ? EMU_INVALID_VALUE :
	    emu_table_enter(&new);
}

int
emu_memory_unregister(void *pointer)
{
	struct emu_allocation unused;
	const int status = emu_capture_forbid();

	if (status)
		return status;
	emu_stream_wait_device(-1);
	return emu_table_take(pointer, BIT(REGISTERED), &unused) ? EMU_OK :
	    EMU_NOT_REGISTERED;
}

/* The program's own memory is only forgotten. */
static void
drop(const struct emu_allocation *a)
{
	if (counts(a->kind))
		give_back_device(a);
	else if (a->kind == EMU_MEMORY_PINNED)
		give_back(a->base, a->bytes);
}

void
emu_memory_drop(struct CUctx_st *context)
{
	emu_table_drop(context, drop);
	if (context)
		emu_memory_unreserve(context->device,
		    atomic_exchange(&context->held, 0));
	emu_pools_relax(-1, false);
}

void
emu_memory_release(void)
{
	emu_memory_drop(NULL);
	emu_table_release();
	emu_pools_release();
}
