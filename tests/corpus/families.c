/* SPDX-License-Identifier: Apache-2.0 */
/* tests/corpus/families.c -- fifteen families of operands, from tame to hard.
 *
 * Both operands begin as normal numbers; a family then does its worst to them.
 * Nearly one case in three is turned around, so that the other operand has it.
 * Own generators: another libc draws the same cases. */
#include "tests/corpus/families.h"

#include <math.h>

enum { SIDE = CORPUS_SIDE };

/* Row by row: a[i * k + p], b[p * SIDE + j]. */
struct pair {
	uint64_t state;
	int64_t  k;
	double  *a, *b;
};

/* splitmix64 */
static uint64_t
bits(struct pair *x)
{
	uint64_t z = x->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static double
uniform(struct pair *x, double low, double high)
{
	return low + (high - low) * (double)(bits(x) >> 11) * 0x1p-53;
}

static int64_t
below(struct pair *x, int64_t end)
{
	return (int64_t)(bits(x) % (uint64_t)end);
}

/* Marsaglia's polar method; the second number of each pair is dropped. */
static double
normal(struct pair *x)
{
	double u, v, s;

	do {
		u = uniform(x, -1, 1);
		v = uniform(x, -1, 1);
		s = u * u + v * v;
	} while (s >= 1 || s == 0);
	return u * sqrt(-2 * log(s) / s);
}

static double
power_of_ten(struct pair *x, double low, double high)
{
	return pow(10, uniform(x, low, high));
}

static int64_t
count(const struct pair *x)
{
	return SIDE * x->k;
}

static void
scale(const struct pair *x, double *operand, double factor)
{
	for (int64_t i = 0; i < count(x); i++)
		operand[i] *= factor;
}

static void
lognormal(struct pair *x, double *operand, double sigma)
{
	for (int64_t i = 0; i < count(x); i++)
		operand[i] *= exp(sigma * normal(x));
}

static void
loguniform(struct pair *x, double *operand, double binades)
{
	for (int64_t i = 0; i < count(x); i++)
		operand[i] = copysign(exp2(uniform(x, -binades / 2,
		    binades / 2)), operand[i]);
}

/* `number` elements, all of one size. */
static void
outliers(struct pair *x, double *operand, int64_t number)
{
	const double size = power_of_ten(x, 1, 14);

	while (number-- > 0)
		operand[below(x, count(x))] = size;
}

static void
family_scale(struct pair *x)
{
	scale(x, x->a, power_of_ten(x, -12, 6));
	scale(x, x->b, power_of_ten(x, -6, 4));
}

static void
family_lognorm(struct pair *x)
{
	lognormal(x, x->a, uniform(x, 0, 6));
	scale(x, x->a, power_of_ten(x, -10, 2));
}

static void
family_lognorm2(struct pair *x)
{
	const double sigma = uniform(x, 0, 5);

	lognormal(x, x->a, sigma);
	lognormal(x, x->b, sigma);
}

static void
family_posit(struct pair *x)
{
	for (int64_t i = 0; i < count(x); i++) {
		x->a[i] = uniform(x, 0, 1);
		x->b[i] = uniform(x, 0, 1);
	}
	scale(x, x->a, power_of_ten(x, -9, 5));
}

static void
family_logunif(struct pair *x)
{
	loguniform(x, x->a, uniform(x, 5, 90));
}

static void
family_logunif2(struct pair *x)
{
	const double binades = uniform(x, 5, 90);

	loguniform(x, x->a, binades);
	loguniform(x, x->b, binades);
}

static void
family_outl(struct pair *x)
{
	outliers(x, x->a, 1 + below(x, 8));
}

static void
family_outl2(struct pair *x)
{
	const int64_t number = 1 + below(x, 8);

	outliers(x, x->a, number);
	outliers(x, x->b, number);
}

/* One column of A in a hundred. */
static void
family_chan(struct pair *x)
{
	const double factor = power_of_ten(x, 0, 8);

	for (int64_t left = x->k / 100 ? x->k / 100 : 1; left; left--) {
		const int64_t p = below(x, x->k);
		for (int64_t i = 0; i < SIDE; i++)
			x->a[i * x->k + p] *= factor;
	}
}

static void
family_rowgr(struct pair *x)
{
	const double binades = uniform(x, 0, 90);

	for (int64_t i = 0; i < SIDE; i++) {
		const double factor = exp2(uniform(x, -binades, 0));
		for (int64_t p = 0; p < x->k; p++)
			x->a[i * x->k + p] *= factor;
	}
}

/* A's columns one way, B's rows the other. */
static void
family_kgr(struct pair *x)
{
	const double binades = uniform(x, 0, 90);

	for (int64_t p = 0; p < x->k; p++) {
		const double factor = exp2(uniform(x, -binades, 0));
		for (int64_t i = 0; i < SIDE; i++) {
			x->a[i * x->k + p] *= factor;
			x->b[p * SIDE + i] /= factor;
		}
	}
}

/* A = [X X], B = [Y; -Y (1 + e z)]: C is e of its terms. */
static void
family_cancel(struct pair *x)
{
	const double e = power_of_ten(x, -6, 0);
	const int64_t half = x->k / 2;

	for (int64_t p = 0; p < half; p++)
		for (int64_t i = 0; i < SIDE; i++) {
			x->a[i * x->k + half + p] = x->a[i * x->k + p];
			x->b[(half + p) * SIDE + i] =
			    -x->b[p * SIDE + i] * (1 + e * normal(x));
		}
}

static void
family_sparse(struct pair *x)
{
	const double density = power_of_ten(x, -3, 0);
	const double size = power_of_ten(x, -9, 2);

	for (int64_t i = 0; i < count(x); i++) {
		x->a[i] *= uniform(x, 0, 1) < density ? size : 0;
		x->b[i] = fmax(x->b[i], 0);
	}
}

static void
family_softmax(struct pair *x)
{
	const double sharpness = uniform(x, 0.5, 20);

	for (int64_t i = 0; i < SIDE; i++) {
		double *row = x->a + i * x->k, top = row[0], sum = 0;
		for (int64_t p = 0; p < x->k; p++)
			top = fmax(top, row[p]);
		for (int64_t p = 0; p < x->k; p++)
			sum += row[p] = exp(sharpness * (row[p] - top));
		for (int64_t p = 0; p < x->k; p++)
			row[p] /= sum;
	}
}

/* Half the rows of A, a quarter of the columns of B. */
static void
family_block(struct pair *x)
{
	const double of_a = power_of_ten(x, -14, 0);
	const double of_b = power_of_ten(x, -10, 0);

	for (int64_t i = 0; i < SIDE / 2 * x->k; i++)
		x->a[i] *= of_a;
	for (int64_t p = 0; p < x->k; p++)
		for (int64_t j = 0; j < SIDE / 4; j++)
			x->b[p * SIDE + j] *= of_b;
}

#define FAMILIES(_)                                                       \
	_(scale) _(lognorm) _(lognorm2) _(posit) _(logunif) _(logunif2)   \
	_(outl) _(outl2) _(chan) _(rowgr) _(kgr) _(cancel) _(sparse)      \
	_(softmax) _(block)
#define NAME(name) #name,
#define FUNCTION(name) family_##name,

const char *const corpus_families[CORPUS_FAMILIES] = { FAMILIES(NAME) };
static void (*const families[CORPUS_FAMILIES])(struct pair *) = {
	FAMILIES(FUNCTION)
};

/* A column-major copy, of A B or of (A B)' = B' A'. */
static void
store(const struct pair *x, bool turned, struct corpus_case *c)
{
	for (int64_t p = 0; p < x->k; p++)
		for (int64_t i = 0; i < SIDE; i++) {
			const float a = (float)x->a[i * x->k + p];
			const float b = (float)x->b[p * SIDE + i];
			c->a[i + p * SIDE] = turned ? b : a;
			c->b[p + i * x->k] = turned ? a : b;
		}
}

void
corpus_draw(uint64_t seed, double *roomy, struct corpus_case *c)
{
	struct pair x = { .state = seed << 32 };
	bool turned;

	c->seed = seed;
	c->family = (int)below(&x, CORPUS_FAMILIES);
	c->k = x.k = (int64_t)CORPUS_K_MIN << below(&x, 6);
	turned = uniform(&x, 0, 1) < 0.3 && families[c->family] != family_kgr;
	x.a = roomy;
	x.b = roomy + count(&x);
	for (int64_t i = 0; i < 2 * count(&x); i++)
		roomy[i] = normal(&x);
	families[c->family](&x);
	store(&x, turned, c);
}
