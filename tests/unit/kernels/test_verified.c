/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_verified.c -- families of data through a verified
 * product, against FP64 and FP32: what leaves the call is within tol, or FP32's
 * own; and what is good is left alone. */
#include "tests/unit/cases.h"
#include "tests/unit/kernels/verified_cases.h"

#include "kernels/twins/twins.h"

#include <math.h>

/* Sums of squares: of errors of the product as it left the call, of FP32's, of
 * what is exact; of the whole, and of rows and columns. */
struct squares {
	double off, fp32, all;
};

struct outcome {
	struct squares whole, *line; /* m rows, n columns */
	int classes;            /* outputs whose class is not FP32's */
	int missed;             /* lines */
};

static void
add(double off, double fp32, double all, struct squares *sum)
{
	sum->off += isfinite(off) ? off * off : 1e300;
	sum->fp32 += fp32 * fp32;
	sum->all += all * all;
}

static int
class_of(float x)
{
	return isnan(x) ? 3 : isinf(x) ? x > 0 ? 1 : 2 : 0;
}

static double
ratio(double part, double all)
{
	return part > 0 ? sqrt(part / fmax(all, 1e-300)) : 0;
}

static void
look(struct verified_data *d, int b, struct outcome *out)
{
	const int m = (int)d->v.m, n = (int)d->v.n;

	*out = (struct outcome){ .line = calloc((size_t)(m + n),
	    sizeof *out->line) };
	assert_non_null(out->line);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			const float got = *verified_c_at(d, b, i, j);
			const float plain = verified_fp32(d, b, i, j);
			const double exact = verified_exact(d, b, i, j);
			const double off = (double)got - exact;
			const double of_plain = (double)plain - exact;

			out->classes += class_of(got) != class_of(plain);
			if (!isfinite(plain))
				continue;
			add(off, of_plain, exact, &out->whole);
			add(off, of_plain, exact, &out->line[i]);
			add(off, of_plain, exact, &out->line[m + j]);
		}
	for (int l = 0; l < m + n; l++) {
		const struct squares *s = &out->line[l];

		out->missed += (l < m ? n : m) >= 64
		    && ratio(s->off, s->all) > 6 * (double)d->v.tol
		    && s->off > 16 * s->fp32;
	}
}

static bool
is_all_fp32(struct verified_data *d)
{
	for (int64_t j = 0; j < d->v.n; j++)
		for (int64_t i = 0; i < d->v.m; i++) {
			const float a = *verified_c_at(d, 0, i, j);
			const float b = verified_fp32(d, 0, i, j);

			if (a != b && (!isnan(a) || !isnan(b)))
				return false;
		}
	return true;
}

/* A line more than 2 tol off is missed now and then: by 6 tol none is here.
 * Lines of fewer than 64 outputs are judged together. */
static void
take_family(int family, enum ac_format format, int m, int n, int k)
{
	const struct verified_case c = { .trans = { family & 1, family & 2 },
		.extra = family % 3, .format = format,
		.tol = format > AC_FORMAT_TF32 ? 1e-5f : 0 };
	struct verified_problem p;
	struct verified_data d;
	struct outcome out;

	verified_problem_make(family, m, n, k, (uint64_t)(m + family), &p);
	verified_data_make(&c, &p, &d);
	verified_whole(&d);
	look(&d, 0, &out);
	if (out.classes || out.missed || ratio(out.whole.off, out.whole.all)
	    > fmax((double)d.v.tol, 1.5 * ratio(out.whole.fp32, out.whole.all)))
		fail_msg("%s at %d x %d x %d: off by %g (FP32 %g), %d classes,"
		    " %d lines missed", verified_family_names[family], m, n, k,
		    ratio(out.whole.off, out.whole.all),
		    ratio(out.whole.fp32, out.whole.all), out.classes,
		    out.missed);
	if (d.state.all)
		assert_true(is_all_fp32(&d));
	free(out.line);
	verified_data_free(&d);
	verified_problem_free(&p);
}

