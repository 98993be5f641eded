/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/head.c -- above all: what ran, when, under which policy, and what
 * its times are; below all: what else was seen. Pure but for the sink. */
#include "report/html/html.h"

#include <string.h>

enum { MOST_PROCESSES = 64 };

static void
add_time(struct ac_html *w, uint64_t start_s)
{
	ac_html_addf(w, "<time datetime=\"%s\">%s</time>",
	    AC_SAID(ac_start_add_utc, start_s), AC_SAID(ac_start_add, start_s));
}

static void
add_fact(struct ac_html *w, const char *name, const char *value,
    const char *more)
{
	ac_html_addf(w, "<div><dt>%s</dt><dd>", name);
	ac_html_text(w, *value ? value : "unknown");
	if (*more) {
		ac_html_add(w, " <small>");
		ac_html_text(w, more);
		ac_html_add(w, "</small>");
	}
	ac_html_add(w, "</dd></div>\n");
}

/* No time here is the program's: an estimated one was never seen to pass. */
static void
add_times(struct ac_html *w)
{
	static const char *const words[AC_CLOCK_COUNT] = {
		[AC_CLOCK_NONE] = "none", [AC_CLOCK_DEVICE] = "measured",
		[AC_CLOCK_MODELLED] = "estimated",
	};
	const bool predicted = w->totals.predicted_calls > 0;
	const char *word = words[w->clock];
	struct ac_text t = AC_TEXT_OF(256);

	/* Begins with the same word. */
	ac_report_add_clock(&t, w->report);
	if (predicted && w->clock == AC_CLOCK_NONE)
		ac_text_add(&t, "; estimated from the rates of the GPU");
	else if (predicted)
		ac_text_add(&t, "; estimated where no call was timed");
	add_fact(w, "Times", predicted && w->clock == AC_CLOCK_NONE
	    ? "estimated" : word, t.data + strlen(word)
	    + strspn(t.data + strlen(word), ": "));
}

static void
add_gpu(struct ac_html *w, const struct ac_file_header *h)
{
	struct ac_text t = AC_TEXT_OF(80);

	if (h->sm)
		ac_text_addf(&t, "sm_%d%s", (int)h->sm, *h->library ? ", "
		    : "");
	ac_text_add(&t, h->library);
	add_fact(w, "GPU", h->gpu, t.data);
}

static void
add_scaler(struct ac_html *w)
{
	const struct ac_scaled_total *s = &w->totals.scaled;
	struct ac_text scale = AC_TEXT_OF(40), more = AC_TEXT_OF(256);

	if (!s->scalers)
		return;
	if (s->scale > 0)
		ac_text_add_double(&scale, s->scale, 6);
	ac_scaled_add(&more, s);
	add_fact(w, "Scale of gradients", scale.data, more.data);
}

static void
add_notes(struct ac_html *w, const char *notes)
{
	for (size_t length; *(notes += strspn(notes, "\n")); notes += length) {
		length = strcspn(notes, "\n");
		ac_text_add_bytes(ac_html_piece(w), notes, length);
		ac_html_add(w, "<p class=\"note\">");
		ac_html_put(w, "</p>\n");
	}
}

void
ac_html_head(struct ac_html *w)
{
	const struct ac_report *report = w->report;
	const struct ac_file_header *h = report->processes;

	ac_html_add(w, "<header>\n<p class=\"kind\">autocast report</p>\n");
	if (!report->process_count) {
		ac_html_add(w, "<h1>Nothing was intercepted</h1>\n"
		    "<p class=\"when\">The program reached no function that "
		    "autocast knows. <code>autocast doctor -- ./program</code> "
		    "says why.</p>\n</header>\n");
		return;
	}
	ac_html_add(w, "<h1>");
	ac_html_text(w, h->program);
	ac_html_add(w, "</h1>\n<p class=\"when\">");
	add_time(w, h->start_s);
	if (report->process_count == 1)
		ac_html_addf(w, " &#183; process %d", (int)h->pid);
	else
		ac_html_addf(w, " &#183; %zu processes",
		    report->process_count);
	ac_html_addf(w, " &#183; %s</p>\n<dl class=\"facts\">\n",
	    ac_report_state(report));
	add_times(w);
	add_gpu(w, h);
	add_fact(w, "Policy", h->policy, h->why);
	add_scaler(w);
	ac_html_add(w, "</dl>\n");
	add_notes(w, h->notes);
	if (!w->is_whole)
		ac_html_add(w, "<p class=\"note\">There was no memory for the "
		    "sites: the page lacks them.</p>\n");
	if (report->incomplete)
		ac_html_add(w, "<p class=\"note\">Some sites are missing: "
		    "their statistics could not be stored.</p>\n");
	ac_html_add(w, "</header>\n");
}

/* ---- Foot -------------------------------------------------------------- */

static void
add_processes(struct ac_html *w)
{
	const struct ac_report *report = w->report;
	size_t count = report->process_count;

	if (count < 2)
		return;
	if (count > MOST_PROCESSES)
		count = MOST_PROCESSES;
	ac_html_add(w, "<section class=\"card\"><h2>Processes</h2>\n"
	    "<div class=\"scroll\"><table class=\"plain\"><thead><tr>"
	    "<th>process</th><th>rank</th><th>started</th><th>program</th>"
	    "<th>GPU</th><th>scratch</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < count; i++) {
		const struct ac_file_header *h = &report->processes[i];

		ac_html_addf(w, "<tr><td>%d</td><td>", (int)h->pid);
		if (h->ranks)
			ac_html_addf(w, "%d of %d on ", (int)h->rank,
			    (int)h->ranks);
		ac_html_text(w, h->ranks ? h->node : "-");
		ac_html_add(w, "</td><td>");
		add_time(w, h->start_s);
		ac_html_add(w, "</td><td>");
		ac_html_text(w, h->program);
		ac_html_add(w, "</td><td>");
		ac_html_text(w, h->gpu);
		ac_html_addf(w, "</td><td>%s</td></tr>\n", AC_HTML_BYTES_OF(
		    atomic_load(&h->peak_scratch_bytes)));
	}
	ac_html_add(w, "</tbody></table></div>\n");
	if (report->process_count > count)
		ac_html_addf(w, "<p>and %zu more</p>\n",
		    report->process_count - count);
	ac_html_add(w, "</section>\n");
}

static void
add_markers(struct ac_html *w)
{
	const struct ac_report *report = w->report;

	if (!report->marker_count)
		return;
	ac_html_add(w, "<section class=\"card\"><h2>Seen, too</h2>\n"
	    "<table class=\"plain\" id=\"markers\"><thead><tr>"
	    "<th>function</th><th>calls</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < report->marker_count; i++) {
		const char *symbol = report->markers[i].symbol;

		ac_html_add(w, "<tr><td>");
		ac_html_text(w, symbol);
		/* Seeds and updates are counted here, too. */
		if (!strstr(symbol, ", scaled by "))
			ac_html_add(w, " <small>passed through</small>");
		ac_html_addf(w, "</td><td>%s</td></tr>\n",
		    AC_HTML_WHOLE(report->markers[i].calls));
	}
	ac_html_add(w, "</tbody></table></section>\n");
}

void
ac_html_foot(struct ac_html *w)
{
	if (!w->report->process_count)
		return; /* it names what there is nothing of */
	add_processes(w);
	add_markers(w);
	ac_html_add(w, "<footer><p>A graph replay is counted once, at capture. "
	    "<code>autocast explain ID</code> says why a site went as it did; "
	    "<code>man autocast-policy</code> has each reason for which calls "
	    "are kept, and what to do.</p></footer>\n");
}
