/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_verified_apart.c -- verified products that are apart:
 * D = activation(alpha A B + beta C + bias) and what else cublasLt writes,
 * against FP32's own sums, FP64 and libm. Broken once, these failed:
 *   an error held against the product alone: test_cancels
 *   against product + beta C alone: test_masks
 *   C read with a beta of 0: test_beta_zero
 *   ranges that touch taken for such as overlap, D noted instead of C, what is
 *   noted once noted in each call: test_cancelled */
#include "kernels/recast/gelu.h"
#include "tests/unit/cases.h"
#include "tests/unit/kernels/verified_cases.h"

#include <math.h>

static const double tol = 1e-3;
enum { NORMAL, BOS_TOKEN = 8, CANCEL = 14, MASK = 35, MASK_INF, MASK_BAD,
	RESIDUAL = 41 };

static int
class_of(float x)
{
	return isnan(x) ? 3 : isinf(x) ? x > 0 ? 1 : 2 : 0;
}

/* C of about the product's size. */
static void
add_c(float beta, struct verified_problem *p)
{
	uint64_t seed = 9;

	for (int64_t i = 0; i < (int64_t)p->m * p->n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		p->c[i] = ((float)(seed >> 40) * 0x1p-23f - 1)
		    * sqrtf((float)p->k);
	}
	p->beta = beta;
}

/* ---- Families ---------------------------------------------------------- */

/* Squares: D's errors, FP32's, of the product, of the sum. */
struct squares {
	double off, fp32, product, sum;
};

static void
add(double off, double fp32, double product, double sum, struct squares *s)
{
	s->off += isfinite(off) ? off * off : 1e300;
	s->fp32 += fp32 * fp32;
	s->product += product * product;
	s->sum += sum * sum;
}

/* What an error is held against. */
static double
held(const struct squares *s)
{
	return s->sum < s->product ? s->sum : s->product;
}

static bool
is_bad(const struct squares *s, double limit, double more)
{
	return s->off > limit * limit * held(s)
	    && s->off > more * more * s->fp32;
}

static int
look(struct verified_data *d, struct squares *whole, struct squares *line)
{
	const int m = (int)d->v.m, n = (int)d->v.n;
	int classes = 0;

	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			const float got = *verified_d_at(d, 0, i, j);
			const float plain = verified_y(d, 0, i, j,
			    verified_fp32(d, 0, i, j));
			const double exact = verified_exact(d, 0, i, j);
			const double beta = (double)d->scalars[1];
			const double sum = beta != 0 ? exact + beta
			    * (double)d->old[i + (int64_t)j * m] : exact;
			struct squares *const to[] = { whole, &line[i],
				&line[m + j] };

			classes += class_of(got) != class_of(plain);
			for (int s = 0; s < 3 && isfinite(plain); s++)
				add((double)got - sum, (double)plain - sum,
				    exact, sum, to[s]);
		}
	return classes;
}

/* Whole: within tol, or FP32's own errors and a half. A line more than 2 tol
 * off is missed now and then: by 6 tol none is here. */
static void
take_family(int family, float beta, int m, int n, int k)
{
	const struct verified_case c = { .trans = { family & 1, family & 2 },
		.extra = family % 3, .place = VERIFIED_APART
		+ (enum verified_place)(family % 3), .on_device = family & 4 };
	struct squares whole = {0}, *line = calloc((size_t)(m + n),
	    sizeof *line);
	struct verified_problem p;
	struct verified_data d;
	int classes, missed = 0;

	assert_non_null(line);
	verified_problem_make(family, m, n, k, (uint64_t)(m + family), &p);
	if (family < MASK || family > RESIDUAL)
		add_c(beta, &p);
	p.beta = beta;
	verified_data_make(&c, &p, &d);
	verified_whole(&d);
	classes = look(&d, &whole, line);
	for (int l = 0; l < m + n; l++)
		missed += (l < m ? n : m) >= 64 && is_bad(&line[l], 6 * tol,
		    4);
	if (classes || missed || is_bad(&whole, tol, 1.5))
		fail_msg("%s, beta %g, at %d x %d x %d: off by %g (FP32 %g),"
		    " %d classes, %d lines missed",
		    verified_family_names[family], (double)beta, m, n, k,
		    sqrt(whole.off / held(&whole)),
		    sqrt(whole.fp32 / held(&whole)), classes, missed);
	free(line);
	verified_data_free(&d);
	verified_problem_free(&p);
}

CASE(test_families)
{
	static const float betas[] = { 0, 1, -0.3f };

	for (int f = 0; f < VERIFIED_FAMILIES; f++)
		for (int i = 0; i < 3; i++) {
			take_family(f, betas[i], 130, 97, 66);
			take_family(f, betas[i], 66, 70, 300);
		}
}

/* ---- One output, and nothing else -------------------------------------- */

