/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_change.c -- the sites of two runs in pairs: what
 * counts as changed, and in which order it comes. */
#include "with_report.h"
#include "report/read/change.h"

#include <math.h>

static struct ac_report *then, *now;
static struct ac_site_row *before, *after;
static struct ac_change_row *changes;
static size_t change_count;

static int
clear(void **state)
{
	free(changes);
	free(before);
	free(after);
	changes = NULL;
	before = after = NULL;
	then = now = NULL;
	return 0;
}

static void
compare(void)
{
	size_t before_count, after_count;

	assert_true(ac_rows_make(then, AC_SORT_WORK, &before, &before_count));
	assert_true(ac_rows_make(now, AC_SORT_WORK, &after, &after_count));
	changes = ac_changes_make(before, before_count, after, after_count,
	    &change_count);
	assert_non_null(changes);
}

/* Site `i`: 10 calls of fp16, 8 us each, error 0.25 of tol. */
static struct ac_site_record *
make_usual(int i)
{
	struct ac_site_record *site = make_site(i, AC_RUNG_FP16,
	    AC_TACTIC_CAST, AC_REASON_NONE);

	make_calls(site, 10, AC_REASON_NONE, 0);
	site->tol = 0.5f;
	atomic_store(&site->course.samples, 1);
	atomic_store(&site->course.error, 0.125f);
	atomic_store(&site->course.keep_us, 16);
	atomic_store(&site->course.recast_us, 8);
	return site;
}

/* What is said of site 0 if it was usual, and is `site` now. */
static enum ac_change
change_to(void (*alter)(struct ac_site_record *site))
{
	enum ac_change change;

	memset(&made_header, 0, sizeof made_header);
	made_header.clock = AC_CLOCK_DEVICE;
	make_usual(0);
	then = make_report(1);
	alter(make_usual(0));
	now = make_report(1);
	compare();
	assert_int_equal(change_count, 1);
	change = changes[0].change;
	(void)clear(NULL);
	return change;
}

static void
nothing(struct ac_site_record *site)
{
	site->line++;           /* of a policy that says the same elsewhere */
}

static void
rung(struct ac_site_record *site)
{
	site->rung = AC_RUNG_BF16;
}

static void
tactic(struct ac_site_record *site)
{
	site->tactic = AC_TACTIC_LIBRARY;
}

/* The rung is meant, but no call ran on it. */
static void
kept(struct ac_site_record *site)
{
	atomic_store(&site->recast, 0);
	atomic_store(&site->kept[AC_REASON_PROBATION], 10);
}

static void
calls(struct ac_site_record *site)
{
	atomic_store(&site->recast, 11);
}

static void
fewer_recast(struct ac_site_record *site)
{
	atomic_store(&site->recast, 9);
	atomic_store(&site->kept[AC_REASON_CAPTURE], 1);
}

static void
slower(struct ac_site_record *site)
{
	atomic_store(&site->course.recast_us, 9);       /* a ninth */
}

static void
hardly_slower(struct ac_site_record *site)
{
	atomic_store(&site->course.recast_us, 8.75f);   /* 1 part in 11.7 */
}

static void
untimed(struct ac_site_record *site)
{
	atomic_store(&site->course.keep_us, 0);
	atomic_store(&site->course.recast_us, 0);
	atomic_store(&site->course.keep_predicted_us, 100);
	atomic_store(&site->course.recast_predicted_us, 100);
}

static void
rougher(struct ac_site_record *site)
{
	atomic_store(&site->course.error, 0.1875f);     /* 0.375 of tol */
}

static void
hardly_rougher(struct ac_site_record *site)
{
	atomic_store(&site->course.error, 0.15625f);    /* 0.3125 of tol */
}

static void
broken(struct ac_site_record *site)
{
	atomic_store(&site->course.error, NAN);
}

static void
unsampled(struct ac_site_record *site)
{
	atomic_store(&site->course.samples, 0);
}

CASE(test_kinds)
{
	assert_int_equal(change_to(nothing), AC_CHANGE_NONE);
	assert_int_equal(change_to(rung), AC_CHANGE_RUNG);
	assert_int_equal(change_to(tactic), AC_CHANGE_RUNG);
	assert_int_equal(change_to(kept), AC_CHANGE_RUNG);
	assert_int_equal(change_to(calls), AC_CHANGE_CALLS);
	assert_int_equal(change_to(fewer_recast), AC_CHANGE_CALLS);
	assert_int_equal(change_to(slower), AC_CHANGE_NUMBERS);
	assert_int_equal(change_to(hardly_slower), AC_CHANGE_NONE);
	assert_int_equal(change_to(untimed), AC_CHANGE_NONE);
	assert_int_equal(change_to(rougher), AC_CHANGE_NUMBERS);
	assert_int_equal(change_to(hardly_rougher), AC_CHANGE_NONE);
	assert_int_equal(change_to(broken), AC_CHANGE_NUMBERS);
	assert_int_equal(change_to(unsampled), AC_CHANGE_NONE);
}

/* Two sites that are kept are one way only for one reason. */
CASE_WITH(test_reasons, NULL, clear)
{
	memset(&made_header, 0, sizeof made_header);
	for (int i = 0; i < 2; i++)
		make_calls(make_site(i, AC_RUNG_KEEP, AC_TACTIC_NONE,
		    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 5);
	then = make_report(2);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_NO_PROFIT), 0, AC_REASON_NO_PROFIT, 5);
	now = make_report(2);
	compare();
	assert_int_equal(change_count, 2);
	assert_int_equal(changes[0].change, AC_CHANGE_RUNG);
	assert_int_equal(changes[0].now->rungs[0]->id, 0x11);
	assert_int_equal(changes[1].change, AC_CHANGE_NONE);
}

/* The gravest first, then most work; a site is paired with itself, whatever its
 * place. Of each site there is one row, of all its rungs. */
CASE_WITH(test_order, NULL, clear)
{
	static const uint32_t ids[] = { 0x15, 0x12, 0x16, 0x14, 0x13, 0x11,
		0x10 };

	memset(&made_header, 0, sizeof made_header);
	made_header.clock = AC_CLOCK_DEVICE;
	for (int i = 0; i < 5; i++)
		make_usual(i);
	make_usual(5);
	then = make_report(6);
	for (int i = 0; i < 7; i++)
		make_usual(i);
	calls(&made[1]);
	rung(&made[2]);
	slower(&made[3]);
	slower(&made[4]);
	rung(&made[5]);
	now = make_report(7);
	compare();
	assert_int_equal(change_count, 7);
	for (int i = 0; i < 7; i++)
		assert_int_equal(changes[i].now->rungs[0]->id, ids[i]);
	assert_int_equal(changes[2].change, AC_CHANGE_PRESENCE);
	assert_null(changes[2].then);
	for (int i = 0; i < 7; i++)
		if (changes[i].then)
			assert_int_equal(changes[i].then->rungs[0]->id,
			    ids[i]);
}

/* Nothing against nothing. */
CASE_WITH(test_empty, NULL, clear)
{
	memset(&made_header, 0, sizeof made_header);
	then = make_report(0);
	now = make_report(0);
	compare();
	assert_int_equal(change_count, 0);
}

CASES_RUN(NULL, NULL)
