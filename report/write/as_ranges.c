/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_ranges.c -- what the operands were made of, and which rungs
 * would fit, as text; the same as a member of a site's JSON. Pure but for the
 * sink. */
#include "report/write/page.h"
#include "report/read/read.h"
#include "report/write/json.h"

#include <stdlib.h>
#include <string.h>

enum { LINES = 10, BAR = 40, FP32_BIAS = 127 };

/* ---- A histogram ------------------------------------------------------- */

static void
print_operand_head(struct ac_page *p, const char *name,
    const struct ac_range_extent *x)
{
	ac_text_addf(&p->line, "  %s  %s", name,
	    AC_COUNT(x->elements, "element"));
	if (x->lowest || x->highest || x->elements > x->zeros + x->nonfinite)
		ac_text_addf(&p->line, ", from 2^%d to 2^%d", x->lowest,
		    x->highest + 1);
	if (x->zeros)
		ac_text_addf(&p->line, ", zero: %s",
		    AC_SHARE((double)x->zeros, (double)x->elements));
	if (x->nonfinite)
		ac_text_addf(&p->line, ", inf or NaN: %s",
		    AC_SHARE((double)x->nonfinite, (double)x->elements));
	ac_page_end_line(p);
}

/* One line: binades `from` to `to`, and their part of `all`. */
static void
print_bar(struct ac_page *p, int from, int to, double count, double all)
{
	const double part = all > 0 ? count / all : 0;

	ac_text_addf(&p->line, "     2^%-5dto 2^%-7d%-8s", from, to + 1,
	    AC_SHARE(count, all));
	for (int i = 0; i < (int)(part * BAR + 0.5); i++)
		ac_text_add(&p->line, "#");
	ac_page_end_line(p);
}

static void
print_operand(struct ac_page *p, const char *name, const uint64_t *counts)
{
	struct ac_range_extent x;
	double all = 0;
	int step;

	ac_range_measure(counts, &x);
	print_operand_head(p, name, &x);
	for (int e = x.lowest; e <= x.highest; e++)
		all += (double)counts[e + FP32_BIAS];
	if (x.elements == x.zeros + x.nonfinite)
		return;
	step = (x.highest - x.lowest) / LINES + 1;
	for (int top = x.highest; top >= x.lowest; top -= step) {
		const int from = top - step + 1 > x.lowest ? top - step + 1
		    : x.lowest;
		double count = 0;

		for (int e = from; e <= top; e++)
			count += (double)counts[e + FP32_BIAS];
		print_bar(p, from, top, count, all);
	}
}

/* ---- The rungs --------------------------------------------------------- */

static double
larger(double a, double b)
{
	return a > b ? a : b;
}

static void
print_rank(struct ac_page *p, const struct ac_range_rank *r)
{
	const struct ac_range_loss *a = &r->loss[0], *b = &r->loss[1];

	ac_page_print(p, "     %-15s%-9s%-9s%-11s%s",
	    ac_range_rows[r->way].name, AC_DOUBLE(r->error, 2),
	    AC_SHARE(larger(a->flushed, b->flushed), 1),
	    AC_SHARE(larger(a->subnormal, b->subnormal), 1),
	    ac_range_verdict_names[r->verdict]);
}

static void
print_ranks(struct ac_page *p, const struct ac_exponents *ranges, double tol)
{
	struct ac_range_rank ranks[AC_RANGE_COUNT];

	ac_range_order(ranges->counts, ranges->counts + AC_EXPONENTS, tol,
	    ranks);
	ac_page_print(p, "  rungs          error    flushed  subnormal  "
	    "verdict at tol %s", tol > 0 ? AC_DOUBLE(tol, 2) : "of the rung");
	for (int i = 0; i < AC_RANGE_COUNT; i++)
		print_rank(p, &ranks[i]);
}

/* ---- The page ---------------------------------------------------------- */

static void
print_site(struct ac_page *p, const struct ac_site_total *site,
    const struct ac_exponents *ranges)
{
	ac_page_end_line(p);
	ac_text_add_cleanf(&p->line, "site %08x  %s  %s  %s",
	    (unsigned)site->id, AC_SAID(ac_site_add_operation, site),
	    AC_SAID(ac_site_add_sizes, site), *site->name ? site->name
	    : site->key.caller);
	if (*site->region.name)
		ac_text_add_cleanf(&p->line, ", region %s", site->region.name);
	ac_page_print(p, ", rung %s", ac_rung_names[site->rung]);
	print_operand(p, "A", ranges->counts);
	print_operand(p, "B", ranges->counts + AC_EXPONENTS);
	print_ranks(p, ranges, site->tol);
}

