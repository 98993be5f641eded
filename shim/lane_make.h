/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lane_make.h -- what a lane is made of: shared by lane.c, which lends
 * lanes, and lane_make.c, which builds them and fits them to a call. */
#ifndef AC_SHIM_LANE_MAKE_H
#define AC_SHIM_LANE_MAKE_H

#include "shim/lane.h"
#include "shim/scratch.h"

#include <stdatomic.h>
#include <stdbool.h>

enum ac_lane_state { LANE_EMPTY, LANE_FREE, LANE_BUSY, LANE_RETIRED };

/* What others look at while they search is atomic; the rest belongs to
 * whoever moved the state to BUSY. */
struct ac_lane {
	_Atomic enum ac_lane_state state;
	_Atomic(struct ac_provider *) provider;
	_Atomic uint32_t          epoch;         /* of its scratch */
	_Atomic uint64_t          stream_id, last_use;

	const struct ac_driver   *driver;
	struct ac_scratch        *scratch;
	cublasHandle_t            handle;
	ac_cu_address             workspace, state_words, buffer;
	uint64_t                  workspace_bytes, buffer_bytes;
	ac_cu_event               done;          /* last use of the lane */
	bool                      used, dirty;
	bool                      ordered;       /* this call waits for the last */
	cublasMath_t              math_flags;
	cublasAtomicsMode_t       atomics;
	int                       sm_target;
};

/* Where a call is about to run. */
struct ac_place {
	const struct ac_driver *driver;
	struct ac_scratch *scratch;
	ac_cu_stream stream;
	uint64_t stream_id, limit;
};

/* Build `lane`, which the caller holds BUSY, with room for the request. On
 * failure it is EMPTY again and the reason is returned. */
enum ac_reason ac_lane_build(struct ac_lane *lane,
    const struct ac_lane_request *request, const struct ac_place *place);

/* Give everything back and leave the lane EMPTY. */
void ac_lane_dismantle(struct ac_lane *lane);

/* What the lane held went with its context: clear it without any call. The
 * caller holds it BUSY. */
void ac_lane_forget(struct ac_lane *lane);

/* Make a BUSY lane ready for a call at `place`: ordered after its last use,
 * buffer large enough, stream and modes as the program's handle. */
enum ac_reason ac_lane_prepare(struct ac_lane *lane,
    const struct ac_lane_request *request, const struct ac_place *place);

#endif
