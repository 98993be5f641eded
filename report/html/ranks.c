/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/ranks.c -- the ranks of a job: what the recast calls of each took
 * before and take now, and what the text report says of their spread. Pure but
 * for the sink. */
#include "report/html/html.h"
#include "report/read/ranks.h"

#include <math.h>

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
choose(const struct ac_ranks *ranks,
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
	ac_html_add_bars(w, y, before_of(rank), after_of(rank),
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
	size_t count = ranks ? choose(ranks, chosen) : 0;
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
	ac_svg_begin(w, "ranks", "Ranks", (double)count * AC_HTML_ROW);
	for (size_t i = 0; i < count; i++)
		add_rank(w, chosen[i], (double)i * AC_HTML_ROW,
		    AC_SVG_WIDTH / most);
	ac_html_add(w, "</svg>\n");
	add_words(w);
	ac_html_add(w, "</figure>\n");
}
