/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_verified.h -- what the twins of verified.h's kernels
 * share. */
#ifndef AC_KERNELS_TWINS_VERIFIED_H
#define AC_KERNELS_TWINS_VERIFIED_H

#include "kernels/twins/twins_inside.h"
#include "kernels/verified/verified_apart.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Whether this CPU fuses a multiply and an add itself. */
static inline bool
ac_has_fma(void)
{
#if defined(__x86_64__)
	return !atomic_load_explicit(&ac_twin_plain, memory_order_relaxed)
	    && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
	return false;
#endif
}

/* Of the lines of a probe. */
typedef float ac_weights[AC_VERIFIED_GROUPS * AC_VERIFIED_GROUP]
    [AC_VERIFIED_VECTORS];

static inline void
ac_weigh(uint32_t seed, uint32_t side, ac_weights weight)
{
	const uint32_t count = AC_VERIFIED_GROUPS * AC_VERIFIED_GROUP;

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t t = 0; t < AC_VERIFIED_VECTORS; t++)
			weight[i][t] = ac_verified_weight(seed, side, i, t);
}

static inline bool
ac_is_flagged(const struct ac_verified *v, int side, int64_t matrix,
    int64_t line)
{
	const struct ac_verified_operand *o = &v->operand[side];

	return o->flags[matrix * ac_verified_words(o->lines) + line / 32]
	    >> line % 32 & 1;
}

/* What becomes of one output's product, where it is apart. */
void ac_twin_verified_become(const struct ac_verified *v, int64_t matrix,
    int64_t row, int64_t col, float product);
/* What becomes of all that was good, and what D's rows add up to. */
void ac_twin_verified_rest(const struct ac_verified *v,
    struct ac_meter *meter);

#endif
