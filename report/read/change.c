/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/change.c -- the sites of two runs in pairs, and what changed at
 * each. Pure. */
#include "report/read/change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double
ac_site_row_time(const struct ac_site_row *row)
{
	return row->recast ? row->recast_us : row->keep_us;
}

static bool
are_other_rungs(const struct ac_site_row *a, const struct ac_site_row *b)
{
	const char *how_a, *how_b;

	return ac_site_row_rung(a, &how_a) != ac_site_row_rung(b, &how_b)
	    || strcmp(how_a, how_b);
}

/* Of a time that was measured and one that was predicted nothing is said. An
 * error may be infinite. */
static bool
are_other_numbers(const struct ac_site_row *a, const struct ac_site_row *b)
{
	const double time_a = ac_site_row_time(a), time_b = ac_site_row_time(b);
	const double longer = time_a > time_b ? time_a : time_b;

	if (a->basis == b->basis && time_a > 0 && time_b > 0
	    && fabs(time_a - time_b) >= AC_CHANGE_LEAST * longer)
		return true;
	return a->error >= 0 && b->error >= 0
	    && fabs(a->error - b->error) >= AC_CHANGE_LEAST;
}

static enum ac_change
change_of(const struct ac_site_row *a, const struct ac_site_row *b)
{
	if (!a || !b)
		return AC_CHANGE_PRESENCE;
	if (are_other_rungs(a, b))
		return AC_CHANGE_RUNG;
	if (are_other_numbers(a, b))
		return AC_CHANGE_NUMBERS;
	return a->calls != b->calls || a->recast != b->recast
	    ? AC_CHANGE_CALLS : AC_CHANGE_NONE;
}

static double
work_of(const struct ac_site_row *row)
{
	return row ? row->rungs[0]->flops * (double)row->calls : 0;
}

/* ---- Order ------------------------------------------------------------- */

static int
by_identity(const void *left, const void *right)
{
	const struct ac_site_row *a = left, *b = right;

	return ac_site_identity(a->rungs[0], b->rungs[0]);
}

static const struct ac_site_row *
any_of(const struct ac_change_row *row)
{
	return row->now ? row->now : row->then;
}

static int
by_change(const void *left, const void *right)
{
	const struct ac_change_row *a = left, *b = right;

	if (a->change != b->change)
		return a->change < b->change ? 1 : -1;
	if (a->work < b->work || a->work > b->work)
		return a->work < b->work ? 1 : -1;
	return ac_site_by_key(any_of(a)->rungs[0], any_of(b)->rungs[0]);
}

static void
set_pair(struct ac_change_row *row, const struct ac_site_row *then,
    const struct ac_site_row *now)
{
	const double before = work_of(then), after = work_of(now);

	row->then = then;
	row->now = now;
	row->change = change_of(then, now);
	row->work = before > after ? before : after;
}

struct ac_change_row *
ac_changes_make(struct ac_site_row *then, size_t then_count,
    struct ac_site_row *now, size_t now_count, size_t *count_out)
{
	struct ac_change_row *rows = malloc((then_count + now_count + 1)
	    * sizeof *rows);
	size_t count = 0, i = 0, j = 0;

	if (!rows)
		return NULL;
	qsort(then, then_count, sizeof *then, by_identity);
	qsort(now, now_count, sizeof *now, by_identity);
	while (i < then_count || j < now_count) {
		const int order = i == then_count ? 1 : j == now_count ? -1
		    : by_identity(&then[i], &now[j]);

		set_pair(&rows[count++], order <= 0 ? &then[i] : NULL,
		    order >= 0 ? &now[j] : NULL);
		i += order <= 0;
		j += order >= 0;
	}
	qsort(rows, count, sizeof *rows, by_change);
	*count_out = count;
	return rows;
}
