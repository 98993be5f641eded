/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_loop.c -- runs and their verdicts in turn, until the search has
 * what it wants or no run is left. What was found is confirmed, at the most
 * accurate rungs that gain, or kept. */
#include "cmd/tune/tune.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
ac_tune_tell(const struct ac_tune *t, const char *format, ...)
{
	char line[200];
	va_list values;

	if (!isatty(STDERR_FILENO) || t->as_json)
		return;
	va_start(values, format);
	(void)vsnprintf(line, sizeof line, format, values);
	va_end(values);
	(void)ac_say(0, "%s: run %u of %u at most: %s", t->verb, t->runs,
	    t->most_runs, line);
}

static bool
is_spent(const struct ac_tune *t)
{
	return t->runs >= t->most_runs || (t->most_seconds > 0
	    && t->seconds >= t->most_seconds);
}

/* ---- One verdict --------------------------------------------------------- */

static uint32_t
set_of(const struct ac_tune *t, const unsigned char *levels)
{
	return ac_text_hash(AC_TEXT_HASH_START, levels, t->plan.unit_count);
}

/* What differs between two plain runs anyway is left out from then on. */
static bool
learn_differences(struct ac_tune *t)
{
	char held[PATH_MAX];
	int status = 0;
	bool done;

	snprintf(held, sizeof held, "%s/held", t->base);
	if (rename(t->folder, held))
		return false;
	done = !ac_tune_run_plain(t, &status)
	    && ac_tune_keep_plain(t, true);
	ac_launch_remove(t->folder);
	return !rename(held, t->folder) && done;
}

static int
compare_ids(const void *a, const void *b)
{
	const uint32_t first = *(const uint32_t *)a;
	const uint32_t second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

/* How many of the plan's sites are not among those. */
static size_t
count_gone(const struct ac_tune_plan *plan, const struct ac_site_row *rows,
    size_t rows_count)
{
	uint32_t *ids = ac_say_memory(calloc(rows_count + 1, sizeof *ids));
	size_t gone = 0;

	for (size_t i = 0; i < rows_count; i++)
		ids[i] = rows[i].rungs[0]->id;
	qsort(ids, rows_count, sizeof *ids, compare_ids);
	for (size_t i = 0; i < plan->count; i++)
		gone += !bsearch(&plan->rows[i].rungs[0]->id, ids, rows_count,
		    sizeof *ids, compare_ids);
	free(ids);
	return gone;
}

static struct ac_tune_served
count(const struct ac_tune_plan *plan, const struct ac_report *report)
{
	struct ac_tune_served served = { 0 };
	struct ac_site_row *rows;
	double work = 0, done = 0;
	enum ac_reason reason;
	size_t rows_count;

	if (!report || !ac_rows_make(report, AC_SORT_WORK, &rows, &rows_count))
		return served;
	served.is_known = true;
	for (size_t i = 0; i < rows_count; i++) {
		if (rows[i].recast) {
			served.recast++;
			work += rows[i].share;
			done += rows[i].share * (double)rows[i].recast
			    / (double)rows[i].calls;
		}
		if (!ac_site_row_is_kept(&rows[i], &reason))
			continue;
		if (!served.kept++)
			served.reason = reason;
	}
	served.is_short = done < 0.9 * work;
	served.gone = count_gone(plan, rows, rows_count);
	free(rows);
	return served;
}

enum ac_tune_verdict
ac_tune_judge_twice(struct ac_tune *t, int status, bool is_plain)
{
	const enum ac_tune_verdict first = ac_tune_judge(t, status);
	enum ac_tune_verdict second;

	if (!t->check || status != t->plain_exit || (first != AC_TUNE_GOOD
	    && (first != AC_TUNE_BAD || !is_plain)))
		return first;
	second = ac_tune_judge_again(t);
	return second == first || second == AC_TUNE_FAILED ? second
	    : AC_TUNE_UNSTEADY;
}

static enum ac_tune_verdict
make(struct ac_tune *t, ac_tune_try try, const unsigned char *levels,
    int *exit_out)
{
	enum ac_tune_verdict verdict;

	if (try(t, levels, exit_out))
		return AC_TUNE_FAILED;
	t->served = count(&t->plan, t->last);
	verdict = ac_tune_judge_twice(t, *exit_out, false);
	if (verdict == AC_TUNE_BAD && !t->check && t->within > 0
	    && !t->has_again && *exit_out == t->plain_exit)
		verdict = learn_differences(t) ? ac_tune_judge(t, *exit_out)
		    : AC_TUNE_FAILED;
	return verdict == AC_TUNE_GOOD && ac_tune_compared_nothing(t)
	    ? AC_TUNE_FAILED : verdict;
}

static void
tell_verdict(const struct ac_tune *t, const unsigned char *levels,
    enum ac_tune_verdict verdict, double seconds)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->plan.unit_count; i++)
		kept += levels[i] != AC_TUNE_CHOSEN;
	ac_tune_tell(t, "%zu of %zu sites held back: %s, %.1f s; %.0f s left "
	    "at most", kept, t->plan.unit_count, verdict == AC_TUNE_GOOD
	    ? "good" : "bad", seconds, (double)(t->most_runs - t->runs)
	    * t->seconds / t->runs);
}

