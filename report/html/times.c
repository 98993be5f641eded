/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/times.c -- what the recast calls of a site took before and take
 * now, the largest gains first; the largest losses have the last places. The
 * same of each rank of a job, and what the text report says of their spread.
 * Pure but for the sink. */
#include "report/html/html.h"
#include "report/read/ranks.h"

#include <math.h>

enum { ROW = 46, BAR = 8, TOP = 24, LOSSES = 5 };

/* Which rows are shown: the first ones, and where there is no room for all the
 * last ones that lose. */
struct chosen {
	size_t count, head, tail, timed;
};

static struct chosen
choose(const struct ac_html *w)
{
	struct chosen c = { 0 };
	size_t losses = 0, end;

	/* What has no time gained 0: it stands between gains and losses. */
	for (size_t i = 0; i < w->row_count; i++) {
		c.timed += w->rows[i].before_us > 0;
		losses += w->rows[i].gain_us < 0;
	}
	for (end = 0; end < w->row_count && w->rows[end].gain_us >= 0;)
		end++;
	c.count = c.timed < AC_HTML_BARS ? c.timed : AC_HTML_BARS;
	if (c.timed > c.count)
		c.tail = losses < LOSSES ? losses : LOSSES;
	else
		c.tail = losses;
	c.head = c.count - c.tail;
	return c;
}

/* At `y`, ROW high: times, and a bar for each; the label is the caller's. */
static void
add_bars(struct ac_html *w, double y, double before_us,
    double after_us, bool is_guess, double scale)
{
	ac_svg_label(w, before_us < after_us ? "value loss end" : "value end",
	    AC_SVG_WIDTH, y + 11, 0, "%s → %s\u00a0 %s", AC_TIME(before_us),
	    AC_TIME(after_us), AC_SPEED(after_us > 0 ? before_us / after_us
	    : 0));
	ac_svg_box(w, "before", 0, y + 17, before_us * scale, BAR);
	ac_svg_box(w, is_guess ? "now guess" : "now", 0, y + 18 + BAR,
	    after_us * scale, BAR);
}

static void
add_row(struct ac_html *w, const struct ac_site_row *row, double y,
    double scale)
{
	ac_html_addf(w, "<a href=\"#s-%08x\">", (unsigned)row->rungs[0]->id);
	ac_svg_label(w, "name", 0, y + 11, 46, "%s", AC_SAID(ac_html_add_label,
	    row->rungs[0]));
	add_bars(w, y, row->before_us, row->after_us,
	    row->basis == AC_BASIS_PREDICTED, scale);
	ac_html_add(w, "</a>\n");
}

static void
describe(struct ac_html *w, const struct ac_site_row *first)
{
	ac_text_addf(ac_html_piece(w), "Bars, two per site: the time of its "
	    "recast calls as the program made them, and as they ran. The "
	    "first%s %s: %s before, %s now.", first->gain_us < 0 ? " loses"
	    : ",", AC_SAID(ac_html_add_site, first->rungs[0]),
	    AC_TIME(first->before_us), AC_TIME(first->after_us));
}

static void
add_legend(struct ac_html *w)
{
	ac_svg_box(w, "before", 0, 2, 18, BAR);
	ac_svg_label(w, "key", 24, 10, 0, "before");
	ac_svg_box(w, "now", 80, 2, 18, BAR);
	ac_svg_label(w, "key", 104, 10, 0, "now");
	ac_svg_box(w, "now guess", 142, 2, 18, BAR);
	ac_svg_label(w, "key", 166, 10, 0, "now, not timed");
}

