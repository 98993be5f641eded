/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/rank_lines.c -- the ranks of a job in a text report and in JSON:
 * how far they are apart, which are missing, where they went different ways.
 * Pure but for the sink. */
#include "report/read/ranks.h"
#include "report/write/json.h"
#include "report/write/page.h"

enum { RANGES_SHOWN = 8, DIFFERENCES_SHOWN = 5, NO_RANK = -1 };

/* ---- Lists of ranks ---------------------------------------------------- */

/* "ranks 0-2, 5" while it grows. */
struct list {
	struct ac_text *text;
	int  first, last;            /* the range that is not written yet */
	int  ranges, ranks;
};

static void
flush(struct list *l)
{
	if (l->first == NO_RANK)
		return;
	if (++l->ranges <= RANGES_SHOWN)
		ac_text_addf(l->text, l->last > l->first ? "%s%d-%d" : "%s%d",
		    l->ranges > 1 ? ", " : "", l->first, l->last);
	else if (l->ranges == RANGES_SHOWN + 1)
		ac_text_add(l->text, ", ...");
	l->first = NO_RANK;
}

static void
add_rank(struct list *l, int rank)
{
	if (l->first != NO_RANK && rank == l->last + 1) {
		l->last = rank;
	} else {
		flush(l);
		l->first = l->last = rank;
	}
	l->ranks++;
}

/* The ranks for which `is_one` holds, after `before`; nothing if there are
 * none. */
static bool
add_ranks(struct ac_text *text, const struct ac_ranks *ranks,
    bool (*is_one)(const struct ac_ranks *ranks, int rank, const void *context),
    const void *context)
{
	struct list l = { .text = text, .first = NO_RANK };
	int count = 0;

	for (int rank = 0; rank < ranks->size; rank++)
		count += is_one(ranks, rank, context);
	ac_text_add(text, count > 1 ? "ranks " : "rank ");
	for (int rank = 0; rank < ranks->size; rank++)
		if (is_one(ranks, rank, context))
			add_rank(&l, rank);
	flush(&l);
	return count > 0;
}

static const struct ac_rank_total *
total_of(const struct ac_ranks *ranks, int rank)
{
	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->rank[i].rank == rank)
			return &ranks->rank[i];
	return NULL;
}

static bool
is_absent(const struct ac_ranks *ranks, int rank, const void *unused)
{
	(void)unused;
	return !total_of(ranks, rank);
}

static bool
ended_so(const struct ac_ranks *ranks, int rank, const void *end)
{
	const struct ac_rank_total *total = total_of(ranks, rank);

	return total && total->end == *(const enum ac_process_end *)end;
}

/* ---- How far apart ----------------------------------------------------- */

/* A number of each rank; negative: not known. */
static double
recast_of(const struct ac_rank_total *r)
{
	return r->totals.flops > 0 ? r->totals.recast_flops / r->totals.flops
	    : -1;
}

static double
wall_of(const struct ac_rank_total *r)
{
	return r->totals.wall_us > 0 ? r->totals.wall_us : -1;
}

static double
device_time_of(const struct ac_rank_total *r)
{
	const double us = r->totals.measured_recast_us
	    + r->totals.predicted_recast_us;

	return us > 0 ? us : -1;
}

static double
error_of(const struct ac_rank_total *r)
{
	return r->totals.worst_tol > 0
	    ? r->totals.worst_error / r->totals.worst_tol : -1;
}

static const char *
add_share(struct ac_text *text, double share)
{
	return ac_share_add(text, share, 1);
}

static const struct measure {
	const char *before, *after;
	double    (*of)(const struct ac_rank_total *rank);
	const char *(*add)(struct ac_text *text, double value);
} measures[] = {
	{ "recast ", " of the FLOPs", recast_of, add_share },
	{ "wall time ", "", wall_of, ac_time_add },
	{ "device time of recast calls ", "", device_time_of, ac_time_add },
	{ "worst error ", " of tol", error_of, ac_ratio_add },
};

static void
add_extreme(struct ac_text *text, const struct measure *m,
    const struct ac_rank_total *rank)
{
	ac_text_addf(text, "%s (rank %d)", AC_SAID(m->add, m->of(rank)),
	    rank->rank);
}

