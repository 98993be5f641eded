/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/sites.c -- the table of sites, as many as the page has room for,
 * and what the others add up to. Each site is a body of the table: a row, and
 * one below it with what numbers do not say. Pure but for the sink. */
#include "report/html/html.h"

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
	{ "error", "err/tol", "worst sampled error, as a part of tol" },
};

/* ---- A row ------------------------------------------------------------- */

static void
open_cell(struct ac_html *w)
{
	ac_html_add(w, "<td>");
}

static void
close_cell(struct ac_html *w)
{
	ac_html_add(w, "</td>");
}

static void
add_nothing(struct ac_html *w)
{
	ac_html_add(w, "<td>&#8211;</td>");
}

static void
add_names(struct ac_html *w, const struct ac_site_total *site)
{
	ac_html_addf(w, "<th scope=\"row\">%s%08x%s", *site->name ? "" :
	    "<code>", (unsigned)site->id, *site->name ? "" : "</code>");
	if (*site->name) {
		ac_html_add(w, "<small>");
		ac_html_text(w, site->name);
		ac_html_add(w, "</small>");
	}
	ac_html_add(w, "</th><td>");
	ac_site_add_operation(ac_html_piece(w), site);
	ac_html_put(w);
	ac_html_add(w, "<small>");
	ac_site_add_sizes(ac_html_piece(w), site);
	ac_html_put(w);
	ac_html_add(w, "</small></td><td>");
	ac_site_add_caller(ac_html_piece(w), w->report, site);
	ac_html_put(w);
	ac_html_addf(w, "</td><td><b class=\"%s\">%s</b><small>%s</small></td>",
	    ac_rung_names[site->rung], ac_rung_names[site->rung],
	    site->rung == AC_RUNG_KEEP ? ac_reason_names[site->reason]
	    : ac_tactic_names[site->tactic]);
}

static void
add_times(struct ac_html *w, double before_us, double after_us)
{
	const double gain_us = before_us - after_us;

	if (before_us <= 0) {
		for (int i = 0; i < 3; i++)
			add_nothing(w);
		return;
	}
	open_cell(w);
	ac_html_time(w, before_us);
	close_cell(w);
	open_cell(w);
	ac_html_time(w, after_us);
	close_cell(w);
	ac_html_add(w, gain_us < 0 ? "<td class=\"loss\">" : "<td>");
	ac_html_time(w, gain_us);
	close_cell(w);
}

static void
add_speed(struct ac_html *w, const struct ac_site_row *row)
{
	if (row->speed <= 0) {
		add_nothing(w);
		return;
	}
	open_cell(w);
	ac_speed_add(ac_html_piece(w), row->speed);
	ac_html_put_real(w, row->speed);
	ac_html_addf(w, "<small>%s</small></td>",
	    row->basis == AC_BASIS_PREDICTED ? "predicted" : "");
}

static void
add_error(struct ac_html *w, const struct ac_site_row *row)
{
	if (row->error < 0) {
		add_nothing(w);
		return;
	}
	ac_html_add(w, row->error > 1 ? "<td class=\"loss\">" : "<td>");
	ac_ratio_add(ac_html_piece(w), row->error);
	ac_html_put_real(w, row->error);
	close_cell(w);
}

/* ---- The row below ----------------------------------------------------- */

struct pieces {
	struct ac_html *w;
	bool            begun;
};

static void
add_piece(const char *piece, void *context)
{
	struct pieces *p = context;

	if (!p->begun)
		ac_html_addf(p->w, "<tr class=\"more\"><td colspan=\"%d\">",
		    COLUMNS);
	else
		ac_html_add(p->w, " &#183; ");
	ac_html_text(p->w, piece);
	p->begun = true;
}

/* What other writers put into a text. */
static void
add_words(struct pieces *p, const char *before,
    void (*words)(struct ac_text *, const struct ac_site_total *),
    const struct ac_site_total *site)
{
	char buffer[512];
	struct ac_text t;

	ac_text_init(&t, buffer, sizeof buffer);
	ac_text_add(&t, before);
	words(&t, site);
	add_piece(buffer, p);
}

