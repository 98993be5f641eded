/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_exact.c -- sums with the bits of the GPU,
 * against a second implementation in integers, and what is known of their
 * errors on average. */
#include "test_emu_exact.h"

#include "emulator/cublas/cublas_exact.h"

#include <math.h>

/* 16-bit products added at once, bits kept, TF32 products added at once. */
static const struct {
	const char *name;
	int capability, length, fraction, length_tf32;
} architectures[] = {
	{ "Volta", 70, 4, 23, 0 },
	{ "Volta, of a Jetson", 72, 4, 23, 0 },
	{ "Turing", 75, 8, 24, 0 },
	{ "Ampere", 80, 8, 24, 4 },
	{ "Ada", 89, 8, 24, 4 },
	{ "Hopper", 90, 16, 25, 8 },
};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };
enum { DEPTH = 16384 };

enum kind { NORMAL, POSITIVE, GRADED, SUBNORMAL, MIXED, TINY, SPARSE, HUGE_ONES,
	ODD_ONES, KINDS };
static const char *const kind_names[] = { "normal", "uniform(0,1)", "graded",
	"subnormal", "subnormal and large", "subnormal sums", "sparse", "huge",
	"inf and nan" };

static float
draw(enum kind kind, enum emu_rate format, uint64_t *seed)
{
	const double x = (double)test_random(seed) +
	    (double)test_random(seed) + (double)test_random(seed);
	const double u = fabs((double)test_random(seed));
	const int range = format == EMU_FP16 ? 12 : 60;

	switch (kind) {
	case POSITIVE:
		return test_to_format((float)u, format);
	case GRADED:
		return test_to_format((float)ldexp(x, (int)(u * 2 * range) -
		    range), format);
	case SUBNORMAL:
		return test_to_format((float)ldexp(x, format == EMU_FP16 ?
		    -15 : -124 - (int)(u * 8)), format);
	case MIXED:
		return test_to_format((float)ldexp(x, u < 0.5 ? range :
		    format == EMU_FP16 ? -18 : -126), format);
	case TINY:
		return test_to_format((float)ldexp(x, format == EMU_FP16 ?
		    -12 : -70), format);
	case SPARSE:
		return u < 0.5 ? 0 : test_to_format((float)ldexp(x, u < 0.6 ?
		    range : -range), format);
	case HUGE_ONES:
		return test_to_format((float)ldexp(x, format == EMU_FP16 ?
		    13 : 62), format);
	case ODD_ONES:
		if (u < 0.02)
			return x < -1 ? NAN : x < 0 ? -INFINITY : INFINITY;
		return u < 0.3 ? 0 : test_to_format((float)x, format);
	default:
		return test_to_format((float)x, format);
	}
}

static uint64_t
check_case(int which, enum emu_rate format, enum kind kind, int k)
{
	enum { M = 7, N = 5 };
	static float a[M * 600], b[N * 600], got[M * N];
	const struct test_blocks rules = { format == EMU_TF32 ?
	    architectures[which].length_tf32 : architectures[which].length,
	    architectures[which].fraction, format == EMU_FP16 ? -14 : -126 };
	uint64_t seed = (uint64_t)k * 100 + kind, special = 0;

	for (int i = 0; i < M * k; i++)
		a[i] = draw(kind, format, &seed);
	for (int i = 0; i < N * k; i++)
		b[i] = draw(kind, format, &seed);
	assert_true(emu_exact_sums(emu_blocks_of(
	    architectures[which].capability, format), M, N, k, a, b, got));
	for (int j = 0; j < N; j++)
	for (int i = 0; i < M; i++) {
		const float want = test_sum(&rules, k, a + i * k, b + j * k);

		special += !isfinite(want);
		if (test_bits(want) != test_bits(got[j * M + i]))
			fail_msg("%s, %s, format %d, k %d: got %a, want %a",
			    architectures[which].name, kind_names[kind],
			    (int)format, k, (double)got[j * M + i],
			    (double)want);
	}
	return special;
}

static void
blocks(void **state)
{
	static const enum emu_rate formats[] = { EMU_FP16, EMU_BF16, EMU_TF32 };
	static const int lengths[] = { 1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 64,
		100, 333, 512, 600 };
	uint64_t special = 0;

	(void)state;
	for (int w = 0; w < ARCHITECTURES; w++)
	for (int f = 0; f < 3; f++)
	for (int kind = 0; kind < KINDS; kind++)
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		if (formats[f] == EMU_FP16 || architectures[w].length_tf32)
			special += check_case(w, formats[f],
			    (enum kind)kind, lengths[i]);
	assert_true(special > 100); /* they were there */
}

/* The same data for all formats: the instruction itself drops the bits that the
 * format lacks, cuBLAS rounds before. */
