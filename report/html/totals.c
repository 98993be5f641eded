/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/totals.c -- the run in four cards: what it gained, what was
 * recast, how good that was, and what was counted. Pure but for the sink. */
#include "report/html/html.h"

/* ---- Gain -------------------------------------------------------------- */

static void
add_change(struct ac_html *w, const char *id, const char *basis,
    uint64_t calls, double keep_us, double recast_us)
{
	ac_html_addf(w, "<p id=\"%s\" class=\"change\">%s <span>before</span> "
	    "&#8594; %s <span>now, of these in </span>%s "
	    "<span class=\"basis\">%s</span></p>\n", id, AC_HTML_TIME(keep_us),
	    AC_HTML_TIME(recast_us), AC_HTML_COUNT(calls, "recast call"),
	    basis);
}

/* Of all FP32 calls, and how sure that is. */
static void
add_headline(struct ac_html *w)
{
	const struct ac_report_totals *t = &w->totals;
	const bool knows_all = t->known_calls >= t->whole_calls;

	ac_html_addf(w, "<p class=\"big%s\">%s</p>\n<p class=\"lead\" "
	    "id=\"whole\">%s <span>before</span> &#8594; %s <span>now, in"
	    "</span> %s%s%s <span class=\"basis\">",
	    t->now_us > t->before_us ? " loss" : "",
	    AC_SAID(ac_factor_add, t->before_us, t->now_us),
	    AC_HTML_TIME(t->before_us), AC_HTML_TIME(t->now_us),
	    knows_all ? "" : AC_HTML_WHOLE(t->known_calls),
	    knows_all ? "" : " of ",
	    AC_HTML_COUNT(t->whole_calls, "FP32 call"));
	ac_totals_add_basis_of_times(ac_html_piece(w), w->report, t);
	ac_html_put(w, "</span></p>\n");
}

static void
add_gain(struct ac_html *w)
{
	const struct ac_report_totals *t = &w->totals;

	ac_html_add(w, "<div class=\"card\" id=\"gain\"><h2>Device time of all "
	    "FP32 work</h2>\n");
	if (t->recast_calls && t->before_us > 0 && t->now_us > 0)
		add_headline(w);
	else
		ac_html_add(w, t->recast_calls
		    ? "<p class=\"big none\">not known</p>\n<p class=\"lead\">"
		    "no call has a time, nor could one be estimated</p>\n"
		    : "<p class=\"big none\">no faster</p>\n"
		    "<p class=\"lead\">no call was recast</p>\n");
	if (t->measured_keep_us > 0)
		add_change(w, "gain-timed", w->clock == AC_CLOCK_MODELLED
		    ? "estimated" : "measured", t->measured_calls,
		    t->measured_keep_us, t->measured_recast_us);
	if (t->predicted_keep_us > 0)
		add_change(w, "gain-predicted", "estimated",
		    t->predicted_calls, t->predicted_keep_us,
		    t->predicted_recast_us);
	if (t->wall_us > 0) {
		ac_html_add(w, "<p class=\"fine\">Wall time ");
		ac_report_add_wall(ac_html_piece(w), w->report, t);
		ac_html_put(w, "</p>\n");
	}
	ac_html_add(w, "</div>\n");
}

/* ---- Share ------------------------------------------------------------- */

static void
add_rungs(struct ac_html *w, bool legend)
{
	const struct ac_report_totals *t = &w->totals;

	for (int i = AC_RUNG_COUNT; i-- > 0;) {
		const double share = t->flops > 0 ? t->flops_by_rung[i]
		    / t->flops : 0;

		if (share <= 0)
			continue;
		if (!legend) {
			ac_html_addf(w, "<i class=\"%s\" style=\"width:%s%%\">"
			    "</i>", ac_rung_names[i], AC_FIXED(share * 100, 2));
			continue;
		}
		ac_html_addf(w, "<li><i class=\"%s\"></i>%s %s</li>",
		    ac_rung_names[i], i == AC_RUNG_KEEP ? "kept"
		    : ac_rung_names[i],
		    AC_HTML_SHARE(t->flops_by_rung[i], t->flops));
	}
}

