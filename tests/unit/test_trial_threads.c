/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_trial_threads.c -- many threads that make the calls of one
 * site, which is demoted and tried again: one thread owns a try from its
 * beginning to its end. ThreadSanitizer looks for more. */
#include "tests/unit/trial_world.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { THREADS = 8, CALLS = 20000, RETRIES = CALLS / TRIAL_RETRY };

struct crowd {
	struct ac_trial *trial;
	_Atomic uint32_t begun, running, together;
	_Atomic uint32_t soonest;       /* calls from one try to the next */
	_Atomic uint64_t last;          /* the call that tried */
};

/* As a kernel posts: the number last. */
static void
post_behind(const struct ac_slot *slot, uint64_t number, float error)
{
	struct ac_recast_post *to = (struct ac_recast_post *)(uintptr_t)
	    slot->device;

	to->rho = to->tile_rho = 1e-5f;
	to->error = to->line_error = error;
	to->verdict = 0;
	to->samples = 1;
	__atomic_store_n(&to->number, number, __ATOMIC_RELEASE);
}

/* Whether the others have come past boundaries since the last try began. */
static bool
are_far(const struct crowd *crowd)
{
	return crowd->trial->calls >= crowd->last + 8 * crowd->trial->period;
}

static void
run_try(struct crowd *crowd, const struct ac_turn *now)
{
	struct ac_trial *t = crowd->trial;
	const uint64_t last = atomic_exchange(&crowd->last, now->number);
	struct ac_slot slot;

	if (atomic_fetch_add(&crowd->running, 1))
		crowd->together++;
	if (crowd->begun++ && now->number - last < crowd->soonest)
		crowd->soonest = (uint32_t)(now->number - last);
	while (!are_far(crowd) && t->calls < CALLS && !crowd->together)
		sched_yield();
	for (unsigned i = 0; i < 2; i++) {
		slot = ac_trial_slot(t, i);
		post_behind(&slot, now->number, i == 0 ? 1e-2f : 3e-4f);
	}
	crowd->running--;
	ac_trial_tried(t, &here, now, 3, 0);
}

static void *
call(void *argument)
{
	struct crowd *crowd = argument;
	struct ac_trial *t = crowd->trial;
	struct ac_turn now;

	do {
		ac_trial_turn(t, &here, &now);
		if (now.kind == AC_TURN_TRY)
			run_try(crowd, &now);
		if (now.sampled) {
			post_behind(&now.slot, now.number, 3e-4f);
			ac_trial_sampled(t, &now);
		}
		ac_trial_turn_over(t, &now);
		while (crowd->running && are_far(crowd))
			sched_yield();
	} while (now.number < CALLS);
	return NULL;
}

/* FP16 fails each time, so it is tried again and again. */
static void
test_one_try_at_a_time(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct crowd crowd = { .trial = make(&decision, false),
		.soonest = UINT32_MAX };
	pthread_t thread[THREADS];
	uint32_t retries;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, call,
		    &crowd), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	retries = ac_trial_record(crowd.trial, 0)->course.retries;
	assert_int_equal(crowd.together, 0);
	assert_int_equal(crowd.begun, 1 + retries);
	assert_in_range(retries, RETRIES / 4, RETRIES);
	assert_true(crowd.soonest >= TRIAL_RETRY);
	assert_int_equal(ac_trial_record(crowd.trial, 0)->course.demotions,
	    crowd.begun);
	assert_int_equal(crowd.trial->judge, 0);
}

/* A retry without memory for its posts is none, and holds nobody up. */
static void
test_retry_without_slots(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 1e-2f, 3e-4f);
	struct ac_turn now = turns_until(t, 900, 3e-4f);

	(void)state;
	epoch++;                  /* the context and its slots are gone */
	has_pages = false;
	now = turns_until(t, 1300, 3e-4f);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(ac_trial_record(t, 0)->course.retries, 0);
	has_pages = true;
	for (; now.kind != AC_TURN_TRY; now = turn(t))
		assert_true(now.number < 1400);
	assert_int_equal(ac_trial_record(t, 0)->course.retries, 1);
	try_with(t, &now, 3e-4f, 3e-4f);
	now = turns_until(t, now.number + 64, 3e-4f);
	assert_int_equal(now.candidate, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_try_at_a_time),
		cmocka_unit_test(test_retry_without_slots),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
