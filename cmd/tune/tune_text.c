/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_text.c -- what was found as lines of a policy: as general ones
 * as there are that say the same of each site. */
#include "cmd/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line speaks of sites that agree with one in this, the widest first; of
 * those that are small in one direction; or, the last ones, of all that are
 * left and are work enough, and of all. */
enum width { OPERATION, SIZES, SITE, SMALL, LARGE, ALL };

struct lines {
	const struct ac_tune_plan *plan;
	int   *way;                  /* of each site of the plan: a rung */
	unsigned char *written;      /* it has a line */
	int64_t small;               /* min(m, n, k) that is kept; 0: none is */
	int     most;                /* the way of most of the work: of what
	                              * has at least */
	double  flops;               /* and less is kept */
	double  tol;                 /* of each line; 0: each rung's own */
};

static int64_t
smallest(const struct ac_tune_site *site)
{
	const struct ac_site_key *key = &site->row->rungs[0]->key;
	const int64_t least = key->m < key->n ? key->m : key->n;

	return least < key->k ? least : key->k;
}

static bool
is_product(const struct ac_tune_site *site)
{
	const struct ac_site_key *key = &site->row->rungs[0]->key;

	return site->row->rungs[0]->is_fp32 && key->operation <= AC_OP_GEMM_LT;
}

