/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/site_lines.c -- the lines below a row of the table of sites:
 * where it is, what became of its calls, why rungs were left, what was checked.
 * Pure but for the sink. */
#include "report/write/page.h"
#include "report/callers/functions.h"

#include <string.h>

enum { WIDTH = 100, CELL = 96 };

static void
indent(struct ac_page *p)
{
	ac_text_pad(&p->line, p->indent);
}

/* Where the program opened one. */
static void
print_region(struct ac_page *p, const struct ac_site_total *site)
{
	if (!*site->region.name)
		return;
	indent(p);
	ac_text_add_cleanf(&p->line, "in region %s%s", site->region.name,
	    site->region.is_disabled ? ", disabled" : "");
	for (int i = 0; i < site->region.rung_count; i++)
		ac_text_addf(&p->line, "%s%s", i ? "," : ", rungs ",
		    ac_rung_names[site->region.rung[i]]);
	ac_page_end_line(p);
}

/* What m, n and k do not tell apart: a convolution, or what follows a product
 * of cublasLt and why that is never recast; and cuDNN's plans. */
static void
print_shape(struct ac_page *p, const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;

	if (*site->key.shape) {
		indent(p);
		ac_site_add_shape(&p->line, site);
		ac_page_end_line(p);
	}
	if (c->plans) {
		indent(p);
		ac_plans_add(&p->line, c->plans, c->plan_ms, c->workspace);
		ac_page_end_line(p);
	}
}

static uint64_t
kept_for(const struct ac_site_row *row, int reason)
{
	uint64_t kept = 0;

	for (size_t i = 0; i < row->rung_count; i++)
		kept += row->rungs[i]->kept[reason];
	return kept;
}

/* Calls that went another way than the row says. */
static void
print_exceptions(struct ac_page *p, const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];
	enum ac_reason reason = (enum ac_reason)site->reason;
	const char *between = ": ";

	(void)ac_site_row_is_kept(row, &reason);
	if (kept_for(row, (int)reason) + row->recast >= row->calls
	    && (!row->recast || row->recast == row->calls))
		return;
	indent(p);
	ac_text_addf(&p->line, "kept %llu of %s",
	    (unsigned long long)(row->calls - row->recast),
	    AC_COUNT(row->calls, "call"));
	for (int i = 0; i < AC_REASON_COUNT; i++) {
		const uint64_t kept = kept_for(row, i);

		if (!kept)
			continue;
		ac_text_addf(&p->line, "%s%s %llu", between, ac_reason_names[i],
		    (unsigned long long)kept);
		between = ", ";
	}
	ac_page_end_line(p);
	if (!kept_for(row, AC_REASON_CAPTURE)
	    || !ac_caller_is_xla(site->key.caller))
		return;
	indent(p);
	ac_page_print(p, "%s", AC_SAID(ac_site_add_capture, site));
}

/* Why the rung was left, and what was measured then. */
static void
print_finding(struct ac_page *p, const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;
	const double measured[AC_FINDING_COUNT] = {
		[AC_FINDING_ERROR] = c->error,
		[AC_FINDING_LINE] = c->line_error };

	if (c->finding == AC_FINDING_NONE)
		return;
	indent(p);
	ac_text_addf(&p->line, "demoted: %s", ac_finding_names[c->finding]);
	if (measured[c->finding] > 0 && site->tol > 0)
		ac_text_addf(&p->line, " %s, tol %s",
		    AC_DOUBLE(measured[c->finding], 2),
		    AC_DOUBLE(site->tol, 2));
	ac_page_print(p, "; %s", ac_finding_meanings[c->finding]);
}

/* Lines below a row, of pieces that belong together. */
struct pieces {
	struct ac_page *page;
	const char     *between;
	bool            begun;
};

static void
add_piece(const char *piece, void *context)
{
	struct pieces *pieces = context;
	struct ac_page *p = pieces->page;

	if (pieces->begun)
		ac_text_add(&p->line, pieces->between);
	if (pieces->begun && p->line.used + strlen(piece) >= WIDTH) {
		ac_page_end_line(p);
		pieces->begun = false;
	}
	if (!pieces->begun)
		indent(p);
	ac_text_add(&p->line, piece);
	pieces->begun = true;
}