static bool
is_meant(const struct ac_site_total *site, const char *wanted)
{
	struct ac_text id = AC_TEXT_OF(9);

	if (!wanted)
		return true;
	ac_text_addf(&id, "%08x", (unsigned)site->id);
	return !strcmp(id.data, wanted)
	    || (*wanted && !strcmp(site->name, wanted));
}

bool
ac_report_as_ranges(const struct ac_report *report, const char *site,
    ac_report_sink sink, void *context)
{
	struct ac_page p = { .sink = sink, .context = context };
	bool *told = calloc(report->ranges_count + 1, sizeof *told);
	bool found = false;

	ac_text_init(&p.line, p.buffer, sizeof p.buffer);
	for (size_t i = 0; i < report->site_count && told; i++) {
		const struct ac_site_total *s = &report->sites[i];
		const struct ac_exponents *ranges =
		    ac_report_find_ranges(report, &s->key, s->region.name);
		bool *before = &told[ranges ? ranges - report->ranges : 0];

		/* Of a site's rungs, the one with the most work. */
		if (!ranges || *before)
			continue;
		*before = true;
		if (!is_meant(s, site))
			continue;
		if (!found) {
			ac_page_print_title(&p, report);
			ac_page_print_origin(&p, &report->processes[0]);
		}
		found = true;
		print_site(&p, s, ranges);
	}
	free(told);
	return found;
}

/* ---- As JSON ------------------------------------------------------------ */

static void
add_operand(struct ac_json *w, const char *name, const uint64_t *counts)
{
	struct ac_range_extent x;

	ac_range_measure(counts, &x);
	ac_json_open(w, name, "{");
	ac_json_unsigned(w, "elements", x.elements);
	ac_json_unsigned(w, "zeros", x.zeros);
	ac_json_unsigned(w, "nonfinite", x.nonfinite);
	ac_json_integer(w, "lowest", x.lowest);
	ac_json_integer(w, "highest", x.highest);
	ac_json_open(w, "counts", "[");
	for (int e = x.lowest; e <= x.highest && x.elements; e++)
		ac_json_unsigned(w, NULL, counts[e + 127]);
	ac_json_close(w, "]");
	ac_json_close(w, "}");
}

static void
add_loss(struct ac_json *w, const char *name, const struct ac_range_loss *loss)
{
	ac_json_open(w, name, "{");
	ac_json_real(w, "rho", loss->rho);
	ac_json_real(w, "flushed", loss->flushed);
	ac_json_real(w, "subnormal", loss->subnormal);
	ac_json_real(w, "overflowed", loss->overflowed);
	ac_json_close(w, "}");
}

void
ac_json_ranges(struct ac_json *w, const struct ac_report *report,
    const struct ac_site_total *site)
{
	const struct ac_exponents *ranges = ac_report_find_ranges(report,
	    &site->key, site->region.name);
	struct ac_range_rank ranks[AC_RANGE_COUNT];
	const uint64_t *a, *b;

	if (!ranges)
		return;
	a = ranges->counts;
	b = ranges->counts + AC_EXPONENTS;
	ac_range_order(a, b, site->tol, ranks);
	ac_json_open(w, "ranges", "{");
	add_operand(w, "a", a);
	add_operand(w, "b", b);
	ac_json_open(w, "rungs", "[");
	for (int i = 0; i < AC_RANGE_COUNT; i++) {
		ac_json_open(w, NULL, "{");
		ac_json_string(w, "name", ac_range_rows[ranks[i].way].name);
		ac_json_real(w, "error", ranks[i].error);
		ac_json_string(w, "verdict",
		    ac_range_verdict_names[ranks[i].verdict]);
		add_loss(w, "a", &ranks[i].loss[0]);
		add_loss(w, "b", &ranks[i].loss[1]);
		ac_json_close(w, "}");
	}
	ac_json_close(w, "]");
	ac_json_close(w, "}");
}
