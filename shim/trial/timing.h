/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/timing.h -- how long a call takes on the device, by a pair of
 * events, without waiting. Any thread may try; one that finds it taken by
 * another does not measure. */
#ifndef AC_SHIM_TIMING_H
#define AC_SHIM_TIMING_H

#include "shim/device/place.h"

#include <stdatomic.h>

struct ac_timing {
	_Atomic bool taken;                /* a thread is at what follows */
	const struct ac_driver *driver;    /* NULL: no events yet */
	const struct ac_scratch *_Atomic scratch; /* of whose context */
	uint32_t    epoch;
	ac_cu_event start, end;
	/* Read by any thread. */
	_Atomic bool     pending;          /* recorded and not read yet */
	_Atomic uint32_t count;            /* measurements */
	_Atomic float    least_us;         /* the shortest */
};

/* Read what was recorded before in the context at `place`, if it has passed.
 * Whether anything is left to be read, in any context. */
bool ac_timing_read(struct ac_timing *timing, const struct ac_place *place);

/* Record the beginning, the end of this call's work on `place`'s stream. A
 * pair that could not be read yet is left alone: begin returns false, as it
 * does in a capture; end belongs to a begin that returned true. What was not
 * `done` in between is not measured. */
bool ac_timing_begin(struct ac_timing *timing, const struct ac_place *place);
void ac_timing_end(struct ac_timing *timing, const struct ac_place *place,
    bool done);

/* Give the events back; the measurements stay. While a call is being timed, or
 * one was that cannot be read yet, they stay, too. */
void ac_timing_drop(struct ac_timing *timing, const struct ac_place *place);

#endif
