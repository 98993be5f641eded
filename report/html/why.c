/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/why.c -- why calls were kept, by reason; and which sites the
 * guard demoted. Pure but for the sink. */
#include "report/html/html.h"

enum { ROW = 42, BAR = 8 };

/* ---- Kept -------------------------------------------------------------- */

static bool
comes_before(const struct ac_report_totals *t, int a, int b)
{
	if (t->kept_flops[a] < t->kept_flops[b] ||
	    t->kept_flops[a] > t->kept_flops[b])
		return t->kept_flops[a] > t->kept_flops[b];
	return t->kept_calls[a] > t->kept_calls[b];
}

/* The reasons that occurred, those with most work first, then most calls. */
static size_t
order_reasons(const struct ac_report_totals *t, int order[AC_REASON_COUNT])
{
	size_t count = 0;

	for (int i = 0; i < AC_REASON_COUNT; i++) {
		size_t at = count;

		if (!t->kept_calls[i])
			continue;
		for (; at > 0 && comes_before(t, i, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = i;
		count++;
	}
	return count;
}

static void
add_reason(struct ac_html *w, int reason, double y)
{
	const struct ac_report_totals *t = &w->totals;
	const double kept = t->flops_by_rung[AC_RUNG_KEEP];
	const double part = kept > 0 ? t->kept_flops[reason] / kept : 0;
	const bool has_work = t->kept_flops[reason] > 0;

	ac_svg_label(w, "name", 0, y + 11, 0, "%s", ac_reason_names[reason]);
	ac_svg_label(w, "value end", AC_SVG_WIDTH, y + 11, 0, "%s%s%s",
	    has_work ? AC_SHARE(t->kept_flops[reason], t->flops) : "",
	    has_work ? ", " : "", AC_COUNT(t->kept_calls[reason], "call"));
	ac_svg_box(w, "track", 0, y + 17, AC_SVG_WIDTH, BAR);
	ac_svg_box(w, "before", 0, y + 17, part * AC_SVG_WIDTH, BAR);
}

void
ac_html_kept(struct ac_html *w)
{
	const struct ac_report_totals *t = &w->totals;
	int order[AC_REASON_COUNT];
	const size_t count = order_reasons(t, order);
	struct ac_text *text = ac_html_piece(w);

	if (!count)
		return;
	ac_text_add(text, "Bars: the part of the FP32 work that was kept, by "
	    "reason. ");
	ac_totals_add_reasons(text, t);
	ac_svg_begin(w, "kept", "Why calls were kept", (double)count * ROW);
	for (size_t i = 0; i < count; i++)
		add_reason(w, order[i], (double)i * ROW);
	ac_html_addf(w, "</svg>\n<figcaption><p>Kept was %s of the FP32 work; "
	    "bars are parts of that.</p><dl class=\"reasons\">",
	    AC_HTML_SHARE(t->flops_by_rung[AC_RUNG_KEEP], t->flops));
	for (size_t i = 0; i < count; i++)
		ac_html_addf(w, "<div><dt>%s</dt><dd>%s</dd></div>",
		    ac_reason_names[order[i]], AC_SAID(ac_html_escape,
		    ac_reason_meanings[order[i]]));
	ac_html_add(w, "</dl></figcaption>\n</figure>\n");
}

/* ---- Guard ------------------------------------------------------------- */

struct events {
	const struct ac_site_row *row;
	uint64_t demotions;
	enum ac_finding finding;     /* the last rung's that has one */
	uint32_t rung;               /* which one was left */
};

static struct events
events_of(const struct ac_site_row *row)
{
	struct events e = { .row = row };

	for (size_t i = 0; i < row->rung_count; i++) {
		const struct ac_course *c = &row->rungs[i]->course;

		e.demotions += c->demotions;
		if (c->finding == AC_FINDING_NONE)
			continue;
		e.finding = c->finding;
		e.rung = row->rungs[i]->rung;
	}
	return e;
}

/* Those with most demotions first. */
static size_t
order_events(const struct ac_html *w, struct events order[AC_HTML_BARS],
    size_t *sites_out)
{
	size_t count = 0;

	*sites_out = 0;
	for (size_t i = 0; i < w->row_count; i++) {
		const struct events e = events_of(&w->rows[i]);
		size_t at;

		if (!e.demotions)
			continue;
		++*sites_out;
		if (count < AC_HTML_BARS)
			at = count++;
		else if (e.demotions > order[count - 1].demotions)
			at = count - 1;
		else
			continue;
		for (; at > 0 && e.demotions > order[at - 1].demotions; at--)
			order[at] = order[at - 1];
		order[at] = e;
	}
	return count;
}

static void
add_event(struct ac_html *w, const struct events *e, double y, double scale)
{
	struct ac_text t = AC_TEXT_OF(128);

	ac_html_addf(w, "<a href=\"#s-%08x\">",
	    (unsigned)e->row->rungs[0]->id);
	ac_svg_label(w, "name", 0, y + 11, 41, "%s", AC_SAID(ac_html_add_label,
	    e->row->rungs[0]));
	if (e->finding != AC_FINDING_NONE)
		ac_text_addf(&t, "%s: %s, ", ac_rung_names[e->rung],
		    ac_finding_names[e->finding]);
	ac_svg_label(w, "value end", AC_SVG_WIDTH, y + 11, 0, "%s%llu left",
	    t.data, (unsigned long long)e->demotions);
	ac_svg_box(w, "left", 0, y + 17, (double)e->demotions * scale, BAR);
	ac_html_add(w, "</a>\n");
}

void
ac_html_guard(struct ac_html *w)
{
	struct events order[AC_HTML_BARS];
	size_t sites, count = order_events(w, order, &sites);
	uint64_t most = 1;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		most = order[i].demotions > most ? order[i].demotions : most;
	ac_text_addf(ac_html_piece(w), "%s, by site.",
	    AC_COUNT(w->totals.demotions, "demotion"));
	ac_svg_begin(w, "guard", "What the guard did",
	    (double)count * ROW);
	for (size_t i = 0; i < count; i++)
		add_event(w, &order[i], (double)i * ROW,
		    (double)AC_SVG_WIDTH / (double)most);
	ac_html_add(w, "</svg>\n<figcaption>How often a site left a rung.");
	if (sites > count)
		ac_html_addf(w, " The first %zu of %zu sites.", count, sites);
	ac_html_add(w, "</figcaption>\n</figure>\n");
}