static void
add_recast(struct ac_html *w)
{
	const struct ac_report_totals *t = &w->totals;

	ac_html_addf(w, "<div class=\"card\" id=\"recast\"><h2>Recast</h2>\n"
	    "<p class=\"big\">%s</p>\n<p class=\"lead\">of the FP32 %s work"
	    "</p>\n<div class=\"stack\" aria-hidden=\"true\">",
	    AC_HTML_SHARE(t->recast_flops, t->flops), ac_totals_kind(t));
	add_rungs(w, false);
	ac_html_add(w, "</div>\n<ul class=\"legend\" id=\"rungs\">");
	add_rungs(w, true);
	ac_html_add(w, "</ul></div>\n");
}

/* ---- Error ------------------------------------------------------------- */

/* How much of the tolerance was used, as a bar with the tolerance at 80 %. */
static void
add_gauge(struct ac_html *w, double part)
{
	ac_html_addf(w, "<div class=\"gauge\" aria-hidden=\"true\">"
	    "<i class=\"%s\" style=\"width:%s%%\"></i><b>tol</b></div>\n",
	    part > 1 ? "over" : "under", AC_FIXED(part < 1.25 ? part * 80
	    : 100, 2));
}

static void
add_error(struct ac_html *w)
{
	const struct ac_report_totals *t = &w->totals;
	const double part = t->worst_tol > 0 ? t->worst_error / t->worst_tol
	    : 0;

	ac_html_add(w, "<div class=\"card\" id=\"error\"><h2>Worst error");
	if (!ac_totals_have_error(t)) {
		ac_html_add(w, "</h2>\n<p class=\"big none\">none</p>\n"
		    "<p class=\"lead\">nothing was checked</p>\n</div>\n");
		return;
	}
	ac_html_addf(w, "</h2>\n<p class=\"big%s\">%s of tol</p>\n"
	    "<p class=\"lead\">%s of %s, at <a href=\"#s-%08x\">%08x</a></p>\n",
	    part > 1 ? " loss" : "", AC_HTML_REAL(AC_RATIO(part), part),
	    AC_HTML_REAL(AC_DOUBLE(t->worst_error, 2), t->worst_error),
	    AC_HTML_REAL(AC_DOUBLE(t->worst_tol, 2), t->worst_tol),
	    (unsigned)t->worst_site, (unsigned)t->worst_site);
	add_gauge(w, part);
	ac_html_add(w, "<p class=\"fine\">");
	ac_totals_add_checks(ac_html_piece(w), t);
	ac_html_put(w, "</p></div>\n");
}

/* ---- Counts ------------------------------------------------------------ */

static void
add_counts(struct ac_html *w)
{
	const struct ac_report_totals *t = &w->totals;

	ac_html_addf(w, "<div class=\"card\" id=\"counts\"><h2>Counted</h2>\n"
	    "<p class=\"big\">%s</p>\n<p class=\"lead\">at %s</p>\n"
	    "<dl class=\"list\"><div><dt>FP32 work</dt><dd>%s</dd></div>"
	    "<div><dt>recast</dt><dd>%s</dd></div>"
	    "<div><dt>demoted</dt><dd>%s</dd></div>"
	    "<div><dt>scratch</dt><dd>%s</dd></div></dl></div>\n",
	    AC_HTML_COUNT(t->calls, "call"),
	    AC_HTML_COUNT(w->row_count, "site"),
	    AC_HTML_REAL(AC_FLOPS(t->flops), t->flops),
	    AC_HTML_COUNT(t->recast_calls, "call"),
	    AC_HTML_COUNT(t->demotions, "time"),
	    AC_HTML_BYTES_OF(t->peak_scratch_bytes));
}

void
ac_html_totals(struct ac_html *w)
{
	ac_html_add(w, "<section class=\"totals\" aria-label=\"Totals\">\n");
	add_gain(w);
	add_recast(w);
	add_error(w);
	add_counts(w);
	ac_html_add(w, "</section>\n");
}
