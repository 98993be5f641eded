/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/json_ranges.c -- a site's exponents and what follows from them,
 * as JSON. Pure but for the sink. */
#include "report/write/json.h"
#include "report/read/read.h"

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
