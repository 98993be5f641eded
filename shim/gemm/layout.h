/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/layout.h -- one verified product laid out: the kernels' parameters,
 * and what they need of a lane. Arithmetic on sizes; calls nothing. */
#ifndef AC_SHIM_LAYOUT_H
#define AC_SHIM_LAYOUT_H

#include "kernels/verified/verified.h"
#include "shim/gemm/gemm.h"
#include "shim/device/lane.h"
#include "shim/site/site.h"

/* Until ac_layout_bind() what lies in the lane's buffer has an address there,
 * from 0 on. */
struct ac_layout {
	struct ac_verified v;
	float   *symmetric;             /* A or B, written whole */
	float   *result;                /* of a product apart */
	uint64_t buffer_bytes, zero_bytes;
	bool     apart, too_large;
};

/* Lay out `g`, whose operands are written as `format` says, terms of `chunk` of
 * K side by side; AC_FORMAT_TF32: they are only looked at. The product goes
 * next to C where `apart`: it adds to C, or something follows it, or it is of
 * matrices in arrays. False: the kernels cannot count so far, and *layout_out
 * means nothing. */
bool ac_layout_make(const struct ac_gemm *g, enum ac_format format,
    uint32_t chunk, bool apart, struct ac_layout *layout_out);

/* ---- What is remembered ------------------------------------------------- */

/* Of a site's first call that is well-formed. So are calls of the site with the
 * same leading dimensions and strides, but for their addresses: sizes and
 * transposes are the site's. */
struct ac_layout_known {
	enum ac_tactic tactic;    /* that of the first candidate: */
	struct ac_layout layout;  /* in C's place, of a cast to FP16, or of
	                           * what a library converts */
	uint64_t result_bytes;  /* of a product apart; 0: too many */
	uint64_t extent[3];     /* of A, B and C: bytes from the first on */
};

static inline bool
ac_layout_is_of(const struct ac_verified *v, const struct ac_gemm *g)
{
	return !((v->operand[0].ld ^ g->a.ld) | (v->operand[1].ld ^ g->b.ld)
	    | (v->output.ld ^ g->c.ld)
	    | (v->operand[0].stride ^ g->a.stride)
	    | (v->operand[1].stride ^ g->b.stride)
	    | (v->output.stride ^ g->c.stride));
}

/* What is known of such calls of `site`; NULL: nothing. */
static inline const struct ac_layout_known *
ac_layout_recall(const struct ac_gemm *g, const struct ac_site *site)
{
	const struct ac_layout_known *known = site->state
	    ? atomic_load_explicit(&site->state->layout, memory_order_acquire)
	    : NULL;

	return known && ac_layout_is_of(&known->layout.v, g) ? known : NULL;
}

/* Bytes from the first element past the last, of A, B and C, of all matrices of
 * each. */
void ac_layout_extents(const struct ac_gemm *g, uint64_t extent_out[3]);

/* As ac_layout_make() does, for a cast of one term or for none, as is known.
 * False: what it needs is not known. */
bool ac_layout_again(const struct ac_layout_known *known,
    const struct ac_gemm *g, bool apart, struct ac_layout *layout_out);

/* Remember `g`, a well-formed call of `site`, which has a state. Takes memory,
 * once for each site. Any thread. */
__attribute__((cold, noinline))
void ac_layout_remember(const struct ac_gemm *g, const struct ac_site *site);

/* ---- Ready for a call --------------------------------------------------- */

/* Let it point into what was lent. */
void ac_layout_bind(struct ac_layout *layout, const struct ac_lane_loan *loan);

#endif
