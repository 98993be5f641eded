/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_recipes_beside.c -- products next to C: what a try runs
 * and tells its trial, and when guard=strict writes C. */
#include "tests/unit/shim/recipe_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { UNTOUCHED = 99 };   /* the status of a call that did not run */

/* ---- Tries --------------------------------------------------------------- */

struct try {
	const char    *fails;
	unsigned       fails_at;
	cublasStatus_t answers[2];     /* to the cast's, the library's */
	unsigned       queued, refused;
	const char    *events;
};

static void
check_try(const struct try *row)
{
	fails = row->fails;
	fails_at = row->fails_at;
	memcpy(answers, row->answers, sizeof row->answers);
	assert_int_equal(ac_recipe_try(&job.call), AC_REASON_PROBATION);
	if (queued != row->queued || refused != row->refused
	    || strcmp(events, row->events))
		fail_msg("queued %u, refused %u, %s, not %s", queued, refused,
		    events, row->events);
	assert_int_equal(status, UNTOUCHED);
}

#define CAST "spare cast settle gemm finish "
#define LIBRARY "spare settle gemm finish "

/* The words of a lane serve one candidate after the other: once they could not
 * be cleared, none follows. */
static void
test_try(void **state)
{
	static const struct try rows[] = {
		{ NULL, 0, { 0 }, 3, 0,
		    "borrow " CAST LIBRARY "return tried" },
		/* Finished all the same, for the next one. */
		{ NULL, 0, { CUBLAS_STATUS_NOT_SUPPORTED }, 2, 1,
		    "borrow " CAST LIBRARY "return tried" },
		{ NULL, 0, { CUBLAS_STATUS_EXECUTION_FAILED }, 2, 1,
		    "borrow " CAST LIBRARY "return tried" },
		{ NULL, 0, { 0, CUBLAS_STATUS_NOT_SUPPORTED }, 1, 2,
		    "borrow " CAST LIBRARY "return tried" },
		{ "finish", 1, { CUBLAS_STATUS_NOT_SUPPORTED }, 0, 1,
		    "borrow " CAST "return-dirty tried" },
		{ "cast", 1, { 0 }, 0, 0,
		    "borrow spare cast return-dirty tried" },
		{ "settle", 2, { 0 }, 1, 0,
		    "borrow " CAST "spare settle return-dirty tried" },
		{ "spare", 2, { 0 }, 1, 0,
		    "borrow " CAST "spare return-dirty tried" },
		{ "finish", 1, { 0 }, 0, 0,
		    "borrow " CAST "return-dirty tried" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		start(0);
		turn.kind = AC_TURN_TRY;
		check_try(&rows[i]);
		assert_true(request.wants_handle);
	}
}

/* One of the two. Without a cast nothing is cast. */
static void
test_try_one(void **state)
{
	static const struct try cast_alone = { NULL, 0, { 0 }, 1, 0,
		"borrow " CAST "return tried" },
	    library_alone = { NULL, 0, { 0 }, 2, 0,
		"borrow " LIBRARY "return tried" };

	(void)state;
	start(0);
	turn.kind = AC_TURN_TRY;
	turn.tries = 1;
	check_try(&cast_alone);
	assert_true(request.wants_handle);
	assert_int_equal(finished.post, 64);
	assert_ptr_equal(finished.history, loan.spare);
	start(0);
	turn.kind = AC_TURN_TRY;
	turn.tries = 2;
	check_try(&library_alone);
	assert_false(request.wants_handle);
	assert_int_equal(finished.post, 128);
}

static void
test_try_without_lane(void **state)
{
	(void)state;
	start(0);
	borrowed = AC_REASON_WORKSPACE;
	assert_int_equal(ac_recipe_try(&job.call), AC_REASON_WORKSPACE);
	assert_string_equal(events, "borrow tried");
	assert_true(queued == 0 && refused == 0);
	start(0);
	g.k = INT64_MAX / 2;
	assert_int_equal(ac_recipe_try(&job.call), AC_REASON_WORKSPACE);
	assert_string_equal(events, "tried");
}

/* The library's product of a try: on the program's handle with its alpha, but
 * without C. */
static void
check_product(void)
{
	turn.kind = AC_TURN_TRY;
	assert_int_equal(ac_recipe_try(&job.call), AC_REASON_PROBATION);
	assert_ptr_equal(issued.handle, g.handle);
	assert_ptr_equal(issued.alpha, &alpha);
	assert_ptr_equal(issued.a.data, g.a.data);
	assert_int_equal(issued.a.type, CUDA_R_32F);
	assert_ptr_equal(issued.b.data, g.b.data);
	assert_int_equal(issued.compute, CUBLAS_COMPUTE_32F_FAST_TF32);
	assert_non_null(finished.output.result);
	assert_ptr_equal(issued.c.data, finished.output.result);
	assert_int_equal(issued.c.type, CUDA_R_32F);
	assert_int_equal(issued.c.ld, 5);
	assert_int_equal(finished.output.write_through, 0);
	assert_null(finished.operand[0].to);
	assert_null(finished.operand[1].to);
}

static void
test_try_product(void **state)
{
	(void)state;
	start(0);
	check_product();
	assert_true(*(const float *)issued.beta == 0);
	start(0);
	job.alpha = (struct ac_cast_scalar){ .device = &alpha };
	check_product();
	assert_ptr_equal(issued.beta, &loan.state->zero);
	start(0);
	g.batch = 2;
	g.c.stride = 300;
	check_product();
	assert_int_equal(issued.c.stride, 5 * 6);
}

/* ---- Strict -------------------------------------------------------------- */

static void
test_strict(void **state)
{
	static const struct {
		const char    *fails;
		cublasStatus_t answer;
		enum ac_reason reason;
		const char    *events;
	} rows[] = {
		{ NULL, 0, AC_REASON_NONE,
		    "borrow cast settle gemm finish judge write return" },
		/* Judged and found wanting: all is finished, C is as it was. */
		{ "judge", 0, AC_REASON_GUARD,
		    "borrow cast settle gemm finish judge return" },
		{ "write", 0, AC_REASON_REFUSED, "borrow cast settle gemm "
		    "finish judge write return-dirty" },
		{ "cast", 0, AC_REASON_OUT_OF_MEMORY,
		    "borrow cast return-dirty" },
		{ "finish", 0, AC_REASON_OUT_OF_MEMORY,
		    "borrow cast settle gemm finish return-dirty" },
		{ NULL, CUBLAS_STATUS_NOT_SUPPORTED, AC_REASON_REFUSED,
		    "borrow cast settle gemm return-dirty" },
		/* Nothing of C was written: the original may still be made. */
		{ NULL, CUBLAS_STATUS_EXECUTION_FAILED, AC_REASON_REFUSED,
		    "borrow cast settle gemm return-dirty" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum ac_reason reason;

		start(0);
		turn.kind = AC_TURN_STRICT;
		fails = rows[i].fails;
		answers[0] = rows[i].answer;
		reason = ac_recipe_strict(&job.call);
		if (reason != rows[i].reason
		    || strcmp(events, rows[i].events))
			fail_msg("reason %d, %s", (int)reason, events);
		assert_int_equal(status, reason == AC_REASON_NONE ? 0
		    : UNTOUCHED);
	}
	assert_int_equal(finished.post, 32);
	assert_ptr_not_equal(finished.history, loan.spare);
	assert_non_null(finished.output.result);
	assert_ptr_equal(issued.c.data, finished.output.result);
	start(0);
	borrowed = AC_REASON_CAPTURE;
	assert_int_equal(ac_recipe_strict(&job.call), AC_REASON_CAPTURE);
	assert_string_equal(events, "borrow");
	start(1);
	turn.kind = AC_TURN_STRICT;
	assert_int_equal(ac_recipe_strict(&job.call), AC_REASON_NONE);
	assert_string_equal(events,
	    "borrow settle gemm finish judge write return");
	assert_false(request.wants_handle);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_try),
		cmocka_unit_test(test_try_one),
		cmocka_unit_test(test_try_without_lane),
		cmocka_unit_test(test_try_product),
		cmocka_unit_test(test_strict),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