static bool
agrees(const struct lines *lines, const struct ac_tune_site *a,
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
is_true_of_all(const struct lines *lines, size_t of, enum width width)
{
	const struct ac_tune_plan *plan = lines->plan;

	for (size_t i = 0; i < plan->count; i++)
		if (!lines->written[i] && is_product(&plan->sites[i])
		    && agrees(lines, &plan->sites[i], &plan->sites[of], width)
		    && lines->way[i] != lines->way[of])
			return false;
	return true;
}

/* What a person reads of sites that share a line, and what was measured. */
static void
add_evidence(struct ac_text *text, const struct lines *lines, size_t of,
    enum width width)
{
	const struct ac_tune_plan *plan = lines->plan;
	double share = 0, error = 0, before = 0, after = 0;
	uint64_t sites = 0;

	for (size_t i = 0; i < plan->count; i++) {
		const struct ac_tune_site *site = &plan->sites[i];

		if (lines->written[i] || !is_product(site)
		    || lines->way[i] != lines->way[of]
		    || !agrees(lines, site, &plan->sites[of], width))
			continue;
		lines->written[i] = 1;
		sites++;
		share += site->row->share;
		before += (double)site->row->calls * site->keep_us;
		for (int w = 0; w < site->way_count; w++)
			if ((int)site->way[w].at->rung == lines->way[i]) {
				after += (double)site->row->calls
				    * site->way[w].us;
				if (site->way[w].at->course.error > error)
					error = site->way[w].at->course.error;
			}
	}
	ac_text_add(text, "# ");
	ac_text_add_count(text, sites, "site");
	ac_text_add(text, ", ");
	ac_share_add(text, share, 1);
	ac_text_add(text, " of the work");
	if (after > 0) {
		ac_text_add(text, ": error ");
		ac_text_add_double(text, error, 2);
		ac_text_add(text, ", ");
		ac_factor_add(text, before, after);
	}
	ac_text_add(text, "\n");
}

/* Whether a product of that size is made in a batch, or another one is. */
static bool
needs_batch(const struct lines *lines, size_t of)
{
	const struct ac_tune_plan *plan = lines->plan;
	const struct ac_site_key *key = &plan->sites[of].row->rungs[0]->key;

	for (size_t i = 0; i < plan->count; i++) {
		const struct ac_site_key *other = &plan->rows[i].rungs[0]->key;

		if (is_product(&plan->sites[i]) && other->m == key->m
		    && other->n == key->n && other->k == key->k
		    && other->batch > 1)
			return true;
	}
	return false;
}

/* The site's line of that width. */
static void
add_line(struct ac_text *text, const struct lines *lines, size_t of,
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
		ac_text_addf(text, lines->flops >= 1e8 ? " flops>=%.0fM"
		    : " flops>=%.0fk", lines->flops / (lines->flops >= 1e8
		    ? 1e6 : 1e3));
	ac_text_addf(text, " -> %s", ac_rung_names[lines->way[of]]);
	if (lines->way[of] != AC_RUNG_KEEP && lines->tol > 0) {
		ac_text_add(text, " tol=");
		ac_text_add_double(text, lines->tol, 6);
	}
	ac_text_add(text, lines->way[of] != AC_RUNG_KEEP ? " profit=off\n"
	    : "\n");
}

/* The way of the largest part of the work. */
static int
usual(const struct lines *lines)
{
	double share[AC_RUNG_COUNT] = { 0 };
	int most = AC_RUNG_KEEP;

	for (size_t i = 0; i < lines->plan->count; i++) {
		const struct ac_tune_site *site = &lines->plan->sites[i];

		if (is_product(site))
			share[lines->way[i]] += site->row->share;
	}
	for (int i = 0; i < AC_RUNG_COUNT; i++)
		if (share[i] > share[most])
			most = i;
	return most;
}

/* Of the products that go the usual way, unless that is keep; 0 then. */
static double
least_flops(const struct lines *lines)
{
	const struct ac_tune_plan *plan = lines->plan;
	double least = HUGE_VAL, unit = 1e3;

	if (lines->most == AC_RUNG_KEEP)
		return 0;
	for (size_t i = 0; i < plan->count; i++)
		if (is_product(&plan->sites[i]) && lines->way[i] == lines->most
		    && plan->sites[i].row->rungs[0]->flops < least)
			least = plan->sites[i].row->rungs[0]->flops;
	while (least >= 1000 * unit)
		unit *= 10;
	return floor(least / unit) * unit; /* three digits are enough */
}

/* Whether the last lines say what is to become of it. */
static bool
is_usual(const struct lines *lines, size_t i)
{
	const double flops = lines->plan->sites[i].row->rungs[0]->flops;

	return lines->way[i] == (flops >= lines->flops ? lines->most
	    : AC_RUNG_KEEP);
}

/* What is smaller than all that is recast is kept by one line, if that speaks
 * of several sites. The first of them, or plan->count. */
static size_t
find_small(struct lines *lines)
{
	const struct ac_tune_plan *plan = lines->plan;
	int64_t least = INT64_MAX;
	size_t first = plan->count, sites = 0;

	for (size_t i = 0; i < plan->count; i++)
		if (is_product(&plan->sites[i]) && lines->way[i]
		    != AC_RUNG_KEEP && smallest(&plan->sites[i]) < least)
			least = smallest(&plan->sites[i]);
	for (size_t i = plan->count; i-- > 0;) {
		const int64_t here = smallest(&plan->sites[i]);

		if (!is_product(&plan->sites[i]) || here >= least
		    || is_usual(lines, i))
			continue;
		lines->small = here > lines->small ? here : lines->small;
		first = i;
		sites++;
	}
	return sites > 1 && least < INT64_MAX ? first : plan->count;
}

static void
add_exceptions(struct ac_text *text, const struct lines *lines)
{
	const struct ac_tune_plan *plan = lines->plan;

	for (size_t i = 0; i < plan->count; i++) {
		int width = OPERATION;

		if (!is_product(&plan->sites[i]) || lines->written[i]
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
add_last(struct ac_text *text, const struct lines *lines, int way,
    enum width width)
{
	const struct ac_tune_plan *plan = lines->plan;

	for (size_t i = 0; i < plan->count; i++)
		if (is_product(&plan->sites[i]) && !lines->written[i]
		    && lines->way[i] == way) {
			add_line(text, lines, i, width);
			return;
		}
	if (width == ALL)
		ac_text_add(text, "gemm -> keep\n");
}

static void
add_products(struct ac_text *text, struct lines *lines)
{
	size_t first;

	lines->most = usual(lines);
	lines->flops = least_flops(lines);
	first = find_small(lines);
	if (first < lines->plan->count)
		add_line(text, lines, first, SMALL);
	add_exceptions(text, lines);
	if (lines->most != AC_RUNG_KEEP)
		add_last(text, lines, lines->most, LARGE);
	add_last(text, lines, AC_RUNG_KEEP, ALL);
}

/* What a unit is called in a line: a product or a convolution. */
static const char *
family(const struct ac_tune_site *site)
{
	const uint32_t operation = site->row->rungs[0]->key.operation;

	return ac_operation_is_product(operation) ? "gemm" : "conv";
}

/* Products have lines of their own in a policy that was tuned. */
static void
add_kept(struct ac_text *text, const struct ac_tune_plan *plan,
    const unsigned char *levels, bool with_products)
{
	for (size_t i = 0; i < plan->unit_count; i++)
		if (levels[i] == AC_TUNE_KEPT
		    && (with_products || !is_product(plan->units[i])))
			ac_text_addf(text, "%s site=%08x -> keep\n",
			    family(plan->units[i]),
			    plan->units[i]->row->rungs[0]->id);
}

static void
begin(struct lines *lines, const struct ac_tune_plan *plan)
{
	*lines = (struct lines){ .plan = plan,
		.way = calloc(plan->count + 1, sizeof *lines->way),
		.written = calloc(plan->count + 1, 1) };
	if (!lines->way || !lines->written)
		exit(ac_say(AC_EXIT_FAILED, "out of memory"));
}

static void
end(struct lines *lines)
{
	free(lines->way);
	free(lines->written);
}

void
ac_tune_add_policy(struct ac_text *text, const struct ac_tune_plan *plan,
    const unsigned char *levels, double tol)
{
	struct lines lines;

	begin(&lines, plan);
	for (size_t i = 0; i < plan->unit_count; i++) {
		const struct ac_tune_site *site = plan->units[i];
		const int way = ac_tune_way_of(site,
		    (enum ac_tune_level)levels[i]);

		lines.way[site - plan->sites] = way == AC_TUNE_KEEP
		    ? AC_RUNG_KEEP : (int)site->way[way].at->rung;
	}
	lines.tol = tol;
	add_products(text, &lines);
	add_kept(text, plan, levels, false);
	ac_text_add(text, "otherwise amp\n");
	end(&lines);
}

/* The rung of most of its recast calls. */
static int
rung_of(const struct ac_site_row *row)
{
	const struct ac_site_total *most = NULL;

	for (size_t i = 0; i < row->rung_count; i++)
		if (row->rungs[i]->recast && (!most
		    || row->rungs[i]->recast > most->recast))
			most = row->rungs[i];
	return most ? (int)most->rung : AC_RUNG_KEEP;
}

/* Some rungs only a line has that names the operation. */
void
ac_tune_add_frozen(struct ac_text *text, const struct ac_tune_plan *plan)
{
	struct lines lines;

	begin(&lines, plan);
	ac_text_add(text, "set reproducible=on own=0\n");
	for (size_t i = 0; i < plan->count; i++)
		lines.way[i] = rung_of(&plan->rows[i]);
	add_products(text, &lines);
	for (size_t i = 0; i < plan->count; i++)
		if (!is_product(&plan->sites[i]) && lines.way[i])
			ac_text_addf(text, "%s site=%08x -> %s profit=off\n",
			    ac_operation_names[plan->rows[i].rungs[0]
			    ->key.operation], plan->rows[i].rungs[0]->id,
			    ac_rung_names[lines.way[i]]);
	ac_text_add(text, "otherwise off\n");
	end(&lines);
}

void
ac_tune_add_kept(struct ac_text *text, const struct ac_tune_plan *plan,
    const unsigned char *levels)
{
	add_kept(text, plan, levels, true);
}
