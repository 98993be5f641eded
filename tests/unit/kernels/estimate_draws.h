/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/estimate_draws.h -- products of many kinds, good and bad,
 * for the estimate of their error; and what their error is. */
#ifndef AC_TESTS_ESTIMATE_DRAWS_H
#define AC_TESTS_ESTIMATE_DRAWS_H

#include "tests/unit/kernels/recast_cases.h"

enum draw_family {
	DRAW_NORMAL, DRAW_POSITIVE, DRAW_LOGNORMAL, DRAW_GRADED_OPPOSITE,
	DRAW_GRADED_ALIKE, DRAW_CHANNEL, DRAW_TOKENS, DRAW_SPARSE,
	DRAW_SUBNORMAL, DRAW_CANCELLING, DRAW_CONSTANT, DRAW_SIGNS,
	DRAW_BIAS, DRAW_MASK, DRAW_CHAIN, DRAW_SOFTMAX, DRAW_FAMILIES
};
extern const char *const draw_names[DRAW_FAMILIES];

/* A product of that family: memory, numbers, C. Sizes, format and severity
 * follow from the seed. */
void draw_make(enum draw_family family, uint64_t seed, struct recast_data *d);

/* Cast, settle, the product of the casts, finish. */
void draw_call(struct recast_data *d);

/* What the last call lost, relative to the smaller of the product's and the
 * result's root mean squares; of outputs whose product is not drowned by what
 * was in C, as recast_estimate.h has it. `c` is C as it was. Of each output
 * `forgiven` does not count: of a subnormal, 2^-150 is FP32's own rounding. */
double draw_error(struct recast_data *d, const float *c, double forgiven);

#endif
