/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_trial_learn.c -- what is measured of a convolution under
 * learn=on: counted, judged by no tolerance, and never more than is on its
 * way. */
#include "tests/unit/cases.h"
#include "tests/unit/shim/idle_device.h"

#include "shim/device/mailbox.h"
#include "shim/trial/trial.h"

static struct ac_conv_post posts[AC_TRIAL_SLOTS];
static struct ac_decision decision = {
	.rung = AC_RUNG_FP16, .tactic = AC_TACTIC_LIBRARY, .source = "test",
	.line = 1, .tol = 1e-3, .guard = AC_GUARD_ON, .learns = true,
	.reproducible = true, .candidate_count = 2, .candidate = {
		{ AC_RUNG_FP16, AC_TACTIC_LIBRARY, 1e-3, 1e-5, 0 },
		{ AC_RUNG_TF32, AC_TACTIC_LIBRARY, 1e-3, 2e-5, 0 }
	}
};
static struct ac_trial trial;

/* One home of all streams. */
bool
ac_mailbox_take(const struct ac_place *place, size_t bytes, bool outlives,
    void **host_out, ac_cu_address *device_out)
{
	static bool is_taken;

	assert_false(is_taken);
	assert_int_equal(bytes, sizeof posts);
	is_taken = true;
	*host_out = posts;
	*device_out = (ac_cu_address)(uintptr_t)posts;
	return true;
}

/* Whether that call is measured, on that stream; what is not queued is over. */
static struct ac_conv_post *
measure(uint64_t number, unsigned candidate, uint64_t stream, bool is_queued)
{
	const struct ac_place place = { .epoch = 1, .stream_id = stream };
	struct ac_turn turn = { .kind = AC_TURN_LEARN, .number = number,
		.candidate = candidate };

	if (!ac_trial_learn(&trial, &place, &turn))
		return NULL;
	if (is_queued)
		ac_trial_queued(&turn, candidate);
	else
		ac_trial_over(&turn);
	return (void *)(uintptr_t)turn.slot[candidate]->device;
}

static const struct ac_site_course *
course_of(unsigned candidate)
{
	return &ac_variants_record(trial.variants, candidate,
	    AC_REASON_NONE)->course;
}

static void
arrive(struct ac_conv_post *to, struct ac_conv_post post)
{
	*to = post;
}

CASE(test_learning)
{
	struct ac_conv_post *first, *second;

	/* Three are on their way at once, of each candidate. */
	first = measure(1, 0, 1, true);
	second = measure(2, 0, 2, true);
	assert_non_null(first);
	assert_non_null(second);
	assert_non_null(measure(3, 0, 1, true));
	assert_null(measure(4, 0, 1, true));
	assert_non_null(measure(4, 1, 1, false));
	assert_int_equal(course_of(0)->judged, 0);
	/* Far beyond the rung's tolerance: that is for the reader to say. */
	arrive(first, (struct ac_conv_post){ .number = 1, .samples = 1,
	    .error = 0.5f, .line_error = 0.7f });
	arrive(second, (struct ac_conv_post){ .number = 2 }); /* zeros */
	assert_non_null(measure(5, 0, 1, true));
	assert_int_equal(course_of(0)->judged, 1);
	assert_true(course_of(0)->error == 0.5f);
	assert_true(course_of(0)->line_error == 0.7f);
	assert_int_equal(course_of(0)->finding, AC_FINDING_NONE);
	assert_int_equal(course_of(0)->demotions, 0);
	/* What no tolerance allows. */
	second = measure(6, 0, 1, true);
	assert_non_null(second);
	arrive(second, (struct ac_conv_post){ .number = 6, .samples = 1,
	    .error = 1e-4f, .verdict = AC_VERDICT_LARGE });
	assert_non_null(measure(7, 0, 1, true));
	assert_int_equal(course_of(0)->judged, 2);
	assert_int_equal(course_of(0)->finding, AC_FINDING_LARGE);
	/* What was not queued nobody waits for. */
	for (uint64_t i = 7; i < 100; i++)
		assert_non_null(measure(i, 1, 1, false));
	assert_int_equal(course_of(1)->judged, 0);
}

int
main(void)
{
	struct ac_site_key key;

	setenv("AUTOCAST_STATE", "off", 1); /* statistics: in memory */
	memset(&key, 0, sizeof key);
	key.m = key.batch = 1;
	trial.variants = ac_variants_make(&decision, ac_report_site(
	    &ac_outside, &key, &decision, "", NULL), false, 0);
	return cases_run(NULL, NULL);
}
