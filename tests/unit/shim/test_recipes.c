/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_recipes.c -- what the recipes that write C do, in which
 * order, and what becomes of the call and of its lane when a step fails. */
#include "tests/unit/shim/recipe_world.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { UNTOUCHED = 99 };   /* the status of a call that did not run */

/* What recipe `run` made of the call as it stands. */
static void
check(enum ac_reason (*run)(const struct ac_job *), enum ac_reason reason,
    int answer, const char *expected)
{
	const enum ac_reason found = run(&job);

	if (found != reason || (int)status != answer
	    || strcmp(events, expected))
		fail_msg("reason %d, not %d; status %d, not %d; %s, not %s",
		    (int)found, (int)reason, (int)status, answer, events,
		    expected);
}

/* ---- By the library ------------------------------------------------------ */

/* Only what cuBLAS says before it does anything is a refusal. */
static void
test_answers(void **state)
{
	static const struct {
		cublasStatus_t status;
		bool           is_refusal;
	} rows[] = {
		{ CUBLAS_STATUS_SUCCESS, false },
		{ CUBLAS_STATUS_NOT_SUPPORTED, true },
		{ CUBLAS_STATUS_INVALID_VALUE, true },
		{ CUBLAS_STATUS_ARCH_MISMATCH, true },
		{ CUBLAS_STATUS_ALLOC_FAILED, true },
		{ CUBLAS_STATUS_NOT_INITIALIZED, true },
		{ CUBLAS_STATUS_EXECUTION_FAILED, false },
		{ CUBLAS_STATUS_INTERNAL_ERROR, false },
		{ CUBLAS_STATUS_MAPPING_ERROR, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		start(1);
		answers[0] = rows[i].status;
		check(ac_recipe_library, rows[i].is_refusal
		    ? AC_REASON_REFUSED : AC_REASON_NONE, rows[i].is_refusal
		    ? UNTOUCHED : (int)rows[i].status, "gemm");
	}
}

static bool
is_operand(const struct ac_operand *found, const void *data, cudaDataType type,
    int64_t ld, long long stride)
{
	return found->data == data && found->type == type && found->ld == ld
	    && found->stride == stride;
}

/* The program's own arguments, with another compute type. */
static void
test_arguments(void **state)
{
	(void)state;
	assert_int_equal(ac_library_compute(AC_RUNG_TF32),
	    CUBLAS_COMPUTE_32F_FAST_TF32);
	assert_int_equal(ac_library_compute(AC_RUNG_BF16),
	    CUBLAS_COMPUTE_32F_FAST_16BF);
	assert_int_equal(ac_library_compute(AC_RUNG_FP16),
	    CUBLAS_COMPUTE_32F_FAST_16F);
	for (int many = 0; many < 2; many++) {
		start(1);
		g.batch = many ? 4 : 1;
		g.a.stride = many ? 100 : 0;
		g.b.stride = many ? 200 : 0;
		g.c.stride = many ? 300 : 0;
		check(ac_recipe_library, AC_REASON_NONE, 0,
		    many ? "strided" : "gemm");
		assert_ptr_equal(issued.handle, g.handle);
		assert_int_equal(issued.transa, g.transa);
		assert_int_equal(issued.transb, g.transb);
		assert_true(issued.m == 5 && issued.n == 6 && issued.k == 7
		    && issued.batch == g.batch);
		assert_ptr_equal(issued.alpha, &alpha);
		assert_ptr_equal(issued.beta, &beta);
		assert_true(is_operand(&issued.a, g.a.data, CUDA_R_32F, 11,
		    g.a.stride));
		assert_true(is_operand(&issued.b, g.b.data, CUDA_R_32F, 12,
		    g.b.stride));
		assert_true(is_operand(&issued.c, g.c.data, CUDA_R_32F, 13,
		    g.c.stride));
		assert_int_equal(issued.compute, CUBLAS_COMPUTE_32F_FAST_TF32);
	}
}

/* One number of more than 31 bits takes the function of int64_t, which older
 * libraries lack. */
static void
test_wide(void **state)
{
	int64_t *const numbers[] = { &g.m, &g.n, &g.k, &g.a.ld, &g.b.ld,
		&g.c.ld, &g.batch };
	const size_t count = sizeof numbers / sizeof *numbers;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const bool many = numbers[i] == &g.batch;

		start(1);
		*numbers[i] = INT_MAX;
		check(ac_recipe_library, AC_REASON_NONE, 0,
		    many ? "strided" : "gemm");
		start(1);
		*numbers[i] = (int64_t)INT_MAX + 1;
		check(ac_recipe_library, AC_REASON_NONE, 0,
		    many ? "strided64" : "gemm64");
		assert_true((many ? issued.batch : numbers[i] == &g.m
		    ? issued.m : (int64_t)INT_MAX + 1) > INT_MAX);
		start(1);
		lacks_wide = true;
		*numbers[i] = (int64_t)INT_MAX + 1;
		check(ac_recipe_library, AC_REASON_UNSUPPORTED, UNTOUCHED, "");
	}
}

