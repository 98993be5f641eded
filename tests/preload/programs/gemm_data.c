/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/gemm_data.c -- kinds of data a product may meet.
 *
 * One row per kind: how an element of A and of B is drawn, and what is then
 * done to both. Doubles; the caller rounds to FP32. */
#include "gemm_client.h"

#include <math.h>

/* One element; a and b are the two numbers of the row. */
typedef double (*draw)(uint64_t *state, double a, double b);

struct pair {
	int64_t m, n, k;
	double *a, *b; /* as in distribution_fill() */
};

struct source {
	draw one;
	double a, b;
};

struct distribution {
	const char *name;
	struct source a, b;
	void (*then)(const struct pair *x, uint64_t *state, double amount);
	double amount;
};

static double
nothing(uint64_t *state, double a, double b)
{
	(void)state;
	(void)a;
	(void)b;
	return 0;
}

static double
uniform(uint64_t *state, double low, double high)
{
	return low + (high - low) * client_uniform(state);
}

static double
integer(uint64_t *state, double low, double high)
{
	return floor(uniform(state, low, high + 1));
}

static double
normal(uint64_t *state, double size, double unused)
{
	const double radius = sqrt(-2 * log(1 - client_uniform(state)));

	(void)unused;
	return size * radius * cos(2 * acos(-1) * client_uniform(state));
}

/* As BF16 has it. */
static double
bf16(uint64_t *state, double size, double unused)
{
	int exponent;
	const double part = frexp(normal(state, size, unused), &exponent);

	return ldexp(rint(part * 256), exponent - 8);
}

static double
relu(uint64_t *state, double size, double unused)
{
	return fmax(normal(state, size, unused), 0);
}

static double
binades(uint64_t *state, double low, double high)
{
	const double sign = client_random(state) >> 63 ? -1 : 1;

	return sign * exp2(uniform(state, low, high));
}

/* Normal, its size log-normal with a sigma of 2.5. */
static double
heavy_tail(uint64_t *state, double size, double unused)
{
	const double spread = exp(2.5 * normal(state, 1, 0));

	return normal(state, size, unused) * spread;
}

/* Rows of A become probabilities: exp(row) over its sum. */
static void
softmax(const struct pair *x, uint64_t *state, double amount)
{
	(void)state;
	(void)amount;
	for (int64_t i = 0; i < x->m; i++) {
		double *row = x->a + i * x->k;
		double sum = 0;
		for (int64_t p = 0; p < x->k; p++)
			sum += row[p] = exp(row[p]);
		for (int64_t p = 0; p < x->k; p++)
			row[p] /= sum;
	}
}

static void
outlier(const struct pair *x, uint64_t *state, double amount)
{
	(void)state;
	if (x->m && x->k)
		x->a[x->m / 3 * x->k + x->k / 3] = amount;
}

/* 0.5 % of the columns of A, at least one, times `amount`. */
static void
channels(const struct pair *x, uint64_t *state, double amount)
{
	for (int64_t left = x->k / 200 + 1; x->k && left; left--) {
		const int64_t p = (int64_t)(client_uniform(state) *
		    (double)x->k);
		for (int64_t i = 0; i < x->m; i++)
			x->a[i * x->k + p] *= amount;
	}
}

/* Each row of A has its own size, over `amount` binades. */
static void
graded_rows(const struct pair *x, uint64_t *state, double amount)
{
	for (int64_t i = 0; i < x->m; i++) {
		const double size = exp2(uniform(state, -amount, 0));
		for (int64_t p = 0; p < x->k; p++)
			x->a[i * x->k + p] *= size;
	}
}

/* Each matrix A of a batch has its own size, over `amount` binades. */
static void
graded_batch(const struct pair *x, uint64_t *state, double amount)
{
	const double size = exp2(uniform(state, -amount, 0));

	for (int64_t i = 0; i < x->m * x->k; i++)
		x->a[i] *= size;
}

/* Each column of A, and the row of B that meets it the other way. */
static void
graded_k(const struct pair *x, uint64_t *state, double amount)
{
	for (int64_t p = 0; p < x->k; p++) {
		const double size = exp2(uniform(state, -amount, 0));
		for (int64_t i = 0; i < x->m; i++)
			x->a[i * x->k + p] *= size;
		for (int64_t j = 0; j < x->n; j++)
			x->b[p * x->n + j] /= size;
	}
}

