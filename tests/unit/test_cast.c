/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_cast.c -- the cast kernels against an independent reference,
 * bit for bit: shapes, padding, batches, exponents, scalars, the state. */
#include "tests/unit/cast_cases.h"
#include "tests/unit/cast_reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "kernels/twins.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void
launch(const char *name, const struct ac_cast_params *params)
{
	const struct ac_twin_launch geometry = { { 3, 2, 1 }, { 256, 1, 1 } };
	void *arguments[] = { (void *)(uintptr_t)params };

	for (size_t i = 0; i < ac_twin_count; i++)
		if (!strcmp(ac_twins[i].name, name)) {
			ac_twins[i].run(&geometry, arguments);
			return;
		}
	fail_msg("no twin %s", name);
}

/* ---- Running a case ---------------------------------------------------- */

static void
assert_cast(const struct ac_cast_operand *o, int exponent,
    enum ac_format format, const uint16_t *to)
{
	for (int64_t b = 0; b < o->batch; b++)
		for (int64_t j = 0; j < o->cols_to; j++)
			for (int64_t i = 0; i < o->ld_to; i++) {
				const bool inside = i < o->rows && j < o->cols;
				const uint16_t want = !inside ? 0
				    : cast_reference_element(ldexp((double)o->from[
				    b * o->stride + j * o->ld + i], exponent),
				    format);
				const int64_t at = (b * o->cols_to + j)
				    * o->ld_to + i;
				if (to[at] != want)
					fail_msg("element %d,%d of matrix %d: "
					    "%04x, not %04x", (int)i, (int)j,
					    (int)b, to[at], want);
			}
}

static void
assert_case(const struct cast_case *c)
{
	struct cast_data data;
	struct cast_expected e;
	bool nonfinite[2];
	double amax[2];

	cast_data_make(c, &data);
	for (int i = 0; i < 2; i++)
		amax[i] = cast_reference_amax(&data.params.operand[i],
		    &nonfinite[i]);
	e = cast_reference_scale(amax, c->scaled, c->alpha);
	if (nonfinite[0] || nonfinite[1])
		e.verdict |= AC_VERDICT_NONFINITE;
	if (c->scaled) {
		launch("ac_amax", &data.params);
		for (int i = 0; i < 2; i++) {
			assert_true(ac_cast_float(data.state.amax[i])
			    == (float)amax[i]);
			assert_int_equal(data.state.nonfinite >> i & 1,
			    nonfinite[i]);
		}
	}
	launch("ac_cast", &data.params);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(data.state.exponent[i], e.exponent[i]);
		assert_cast(&data.params.operand[i], e.exponent[i], c->format,
		    data.to[i]);
		assert_true(cast_data_is_fenced(&data, i));
		assert_int_equal(data.state.amax[i], 0);
	}
	assert_int_equal(data.state.nonfinite, 0);
	assert_int_equal(data.state.arrived, 0);
	assert_int_equal(data.state.verdict, e.verdict);
	assert_int_equal(ac_cast_bits(data.state.alpha), ac_cast_bits(e.alpha));
	assert_int_equal(ac_cast_bits(data.state.beta), ac_cast_bits(c->beta));
	cast_data_free(&data);
}

/* Every row of cast_cases.def. */
static void
test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < cast_case_count; i++) {
		print_message("# %s\n", cast_cases[i].name);
		assert_case(&cast_cases[i]);
	}
}

/* Each shape with every remainder by 8 and each format. */
static void
test_shapes(void **state)
{
	struct cast_case c = { .name = "shapes", .alpha = 1.5f, .scaled = true,
		.fill = { FILL_EDGES, FILL_NORMAL } };

	(void)state;
	for (int rows = 0; rows < 19; rows++)
		for (int cols = 0; cols < 5; cols++)
			for (int extra = 0; extra < 3; extra++) {
				c.shape[0] = (struct cast_shape){ rows, cols,
				    extra, 0, 1, 8 * (extra % 2), extra };
				c.shape[1] = (struct cast_shape){ cols, rows,
				    extra, 0, 1 + extra, 0, 0 };
				c.format = extra % 2;
				assert_case(&c);
			}
}

