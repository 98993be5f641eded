/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_scratch.c -- shim/device/scratch.c over a driver that
 * only writes down what it is asked. */
#include "shim/device/scratch.h"
#include "report/report.h"
#include "tests/unit/cases.h"

/* The log: one letter per call. A allocate, F free, R record, W wait. */
static char said[64];
static int mode;             /* the thread's capture mode; 2 is relaxed */
static bool allocation_fails;
static uint64_t peak;
static size_t unused_bytes, total_bytes;  /* of the device */
static ac_cu_stream alloc_stream, free_stream, waiting_stream;
static ac_cu_event awaited;

void
ac_report_peak_scratch(uint64_t bytes)
{
	if (bytes > peak)
		peak = bytes;
}

static void
say(const char *word)
{
	assert_int_equal(mode, AC_CU_CAPTURE_RELAXED);
	strcat(said, word);
}

static ac_cu_result
exchange(int *with)
{
	const int before = mode;

	mode = *with;
	*with = before;
	return 0;
}

static ac_cu_result
memory(size_t *unused_out, size_t *total_out)
{
	*unused_out = unused_bytes;
	*total_out = total_bytes;
	return total_bytes ? 0 : 1;
}

static ac_cu_result
pool_create(ac_cu_pool *pool, const void *properties)
{
	*pool = (ac_cu_pool)(uintptr_t)1;
	return 0;
}

static uint64_t threshold;   /* of the pool */

