/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_tuning.c -- which programs tune. */
#include "shim/trial/tuning.h"
#include "tests/unit/cases.h"

/* ---- Which calls are steady ---------------------------------------------- */

/* The fifth of equal calls in a row, and all that follow; another content
 * begins from the start, and so does the old one after it. Contents may be 0,
 * small numbers, or differ in their lowest or highest bit. */
CASE(test_fifth)
{
	static const uint64_t contents[] = {
		0, 1, 2, UINT64_C(1) << 63, UINT64_MAX, 0
	};
	struct ac_steady steady = { 0 };

	for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
		for (int call = 1; call <= 100; call++)
			assert_int_equal(ac_steady_meets(&steady, contents[i]),
			    call >= AC_STEADY_CALLS);
}

/* PyTorch's benchmark runs each plan twice, others three times; four are none
 * too many, nor is a fifth that is not in a row. */
CASE(test_tuning)
{
	struct ac_steady steady = { 0 };

	for (int runs = 1; runs <= 4; runs++)
		for (uint64_t content = 0; content < 8; content++)
			for (int i = 0; i < runs; i++)
				assert_false(ac_steady_meets(&steady,
				    content));
	for (int i = 0; i < 4; i++)
		assert_false(ac_steady_meets(&steady, 9));
	assert_false(ac_steady_meets(&steady, 10));
	assert_false(ac_steady_meets(&steady, 9));
}

/* Two and three in turn, evenly or not; one that comes rarely. */
CASE(test_alternating)
{
	static const char *const rounds[] = {
		"ab", "abc", "aab", "aaaab", "aaaabbbb", "abac", "aaaaaaaab",
		"ababababababababc"
	};

	for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++) {
		const int period = (int)strlen(rounds[r]);
		struct ac_steady steady = { 0 };
		int late = 0;

		for (int i = 0; i < 1000; i++)
			if (!ac_steady_meets(&steady,
			    (uint64_t)rounds[r][i % period]))
				late = i + 1;
		assert_true(late > AC_STEADY_CALLS);
		/* A run of five is noted no further. */
		assert_true(late < 2 * (AC_STEADY_LONG + period));
	}
}

/* More than a few in turn are tuning, however long; so is whatever is new to a
 * site whose calls alternate, until it stayed. */
CASE(test_not_alternating)
{
	struct ac_steady steady = { 0 };

	for (int i = 0; i < 1000; i++)
		assert_false(ac_steady_meets(&steady, (uint64_t)i
		    % (AC_STEADY_FEW + 1)));
	for (int i = 0; i <= AC_STEADY_LONG + 1; i++)
		assert_int_equal(ac_steady_meets(&steady, 10 + (uint64_t)i % 2),
		    i > AC_STEADY_LONG);
	for (uint64_t content = 20; content < 28; content++)
		for (int i = 0; i < 4; i++)
			assert_false(ac_steady_meets(&steady, content));
	for (int i = 1; i <= AC_STEADY_CALLS; i++)
		assert_int_equal(ac_steady_meets(&steady, 10),
		    i == AC_STEADY_CALLS);
	/* A second comparison of what the first one saw. */
	for (int i = 0; i < 4; i++)
		assert_false(ac_steady_meets(&steady, 27));
}

CASES_RUN(NULL, NULL)