/* Every pair of binades of the operands, with alphas of every kind. */
static void
test_exponents(void **state)
{
	static const float alphas[] = { 1, -1.75f, 0x1p-126f, -0x1.8p-140f,
		0x1p-149f, 0x1.fffffep127f, 0, -0.0f, INFINITY, 3e-20f, 7e15f };

	(void)state;
	for (int a = -149; a < 128; a += 3)
		for (int b = -149; b < 128; b += 3)
			for (size_t i = 0; i < COUNT(alphas); i++) {
				const double amax[] = { ldexp(1, a),
				    ldexp(1, b) };
				const struct cast_expected e =
				    cast_reference_scale(amax, true, alphas[i]);
				const struct ac_cast_scale s = ac_cast_scale_of(
				    ac_cast_bits((float)amax[0]),
				    ac_cast_bits((float)amax[1]), 1, alphas[i]);

				assert_int_equal(s.exponent[0], e.exponent[0]);
				assert_int_equal(s.exponent[1], e.exponent[1]);
				assert_int_equal(s.verdict, e.verdict);
				assert_int_equal(ac_cast_bits(s.alpha),
				    ac_cast_bits(e.alpha));
			}
}

/* Both factors stay normal over the whole reach of the exponents. */
static void
test_factors(void **state)
{
	(void)state;
	for (int e = -150; e <= 163; e++) {
		const struct ac_cast_factor f = ac_cast_factor_of(e);
		assert_true(isnormal(f.first) && isnormal(f.second));
		assert_true((double)f.first * (double)f.second == ldexp(1, e));
	}
}

/* Scalars in device memory are read when the kernel runs, not before. */
static void
test_device_scalars(void **state)
{
	struct cast_case c = cast_cases[0];
	struct cast_data data;
	float alpha = 9, beta = 9;

	(void)state;
	cast_data_make(&c, &data);
	data.params.alpha = (struct ac_cast_scalar){ 7, &alpha };
	data.params.beta = (struct ac_cast_scalar){ 7, &beta };
	data.params.scaled = 0;
	alpha = 3.25f;
	beta = -0.5f;
	launch("ac_cast", &data.params);
	assert_true(data.state.alpha == 3.25f && data.state.beta == -0.5f);
	cast_data_free(&data);
}

/* A verdict outlives the casts that follow it; everything else starts anew. */
static void
test_state_again(void **state)
{
	const struct cast_case c = { .name = "again", .alpha = 1,
		.scaled = true, .fill = { FILL_LARGE, FILL_LARGE },
		.shape = { { 5, 3, 0, 0, 1, 0, 0 }, { 3, 4, 0, 0, 1, 0, 0 } } };
	struct cast_data data;
	struct ac_cast_state first;

	(void)state;
	cast_data_make(&c, &data);
	launch("ac_amax", &data.params);
	launch("ac_cast", &data.params);
	first = data.state;
	assert_int_equal(first.verdict, AC_VERDICT_CLAMPED);
	data.state.verdict = AC_VERDICT_NONFINITE;
	launch("ac_amax", &data.params);
	data.state.arrived = 5; /* as the GPU's blocks leave it to the last */
	launch("ac_cast", &data.params);
	assert_int_equal(data.state.verdict,
	    AC_VERDICT_CLAMPED | AC_VERDICT_NONFINITE);
	data.state.verdict = first.verdict;
	assert_memory_equal(&data.state, &first, sizeof first);
	cast_data_free(&data);
}

/* A run that reads an operand twice, or writes more than the cast, shows. */
static void
test_bytes(void **state)
{
	struct cast_case c = { .name = "bytes", .alpha = 1, .scaled = true,
		.shape = { { 9, 4, 3, 0, 2, 8, 1 }, { 5, 7, 0, 0, 1, 0, 0 } } };
	struct cast_data data;

	(void)state;
	cast_data_make(&c, &data);
	ac_twin_bytes_read = ac_twin_bytes_written = 0;
	launch("ac_amax", &data.params);
	assert_int_equal(ac_twin_bytes_read, 4 * (9 * 4 * 2 + 5 * 7));
	assert_int_equal(ac_twin_bytes_written, 0);
	ac_twin_bytes_read = 0;
	launch("ac_cast", &data.params);
	assert_int_equal(ac_twin_bytes_read, 4 * (9 * 4 * 2 + 5 * 7));
	assert_int_equal(ac_twin_bytes_written, 2 * (24 * 5 * 2 + 8 * 7));
	cast_data_free(&data);
}