static void
raw_inputs(void **state)
{
	enum { K = 4096, M = 8 };
	static float a[M * K], b[M * K], cut_a[M * K], cut_b[M * K];
	static float rounded[M * M], raw[M * M];
	const struct emu_blocks hopper = emu_blocks_of(90, EMU_TF32);
	double bias[2] = { 0, 0 };
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < M * K; i++) {
		const float x = fabsf(test_random(&seed));
		const float y = fabsf(test_random(&seed));

		a[i] = test_to_format(x, EMU_TF32);
		b[i] = test_to_format(y, EMU_TF32);
		cut_a[i] = test_from_bits(test_bits(x) & ~0x1fffu);
		cut_b[i] = test_from_bits(test_bits(y) & ~0x1fffu);
	}
	assert_true(emu_exact_sums(hopper, M, M, K, a, b, rounded));
	assert_true(emu_exact_sums(hopper, M, M, K, cut_a, cut_b, raw));
	for (int i = 0; i < M * M; i++) {
		bias[0] += (double)rounded[i];
		bias[1] += (double)raw[i];
	}
	bias[1] = bias[1] / bias[0] - 1;
	print_message("# raw TF32 inputs: bias %.3g\n", bias[1]);
	assert_true(bias[1] < -5.8e-4 && bias[1] > -7.2e-4); /* -6.5e-4 */
}

/* From -1 to 1, or 0 to 1, or normal. */
static float
draw_wide(bool normal, uint64_t *seed)
{
	const double u = (double)fabsf(test_random(seed));

	if (!normal)
		return (float)u;
	return (float)(sqrt(-2 * log(u + 0x1p-25)) *
	    cos(M_PI * (double)test_random(seed)));
}

/* Error at one length of uniform(0,1) data, which is never upward, or of normal
 * data. */
static double
error_of(int capability, enum emu_rate format, bool normal, int k)
{
	enum { M = 24 };
	static float a[M * DEPTH], b[M * DEPTH], got[M * M];
	double error = 0, norm = 0;
	uint64_t seed = 11;

	for (int i = 0; i < M * k; i++) {
		a[i] = test_to_format(draw_wide(normal, &seed), format);
		b[i] = test_to_format(draw_wide(normal, &seed), format);
	}
	assert_true(emu_exact_sums(emu_blocks_of(capability, format), M, M, k,
	    a, b, got));
	for (int j = 0; j < M; j++)
	for (int i = 0; i < M; i++) {
		double sum = 0;

		for (int l = 0; l < k; l++)
			sum += (double)a[i * k + l] * (double)b[j * k + l];
		assert_true(normal || (double)got[j * M + i] <= sum *
		    (1 + 0x1p-40));
		error += pow((double)got[j * M + i] - sum, 2);
		norm += sum * sum;
	}
	return sqrt(error / norm);
}

/* Relative error of the sums alone, K = 256 to 16384. Those of Hopper in FP16
 * and FP32 were measured on an H100 (bench/results/, question n1, and errors of
 * SGEMM), the others by another program: linear in K, on uniform(0,1) toward
 * zero, twice as large before Hopper. 576 sums are fewer than the 2^24 that
 * were measured: a mean square of so many normal numbers is within 6 % at one
 * standard deviation (sqrt(2 / 576)), its root within 3 %; 15 % is five. */
static void
growth(void **state)
{
	static const struct {
		int capability;
		enum emu_rate format;
		bool normal;
		double error[4]; /* 0: not known */
	} cases[] = {
		{ 90, EMU_FP16, false, { 1.12e-6, 5.48e-6, 2.35e-5, 9.59e-5 } },
		{ 90, EMU_FP16, true, { 3.40e-7, 1.245e-6, 4.86e-6, 1.93e-5 } },
		{ 90, EMU_FP32, true, { 0, 5.8e-7, 1.14e-6, 0 } },
		{ 80, EMU_FP16, false, { 2.4e-6, 1.1e-5, 4.5e-5, 0 } },
		{ 90, EMU_TF32, false, { 1.4e-6, 6.5e-6, 2.7e-5, 0 } },
		{ 80, EMU_TF32, false, { 2.8e-6, 1.2e-5, 5.0e-5, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	for (int step = 0; step < 4; step++) {
		const double want = cases[i].error[step];
		const double error = want == 0 ? 0 : error_of(
		    cases[i].capability, cases[i].format, cases[i].normal,
		    256 << 2 * step);

		print_message("# sm_%d, format %d, %s, K = %d: %.3g, expected "
		    "%.3g\n", cases[i].capability, (int)cases[i].format,
		    cases[i].normal ? "normal" : "uniform", 256 << 2 * step,
		    error, want);
		assert_true(error >= want * 0.85 && error <= want * 1.15);
	}
}

/* One FMA after the other, in any number of rows. */
static void
chains(void **state)
{
	enum { N = 3, K = 77 };
	static float a[9 * K], b[N * K], got[9 * N];
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 9 * K; i++)
		a[i] = draw(GRADED, EMU_FP32, &seed);
	for (int i = 0; i < N * K; i++)
		b[i] = draw(GRADED, EMU_FP32, &seed);
	for (int m = 1; m <= 9; m++) {
		assert_true(emu_exact_sums(emu_blocks_of(90, EMU_FP32), m, N, K,
		    a, b, got));
		for (int j = 0; j < N; j++)
		for (int i = 0; i < m; i++)
			assert_int_equal(test_bits(got[j * m + i]),
			    test_bits(test_chain(K, a + i * K, b + j * K)));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks),
		cmocka_unit_test(raw_inputs),
		cmocka_unit_test(growth),
		cmocka_unit_test(chains),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
