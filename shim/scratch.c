/* SPDX-License-Identifier: Apache-2.0 */
/* shim/scratch.c -- pools, limits and accounts of the shim's device memory. */
#include "shim/scratch.h"

#include "report/report.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { CONTEXTS = 32 };

struct ac_scratch {
	const struct ac_driver *driver;
	uint64_t         context_id;
	ac_cu_pool       pool;
	ac_cu_stream     stream;      /* non-blocking: alloc and free only */
	ac_cu_event      allocated;   /* last allocation on `stream` */
	uint64_t         default_limit;
	bool             usable;      /* false: the driver refused, for good */
	_Atomic uint64_t used;
};

static struct ac_scratch contexts[CONTEXTS];
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
	return !driver->cuMemPoolCreate(&scratch->pool, &properties)
	    && !driver->cuStreamCreate(&scratch->stream, AC_CU_STREAM_NON_BLOCKING)
	    && !driver->cuEventCreate(&scratch->allocated,
	        AC_CU_EVENT_DISABLE_TIMING);
}

static struct ac_scratch *
find(uint64_t context_id)
{
	const unsigned count = atomic_load_explicit(&context_count,
	    memory_order_acquire);

	for (unsigned i = 0; i < count; i++)
		if (contexts[i].context_id == context_id)
			return &contexts[i];
	return NULL;
}

static struct ac_scratch *
if_usable(struct ac_scratch *scratch)
{
	return scratch && scratch->usable ? scratch : NULL;
}

/* The one lock held across driver calls: once per context, so that two threads
 * that meet their first recast together both get to recast. A refusal is
 * remembered: asking again at every call would make each of them slow. */
struct ac_scratch *
ac_scratch_get(const struct ac_driver *driver, uint64_t context_id, int device)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct ac_scratch *scratch = find(context_id);
	unsigned count;

	if (scratch)
		return if_usable(scratch);
	pthread_mutex_lock(&lock);
	scratch = find(context_id);
	count = context_count;
	if (!scratch && count < CONTEXTS) {
		const int mode = ac_scratch_relax(driver);

		scratch = &contexts[count];
		scratch->usable = make(scratch, driver, device);
		scratch->context_id = context_id;
		atomic_store_explicit(&context_count, count + 1,
		    memory_order_release);
		ac_scratch_restore(driver, mode);
	}
	pthread_mutex_unlock(&lock);
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
	ac_report_peak_scratch(used + bytes);
	return true;
}

static bool
allocate(struct ac_scratch *scratch, uint64_t bytes, ac_cu_stream stream,
    ac_cu_address *address_out)
{
	const struct ac_driver *driver = scratch->driver;
	ac_cu_address address;

	if (driver->cuMemAllocFromPoolAsync(&address, bytes, scratch->pool,
	    scratch->stream))
		return false;
	if (driver->cuEventRecord(scratch->allocated, scratch->stream)
	    || driver->cuStreamWaitEvent(stream, scratch->allocated, 0)) {
		driver->cuMemFreeAsync(address, scratch->stream);
		return false;
	}
	*address_out = address;
	return true;
}

enum ac_reason
ac_scratch_take(struct ac_scratch *scratch, uint64_t limit, uint64_t bytes,
    ac_cu_stream stream, ac_cu_address *address_out)
{
	int mode;
	bool done;

	if (!enter_account(scratch, limit, bytes))
		return AC_REASON_WORKSPACE;
	mode = ac_scratch_relax(scratch->driver);
	done = allocate(scratch, bytes, stream, address_out);
	ac_scratch_restore(scratch->driver, mode);
	if (!done)
		atomic_fetch_sub(&scratch->used, bytes);
	return done ? AC_REASON_NONE : AC_REASON_OUT_OF_MEMORY;
}

/* A block that cannot be freed stays in the account: it is still held. */
void
ac_scratch_give(struct ac_scratch *scratch, ac_cu_address address,
    uint64_t bytes, ac_cu_event last_use)
{
	const struct ac_driver *driver = scratch->driver;
	const int mode = ac_scratch_relax(driver);

	if ((!last_use
	    || !driver->cuStreamWaitEvent(scratch->stream, last_use, 0))
	    && !driver->cuMemFreeAsync(address, scratch->stream))
		atomic_fetch_sub(&scratch->used, bytes);
	ac_scratch_restore(driver, mode);
}
