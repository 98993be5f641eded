/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cast_cases.h -- the operands on which the cast kernels are tried,
 * the same for the CPU twins (test_cast) and for a real GPU (tests/gpu). */
#ifndef AC_TESTS_CAST_CASES_H
#define AC_TESTS_CAST_CASES_H

#include "kernels/cast.h"

#include <stdbool.h>
#include <stddef.h>

/* What an operand holds. */
enum cast_fill {
	FILL_NORMAL,     /* both signs, within 2^-10 .. 2^3 */
	FILL_EDGES,      /* every corner of both formats, finite and not */
	FILL_FINITE,     /* the same corners, without inf and NaN */
	FILL_ZERO, FILL_MINUS_ZERO, FILL_NAN,
	FILL_SUBNORMAL,  /* FP32 subnormals */
	FILL_GRADIENT,   /* around 1e-9 */
	FILL_OUTLIER,    /* normal but for one 1e9 */
	FILL_LARGE,      /* around 1e30 */
	FILL_TINY,       /* around 1e-30 */
	FILL_ANY         /* any bits */
};

struct cast_shape {
	int rows, cols;
	int extra_ld;      /* ld = rows + this */
	int extra_stride;  /* stride = ld * cols + this; -1: stride 0 */
	int batch;
	int extra_ld_to;   /* ld_to = rows up to a multiple of 8 + this */
	int extra_cols_to; /* cols_to = cols + this */
};

struct cast_case {
	const char       *name;
	enum cast_fill    fill[2];
	struct cast_shape shape[2];
	float             alpha, beta;
	enum ac_format    format;
	bool              scaled;
};

extern const struct cast_case cast_cases[];
extern const size_t cast_case_count;

/* A case in ordinary memory, ready to run. The operand starts CAST_SKEW
 * elements into its block, off any 16-byte border; the cast has a fence of
 * CAST_FENCE elements on both sides. */
struct cast_data {
	struct ac_cast_params params;
	struct ac_cast_state  state;
	float    *from[2];      /* the block */
	size_t    from_count[2];/* of the block */
	uint16_t *to[2];        /* 16-byte aligned */
	size_t    to_count[2];  /* without the fences */
};

enum { CAST_FENCE = 8, CAST_SKEW = 1 };

/* The next number of a fill; FILL_OUTLIER has none of its outliers. */
float cast_number(enum cast_fill fill, uint64_t *seed);
void cast_data_make(const struct cast_case *c, struct cast_data *data_out);
/* Whether nothing was written next to operand i's cast. */
bool cast_data_is_fenced(const struct cast_data *data, int i);
void cast_data_free(struct cast_data *data);

#endif