/* One line: "recast 97.9 % (rank 3) to 99.0 % (rank 0) of the FLOPs". */
static bool
add_spread(struct ac_text *text, const struct ac_ranks *ranks,
    const struct measure *m)
{
	const struct ac_rank_total *least = NULL, *most = NULL;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct ac_rank_total *r = &ranks->rank[i];

		if (m->of(r) < 0)
			continue;
		if (!least || m->of(r) < m->of(least))
			least = r;
		if (!most || m->of(r) > m->of(most))
			most = r;
	}
	if (!least)
		return false;
	ac_text_add(text, m->before);
	if (least == most) {
		ac_text_addf(text, "%s%s on each", AC_SAID(m->add,
		    m->of(least)), m->after);
		return true;
	}
	add_extreme(text, m, least);
	ac_text_add(text, " to ");
	add_extreme(text, m, most);
	ac_text_add(text, m->after);
	return true;
}

/* ---- Ways -------------------------------------------------------------- */

struct way_taken {
	const struct ac_rank_way *way;
	size_t   count;
	uint32_t rungs;
};

static bool
went_so(const struct ac_ranks *ranks, int rank, const void *context)
{
	const struct way_taken *taken = context;

	(void)ranks;
	for (size_t i = 0; i < taken->count; i++)
		if (taken->way[i].rank == rank)
			return taken->way[i].rungs == taken->rungs;
	return false;
}

/* "fp16 cast, tf32 library", or "kept". */
static void
add_rungs(struct ac_text *text, uint32_t rungs)
{
	bool any = false;

	for (int rung = 0; rung < AC_RUNG_COUNT; rung++)
		for (int tactic = 0; tactic < AC_TACTIC_COUNT; tactic++) {
			if (!(rungs & AC_RANK_RUNG(rung, tactic)))
				continue;
			ac_text_addf(text, "%s%s", any ? " and " : "",
			    ac_rung_names[rung]);
			any = true;
		}
	if (!any)
		ac_text_add(text, "kept");
}

static void
print_difference(struct ac_page *p, const struct ac_ranks *ranks,
    const struct ac_rank_difference *d)
{
	struct way_taken taken = { &ranks->way[d->first], d->count, 0 };

	ac_page_label(p, "");
	ac_text_add_cleanf(&p->line, "%08x%s%s", (unsigned)d->id,
	    *d->name ? " " : "", d->name);
	for (size_t i = 0, j; i < d->count; i++) {
		taken.rungs = taken.way[i].rungs;
		for (j = 0; taken.way[j].rungs != taken.rungs; j++)
			;
		if (j < i)
			continue;       /* those were named */
		ac_text_add(&p->line, i ? "; " : ": ");
		add_rungs(&p->line, taken.rungs);
		ac_text_add(&p->line, " on ");
		(void)add_ranks(&p->line, ranks, went_so, &taken);
	}
	if (d->is_asked_for)
		ac_text_add(&p->line, ", as lines of the policy say");
	ac_page_end_line(p);
}

static void
print_differences(struct ac_page *p, const struct ac_report *report)
{
	const struct ac_ranks *ranks = report->ranks_of;
	bool is_asked_for = true;

	if (!ranks->difference_count)
		return;
	for (size_t i = 0; i < ranks->difference_count; i++)
		is_asked_for &= ranks->difference[i].is_asked_for;
	ac_page_label(p, "differ");
	ac_text_addf(&p->line, "ranks do, at %zu of %s",
	    ranks->difference_count, AC_COUNT(report->places, "site"));
	if (!is_asked_for)
		ac_text_add(&p->line, "; with 'set reproducible=on' times and "
		    "the order of events decide nothing");
	ac_page_end_line(p);
	for (size_t i = 0; i < ranks->difference_count; i++) {
		if (i < DIFFERENCES_SHOWN)
			print_difference(p, ranks, &ranks->difference[i]);
	}
	if (ranks->difference_count > DIFFERENCES_SHOWN) {
		ac_page_label(p, "");
		ac_page_print(p, "and at %zu more: see --json",
		    ranks->difference_count - DIFFERENCES_SHOWN);
	}
}

/* ---- Text -------------------------------------------------------------- */

static void
print_ends(struct ac_page *p, const struct ac_ranks *ranks)
{
	static const char *const words[AC_END_COUNT] = {
		[AC_END_ENDED] = "killed, or ended without exit()",
		[AC_END_RUNNING] = "still running",
		[AC_END_ELSEWHERE] = "running or killed: another host knows",
	};

	for (enum ac_process_end end = 0; end < AC_END_COUNT; end++) {
		const size_t line = p->line.used;

		if (!words[end])
			continue;
		ac_page_label(p, "no end");
		if (add_ranks(&p->line, ranks, ended_so, &end)) {
			ac_page_print(p, ": %s", words[end]);
		}
		p->line.used = line;
	}
}