/* Elements beyond 2^32 of an operand: columns, then matrices, so far apart.
 * The address space is asked for, the memory is not. */
static void
test_far_elements(void **state)
{
	const int64_t far = (INT64_C(1) << 31) + 8;
	const size_t bytes = (size_t)(5 * far) * sizeof(float);
	float *from = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct cast_case c = { .name = "far", .alpha = 1, .scaled = true,
		.fill = { FILL_NORMAL, FILL_NORMAL },
		.shape = { { 3, 4, 0, 0, 1, 0, 0 }, { 4, 3, 0, 0, 1, 0, 0 } } };
	struct cast_data data;
	bool nonfinite;

	(void)state;
	if (from == MAP_FAILED) {
		print_message("# no %zu bytes of address space\n", bytes);
		skip();
	}
	for (int by_matrix = 0; by_matrix < 2; by_matrix++) {
		struct ac_cast_operand *o = &data.params.operand[0];

		c.shape[0].batch = by_matrix ? 4 : 1;
		c.shape[0].cols = by_matrix ? 1 : 4;
		cast_data_make(&c, &data);
		o->from = from;
		if (by_matrix)
			o->stride = far;
		else
			o->ld = far;
		for (int64_t j = 0; j < 4; j++)
			for (int64_t i = 0; i < 3; i++)
				from[j * far + i] = (float)(1 + 3 * j + i) / 7;
		launch("ac_amax", &data.params);
		assert_true((double)ac_cast_float(data.state.amax[0])
		    == cast_reference_amax(o, &nonfinite));
		launch("ac_cast", &data.params);
		assert_cast(o, data.state.exponent[0], c.format, data.to[0]);
		cast_data_free(&data);
	}
	munmap(from, bytes);
}

/* A program built with -ffast-math flushes subnormals; its device does not. */
static void
test_float_mode(void **state)
{
	const struct cast_case tiny = { .name = "tiny", .alpha = 1,
		.scaled = true, .fill = { FILL_SUBNORMAL, FILL_LARGE },
		.shape = { { 17, 3, 0, 0, 1, 0, 0 }, { 9, 2, 0, 0, 1, 0, 0 } } };
	struct cast_data plain, flushed;

	(void)state;
	cast_data_make(&tiny, &plain);
	cast_data_make(&tiny, &flushed);
	launch("ac_amax", &plain.params);
	launch("ac_cast", &plain.params);
	assert_int_not_equal(plain.to[0][0] & 0x7fff, 0);
#if defined(__x86_64__)
	const unsigned flush_and_round_up = 0x8040 | 0x4000;
	const unsigned mode = _mm_getcsr();

	_mm_setcsr(mode | flush_and_round_up);
	launch("ac_amax", &flushed.params);
	launch("ac_cast", &flushed.params);
	assert_int_equal(_mm_getcsr() & flush_and_round_up, flush_and_round_up);
	_mm_setcsr(mode);
	assert_memory_equal(flushed.to[0], plain.to[0], 24 * 3 * 2);
#endif
	cast_data_free(&plain);
	cast_data_free(&flushed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		{ "T40: ld > m, odd m, signed zeros, subnormals, inf, NaN",
		    test_table, NULL, NULL, NULL },
		{ "T40: every remainder by 8", test_shapes, NULL, NULL, NULL },
		{ "T40: elements beyond 2^32", test_far_elements, NULL, NULL,
		    NULL },
		cmocka_unit_test(test_exponents),
		cmocka_unit_test(test_factors),
		cmocka_unit_test(test_device_scalars),
		cmocka_unit_test(test_state_again),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_float_mode),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
