/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_lines.c -- what becomes of products as lines of a policy: as
 * general ones as there are that say the same of each site. */
#include "cmd/tune/tune_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line speaks of sites that agree with one in this, the widest first; of
 * those that are small in one direction; or, the last ones, of all that are
 * left and are work enough, and of all. */
enum width { OPERATION, SIZES, SITE, SMALL, LARGE, ALL };

/* ---- Begin, end ---------------------------------------------------------- */

static void *
zeros(size_t count, size_t bytes)
{
	return ac_say_memory(calloc(count + 1, bytes));
}

void
ac_tune_lines_begin(struct ac_tune_lines *lines,
    const struct ac_tune_plan *plan)
{
	*lines = (struct ac_tune_lines){ .plan = plan, .way_count = 1,
		.ways = zeros(plan->count, sizeof *lines->ways),
		.way = zeros(plan->count, sizeof *lines->way),
		.written = zeros(plan->count, 1) };
}

void
ac_tune_lines_set(struct ac_tune_lines *lines, size_t i,
    const struct ac_tune_line_way *way)
{
	size_t at = 0;

	while (at < lines->way_count && (lines->ways[at].rung != way->rung
	    || lines->ways[at].guard != way->guard
	    || lines->ways[at].tactic != way->tactic
	    || lines->ways[at].tol != way->tol))
		at++;
	if (way->rung == AC_RUNG_KEEP)
		at = AC_TUNE_LINE_KEEP;
	else if (at == lines->way_count)
		lines->ways[lines->way_count++] = *way;
	lines->way[i] = at;
}

void
ac_tune_lines_end(struct ac_tune_lines *lines)
{
	free(lines->ways);
	free(lines->way);
	free(lines->written);
}

/* ---- Widths -------------------------------------------------------------- */

static int64_t
smallest(const struct ac_tune_site *site)
{
	const struct ac_site_key *key = &site->row->rungs[0]->key;
	const int64_t least = key->m < key->n ? key->m : key->n;

	return least < key->k ? least : key->k;
}

bool
ac_tune_is_product(const struct ac_tune_site *site)
{
	const struct ac_site_key *key = &site->row->rungs[0]->key;

	return site->row->rungs[0]->is_fp32 && key->operation <= AC_OP_GEMM_LT;
}

static bool
agrees(const struct ac_tune_lines *lines, const struct ac_tune_site *a,
    const struct ac_tune_site *b, enum width width)
{
	const struct ac_site_key *one = &a->row->rungs[0]->key;
	const struct ac_site_key *other = &b->row->rungs[0]->key;

	switch (width) {
	case OPERATION:
		return one->operation == other->operation;
	case SIZES:
		return one->m == other->m && one->n == other->n
		    && one->k == other->k && one->batch == other->batch;
	case SMALL:
		return smallest(a) <= lines->small;
	case LARGE:
		return a->row->rungs[0]->flops >= lines->flops;
	case ALL:
		return true;
	default:
		return a == b;
	}
}

/* Whether all sites of which such a line speaks are to go the same way. */
static bool
is_true_of_all(const struct ac_tune_lines *lines, size_t of, enum width width)
{
	const struct ac_tune_plan *plan = lines->plan;

	for (size_t i = 0; i < plan->count; i++)
		if (!lines->written[i] && ac_tune_is_product(&plan->sites[i])
		    && agrees(lines, &plan->sites[i], &plan->sites[of], width)
		    && lines->way[i] != lines->way[of])
			return false;
	return true;
}

/* Of all that share the line. */
static void
add_evidence(struct ac_text *text, const struct ac_tune_lines *lines, size_t of,
    enum width width)
{
	const struct ac_tune_plan *plan = lines->plan;
	struct ac_tune_evidence evidence = { .sites = 0 };

	for (size_t i = 0; i < plan->count; i++) {
		const struct ac_tune_site *site = &plan->sites[i];

		if (lines->written[i] || !ac_tune_is_product(site)
		    || lines->way[i] != lines->way[of]
		    || !agrees(lines, site, &plan->sites[of], width))
			continue;
		lines->written[i] = 1;
		ac_tune_evidence_add(&evidence, site,
		    lines->ways[lines->way[of]].rung);
	}
	ac_tune_add_evidence(text, &evidence);
}

/* Whether a product of that size is made in a batch, or another one is. */
static bool
needs_batch(const struct ac_tune_lines *lines, size_t of)
{
	const struct ac_tune_plan *plan = lines->plan;
	const struct ac_site_key *key = &plan->sites[of].row->rungs[0]->key;

	for (size_t i = 0; i < plan->count; i++) {
		const struct ac_site_key *other = &plan->rows[i].rungs[0]->key;

		if (ac_tune_is_product(&plan->sites[i]) && other->m == key->m
		    && other->n == key->n && other->k == key->k
		    && other->batch > 1)
			return true;
	}
	return false;
}

/* The site's line of that width. */
static void
add_line(struct ac_text *text, const struct ac_tune_lines *lines, size_t of,
    enum width width)
{
	const struct ac_site_total *site = lines->plan->sites[of].row->rungs[0];
	const struct ac_site_key *key = &site->key;

