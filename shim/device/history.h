/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/history.h -- what a site remembers on the device, per stream: the
 * exponents its next cast will try (doc/rules.md R2). */
#ifndef AC_SHIM_HISTORY_H
#define AC_SHIM_HISTORY_H

#include "kernels/recast/recast.h"
#include "shim/device/place.h"

#include <stdatomic.h>

/* One candidate of a site on one stream, or in one capture of it: two graphs
 * captured on one stream may run at once. Once nothing is left of a graph, the
 * next one of that stream has its history (hold.h). Never freed, nor moved. */
struct ac_history {
	struct ac_history *next;
	uint64_t           stream_id;
	_Atomic uint64_t   capture;
	bool               held;           /* hold.h knows the capture */
	unsigned           candidate;
	unsigned           scratch;        /* ac_scratch_index() */
	uint32_t           epoch;
	ac_cu_address      address;
	_Atomic uint64_t   posted;         /* the last call to hand it over */
};

/* A site's, newest first; starts NULL. */
typedef _Atomic(struct ac_history *) ac_histories;

/* The history for calls of `candidate` at `place`, zeroed if it is new
 * and ready for use on its stream. NULL: there is none (no memory, too many
 * streams); such a call remembers nothing. In a capture nothing is allocated.
 * Thread-safe. */
struct ac_recast_history *ac_history_find(ac_histories *list,
    const struct ac_place *place, unsigned candidate, uint64_t limit_bytes);

/* Whether that history has handed nothing over for `most` calls, whatever
 * stream they were on, before call `number`. */
bool ac_history_is_silent(ac_histories *list, const struct ac_place *place,
    unsigned candidate, uint64_t number, uint64_t most);
/* That call does. */
void ac_history_posts(ac_histories *list, const struct ac_place *place,
    unsigned candidate, uint64_t number);

#endif
