/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/conv_cases.h -- convolutions on which the guard's sample
 * is tried: their memory, and a plain computation of what they give. */
#ifndef AC_TESTS_CONV_CASES_H
#define AC_TESTS_CONV_CASES_H

#include "kernels/conv/conv_check.h"

#include <stdbool.h>
#include <stddef.h>

enum conv_layout { CONV_NCHW, CONV_NHWC, CONV_GAPS, CONV_LAYOUTS };

struct conv_case {
	enum ac_conv_operation operation;
	enum conv_layout layout;
	bool flip, bias, relu;
	int n, groups, depth, features; /* the last two of a group */
	int size[3], taps[3], pad[3], stride[3], dilation[3];
	float alpha, alpha2;            /* alpha2 0: no z */
};

/* The tensors of `check` are its own; `exact` has an element per output, where
 * the output has it. */
struct conv_data {
	struct ac_conv_check check;
	float  *memory[4];              /* x, w, y, z */
	size_t  count[4];               /* floats of each, gaps included */
	const struct ac_conv_view *output;
	float  *out;                    /* its memory */
	size_t  out_count;
	double *exact;                  /* NaN in the gaps */
	float  *bias;
	int64_t products;               /* inside, of all outputs */
	double  scratch[AC_CONV_CHECK_DOUBLES];
	struct ac_conv_post post;
};

/* Small whole numbers below `count`, from a seed that moves on. */
uint32_t conv_any(uint64_t *seed, uint32_t count);
struct conv_case conv_case_random(uint64_t *seed);

/* Inputs are random in (-1, 1), gaps NaN; the output is `exact` rounded. */
void conv_data_make(const struct conv_case *c, uint64_t seed,
    struct conv_data *data_out);
/* Computes `exact` and the output again. */
void conv_data_compute(struct conv_data *data);
void conv_data_free(struct conv_data *data);

#endif