/* Nothing of a sample keeps the product from running. */
static void
test_library_sample(void **state)
{
	static const struct {
		const char *fails, *events;
	} rows[] = {
		{ NULL, "borrow settle gemm finish return sampled" },
		{ "settle", "borrow settle return-dirty gemm" },
		{ "finish", "borrow settle gemm finish return-dirty" },
		{ "spare", "borrow spare return-dirty gemm" },
		{ "math", "borrow settle gemm finish return sampled" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		start(1);
		turn.sampled = true;
		fails = rows[i].fails;
		has_history = i != 3;
		check(ac_recipe_library, AC_REASON_NONE, 0, rows[i].events);
		assert_false(request.wants_handle);
		assert_null(settled.operand[0].to);
		assert_null(settled.output.result);
	}
	assert_int_equal(finished.post, 32);
	start(1);
	turn.sampled = true;
	answers[0] = CUBLAS_STATUS_NOT_SUPPORTED;
	check(ac_recipe_library, AC_REASON_REFUSED, UNTOUCHED,
	    "borrow settle gemm return-dirty");
	start(1);
	turn.sampled = true;
	borrowed = AC_REASON_WORKSPACE;
	check(ac_recipe_library, AC_REASON_NONE, 0, "borrow gemm");
	start(1);
	turn.sampled = true;
	site.decision.sample_period = 0;
	check(ac_recipe_library, AC_REASON_NONE, 0, "gemm");
	start(1);
	turn.sampled = true;
	job.call.place = NULL;
	check(ac_recipe_library, AC_REASON_NONE, 0, "gemm");
}

static void
test_library_time(void **state)
{
	(void)state;
	start(1);
	turn.timing = &timing;
	check(ac_recipe_library, AC_REASON_NONE, 0, "time gemm timed");
	start(1);
	turn.timing = &timing;
	answers[0] = CUBLAS_STATUS_NOT_SUPPORTED;
	check(ac_recipe_library, AC_REASON_REFUSED, UNTOUCHED,
	    "time gemm untimed");
	start(1);
	turn.timing = &timing;
	fails = "time";
	check(ac_recipe_library, AC_REASON_NONE, 0, "time gemm");
	start(1);
	turn.timing = &timing;
	job.call.place = NULL;
	check(ac_recipe_library, AC_REASON_NONE, 0, "gemm");
}

/* ---- By a cast ----------------------------------------------------------- */

static void
test_cast(void **state)
{
	static const struct {
		const char    *fails;
		cublasStatus_t answer;
		enum ac_reason reason;
		int            status;
		const char    *events;
	} rows[] = {
		{ NULL, 0, AC_REASON_NONE, 0,
		    "borrow cast settle gemm finish return" },
		{ "cast", 0, AC_REASON_REFUSED, UNTOUCHED,
		    "borrow cast return-dirty" },
		{ "settle", 0, AC_REASON_REFUSED, UNTOUCHED,
		    "borrow cast settle return-dirty" },
		{ NULL, CUBLAS_STATUS_NOT_SUPPORTED, AC_REASON_REFUSED,
		    UNTOUCHED, "borrow cast settle gemm return-dirty" },
		/* C may have been written to: no way back. */
		{ NULL, CUBLAS_STATUS_EXECUTION_FAILED, AC_REASON_NONE,
		    CUBLAS_STATUS_EXECUTION_FAILED,
		    "borrow cast settle gemm finish return-dirty" },
		{ "finish", 0, AC_REASON_NONE, CUBLAS_STATUS_EXECUTION_FAILED,
		    "borrow cast settle gemm finish return-dirty" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		start(0);
		fails = rows[i].fails;
		answers[0] = rows[i].answer;
		check(ac_recipe_cast, rows[i].reason, rows[i].status,
		    rows[i].events);
	}
	start(0);
	has_history = false;
	fails = "spare";
	check(ac_recipe_cast, AC_REASON_REFUSED, UNTOUCHED,
	    "borrow spare return-dirty");
	start(0);
	borrowed = AC_REASON_WORKSPACE;
	check(ac_recipe_cast, AC_REASON_WORKSPACE, UNTOUCHED, "borrow");
	start(0);
	job.unfit = AC_REASON_NO_PROFIT;
	check(ac_recipe_cast, AC_REASON_NO_PROFIT, UNTOUCHED, "");
	start(0);
	fails = "math";
	check(ac_recipe_cast, AC_REASON_REFUSED, UNTOUCHED, "");
	start(0);
	g.k = INT64_MAX / 2;
	check(ac_recipe_cast, AC_REASON_WORKSPACE, UNTOUCHED, "");
}

/* What is timed is all that a recast takes; what is not done is not sampled. */
static void
test_cast_turn(void **state)
{
	(void)state;
	start(0);
	turn.timing = &timing;
	turn.sampled = true;
	check(ac_recipe_cast, AC_REASON_NONE, 0, "borrow time cast settle gemm "
	    "finish timed return sampled");
	assert_int_equal(finished.post, 32);
	start(0);
	turn.timing = &timing;
	turn.sampled = true;
	fails = "finish";
	check(ac_recipe_cast, AC_REASON_NONE, CUBLAS_STATUS_EXECUTION_FAILED,
	    "borrow time cast settle gemm finish untimed return-dirty");
	start(0);
	turn.timing = &timing;
	fails = "time";
	check(ac_recipe_cast, AC_REASON_NONE, 0,
	    "borrow time cast settle gemm finish return");
	assert_null(finished.post);
	start(0);
	turn.posts_if_bad = true;
	check(ac_recipe_cast, AC_REASON_NONE, 0,
	    "borrow cast settle gemm finish return");
	assert_int_equal(finished.post, 32);
}

/* A's 5 rows of 7, and B's 6 of 7, are padded to eights; their places in the
 * buffer are whole 256 bytes. */
static void
test_cast_product(void **state)
{
	(void)state;
	start(0);
	check(ac_recipe_cast, AC_REASON_NONE, 0,
	    "borrow cast settle gemm finish return");
	assert_true(request.wants_handle);
	assert_ptr_equal(request.program, g.handle);
	assert_int_equal(request.device, 3);
	assert_int_equal(request.limit_bytes, 12345);
	assert_int_equal(request.marks_bytes, 2 * 256);
	assert_int_equal(request.math_mode,
	    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
	assert_int_equal(cast.format, AC_FORMAT_FP16);
	assert_int_equal(cast.scaled, 1);
	assert_ptr_equal(issued.handle, loan.handle);
	assert_true(issued.m == 5 && issued.n == 6 && issued.k == 8);
	assert_int_equal(issued.transa, CUBLAS_OP_N);
	assert_int_equal(issued.transb, CUBLAS_OP_T);
	assert_ptr_equal(issued.alpha, &loan.state->alpha);
	assert_ptr_equal(issued.beta, &loan.state->beta);
	assert_true(is_operand(&issued.a, loan.buffer, CUDA_R_16F, 8, 0));
	assert_true(is_operand(&issued.b, loan.buffer + 256, CUDA_R_16F, 8,
	    0));
	assert_true(is_operand(&issued.c, g.c.data, CUDA_R_32F, 13, 0));
	assert_int_equal(issued.compute, CUBLAS_COMPUTE_32F);
	assert_int_equal(finished.output.write_through, 0);
	start(0);
	site.decision.scaled = false;
	check(ac_recipe_cast, AC_REASON_NONE, 0,
	    "borrow cast settle gemm finish return");
	assert_int_equal(cast.scaled, 0);
	start(0);
	site.decision.candidate[0].rung = AC_RUNG_BF16;
	check(ac_recipe_cast, AC_REASON_NONE, 0,
	    "borrow cast settle gemm finish return");
	assert_int_equal(cast.format, AC_FORMAT_BF16);
	assert_int_equal(cast.scaled, 0);
	assert_int_equal(issued.a.type, CUDA_R_16BF);
}

/* Each operand's matrices lie one behind the other, one alone for all. */
static void
test_cast_batch(void **state)
{
	(void)state;
	start(0);
	g.batch = 3;
	g.a.stride = 100;
	g.c.stride = 300;
	check(ac_recipe_cast, AC_REASON_NONE, 0,
	    "borrow cast settle strided finish return");
	assert_int_equal(issued.batch, 3);
	assert_int_equal(issued.a.stride, 8 * 8);
	assert_int_equal(issued.b.stride, 0);
	assert_int_equal(issued.c.stride, 300);
}

/* Arrays of matrices: the product goes next to C, and finish writes it there.
 * Until then C is as it was. */
static void
test_cast_arrays(void **state)
{
	(void)state;
	start(0);
	g.in_arrays = true;
	g.batch = 3;
	check(ac_recipe_cast, AC_REASON_NONE, 0,
	    "borrow cast settle strided finish return");
	assert_int_equal(finished.output.write_through, 1);
	assert_ptr_equal(issued.c.data, finished.output.result);
	assert_non_null(issued.c.data);
	assert_true(is_operand(&issued.c, finished.output.result, CUDA_R_32F,
	    5, 5 * 6));
	assert_ptr_equal(issued.beta, &loan.state->zero);
	start(0);
	g.in_arrays = true;
	fails = "finish";
	check(ac_recipe_cast, AC_REASON_REFUSED, UNTOUCHED,
	    "borrow cast settle gemm finish return-dirty");
}

/* ---- Scalars ------------------------------------------------------------- */

static void
test_scalars(void **state)
{
	(void)state;
	start(0);
	ac_job_read(&job);
	assert_int_equal(job.unfit, AC_REASON_NONE);
	assert_true(job.alpha.value == 2 && job.beta.value == 3);
	assert_true(!job.alpha.device && !job.beta.device);
	alpha = 0;
	ac_job_read(&job);
	assert_int_equal(job.unfit, AC_REASON_NO_PROFIT);
	pointer_mode = CUBLAS_POINTER_MODE_DEVICE;
	ac_job_read(&job);
	assert_int_equal(job.unfit, AC_REASON_NONE);
	assert_ptr_equal(job.alpha.device, &alpha);
	assert_ptr_equal(job.beta.device, &beta);
	fails = "pointer";
	ac_job_read(&job);
	assert_int_equal(job.unfit, AC_REASON_REFUSED);
}

/* With a beta of 0 nobody has to know what C was. */
static void
test_beta(void **state)
{
	uint64_t bytes;

	(void)state;
	start(0);
	check(ac_recipe_cast, AC_REASON_NONE, 0,
	    "borrow cast settle gemm finish return");
	assert_non_null(settled.kept);
	assert_true(settled.alpha.value == 2 && settled.beta.value == 3);
	bytes = request.buffer_bytes;
	start(0);
	job.beta.value = 0;
	check(ac_recipe_cast, AC_REASON_NONE, 0,
	    "borrow cast settle gemm finish return");
	assert_null(settled.kept);
	assert_int_equal(bytes - request.buffer_bytes,
	    AC_KEPT_LINES * sizeof(float));
	start(0);
	job.beta = (struct ac_cast_scalar){ .device = &beta };
	check(ac_recipe_cast, AC_REASON_NONE, 0,
	    "borrow cast settle gemm finish return");
	assert_non_null(settled.kept);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_library_sample),
		cmocka_unit_test(test_library_time),
		cmocka_unit_test(test_cast),
		cmocka_unit_test(test_cast_turn),
		cmocka_unit_test(test_cast_product),
		cmocka_unit_test(test_cast_batch),
		cmocka_unit_test(test_cast_arrays),
		cmocka_unit_test(test_scalars),
		cmocka_unit_test(test_beta),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
