/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_trial.c -- shim/trial*.c over posts and times that the test
 * makes up: which call does what, by its number. */
#include "shim/trial_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- A world of one context and one stream ------------------------------ */

static struct ac_recast_post posts[128];
static bool has_pages = true, event_passed = true;
static uint32_t epoch;
static unsigned events, waits;
static float elapsed_ms;

int
ac_scratch_relax(const struct ac_driver *driver)
{
	(void)driver;
	return 0;
}

void
ac_scratch_restore(const struct ac_driver *driver, int mode)
{
	(void)driver, (void)mode;
}

uint32_t
ac_scratch_epoch(const struct ac_scratch *scratch)
{
	(void)scratch;
	return epoch;
}

bool
ac_page_take(const struct ac_place *place, size_t bytes, void **host_out,
    ac_cu_address *device_out)
{
	assert_true(bytes <= sizeof posts);
	assert_int_equal(place->capture, 0);
	*host_out = posts;
	*device_out = (ac_cu_address)(uintptr_t)posts;
	return has_pages;
}

static ac_cu_result
create(ac_cu_event *event, unsigned flags)
{
	(void)flags;
	*event = (ac_cu_event)(uintptr_t)++events;
	return 0;
}

static ac_cu_result
destroy(ac_cu_event event)
{
	(void)event;
	return 0;
}

static ac_cu_result
record(ac_cu_event event, ac_cu_stream stream)
{
	(void)event, (void)stream;
	return 0;
}

static ac_cu_result
query(ac_cu_event event)
{
	(void)event;
	waits++;
	return event_passed ? 0 : 600;
}

static ac_cu_result
elapsed(float *ms, ac_cu_event start, ac_cu_event end)
{
	(void)start, (void)end;
	*ms = elapsed_ms;
	return 0;
}

static const struct ac_driver driver = {
	.cuEventCreate = create, .cuEventDestroy = destroy,
	.cuEventRecord = record, .cuEventQuery = query,
	.cuEventElapsedTime = elapsed
};
static const struct ac_place place = {
	.driver = &driver, .scratch = (struct ac_scratch *)8, .stream_id = 3
};
static const struct ac_place graph = {
	.driver = &driver, .scratch = (struct ac_scratch *)8, .stream_id = 3,
	.capture = 9
};

/* ---- A site that may use FP16 by cast, or TF32 --------------------------- */

static struct ac_decision
decision_of(enum ac_asked_guard guard)
{
	return (struct ac_decision){
		.rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST,
		.source = "test", .line = 1, .tol = 1e-3, .scaled = true,
		.guard = guard, .sample_period = 64, .judges_profit = true,
		.candidate_count = 2, .candidate = {
			{ AC_RUNG_FP16, AC_TACTIC_CAST, 1e-3, 1e-5 },
			{ AC_RUNG_TF32, AC_TACTIC_LIBRARY, 1e-3, 2e-5 }
		}, .keep_seconds = 1e-4
	};
}

static struct ac_trial *
make(const struct ac_decision *decision, bool may_time)
{
	static unsigned number;
	struct ac_site_key key;
	struct ac_site_record *site;

	memset(&key, 0, sizeof key);
	key.batch = 1;
	key.m = ++number; /* a site of its own */
	memset(posts, 0, sizeof posts);
	has_pages = event_passed = true;
	epoch = 1;
	elapsed_ms = 0;
	site = ac_report_site(&key, decision, "", NULL);
	return ac_trial_make(decision, &key, "", site, may_time);
}

static struct ac_turn
turn(struct ac_trial *t)
{
	struct ac_turn turn;

	ac_trial_turn(t, &place, &turn);
	return turn;
}

/* A post of `slot` for call `number`. */
static void
post(const struct ac_slot *slot, uint64_t number, float rho, float error)
{
	struct ac_recast_post *to = (struct ac_recast_post *)(uintptr_t)
	    slot->device;

	*to = (struct ac_recast_post){ .number = number, .rho = rho,
		.tile_rho = rho, .error = error, .line_error = error,
		.samples = 1 };
}

