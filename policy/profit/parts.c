/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profit/parts.c -- the formulas of parts.h. */
#include "policy/profit/parts.h"

#include <math.h>

/* Next to nothing, which 0 would not be: that is what nobody knows. */
#define LEAST_SECONDS 1e-9

static double
longer(double a, double b)
{
	return a > b ? a : b;
}

static bool
is_possible(const struct ac_rates *rates, const struct ac_tiled *part)
{
	return part->rate > 0 && rates->bandwidth > 0;
}

double
ac_group_seconds(const struct ac_rates *rates, const struct ac_tiled *group)
{
	const double m = group->m, n = group->n;
	const double words = group->words * group->batch;
	double compute = 0, load, store;

	if (!is_possible(rates, group))
		return (double)INFINITY;
	if (m > AC_WIDEST_SKINNY && n > AC_WIDEST_SKINNY)
		compute = 2 * group->words * words * m * n * group->k /
		    group->rate;
	load = 4 * words * (m + n) * group->k / rates->bandwidth;
	store = 4 * words * m * n / rates->bandwidth;
	return longer(load, compute) + store;
}

/* One triangle of a square of that side: half of its tiles, and half of it is
 * stored. */
static double
triangle_seconds(const struct ac_rates *rates, const struct ac_tiled *block,
    double side)
{
	struct ac_tiled square = *block;
	const double load = 4 * side * block->k / rates->bandwidth;

	square.m = square.n = side;
	square.batch = 0.5;
	return longer(load, side > AC_WIDEST_SKINNY ?
	    ac_tiles_seconds(rates, &square) : 0) +
	    2 * side * side / rates->bandwidth + rates->launch;
}

/* Which may be nothing: a GPU that is not full with one half does the whole in
 * the same time. */
double
ac_syrk_seconds(const struct ac_rates *rates, const struct ac_tiled *block)
{
	if (!is_possible(rates, block))
		return (double)INFINITY;
	return longer(LEAST_SECONDS,
	    triangle_seconds(rates, block, block->m + block->n) -
	    triangle_seconds(rates, block, block->m) -
	    triangle_seconds(rates, block, block->n));
}
