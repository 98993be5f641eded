/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/scratch.c -- pools, limits and accounts of the shim's device
 * memory. */
#include "shim/device/scratch.h"

#include "base/lock.h"
#include "base/log.h"
#include "report/report.h"
#include "shim/device/blocks.h"

#include <stdatomic.h>
#include <stdbool.h>

struct ac_scratch {
	const struct ac_driver *driver;
	_Atomic uint64_t context_id;
	ac_cu_context    context;     /* compared, never used */
	_Atomic uint32_t epoch;
	ac_cu_pool       pool;
	/* Instead of the pool, once the driver refused that; else NULL. */
	_Atomic(struct ac_blocks *) blocks;
	ac_cu_stream     allocations; /* never waits for anything */
	ac_cu_stream     frees;       /* waits for last uses, then frees */
	ac_cu_event      allocated;   /* the last of `allocations` */
	uint64_t         default_limit;
	bool             usable;      /* false: the driver refused, for good */
	_Atomic uint64_t used;
	_Atomic uint64_t threshold;   /* of the pool, as it was told */
};

enum { OUT_OF_MEMORY = 2 };     /* CUDA_ERROR_OUT_OF_MEMORY */
static struct ac_scratch contexts[AC_SCRATCH_CONTEXTS];
static _Atomic unsigned context_count;

bool
ac_scratch_relax(const struct ac_driver *driver, int *mode_out)
{
	*mode_out = AC_CU_CAPTURE_RELAXED;
	return !driver->cuThreadExchangeStreamCaptureMode(mode_out);
}

void
ac_scratch_restore(const struct ac_driver *driver, int mode)
{
	driver->cuThreadExchangeStreamCaptureMode(&mode);
}

/* doc/rules.md R6: min(1/16 of the device, what leaves 1 GiB free). */
static uint64_t
default_limit(const struct ac_driver *driver)
{
	const uint64_t reserve = UINT64_C(1) << 30;
	size_t unused, total;

	if (driver->cuMemGetInfo(&unused, &total) || unused < reserve)
		return 0;
	return total / 16 < unused - reserve ? total / 16 : unused - reserve;
}

/* No user waits for another; `bytes` stay: not each try maps memory again. */
static void
set_pool(struct ac_scratch *scratch, uint64_t bytes)
{
	const struct ac_driver *driver = scratch->driver;
	int no = 0;

	if (atomic_exchange(&scratch->threshold, bytes) == bytes ||
	    !driver->cuMemPoolSetAttribute)
		return;
	driver->cuMemPoolSetAttribute(scratch->pool,
	    AC_CU_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no);
	driver->cuMemPoolSetAttribute(scratch->pool,
	    AC_CU_POOL_RELEASE_THRESHOLD, &bytes);
}

/* Do without pools from now on. */
static bool
leave_pool(struct ac_scratch *scratch, const char *call, ac_cu_result failed)
{
	struct ac_blocks *none = NULL, *made = ac_blocks_make(scratch->driver);

	if (!made || !atomic_compare_exchange_strong(&scratch->blocks, &none,
	    made))
		return made != NULL;
	ac_log(AC_LOG_INFO, "the driver refuses %s (error %d): memory is of "
	    "cuMemAlloc, and held until a handle is destroyed", call, failed);
	return true;
}

static bool
make(struct ac_scratch *scratch, const struct ac_driver *driver, int device)
{
	const struct ac_cu_pool_properties properties = {
		.allocation_type = AC_CU_ALLOCATION_PINNED,
		.location_type = AC_CU_LOCATION_DEVICE,
		.location_id = device,
	};
	ac_cu_result failed;

	scratch->driver = driver;
	scratch->default_limit = default_limit(driver);
	scratch->used = 0;
	scratch->threshold = UINT64_MAX;
	if (scratch->blocks)
		ac_blocks_forget(scratch->blocks);
	else if (!(failed = driver->cuMemPoolCreate(&scratch->pool,
	    &properties)))
		set_pool(scratch, 0);
	else if (!leave_pool(scratch, "cuMemPoolCreate", failed))
		return false;
	return !driver->cuStreamCreate(&scratch->allocations,
		AC_CU_STREAM_NON_BLOCKING)
	    && !driver->cuStreamCreate(&scratch->frees,
		AC_CU_STREAM_NON_BLOCKING)
	    && !driver->cuEventCreate(&scratch->allocated,
		AC_CU_EVENT_DISABLE_TIMING);
}