/* Try all candidates, with these errors. */
static void
try_with(struct ac_trial *t, const struct ac_turn *first, float fp16,
    float tf32)
{
	struct ac_slot slot = ac_trial_slot(t, 0);

	assert_int_equal(first->kind, AC_TURN_TRY);
	post(&slot, first->number, fp16 / 2, fp16);
	slot = ac_trial_slot(t, 1);
	post(&slot, first->number, 0, tf32);
	ac_trial_tried(t, &place, first, 3, 0);
}

static struct ac_trial *
settled(const struct ac_decision *decision, float fp16, float tf32)
{
	struct ac_trial *t = make(decision, false);
	const struct ac_turn first = turn(t);

	try_with(t, &first, fp16, tf32);
	return t;
}

/* Turns until call `last`; samples are good unless `error` says otherwise.
 * Returns the last one. */
static struct ac_turn
turns_until(struct ac_trial *t, uint64_t last, float error)
{
	struct ac_turn now;

	do {
		now = turn(t);
		if (!now.sampled)
			continue;
		post(&now.slot, now.number, 1e-4f, error);
		ac_trial_sampled(t, &now);
	} while (now.number < last);
	return now;
}

/* ---- Probation ----------------------------------------------------------- */

static void
test_probation(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now = turn(t);

	(void)state;
	assert_int_equal(now.number, 1);
	waits = 0;
	try_with(t, &now, 3e-4f, 3e-4f);
	assert_int_equal(waits, 0);
	now = turn(t);
	assert_int_equal(waits, 1);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, 0);
	now = turns_until(t, 1000, 3e-4f);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(waits, 1);
}

static void
test_ladder_at_probation(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 1e-2f, 3e-4f);
	struct ac_turn now = turn(t);

	(void)state;
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, 1);
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_CAST);
	assert_int_equal(ac_trial_record(t, 0)->course.demotions, 1);

	t = settled(&decision, 1e-2f, 1e-2f);
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_GUARD);
	assert_int_equal(ac_trial_record(t, AC_CANDIDATES)->reason,
	    AC_REASON_GUARD);

	t = settled(&decision, 0.0f / 0.0f, 3e-4f);
	assert_int_equal(turn(t).candidate, 1);
}

static void
test_nothing_posted(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now = turn(t);

	(void)state;
	ac_trial_tried(t, &place, &now, 3, 0);
	assert_int_equal(turn(t).kind, AC_TURN_KEEP);

	/* No place on the device: tried again 64 calls later. */
	t = make(&decision, false);
	now = turn(t);
	ac_trial_tried(t, &place, &now, 0, 0);
	for (int i = 2; i < 65; i++)
		assert_int_equal(turn(t).kind, AC_TURN_KEEP);
	assert_int_equal(turn(t).kind, AC_TURN_TRY);

	/* All refused: for good. */
	t = make(&decision, false);
	now = turn(t);
	ac_trial_tried(t, &place, &now, 0, 3);
	for (int i = 0; i < 200; i++)
		assert_int_equal(turn(t).kind, AC_TURN_KEEP);

	t = make(&decision, false);
	has_pages = false;
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_OUT_OF_MEMORY);
}

static void
test_capture(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now;

	(void)state;
	ac_trial_turn(t, &graph, &now);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_CAPTURE);
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	waits = 0;
	ac_trial_turn(t, &graph, &now);
	assert_int_equal(now.reason, AC_REASON_CAPTURE);
	assert_int_equal(waits, 0);
	assert_int_equal(turn(t).kind, AC_TURN_RECAST);
	for (int i = 0; i < 200; i++) {
		ac_trial_turn(t, &graph, &now);
		assert_int_equal(now.kind, AC_TURN_RECAST);
		assert_false(now.sampled);
	}
}