/* A = [X X], B = [Y; -Y (1 + amount z)]: C is `amount` of its terms. */
static void
cancelling(const struct pair *x, uint64_t *state, double amount)
{
	const int64_t half = x->k / 2;

	for (int64_t i = 0; i < x->m; i++)
		for (int64_t p = 0; p < half; p++)
			x->a[i * x->k + half + p] = x->a[i * x->k + p];
	for (int64_t p = 0; p < half; p++)
		for (int64_t j = 0; j < x->n; j++)
			x->b[(half + p) * x->n + j] = -x->b[p * x->n + j] *
			    (1 + amount * normal(state, 1, 0));
	for (int64_t i = 0; x->k % 2 && i < x->m; i++)
		x->a[i * x->k + x->k - 1] = 0;
}

/* Every third row of A and every third column of B. */
static void
zero_rows(const struct pair *x, uint64_t *state, double amount)
{
	(void)state;
	(void)amount;
	for (int64_t i = 0; i < x->m; i += 3)
		for (int64_t p = 0; p < x->k; p++)
			x->a[i * x->k + p] = 0;
	for (int64_t j = 0; j < x->n; j += 3)
		for (int64_t p = 0; p < x->k; p++)
			x->b[p * x->n + j] = 0;
}

/* `amount` at two places of A and one of B. */
static void
plant(const struct pair *x, uint64_t *state, double amount)
{
	if (!x->m || !x->n || !x->k)
		return;
	for (int i = 0; i < 2; i++)
		x->a[(int64_t)(client_uniform(state) *
		    (double)(x->m * x->k))] = amount;
	x->b[(int64_t)(client_uniform(state) * (double)(x->k * x->n))] =
	    amount;
}

static void
plant_mixture(const struct pair *x, uint64_t *state, double amount)
{
	plant(x, state, amount);
	plant(x, state, -amount);
	plant(x, state, NAN);
	zero_rows(x, state, 0);
}

/* Where an infinity of A meets a zero of B, the product is NaN. */
static void
plant_inf_on_zero(const struct pair *x, uint64_t *state, double amount)
{
	zero_rows(x, state, 0);
	if (x->m && x->k)
		x->a[x->m / 2 * x->k + x->k / 2] = amount;
}

/* Where an infinity of A meets an element of B so small next to the others that
 * FP16 has only zero for it: infinity in FP32. */
static void
plant_inf_on_tiny(const struct pair *x, uint64_t *state, double amount)
{
	const int64_t p = x->k / 2;

	(void)state;
	for (int64_t j = 0; x->k && j < x->n; j++)
		x->b[p * x->n + j] *= 1e-30;
	if (x->m && x->k)
		x->a[x->m / 2 * x->k + p] = amount;
}

#define UNIFORM(low, high)  { uniform, low, high }
#define NORMAL(size)        { normal, size, 0 }
#define RELU(size)          { relu, size, 0 }
#define BINADES(low, high)  { binades, low, high }
#define HEAVY(size)         { heavy_tail, size, 0 }

