/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/ranks.c -- what each rank of a job did, and where ranks went
 * different ways. Asks whether processes still run; else pure. */
#include "report/read/ranks.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(AC_RUNG_COUNT * AC_TACTIC_COUNT <= 32, "rungs fit a word");

/* ---- Ranks ------------------------------------------------------------- */

static int
by_rank(const void *a, const void *b)
{
	const struct ac_rank_total *left = a, *right = b;

	return left->rank < right->rank ? -1 : left->rank > right->rank;
}

static struct ac_rank_total *
find_rank(const struct ac_ranks *ranks, int rank)
{
	const struct ac_rank_total key = { .rank = rank };

	return ranks->count ? bsearch(&key, ranks->rank, ranks->count,
	    sizeof key, by_rank) : NULL;
}

static bool
is_later(const struct ac_file_header *process, const struct ac_rank_total *rank)
{
	return process->start_s > rank->start_s ||
	    (process->start_s == rank->start_s &&
	    process->start_ns >= rank->start_ns);
}

static struct ac_rank_total *
add_process(struct ac_ranks *ranks, const struct ac_file_header *h)
{
	struct ac_rank_total *rank;
	bool is_least;

	if (!AC_GROW(ranks->rank, ranks->count + 1))
		return NULL;
	rank = ranks->rank;
	if (h->ranks > ranks->size)
		ranks->size = h->ranks;
	while (rank < ranks->rank + ranks->count && rank->rank != h->rank)
		rank++;
	if (rank == ranks->rank + ranks->count) {
		memset(rank, 0, sizeof *rank);
		ranks->count++;
	}
	rank->rank = h->rank;
	if (rank->processes++ && is_later(h, rank))
		return rank;
	rank->end = ac_process_end(h);
	rank->totals.wall_us = ac_process_wall_us(h, &is_least);
	rank->host = h->host;
	rank->start_s = h->start_s;
	rank->start_ns = h->start_ns;
	memcpy(rank->node, h->node, sizeof rank->node);
	return rank;
}

static void
count_hosts(struct ac_ranks *ranks)
{
	ranks->hosts = 0;
	for (size_t i = 0, j; i < ranks->count; i++) {
		for (j = 0; j < i && ranks->rank[j].host !=
		    ranks->rank[i].host; j++)
			;
		ranks->hosts += j == i;
	}
}

/* ---- Ways -------------------------------------------------------------- */

void
ac_ranks_add(struct ac_report *report, const struct ac_file_header *header,
    struct ac_site_total *sites, size_t count)
{
	struct ac_rank_total *rank;

	if (!header->ranks)
		return;
	if (!report->ranks_of)
		report->ranks_of = calloc(1, sizeof *report->ranks_of);
	rank = report->ranks_of ? add_process(report->ranks_of, header) : NULL;
	if (!rank) {
		ac_log(AC_LOG_WARNING, "out of memory: a rank is not told");
		return;
	}
	for (struct ac_site_total *s = sites; s < sites + count; s++) {
		ac_totals_add_site(&rank->totals, s);
		if (!s->calls)
			continue;
		s->ranked = s->calls;
		s->ways = malloc(sizeof *s->ways);
		report->ranks_of->is_short |= !s->ways;
		if (s->ways)
			s->ways[s->way_count++] = (uint32_t)header->rank << 1
			    | (s->recast != 0);
	}
}

/* Short of memory, those of `other` are lost: the others have theirs. */
void
ac_ranks_absorb(struct ac_site_total *into, struct ac_site_total *other)
{
	uint32_t *more = other->way_count ? realloc(into->ways,
	    (into->way_count + other->way_count) * sizeof *more) : NULL;

	if (more) {
		memcpy(more + into->way_count, other->ways,
		    other->way_count * sizeof *more);
		into->ways = more;
		into->way_count += other->way_count;
	}
	into->ranked += other->ranked;
	free(other->ways);
}

/* What ranks did at one site: by place in ranks->rank. */
struct ways {
	uint32_t *rungs;
	bool     *called;
};

static void
note(const struct ac_ranks *ranks, const struct ac_site_total *site,
    struct ways *ways)
{
	for (uint32_t i = 0; i < site->way_count; i++) {
		const struct ac_rank_total *rank = find_rank(ranks,
		    (int)(site->ways[i] >> 1));
		const ptrdiff_t place = rank - ranks->rank;

		ways->called[place] = true;
		if (site->ways[i] & 1)
			ways->rungs[place] |= AC_RANK_RUNG(site->rung,
			    site->tactic);
	}
}