CASE(test_families)
{
	for (int f = 0; f < VERIFIED_FAMILIES; f++) {
		take_family(f, AC_FORMAT_FP16, 130, 97, 203);
		take_family(f, AC_FORMAT_FP16, 64, 64, 64);
		take_family(f, AC_FORMAT_FP16, 129, 1, 300);
		take_family(f, AC_FORMAT_FP16, 1, 70, 66);
		take_family(f, AC_FORMAT_FP16, 40, 530, 35);
		take_family(f, AC_FORMAT_TF32, 130, 97, 203);
		take_family(f, AC_FORMAT_TF32, 40, 530, 35);
	}
}

/* Numbers in parts: within 1e-5, whatever they are. */
CASE(test_parts)
{
	for (int f = 0; f < VERIFIED_FAMILIES; f++)
		for (enum ac_format format = AC_FORMAT_FP16X2;
		    format <= AC_FORMAT_BF16X6; format++) {
			take_family(f, format, 66, 97, 203);
			take_family(f, format, 33, 20, 1100);
		}
}

/* Few lines: long sums. */
CASE(test_long)
{
	for (int f = 0; f < VERIFIED_FAMILIES; f++)
		take_family(f, AC_FORMAT_FP16, 33, 20, 2500);
}

/* By name: what programs are full of. */
static const char *const good[] = { "normal", "uniform", "tiny", "denormal",
	"huge", "channels", "softmax", "relu", "moe", "uncentred", "gram",
	"zeros", "accum" };

/* How many of that family's lines are flagged, all of them if all are. TF32 has
 * no more room for small numbers than FP32. */
static long
flagged(const char *name, enum ac_format format, uint64_t seed)
{
	const struct verified_case c = { .extra = 1, .format = format };
	struct verified_problem p;
	struct verified_data d;
	long count;
	int f = 0;

	if (format == AC_FORMAT_TF32 && !strcmp(name, "denormal"))
		return 0;
	while (strcmp(name, verified_family_names[f]))
		f++;
	verified_problem_make(f, 513, 140, 150, seed, &p);
	verified_data_make(&c, &p, &d);
	verified_whole(&d);
	count = d.state.all ? 513 + 140
	    : (long)(d.state.flagged[0] + d.state.flagged[1]);
	verified_data_free(&d);
	verified_problem_free(&p);
	return count;
}

/* Nothing is flagged. */
CASE(test_left_alone)
{
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		for (int tf32 = 0; tf32 < 2; tf32++)
			if (flagged(good[i], tf32 ? AC_FORMAT_TF32
			    : AC_FORMAT_FP16, 5))
				fail_msg("%s: lines are flagged", good[i]);
}

/* Of causal attention the first row copies one of B: FP32 has it exactly. */
CASE(test_causal)
{
	static const struct verified_case c;
	struct verified_problem p;
	struct verified_data d;
	int family = 0;

	while (strcmp("causal", verified_family_names[family]))
		family++;
	verified_problem_make(family, 257, 140, 257, 1, &p);
	verified_data_make(&c, &p, &d);
	verified_whole(&d);
	assert_int_equal(d.record.lines, 1);
	assert_true(verified_is_flagged(&d, 0, 0, 0));
	for (int j = 0; j < 140; j++)
		assert_true(*verified_c_at(&d, 0, 0, j)
		    == verified_fp32(&d, 0, 0, j));
	verified_data_free(&d);
	verified_problem_free(&p);
}

