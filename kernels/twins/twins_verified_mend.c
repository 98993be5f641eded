/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_verified_mend.c -- flagged lines, or all, computed again
 * on the CPU. 64 rows at a time, side by side; every output adds up K as on
 * the GPU: each 64 from their begin on, those of a span, then the spans. */
#include "kernels/twins/twins_verified.h"

#include <stdlib.h>

enum { ABREAST = 64 };

/* Some rows of one matrix. */
struct rows {
	const struct ac_verified *v;
	int64_t matrix, row[ABREAST];
	int     count;
	float  *packed;         /* [k][ABREAST]: theirs of op(A) */
};

static inline __attribute__((always_inline)) void
add_span(bool hardware, const float *a, const float *b, int64_t step,
    int64_t count, float *sum)
{
	float chain[ABREAST] = {0};

	for (int64_t k = 0; k < count; k++) {
		for (int i = 0; i < ABREAST; i++)
			chain[i] = hardware ? __builtin_fmaf(
			    a[k * ABREAST + i], b[k * step], chain[i])
			    : ac_verified_fma(a[k * ABREAST + i], b[k * step],
			    chain[i]);
		if (k % AC_VERIFIED_CHAIN != AC_VERIFIED_CHAIN - 1
		    && k != count - 1)
			continue;
		for (int i = 0; i < ABREAST; i++) {
			sum[i] += chain[i];
			chain[i] = 0;
		}
	}
}

static void
add_span_plain(const float *a, const float *b, int64_t step, int64_t count,
    float *sum)
{
	add_span(false, a, b, step, count, sum);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void
add_span_eight(const float *a, const float *b, int64_t step, int64_t count,
    float *sum)
{
	add_span(true, a, b, step, count, sum);
}
#endif

/* What these rows and one column make. */
static void
mend_column(const struct rows *r, int64_t col)
{
	const struct ac_verified *v = r->v;
	const struct ac_verified_operand *o = &v->operand[1];
	const int64_t step = ac_verified_k_step(o), span = ac_verified_span(
	    v->k);
	const float *b = ac_verified_matrix(o, r->matrix)
	    + col * ac_verified_line_step(o);
	const float alpha = ac_cast_scalar_read(&v->alpha);
	float total[ABREAST] = {0};

	for (int64_t k = 0; k < v->k; k += span) {
		const int64_t count = v->k - k < span ? v->k - k : span;
		float sum[ABREAST] = {0};

#if defined(__x86_64__)
		if (ac_has_fma())
			add_span_eight(r->packed + k * ABREAST, b + k * step,
			    step, count, sum);
		else
#endif
		add_span_plain(r->packed + k * ABREAST, b + k * step, step,
		    count, sum);
		for (int i = 0; i < ABREAST; i++)
			total[i] += sum[i];
	}
	for (int i = 0; i < r->count; i++)
		if (ac_verified_is_apart(v))
			ac_twin_verified_become(v, r->matrix, r->row[i], col,
			    alpha * total[i]);
		else
			ac_verified_product(v, r->matrix)[r->row[i] + col
			    * v->output.ld] = ac_verified_number(alpha
			    * total[i]);
}

/* All columns of these rows, or the flagged ones. */
static void
mend_rows(struct rows *r, bool every)
{
	const struct ac_verified *v = r->v;
	const struct ac_verified_operand *o = &v->operand[0];

	if (!r->count)
		return;
	for (int64_t k = 0; k < v->k; k++)
		for (int i = 0; i < ABREAST; i++)
			r->packed[k * ABREAST + i] = i < r->count
			    ? ac_verified_matrix(o, r->matrix)[r->row[i]
			    * ac_verified_line_step(o)
			    + k * ac_verified_k_step(o)] : 0;
	for (int64_t j = 0; j < v->n; j++)
		if (every || ac_is_flagged(v, 1, r->matrix, j))
			mend_column(r, j);
	r->count = 0;
}

/* Rows that are flagged or not, as asked; with `all` every one. */
static void
mend_matrix(struct rows *r, bool flagged, bool all)
{
	for (int64_t i = 0; i < r->v->m; i++) {
		if (!all && ac_is_flagged(r->v, 0, r->matrix, i) != flagged)
			continue;
		r->row[r->count++] = i;
		if (r->count == ABREAST)
			mend_rows(r, flagged || all);
	}
	mend_rows(r, flagged || all);
}

static int64_t
count_flagged(const struct ac_verified *v, int side, int64_t matrix)
{
	const int64_t lines = side ? v->n : v->m;
	int64_t count = 0;

	for (int64_t i = 0; i < lines; i++)
		count += ac_is_flagged(v, side, matrix, i);
	return count;
}

/* What a product of ours takes in those of cuBLAS: recomputing all takes 1.8 to
 * 2.3 SGEMMs on an H100, by
 * bench/results/verified-kernels-NVIDIA-H100-80GB-HBM3.txt. */
#define OWN_PRODUCT 2.0

/* As the kernel does: 64 lines in one pass, and a pass for fewer. */
static double
operations(const struct ac_verified *v)
{
	const int64_t pass = AC_VERIFIED_SIDE;
	double outputs = 0;

	if (v->state->all)
		return OWN_PRODUCT * 2.0 * (double)v->k
		    * (double)(v->batch * v->m * v->n);
	for (int64_t b = 0; b < v->batch; b++)
		outputs += (double)((count_flagged(v, 0, b) + pass - 1) / pass
		    * pass * v->n + (count_flagged(v, 1, b) + pass - 1) / pass
		    * pass * v->m);
	return OWN_PRODUCT * 2.0 * (double)v->k * outputs;
}

void
ac_twin_verified_mend(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_verified *v = params[0];
	const struct ac_verified_state *s = v->state;
	const unsigned mode = ac_float_mode_enter();
	struct ac_meter meter = {0};
	struct rows r = { .v = v };

	(void)launch;
	if (s->all || s->flagged[0] || s->flagged[1]) {
		r.packed = malloc((size_t)v->k * ABREAST * sizeof(float));
		if (!r.packed)
			abort();
		for (r.matrix = 0; r.matrix < v->batch; r.matrix++) {
			if (s->all || s->flagged[0])
				mend_matrix(&r, true, s->all);
			if (!s->all && s->flagged[1])
				mend_matrix(&r, false, false);
		}
		free(r.packed);
		meter.read += (uint64_t)(v->batch * v->k * (v->m + v->n))
		    * sizeof(float);
		meter.operations = operations(v);
	}
	if (ac_verified_is_apart(v))
		ac_twin_verified_rest(v, &meter);
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
}
