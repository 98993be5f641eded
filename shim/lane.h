/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lane.h -- a private place to run a recast product (recasting.md R1).
 *
 * A lane is a cuBLAS handle of our own with device pointer mode, its own
 * workspace, room for both cast operands and the words of one cast, all in one
 * context. It is checked out for one call, without a lock, and given back once
 * the work is queued; two threads never share one at a time. */
#ifndef AC_SHIM_LANE_H
#define AC_SHIM_LANE_H

#include "kernels/kernels.h"
#include "policy/op.h"
#include "shim/provider.h"

struct ac_lane;

/* What a call wants of a lane. */
struct ac_lane_request {
	struct ac_provider *provider;
	cublasHandle_t      program;        /* whose modes the lane mirrors */
	cublasMath_t        math_mode;      /* of the program's handle */
	int                 device;
	uint64_t            buffer_bytes;   /* for both operands together */
	uint64_t            limit_bytes;    /* workspace=; 0: the default */
};

struct ac_lane_loan {
	struct ac_lane       *lane;
	cublasHandle_t        handle;       /* set to `stream` */
	ac_cu_stream          stream;       /* the program's */
	char                 *buffer;       /* device, 256-byte aligned */
	struct ac_cast_state *state;        /* device */
};

/* Borrow a lane for the program handle's stream. AC_REASON_NONE and *loan_out,
 * or why the call must be kept. Queues at most waits, never waits. */
enum ac_reason ac_lane_borrow(const struct ac_lane_request *request,
    struct ac_lane_loan *loan_out);

/* Give it back once everything is queued. `clean` is false when a launch
 * failed half way: the cast's words are then cleared before the next use. */
void ac_lane_return(const struct ac_lane_loan *loan, bool clean);

/* The program destroyed its last handle of `provider` in the context with the
 * id `context`: destroy the lanes there that served it. Should another context
 * be current, they stay, for the next handle in theirs. */
void ac_lane_destroy_all(struct ac_provider *provider,
    unsigned long long context);

/* `provider` was unloaded: its lanes are never lent again. Their memory stays
 * held until the context ends, since handles without their library cannot be
 * destroyed. */
void ac_lane_abandon_all(struct ac_provider *provider);

#endif
