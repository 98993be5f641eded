/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast_twins.c -- the twins of the recast kernels:
 * the same bits plainly and eight lanes at a time, for any launch and any float
 * mode; the bytes they move; what they leave behind. */
#include "tests/unit/kernels/recast_cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "kernels/twins/twins.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static struct recast_case
case_of(enum cast_fill a, enum cast_fill b, enum ac_format format, bool scaled)
{
	return (struct recast_case){ .m = 75, .n = 40, .k = 67, .batch = 3,
		.trans = { false, true }, .fill = { a, b }, .extra = 1,
		.alpha = -1.5f, .beta = 0.5f, .format = format,
		.scaled = scaled };
}

/* Everything that the kernels write but for the post. */
static void
assert_same(const struct recast_data *a, const struct recast_data *b)
{
	for (int i = 0; i < 2; i++) {
		assert_memory_equal(a->to[i], b->to[i],
		    a->to_count[i] * sizeof *a->to[i]);
		assert_memory_equal(a->marks[i], b->marks[i],
		    a->mark_count[i] * sizeof *a->marks[i]);
	}
	assert_memory_equal(a->c, b->c, a->c_count * sizeof *a->c);
	assert_memory_equal(&a->state, &b->state, sizeof a->state);
	assert_memory_equal(&a->history, &b->history, sizeof a->history);
	assert_memory_equal(a->before, b->before, sizeof a->before);
	for (int i = 0; i < 2; i++)
		assert_memory_equal(a->bands[i], b->bands[i],
		    a->band_count[i] * sizeof *a->bands[i]);
	assert_memory_equal(a->parts, b->parts,
	    a->part_count * sizeof *a->parts);
}

/* Two calls with samples: the first settles, the second does not. */
static void
run_twice(struct recast_data *d, unsigned blocks)
{
	recast_judge(1e-3f, d);
	d->recast.sampled = 1;
	for (int call = 0; call < 2; call++) {
		recast_run("ac_recast_cast", d, blocks);
		recast_run("ac_recast_settle", d, blocks);
		recast_multiply(d);
		recast_run("ac_recast_finish", d, blocks);
	}
}

static void
test_ways(void **state)
{
	static const enum cast_fill fills[] = { FILL_NORMAL, FILL_ANY,
		FILL_EDGES, FILL_FINITE, FILL_SUBNORMAL, FILL_TINY,
		FILL_NAN, FILL_GRADIENT };

	(void)state;
	for (size_t f = 0; f < sizeof fills / sizeof *fills; f++)
		for (int mode = 0; mode < 4; mode++) {
			const struct recast_case c = case_of(fills[f],
			    FILL_NORMAL, mode / 2, mode % 2);
			struct recast_data fast, plain, launched;

			recast_data_make(&c, f, &fast);
			recast_data_make(&c, f, &plain);
			recast_data_make(&c, f, &launched);
			run_twice(&fast, 1);
			ac_twin_plain = true;
			run_twice(&plain, 1);
			ac_twin_plain = false;
			run_twice(&launched, 77);
			assert_same(&fast, &plain);
			assert_same(&fast, &launched);
			recast_data_free(&fast);
			recast_data_free(&plain);
			recast_data_free(&launched);
		}
}

static uint64_t
moved(void)
{
	return ac_twin_bytes_read + ac_twin_bytes_written;
}

static void
count_from_zero(void)
{
	ac_twin_bytes_read = ac_twin_bytes_written = 0;
}

static uint64_t
budget(const struct recast_data *d)
{
	uint64_t bytes = 1024;

	for (int i = 0; i < 2; i++) {
		const struct ac_recast_operand *o = &d->recast.operand[i];

		bytes += 6 * d->to_count[i] + 64 * (uint64_t)(o->batch
		    * ((o->ld_to + 31) / 32) * ((o->cols_to + 31) / 32));
	}
	return bytes;
}

static uint64_t
elements(const struct recast_data *d)
{
	const struct ac_recast_operand *a = &d->recast.operand[0], *b = a + 1;

	return (uint64_t)(a->rows * a->cols * a->batch
	    + b->rows * b->cols * b->batch);
}

/* The pass itself, exactly; a second one is over the budget, so it would be
 * seen; and even where every element is marked the first is within. */
static void
test_bytes(void **state)
{
	struct recast_case c = case_of(FILL_NORMAL, FILL_NORMAL,
	    AC_FORMAT_FP16, true);
	struct recast_data d;

	(void)state;
	c.m = c.n = 200;
	recast_data_make(&c, 1, &d);
	recast_whole(&d);
	count_from_zero();
	recast_cast(&d);
	assert_int_equal(ac_twin_bytes_read, 4 * elements(&d));
	assert_int_equal(ac_twin_bytes_written,
	    2 * (d.to_count[0] + d.to_count[1]));
	recast_settle(&d);
	recast_finish(&d);
	assert_true(moved() <= budget(&d));
	recast_cast(&d);
	assert_true(moved() > budget(&d));
	recast_data_free(&d);

	for (int mode = 0; mode < 4; mode++) {
		c.fill[0] = c.fill[1] = FILL_NAN;
		c.trans[0] = mode % 2;
		c.trans[1] = mode / 2;
		recast_data_make(&c, 1, &d);
		d.history.known = 3;
		count_from_zero();
		recast_cast(&d);
		assert_int_equal(d.state.todo, AC_TODO_REPAIR);
		assert_true(moved() > 4 * elements(&d)
		    + 2 * (d.to_count[0] + d.to_count[1]));
		assert_true(moved() <= budget(&d));
		recast_data_free(&d);
	}
}