static void
test_after_and_doubt(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;

	(void)state;
	decision.after = 10;
	t = make(&decision, false);
	for (int i = 1; i <= 10; i++)
		assert_int_equal(turn(t).reason, AC_REASON_PROBATION);
	assert_int_equal(turn(t).kind, AC_TURN_TRY);

	decision.after = 0;
	decision.is_doubtful = true;
	t = make(&decision, false);
	for (int i = 1; i < 64; i++)
		assert_int_equal(turn(t).kind, AC_TURN_KEEP);
	assert_int_equal(turn(t).kind, AC_TURN_TRY);

	decision = decision_of(AC_GUARD_OFF);
	assert_null(make(&decision, false));
	decision.after = 3;
	t = make(&decision, false);
	for (int i = 1; i <= 3; i++)
		assert_int_equal(turn(t).kind, AC_TURN_KEEP);
	for (int i = 0; i < 200; i++) {
		const struct ac_turn now = turn(t);

		assert_int_equal(now.kind, AC_TURN_RECAST);
		assert_false(now.sampled);
	}
}

/* ---- Samples ------------------------------------------------------------- */

static void
test_demotion_at_fixed_call(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now = turns_until(t, 63, 3e-4f);

	(void)state;
	assert_int_equal(now.candidate, 0);
	now = turns_until(t, 64, 5e-2f);
	assert_true(now.sampled);
	now = turns_until(t, 127, 3e-4f);
	assert_int_equal(now.candidate, 0);
	now = turns_until(t, 128, 3e-4f);
	assert_int_equal(now.candidate, 1);
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_ERROR);
	/* And back to the first after a thousand calls, if it is good then. */
	now = turns_until(t, 1128 / 64 * 64, 3e-4f);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	for (now = turn(t); now.kind != AC_TURN_TRY; now = turn(t))
		assert_true(now.number < 1300);
	assert_int_equal(now.number, 1152);
	try_with(t, &now, 3e-4f, 3e-4f);
	now = turns_until(t, 1215, 3e-4f);
	assert_int_equal(now.candidate, 1);
	now = turns_until(t, 1216, 3e-4f);
	assert_int_equal(now.candidate, 0);
	assert_int_equal(ac_trial_record(t, 0)->course.retries, 1);
}

static void
test_late(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now = { 0 }, sampled;

	(void)state;
	for (sampled = turn(t); !sampled.sampled; sampled = turn(t))
		;
	ac_trial_sampled(t, &sampled);
	while (now.number < 128)
		now = turn(t);
	assert_int_equal(now.candidate, 0);
	assert_int_equal(ac_trial_record(t, 0)->course.late, 1);
	/* It comes at last, and counts at the next boundary. */
	post(&sampled.slot, sampled.number, 1e-4f, 1.0f);
	while (now.number < 191)
		now = turn(t);
	assert_int_equal(now.candidate, 0);
	assert_int_equal(turn(t).candidate, 1);
	assert_int_equal(ac_trial_record(t, 0)->course.late, 1);
}

static void
test_periods(void **state)
{
	static const uint32_t periods[] = { 1, 3, 16, 48, 64, 100, 1000 };
	struct ac_decision decision = decision_of(AC_GUARD_ON);

	(void)state;
	for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
		const uint32_t period = periods[i];
		uint64_t bad = 0, left = 0;
		struct ac_trial *t;

		decision.sample_period = period;
		t = settled(&decision, 3e-4f, 3e-4f);
		while (!left) {
			const struct ac_turn now = turn(t);

			assert_int_equal(now.sampled, now.number % period == 0);
			if (now.candidate == 1)
				left = now.number;
			if (!now.sampled)
				continue;
			if (now.number >= 2000 && !bad)
				bad = now.number;
			post(&now.slot, now.number, 1e-4f,
			    bad == now.number ? 1.0f : 3e-4f);
			ac_trial_sampled(t, &now);
		}
		assert_true(left >= bad + 64);
		assert_true(left < bad + 64 + period);
	}
}

