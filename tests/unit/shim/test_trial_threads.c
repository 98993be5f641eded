/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_trial_threads.c -- many threads that make the calls of
 * one site, which is demoted and tried again: one thread owns a try from its
 * beginning to its end, and no verdict is passed by. ThreadSanitizer looks for
 * more. */
#include "tests/unit/shim/trial_world.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 8, CALLS = 20000, PAIRS = 2 };

struct crowd {
	struct ac_trial *trial;
	_Atomic uint32_t names, begun, running, together;
	_Atomic uint32_t recast, sampled;
	_Atomic bool     is_bad;
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
	to->energy[0] = (float)number;
	__atomic_store_n(&to->number, number, __ATOMIC_RELEASE);
}

/* What the others do meanwhile takes no part in it. */
static void
run_try(struct crowd *crowd, const struct ac_turn *now, float error)
{
	struct ac_trial *t = crowd->trial;

	if (atomic_fetch_add(&crowd->running, 1))
		crowd->together++;
	crowd->begun++;
	for (int i = 0; i < 20; i++)
		sched_yield();
	for (unsigned i = 0; i < ac_trial_count(t); i++)
		if (now->tries >> i & 1) {
			const struct ac_slot slot = ac_trial_slot(t, now, i);

			post_behind(&slot, now->number, error);
		}
	crowd->running--;
	ac_trial_tried(t, now, now->tries, 0);
}

static uint64_t
make_call(struct crowd *crowd, uint64_t name)
{
	struct ac_trial *t = crowd->trial;
	const bool is_bad = crowd->is_bad && name == 1;
	const float error = is_bad ? 0.3f : 3e-4f;
	struct ac_turn now = turn_of(t, &here, name);

	if (now.kind == AC_TURN_TRY)
		run_try(crowd, &now, error);
	crowd->recast += now.kind == AC_TURN_RECAST;
	if (now.sampled) {
		crowd->sampled++;
		post_behind(&now.slot, now.number, error);
		ac_trial_sampled(t, &now);
	}
	ac_trial_turn_over(t, &now);
	return now.number;
}

static void *
call_all(void *argument)
{
	struct crowd *crowd = argument;
	const uint64_t name = 1 + crowd->names++ % PAIRS;
	uint64_t number;

	do {
		number = make_call(crowd, name);
		/* A call takes longer than this one: all threads have their
		 * share of the calls. */
		sched_yield();
		for (int i = 0; i < 50 && crowd->running; i++)
			sched_yield();
		/* Bad until one is left for it, then good: it comes back. */
		crowd->is_bad = number > CALLS / 10 && !ac_trial_record(
		    crowd->trial, 0)->course.demotions;
	} while (number < CALLS);
	return NULL;
}

static void
run_crowd(struct crowd *crowd)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, call_all,
		    crowd), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(crowd->together, 0);
	assert_int_equal(crowd->trial->v->judge, 0);
}

/* Half of the threads have a pair that turns bad and comes back. */
static void
test_one_try_at_a_time(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct crowd crowd = { .names = 0 };
	const struct ac_site_course *course;

	(void)state;
	decision.candidate_count = 1;
	decision.sample_period = 8;
	crowd.trial = make(&decision, false);
	run_crowd(&crowd);
	course = &ac_trial_record(crowd.trial, 0)->course;
	assert_true(course->demotions >= 1);
	assert_true(course->retries <= CALLS / TRIAL_RETRY);
	assert_true(crowd.begun <= 3 + course->retries * 2 * TRIAL_PROOF);
	assert_true(crowd.recast > CALLS / 2);
	assert_true(crowd.sampled > CALLS / 2 / (8 + 1) / 2);
	/* None is left over but those of the last calls. */
	assert_in_range(__builtin_popcountll(crowd.trial->v->open), 0,
	    2 * TRIAL_LAG / 8 + THREADS);
}

/* Every candidate's cost, slots, evidence and pairs are touched by all: two
 * candidates, times that are measured. */
