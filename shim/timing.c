/* SPDX-License-Identifier: Apache-2.0 */
/* shim/timing.c -- event pairs around single calls. */
#include "shim/timing.h"

#include <stddef.h>

/* Events go with their context. */
static void
forget_if_gone(struct ac_timing *timing, const struct ac_place *place)
{
	if (!timing->driver || (timing->scratch == place->scratch
	    && timing->epoch == ac_scratch_epoch(place->scratch)))
		return;
	timing->driver = NULL;
	timing->pending = false;
}

/* The bracket: in a global capture of another thread even asking disturbs. */
void
ac_timing_read(struct ac_timing *timing, const struct ac_place *place)
{
	const struct ac_driver *driver = place->driver;
	float ms = 0;
	int mode;
	bool done;

	forget_if_gone(timing, place);
	if (!timing->pending)
		return;
	mode = ac_scratch_relax(driver);
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
	timing->epoch = ac_scratch_epoch(place->scratch);
	return true;
}

bool
ac_timing_begin(struct ac_timing *timing, const struct ac_place *place)
{
	ac_timing_read(timing, place);
	return !place->capture && !timing->pending
	    && make_events(timing, place)
	    && !place->driver->cuEventRecord(timing->start, place->stream);
}

void
ac_timing_end(struct ac_timing *timing, const struct ac_place *place)
{
	timing->pending = !place->driver->cuEventRecord(timing->end,
	    place->stream);
}

void
ac_timing_drop(struct ac_timing *timing, const struct ac_place *place)
{
	forget_if_gone(timing, place);
	if (!timing->driver)
		return;
	timing->driver->cuEventDestroy(timing->start);
	timing->driver->cuEventDestroy(timing->end);
	timing->driver = NULL;
	timing->pending = false;
}