static void
test_reset(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);

	(void)state;
	turns_until(t, 100, 3e-4f);
	epoch++; /* what is posted from now on comes from another context */
	memset(posts, 0, sizeof posts);
	assert_int_equal(turns_until(t, 192, 3e-4f).sampled, true);
	turns_until(t, 255, 1.0f);
	assert_int_equal(turns_until(t, 256, 3e-4f).candidate, 0);
}

static void
test_strict(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_STRICT);
	struct ac_trial *t = make(&decision, true);
	struct ac_turn now = turn(t);

	(void)state;
	assert_int_equal(now.kind, AC_TURN_STRICT);
	post(&now.slot, now.number, 1e-4f, 3e-4f);
	assert_true(ac_trial_judge_now(t, &now));
	now = turn(t);
	post(&now.slot, now.number, 1e-4f, 1.0f);
	assert_false(ac_trial_judge_now(t, &now));
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_STRICT);
	assert_int_equal(now.candidate, 1);
	assert_false(ac_trial_judge_now(t, &now)); /* nothing was posted */
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_GUARD);
	while (now.number < 1002)
		now = turn(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_STRICT);
	assert_int_equal(now.candidate, 0);
	ac_trial_turn(t, &graph, &now);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_CAPTURE);
}

/* ---- Times --------------------------------------------------------------- */

/* Run the rounds: FP16 takes `fp16` ms and so on; returns what stays. */
static struct ac_turn
timed(struct ac_trial *t, float fp16, float tf32, float keep)
{
	const float times[] = { fp16, tf32, 0, 0, keep };
	struct ac_turn now;
	unsigned seen[AC_CANDIDATES + 1] = { 0 };

	for (now = turn(t); now.number < 150; now = turn(t)) {
		if (!now.timing)
			continue;
		const size_t which = (size_t)(now.timing - t->timing);

		if (now.kind == AC_TURN_KEEP)
			assert_int_equal(which, AC_CANDIDATES);
		else
			assert_int_equal(which, now.candidate);
		elapsed_ms = times[which];
		assert_true(ac_timing_begin(now.timing, &place));
		ac_timing_end(now.timing, &place);
		ac_timing_read(now.timing, &place);
		seen[which] += now.number < 100; /* later: a sample's */
	}
	assert_int_equal(seen[0], 4);
	assert_int_equal(seen[1], 4);
	assert_int_equal(seen[AC_CANDIDATES], 4);
	return now;
}

static void
test_times(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_turn now;
	struct ac_trial *t = make(&decision, true);

	(void)state;
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	now = timed(t, 2, 1, 10);
	assert_int_equal(now.candidate, 1);
	assert_true(ac_trial_record(t, 1)->course.recast_us == 1000);
	assert_true(ac_trial_record(t, 1)->course.keep_us == 10000);

	t = make(&decision, true);
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	now = timed(t, 2, 3, 1);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_NO_PROFIT);
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_SLOW);

	/* Two per cent are no difference; profit=off does not judge. */
	t = make(&decision, true);
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	assert_int_equal(timed(t, 1, 0.99f, 10).candidate, 0);
	decision.judges_profit = false;
	t = make(&decision, true);
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	assert_int_equal(timed(t, 3, 2, 1).candidate, 0);
}

static void
test_streams_apart(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_place other = place;
	struct ac_trial *t, *apart;

	(void)state;
	other.stream_id = 4;
	t = make(&decision, false);
	assert_ptr_equal(ac_trial_of(t, &other), t);
	decision.reproducible = true;
	t = make(&decision, true);
	apart = ac_trial_of(t, &other);
	assert_ptr_not_equal(apart, ac_trial_of(t, &place));
	assert_ptr_equal(apart, ac_trial_of(t, &other));
	turn(apart);
	assert_int_equal(turn(ac_trial_of(t, &place)).number, 1);
	assert_true(ac_trial_wants_place(t));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probation),
		cmocka_unit_test(test_ladder_at_probation),
		cmocka_unit_test(test_nothing_posted),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_after_and_doubt),
		cmocka_unit_test(test_demotion_at_fixed_call),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_streams_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