/* With the CPU's own fused multiply-add and without it: the same bits. */
CASE(test_plain)
{
	for (int f = 0; f < VERIFIED_FAMILIES; f++) {
		const struct verified_case c = { .trans = { f & 1, f & 2 } };
		struct verified_problem p;
		struct verified_data d[2];

		verified_problem_make(f, 70, 66, 130, 7, &p);
		for (int plain = 0; plain < 2; plain++) {
			verified_data_make(&c, &p, &d[plain]);
			ac_twin_plain = plain;
			verified_whole(&d[plain]);
		}
		ac_twin_plain = false;
		assert_memory_equal(d[0].c, d[1].c, d[0].c_count
		    * sizeof *d[0].c);
		assert_memory_equal(&d[0].state, &d[1].state,
		    sizeof d[0].state);
		assert_memory_equal(&d[0].record, &d[1].record,
		    sizeof d[0].record);
		for (int plain = 0; plain < 2; plain++)
			verified_data_free(&d[plain]);
		verified_problem_free(&p);
	}
}

/* ---- Longer than make check does: make families -------------------------- */

/* What came of many products: lines off by more than 6 tol before mend and
 * after it, of all families and of equal columns alone among zeros. */
struct tally {
	long products, whole, classes, bad, missed, pair_bad, pair_missed;
	long lines, vain; /* of good data, and those that are flagged */
};

static void
take_drawn(int family, const int *size, uint64_t seed, struct tally *t)
{
	const struct verified_case c = { .trans = { seed & 1, seed & 2 },
		.extra = (int)(seed % 3), .format = seed % 4 ? AC_FORMAT_FP16
		: AC_FORMAT_BF16, .tol = seed % 4 ? 0 : 8e-3f };
	const bool pair = !strcmp(verified_family_names[family], "pair");
	struct verified_problem p;
	struct verified_data d;
	struct outcome cast, mended;

	verified_problem_make(family, size[0], size[1], size[2], seed, &p);
	verified_data_make(&c, &p, &d);
	verified_run("ac_verified_probe", &d);
	verified_run("ac_verified_cast", &d);
	verified_multiply(&d);
	look(&d, 0, &cast);
	verified_run("ac_verified_verify", &d);
	verified_run("ac_verified_mend", &d);
	look(&d, 0, &mended);
	t->products++;
	t->classes += mended.classes != 0;
	t->whole += ratio(mended.whole.off, mended.whole.all) > fmax(
	    (double)d.v.tol, 1.5 * ratio(mended.whole.fp32, mended.whole.all));
	*(pair ? &t->pair_bad : &t->bad) += cast.missed;
	*(pair ? &t->pair_missed : &t->missed) += mended.missed;
	free(cast.line);
	free(mended.line);
	verified_data_free(&d);
	verified_problem_free(&p);
}

static int
take_seeds(uint64_t first, uint64_t count)
{
	static const int sizes[][3] = { { 130, 97, 203 }, { 65, 67, 8192 },
		{ 257, 1, 300 }, { 3, 70, 66 }, { 40, 530, 35 } };
	struct tally t = {0};

	for (int f = 0; f < VERIFIED_FAMILIES; f++)
		for (uint64_t seed = first; seed < first + count; seed++)
			for (size_t i = 0; i < sizeof sizes / sizeof *sizes;
			    i++)
				take_drawn(f, sizes[i], seed, &t);
	for (uint64_t seed = first; seed < first + count; seed++)
		for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
			t.lines += 513 + 140;
			t.vain += flagged(good[i], AC_FORMAT_FP16, seed);
		}
	printf("%ld products: %ld off by more than tol, %ld with other "
	    "infinities or NaN\nlines off by more than 6 tol: %ld, mended %ld; "
	    "equal columns alone: %ld, mended %ld\nof %ld good lines %ld are "
	    "flagged\n", t.products, t.whole,
	    t.classes, t.bad, t.bad - t.missed, t.pair_bad,
	    t.pair_bad - t.pair_missed, t.lines, t.vain);
	return !t.bad || t.whole || t.classes || t.missed * 1000 > t.bad
	    || t.pair_missed * 100 > t.pair_bad
	    || t.vain * 100000 > t.lines;
}

int
main(int argc, char **argv)
{
	if (argc == 3)
		return take_seeds((uint64_t)atoll(argv[1]),
		    (uint64_t)atoll(argv[2]));
	return cases_run(NULL, NULL);
}