static void
add_region(struct ac_text *t, const struct ac_site_total *site)
{
	ac_text_add(t, site->region.name);
	if (site->region.is_disabled)
		ac_text_add(t, ", disabled");
	for (int i = 0; i < site->region.rung_count; i++)
		ac_text_addf(t, "%s%s", i ? "," : ", rungs ",
		    ac_rung_names[site->region.rung[i]]);
	if (site->region.cache)
		ac_text_add(t, ", cache");
}

static void
add_kept(struct ac_text *t, const struct ac_site_total *site)
{
	const char *between = ": ";

	ac_text_addf(t, "%llu of ",
	    (unsigned long long)(site->calls - site->recast));
	ac_text_add_count(t, site->calls, "call");
	for (int i = 0; i < AC_REASON_COUNT; i++) {
		if (!site->kept[i])
			continue;
		ac_text_addf(t, "%s%s %llu", between, ac_reason_names[i],
		    (unsigned long long)site->kept[i]);
		between = ", ";
	}
}

static void
add_finding(struct ac_text *t, const struct ac_site_total *site)
{
	const enum ac_finding finding = site->course.finding;

	ac_text_addf(t, "%s: %s", ac_rung_names[site->rung],
	    ac_finding_meanings[finding]);
}

static void
add_tried(struct ac_text *t, const struct ac_site_total *site)
{
	ac_text_addf(t, "%s: ", ac_rung_names[site->rung]);
	ac_text_add_count(t, site->recast, "call");
	if (ac_course_speed(&site->course) > 0) {
		ac_text_add(t, ", ");
		ac_speed_add(t, ac_course_speed(&site->course));
	}
	if (site->course.samples && site->tol > 0) {
		ac_text_add(t, ", ");
		ac_ratio_add(t, site->course.error / site->tol);
		ac_text_add(t, " of tol");
	}
}

static void
add_rung(struct pieces *p, const struct ac_site_total *site, bool first)
{
	if (!first && site->rung != AC_RUNG_KEEP)
		add_words(p, "also ", add_tried, site);
	if (site->kept[site->reason] + site->recast < site->calls)
		add_words(p, "kept ", add_kept, site);
	if (site->course.finding != AC_FINDING_NONE)
		add_words(p, "demoted from ", add_finding, site);
	if (first && site->rung != AC_RUNG_KEEP)
		ac_site_tell_basis(site, add_piece, p);
}

static void
add_more(struct ac_html *w, const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];
	struct pieces p = { w, false };

	if (*site->source)
		add_words(&p, "line ", ac_site_add_line, site);
	if (*site->region.name)
		add_words(&p, "in region ", add_region, site);
	if (*site->key.shape)
		add_words(&p, "", ac_site_add_shape, site);
	for (size_t i = 0; i < row->rung_count; i++)
		add_rung(&p, row->rungs[i], i == 0);
	if (p.begun)
		ac_html_add(w, "</td></tr>");
}

/* ---- The table --------------------------------------------------------- */

static void
add_row(struct ac_html *w, const struct ac_site_row *row)
{
	ac_html_addf(w, "<tbody id=\"s-%08x\"><tr>",
	    (unsigned)row->rungs[0]->id);
	add_names(w, row->rungs[0]);
	open_cell(w);
	ac_html_whole(w, row->calls);
	close_cell(w);
	open_cell(w);
	ac_html_share(w, row->flops, w->totals.flops);
	close_cell(w);
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
	ac_html_addf(w, "<tr id=\"%s\"><th scope=\"row\" colspan=\"4\">", id);
	ac_html_whole(w, w->row_count - from);
	ac_html_addf(w, " %s</th><td>", title);
	ac_html_whole(w, calls);
	ac_html_add(w, "</td><td>");
	ac_html_share(w, flops, w->totals.flops);
	close_cell(w);
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
