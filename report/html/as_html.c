/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/as_html.c -- a run as one page that needs nothing else: no
 * network, no font, no file. Pure but for the sink. */
#include "report/html/html.h"

#include <stdlib.h>

static void
add_start(struct ac_html *w)
{
	const struct ac_report *report = w->report;

	ac_html_add(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
	    "content=\"width=device-width, initial-scale=1\">\n"
	    "<meta name=\"color-scheme\" content=\"light dark\">\n"
	    /* Whatever a name may smuggle in: nothing is fetched. */
	    "<meta http-equiv=\"Content-Security-Policy\" content=\""
	    "default-src 'none'; style-src 'unsafe-inline'; "
	    "script-src 'unsafe-inline'\">\n<title>");
	if (report->process_count)
		ac_html_text(w, report->processes[0].program);
	ac_html_add(w, " &#8211; autocast report</title>\n<style>\n");
	ac_html_add(w, ac_html_style);
	ac_html_add(w, "</style>\n</head>\n<body>\n");
}

static void
add_page(struct ac_html *w)
{
	ac_html_head(w);
	ac_html_add(w, "<main>\n");
	if (w->row_count) {
		ac_html_totals(w);
		ac_html_add(w, "<div class=\"plots\">\n");
		ac_html_times(w);
		ac_html_errors(w);
		ac_html_roofline(w);
		ac_html_kept(w);
		ac_html_guard(w);
		ac_html_events(w);
		ac_html_ranks(w);
		ac_html_exponents(w);
		ac_html_add(w, "</div>\n");
		ac_html_sites(w);
	}
	ac_html_foot(w);
	ac_html_add(w, "</main>\n");
}

void
ac_report_as_html(const struct ac_report *report, ac_report_sink sink,
    void *context)
{
	static const struct ac_report nothing;
	struct ac_html w = { .report = report ? report : &nothing };
	struct ac_site_row *rows = NULL;

	w.is_whole = ac_rows_make(w.report, AC_SORT_GAIN, &rows,
	    &w.row_count);
	w.rows = rows;
	w.clock = ac_report_clock_of(w.report);
	ac_report_totals(w.report, &w.totals);
	ac_html_begin(&w, sink, context);
	add_start(&w);
	add_page(&w);
	ac_html_add(&w, "<script>\n");
	ac_html_add(&w, ac_html_script);
	ac_html_add(&w, "</script>\n</body>\n</html>\n");
	ac_html_end(&w);
	free(rows);
}
