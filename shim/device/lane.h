/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/lane.h -- a private place to run a recast call (doc/rules.md R1).
 *
 * A lane is room for casts, results and the words of one call, and for a
 * product a cuBLAS handle of our own with device pointer mode and its own
 * workspace, all in one context. It is checked out for one call, without a
 * lock, and given back once the work is queued; two threads never share one at
 * a time.
 *
 * A lane lent to a stream that captures belongs to that capture, since its
 * memory is part of the graph (R7): for ever, unless the driver can say that
 * nothing is left of it (hold.h). */
#ifndef AC_SHIM_LANE_H
#define AC_SHIM_LANE_H

#include "kernels/verified/verified.h"
#include "policy/op.h"
#include "shim/bind/provider.h"
#include "shim/device/place.h"

struct ac_lane;

/* What a call wants of a lane. */
struct ac_lane_request {
	struct ac_provider *provider;
	cublasHandle_t      program;        /* whose modes the lane mirrors */
	cublasMath_t        math_mode;      /* of the program's handle */
	int                 device;
	bool                wants_handle;   /* for a product on the lane */
	uint64_t            buffer_bytes;   /* for casts and results together */
	uint64_t            zero_bytes;     /* zero before and after it */
	uint64_t            limit_bytes;    /* workspace=; 0: the default */
};

struct ac_lane_loan {
	struct ac_lane         *lane;
	cublasHandle_t          handle;     /* on `stream`; NULL: not wanted */
	ac_cu_stream            stream;     /* the program's */
	char                   *buffer;     /* device, 256-byte aligned */
	uint32_t               *zeros;      /* device, all zero */
	struct ac_verified_state *state;    /* device */
	struct ac_verified_record *record;  /* device: of calls that nobody
	                                     * reads the results of */
};

/* Borrow a lane for a call at `place`. AC_REASON_NONE and *loan_out, or why the
 * call must be kept. Queues at most waits, never waits; in a capture it makes
 * nothing, allocates nothing and asks only whether a lane's last use is
 * over. */
enum ac_reason ac_lane_borrow(const struct ac_lane_request *request,
    const struct ac_place *place, struct ac_lane_loan *loan_out);

/* Give it back once everything is queued. `clean` is false when a launch
 * failed half way: then it is cleared behind what was queued, at once, since a
 * graph with that may be launched many times. */
void ac_lane_return(const struct ac_lane_loan *loan, bool clean);

/* The program destroyed its last handle of `provider` in the context with the
 * id `context`: destroy the lanes there that served it and belong to no graph
 * that is left.
 * Should another context be current, they stay, for the next handle in
 * theirs. */
void ac_lane_destroy_all(struct ac_provider *provider,
    unsigned long long context);

/* `provider` was unloaded: its lanes are never lent again. Their memory stays
 * held until the context ends, since handles without their library cannot be
 * destroyed. */
void ac_lane_abandon_all(struct ac_provider *provider);

#endif
