/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_cancelled.h -- sums that have cancelled, by where
 * they are: what a call notes of them, and heeds, once for both sides. */
#ifndef AC_KERNELS_VERIFIED_CANCELLED_H
#define AC_KERNELS_VERIFIED_CANCELLED_H

#include "kernels/verified/verified_apart.h"

struct ac_verified_range {
	uint64_t from, to;          /* the same: nothing */
};

/* Of m rows and n columns of each matrix. */
AC_CAST_BODY struct ac_verified_range
ac_verified_range_of(const struct ac_verified *v, const float *first,
    int64_t ld, int64_t stride)
{
	const uint64_t from = (uint64_t)(uintptr_t)first;
	const int64_t count = (v->batch - 1) * stride + (v->n - 1) * ld + v->m;
	struct ac_verified_range range;

	range.from = from;
	range.to = first ? from + (uint64_t)count * sizeof *first : from;
	return range;
}

/* What the call writes; nothing, if only an array tells. */
AC_CAST_BODY struct ac_verified_range
ac_verified_written(const struct ac_verified *v)
{
	const struct ac_verified_output *o = &v->output;

	return ac_verified_is_apart(v)
	    ? ac_verified_range_of(v, o->d, o->d_ld, o->d_stride)
	    : ac_verified_range_of(v, o->product, o->ld, o->stride);
}

/* What it adds to. */
AC_CAST_BODY struct ac_verified_range
ac_verified_added(const struct ac_verified *v)
{
	const struct ac_verified_output *o = &v->output;

	return ac_verified_range_of(v, ac_verified_beta(v) != 0 ? o->c
	    : (const float *)0, o->c_ld, o->c_stride);
}

enum {
	AC_VERIFIED_HEEDS = 1,      /* a sum where it writes has cancelled */
	AC_VERIFIED_KNOWN = 2       /* what it adds to is noted */
};

/* What the `count` entries say that were made; the last ones are there. What
 * the others said is not known: then who heeds them does so everywhere. On a
 * GPU, of all threads of a block. */
AC_CAST_BODY uint32_t
ac_verified_look_up(const struct ac_verified *v, uint32_t count)
{
	const struct ac_verified_cancelled *c = v->cancelled;
	const struct ac_verified_range written = ac_verified_written(v);
	const struct ac_verified_range added = ac_verified_added(v);
#ifdef __CUDACC__
	const uint32_t first = threadIdx.x, step = AC_CAST_BLOCK;
#else
	const uint32_t first = 0, step = 1;
#endif
	bool heeds = v->heeds_cancelled && count > AC_VERIFIED_CANCELLED
	    && written.from != written.to, known = false;

	AC_CAST_ROLLED
	for (uint32_t i = first; i < count && i < AC_VERIFIED_CANCELLED;
	    i += step) {
		heeds = heeds || (v->heeds_cancelled
		    && c->from[i] < written.to && c->to[i] > written.from);
		known = known || (c->from[i] <= added.from
		    && c->to[i] >= added.to);
	}
#ifdef __CUDACC__
	heeds = __syncthreads_or(heeds);
	known = __syncthreads_or(known);
#endif
	return (heeds ? AC_VERIFIED_HEEDS : 0u)
	    | (known ? AC_VERIFIED_KNOWN : 0u);
}

/* Which of them to write, of however many calls at once. */
AC_CAST_BODY uint32_t
ac_verified_draw(uint32_t *count)
{
#ifdef __CUDACC__
	return atomicAdd(count, 1u);
#else
	return __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
#endif
}

AC_CAST_BODY void
ac_verified_note(const struct ac_verified *v)
{
	const struct ac_verified_range added = ac_verified_added(v);
	uint32_t i;

	if (added.from == added.to)
		return;
	i = ac_verified_draw(&v->cancelled->count) % AC_VERIFIED_CANCELLED;
	v->cancelled->from[i] = added.from;
	v->cancelled->to[i] = added.to;
}

#endif
