/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/plan.h -- one recast product laid out: the kernels' parameters, and
 * what they need of a lane. Arithmetic on sizes; calls nothing. */
#ifndef AC_SHIM_PLAN_H
#define AC_SHIM_PLAN_H

#include "shim/gemm/gemm.h"
#include "shim/device/lane.h"

struct ac_plan {
	struct ac_recast recast;        /* pointers into the lane: see bind */
	uint64_t cast_bytes[2], result_bytes, kept_bytes;
	uint64_t bands_bytes[2], parts_bytes; /* what a call is judged by */
	uint64_t buffer_bytes, marks_bytes;
	uint64_t marks_at;              /* of operand 1 */
	int64_t  k_padded;
};

/* Lay out `g`: with `casts`, both operands are cast; with `result`, the product
 * goes beside C (always so for arrays of matrices). False: the sizes do not fit
 * into 63 bits, and *plan_out means nothing. */
bool ac_plan_make(const struct ac_gemm *g, bool casts, bool result,
    struct ac_plan *plan_out);

/* Beta is 0: what C held is not needed. */
void ac_plan_forget_c(struct ac_plan *plan);

/* Let it point into what was lent. */
void ac_plan_bind(struct ac_plan *plan, const struct ac_lane_loan *loan);

#endif
