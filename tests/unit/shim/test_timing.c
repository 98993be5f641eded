/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_timing.c -- pairs of events: what is measured, and who
 * does without. */
#include "shim/trial/timing.h"

#include "tests/unit/shim/event_device.h"

/* One that takes `ms`. */
static void
measure(struct ac_timing *timing, double ms, bool done)
{
	const struct ac_place place = here(false);

	assert_true(ac_timing_begin(timing, &place));
	device_ms += ms;
	ac_timing_end(timing, &place, done);
}

CASE(test_least)
{
	const struct ac_driver old = { .cuEventCreate = create_event };
	struct ac_timing timing = { .count = 0 };
	struct ac_place place;

	begin_device();
	place = here(true);
	assert_false(ac_timing_begin(&timing, &place));
	place = here(false);
	place.driver = &old;
	assert_false(ac_timing_begin(&timing, &place));
	assert_int_equal(made, 0);
	place = here(false);
	measure(&timing, 3, true);
	measure(&timing, 1, true);
	measure(&timing, 0.5, false);
	measure(&timing, 0, true);
	measure(&timing, 2, true);
	ac_timing_read(&timing, &place);
	ac_timing_read(&timing, &place);
	assert_int_equal(timing.count, 3);
	assert_true(timing.least_us == 1000);
	measure(&timing, 0.5, true);
	fails = 'T';
	ac_timing_read(&timing, &place);
	fails = 'R';
	assert_false(ac_timing_begin(&timing, &place));
	fails = 0;
	assert_true(ac_timing_begin(&timing, &place));
	fails = 'R';
	ac_timing_end(&timing, &place, true);
	fails = 0;
	ac_timing_read(&timing, &place);
	assert_int_equal(timing.count, 3);
	assert_int_equal(made, 2);
}

/* Who finds it taken, or not there yet, does without. */
CASE(test_taken)
{
	struct ac_timing timing = { .count = 0 };
	struct ac_place place, other;

	begin_device();
	place = other = here(false);
	other.scratch = (struct ac_scratch *)(uintptr_t)48;
	assert_false(ac_timing_read(&timing, &place));
	assert_true(ac_timing_begin(&timing, &place));
	assert_false(ac_timing_begin(&timing, &place));
	assert_true(ac_timing_read(&timing, &place));
	ac_timing_drop(&timing, &place);
	device_ms += 1;
	is_standing = true;
	ac_timing_end(&timing, &place, true);
	assert_true(ac_timing_read(&timing, &place));
	assert_false(ac_timing_begin(&timing, &place));
	ac_timing_drop(&timing, &place);
	assert_int_equal(live(), 2);
	/* Nobody may ask now, and nobody there. */
	catch_up();
	asked = 0;
	device.is_captured = true;
	assert_true(ac_timing_read(&timing, &place));
	device.is_captured = false;
	assert_true(ac_timing_read(&timing, &other));
	assert_int_equal(asked, 0);
	assert_false(ac_timing_read(&timing, &place));
	assert_int_equal(timing.count, 1);
	/* The measurements stay. */
	ac_timing_drop(&timing, &place);
	ac_timing_drop(&timing, &place);
	assert_int_equal(live(), 0);
	measure(&timing, 2, true);
	ac_timing_read(&timing, &place);
	assert_int_equal(timing.count, 2);
	assert_true(timing.least_us == 1000);
	/* In another context other events. */
	measure(&timing, 0.5, true);
	device.epoch++;
	place = here(false);
	ac_timing_drop(&timing, &place);
	measure(&timing, 2, true);
	ac_timing_read(&timing, &place);
	assert_int_equal(timing.count, 3);
	assert_true(timing.least_us == 1000 && live() == 2);
}

CASES_RUN(NULL, NULL)