void
ac_html_times(struct ac_html *w)
{
	const struct chosen c = choose(w);
	double most = 0, y = TOP;
	size_t shown = 0;
	struct ac_text t = AC_TEXT_OF(200);

	if (!c.count)
		return;
	for (size_t i = 0; i < w->row_count; i++) {
		most = fmax(most, w->rows[i].before_us);
		most = fmax(most, w->rows[i].after_us);
	}
	describe(w, &w->rows[0]);
	ac_svg_begin(w, "times", "Time before and now",
	    TOP + (double)c.count * ROW);
	add_legend(w);
	for (size_t i = 0; i < w->row_count && shown < c.count; i++) {
		const struct ac_site_row *row = &w->rows[i];
		const bool last = i + c.tail >= w->row_count;

		if (row->before_us <= 0 || (shown >= c.head && !last))
			continue;
		add_row(w, row, y, AC_SVG_WIDTH / most);
		y += ROW;
		shown++;
	}
	ac_text_add(&t, "Device time of the recast calls of each site, the "
	    "largest gains first.");
	if (c.timed > c.count)
		ac_text_addf(&t, " %zu of %zu sites with times%s.", c.count,
		    c.timed, c.tail ? ", the largest losses among them" : "");
	ac_svg_end(w, t.data);
}

/* ---- Ranks -------------------------------------------------------------- */

/* Both kinds of time, added: what no call of a site was timed for is
 * predicted. */
static double
before_of(const struct ac_rank_total *rank)
{
	return rank->totals.measured_keep_us + rank->totals.predicted_keep_us;
}

static double
after_of(const struct ac_rank_total *rank)
{
	return rank->totals.measured_recast_us
	    + rank->totals.predicted_recast_us;
}

/* Those that take most time now come first. */
static size_t
choose_ranks(const struct ac_ranks *ranks,
    const struct ac_rank_total *chosen[AC_HTML_BARS])
{
	size_t count = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct ac_rank_total *rank = &ranks->rank[i];
		size_t at;

		if (count < AC_HTML_BARS)
			at = count++;
		else if (after_of(rank) > after_of(chosen[count - 1]))
			at = count - 1;
		else
			continue;
		for (; at > 0 && after_of(rank) > after_of(chosen[at - 1]);
		    at--)
			chosen[at] = chosen[at - 1];
		chosen[at] = rank;
	}
	return count;
}

static void
add_rank(struct ac_html *w, const struct ac_rank_total *rank, double y,
    double scale)
{
	ac_svg_label(w, "name", 0, y + 11, 46, "rank %d on %s", rank->rank,
	    rank->node);
	add_bars(w, y, before_of(rank), after_of(rank),
	    rank->totals.predicted_calls > rank->totals.measured_calls, scale);
}

static void
add_words(struct ac_html *w)
{
	struct ac_html_lines lines;

	ac_html_lines_begin(&lines, w, "<figcaption><p>", "<br>\n");
	ac_page_print_ranks(&lines.page, w->report);
	if (!lines.open)
		ac_html_add(w, "</p></figcaption>\n");
}

void
ac_html_ranks(struct ac_html *w)
{
	const struct ac_rank_total *chosen[AC_HTML_BARS];
	const struct ac_ranks *ranks = w->report->ranks_of;
	size_t count = ranks ? choose_ranks(ranks, chosen) : 0;
	double most = 0;

	if (!ranks)
		return;
	for (size_t i = 0; i < count; i++) {
		most = fmax(most, before_of(chosen[i]));
		most = fmax(most, after_of(chosen[i]));
	}
	if (most <= 0) {
		ac_html_add(w, "<figure id=\"ranks\" class=\"card\">"
		    "<h2>Ranks</h2>\n");
		add_words(w);
		ac_html_add(w, "</figure>\n");
		return;
	}
	ac_text_addf(ac_html_piece(w), "Bars, two per rank: the time of its "
	    "recast calls before and now, of %zu ranks.", count);
	ac_svg_begin(w, "ranks", "Ranks", (double)count * ROW);
	for (size_t i = 0; i < count; i++)
		add_rank(w, chosen[i], (double)i * ROW,
		    AC_SVG_WIDTH / most);
	ac_html_add(w, "</svg>\n");
	add_words(w);
	ac_html_add(w, "</figure>\n");
}
