/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/event_device.h -- a device that knows its events, for tests
 * of what is timed: nothing is asked of one that was destroyed, or went with
 * its context (device.epoch), or outside of a bracket. Linked with
 * --wrap=clock_gettime. */
#ifndef AC_TESTS_EVENT_DEVICE_H
#define AC_TESTS_EVENT_DEVICE_H

#include "tests/unit/cases.h"
#include "tests/unit/shim/idle_device.h"

#include <unistd.h>

enum { EVENTS = 4096 };
#define SCRATCH ((struct ac_scratch *)(uintptr_t)16)

static struct {
	bool     is_live, is_recorded, has_passed;
	uint32_t epoch;
	double   ms;
} events[EVENTS];
static unsigned made, asked;    /* events: made; queries */
static unsigned creations;
static double device_ms;        /* its clock */
static bool is_standing;        /* what is recorded does not pass */
static char fails;              /* f: no event can be made, F: no second one,
                                 * R: none can be recorded, T: no time can be
                                 * told */
static int times_pipe = -1;     /* a byte for each time that is told */

static unsigned
known(ac_cu_event event)
{
	const unsigned i = (unsigned)(uintptr_t)event;

	assert_in_range(i, 1, made);
	assert_true(events[i].is_live && events[i].epoch == device.epoch);
	return i;
}

static ac_cu_result
create_event(ac_cu_event *event, unsigned flags)
{
	assert_int_equal(flags, 0);
	*event = NULL;
	creations++;
	if (fails == 'f' || (fails == 'F' && creations % 2 == 0))
		return 1;
	assert_true(++made < EVENTS);
	events[made].is_live = true;
	events[made].epoch = device.epoch;
	*event = (ac_cu_event)(uintptr_t)made;
	return 0;
}

static ac_cu_result
destroy_event(ac_cu_event event)
{
	events[known(event)].is_live = false;
	return 0;
}

static ac_cu_result
record_event(ac_cu_event event, ac_cu_stream stream)
{
	const unsigned i = known(event);

	assert_ptr_equal(stream, (ac_cu_stream)(uintptr_t)64);
	if (fails == 'R')
		return 1;
	events[i].is_recorded = true;
	events[i].has_passed = !is_standing;
	events[i].ms = device_ms;
	return 0;
}

static ac_cu_result
query_event(ac_cu_event event)
{
	const unsigned i = known(event);

	assert_int_equal(brackets, 1);
	assert_true(events[i].is_recorded);
	asked++;
	return !events[i].has_passed;
}

static ac_cu_result
elapsed(float *ms, ac_cu_event start, ac_cu_event end)
{
	assert_int_equal(brackets, 1);
	assert_true(events[known(end)].has_passed
	    && events[known(start)].has_passed);
	*ms = (float)(events[known(end)].ms - events[known(start)].ms);
	if (times_pipe >= 0)
		assert_int_equal(write(times_pipe, "", 1), 1);
	return fails == 'T';
}

static ac_cu_result
get_device(int *number)
{
	*number = 0;
	return 0;
}

static ac_cu_result
get_current(ac_cu_context *context)
{
	*context = (ac_cu_context)(uintptr_t)32;
	return 0;
}

static ac_cu_result
get_id(ac_cu_context context, unsigned long long *id)
{
	assert_null(context);
	*id = 1;
	return 0;
}

static const struct ac_driver driver = {
	.cuEventCreate = create_event, .cuEventDestroy = destroy_event,
	.cuEventRecord = record_event, .cuEventQuery = query_event,
	.cuEventElapsedTime = elapsed, .cuCtxGetDevice = get_device,
	.cuCtxGetCurrent = get_current, .cuCtxGetId = get_id
};

static unsigned
live(void)
{
	unsigned count = 0;

	for (unsigned i = 1; i <= made; i++)
		count += events[i].is_live && events[i].epoch == device.epoch;
	return count;
}

static void
catch_up(void)
{
	is_standing = false;
	for (unsigned i = 1; i <= made; i++)
		events[i].has_passed = events[i].is_recorded;
}

/* Another context, in which all is well. */
static void
begin_device(void)
{
	device.driver = &driver;
	device.scratch = SCRATCH;
	device.epoch++;
	memset(events, 0, sizeof events);
	made = creations = asked = 0;
	is_standing = false;
	fails = 0;
}

/* Where a call runs. */
static struct ac_place
here(bool is_captured)
{
	return (struct ac_place){
		.driver = &driver, .scratch = SCRATCH, .epoch = device.epoch,
		.stream = (ac_cu_stream)(uintptr_t)64, .stream_id = 1,
		.capture = is_captured
	};
}

#endif
