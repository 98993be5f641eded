/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/verified_families.c -- data by family and seed. */
#include "tests/unit/kernels/verified_families.h"

#include <math.h>
#include <stdlib.h>

static uint64_t seed;

static uint32_t
any(uint32_t count)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % count;
}

static float
unit(void)
{
	return (float)(any(1u << 24) + 1) / (float)((1 << 24) + 1);
}

static float
normal(void)
{
	const double radius = sqrt(-2 * log((double)unit()));

	return (float)(radius * cos(6.283185307179586 * (double)unit()));
}

static float *
at_a(const struct verified_problem *p, int i, int l)
{
	return &p->a[i + (int64_t)l * p->m];
}

static float *
at_b(const struct verified_problem *p, int l, int j)
{
	return &p->b[l + (int64_t)j * p->k];
}

/* ---- What is done to normal numbers ------------------------------------ */

static void
scale_all(const struct verified_problem *p, float of_a, float of_b)
{
	for (int64_t i = 0; i < (int64_t)p->m * p->k; i++)
		p->a[i] *= of_a;
	for (int64_t i = 0; i < (int64_t)p->k * p->n; i++)
		p->b[i] *= of_b;
}

static void
scale_row(const struct verified_problem *p, int i, float by)
{
	for (int l = 0; l < p->k; l++)
		*at_a(p, i, l) *= by;
}

static void
scale_col(const struct verified_problem *p, int j, float by)
{
	for (int l = 0; l < p->k; l++)
		*at_b(p, l, j) *= by;
}

/* The second half of K undoes the first but for 1e-4: all rows, or one. */
static void
cancel(const struct verified_problem *p, int only)
{
	const int half = p->k / 2;

	for (int l = 0; l < half; l++)
		for (int j = 0; j < p->n; j++)
			*at_b(p, half + l, j) = *at_b(p, l, j)
			    * (1 + 1e-4f * normal());
	for (int i = 0; i < p->m; i++) {
		if (only >= 0 && i != only)
			continue;
		for (int l = 0; l < half; l++)
			*at_a(p, i, half + l) = -*at_a(p, i, l);
		if (p->k % 2)
			*at_a(p, i, p->k - 1) = 0;
	}
}

/* Equal columns in pairs among zeros, whose errors are equal. */
static void
make_pairs(const struct verified_problem *p)
{
	const int half = p->k / 2;

	for (int l = 0; l < p->k; l++)
		for (int j = 0; j < p->n; j++)
			*at_b(p, l, j) = j % 64 < 2
			    ? *at_b(p, l, j / 64 * 64) : 0;
	for (int l = 0; l < half; l++) {
		for (int i = 0; i < p->m; i += 3)
			*at_a(p, i, half + l) = -*at_a(p, i, l)
			    * (1 + 1e-4f * normal());
		for (int j = 0; j < p->n; j++)
			*at_b(p, half + l, j) = *at_b(p, l, j);
	}
}

/* Rows of A become probabilities: of normal numbers times `sharp`; causal: the
 * first rows see a part of K only. */
static void
soften(const struct verified_problem *p, float sharp, int causal)
{
	for (int i = 0; i < p->m; i++) {
		float sum = 0;

		for (int l = 0; l < p->k; l++) {
			float *x = at_a(p, i, l);

			*x = !causal || (int64_t)l * p->m <= (int64_t)i * p->k
			    ? expf(sharp * *x) : 0;
			sum += *x;
		}
		scale_row(p, i, 1 / sum);
	}
}

static void
set_c(const struct verified_problem *p, float bad, float of_normal)
{
	for (int64_t i = 0; i < (int64_t)p->m * p->n; i++) {
		p->c[i] = of_normal * normal();
		if (bad != 0)
			p->c[i] = any(2) ? bad : 0;
	}
}

/* C is A B but for 1e-5: b - A x at the end of an iteration. */
static void
set_residual(const struct verified_problem *p)
{
	for (int j = 0; j < p->n; j++)
		for (int i = 0; i < p->m; i++) {
			double sum = 0;

			for (int l = 0; l < p->k; l++)
				sum += (double)*at_a(p, i, l)
				    * (double)*at_b(p, l, j);
			p->c[i + (int64_t)j * p->m] = (float)(sum
			    * (1 + 1e-5 * (double)normal()));
		}
}

static void
thin(float *x, int64_t count, float share)
{
	for (int64_t i = 0; i < count; i++)
		if (unit() > share)
			x[i] = 0;
}

static void
one_hot(const struct verified_problem *p)
{
	for (int i = 0; i < p->m; i++) {
		scale_row(p, i, 0);
		*at_a(p, i, (int)any((uint32_t)p->k)) = 1;
	}
}

static void
identity(const struct verified_problem *p)
{
	for (int j = 0; j < p->n; j++)
		for (int l = 0; l < p->k; l++)
			*at_b(p, l, j) = l == j;
}