static ac_cu_result
pool_set(ac_cu_pool pool, int attribute, void *value)
{
	assert_ptr_equal(pool, (ac_cu_pool)(uintptr_t)1);
	if (attribute == AC_CU_POOL_RELEASE_THRESHOLD)
		memcpy(&threshold, value, sizeof threshold);
	else
		assert_int_equal(attribute,
		    AC_CU_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
	return 0;
}

static ac_cu_result
stream_create(ac_cu_stream *stream, unsigned flags)
{
	static uintptr_t next = 100;

	assert_int_equal(flags, AC_CU_STREAM_NON_BLOCKING);
	*stream = (ac_cu_stream)next++;
	return 0;
}

static ac_cu_result
event_create(ac_cu_event *event, unsigned flags)
{
	*event = (ac_cu_event)(uintptr_t)50;
	return 0;
}

static ac_cu_result
allocate(ac_cu_address *address, size_t bytes, ac_cu_pool pool,
    ac_cu_stream stream)
{
	say("A");
	alloc_stream = stream;
	*address = 4096;
	return allocation_fails ? 2 : 0;
}

static ac_cu_result
give(ac_cu_address address, ac_cu_stream stream)
{
	say("F");
	free_stream = stream;
	return 0;
}

static ac_cu_result
record(ac_cu_event event, ac_cu_stream stream)
{
	assert_ptr_equal(stream, alloc_stream);
	say("R");
	return 0;
}

static ac_cu_result
wait(ac_cu_stream stream, ac_cu_event event, unsigned flags)
{
	say("W");
	awaited = event;
	waiting_stream = stream;
	return 0;
}

static const struct ac_driver driver = {
	.cuThreadExchangeStreamCaptureMode = exchange, .cuMemGetInfo = memory,
	.cuMemPoolCreate = pool_create, .cuMemPoolSetAttribute = pool_set,
	.cuStreamCreate = stream_create,
	.cuEventCreate = event_create, .cuMemAllocFromPoolAsync = allocate,
	.cuMemFreeAsync = give, .cuEventRecord = record,
	.cuStreamWaitEvent = wait,
};

CASE(test_take_and_give)
{
	const ac_cu_stream program = (ac_cu_stream)(uintptr_t)7;
	const ac_cu_event last_use = (ac_cu_event)(uintptr_t)9;
	const ac_cu_context context = (ac_cu_context)(uintptr_t)11;
	struct ac_scratch *scratch = ac_scratch_get(&driver, context, 1, 0);
	ac_cu_address address;

	assert_non_null(scratch);
	assert_int_equal(ac_scratch_take(scratch, 1000, 600, false, program,
	    &address), AC_REASON_NONE);
	assert_string_equal(said, "ARW"); /* the program's stream waits */
	assert_ptr_equal(waiting_stream, program);
	assert_int_equal(mode, 0);        /* the thread's own mode is back */
	assert_int_equal(ac_scratch_take(scratch, 1000, 600, false, program,
	    &address), AC_REASON_WORKSPACE);
	ac_scratch_give(scratch, address, 600, last_use);
	assert_string_equal(said, "ARWWF");
	assert_ptr_equal(waiting_stream, free_stream);
	assert_ptr_equal(awaited, last_use);
	/* Who allocates must never wait for somebody's last use. */
	assert_ptr_not_equal(free_stream, alloc_stream);
	assert_int_equal(mode, 0);
	allocation_fails = true;
	assert_int_equal(ac_scratch_take(scratch, 1000, 900, false, program,
	    &address), AC_REASON_OUT_OF_MEMORY);
	allocation_fails = false;
	assert_int_equal(peak, 600);      /* what was never held is no peak */
	assert_int_equal(ac_scratch_take(scratch, 1000, 1000, false, program,
	    &address), AC_REASON_NONE);
	assert_int_equal(peak, 1000);
	/* Never used: freed after its allocation, which is on another
	 * stream. */
	said[0] = '\0';
	awaited = NULL;
	ac_scratch_give(scratch, address, 1000, NULL);
	assert_string_equal(said, "WF");
	assert_ptr_equal(awaited, (ac_cu_event)(uintptr_t)50);
	/* What is free stays the pool's within the limit, for the next one;
	 * nothing does after the last handle. */
	assert_int_equal(threshold, 1000);
	ac_scratch_trim(scratch);
	assert_int_equal(threshold, 0);
	assert_int_equal(ac_scratch_take(scratch, 800, 10, false, program,
	    &address), AC_REASON_NONE);
	assert_int_equal(threshold, 800);
}

/* A reset context has another id at the same address; the entry starts again,
 * and whoever remembers things of it can tell. */
CASE(test_entry_is_used_again)
{
	const ac_cu_context context = (ac_cu_context)(uintptr_t)21;
	struct ac_scratch *first = ac_scratch_get(&driver, context, 31, 0);
	ac_cu_address address;
	uint32_t epoch;

	assert_non_null(first);
	epoch = ac_scratch_epoch(first);
	assert_int_equal(ac_scratch_take(first, 1000, 1000, false, NULL,
			     &address),
	    AC_REASON_NONE);
	assert_ptr_equal(ac_scratch_get(&driver, context, 32, 0), first);
	assert_int_not_equal(ac_scratch_epoch(first), epoch);
	assert_null(ac_scratch_find(31));
	assert_ptr_equal(ac_scratch_find(32), first);
	assert_int_equal(ac_scratch_take(first, 1000, 1000, false, NULL,
			     &address),
	    AC_REASON_NONE);
}

/* Without a limit of the policy's: 1/16 of the device, or less, so that 1 GiB
 * is left to the program; nothing where there is not that much. */
CASE(test_default_limit)
{
	const uint64_t gib = UINT64_C(1) << 30, mib = gib >> 10;
	const struct { uint64_t total, unused, limit; } rows[] = {
		{ 80 * gib, 80 * gib, 5 * gib },
		{ 80 * gib, 6 * gib, 5 * gib },
		{ 80 * gib, 6 * gib - 1, 5 * gib - 1 },
		{ 80 * gib, gib + 3 * mib, 3 * mib },
		{ 80 * gib, gib, 0 }, { 80 * gib, gib - 1, 0 },
		{ 16 * gib, 16 * gib, gib }, { gib, gib, 0 }, { 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const ac_cu_context context = (ac_cu_context)
		    (uintptr_t)(0x100 + i % 2);
		const struct ac_scratch *scratch;

		total_bytes = rows[i].total;
		unused_bytes = rows[i].unused;
		scratch = ac_scratch_get(&driver, context, 100 + i, 0);
		assert_non_null(scratch);
		assert_int_equal(ac_scratch_limit(scratch, 0), rows[i].limit);
		assert_int_equal(ac_scratch_limit(scratch, 7), 7);
		/* As it was when the context was first met. */
		unused_bytes = 80 * gib;
		assert_ptr_equal(ac_scratch_get(&driver, context, 100 + i, 0),
		    scratch);
		assert_int_equal(ac_scratch_limit(scratch, 0), rows[i].limit);
	}
}

CASES_RUN(NULL, NULL)
