/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/layout.h -- one recast product laid out: the kernels' parameters,
 * and what they need of a lane. Arithmetic on sizes; calls nothing. */
#ifndef AC_SHIM_LAYOUT_H
#define AC_SHIM_LAYOUT_H

#include "shim/gemm/gemm.h"
#include "shim/device/lane.h"

struct ac_layout {
	struct ac_recast recast;        /* pointers into the lane: see bind */
	uint64_t cast_bytes[2], result_bytes, kept_bytes;
	uint64_t bands_bytes[2], parts_bytes; /* what a call is judged by */
	uint64_t buffer_bytes, marks_bytes;
	uint64_t marks_at;              /* of operand 1 */
	int64_t  k_padded;
};

/* Lay out `g`: with `casts`, both operands are cast; with `result`, the product
 * goes beside C (always so for arrays of matrices). False: the sizes do not fit
 * into 63 bits, and *layout_out means nothing. */
bool ac_layout_make(const struct ac_gemm *g, bool casts, bool result,
    struct ac_layout *layout_out);

/* Beta is 0: what C held is not needed. */
void ac_layout_forget_c(struct ac_layout *layout);

/* Let it point into what was lent. */
void ac_layout_bind(struct ac_layout *layout, const struct ac_lane_loan *loan);

#endif