/* Blocks of 8 on the diagonal; one sees only numbers that are lost. */
static void
hide_block(const struct verified_problem *p)
{
	for (int j = 0; j < p->n; j++)
		for (int l = 0; l < p->k; l++)
			*at_b(p, l, j) *= l / 8 != j / 8 ? 0
			    : l / 8 == 5 ? 1e-3f : 1;
	for (int i = 0; i < p->m; i++)
		for (int l = 40; l < 48 && l < p->k; l++)
			*at_a(p, i, l) *= 1e-9f;
}

static void
grade_k(const struct verified_problem *p)
{
	for (int l = 0; l < p->k; l++) {
		const float by = exp2f(-(float)l * 30 / (float)p->k);

		for (int i = 0; i < p->m; i++)
			*at_a(p, i, l) *= by;
		for (int j = 0; j < p->n; j++)
			*at_b(p, l, j) /= by;
	}
}

static void
grade_diagonals(const struct verified_problem *p)
{
	for (int l = 0; l < p->k; l++) {
		for (int i = 0; i < p->m; i++)
			*at_a(p, i, l) = i == l ? ldexpf(1 + unit(),
			    -(int)any(60)) : 0;
		for (int j = 0; j < p->n; j++)
			*at_b(p, l, j) = l == j ? 1 + unit() : 0;
	}
}

static void
spoil_both(const struct verified_problem *p)
{
	const int i = (int)any((uint32_t)p->m), j = (int)any((uint32_t)p->n);
	const int l = (int)any((uint32_t)p->k);

	*at_a(p, i, l) = INFINITY;
	*at_b(p, l, j) = -INFINITY;
	*at_a(p, (i + 5) % p->m, (l + 1) % p->k) = -INFINITY;
	*at_b(p, (l + 2) % p->k, (j + 3) % p->n) = NAN;
}

/* ---- Families ---------------------------------------------------------- */

enum {
	NORMAL, UNIFORM, TINY, DENORMAL, HUGE_ONES, LOGNORMAL, CHANNELS,
	OUTLIER, BOS_TOKEN, ROWS30, COLS40, ONE_ROW, ONE_COL, K_GRADED, CANCEL,
	CANCEL_ROW, TINY_CANCEL, HUGE_CANCEL, PAIR, SOFTMAX, CAUSAL, RELU, MOE,
	TOKEN_GRAD, SPARSE, UNCENTRED, NAN_ROW, INF_BOTH, INF_SPARSE, ZEROS,
	ZERO_ROWS, IDS, ONE_HOT_REAL, PREFIX, MONEY, MASK, MASK_INF, MASK_BAD,
	ACCUM, ACCUM_ONE, AXPBY, RESIDUAL, GRAM, CONST_COL, LOW_RANK,
	DIAGONALS, HIDDEN, HIDDEN_BLOCK, SPIKES, ROWS110,
	ROWS200, COUNT
};
_Static_assert((int)COUNT == (int)VERIFIED_FAMILIES, "families are counted");

const char *const verified_family_names[VERIFIED_FAMILIES] = {
	"normal", "uniform", "tiny", "denormal", "huge", "lognormal",
	"channels", "outlier", "bos-token", "rows30", "cols40", "one-row",
	"one-col", "k-graded", "cancel", "cancel-row", "tiny-cancel",
	"huge-cancel", "pair", "softmax", "causal", "relu", "moe",
	"token-grad", "sparse", "uncentred", "nan-row", "inf-both",
	"inf-sparse", "zeros", "zero-rows", "ids", "one-hot-real", "prefix",
	"money", "mask", "mask-inf", "mask-bad", "accum", "accum-one",
	"axpby", "residual", "gram", "const-col", "low-rank", "diagonals",
	"hidden", "hidden-block", "spikes", "rows110",
	"rows200"
};

/* Elements on their own. */
static float
element_of(int family, int operand, float x)
{
	switch (family) {
	case UNIFORM:
		return unit();
	case LOGNORMAL:
		return x * expf(3 * normal());
	case UNCENTRED:
		return x + 100;
	case RELU:
		return operand ? 0.05f * x : x > 0 ? x : 0;
	case IDS:
		return operand ? (float)any(1u << 24) : x;
	case PREFIX:
		return operand ? (float)any(30000) : x;
	case MONEY:
		return operand ? (float)any(1000000) / 4 : (float)any(5);
	default:
		return x;
	}
}

static void
make_rows(int family, const struct verified_problem *p)
{
	for (int i = 0; i < p->m; i++) {
		if (family == ROWS30)
			scale_row(p, i, ldexpf(1, -(int)any(31)));
		else if (family == ROWS110)
			scale_row(p, i, ldexpf(1, -(int)any(111)));
		else if (family == ROWS200)
			scale_row(p, i, i % 12 == 5 ? 1e-32f : 1e30f);
		else if (family == SPIKES && i % 32 == 3)
			*at_a(p, i, (int)any((uint32_t)p->k)) = 1e36f;
		else if (family == MOE)
			scale_row(p, i, i % 2 ? 0
			    : ldexpf(1, -(int)any(11)));
		else if (family == TOKEN_GRAD)
			scale_row(p, i, expf(3 * normal()));
		else if (family == ZERO_ROWS && i % 2)
			scale_row(p, i, 0);
		else if (family == CHANNELS)
			for (int l = 0; l < 3 && l < p->k; l++)
				*at_a(p, i, l) *= 1000;
		else if (family == CONST_COL && i)
			for (int l = 0; l < p->k; l++)
				*at_a(p, i, l) = *at_a(p, 0, l);
		else if (family == LOW_RANK && i)
			for (int l = 0; l < p->k; l++)
				*at_a(p, i, l) = *at_a(p, i, 0)
				    * *at_a(p, 0, l);
		else if (family == PREFIX)
			for (int l = 0; l < p->k; l++)
				*at_a(p, i, l) = l <= i;
	}
}

