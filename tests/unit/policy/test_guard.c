/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_guard.c -- the guard's rule at its limits, one by one
 * and in its order. */
#include "policy/guard.h"
#include "tests/unit/cases.h"

#include <math.h>

#define TOL 1e-3
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static enum ac_finding
judge(double error, double line_error, double exact)
{
	const struct ac_guard_facts facts = { .error = error,
		.line_error = line_error, .exact = exact };

	return ac_guard_judge(&facts, TOL);
}

CASE(test_limits)
{
	assert_int_equal(judge(0, 0, 0), AC_FINDING_NONE);
	assert_int_equal(judge(0.8 * TOL, 3 * TOL, 1e-6), AC_FINDING_NONE);
	assert_int_equal(judge(0.81e-3, 0, 0), AC_FINDING_ERROR);
	assert_int_equal(judge(0, 3.01e-3, 0), AC_FINDING_LINE);
	assert_int_equal(judge(0, 0, 1.01e-6), AC_FINDING_EXACT);
	/* The first in the order of the list. */
	assert_int_equal(judge(0, 1, 1), AC_FINDING_LINE);
	assert_int_equal(judge(1, 1, 1), AC_FINDING_ERROR);
}

/* However accurate: the next one may be beyond the range. */
CASE(test_large)
{
	struct ac_guard_facts facts = { .error = 1, .large = true };

	assert_int_equal(ac_guard_judge(&facts, 1e9), AC_FINDING_LARGE);
	assert_int_equal(ac_guard_judge(&facts, TOL), AC_FINDING_LARGE);
}

CASE(test_not_a_number)
{
	const double bad[] = { (double)NAN, (double)INFINITY };
	size_t i;

	for (i = 0; i < COUNT(bad); i++) {
		assert_int_equal(judge(bad[i], 0, 0), AC_FINDING_ERROR);
		assert_int_equal(judge(0, bad[i], 0), AC_FINDING_LINE);
		assert_int_equal(judge(0, 0, bad[i]), AC_FINDING_EXACT);
	}
}

CASE(test_names)
{
	unsigned i, j;

	for (i = 0; i < AC_FINDING_COUNT; i++) {
		assert_non_null(ac_finding_names[i]);
		assert_true(strlen(ac_finding_meanings[i]) > 5);
		for (j = 0; j < i; j++)
			assert_string_not_equal(ac_finding_names[i],
			    ac_finding_names[j]);
	}
}

CASES_RUN(NULL, NULL)
