/* SPDX-License-Identifier: Apache-2.0 */
/* policy/guard.c -- the guard's rule for what cuDNN converts. Pure. */
#include "policy/guard.h"

const char *const ac_finding_names[AC_FINDING_COUNT] = {
#define FINDING(id, name, meaning) name,
#include "policy/words.def"
};

const char *const ac_finding_meanings[AC_FINDING_COUNT] = {
#define FINDING(id, name, meaning) meaning,
#include "policy/words.def"
};

/* Not `>`: a NaN compares false and must not pass. */
static bool
exceeds(double value, double limit)
{
	return !(value <= limit);
}

enum ac_finding
ac_guard_judge(const struct ac_guard_facts *facts, double tol)
{
	if (facts->large)
		return AC_FINDING_LARGE;
	if (exceeds(facts->error, 0.8 * tol))
		return AC_FINDING_ERROR;
	if (exceeds(facts->line_error, 3 * tol))
		return AC_FINDING_LINE;
	if (exceeds(facts->exact, 1e-6))
		return AC_FINDING_EXACT;
	return AC_FINDING_NONE;
}