static void
test_two_candidates(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct crowd crowd = { .trial = make(&decision, true) };

	(void)state;
	run_crowd(&crowd);
	assert_true(crowd.recast > 0);
}

/* ---- Who judges -------------------------------------------------------- */

static void *
begin_and_end(void *argument)
{
	struct ac_trial *t = argument;

	(void)turn(t);                /* a try, never ended */
	return NULL;
}

/* A thread that ended in the middle of a try judges no more, nor does what a
 * signal handler has jumped out of; and what the try had taken is free
 * again. */
static void
test_judge_is_gone(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	pthread_t thread;
	struct ac_turn now;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, begin_and_end, t), 0);
	pthread_join(thread, NULL);
	assert_int_not_equal(t->v->judge, 0);
	now = turn(t);                /* jumped out of */
	assert_int_equal(now.kind, AC_TURN_TRY);
	assert_int_equal(call(t).kind, AC_TURN_TRY);
	assert_int_equal(__builtin_popcountll(t->v->open), 2);
	(void)call(t);
	(void)call(t);
	assert_int_equal(call(t).kind, AC_TURN_RECAST);
}

static void *
hold_it(void *argument)
{
	struct ac_trial *t = argument;

	return ac_trial_hold(t, false) ? t : NULL;
}

/* One that is alive does: in the child of a fork it does not. */
static void
test_judge_is_there(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	pthread_t thread;
	void *held;
	int status;
	pid_t child;

	(void)state;
	assert_true(ac_trial_hold(t, false));
	assert_int_equal(pthread_create(&thread, NULL, hold_it, t), 0);
	pthread_join(thread, &held);
	assert_null(held);
	child = fork();
	if (!child)
		_exit(ac_trial_hold(t, false) ? 7 : 8);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WEXITSTATUS(status), 7);
	ac_trial_release(t);
}

/* ---- Nobody goes on without a verdict ---------------------------------- */

static void *
make_hundred(void *argument)
{
	struct crowd *crowd = argument;

	for (int i = 0; i < 100; i++)
		(void)make_call(crowd, 2);
	return NULL;
}

/* The device is behind. While one thread waits for what it will post, the
 * others do not recast on and on. */
static void
test_all_wait(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct crowd crowd = { .trial = settled(&decision, 3e-4f, 3e-4f) };
	struct ac_trial *t = crowd.trial;
	pthread_t thread[4];
	struct ac_turn sampled = turn(t);

	(void)state;
	assert_true(sampled.sampled);
	ac_trial_sampled(t, &sampled);
	ac_trial_turn_over(t, &sampled);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, make_hundred,
		    &crowd), 0);
	usleep(300000);
	/* They have come to the call where the verdict is due, each of them. */
	assert_in_range(*t->v->calls, sampled.number + TRIAL_LAG,
	    sampled.number + TRIAL_LAG + 3);
	post_behind(&sampled.slot, sampled.number, 3e-4f);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_true(crowd.recast >= 390);
}

/* The same before the site has settled: while one thread tries, or reads what
 * tries have shown, the others do not run the original on and on. */
static void
test_all_wait_in_probation(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct crowd crowd = { .trial = make(&decision, false) };
	struct ac_trial *t = crowd.trial;
	struct ac_turn first = turn(t);
	pthread_t thread[4];

	(void)state;
	assert_int_equal(first.kind, AC_TURN_TRY);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, make_hundred,
		    &crowd), 0);
	usleep(300000);
	assert_int_equal(*t->v->calls, first.number + 4);
	run_try(&crowd, &first, 3e-4f);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	/* Two more tries. Each of the three threads that wait meanwhile may
	 * have a number before the next one's. */
	assert_in_range(crowd.recast, 400 - 2 - 2 * 3, 400 - 2);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_try_at_a_time),
		cmocka_unit_test(test_two_candidates),
		cmocka_unit_test(test_judge_is_gone),
		cmocka_unit_test(test_judge_is_there),
		cmocka_unit_test(test_all_wait),
		cmocka_unit_test(test_all_wait_in_probation),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