static bool
are_different(const struct ac_ranks *ranks, const struct ways *ways)
{
	size_t first = 0;

	while (first < ranks->count && !ways->called[first])
		first++;
	for (size_t i = first; i < ranks->count; i++)
		if (ways->called[i] && ways->rungs[i] != ways->rungs[first])
			return true;
	return false;
}

static bool
add_difference(struct ac_ranks *ranks, const struct ways *ways,
    const struct ac_rank_difference *difference)
{
	struct ac_rank_difference *more;

	if (!AC_GROW(ranks->difference, ranks->difference_count + 1)
	    || !AC_GROW(ranks->way, ranks->way_count + ranks->count))
		return false;
	more = &ranks->difference[ranks->difference_count++];
	*more = *difference;
	more->first = ranks->way_count;
	for (size_t i = 0; i < ranks->count; i++)
		if (ways->called[i])
			ranks->way[ranks->way_count++] = (struct ac_rank_way){
				ranks->rank[i].rank, ways->rungs[i]
			};
	more->count = ranks->way_count - more->first;
	return true;
}

/* The sites from `first` on that are one, on any rung; where the next one
 * begins to *next_out. */
static bool
look_at_site(struct ac_ranks *ranks, const struct ac_report *report,
    size_t first, struct ways *ways, size_t *next_out)
{
	const struct ac_site_total *sites = report->sites, *decided = NULL;
	struct ac_rank_difference d = { .id = sites[first].id };
	size_t i;

	memset(ways->rungs, 0, ranks->count * sizeof *ways->rungs);
	memset(ways->called, 0, ranks->count * sizeof *ways->called);
	d.key = sites[first].key;
	for (i = first; i < report->site_count &&
	    !ac_site_identity(&sites[first], &sites[i]); i++) {
		if (!*d.name)
			memcpy(d.name, sites[i].name, sizeof d.name);
		note(ranks, &sites[i], ways);
		if (!sites[i].ranked)
			continue;
		d.flops += sites[i].flops * (double)sites[i].ranked;
		decided = decided ? decided : &sites[i];
		d.is_asked_for |= decided->line != sites[i].line ||
		    strcmp(decided->source, sites[i].source);
	}
	*next_out = i;
	return !are_different(ranks, ways) || add_difference(ranks, ways, &d);
}

static int
by_work(const void *a, const void *b)
{
	const struct ac_rank_difference *left = a, *right = b;

	if (left->flops < right->flops || left->flops > right->flops)
		return left->flops < right->flops ? 1 : -1;
	return left->id < right->id ? -1 : left->id > right->id;
}

static bool
compare(struct ac_ranks *ranks, const struct ac_report *report)
{
	struct ways ways = {
		.rungs = calloc(ranks->count, sizeof *ways.rungs),
		.called = calloc(ranks->count, sizeof *ways.called)
	};
	bool good = ways.rungs && ways.called && !ranks->is_short;

	for (size_t i = 0; good && i < report->site_count; )
		good = look_at_site(ranks, report, i, &ways, &i);
	free(ways.rungs);
	free(ways.called);
	return good;
}

void
ac_ranks_make(struct ac_report *report)
{
	struct ac_ranks *ranks = report->ranks_of;

	if (!ranks || !ranks->count)
		return;
	qsort(ranks->rank, ranks->count, sizeof *ranks->rank, by_rank);
	count_hosts(ranks);
	if (!compare(ranks, report)) {
		ac_log(AC_LOG_WARNING, "out of memory: ranks are not compared");
		ac_ranks_destroy(ranks);
		report->ranks_of = NULL;
	} else if (ranks->difference_count) {
		qsort(ranks->difference, ranks->difference_count,
		    sizeof *ranks->difference, by_work);
	}
	for (size_t i = 0; i < report->site_count; i++) {
		free(report->sites[i].ways);
		report->sites[i].ways = NULL;
		report->sites[i].way_count = 0;
	}
}

void
ac_ranks_destroy(struct ac_ranks *ranks)
{
	if (!ranks)
		return;
	free(ranks->rank);
	free(ranks->difference);
	free(ranks->way);
	free(ranks);
}
