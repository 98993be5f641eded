/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/events.c -- what the guard did at which call of a site: errors
 * by their size, and below them a row for each kind of decision. Pure but for
 * the sink. */
#include "report/html/html.h"

#include <math.h>

enum {
	LEFT = 60, TOP = 30, MIDDLE = 176, ROW = 18, ROWS = 4,
	BOTTOM = MIDDLE + ROWS * ROW + 8, HEIGHT = BOTTOM + 62,
	NEAR = 1000             /* rows of sites that the table surely has */
};

/* From here on, an error is only far too large. */
#define MOST 1e4

/* Where a decision is, from the top; errors are above. */
static const enum ac_event_kind rows[ROWS] = { AC_EVENT_DEMOTED,
	AC_EVENT_RETRIED, AC_EVENT_CHOSEN, AC_EVENT_PASSED };

static double
height_of(enum ac_event_kind kind)
{
	int i = 0;

	while (i < ROWS - 1 && rows[i] != kind)
		i++;
	return MIDDLE + ROW * (i + 0.9);
}

static bool
is_error(const struct ac_event *e)
{
	return e->kind == AC_EVENT_WORST;
}

/* An error without a tolerance has no place. */
static bool
has_mark(const struct ac_event *e)
{
	return !is_error(e) || (e->error > 0 && e->tol > 0);
}

/* As a part of the tolerance. Below 1e-4 it is rounding of FP32 itself. */
static double
error_of(const struct ac_event *e)
{
	return fmin(fmax(e->error / e->tol, 1e-4), MOST);
}

static double
call_of(const struct ac_event *e)
{
	return e->call ? (double)e->call : 1;
}

static const char *
unit_call(struct ac_text *t, double value)
{
	return ac_double_add(t, value, 3);
}

static const struct ac_site_row *
find_row(const struct ac_html *w, uint32_t site)
{
	for (size_t i = 0; i < w->row_count && i < NEAR; i++)
		if (w->rows[i].rungs[0]->id == site)
			return &w->rows[i];
	return NULL;
}

static void
add_mark(struct ac_html *w, const struct ac_svg *p, const struct ac_event *e)
{
	const struct ac_site_row *row = find_row(w, e->site);
	const double x = ac_scale_at(&p->x, call_of(e));
	const double y = is_error(e) ? ac_scale_at(&p->y, error_of(e))
	    : height_of(e->kind);
	struct ac_text *t = ac_html_piece(w);

	if (row)
		ac_html_addf(w, "<a class=\"%s\" href=\"#s-%08x\">",
		    ac_event_names[e->kind], (unsigned)e->site);
	else
		ac_html_addf(w, "<g class=\"%s\">", ac_event_names[e->kind]);
	if (e->kind == AC_EVENT_DEMOTED)
		ac_svg_line(w, "fall", x, p->top, x, y);
	ac_svg_mark(w, e->rung, false, x, y);
	ac_html_add(w, "<title>");
	if (row)
		ac_html_add_label(t, row->rungs[0]);
	else
		ac_text_addf(t, "%08x", (unsigned)e->site);
	ac_text_add(t, ", ");
	ac_event_add(t, e);
	ac_html_put(w, "");
	ac_html_addf(w, "</title></path></%s>\n", row ? "a" : "g");
}

/* Demotions first, that none of them be left out; then the latest. */
static size_t
add_marks(struct ac_html *w, const struct ac_svg *p)
{
	const struct ac_report *report = w->report;
	size_t shown = 0;

	for (int others = 0; others < 2; others++)
		for (size_t i = report->event_count;
		    i-- > 0 && shown < AC_HTML_DOTS;) {
			const struct ac_event *e = &report->events[i];

			if (!has_mark(e)
			    || (e->kind != AC_EVENT_DEMOTED) != others)
				continue;
			add_mark(w, p, e);
			shown++;
		}
	return shown;
}

/* Behind all marks: the tolerance, and the rows with their names. */
static void
add_rows(struct ac_html *w, const struct ac_svg *p)
{
	const double y = ac_scale_at(&p->y, 1);

	ac_svg_line(w, "limit", p->left, y, p->right, y);
	ac_svg_label(w, "limit", p->left + 6, y - 5, 0, "tolerance");
	ac_svg_line(w, "base", p->left, MIDDLE, p->right, MIDDLE);
	for (int i = 0; i < ROWS; i++) {
		const double at = height_of(rows[i]);

		ac_svg_line(w, "grid", p->left, at, p->right, at);
		ac_svg_label(w, i ? "tick end" : "loss end", p->left - 6,
		    at + 4, 0, "%s", ac_event_names[rows[i]]);
	}
}

/* How many have a mark. */
static size_t
fit(const struct ac_report *report, struct ac_svg *p)
{
	size_t count = 0;

	ac_scale_take(&p->x, 1);
	ac_scale_take(&p->x, 10);
	ac_scale_take(&p->y, 1);
	ac_scale_take(&p->y, 1.5);
	for (size_t i = 0; i < report->event_count; i++) {
		const struct ac_event *e = &report->events[i];

		if (!has_mark(e))
			continue;
		count++;
		ac_scale_take(&p->x, call_of(e));
		if (is_error(e))
			ac_scale_take(&p->y, error_of(e));
	}
	ac_scale_round(&p->x);
	ac_scale_round(&p->y);
	return count;
}

static void
describe(struct ac_html *w)
{
	struct ac_text *t = ac_html_piece(w);
	size_t counts[AC_EVENT_KINDS] = { 0 };

	for (size_t i = 0; i < w->report->event_count; i++)
		counts[w->report->events[i].kind]++;
	ac_text_add(t, "To the right the calls of a site, on top errors by "
	    "their size, below them what the guard did:");
	for (int i = 0; i < AC_EVENT_KINDS; i++)
		ac_text_addf(t, "%s %s %zu times", i ? "," : "",
		    ac_event_names[i], counts[i]);
	ac_text_add(t, ".");
}

static void
end(struct ac_html *w, size_t shown, size_t count)
{
	struct ac_text t = AC_TEXT_OF(320);

	ac_text_add(&t, "On top each error above all before "
	    "it, below what followed. A line marks each call that had a site "
	    "demoted.");
	if (shown < count)
		ac_text_addf(&t, " %zu of %zu: demotions, then the latest.",
		    shown, count);
	if (w->report->lost_events)
		ac_text_addf(&t, " %llu earlier ones were not kept.",
		    (unsigned long long)w->report->lost_events);
	ac_svg_end(w, t.data);
}

void
ac_html_events(struct ac_html *w)
{
	struct ac_svg p = { .x = { .from = LEFT, .to = AC_SVG_WIDTH - 12 },
		.y = { .from = MIDDLE, .to = TOP }, .left = LEFT, .top = TOP,
		.right = AC_SVG_WIDTH - 12, .bottom = BOTTOM };
	const size_t count = fit(w->report, &p);
	size_t shown;

	if (!count) {
		ac_html_add(w, "<figure id=\"events\" class=\"card\"><h2>Guard "
		    "events over calls</h2>\n<figcaption>None: nothing was "
		    "chosen or left.</figcaption></figure>\n");
		return;
	}
	describe(w);
	ac_svg_begin(w, "events", "Guard events over calls", HEIGHT);
	ac_svg_axes(w, &p, "call of the site", unit_call,
	    "error, as a part of tol", ac_svg_plain);
	add_rows(w, &p);
	shown = add_marks(w, &p);
	ac_svg_legend(w, false, HEIGHT - 4);
	end(w, shown, count);
}