/* A product of which some rows and columns, or all, are recomputed; FP32's own
 * product is there. */
static void
make(const struct verified_case *c, int all, float beta,
    struct verified_problem *p, struct verified_data *d)
{
	for (int b = 0; b < (c->batch ? c->batch : 1); b++) {
		verified_problem_make(all ? CANCEL : NORMAL, 150, 140, 40,
		    (uint64_t)b + 1, &p[b]);
		add_c(beta, &p[b]);
		p[b].alpha = 0.75f;
		if (all)
			continue;
		p[b].a[70 + 3 * p[b].m] = INFINITY;
		p[b].a[149] = NAN;
		for (int l = 0; l < p[b].k; l++)
			p[b].b[l + (int64_t)77 * p[b].k] *= 1e-9f;
	}
	verified_data_make(c, p, d);
	verified_run("ac_verified_probe", d);
	verified_run("ac_verified_cast", d);
	verified_multiply(d);
	verified_run("ac_verified_verify", d);
	for (int b = 0; b < d->v.batch; b++)
		for (int64_t j = 0; j < d->v.n; j++)
			for (int64_t i = 0; i < d->v.m; i++)
				if (!d->state.all
				    && !verified_is_flagged(d, 0, b, i)
				    && !verified_is_flagged(d, 1, b, j))
					*verified_c_at(d, b, i, j) =
					    verified_fp32(d, b, i, j);
}

static void
drop(int count, struct verified_problem *p, struct verified_data *d)
{
	for (int b = 0; b < count; b++)
		verified_problem_free(&p[b]);
	verified_data_free(d);
}

/* A GELU is off by 2^-20 |y| (gelu.h); all else is one rounding. */
static void
check_output(struct verified_data *d, int b, int64_t i, int64_t j)
{
	const uint32_t activation = d->v.output.tail.activation;
	const bool gelu = activation == AC_ACTIVATION_GELU
	    || activation == AC_ACTIVATION_DGELU;
	const float y = verified_y(d, b, i, j, verified_fp32(d, b, i, j));
	const float got = *verified_d_at(d, b, i, j);
	const double want = verified_follow(d, b, i, j, (double)y);

	if (class_of(got) != class_of((float)want) || (isfinite(want)
	    && fabs((double)got - want) > (gelu ? 0x1p-20
	    * fabs((double)y) : 0)))
		fail_msg("activation %u, (%d, %d) of %d: %g, not %g",
		    activation, (int)i, (int)j, b, (double)got, want);
	if (!d->aux)
		return;
	const float aux = verified_aux(d, d->aux, b, i, j);

	if (activation == AC_ACTIVATION_RELU)
		assert_true(aux == (float)!(y < 0));
	else if (activation == AC_ACTIVATION_GELU)
		assert_true(aux == y || (isnan(aux) && isnan(y)));
}

/* In FP64 a sum of n floats is off by n 2^-53 of their sizes. */
static void
check_sums(struct verified_data *d, int b)
{
	const struct ac_verified_tail *t = &d->v.output.tail;

	for (int64_t i = 0; i < d->v.m && t->sums; i++) {
		const float got = t->sums[b * t->sums_stride + i];
		double sum = 0, size = 0;

		for (int64_t j = 0; j < d->v.n; j++) {
			sum += (double)*verified_d_at(d, b, i, j);
			size += fabs((double)*verified_d_at(d, b, i, j));
		}
		assert_int_equal(class_of(got), class_of((float)sum));
		if (isfinite(sum))
			assert_true(fabs((double)got - sum) <= 0x1p-24
			    * fabs(sum) + (double)d->v.n * 0x1p-53 * size);
	}
	assert_true(!t->sums || t->sums[b * t->sums_stride + d->v.m] == 0);
}

/* What is between D's columns, and between aux's, is as it was; all of aux
 * where it is only read. */
static void
check_gaps(struct verified_data *d)
{
	const struct ac_verified_output *o = &d->v.output;
	const bool bits = o->tail.activation == AC_ACTIVATION_RELU;
	const bool reads = o->tail.activation == AC_ACTIVATION_DRELU
	    || o->tail.activation == AC_ACTIVATION_DGELU;

	for (size_t i = 0; d->d && i < d->d_count; i++) {
		const int64_t at = (int64_t)i % o->d_stride;

		if (at >= o->d_ld * d->v.n || at % o->d_ld >= d->v.m)
			assert_true(d->d[i] == VERIFIED_GAP);
	}
	for (size_t i = 0; d->aux && i < d->aux_count; i++)
		for (int bit = 0; bit < (bits ? 32 : 1); bit++) {
			const int64_t at = (int64_t)(bits ? 32 * i : i) + bit;
			const int64_t in = at % o->tail.aux_stride;

			if (reads || in >= o->tail.aux_ld * d->v.n
			    || in % o->tail.aux_ld >= d->v.m)
				assert_int_equal(d->aux[i] >> bit & 1,
				    d->aux_old[i] >> bit & 1);
		}
}

