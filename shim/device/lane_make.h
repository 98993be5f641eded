/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/lane_make.h -- what a lane is made of: shared by lane.c, which
 * lends lanes, and lane_make.c, which builds them and fits them to a call. */
#ifndef AC_SHIM_LANE_MAKE_H
#define AC_SHIM_LANE_MAKE_H

#include "shim/device/lane.h"

#include <stdatomic.h>
#include <stdbool.h>

enum ac_lane_state { LANE_EMPTY, LANE_FREE, LANE_BUSY, LANE_RETIRED };

/* Device memory that a lane holds. */
struct ac_lane_block {
	ac_cu_address address;
	uint64_t      bytes;
};
enum ac_lane_part {
	LANE_WORDS,      /* state, and record behind it; zeroed */
	LANE_ZEROS,      /* zeroed */
	LANE_BUFFER,
	LANE_WORKSPACE,  /* cuBLAS's; comes with the handle */
	LANE_PARTS
};
enum { LANE_RECORD_AT = 128 };

/* What others look at while they search is atomic; the rest belongs to
 * whoever moved the state to BUSY. */
struct ac_lane {
	_Atomic enum ac_lane_state state;
	_Atomic(struct ac_provider *) provider;
	_Atomic uint32_t          epoch;         /* of its scratch */
	_Atomic uint64_t          stream_id, capture, last_use;
	_Atomic bool              held;          /* hold.h knows the capture */

	const struct ac_driver   *driver;
	struct ac_scratch        *scratch;
	cublasHandle_t            handle;        /* NULL: not made yet */
	struct ac_lane_block      part[LANE_PARTS];
	ac_cu_event               done;          /* last use of the lane */
	bool                      used, dirty;
	bool                      ordered;       /* call waits for the last */
	bool                      follows;       /* handle is on stream_id */
	cublasMath_t              math_flags;
	cublasAtomicsMode_t       atomics;
	int                       sm_target;
};

/* Build `lane`, which the caller holds BUSY, with room for the request. On
 * failure it is EMPTY again and the reason is returned. Not in a capture. */
enum ac_reason ac_lane_build(struct ac_lane *lane,
    const struct ac_lane_request *request, const struct ac_place *place);

/* Give everything back and leave the lane EMPTY. */
void ac_lane_dismantle(struct ac_lane *lane);

/* What the lane held went with its context: clear it without any call. The
 * caller holds it BUSY. */
void ac_lane_forget(struct ac_lane *lane);

/* Make a BUSY lane ready for a call at `place`: ordered after its last use,
 * parts large enough, stream and modes as the program's handle. */
enum ac_reason ac_lane_prepare(struct ac_lane *lane,
    const struct ac_lane_request *request, const struct ac_place *place);

/* Queue that words and zeros are zero again; dirty: that failed. */
void ac_lane_clear(struct ac_lane *lane, ac_cu_stream stream);

/* Whether it is a graph's of which nothing is left. */
bool ac_lane_is_left(const struct ac_lane *lane);

/* Whether a BUSY lane may go into the capture at `place`: it is large enough
 * as it is, and its last use is over. */
bool ac_lane_suits_capture(struct ac_lane *lane,
    const struct ac_lane_request *request);

#endif