struct ac_scratch *
ac_scratch_find(uint64_t context_id)
{
	const unsigned count = atomic_load_explicit(&context_count,
	    memory_order_acquire);

	for (unsigned i = 0; i < count; i++)
		if (contexts[i].context_id == context_id)
			return &contexts[i];
	return NULL;
}

unsigned
ac_scratch_index(const struct ac_scratch *scratch)
{
	return (unsigned)(scratch - contexts);
}

uint32_t
ac_scratch_epoch(const struct ac_scratch *scratch)
{
	return scratch->epoch;
}

/* The entry of a context that is gone, its address being `context`'s now, or a
 * new one; NULL when the table is full. */
static struct ac_scratch *
free_entry(ac_cu_context context)
{
	unsigned i = 0;

	while (i < context_count && contexts[i].context != context)
		i++;
	return i < AC_SCRATCH_CONTEXTS ? &contexts[i] : NULL;
}

/* The one lock held across driver calls: once per context, so that two threads
 * that meet their first recast together both get to recast. Without the bracket
 * the entry stays as it was: of no context, or of one that is gone. */
__attribute__((cold, noinline))
static void
meet(const struct ac_driver *driver, ac_cu_context context,
    uint64_t context_id, int device)
{
	static struct ac_lock lock;
	struct ac_scratch *scratch;
	int mode;

	ac_lock_take(&lock);
	scratch = ac_scratch_find(context_id) ? NULL : free_entry(context);
	if (scratch && ac_scratch_relax(driver, &mode)) {
		const unsigned index = ac_scratch_index(scratch);

		scratch->usable = make(scratch, driver, device);
		scratch->context = context;
		scratch->epoch++;
		scratch->context_id = context_id;
		if (index == context_count)
			atomic_store_explicit(&context_count, index + 1,
			    memory_order_release);
		ac_scratch_restore(driver, mode);
	}
	ac_lock_give(&lock);
}

/* A refusal is remembered: asking again at every call would make each of them
 * slow. */
struct ac_scratch *
ac_scratch_get(const struct ac_driver *driver, ac_cu_context context,
    uint64_t context_id, int device)
{
	struct ac_scratch *scratch = ac_scratch_find(context_id);

	if (!scratch) {
		meet(driver, context, context_id, device);
		scratch = ac_scratch_find(context_id);
	}
	return scratch && scratch->usable ? scratch : NULL;
}

uint64_t
ac_scratch_limit(const struct ac_scratch *scratch, uint64_t wanted)
{
	return wanted ? wanted : scratch->default_limit;
}

bool
ac_scratch_has_room(const struct ac_scratch *scratch, uint64_t limit,
    uint64_t bytes)
{
	limit = ac_scratch_limit(scratch, limit);
	/* Blocks that were given back are in the account. */
	return scratch->blocks || (bytes <= limit
	    && scratch->used <= limit - bytes);
}

static bool
enter_account(struct ac_scratch *scratch, uint64_t limit, uint64_t bytes)
{
	uint64_t used = atomic_load(&scratch->used);

	do {
		if (bytes > limit || used > limit - bytes)
			return false;
	} while (!atomic_compare_exchange_weak(&scratch->used, &used,
	    used + bytes));
	return true;
}

/* What was allocated, zeroed if so wished, is there for `stream`. */
static bool
hand_over(struct ac_scratch *scratch, ac_cu_address address, uint64_t bytes,
    bool zeroed, ac_cu_stream stream)
{
	const struct ac_driver *driver = scratch->driver;

	return (!zeroed || !driver->cuMemsetD32Async(address, 0,
		bytes / sizeof(uint32_t), scratch->allocations))
	    && !driver->cuEventRecord(scratch->allocated, scratch->allocations)
	    && !driver->cuStreamWaitEvent(stream, scratch->allocated, 0);
}

static enum ac_reason
take_pooled(struct ac_scratch *scratch, uint64_t limit, uint64_t bytes,
    bool zeroed, ac_cu_stream stream, ac_cu_address *address_out)
{
	const struct ac_driver *driver = scratch->driver;
	ac_cu_address address;
	ac_cu_result failed;

	if (!enter_account(scratch, limit, bytes))
		return AC_REASON_WORKSPACE;
	set_pool(scratch, limit);
	failed = driver->cuMemAllocFromPoolAsync(&address, bytes,
	    scratch->pool, scratch->allocations);
	if (!failed && hand_over(scratch, address, bytes, zeroed, stream)) {
		*address_out = address;
		return AC_REASON_NONE;
	}
	atomic_fetch_sub(&scratch->used, bytes);
	if (!failed)
		driver->cuMemFreeAsync(address, scratch->allocations);
	return !failed || failed == OUT_OF_MEMORY || !leave_pool(scratch,
	    "cuMemAllocFromPoolAsync", failed) ? AC_REASON_OUT_OF_MEMORY
	    : AC_REASON_REFUSED;
}