static void
take_tail(const struct verified_case *c, int all, float beta)
{
	const int batch = c->batch ? c->batch : 1;
	struct verified_problem p[3];
	struct verified_data d;

	make(c, all, beta, p, &d);
	assert_int_equal(d.state.all, all);
	assert_true(all || (d.state.flagged[0] == 2 * (unsigned)batch
	    && d.state.flagged[1] == (unsigned)batch));
	verified_run("ac_verified_mend", &d);
	for (int b = 0; b < batch; b++) {
		for (int64_t j = 0; j < d.v.n; j++)
			for (int64_t i = 0; i < d.v.m; i++)
				check_output(&d, b, i, j);
		check_sums(&d, b);
	}
	check_gaps(&d);
	drop(batch, p, &d);
}

/* Everything that cublasLt does to a product, in each place, one matrix and
 * three, by pointers, with scalars on the device; a few lines are mended, or
 * all. */
/* As cublasLt answered on an H100 (bench/results, n9). */
CASE(test_gelu_at_infinity)
{
	const struct ac_recast_gelu most = ac_recast_gelu(INFINITY);
	const struct ac_recast_gelu least = ac_recast_gelu(-INFINITY);

	assert_true(isnan(most.slope) && isnan(least.slope));
	assert_true(isinf(most.share * INFINITY));
	assert_true(isnan(least.share * -INFINITY));
	assert_true(ac_recast_gelu(1e38f).slope == 1);
	assert_true(ac_recast_gelu(-1e38f).slope == 0);
}

CASE(test_tails)
{
	static const float betas[] = { 0, 1, -0.3f };

	for (int i = 0; i < 60; i++) {
		const struct verified_case c = { .batch = i % 4 == 3 ? 3 : 1,
			.array = i % 8 > 5, .extra = i % 3,
			.trans = { i & 1, i & 2 },
			.place = VERIFIED_APART + (enum verified_place)(i % 4),
			.activation = (uint32_t)i % 5, .bias = i / 5 % 3,
			.aux = i / 2 % 3, .sums = i / 3 % 2,
			.on_device = i / 7 % 2 };

		take_tail(&c, i % 9 == 4, betas[i / 4 % 3]);
	}
}

/* ---- What beta C says -------------------------------------------------- */

/* With a beta of 0, C may hold anything, or be nowhere. */
CASE(test_beta_zero)
{
	const struct verified_case c = { .place = VERIFIED_APART };
	struct verified_problem p;
	struct verified_data d;

	for (int nowhere = 0; nowhere < 2; nowhere++) {
		verified_problem_make(NORMAL, 70, 80, 60, 1, &p);
		for (int i = 0; i < 70 * 80; i++)
			p.c[i] = NAN;
		verified_data_make(&c, &p, &d);
		if (nowhere)
			d.v.output.c = NULL, d.v.output.c_array = NULL;
		verified_whole(&d);
		assert_int_equal(d.state.flagged[0] + d.state.flagged[1], 0);
		for (int i = 0; i < 70; i++)
			assert_true(*verified_d_at(&d, 0, i, 7)
			    == *verified_c_at(&d, 0, i, 7));
		drop(1, &p, &d);
	}
}

/* Masks in C say nothing of the product: good ones are left alone, those that
 * cancel are mended. */
CASE(test_masks)
{
	static const float bad[] = { -1e4f, -1e9f, -3.4e38f, -INFINITY, NAN };
	static const int families[] = { NORMAL, BOS_TOKEN, CANCEL };

	for (int i = 0; i < 15; i++) {
		const struct verified_case c = { .place = i & 1
			? VERIFIED_APART : VERIFIED_IN_C };
		const int family = families[i / 5];
		struct verified_problem p;
		struct verified_data d;

		verified_problem_make(family, 200, 140, 60, (uint64_t)i, &p);
		add_c(1, &p);
		for (int l = 0; l < 200 * 140; l++)
			if (l % 140 > l / 140)
				p.c[l] = bad[i % 5];
		verified_data_make(&c, &p, &d);
		verified_whole(&d);
		assert_int_equal(d.state.all, family == CANCEL);
		if (family == NORMAL)
			assert_int_equal(d.state.flagged[0]
			    + d.state.flagged[1], 0);
		for (int j = 0; j < 140; j++)
			for (int r = 0; r < 200; r++)
				assert_int_equal(class_of(*verified_d_at(&d, 0,
				    r, j)), class_of(verified_y(&d, 0, r, j,
				    verified_fp32(&d, 0, r, j))));
		drop(1, &p, &d);
	}
}

/* Where C takes most of the product away, what is left is what counts: of all
 * lines, of one. */