/* A check that cannot tell is asked once more. */
enum ac_tune_verdict
ac_tune_verdict_of(struct ac_tune *t, ac_tune_try try,
    const unsigned char *levels)
{
	const uint32_t set = set_of(t, levels);
	enum ac_tune_verdict verdict;
	double begun;
	int status = 0;

	t->runs++;
	if (ac_tune_recall(t, set, &verdict))
		return verdict;
	begun = ac_say_clock();
	verdict = make(t, try, levels, &status);
	if (verdict == AC_TUNE_UNKNOWN)
		verdict = make(t, try, levels, &status);
	if (verdict == AC_TUNE_UNKNOWN)
		verdict = AC_TUNE_BAD;
	t->seconds += ac_say_clock() - begun;
	if (verdict >= AC_TUNE_FAILED)
		return verdict;
	if (verdict == AC_TUNE_GOOD) {
		t->good = t->served;
		t->good_set = set;
	}
	ac_tune_note(t, set, status, verdict, ac_say_clock() - begun);
	tell_verdict(t, levels, verdict, ac_say_clock() - begun);
	return verdict;
}

struct ac_tune_served
ac_tune_served_by(const struct ac_tune *t, const unsigned char *levels)
{
	const struct ac_tune_served unknown = { 0 };

	return t->good_set == set_of(t, levels) ? t->good : unknown;
}

/* ---- The loop ------------------------------------------------------------ */

static void
set_levels(const struct ac_tune *t, const unsigned char *kept,
    enum ac_tune_level level, unsigned char *levels_out)
{
	for (size_t i = 0; i < t->plan.unit_count; i++)
		levels_out[i] = (unsigned char)(!kept[i] ? AC_TUNE_CHOSEN
		    : level == AC_TUNE_SAFE && t->plan.units[i]->safe
		    == AC_TUNE_KEEP ? AC_TUNE_KEPT : level);
}

/* Whether what was found may go to a better rung than the chosen one. */
static bool
has_safer(const struct ac_tune *t, const unsigned char *found)
{
	for (size_t i = 0; i < t->plan.unit_count; i++)
		if (found[i] && t->plan.units[i]->safe
		    != t->plan.units[i]->chosen)
			return true;
	return false;
}

/* Once more with what was found held back; BAD: as originals, which have passed
 * before. */