static void
make_cols(int family, const struct verified_problem *p)
{
	for (int j = 0; j < p->n; j++)
		if (family == COLS40)
			scale_col(p, j, ldexpf(1, -(int)any(41)));
		else if (family == GRAM)
			for (int l = 0; l < p->k; l++)
				*at_b(p, l, j) = j < p->m ? *at_a(p, j, l)
				    : 0;
}

/* What has one place in it. */
static void
make_spots(int family, const struct verified_problem *p)
{
	const int i = (int)any((uint32_t)p->m), j = (int)any((uint32_t)p->n);
	const int l = (int)any((uint32_t)p->k);

	switch (family) {
	case OUTLIER:
		*at_a(p, i, l) = 1e5f;
		break;
	case BOS_TOKEN:
		for (int q = 0; q < 4; q++)
			*at_a(p, 0, (7 + 11 * q) % p->k) = 3000;
		break;
	case ONE_ROW:
		scale_row(p, i, 1e-9f);
		break;
	case ONE_COL:
		scale_col(p, j, 1e-9f);
		break;
	case CANCEL_ROW:
		cancel(p, i);
		break;
	case NAN_ROW:
		scale_row(p, i, NAN);
		break;
	case INF_BOTH:
		spoil_both(p);
		break;
	case INF_SPARSE:
		thin(p->b, (int64_t)p->k * p->n, 0.01f);
		*at_a(p, i, l) = INFINITY;
		break;
	case HIDDEN:
		identity(p);
		*at_a(p, i, l) = 1e9f;
		break;
	case HIDDEN_BLOCK:
		hide_block(p);
		break;
	}
}

static void
make_wholes(int family, struct verified_problem *p)
{
	const int64_t of_a = (int64_t)p->m * p->k;

	switch (family) {
	case TINY:
		scale_all(p, 1e-20f, 1e-12f);
		break;
	case DENORMAL:
		scale_all(p, 1e-39f, 1e20f);
		break;
	case HUGE_ONES:
		scale_all(p, 5e37f, 1e-20f);
		break;
	case K_GRADED:
		grade_k(p);
		break;
	case CANCEL: case TINY_CANCEL: case HUGE_CANCEL: case MASK_BAD:
		cancel(p, -1);
		if (family == TINY_CANCEL)
			scale_all(p, 1e-20f, 1e-8f);
		if (family == HUGE_CANCEL)
			scale_all(p, 1e15f, 1e8f);
		break;
	case PAIR:
		make_pairs(p);
		break;
	case SOFTMAX: case CAUSAL:
		soften(p, family == CAUSAL ? 6 : 3, family == CAUSAL);
		break;
	case SPARSE:
		thin(p->a, of_a, 0.01f);
		break;
	case ZEROS:
		scale_all(p, 0, 1);
		break;
	case IDS: case ONE_HOT_REAL:
		one_hot(p);
		break;
	case DIAGONALS:
		grade_diagonals(p);
		break;
	}
}

static void
make_c(int family, struct verified_problem *p)
{
	const float bad = family == MASK_INF ? -INFINITY
	    : family == MASK || family == MASK_BAD ? -1e9f : 0;

	if (family < MASK || family > RESIDUAL)
		return;
	p->beta = family == AXPBY ? -0.3f : 1;
	p->alpha = family == AXPBY ? 0.7f : family == RESIDUAL ? -1 : 1;
	if (family == RESIDUAL)
		set_residual(p);
	else
		set_c(p, bad, family == ACCUM_ONE ? sqrtf((float)p->k) : 10);
}

void
verified_problem_make(int family, int m, int n, int k, uint64_t from,
    struct verified_problem *p)
{
	const int64_t of_a = (int64_t)m * k, of_b = (int64_t)k * n;

	seed = from * 77 + (uint64_t)family;
	*p = (struct verified_problem){ .m = m, .n = n, .k = k,
		.a = malloc((size_t)of_a * sizeof(float)),
		.b = malloc((size_t)of_b * sizeof(float)),
		.c = calloc((size_t)m * (size_t)n, sizeof(float)),
		.alpha = 1 };
	if (!p->a || !p->b || !p->c)
		abort();
	for (int64_t i = 0; i < of_a; i++)
		p->a[i] = element_of(family, 0, normal());
	for (int64_t i = 0; i < of_b; i++)
		p->b[i] = element_of(family, 1, normal());
	make_rows(family, p);
	make_cols(family, p);
	make_spots(family, p);
	make_wholes(family, p);
	make_c(family, p);
}

void
verified_problem_free(struct verified_problem *p)
{
	free(p->a);
	free(p->b);
	free(p->c);
}
