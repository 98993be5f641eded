/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/sites.c -- the table of sites, as many as the page has room for,
 * and what the others add up to. Each site is a body of the table: a row, and
 * one below it with what numbers do not say. Pure but for the sink. */
#include "report/html/html.h"
#include "report/callers/functions.h"

enum { COLUMNS = 11 };

static const struct {
	const char *key, *title, *about;
} columns[COLUMNS] = {
	{ "site", "site", "its id, for autocast explain" },
	{ "operation", "operation", "transpositions and sizes" },
	{ "caller", "caller", "who calls" },
	{ "rung", "runs as", "precision and tactic, or why it is kept" },
	{ "calls", "calls", "all of them" },
	{ "share", "share", "of the FP32 work" },
	{ "before", "before", "device time of the recast calls as they were" },
	{ "now", "now", "device time of the recast calls" },
	{ "gain", "gain", "before less now" },
	{ "speed", "speed", "how many times as fast one call is" },
	{ "error", "err/tol", "worst error, as a part of tol" },
};

#define NOTHING "<td>&#8211;</td>"

/* ---- A row ------------------------------------------------------------- */

/* A site that recast nothing is kept, whatever rung was meant to run. */
static void
add_rung(struct ac_html *w, const struct ac_site_row *row)
{
	const char *how, *rung = ac_rung_names[ac_site_row_rung(row, &how)];

	ac_html_addf(w, "<td><b class=\"%s\">%s</b><small>%s</small></td>",
	    rung, rung, how);
}

static void
add_names(struct ac_html *w, const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];

	ac_html_addf(w, "<th scope=\"row\"><code>%08x</code></th><td>",
	    (unsigned)site->id);
	ac_site_add_operation(ac_html_piece(w), site);
	ac_html_put(w, "<small>");
	ac_site_add_sizes(ac_html_piece(w), site);
	ac_html_put(w, "</small></td><td>");
	ac_site_add_caller(ac_html_piece(w), w->report, site);
	ac_html_put(w, "");
	if (*ac_report_caller(w->report, site->key.caller)->caller) {
		ac_html_add(w, "<small>");
		ac_site_add_file(ac_html_piece(w), w->report, site);
		ac_html_put(w, "</small>");
	}
	ac_html_add(w, "</td>");
	add_rung(w, row);
}

/* Three cells. */
static void
add_times(struct ac_html *w, double before_us, double after_us)
{
	const double gain_us = before_us - after_us;

	if (before_us > 0)
		ac_html_addf(w, "<td>%s</td><td>%s</td><td%s>%s</td>",
		    AC_HTML_TIME(before_us), AC_HTML_TIME(after_us),
		    gain_us < 0 ? " class=\"loss\"" : "",
		    AC_HTML_TIME(gain_us));
	else
		ac_html_add(w, NOTHING NOTHING NOTHING);
}

static void
add_speed(struct ac_html *w, const struct ac_site_row *row)
{
	if (row->speed > 0)
		ac_html_addf(w, "<td>%s<small>%s</small></td>",
		    AC_HTML_REAL(AC_SPEED(row->speed), row->speed),
		    row->basis == AC_BASIS_PREDICTED ? "estimated" : "");
	else
		ac_html_add(w, NOTHING);
}

static void
add_error(struct ac_html *w, const struct ac_site_row *row)
{
	if (row->error >= 0)
		ac_html_addf(w, "<td%s>%s</td>", row->error > 1
		    ? " class=\"loss\"" : "",
		    AC_HTML_REAL(AC_RATIO(row->error), row->error));
	else
		ac_html_add(w, NOTHING);
}

/* ---- The row below ----------------------------------------------------- */

static void
add_more(struct ac_html *w, const struct ac_site_row *row)
{
	struct ac_html_lines lines;

	ac_html_lines_begin(&lines, w, "<tr class=\"more\"><td colspan=\"11\">",
	    " &#183; ");
	lines.page.flops = w->totals.flops;
	lines.page.report = w->report;
	lines.page.tells_line = true;
	ac_page_print_site_lines(&lines.page, row);
	if (!lines.open)
		ac_html_add(w, "</td></tr>");
}

/* ---- The table --------------------------------------------------------- */

static void
add_row(struct ac_html *w, const struct ac_site_row *row)
{
	ac_html_addf(w, "<tbody id=\"s-%08x\"><tr>",
	    (unsigned)row->rungs[0]->id);
	add_names(w, row);
	ac_html_addf(w, "<td>%s</td>", AC_HTML_WHOLE(row->calls));
	if (row->rungs[0]->is_fp32)
		ac_html_addf(w, "<td>%s</td>",
		    AC_HTML_SHARE(row->flops, w->totals.flops));
	else
		ac_html_add(w, NOTHING);
	add_times(w, row->before_us, row->after_us);
	add_speed(w, row);
	add_error(w, row);
	ac_html_add(w, "</tr>");
	add_more(w, row);
	ac_html_add(w, "</tbody>\n");
}

/* Rows from `from` on, added up. */
static void
add_sums(struct ac_html *w, const char *id, const char *title, size_t from)
{
	double flops = 0, before_us = 0, after_us = 0;
	uint64_t calls = 0;

	for (size_t i = from; i < w->row_count; i++) {
		flops += w->rows[i].flops;
		calls += w->rows[i].calls;
		before_us += w->rows[i].before_us;
		after_us += w->rows[i].after_us;
	}
	ac_html_addf(w, "<tr id=\"%s\"><th scope=\"row\" colspan=\"4\">%s %s"
	    "</th><td>%s</td><td>%s</td>", id,
	    AC_HTML_WHOLE(w->row_count - from), title, AC_HTML_WHOLE(calls),
	    AC_HTML_SHARE(flops, w->totals.flops));
	add_times(w, before_us, after_us);
	ac_html_add(w, "<td></td><td></td></tr>\n");
}

static void
add_controls(struct ac_html *w)
{
	ac_html_add(w, "<p class=\"controls\" id=\"controls\" hidden>"
	    "<label>Filter <input type=\"search\" id=\"filter\" "
	    "placeholder=\"fp16, gemm.nt, libnet.so ...\"></label>"
	    "<label><input type=\"checkbox\" id=\"details\" checked> details"
	    "</label><output id=\"found\"></output></p>\n");
}

void
ac_html_sites(struct ac_html *w)
{
	size_t shown = 0;

	ac_html_add(w, "<section class=\"card\" id=\"table\"><h2>Sites</h2>\n");
	add_controls(w);
	ac_html_add(w, "<table id=\"sites\"><caption>A site is one call in the "
	    "program with one set of sizes; the largest gains first."
	    "</caption>\n<thead><tr>");
	for (int i = 0; i < COLUMNS; i++)
		ac_html_addf(w, "<th scope=\"col\" data-key=\"%s\" "
		    "title=\"%s\">%s</th>", columns[i].key, columns[i].about,
		    columns[i].title);
	ac_html_add(w, "</tr></thead>\n");
	while (shown < w->row_count && ac_html_length(w) < AC_HTML_BYTES)
		add_row(w, &w->rows[shown++]);
	ac_html_add(w, "<tfoot>\n");
	if (shown < w->row_count)
		add_sums(w, "rest", "more sites, which the page has no room "
		    "for", shown);
	add_sums(w, "all", w->row_count == 1 ? "site" : "sites", 0);
	ac_html_add(w, "</tfoot></table>\n</section>\n");
}