static enum ac_tune_verdict
confirm(struct ac_tune *t, ac_tune_try try, const unsigned char *found,
    unsigned char *levels_out)
{
	enum ac_tune_verdict verdict;

	if (has_safer(t, found) && !is_spent(t)) {
		set_levels(t, found, AC_TUNE_SAFE, levels_out);
		verdict = ac_tune_verdict_of(t, try, levels_out);
		if (verdict != AC_TUNE_BAD)
			return verdict;
	}
	set_levels(t, found, AC_TUNE_KEPT, levels_out);
	return is_spent(t) ? AC_TUNE_GOOD
	    : ac_tune_verdict_of(t, try, levels_out);
}

enum ac_tune_end
ac_tune_end_without(enum ac_tune_verdict verdict)
{
	return verdict == AC_TUNE_UNSTEADY ? AC_TUNE_WAVERS : AC_TUNE_STOPPED;
}

/* Verdicts that cannot all be true: what does the check say of the plain
 * program today? */
static enum ac_tune_end
contradiction(struct ac_tune *t)
{
	enum ac_tune_verdict verdict;
	int status;

	if (ac_tune_run_plain(t, &status))
		return AC_TUNE_STOPPED;
	verdict = ac_tune_judge_twice(t, status, true);
	if (verdict >= AC_TUNE_FAILED)
		return ac_tune_end_without(verdict);
	return verdict == AC_TUNE_GOOD ? AC_TUNE_LIES : AC_TUNE_PLAIN_FAILS;
}

/* The search says which units are needed; once those pass alone, they are
 * confirmed, and with the runs that are left each is left out once. What could
 * be is out for good only if the rest is confirmed as well. */
static enum ac_tune_end
search(struct ac_tune *t, ac_tune_try try, struct ac_search *s,
    unsigned char *levels)
{
	unsigned char *asked = levels + t->plan.unit_count;
	enum ac_tune_verdict verdict;
	bool is_confirmed = false, has_fewer = false;

	while (s->state == AC_SEARCH_ASKS
	    || (s->state == AC_SEARCH_FOUND && has_fewer)) {
		const bool is_last = s->state == AC_SEARCH_FOUND;

		if (is_last || (s->step == AC_SEARCH_NEED && !is_confirmed)) {
			verdict = confirm(t, try, s->found, levels);
			if (verdict >= AC_TUNE_FAILED)
				return ac_tune_end_without(verdict);
			if (verdict == AC_TUNE_BAD)
				return contradiction(t);
			is_confirmed = true;
		}
		if (is_last || is_spent(t))
			break;
		set_levels(t, s->kept, AC_TUNE_KEPT, asked);
		verdict = ac_tune_verdict_of(t, try, asked);
		if (verdict >= AC_TUNE_FAILED)
			return ac_tune_end_without(verdict);
		if (s->step == AC_SEARCH_NEED && verdict == AC_TUNE_GOOD) {
			memcpy(levels, asked, t->plan.unit_count);
			has_fewer = true;
		}
		ac_search_tell(s, verdict == AC_TUNE_GOOD);
	}
	if (s->state == AC_SEARCH_CONTRADICTED)
		return contradiction(t);
	if (is_confirmed)
		return AC_TUNE_PASSED;
	set_levels(t, s->passed, AC_TUNE_KEPT, levels);
	return s->state == AC_SEARCH_FOUND ? AC_TUNE_PASSED : AC_TUNE_SPENT;
}

enum ac_tune_end
ac_tune_loop(struct ac_tune *t, ac_tune_try try, bool has_failed,
    unsigned char *levels_out)
{
	const size_t units = t->plan.unit_count;
	unsigned char *levels = ac_say_memory(calloc(2, units + 1));
	enum ac_tune_end end = AC_TUNE_STOPPED;
	struct ac_search s;

	if (!ac_search_begin(&s, units))
		(void)ac_say_memory(NULL);
	if (has_failed)
		ac_search_tell(&s, false);
	end = search(t, try, &s, levels);
	memcpy(levels_out, levels, units);
	ac_search_end(&s);
	free(levels);
	return end;
}
