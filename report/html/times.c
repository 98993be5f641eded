/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/times.c -- what the recast calls of a site took before and take
 * now, the largest gains first; the largest losses have the last places. Pure
 * but for the sink. */
#include "report/html/html.h"

#include <math.h>

enum { ROW = AC_HTML_ROW, BAR = 8, TOP = 24, LOSSES = 5 };

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

void
ac_html_add_bars(struct ac_html *w, double y, double before_us,
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
	ac_html_add_bars(w, y, row->before_us, row->after_us,
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
