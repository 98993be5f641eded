/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/timing.c -- event pairs around single calls. */
#include "shim/trial/timing.h"

#include <stddef.h>

/* Events go with their context. */
static void
forget_if_gone(struct ac_timing *timing, const struct ac_place *place)
{
	if (!timing->driver || (timing->scratch == place->scratch
	    && timing->epoch == place->epoch))
		return;
	timing->driver = NULL;
	timing->pending = false;
}

static bool
take(struct ac_timing *timing)
{
	return !atomic_exchange_explicit(&timing->taken, true,
	    memory_order_acquire);
}

static void
give(struct ac_timing *timing)
{
	atomic_store_explicit(&timing->taken, false, memory_order_release);
}

/* The bracket: in a global capture of another thread even asking disturbs. */
static void
read_taken(struct ac_timing *timing, const struct ac_place *place)
{
	const struct ac_driver *driver = place->driver;
	float ms = 0;
	int mode;
	bool done;

	forget_if_gone(timing, place);
	if (!timing->pending || !ac_scratch_relax(driver, &mode))
		return;
	done = !driver->cuEventQuery(timing->end);
	if (done && driver->cuEventElapsedTime(&ms, timing->start, timing->end))
		ms = 0;
	ac_scratch_restore(driver, mode);
	timing->pending = !done;
	if (!done || !(ms > 0))
		return;
	if (!timing->count || ms * 1000 < timing->least_us)
		timing->least_us = ms * 1000;
	timing->count++;
}

bool
ac_timing_read(struct ac_timing *timing, const struct ac_place *place)
{
	bool pending;

	if (!take(timing))
		return true;
	if (timing->scratch == place->scratch)
		read_taken(timing, place);
	pending = timing->pending;
	give(timing);
	return pending;
}

__attribute__((cold))
static bool
make_events(struct ac_timing *timing, const struct ac_place *place)
{
	const struct ac_driver *driver = place->driver;

	if (timing->driver)
		return true;
	if (!driver->cuEventElapsedTime
	    || driver->cuEventCreate(&timing->start, 0))
		return false;
	if (driver->cuEventCreate(&timing->end, 0)) {
		driver->cuEventDestroy(timing->start);
		return false;
	}
	timing->driver = driver;
	timing->scratch = place->scratch;
	timing->epoch = place->epoch;
	return true;
}

bool
ac_timing_begin(struct ac_timing *timing, const struct ac_place *place)
{
	if (place->capture || !take(timing))
		return false;
	read_taken(timing, place);
	if (!timing->pending && make_events(timing, place)
	    && !place->driver->cuEventRecord(timing->start, place->stream))
		return true; /* taken until the end */
	give(timing);
	return false;
}

void
ac_timing_end(struct ac_timing *timing, const struct ac_place *place, bool done)
{
	timing->pending = done && !place->driver->cuEventRecord(timing->end,
	    place->stream);
	give(timing);
}

__attribute__((cold))
void
ac_timing_drop(struct ac_timing *timing, const struct ac_place *place)
{
	if (!take(timing))
		return;
	forget_if_gone(timing, place);
	if (timing->driver && !timing->pending) {
		timing->driver->cuEventDestroy(timing->start);
		timing->driver->cuEventDestroy(timing->end);
		timing->driver = NULL;
	}
	give(timing);
}
