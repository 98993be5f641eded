/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_parts.c -- what the lines of a policy are made of. */
#include "cmd/tune/tune_lines.h"

#include <math.h>
#include <string.h>

static const double usual_tol[AC_RUNG_COUNT] = {
#define RUNG(id, name, error, tol, base, terms, chunk) tol,
#include "policy/words.def"
};

/* ---- Ways ---------------------------------------------------------------- */

/* How a policy runs that product or convolution without a word on it. */
static enum ac_tactic
usual_tactic(const struct ac_site_total *site)
{
	switch ((enum ac_rung)site->rung) {
	case AC_RUNG_TF32:
		return AC_TACTIC_LIBRARY;
	case AC_RUNG_FP16:
		return AC_TACTIC_CAST;
	default:
		return site->rung == AC_RUNG_BF16
		    && !ac_operation_is_in_arrays(site->key.operation)
		    ? AC_TACTIC_LIBRARY : AC_TACTIC_CAST;
	}
}

/* A tolerance was a float in between. */
static bool
is_usual_tol(const struct ac_site_total *site)
{
	const double usual = usual_tol[site->rung];

	return site->tol <= 0 || fabs(site->tol - usual) < 1e-6 * usual;
}

struct ac_tune_line_way
ac_tune_way_as(const struct ac_site_total *site)
{
	const bool has_tactic = ac_operation_is_product(site->key.operation)
	    && strcmp(site->key.type, "c32")
	    && site->tactic != usual_tactic(site);

	return (struct ac_tune_line_way){ .rung = (enum ac_rung)site->rung,
		.guard = (enum ac_asked_guard)site->guard,
		.tactic = has_tactic ? (enum ac_tactic)site->tactic
		    : AC_TACTIC_NONE,
		.tol = is_usual_tol(site) ? 0 : site->tol };
}

void
ac_tune_add_way(struct ac_text *text, const struct ac_tune_line_way *way)
{
	ac_text_addf(text, " -> %s", ac_rung_names[way->rung]);
	if (way->rung != AC_RUNG_KEEP) {
		if (way->guard != AC_GUARD_ON)
			ac_text_add(text, way->guard == AC_GUARD_OFF
			    ? " guard=off" : " guard=strict");
		if (way->tactic != AC_TACTIC_NONE)
			ac_text_addf(text, " tactic=%s",
			    ac_tactic_names[way->tactic]);
		if (way->tol > 0)
			ac_text_addf(text, " tol=%s", AC_DOUBLE(way->tol, 6));
		ac_text_add(text, " profit=off");
	}
	ac_text_add(text, "\n");
}

/* ---- Evidence ------------------------------------------------------------ */

void
ac_tune_evidence_add(struct ac_tune_evidence *e,
    const struct ac_tune_site *site, enum ac_rung rung)
{
	e->sites++;
	e->share += site->row->share;
	e->before += (double)site->row->calls * site->keep_us;
	for (int w = 0; w < site->way_count; w++) {
		const struct ac_tune_way *way = &site->way[w];

		if (way->at->rung != rung)
			continue;
		e->after += (double)site->row->calls * way->us;
		if (way->at->course.error > e->error)
			e->error = way->at->course.error;
	}
}

void
ac_tune_add_evidence(struct ac_text *text, const struct ac_tune_evidence *e)
{
	ac_text_addf(text, "# %s, %s of the work", AC_COUNT(e->sites, "site"),
	    AC_SHARE(e->share, 1));
	if (e->after > 0)
		ac_text_addf(text, ": error %s, %s", AC_DOUBLE(e->error, 2),
		    AC_SAID(ac_factor_add, e->before, e->after));
	ac_text_add(text, "\n");
}

/* ---- FLOPs --------------------------------------------------------------- */

double
ac_tune_round_flops(double flops)
{
	double unit = 1e3;

	while (flops >= 1000 * unit)
		unit *= 10;
	return floor(flops / unit) * unit;
}

void
ac_tune_add_flops(struct ac_text *text, double flops)
{
	ac_text_addf(text, flops >= 1e8 ? " flops>=%.0fM" : " flops>=%.0fk",
	    flops / (flops >= 1e8 ? 1e6 : 1e3));
}
