/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/layout.h -- one recast product laid out: the kernels' parameters,
 * and what they need of a lane. Arithmetic on sizes; calls nothing. */
#ifndef AC_SHIM_LAYOUT_H
#define AC_SHIM_LAYOUT_H

#include "shim/gemm/gemm.h"
#include "shim/device/lane.h"
#include "shim/site/site.h"

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

/* ---- What is remembered ------------------------------------------------- */

/* Of a site's first call that is well-formed. So are calls of the site with the
 * same leading dimensions and strides, but for their addresses: sizes and
 * transposes are the site's. */
struct ac_layout_known {
	struct ac_layout layout;  /* of a cast in C's place */
	uint64_t extent[3];     /* of A, B and C: bytes from the first on */
};

static inline bool
ac_layout_is_of(const struct ac_recast *r, const struct ac_gemm *g)
{
	return !((r->operand[0].ld ^ g->a.ld) | (r->operand[1].ld ^ g->b.ld)
	    | (r->output.ld ^ g->c.ld)
	    | (r->operand[0].stride ^ g->a.stride)
	    | (r->operand[1].stride ^ g->b.stride)
	    | (r->output.stride ^ g->c.stride));
}

/* What is known of such calls of `site`; NULL: nothing. */
static inline const struct ac_layout_known *
ac_layout_recall(const struct ac_gemm *g, const struct ac_site *site)
{
	const struct ac_layout_known *known = site->state
	    ? atomic_load_explicit(&site->state->layout, memory_order_acquire)
	    : NULL;

	return known && ac_layout_is_of(&known->layout.recast, g) ? known
	    : NULL;
}

/* Bytes from the first element of an operand's matrices past the last. */
static inline uint64_t
ac_layout_extent(const struct ac_operand *operand, int64_t rows, int64_t cols,
    int64_t batch)
{
	const uint64_t elements = (uint64_t)(cols - 1) * (uint64_t)operand->ld +
	    (uint64_t)rows + (uint64_t)(batch - 1) * (uint64_t)operand->stride;

	return elements * (operand->type == CUDA_C_32F ? 2 : 1) * sizeof(float);
}

/* As ac_layout_make() does for a cast in C's place. */
void ac_layout_again(const struct ac_layout_known *known,
    const struct ac_gemm *g, struct ac_layout *layout_out);

/* Remember `g`, a well-formed call of `site`, which has a state. Takes memory,
 * once for each site. Any thread. */
__attribute__((cold, noinline))
void ac_layout_remember(const struct ac_gemm *g, const struct ac_site *site);

/* ---- Ready for a call --------------------------------------------------- */

/* Beta is 0: what C held is not needed. */
void ac_layout_forget_c(struct ac_layout *layout);

/* Let it point into what was lent. */
void ac_layout_bind(struct ac_layout *layout, const struct ac_lane_loan *loan);

#endif
