/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_gemm_ways.c -- what the conductor is given of a product,
 * and what the ways of a product do. */
#include "tests/unit/shim/gemm_world.h"

#include "shim/trial/pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void
test_job(void **state)
{
	static struct ac_site_state remembered;
	struct ac_gemm g = good();

	(void)state;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_ptr_equal(seen.call.decision, &site.decision);
	assert_ptr_equal(seen.call.record, &record);
	assert_null(seen.call.trial);
	assert_int_equal(seen.call.device, 3);
	assert_true(seen.call.operands == ac_pair_key(at(A_AT), at(B_AT)));
	site.state = &remembered;
	g.in_arrays = true;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_null(seen.call.trial);
	assert_true(seen.call.operands == 0);
	remembered.wants_trial = true;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_ptr_equal(seen.call.trial, at(8));
	site.state = NULL;
}

static void
test_ways(void **state)
{
	static const struct ac_candidate cast = { .tactic = AC_TACTIC_CAST },
	    library = { .tactic = AC_TACTIC_LIBRARY };
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct ac_gemm g = good();
	ac_cu_stream stream;

	(void)state;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_false(ways.needs_place);
	seen.status_out = &status;
	seen.call.candidate = &cast;
	assert_int_equal(ways.recast(&seen.call), AC_REASON_NONE);
	assert_string_equal(ran, "cast");
	/* What failed and left C alone gives way to the original. */
	status = CUBLAS_STATUS_EXECUTION_FAILED;
	assert_int_equal(ways.recast(&seen.call), AC_REASON_REFUSED);
	status = CUBLAS_STATUS_SUCCESS;
	seen.call.candidate = &library;
	assert_int_equal(ways.recast(&seen.call), AC_REASON_NONE);
	assert_string_equal(ran, "library");
	assert_int_equal(ways.strict(&seen.call), AC_REASON_GUARD);
	assert_int_equal(ways.try_all(&seen.call), AC_REASON_PROBATION);
	assert_int_equal(ways.find_stream(&seen.call, &stream),
	    AC_REASON_NONE);
	assert_ptr_equal(stream, at(77));
	stream_status = CUBLAS_STATUS_NOT_INITIALIZED;
	assert_int_equal(ways.find_stream(&seen.call, &stream),
	    AC_REASON_REFUSED);
	stream_status = CUBLAS_STATUS_SUCCESS;
}

/* What a call writes, and whether it adds to that: as beta says where it was
 * read, else it may. */
static void
check_writes(bool has_place, float value, const float *device, bool adds)
{
	static const struct ac_place place;

	writes = 0;
	beta_read = (struct ac_cast_scalar){ value, 0, device };
	seen.call.place = has_place ? &place : NULL;
	ways.prepare(&seen.call);
	assert_int_equal(writes, seen.g->in_arrays ? 2 : 1);
	assert_ptr_equal(written[0].c, at(C_AT));
	assert_null(written[1].c);
	assert_int_equal(written[0].adds, adds);
	assert_int_equal(written[1].adds, seen.g->in_arrays && adds);
	memset(written, 0, sizeof written);
}

static void
test_writes(void **state)
{
	struct ac_gemm g = good();

	(void)state;
	for (int arrays = 0; arrays < 2; arrays++) {
		g.in_arrays = arrays != 0;
		assert_int_equal(reason_of(&g), AC_REASON_NONE);
		seen.call.trial = (struct ac_trial *)(uintptr_t)8;
		check_writes(true, 0, NULL, false);
		check_writes(true, 1, NULL, true);
		check_writes(true, 0, at(8), true);
		check_writes(false, 0, NULL, true);
	}
	writes = 0;
	seen.call.trial = NULL;
	ways.prepare(&seen.call);
	assert_int_equal(writes, 0);
}

/* C apart from D: what it holds counts, D begins. */
static void
test_writes_apart(void **state)
{
	static const struct ac_place place;
	const struct ac_gemm_tail apart = { .added = { at(A_AT), M, 0 } };
	const struct ac_gemm_tail same = { .epilogue = { .is_set = 1 } };
	struct ac_gemm g = good();

	(void)state;
	for (int round = 0; round < 3; round++) {
		const bool adds = round > 0, is_apart = round < 2;

		g.tail = is_apart ? &apart : &same;
		g.a.data = at(4 * A_AT);
		assert_int_equal(reason_of(&g), AC_REASON_NONE);
		seen.call.trial = (struct ac_trial *)(uintptr_t)8;
		seen.call.place = &place;
		beta_read = (struct ac_cast_scalar){ adds, 0, NULL };
		writes = 0;
		read_c = NULL;
		ways.prepare(&seen.call);
		assert_int_equal(writes, 1);
		assert_ptr_equal(written[0].c, at(C_AT));
		assert_int_equal(written[0].adds, adds && !is_apart);
		assert_ptr_equal(read_c, adds && is_apart ? at(A_AT) : NULL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_writes),
		cmocka_unit_test(test_writes_apart),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
