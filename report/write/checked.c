/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/checked.c -- in words: how many calls were checked and sampled,
 * what was mended, and what nothing judged. An error stands there only where
 * something was measured. Pure. */
#include "report/read/read.h"

const char *const ac_unjudged_names[AC_UNJUDGED_COUNT] = {
	[AC_UNJUDGED_NONE] = "", [AC_UNJUDGED_KEPT] = "kept",
	[AC_UNJUDGED_OFF] = "guard=off",
	[AC_UNJUDGED_LIBRARY] = "the library's own conversion",
	[AC_UNJUDGED_GRAPHS] = "recorded into graphs",
	[AC_UNJUDGED_UNREAD] = "no verdict yet",
};

/* "3 lines, 1 call" */
static void
add_mended(struct ac_text *text, uint64_t lines, uint64_t calls)
{
	if (lines)
		ac_text_add_count(text, lines, "line");
	if (lines && calls)
		ac_text_add(text, ", ");
	if (calls)
		ac_text_add_count(text, calls, "call");
}

/* "2e-4 (line 4e-4), 0.20 of tol" */
static void
add_error(struct ac_text *text, double error, double line_error, double tol)
{
	ac_text_addf(text, "worst error %s", AC_DOUBLE(error, 2));
	if (line_error > 0)
		ac_text_addf(text, " (line %s)", AC_DOUBLE(line_error, 2));
	ac_text_addf(text, ", %s of tol", AC_RATIO(error / tol));
}

/* ---- A site ------------------------------------------------------------ */

static void
add_checked(struct ac_text *text, const struct ac_site_total *site)
{
	const uint64_t judged = site->course.judged;
	const enum ac_unjudged why = ac_site_unjudged(site);

	if (why != AC_UNJUDGED_NONE) {
		ac_text_addf(text, "not checked: %s", ac_unjudged_names[why]);
	} else if (judged && ac_site_is_learnt(site)) {
		ac_text_addf(text, "measured next to %s", AC_COUNT(judged,
		    "call"));
	} else if (judged > site->recast && site->course.captured) {
		ac_text_addf(text, "checked: %llu times, replays included",
		    (unsigned long long)judged);
	} else if (judged && judged >= site->recast) {
		ac_text_add(text, "checked: every call");
	} else if (judged) {
		ac_text_addf(text, "checked: %llu of %llu calls",
		    (unsigned long long)judged,
		    (unsigned long long)site->recast);
	}
}

/* What no cast can hold is mended under guard=off, too. */
static void
add_mending(struct ac_text *text, const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;

	if (!c->mended_lines && !c->mended_calls)
		return;
	ac_text_add(text, ac_site_is_learnt(site) ? "to mend: " : "mended: ");
	add_mended(text, c->mended_lines, c->mended_calls);
}

static void
add_samples(struct ac_text *text, const struct ac_site_total *site)
{
	if (site->course.samples && ac_site_unjudged(site) == AC_UNJUDGED_NONE)
		ac_text_addf(text, "%s in FP64", AC_COUNT(site->course.samples,
		    "sample"));
}

static void
add_worst(struct ac_text *text, const struct ac_site_total *site)
{
	if (site->tol > 0 && ac_site_unjudged(site) == AC_UNJUDGED_NONE)
		add_error(text, site->course.error, site->course.line_error,
		    site->tol);
}

static void
add_unread(struct ac_text *text, const struct ac_site_total *site)
{
	if (site->course.unread)
		ac_text_addf(text, "%s unread", AC_COUNT(site->course.unread,
		    "check"));
}

void
ac_site_add_checks(const struct ac_site_total *site,
    void (*tell)(const char *piece, void *context), void *context)
{
	static void (*const pieces[])(struct ac_text *text,
	    const struct ac_site_total *site) = {
		add_checked, add_mending, add_samples, add_worst, add_unread
	};

	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		struct ac_text piece = AC_TEXT_OF(160);

		pieces[i](&piece, site);
		if (piece.used)
			tell(piece.data, context);
	}
}

/* ---- A run ------------------------------------------------------------- */

/* A part of it begins: `start` is where all of them do. */
static void
separate(struct ac_text *text, size_t start)
{
	if (text->used > start)
		ac_text_add(text, "; ");
}

static void
add_unjudged(struct ac_text *text, const struct ac_report_totals *t,
    size_t start)
{
	const char *between = "not checked: ";

	for (int i = AC_UNJUDGED_KEPT + 1; i < AC_UNJUDGED_COUNT; i++) {
		if (!t->unjudged[i])
			continue;
		if (*between == 'n')
			separate(text, start);
		ac_text_addf(text, "%s%s (%s)", between, ac_unjudged_names[i],
		    AC_COUNT(t->unjudged[i], "call"));
		between = ", ";
	}
}

bool
ac_totals_have_error(const struct ac_report_totals *t)
{
	return t->worst_tol > 0;
}

void
ac_totals_add_error(struct ac_text *text, const struct ac_report_totals *t)
{
	if (t->worst_tol <= 0)
		return;
	add_error(text, t->worst_error, t->worst_line, t->worst_tol);
	ac_text_addf(text, " %s", AC_DOUBLE(t->worst_tol, 2));
}

void
ac_totals_add_checks(struct ac_text *text, const struct ac_report_totals *t)
{
	const size_t start = text->used;

	if (t->judged) {
		ac_text_addf(text, "checked %llu of %s",
		    (unsigned long long)t->judged, AC_COUNT(t->products,
		    t->products < t->recast_calls ? "recast product"
		    : "recast call"));
	}
	if (t->mended_lines || t->mended_calls) {
		separate(text, start);
		ac_text_add(text, "mended ");
		add_mended(text, t->mended_lines, t->mended_calls);
	}
	if (t->learnt) {
		separate(text, start);
		ac_text_addf(text, "learned from %s", AC_COUNT(t->learnt,
		    "call"));
	}
	if (t->samples) {
		separate(text, start);
		ac_text_addf(text, "%s in FP64", AC_COUNT(t->samples,
		    "sample"));
	}
	if (t->unread) {
		separate(text, start);
		ac_text_addf(text, "%s unread", AC_COUNT(t->unread, "check"));
	}
	add_unjudged(text, t, start);
	if (text->used == start)
		ac_text_add(text, "nothing checked");
}