static const struct distribution distributions[] = {
	{ "uniform01", UNIFORM(0, 1), UNIFORM(0, 1), NULL, 0 },
	{ "uniform", UNIFORM(-1, 1), UNIFORM(-1, 1), NULL, 0 },
	{ "normal", NORMAL(1), NORMAL(1), NULL, 0 },
	{ "weights", NORMAL(1), NORMAL(0.02), NULL, 0 },
	{ "bf16-a", { bf16, 1, 0 }, NORMAL(0.02), NULL, 0 },
	{ "bf16-b", NORMAL(1), { bf16, 0.02, 0 }, NULL, 0 },
	{ "relu", RELU(1), NORMAL(0.05), NULL, 0 },
	{ "softmax", NORMAL(3), NORMAL(1), softmax, 0 },
	{ "loguniform", BINADES(-20, 10), BINADES(-20, 10), NULL, 0 },
	{ "loguniform-a", BINADES(-20, 10), NORMAL(1), NULL, 0 },
	{ "loguniform50", BINADES(-60, -10), BINADES(-30, 20), NULL, 0 },
	{ "gradients1e-5", NORMAL(1e-5), RELU(1), NULL, 0 },
	{ "gradients1e-6", NORMAL(1e-6), RELU(1), NULL, 0 },
	{ "gradients1e-7", NORMAL(1e-7), RELU(1), NULL, 0 },
	{ "gradients1e-8", NORMAL(1e-8), RELU(1), NULL, 0 },
	{ "gradients1e-9", NORMAL(1e-9), RELU(1), NULL, 0 },
	{ "heavytail1e-6", HEAVY(1e-6), RELU(1), NULL, 0 },
	{ "heavytail1e-8", HEAVY(1e-8), RELU(1), NULL, 0 },
	{ "outlier1e5", NORMAL(1), NORMAL(1), outlier, 1e5 },
	{ "outlier1e9", NORMAL(1), NORMAL(1), outlier, 1e9 },
	{ "channels", NORMAL(1), NORMAL(0.02), channels, 1000 },
	{ "rows30", NORMAL(1), NORMAL(1), graded_rows, 30 },
	{ "rows45", NORMAL(1), NORMAL(1), graded_rows, 45 },
	{ "batch60", NORMAL(1), NORMAL(1), graded_batch, 60 },
	{ "k30", NORMAL(1), NORMAL(1), graded_k, 30 },
	{ "k45", NORMAL(1), NORMAL(1), graded_k, 45 },
	{ "k60", NORMAL(1), NORMAL(1), graded_k, 60 },
	{ "cancelling", NORMAL(1), NORMAL(1), cancelling, 1e-4 },
	{ "integers", { integer, -128, 127 }, { integer, -128, 127 }, NULL, 0 },
	{ "normal1e6", NORMAL(1e6), NORMAL(1), NULL, 0 },
	{ "1e30x1e-30", NORMAL(1e30), NORMAL(1e-30), NULL, 0 },
	{ "1e-30x1e30", NORMAL(1e-30), NORMAL(1e30), NULL, 0 },
	{ "1e30x1e30", NORMAL(1e30), NORMAL(1e30), NULL, 0 },
	{ "1e-30x1e-30", NORMAL(1e-30), NORMAL(1e-30), NULL, 0 },
	{ "1e-30x1e10", NORMAL(1e-30), NORMAL(1e10), NULL, 0 },
	{ "1e30x1e-30-zero-rows", NORMAL(1e30), NORMAL(1e-30), zero_rows, 0 },
	{ "1e-30x1e30-zero-rows", NORMAL(1e-30), NORMAL(1e30), zero_rows, 0 },
	{ "1e30x1e30-zero-rows", NORMAL(1e30), NORMAL(1e30), zero_rows, 0 },
	{ "1e-30x1e-30-zero-rows", NORMAL(1e-30), NORMAL(1e-30), zero_rows, 0 },
	{ "subnormal", NORMAL(1e-40), NORMAL(1), NULL, 0 },
	{ "zeros", { nothing, 0, 0 }, NORMAL(1), NULL, 0 },
	{ "zeros-both", { nothing, 0, 0 }, { nothing, 0, 0 }, NULL, 0 },
	{ "zero-rows", NORMAL(1), NORMAL(1), zero_rows, 0 },
	{ "inf", NORMAL(1), NORMAL(1), plant, INFINITY },
	{ "minus-inf", NORMAL(1), NORMAL(1), plant, -INFINITY },
	{ "nan", NORMAL(1), NORMAL(1), plant, NAN },
	{ "inf-on-zero", NORMAL(1), NORMAL(1), plant_inf_on_zero, INFINITY },
	{ "inf-on-tiny", NORMAL(1), NORMAL(1), plant_inf_on_tiny, INFINITY },
	{ "nonfinite", NORMAL(1), NORMAL(1), plant_mixture, INFINITY },
};

enum { DISTRIBUTIONS = sizeof distributions / sizeof *distributions };

const struct distribution *
distribution_find(const char *name)
{
	for (int i = 0; i < DISTRIBUTIONS; i++)
		if (!strcmp(distributions[i].name, name))
			return &distributions[i];
	return NULL;
}

void
distribution_fill(const struct distribution *d, uint64_t *state,
    int64_t m, int64_t n, int64_t k, double *a, double *b)
{
	const struct pair x = { m, n, k, a, b };

	for (int64_t i = 0; i < m * k; i++)
		a[i] = d->a.one(state, d->a.a, d->a.b);
	for (int64_t i = 0; i < k * n; i++)
		b[i] = d->b.one(state, d->b.a, d->b.b);
	if (d->then)
		d->then(&x, state, d->amount);
}
