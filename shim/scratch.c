/* SPDX-License-Identifier: Apache-2.0 */
/* shim/scratch.c -- pools, limits and accounts of the shim's device memory. */
#include "shim/scratch.h"

#include "base/lock.h"
#include "report/report.h"

#include <stdatomic.h>
#include <stdbool.h>

struct ac_scratch {
	const struct ac_driver *driver;
	_Atomic uint64_t context_id;
	ac_cu_context    context;     /* compared, never used */
	_Atomic uint32_t epoch;
	ac_cu_pool       pool;
	ac_cu_stream     allocations; /* never waits for anything */
	ac_cu_stream     frees;       /* waits for last uses, then frees */
	ac_cu_event      allocated;   /* the last of `allocations` */
	uint64_t         default_limit;
	bool             usable;      /* false: the driver refused, for good */
	_Atomic uint64_t used;
};

static struct ac_scratch contexts[AC_SCRATCH_CONTEXTS];
static _Atomic unsigned context_count;

int
ac_scratch_relax(const struct ac_driver *driver)
{
	int mode = AC_CU_CAPTURE_RELAXED;

	/* Without the bracket we still work; only another thread's capture
	 * may then be invalidated, as by any other allocation. */
	if (driver->cuThreadExchangeStreamCaptureMode(&mode))
		return -1;
	return mode;
}

void
ac_scratch_restore(const struct ac_driver *driver, int mode)
{
	if (mode >= 0)
		driver->cuThreadExchangeStreamCaptureMode(&mode);
}

/* recasting.md R6: min(1/16 of the device, what leaves 1 GiB free). */
static uint64_t
default_limit(const struct ac_driver *driver)
{
	const uint64_t reserve = UINT64_C(1) << 30;
	size_t unused, total;
	uint64_t limit;

	if (driver->cuMemGetInfo(&unused, &total))
		return 0;
	limit = total / 16;
	if (unused < reserve)
		return 0;
	return limit < unused - reserve ? limit : unused - reserve;
}

/* Freed memory is handed out again only when it is free already, never by
 * making the new user wait for the old one. */
static void
forbid_dependencies(const struct ac_driver *driver, ac_cu_pool pool)
{
	int no = 0;

	if (driver->cuMemPoolSetAttribute)
		driver->cuMemPoolSetAttribute(pool,
		    AC_CU_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no);
}

static bool
make(struct ac_scratch *scratch, const struct ac_driver *driver, int device)
{
	const struct ac_cu_pool_properties properties = {
		.allocation_type = AC_CU_ALLOCATION_PINNED,
		.location_type = AC_CU_LOCATION_DEVICE,
		.location_id = device,
	};

	scratch->driver = driver;
	scratch->default_limit = default_limit(driver);
	scratch->used = 0;
	if (driver->cuMemPoolCreate(&scratch->pool, &properties))
		return false;
	forbid_dependencies(driver, scratch->pool);
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

static struct ac_scratch *
if_usable(struct ac_scratch *scratch)
{
	return scratch && scratch->usable ? scratch : NULL;
}

/* The entry of a context that is gone, its address being `context`'s now, or a
 * new one; NULL when the table is full. */
static struct ac_scratch *
free_entry(ac_cu_context context)
{
	for (unsigned i = 0; i < context_count; i++)
		if (contexts[i].context == context)
			return &contexts[i];
	return context_count < AC_SCRATCH_CONTEXTS ? &contexts[context_count]
	    : NULL;
}

static void
fill_entry(struct ac_scratch *scratch, const struct ac_driver *driver,
    ac_cu_context context, uint64_t context_id, int device)
{
	const int mode = ac_scratch_relax(driver);
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

/* The one lock held across driver calls: once per context, so that two threads
 * that meet their first recast together both get to recast. A refusal is
 * remembered: asking again at every call would make each of them slow. */
struct ac_scratch *
ac_scratch_get(const struct ac_driver *driver, ac_cu_context context,
    uint64_t context_id, int device)
{
	static struct ac_lock lock;
	struct ac_scratch *scratch = ac_scratch_find(context_id);

	if (scratch)
		return if_usable(scratch);
	ac_lock_take(&lock);
	scratch = ac_scratch_find(context_id);
	if (!scratch) {
		scratch = free_entry(context);
		if (scratch)
			fill_entry(scratch, driver, context, context_id,
			    device);
	}
	ac_lock_give(&lock);
	return if_usable(scratch);
}

uint64_t
ac_scratch_limit(const struct ac_scratch *scratch, uint64_t wanted)
{
	return wanted ? wanted : scratch->default_limit;
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

static bool
allocate(struct ac_scratch *scratch, uint64_t bytes, bool zeroed,
    ac_cu_stream stream, ac_cu_address *address_out)
{
	const struct ac_driver *driver = scratch->driver;
	ac_cu_address address;

	if (driver->cuMemAllocFromPoolAsync(&address, bytes, scratch->pool,
	    scratch->allocations))
		return false;
	if ((zeroed && driver->cuMemsetD32Async(address, 0,
	    bytes / sizeof(uint32_t), scratch->allocations))
	    || driver->cuEventRecord(scratch->allocated, scratch->allocations)
	    || driver->cuStreamWaitEvent(stream, scratch->allocated, 0)) {
		driver->cuMemFreeAsync(address, scratch->allocations);
		return false;
	}
	*address_out = address;
	return true;
}

enum ac_reason
ac_scratch_take(struct ac_scratch *scratch, uint64_t limit, uint64_t bytes,
    bool zeroed, ac_cu_stream stream, ac_cu_address *address_out)
{
	int mode;
	bool done;

	if (!enter_account(scratch, limit, bytes))
		return AC_REASON_WORKSPACE;
	mode = ac_scratch_relax(scratch->driver);
	done = allocate(scratch, bytes, zeroed, stream, address_out);
	ac_scratch_restore(scratch->driver, mode);
	if (done)
		ac_report_peak_scratch(atomic_load(&scratch->used));
	else
		atomic_fetch_sub(&scratch->used, bytes);
	return done ? AC_REASON_NONE : AC_REASON_OUT_OF_MEMORY;
}

bool
ac_scratch_order(struct ac_scratch *scratch, ac_cu_stream stream, bool captures)
{
	const struct ac_driver *driver = scratch->driver;
	int mode;
	bool done;

	if (!captures)
		return !driver->cuStreamWaitEvent(stream, scratch->allocated,
		    0);
	mode = ac_scratch_relax(driver);
	done = !driver->cuEventQuery(scratch->allocated);
	ac_scratch_restore(driver, mode);
	return done;
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
	const int mode = ac_scratch_relax(driver);

	if (!driver->cuStreamWaitEvent(scratch->frees, after, 0)
	    && !driver->cuMemFreeAsync(address, scratch->frees))
		atomic_fetch_sub(&scratch->used, bytes);
	ac_scratch_restore(driver, mode);
}