/* What was checked, of the whole run, since a look has no calls to compare
 * them with, nor what was kept; and what else is worth a word. */
static void
print_course(struct ac_page *p, const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;
	const struct { uint64_t count; const char *one, *more; } rows[] = {
		{ c->demotions > 1 ? c->demotions : 0, "", "demotions" },
		{ c->late, "verdict late", "verdicts late" },
		{ c->captured, "call recorded into a graph",
		    "calls recorded into graphs" },
	};
	struct pieces pieces = { p, "; ", false };

	if (p->seconds <= 0 && site->rung != AC_RUNG_KEEP)
		ac_site_add_checks(site, add_piece, &pieces);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ac_text t = AC_TEXT_OF(CELL);

		if (!rows[i].count)
			continue;
		ac_text_addf(&t, "%llu %s", (unsigned long long)rows[i].count,
		    rows[i].count == 1 ? rows[i].one : rows[i].more);
		add_piece(t.data, &pieces);
	}
	if (pieces.begun)
		ac_page_end_line(p);
}

/* A rung besides the one in the row: what it was to the site. */
static void
print_rung(struct ac_page *p, const struct ac_site_total *rung,
    enum ac_clock clock)
{
	double keep_us, recast_us;
	const enum ac_basis basis = ac_course_times(&rung->course, clock,
	    &keep_us, &recast_us);

	indent(p);
	ac_text_addf(&p->line, "%s %s (%s), by %s",
	    ac_site_is_learnt(rung) ? "measured:"
	    : rung->course.finding != AC_FINDING_NONE ? "left:"
	    : rung->recast ? "earlier:" : rung->course.samples ? "tried:"
	    : "would try", ac_rung_names[rung->rung],
	    ac_tactic_names[rung->tactic], AC_SAID(ac_site_add_line, rung));
	if (!ac_site_is_learnt(rung) && (rung->recast
	    || rung->course.finding != AC_FINDING_NONE))
		ac_text_addf(&p->line, ", %s recast", AC_COUNT(rung->recast,
		    "call"));
	else if (!ac_site_is_learnt(rung))
		ac_text_add(&p->line, ", none yet");
	if (basis != AC_BASIS_NONE)
		ac_text_addf(&p->line, basis == AC_BASIS_PREDICTED
		    ? ", estimated %s" : ", %s", AC_SPEED(keep_us / recast_us));
	ac_page_end_line(p);
	print_finding(p, rung);
	print_course(p, rung);
}

/* The line of the policy, where no column has room for it, and the place of a
 * caller that has a name. */
static void
print_origin(struct ac_page *p, const struct ac_site_total *site)
{
	struct pieces pieces = { p, ", ", false };
	struct ac_text line = AC_TEXT_OF(CELL), at = AC_TEXT_OF(CELL);

	if (p->tells_line) {
		ac_text_addf(&line, "line %s", AC_SAID(ac_site_add_line, site));
		add_piece(line.data, &pieces);
	}
	if (*ac_report_caller(p->report, site->key.caller)->caller) {
		ac_text_add(&at, "at");
		if (p->tells_file)
			ac_site_add_file(&at, p->report, site);
		ac_text_add_cleanf(&at, "%s%s", at.used > strlen("at") ? ", "
		    : " ", site->key.caller);
		add_piece(at.data, &pieces);
	}
	if (pieces.begun)
		ac_page_end_line(p);
}

void
ac_page_print_site_lines(struct ac_page *p, const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];
	enum ac_reason reason;
	const bool is_kept = ac_site_row_is_kept(row, &reason);

	print_origin(p, site);
	print_region(p, site);
	print_shape(p, site);
	print_exceptions(p, row);
	if (!is_kept) {
		print_finding(p, site);
		print_course(p, site);
	}
	for (size_t i = !is_kept; i < row->rung_count; i++)
		if (row->rungs[i]->rung != AC_RUNG_KEEP && p->seconds <= 0)
			print_rung(p, row->rungs[i], row->clock);
}