CASE(test_cancels)
{
	for (int i = 0; i < 4; i++) {
		const struct verified_case c = { .place = i & 1
			? VERIFIED_APART : VERIFIED_IN_C };
		struct verified_problem p;
		struct verified_data d;

		verified_problem_make(RESIDUAL, 130, 140, 66, 1, &p);
		for (int64_t l = 0; i > 1 && l < 130 * 140; l++)
			if (l % 130 != 66)
				p.c[l] = 1;
		verified_data_make(&c, &p, &d);
		verified_whole(&d);
		assert_int_equal(d.state.all, i < 2);
		assert_true(verified_is_flagged(&d, 0, 0, 66));
		for (int j = 0; j < 140; j++)
			assert_true(*verified_d_at(&d, 0, 66, j)
			    == verified_y(&d, 0, 66, j,
			    verified_fp32(&d, 0, 66, j)));
		drop(1, &p, &d);
	}
}

/* A call on good data, or one that cancels: is it mended whole? */
static bool
is_whole(int family, const struct verified_case *c, uint64_t from, uint64_t to,
    struct verified_data *d)
{
	struct verified_problem p;

	verified_problem_make(family, 130, 140, 66, 1, &p);
	if (family == NORMAL)
		add_c(c->place == VERIFIED_PLAIN ? 0 : 1, &p);
	verified_data_make(c, &p, d);
	d->v.heeds_cancelled = 1;
	d->cancelled.count = 3; /* the first two are nowhere near */
	d->cancelled.from[2] = from ? from : (uint64_t)(uintptr_t)(d->d_count
	    ? d->d : d->c);
	d->cancelled.to[2] = to ? to : d->cancelled.from[2] + 4;
	verified_whole(d);
	verified_problem_free(&p);
	return d->state.all;
}

static uint64_t
address(const float *x)
{
	return (uint64_t)(uintptr_t)x;
}

/* What a sum that cancels adds to is noted, once, and who writes there heeds
 * it, as does in turn who wrote what he adds to. */
CASE(test_cancelled)
{
	const struct verified_case plain = { .place = VERIFIED_PLAIN };
	const struct verified_case apart = { .place = VERIFIED_APART };
	const struct verified_case array = { .place = VERIFIED_APART,
		.array = true };
	struct verified_data *d = calloc(1, sizeof *d);
	uint64_t c;

	assert_non_null(d);
	assert_true(is_whole(RESIDUAL, &apart, 4, 8, d));
	c = address(d->added);
	assert_int_equal(d->cancelled.count, 4);
	assert_true(d->cancelled.from[3] == c
	    && d->cancelled.to[3] == c + sizeof(float)
	    * (uint64_t)(139 * d->v.output.c_ld + 130));
	verified_whole(d);
	assert_int_equal(d->cancelled.count, 4);
	d->cancelled.to[3]--; /* a part of it */
	d->cancelled.count = AC_VERIFIED_CANCELLED + 1;
	verified_whole(d);
	assert_int_equal(d->cancelled.count, AC_VERIFIED_CANCELLED + 2);
	assert_true(d->cancelled.from[1] == c);
	verified_data_free(d);
	(void)is_whole(RESIDUAL, &array, 4, 8, d);
	assert_int_equal(d->cancelled.count, 3); /* nobody knows what */
	verified_data_free(d);

	/* Of what is written, its first number, its last, one next to it. */
	assert_true(is_whole(NORMAL, &plain, 0, 0, d));
	assert_int_equal(d->cancelled.count, 3); /* it adds to nothing */
	d->v.heeds_cancelled = 0;
	verified_whole(d);
	assert_false(d->state.all);
	d->v.heeds_cancelled = 1;
	c = address(d->c) + 4 * (uint64_t)(139 * d->v.output.ld + 129);
	for (int i = -1; i < 2; i++) {
		d->cancelled.from[2] = i < 0 ? address(d->c) - 4
		    : c + 4 * (uint64_t)i;
		d->cancelled.to[2] = d->cancelled.from[2] + 4;
		verified_whole(d);
		assert_int_equal(d->state.all, i == 0);
	}
	/* Of more than there is room for anything may have been said. */
	for (int heeds = 1; heeds >= 0; heeds--) {
		d->cancelled.count = AC_VERIFIED_CANCELLED + 1;
		d->v.heeds_cancelled = (uint32_t)heeds;
		verified_whole(d);
		assert_int_equal(d->state.all, heeds);
	}
	verified_data_free(d);
	assert_true(is_whole(NORMAL, &apart, 0, 0, d));
	assert_int_equal(d->cancelled.count, 4);
	assert_true(d->cancelled.from[3] == address(d->added));
	d->v.cancelled = NULL;
	verified_whole(d);
	assert_false(d->state.all);
	verified_data_free(d);
	free(d);
}

CASES_RUN(NULL, NULL)
