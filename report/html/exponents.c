/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/exponents.c -- how the magnitudes of the operands are spread,
 * binade by binade. Pure but for the sink. */
#include "report/html/html.h"

#include <math.h>

enum {
	PANEL = 104, PLOT = 60, TOP = 22, MOST_PANELS = 6, BIAS = 127,
	LEAST_NORMAL = -14, MOST_NORMAL = 15,   /* of FP16 */
	DECADES = 6                             /* from all to 1e-6 of it */
};

struct extent {
	int low, high;
};

static void
widen(struct extent *x, const uint64_t *counts)
{
	struct ac_range_extent e;

	ac_range_measure(counts, &e);
	if (e.elements <= e.zeros + e.nonfinite)
		return;
	x->low = e.lowest < x->low ? e.lowest : x->low;
	x->high = e.highest > x->high ? e.highest : x->high;
}

static double
x_of(const struct extent *x, int exponent)
{
	return (double)(exponent - x->low) * AC_SVG_WIDTH
	    / (double)(x->high - x->low + 1);
}

/* A path of steps, or bars, as high as the logarithm of the share. */
static void
add_spread(struct ac_html *w, const char *style, const uint64_t *counts,
    const struct extent *x, double y)
{
	struct ac_range_extent e;

	ac_range_measure(counts, &e);
	ac_html_addf(w, "<path class=\"%s\" d=\"M0 %s", style,
	    AC_FIXED(y + PLOT, 1));
	for (int i = x->low; i <= x->high && e.elements; i++) {
		const double share = (double)counts[i + BIAS]
		    / (double)e.elements;
		const double part = share > 0 ? 1 + log10(share) / DECADES : 0;

		ac_html_addf(w, "V%sH%s", AC_FIXED(y + PLOT - PLOT
		    * fmax(part, 0), 1), AC_FIXED(x_of(x, i + 1), 1));
	}
	ac_html_addf(w, "V%s\"/>\n", AC_FIXED(y + PLOT, 1));
}

static void
add_panel(struct ac_html *w, const struct ac_site_row *row,
    const struct ac_exponents *ranges, const struct extent *x, double y)
{
	ac_svg_label(w, "name", 0, y + 11, 60, "%s", AC_SAID(ac_html_add_label,
	    row->rungs[0]));
	y += TOP;
	ac_svg_box(w, "band", x_of(x, LEAST_NORMAL), y,
	    x_of(x, MOST_NORMAL + 1) - x_of(x, LEAST_NORMAL), PLOT);
	add_spread(w, "a", ranges->counts, x, y);
	add_spread(w, "b", ranges->counts + AC_EXPONENTS, x, y);
	ac_svg_line(w, "base", 0, y + PLOT, AC_SVG_WIDTH, y + PLOT);
	for (int e = (x->low / 10) * 10; e <= x->high; e += 10) {
		const double at = x_of(x, e);

		if (e >= x->low && at >= 14 && at <= AC_SVG_WIDTH - 14)
			ac_svg_label(w, "tick middle", at, y + PLOT + 14, 0,
			    "2^%d", e);
	}
}

static const struct ac_exponents *
ranges_of(const struct ac_html *w, const struct ac_site_row *row)
{
	return ac_report_find_ranges(w->report, &row->rungs[0]->key,
	    row->rungs[0]->region.name);
}

void
ac_html_exponents(struct ac_html *w)
{
	const struct ac_site_row *chosen[MOST_PANELS];
	struct extent x = { LEAST_NORMAL - 4, MOST_NORMAL + 4 };
	size_t count = 0;

	for (size_t i = 0; w->report->ranges_count && i < w->row_count &&
	    count < MOST_PANELS; i++) {
		const struct ac_exponents *ranges = ranges_of(w, &w->rows[i]);

		if (!ranges)
			continue;
		widen(&x, ranges->counts);
		widen(&x, ranges->counts + AC_EXPONENTS);
		chosen[count++] = &w->rows[i];
	}
	if (!count)
		return;
	ac_text_add(ac_html_piece(w), "How often each binary exponent occurs "
	    "in A and in B, site by site; autocast report --ranges has the "
	    "numbers.");
	ac_svg_begin(w, "exponents", "Exponents of the operands",
	    (double)count * PANEL);
	for (size_t i = 0; i < count; i++)
		add_panel(w, chosen[i], ranges_of(w, chosen[i]), &x,
		    (double)i * PANEL);
	ac_html_addf(w, "</svg>\n<figcaption>A filled, B as a line, on a scale "
	    "of logarithms from all elements down to one in a million. "
	    "Shaded: normal numbers of FP16, without the scaling that a cast "
	    "has. The first %zu of %zu sites that were counted.</figcaption>\n"
	    "</figure>\n", count, w->report->ranges_count);
}
