/* SPDX-License-Identifier: Apache-2.0 */
/* policy/guard.c -- the guard's rule. Pure. */
#include "policy/guard.h"

const char *const ac_finding_names[AC_FINDING_COUNT] = {
	[AC_FINDING_NONE] = "none",
	[AC_FINDING_RANGE] = "range",
	[AC_FINDING_LARGE] = "large",
	[AC_FINDING_CAST] = "cast",
	[AC_FINDING_TILE] = "tile",
	[AC_FINDING_ERROR] = "error",
	[AC_FINDING_LINE] = "line",
	[AC_FINDING_EXACT] = "exact",
	[AC_FINDING_CHAIN] = "chain",
	[AC_FINDING_SLOW] = "slow",
	[AC_FINDING_REFUSED] = "refused",
};

const char *const ac_finding_meanings[AC_FINDING_COUNT] = {
	[AC_FINDING_NONE] = "nothing was wrong",
	[AC_FINDING_RANGE] = "a finite input became infinite in the cast",
	[AC_FINDING_LARGE] = "an output came near the end of FP16's range",
	[AC_FINDING_CAST] = "the cast lost too much of an operand",
	[AC_FINDING_TILE] = "the cast lost too much of a part of an operand",
	[AC_FINDING_ERROR] = "sampled outputs were too far off",
	[AC_FINDING_LINE] =
	    "a row or column of sampled outputs was too far off",
	[AC_FINDING_EXACT] = "numbers that FP32 has exactly came out changed",
	[AC_FINDING_CHAIN] = "products that add up in one C nearly cancel",
	[AC_FINDING_SLOW] =
	    "it was measured to be no faster than the original call",
	[AC_FINDING_REFUSED] = "the provider refused it",
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
	if (facts->overflowed)
		return AC_FINDING_RANGE;
	if (facts->large)
		return AC_FINDING_LARGE;
	if (exceeds(facts->rho, tol / 2))
		return AC_FINDING_CAST;
	if (exceeds(facts->tile_rho, facts->batched ? tol / 2 : tol))
		return AC_FINDING_TILE;
	if (exceeds(facts->error, 0.8 * tol))
		return AC_FINDING_ERROR;
	if (exceeds(facts->line_error, 3 * tol))
		return AC_FINDING_LINE;
	if (exceeds(facts->exact, 1e-6))
		return AC_FINDING_EXACT;
	return AC_FINDING_NONE;
}