/* Nothing to do moves nothing. */
static void
test_idle(void **state)
{
	struct recast_case c = case_of(FILL_NORMAL, FILL_NORMAL,
	    AC_FORMAT_FP16, true);
	struct recast_data d;

	(void)state;
	recast_data_make(&c, 1, &d);
	recast_whole(&d);
	recast_cast(&d);
	count_from_zero();
	recast_settle(&d);
	recast_finish(&d);
	assert_int_equal(moved(), 0);
	recast_data_free(&d);

	c.beta = 0; /* a sample is due, but C has no part in it */
	recast_data_make(&c, 1, &d);
	recast_whole(&d);
	d.recast.sampled = 1;
	recast_cast(&d);
	count_from_zero();
	recast_settle(&d);
	assert_int_equal(moved(), 0);
	recast_data_free(&d);
}

static bool
is_zero(const void *block, size_t bytes)
{
	const unsigned char *at = block;

	while (bytes && !*at)
		at++, bytes--;
	return !bytes;
}

/* What the contract says is zero between two calls. */
static void
test_left_behind(void **state)
{
	static const enum cast_fill fills[] = { FILL_NORMAL, FILL_ANY,
		FILL_NAN, FILL_LARGE };

	(void)state;
	for (size_t f = 0; f < 4; f++)
		for (int sampled = 0; sampled < 2; sampled++) {
			const struct recast_case c = case_of(fills[f],
			    fills[f], AC_FORMAT_FP16, true);
			struct recast_data d;

			recast_data_make(&c, f, &d);
			d.recast.sampled = (uint32_t)sampled;
			recast_whole(&d);
			for (int i = 0; i < 2; i++)
				assert_true(is_zero(d.marks[i],
				    d.mark_count[i] * sizeof *d.marks[i]));
			d.state.alpha = d.state.beta = 0;
			d.state.exponent[0] = d.state.exponent[1] = 0;
			d.state.measured[0] = d.state.measured[1] = 0;
			d.state.probe = 0;
			memset(d.state.sample, 0, sizeof d.state.sample);
			assert_true(is_zero(&d.state, sizeof d.state));
			recast_data_free(&d);
		}
}

/* Scalars in device memory are read when the kernel runs, not before. */
static void
test_device_scalars(void **state)
{
	const struct recast_case c = case_of(FILL_NORMAL, FILL_NORMAL,
	    AC_FORMAT_BF16, false);
	float alpha = 9, beta = 9;
	struct recast_data d;

	(void)state;
	recast_data_make(&c, 1, &d);
	d.recast.alpha = (struct ac_cast_scalar){ 7, 0, &alpha };
	d.recast.beta = (struct ac_cast_scalar){ 7, 0, &beta };
	alpha = 3.25f;
	beta = -0.5f;
	recast_cast(&d);
	assert_true(d.state.alpha == 3.25f && d.state.beta == -0.5f);
	recast_data_free(&d);
}

/* A program built with -ffast-math flushes subnormals; its device does not. */
static void
test_float_mode(void **state)
{
#if defined(__x86_64__)
	const struct recast_case c = case_of(FILL_SUBNORMAL, FILL_LARGE,
	    AC_FORMAT_FP16, true);
	const unsigned flush_and_round_up = 0x8040 | 0x4000;
	const unsigned mode = _mm_getcsr();
	struct recast_data plain, flushed;

	(void)state;
	recast_data_make(&c, 1, &plain);
	recast_data_make(&c, 1, &flushed);
	for (int turn = 0; turn < 2; turn++) {
		struct recast_data *d = turn ? &flushed : &plain;

		d->recast.sampled = 1;
		_mm_setcsr(turn ? mode | flush_and_round_up : mode);
		recast_cast(d);
		recast_settle(d);
		recast_finish(d);
	}
	assert_int_equal(_mm_getcsr() & flush_and_round_up, flush_and_round_up);
	_mm_setcsr(mode);
	assert_same(&plain, &flushed);
	recast_data_free(&plain);
	recast_data_free(&flushed);
#else
	(void)state;
	print_message("# only x86-64 has these modes\n");
	skip();
#endif
}

/* Columns beyond 2^32 elements of the first. The address space is asked for,
 * the memory is not. */
static void
test_far_elements(void **state)
{
	const int64_t far = (INT64_C(1) << 31) + 8;
	const size_t bytes = (size_t)(5 * far) * sizeof(float);
	float *from = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct recast_case c = case_of(FILL_NORMAL, FILL_NORMAL,
	    AC_FORMAT_FP16, true);
	struct recast_data near, away;

	(void)state;
	if (from == MAP_FAILED) {
		print_message("# no %zu bytes of address space\n", bytes);
		skip();
	}
	c.m = 3;
	c.k = 4;
	c.batch = 1;
	recast_data_make(&c, 1, &near);
	recast_data_make(&c, 1, &away);
	for (int j = 0; j < 4; j++)
		for (int i = 0; i < 3; i++)
			from[j * far + i] = *recast_at(&near, 0, 0, i, j);
	away.recast.operand[0].from = from;
	away.recast.operand[0].ld = far;
	run_twice(&near, 1);
	run_twice(&away, 1);
	assert_same(&near, &away);
	recast_data_free(&near);
	recast_data_free(&away);
	munmap(from, bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_device_scalars),
		cmocka_unit_test(test_float_mode),
		cmocka_unit_test(test_far_elements),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
