/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_job.c -- what a call asks of the kernels that judge
 * it. */
#include "shim/device/handle.h"
#include "shim/gemm/recipe.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- What a job borrows, which these calls do not ---------------------- */

__thread struct ac_handle_cache ac_handle_last;
_Atomic uint32_t ac_handle_generation;

const struct ac_handle *
ac_handle_search(const void *handle)
{
	(void)handle;
	return NULL;
}

ac_fn
ac_provider_look_up(struct ac_provider *provider, enum ac_entry entry)
{
	(void)provider;
	(void)entry;
	return NULL;
}

enum ac_reason
ac_lane_borrow(const struct ac_lane_request *request,
    const struct ac_place *place, struct ac_lane_loan *loan_out)
{
	(void)request;
	(void)place;
	(void)loan_out;
	return AC_REASON_OUT_OF_MEMORY;
}

struct ac_recast_history *
ac_lane_spare(const struct ac_lane_loan *loan)
{
	(void)loan;
	return NULL;
}

struct ac_recast_history *
ac_history_find(ac_histories *list, const struct ac_place *place,
    unsigned candidate, uint64_t limit_bytes)
{
	(void)list;
	(void)place;
	(void)candidate;
	(void)limit_bytes;
	return NULL;
}

uint32_t
ac_trial_epoch(const struct ac_trial *trial)
{
	(void)trial;
	return 0;
}

ac_histories *
ac_trial_histories(struct ac_trial *trial)
{
	(void)trial;
	return NULL;
}

unsigned
ac_trial_count(const struct ac_trial *trial)
{
	(void)trial;
	return 0;
}

struct ac_site_record *
ac_trial_record(struct ac_trial *trial, unsigned candidate)
{
	(void)trial;
	(void)candidate;
	return NULL;
}

/* ---- The sample -------------------------------------------------------- */

/* What a call of such a site is judged by. */
static struct ac_layout
plan_of(enum ac_asked_guard guard, bool exact, uint32_t before)
{
	static struct ac_site_record record = { .id = 1 };
	const struct ac_site site = { .record = &record,
		.decision = { .guard = guard, .exact = exact,
		.sample_period = 64 } };
	struct ac_turn turn = { .kind = AC_TURN_RECAST, .number = 64 };
	const struct ac_slot slot = { .device = 4096 };
	const struct ac_candidate candidate = { .tol = 0.25 };
	const struct ac_job job = { .site = &site,
		.call = { .turn = &turn, .candidate = &candidate } };
	static float bands[2];
	struct ac_layout plan = { .recast = { .judge = before,
		.bands = { &bands[0], &bands[1] } } };

	ac_job_sample(&job, &slot, &plan);
	assert_int_equal(plan.recast.number, 64);
	assert_true(plan.recast.sampled);
	assert_true(plan.recast.tol == (guard == AC_GUARD_OFF ? 0 : 0.25f));
	return plan;
}

static uint32_t
judged_by(enum ac_asked_guard guard, bool exact, uint32_t before)
{
	return plan_of(guard, exact, before).recast.judge;
}

/* Without a guard nobody wants to know: nothing is stored for it. */
static void
test_estimate(void **state)
{
	(void)state;
	for (int guard = AC_GUARD_OFF; guard <= AC_GUARD_STRICT; guard++) {
		const struct ac_layout plan =
		    plan_of((enum ac_asked_guard)guard, false, 0);
		const bool guarded = guard != AC_GUARD_OFF;

		assert_int_equal(plan.recast.bands[0] != NULL, guarded);
		assert_int_equal(plan.recast.bands[1] != NULL, guarded);
	}
}

static void
test_exact(void **state)
{
	(void)state;
	assert_int_equal(judged_by(AC_GUARD_ON, true, 0), AC_JUDGE_EXACT);
	assert_int_equal(judged_by(AC_GUARD_STRICT, true, 0), AC_JUDGE_EXACT);
	assert_int_equal(judged_by(AC_GUARD_ON, false, AC_JUDGE_EXACT), 0);
	assert_int_equal(judged_by(AC_GUARD_STRICT, false, 0), 0);
	assert_int_equal(judged_by(AC_GUARD_OFF, true, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_estimate),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