	add_evidence(text, lines, of, width);
	ac_text_add(text, width == OPERATION
	    ? ac_operation_names[key->operation] : "gemm");
	if (width == SIZES)
		ac_text_addf(text, " m=%lld n=%lld k=%lld", (long long)key->m,
		    (long long)key->n, (long long)key->k);
	if (width == SIZES && needs_batch(lines, of))
		ac_text_addf(text, " batch=%lld", (long long)key->batch);
	if (width == SITE)
		ac_text_addf(text, " site=%08x", site->id);
	if (width == SMALL)
		ac_text_addf(text, " min(m,n,k)<=%lld",
		    (long long)lines->small);
	if (width == LARGE)
		ac_tune_add_flops(text, lines->flops);
	ac_tune_add_way(text, &lines->ways[lines->way[of]]);
}

/* The way of the largest part of the work. */
static size_t
usual(const struct ac_tune_lines *lines)
{
	double *share = zeros(lines->way_count, sizeof *share);
	size_t most = AC_TUNE_LINE_KEEP;

	for (size_t i = 0; i < lines->plan->count; i++) {
		const struct ac_tune_site *site = &lines->plan->sites[i];

		if (ac_tune_is_product(site))
			share[lines->way[i]] += site->row->share;
	}
	for (size_t i = 0; i < lines->way_count; i++)
		if (share[i] > share[most])
			most = i;
	free(share);
	return most;
}

/* Of the products that go the usual way, unless that is keep; 0 then. */
static double
least_flops(const struct ac_tune_lines *lines)
{
	const struct ac_tune_plan *plan = lines->plan;
	double least = HUGE_VAL;

	if (lines->most == AC_TUNE_LINE_KEEP)
		return 0;
	for (size_t i = 0; i < plan->count; i++)
		if (ac_tune_is_product(&plan->sites[i])
		    && lines->way[i] == lines->most
		    && plan->sites[i].row->rungs[0]->flops < least)
			least = plan->sites[i].row->rungs[0]->flops;
	return ac_tune_round_flops(least);
}

/* Whether the last lines say what is to become of it. */
static bool
is_usual(const struct ac_tune_lines *lines, size_t i)
{
	const double flops = lines->plan->sites[i].row->rungs[0]->flops;

	return lines->way[i] == (flops >= lines->flops ? lines->most
	    : AC_TUNE_LINE_KEEP);
}

/* What is smaller than all that is recast is kept by one line, if that speaks
 * of several sites. The first of them, or plan->count. */
static size_t
find_small(struct ac_tune_lines *lines)
{
	const struct ac_tune_plan *plan = lines->plan;
	int64_t least = INT64_MAX;
	size_t first = plan->count, sites = 0;

	for (size_t i = 0; i < plan->count; i++)
		if (ac_tune_is_product(&plan->sites[i]) && lines->way[i]
		    != AC_TUNE_LINE_KEEP && smallest(&plan->sites[i]) < least)
			least = smallest(&plan->sites[i]);
	for (size_t i = plan->count; i-- > 0;) {
		const int64_t here = smallest(&plan->sites[i]);

		if (!ac_tune_is_product(&plan->sites[i]) || here >= least
		    || is_usual(lines, i))
			continue;
		lines->small = here > lines->small ? here : lines->small;
		first = i;
		sites++;
	}
	return sites > 1 && least < INT64_MAX ? first : plan->count;
}

static void
add_exceptions(struct ac_text *text, const struct ac_tune_lines *lines)
{
	const struct ac_tune_plan *plan = lines->plan;

	for (size_t i = 0; i < plan->count; i++) {
		int width = OPERATION;

		if (!ac_tune_is_product(&plan->sites[i]) || lines->written[i]
		    || is_usual(lines, i))
			continue;
		while (width < SITE && !is_true_of_all(lines, i,
		    (enum width)width))
			width++;
		add_line(text, lines, i, (enum width)width);
	}
}

/* Of those that are left, if there are any. */
static void
add_last(struct ac_text *text, const struct ac_tune_lines *lines, size_t way,
    enum width width)
{
	const struct ac_tune_plan *plan = lines->plan;

	for (size_t i = 0; i < plan->count; i++)
		if (ac_tune_is_product(&plan->sites[i]) && !lines->written[i]
		    && lines->way[i] == way) {
			add_line(text, lines, i, width);
			return;
		}
	if (width == ALL)
		ac_text_add(text, "gemm -> keep\n");
}

void
ac_tune_lines_add(struct ac_text *text, struct ac_tune_lines *lines)
{
	size_t first;

	lines->most = usual(lines);
	lines->flops = least_flops(lines);
	first = find_small(lines);
	if (first < lines->plan->count)
		add_line(text, lines, first, SMALL);
	add_exceptions(text, lines);
	if (lines->most != AC_TUNE_LINE_KEEP)
		add_last(text, lines, lines->most, LARGE);
	add_last(text, lines, AC_TUNE_LINE_KEEP, ALL);
}