/* Said once: what is refused is asked for again at each call. */
static enum ac_reason
refusal_of(ac_cu_result failed)
{
	static atomic_bool said;

	if (failed == OUT_OF_MEMORY)
		return AC_REASON_OUT_OF_MEMORY;
	if (!atomic_exchange(&said, true))
		ac_log(AC_LOG_INFO, "the driver refuses cuMemAlloc (error "
		    "%d): what needs memory is kept", failed);
	return AC_REASON_DRIVER;
}

/* To a power of two if there is room for that: what has grown leaves its old
 * block behind, and these are no more than the new one then. */
static enum ac_reason
take_block(struct ac_scratch *scratch, uint64_t limit, uint64_t bytes,
    bool zeroed, ac_cu_stream stream, ac_cu_address *address_out)
{
	struct ac_blocks *blocks = scratch->blocks;
	ac_cu_address address = ac_blocks_reuse(blocks, bytes);
	uint64_t rounded = 1;
	ac_cu_result failed;

	if (!address) {
		while (rounded < bytes)
			rounded *= 2;
		if (!enter_account(scratch, limit, rounded)) {
			rounded = bytes;
			if (!enter_account(scratch, limit, bytes))
				return AC_REASON_WORKSPACE;
		}
		failed = ac_blocks_add(blocks, rounded, &address);
		if (failed) {
			atomic_fetch_sub(&scratch->used, rounded);
			return refusal_of(failed);
		}
	}
	if (!hand_over(scratch, address, bytes, zeroed, stream)) {
		(void)ac_blocks_give(blocks, address, scratch->allocations);
		return AC_REASON_OUT_OF_MEMORY;
	}
	*address_out = address;
	return AC_REASON_NONE;
}

enum ac_reason
ac_scratch_take(struct ac_scratch *scratch, uint64_t limit, uint64_t bytes,
    bool zeroed, ac_cu_stream stream, ac_cu_address *address_out)
{
	enum ac_reason reason = AC_REASON_REFUSED;
	int mode;

	if (!ac_scratch_relax(scratch->driver, &mode))
		return AC_REASON_DRIVER;
	limit = ac_scratch_limit(scratch, limit);
	if (!scratch->blocks)
		reason = take_pooled(scratch, limit, bytes, zeroed, stream,
		    address_out);
	if (reason == AC_REASON_REFUSED)
		reason = take_block(scratch, limit, bytes, zeroed, stream,
		    address_out);
	ac_scratch_restore(scratch->driver, mode);
	if (reason == AC_REASON_NONE)
		ac_report_peak_scratch(atomic_load(&scratch->used));
	return reason;
}

bool
ac_scratch_order(struct ac_scratch *scratch, ac_cu_stream stream, bool captures)
{
	const struct ac_driver *driver = scratch->driver;

	return captures ? ac_scratch_has_passed(driver, scratch->allocated)
	    : !driver->cuStreamWaitEvent(stream, scratch->allocated, 0);
}

/* Never used means used by nobody but the stream that allocated it, and that
 * is another one: the free then waits for the allocation. A block that cannot
 * be freed stays in the account: it is still held. */
void
ac_scratch_give(struct ac_scratch *scratch, ac_cu_address address,
    uint64_t bytes, ac_cu_event last_use)
{
	const struct ac_driver *driver = scratch->driver;
	const ac_cu_event after = last_use ? last_use : scratch->allocated;
	struct ac_blocks *blocks = scratch->blocks;
	int mode;

	if (!ac_scratch_relax(driver, &mode))
		return;
	if (!driver->cuStreamWaitEvent(scratch->frees, after, 0)
	    && !(blocks && ac_blocks_give(blocks, address, scratch->frees))
	    && !driver->cuMemFreeAsync(address, scratch->frees))
		atomic_fetch_sub(&scratch->used, bytes);
	ac_scratch_restore(driver, mode);
}

void
ac_scratch_trim(struct ac_scratch *scratch)
{
	int mode;

	if (!ac_scratch_relax(scratch->driver, &mode))
		return;
	if (scratch->blocks)
		atomic_fetch_sub(&scratch->used,
		    ac_blocks_free(scratch->blocks));
	else
		set_pool(scratch, 0);
	ac_scratch_restore(scratch->driver, mode);
}
