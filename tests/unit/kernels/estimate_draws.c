/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/estimate_draws.c -- see estimate_draws.h. */
#include "tests/unit/kernels/estimate_draws.h"

#include "tests/unit/kernels/cast_reference.h"

#include <math.h>
#include <stdlib.h>

const char *const draw_names[DRAW_FAMILIES] = {
	"normal", "positive", "lognormal", "graded opposite", "graded alike",
	"channel", "tokens", "sparse", "subnormal", "cancelling", "constant",
	"signs", "bias", "mask", "chain", "softmax"
};

/* ---- Numbers ----------------------------------------------------------- */

static uint64_t seed;

static double
uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return ((double)(seed >> 11) + 0.5) * 0x1p-53;
}

static int
any(int count)
{
	return (int)(uniform() * count);
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static int64_t
lines_of(const struct recast_data *d, int operand)
{
	return operand ? d->recast.n : d->recast.m;
}

/* How much a family does what it is called after. */
struct severity {
	double scale[2], spread, bad;
	int channel;
};

/* Element (line, k) of an operand but for its scale. */
static double
element(enum draw_family family, const struct severity *s, int operand,
    int64_t k, int64_t depth, double of_line)
{
	const double at = (double)k / (double)depth - 0.5;

	switch (family) {
	case DRAW_POSITIVE:
		return uniform();
	case DRAW_LOGNORMAL:
		return normal() * exp(s->spread * normal());
	case DRAW_GRADED_OPPOSITE:
		return normal() * exp2(operand ? at * s->bad : -at * s->bad);
	case DRAW_GRADED_ALIKE:
		return normal() * exp2(at * s->bad);
	case DRAW_CHANNEL:
		return normal() * (k == s->channel
		    || k == (s->channel + 7) % depth ? s->scale[0] : 1);
	case DRAW_TOKENS:
		return normal() * of_line;
	case DRAW_SPARSE:
		return uniform() < 0.05 ? normal() : 0;
	case DRAW_CONSTANT:
		return s->spread;
	case DRAW_SIGNS:
		return any(2) ? 1 : -1;
	case DRAW_SOFTMAX:
		return operand ? normal() : exp(s->spread * normal());
	default:
		return normal();
	}
}

static void
fill(enum draw_family family, const struct severity *s, struct recast_data *d)
{
	const int64_t depth = d->recast.k;

	for (int o = 0; o < 2; o++)
		for (int64_t i = 0; i < lines_of(d, o); i++) {
			const double of_line = exp2(s->spread * normal());

			for (int64_t k = 0; k < depth; k++)
				*recast_at(d, o, 0, i, k) = (float)(s->scale[o]
				    * element(family, s, o, k, depth, of_line));
		}
}

/* The second half of K takes most of what the first gave. */
static void
cancel(double left, struct recast_data *d)
{
	const int64_t half = d->recast.k / 2;

	for (int64_t i = 0; i < d->recast.m; i++)
		for (int64_t k = 0; k < half; k++)
			*recast_at(d, 0, 0, i, half + k) = (float)((double)
			    *recast_at(d, 0, 0, i, k) * (1 + left * normal()));
	for (int64_t j = 0; j < d->recast.n; j++)
		for (int64_t k = 0; k < half; k++)
			*recast_at(d, 1, 0, j, half + k) =
			    -*recast_at(d, 1, 0, j, k);
	if (d->recast.k % 2)
		for (int64_t i = 0; i < d->recast.m; i++)
			*recast_at(d, 0, 0, i, d->recast.k - 1) = 0;
}

/* ---- Products ---------------------------------------------------------- */

/* Packed, [line][k]; of the casts, or of what was cast. */
static double *
unpack(struct recast_data *d, int operand, bool casts)
{
	const struct ac_recast_operand *o = &d->recast.operand[operand];
	const int64_t lines = lines_of(d, operand), depth = d->recast.k;
	double *to = malloc((size_t)(lines * depth) * sizeof *to), *at = to;

	if (!to)
		abort();
	for (int64_t i = 0; i < lines; i++)
		for (int64_t k = 0; k < depth; k++)
			*at++ = casts ? cast_reference_value(o->to[
			    o->lines_are_cols ? i * o->ld_to + k
			    : k * o->ld_to + i], d->recast.format)
			    : (double)*recast_at(d, operand, 0, i, k);
	return to;
}

/* Packed, m x n. */
static double *
product_of(struct recast_data *d, bool casts)
{
	const struct ac_recast *r = &d->recast;
	double *a = unpack(d, 0, casts), *b = unpack(d, 1, casts);
	double *c = malloc((size_t)(r->m * r->n) * sizeof *c);

	for (int64_t j = 0; c && j < r->n; j++)
		for (int64_t i = 0; i < r->m; i++) {
			double sum = 0;

			for (int64_t k = 0; k < r->k; k++)
				sum += a[i * r->k + k] * b[j * r->k + k];
			c[j * r->m + i] = sum;
		}
	free(a);
	free(b);
	return c;
}

void
draw_call(struct recast_data *d)
{
	const struct ac_recast *r = &d->recast;
	double *c;

	recast_cast(d);
	recast_settle(d);
	c = product_of(d, true);
	for (int64_t j = 0; j < r->n; j++)
		for (int64_t i = 0; i < r->m; i++) {
			float *out = recast_out_at(d, 0, i, j);
			double sum = (double)d->state.alpha * c[j * r->m + i];

			if (r->beta.value != 0 && !r->output.result)
				sum += (double)r->beta.value * (double)*out;
			*out = (float)sum;
		}
	free(c);
	recast_finish(d);
}

/* Mean square of an output's terms, times their number. */
static double
terms(struct recast_data *d)
{
	const struct ac_recast *r = &d->recast;
	double sum = 0;

	for (int64_t k = 0; k < r->k; k++) {
		double of[2] = { 0, 0 };

		for (int o = 0; o < 2; o++)
			for (int64_t i = 0; i < lines_of(d, o); i++) {
				const double x =
				    (double)*recast_at(d, o, 0, i, k);

				of[o] += x * x;
			}
		sum += of[0] * of[1];
	}
	return sum * (double)r->alpha.value * (double)r->alpha.value
	    / (double)(r->m * r->n);
}

double
draw_error(struct recast_data *d, const float *c, double forgiven)
{
	const struct ac_recast *r = &d->recast;
	const double alpha = (double)r->alpha.value;
	const double beta = (double)r->beta.value, most = 0x1p24 * terms(d);
	double *product = product_of(d, false);
	double lost = 0, results = 0, products = 0;
	int64_t clear = 0, counted = 0;

	for (int64_t j = 0; j < r->n; j++)
		for (int64_t i = 0; i < r->m; i++) {
			const int64_t at = j * r->m + i;
			const double added = beta != 0
			    ? beta * (double)c[at] : 0;
			const double want = alpha * product[at] + added;
			const double far = fabs((double)*recast_c_at(d, 0, i,
			    j) - want);
			const double off = far <= forgiven ? 0
			    : far - forgiven; /* NaN stays NaN */

			if (!isfinite(added))
				continue;
			counted++;
			results += want * want;
			if (added * added > most)
				continue;
			clear++;
			lost += off * off;
			products += alpha * alpha * product[at] * product[at];
		}
	free(product);
	if (!clear || lost == 0)
		return 0;
	return sqrt(lost / (double)clear / fmin(results / (double)counted,
	    products / (double)clear));
}

/* ---- Draws ------------------------------------------------------------- */

static void
fill_c(enum draw_family family, double size, struct recast_data *d)
{
	const struct ac_recast *r = &d->recast;
	double *product = product_of(d, false);
	const float masked = any(2) ? -1e9f : -INFINITY;
	const double left = exp2(-12 * uniform());

	for (int64_t j = 0; j < r->n; j++)
		for (int64_t i = 0; i < r->m; i++) {
			float *c = recast_c_at(d, 0, i, j);
			const double exact = (double)r->alpha.value
			    * product[j * r->m + i];

			if (family == DRAW_BIAS)
				*c = (float)(size * (double)i);
			else if (family == DRAW_MASK)
				*c = j > i ? masked : 0;
			else if (family == DRAW_CHAIN)
				*c = (float)(-exact * (1 + left * normal())
				    / (double)r->beta.value);
		}
	free(product);
}

void
draw_make(enum draw_family family, uint64_t start, struct recast_data *d)
{
	struct recast_case c = { .batch = 1, .fill = { FILL_ZERO, FILL_ZERO } };
	struct severity s;

	seed = start * 2654435761u + 977;
	c.m = 16 + any(90);
	c.n = 16 + any(90);
	c.k = 24 + any(220);
	c.trans[0] = any(2);
	c.trans[1] = any(2);
	c.extra = any(3);
	c.alpha = any(3) ? 1 : (float)exp2(10 * normal());
	c.beta = family == DRAW_BIAS || family == DRAW_MASK
	    || family == DRAW_CHAIN ? any(2) ? 1 : -0.75f : 0;
	c.format = any(3) ? AC_FORMAT_FP16 : AC_FORMAT_BF16;
	c.scaled = c.format == AC_FORMAT_FP16 && any(4);
	c.output = c.beta != 0 && !any(3) ? OUT_THROUGH : OUT_C;
	s.scale[0] = c.scaled ? exp2(20 * normal()) : exp2(3 * normal());
	s.scale[1] = c.scaled ? exp2(20 * normal()) : exp2(3 * normal());
	if (family == DRAW_CHANNEL)
		s.scale[0] = s.scale[1] = 1 + 1000 * uniform();
	if (family == DRAW_SUBNORMAL)
		s.scale[any(2)] = 0x1p-135;
	s.spread = 3 * uniform();
	s.bad = 70 * uniform();
	s.channel = any(c.k);
	recast_data_make(&c, start, d);
	fill(family, &s, d);
	if (family == DRAW_CANCELLING
	    || (family != DRAW_CONSTANT && !any(8)))
		cancel(exp2(-16 * uniform()), d);
	if (c.beta != 0)
		fill_c(family, exp2(12 * normal()), d);
}
