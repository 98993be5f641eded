/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_verified_apart.c -- what mend writes on the CPU where the
 * product is apart. The arithmetic is verified_apart.h's. */
#include "kernels/twins/twins_verified.h"

enum { SIDE = AC_VERIFIED_SIDE };

void
ac_twin_verified_become(const struct ac_verified *v, int64_t matrix,
    int64_t row, int64_t col, float product)
{
	const struct ac_verified_output *o = &v->output;
	const float beta = ac_cast_scalar_read(&o->beta);
	const float y = ac_verified_y(v, matrix, row, col, product, beta,
	    beta != 0 ? ac_verified_c(v, matrix) + col * o->c_ld + row : NULL);
	const int64_t at = ac_verified_aux_at(v, matrix, row, col);

	if (ac_verified_has_bits(&o->tail)) {
		uint32_t *word = (uint32_t *)o->tail.aux + at / 32;
		const uint32_t bit = 1u << (at & 31);

		*word = y < 0 ? *word & ~bit : *word | bit;
	}
	ac_verified_d(v, matrix)[row + col * o->d_ld] =
	    ac_verified_follow(v, matrix, row, col, y);
}

/* Columns from `first` on, in row `row`: 64, of which those that are flagged
 * count or do not; or the next 64 that are flagged. */
static double
add_chunk(const struct ac_verified *v, int64_t matrix, int64_t row,
    int64_t first, bool flagged_too)
{
	const float *d = ac_verified_d(v, matrix);
	double sum = 0;

	for (int64_t j = first; j < first + SIDE && j < v->n; j++)
		if (flagged_too || !ac_is_flagged(v, 1, matrix, j))
			sum += (double)d[row + j * v->output.d_ld];
	return sum;
}

static double
add_flagged(const struct ac_verified *v, int64_t matrix, int64_t row,
    int64_t *next)
{
	const float *d = ac_verified_d(v, matrix);
	double sum = 0;

	for (int count = 0; *next < v->n && count < SIDE; ++*next)
		if (ac_is_flagged(v, 1, matrix, *next)) {
			sum += (double)d[row + *next * v->output.d_ld];
			count++;
		}
	return sum;
}

static void
sum_row(const struct ac_verified *v, int64_t matrix, int64_t row)
{
	const struct ac_verified_tail *t = &v->output.tail;
	const bool whole = v->state->all || ac_is_flagged(v, 0, matrix, row);
	double sum = 0;

	for (int64_t j = 0; j < v->n; j += SIDE)
		sum += add_chunk(v, matrix, row, j, whole);
	for (int64_t next = 0; !whole && next < v->n;)
		sum += add_flagged(v, matrix, row, &next);
	t->sums[matrix * t->sums_stride + row] = ac_verified_number(
	    (float)sum);
}

void
ac_twin_verified_rest(const struct ac_verified *v, struct ac_meter *meter)
{
	const float beta = ac_cast_scalar_read(&v->output.beta);
	const uint64_t count = (uint64_t)(v->batch * v->m * v->n);

	for (int64_t b = 0; b < v->batch && !v->state->all; b++)
		for (int64_t j = 0; j < v->n; j++) {
			const float *product = ac_verified_product(v, b)
			    + j * v->output.ld;

			for (int64_t i = 0; i < v->m
			    && !ac_is_flagged(v, 1, b, j); i++)
				if (!ac_is_flagged(v, 0, b, i))
					ac_twin_verified_become(v, b, i, j,
					    product[i]);
		}
	for (int64_t b = 0; b < v->batch && v->output.tail.sums; b++)
		for (int64_t i = 0; i < v->m; i++)
			sum_row(v, b, i);
	meter->read += count * sizeof(float) * (beta != 0 ? 2 : 1);
	meter->written += count * sizeof(float);
}