void
ac_page_print_ranks(struct ac_page *p, const struct ac_report *report)
{
	const struct ac_ranks *ranks = report->ranks_of;
	bool is_first = true;

	if (!ranks)
		return;
	ac_page_label(p, report->is_one_rank ? "rank" : "ranks");
	ac_text_addf(&p->line, report->is_one_rank ? "%d alone, of %d, on "
	    : "%d of %d, on ", report->is_one_rank
	    ? report->processes[0].rank : (int)ranks->count, ranks->size);
	ac_text_add_count(&p->line, ranks->hosts, "host");
	if (!report->is_one_rank && ranks->count < (size_t)ranks->size) {
		ac_text_add(&p->line, "; no statistics of ");
		(void)add_ranks(&p->line, ranks, is_absent, NULL);
	}
	ac_page_end_line(p);
	print_ends(p, ranks);
	for (size_t i = 0; ranks->count > 1 &&
	    i < sizeof measures / sizeof *measures; i++) {
		ac_page_label(p, is_first ? "spread" : "");
		if (add_spread(&p->line, ranks, &measures[i])) {
			ac_page_end_line(p);
			is_first = false;
		}
		p->line.used = 0;
	}
	print_differences(p, report);
}

/* ---- JSON -------------------------------------------------------------- */

static void
add_rank_json(struct ac_json *w, const struct ac_rank_total *r)
{
	const struct ac_report_totals *t = &r->totals;

	ac_json_open(w, NULL, "{");
	ac_json_integer(w, "rank", r->rank);
	ac_json_string(w, "host", r->node);
	ac_json_string(w, "state", ac_process_end_names[r->end]);
	ac_json_unsigned(w, "processes", r->processes);
	ac_json_measured(w, "wall_us", t->wall_us);
	ac_json_unsigned(w, "calls", t->calls);
	ac_json_unsigned(w, "recast_calls", t->recast_calls);
	ac_json_number(w, "flops", t->flops, 0);
	ac_json_number(w, "recast_flops", t->recast_flops, 0);
	ac_json_measured(w, "recast_us", device_time_of(r) > 0
	    ? device_time_of(r) : 0);
	ac_json_unsigned(w, "demotions", t->demotions);
	ac_json_real(w, "worst_error", t->worst_error);
	ac_json_real(w, "worst_tol", t->worst_tol);
	ac_json_close(w, "}");
}

static void
add_way_json(struct ac_json *w, const struct ac_rank_way *way)
{
	ac_json_open(w, NULL, "{");
	ac_json_integer(w, "rank", way->rank);
	ac_json_open(w, "rungs", "[");
	for (int rung = 0; rung < AC_RUNG_COUNT; rung++)
		for (int tactic = 0; tactic < AC_TACTIC_COUNT; tactic++)
			if (way->rungs & AC_RANK_RUNG(rung, tactic))
				ac_json_string(w, NULL, ac_rung_names[rung]);
	ac_json_close(w, "]");
	ac_json_close(w, "}");
}

void
ac_json_ranks(struct ac_json *w, const struct ac_report *report)
{
	const struct ac_ranks *ranks = report->ranks_of;

	if (!ranks)
		return;
	ac_json_integer(w, "job_size", ranks->size);
	ac_json_open(w, "ranks", "[");
	for (size_t i = 0; i < ranks->count; i++)
		add_rank_json(w, &ranks->rank[i]);
	ac_json_close(w, "]");
	ac_json_open(w, "rank_differences", "[");
	for (size_t i = 0; i < ranks->difference_count; i++) {
		const struct ac_rank_difference *d = &ranks->difference[i];

		ac_json_open(w, NULL, "{");
		ac_json_id(w, "id", d->id);
		ac_json_bool(w, "asked_for", d->is_asked_for);
		ac_json_open(w, "ranks", "[");
		for (size_t j = 0; j < d->count; j++)
			add_way_json(w, &ranks->way[d->first + j]);
		ac_json_close(w, "]");
		ac_json_close(w, "}");
	}
	ac_json_close(w, "]");
}
