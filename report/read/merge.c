/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/merge.c -- one run out of several processes: what their sites and
 * exponents add up to. Reads exponents from their files; else pure. */
#include "report/read/ranks.h"
#include "report/read/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one call of `site` computes: 2mnk per product, 8mnk for complex. A
 * convolution is a product per group. */
static double
call_flops(const struct ac_site_key *key)
{
	const int64_t batch = key->batch;
	const double each = strcmp(key->type, "c32") ? 2.0 : 8.0;

	if (key->m <= 0 || key->n <= 0 || key->k <= 0 || batch <= 0)
		return 0;
	return each * (double)key->m * (double)key->n * (double)key->k
	    * (double)batch;
}

static void
copy_site(struct ac_site_total *to, const struct ac_site_record *from)
{
	memset(to, 0, sizeof *to);
	memcpy(&to->key, &from->key, sizeof to->key);
	to->id = from->id;
	memcpy(to->name, from->name, sizeof to->name);
	memcpy(to->source, from->source, sizeof to->source);
	memcpy(&to->region, &from->region, sizeof to->region);
	to->rung = from->rung;
	to->tactic = from->tactic;
	to->reason = from->reason;
	to->line = from->line;
	to->guard = from->guard;
	to->tol = from->tol > 0 && from->tol < 1e9f ? (double)from->tol : 0;
	ac_course_read(&to->course, &from->course);
	to->calls = to->recast = atomic_load(&from->recast);
	for (int i = 0; i < AC_REASON_COUNT; i++) {
		to->kept[i] = atomic_load(&from->kept[i]);
		to->calls += to->kept[i];
	}
	to->flops = call_flops(&to->key);
	to->is_fp32 = !strcmp(to->key.type, "f32") ||
	    !strcmp(to->key.type, "c32");
}

/* A site that a forked child never called is none of it; a rung that was given
 * up before any call ran on it has something to tell. */
static bool
is_worth_telling(const struct ac_site_total *site)
{
	return site->calls || site->course.samples || site->course.judged ||
	    site->course.timed || site->course.demotions ||
	    site->course.finding != AC_FINDING_NONE;
}

static bool
add_marker(struct ac_report *report, const struct ac_marker_record *marker)
{
	size_t i = 0;

	if (!atomic_load(&marker->calls))
		return true;
	while (i < report->marker_count &&
	    strcmp(report->markers[i].symbol, marker->symbol))
		i++;
	if (i == report->marker_count) {
		if (!AC_GROW(report->markers, i + 1))
			return false;
		report->marker_count++;
		strcpy(report->markers[i].symbol, marker->symbol);
		report->markers[i].calls = 0;
	}
	report->markers[i].calls += atomic_load(&marker->calls);
	return true;
}

/* ---- Order ------------------------------------------------------------- */

static int
compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int
by_weight(const void *left, const void *right)
{
	const struct ac_site_total *a = left, *b = right;
	const double work_a = a->flops * (double)a->calls;
	const double work_b = b->flops * (double)b->calls;
	int order;

	if (work_a < work_b || work_a > work_b)
		return work_a < work_b ? 1 : -1;
	if (a->calls != b->calls)
		return compare(b->calls, a->calls);
	order = ac_site_by_key(a, b);
	return order ? order : ac_site_compare(a, b);
}

static int
by_start(const void *left, const void *right)
{
	const struct ac_file_header *a = left, *b = right;
	const int order = compare(a->start_s, b->start_s);

	return order ? order : compare(a->start_ns, b->start_ns);
}

static int
by_symbol(const void *left, const void *right)
{
	return strcmp(((const struct ac_marker *)left)->symbol,
	    ((const struct ac_marker *)right)->symbol);
}

/* ---- Adding ------------------------------------------------------------ */

static void
absorb(struct ac_site_total *into, struct ac_site_total *other)
{
	if (!*into->name)
		memcpy(into->name, other->name, sizeof into->name);
	into->calls += other->calls;
	into->recast += other->recast;
	for (int i = 0; i < AC_REASON_COUNT; i++)
		into->kept[i] += other->kept[i];
	if (other->tol > 0 && (into->tol <= 0 || other->tol < into->tol))
		into->tol = other->tol;
	ac_course_absorb(&into->course, &other->course);
	ac_ranks_absorb(into, other);
}

/* Add up what is of the same site and decision. */
static void
fold(struct ac_report *report)
{
	struct ac_site_total *sites = report->sites;
	size_t kept = 0;

	if (report->site_count == report->folded)
		return;         /* nothing was added since */
	qsort(sites, report->site_count, sizeof *sites, ac_site_compare);
	for (size_t i = 0; i < report->site_count; i++) {
		if (kept && !ac_site_compare(&sites[kept - 1], &sites[i]))
			absorb(&sites[kept - 1], &sites[i]);
		else
			sites[kept++] = sites[i];
	}
	report->site_count = report->folded = kept;
}

bool
ac_report_add(struct ac_report *report, const struct ac_file_header *header,
    const struct ac_site_record *records,
    const struct ac_marker_record *markers)
{
	const size_t count = atomic_load(&header->sites);
	struct ac_site_total *sites;
	size_t end = report->site_count;

	if (!AC_GROW(report->processes, report->process_count + 1))
		return false;
	memcpy(&report->processes[report->process_count++], header,
	    sizeof *header);
	report->incomplete |= atomic_load(&header->incomplete) != 0;
	if (!AC_GROW(report->sites, end + count + 1))
		return false;
	sites = report->sites;
	for (size_t i = 0; i < count; i++) {
		copy_site(&sites[end], &records[i]);
		end += is_worth_telling(&sites[end]);
	}
	ac_ranks_add(report, header, &sites[report->site_count],
	    end - report->site_count);
	report->site_count = end;
	/* At each doubling: no process pays for those before it. */
	if (end > 2 * report->folded)
		fold(report);
	for (uint32_t i = 0; i < atomic_load(&header->markers); i++)
		if (!add_marker(report, &markers[i]))
			return false;
	return true;
}

void
ac_report_arrange(struct ac_report *report)
{
	struct ac_site_total *sites = report->sites;

	fold(report);
	ac_ranks_make(report);
	report->places = 0;
	report->learnt = 0;
	for (size_t i = 0, end; i < report->site_count; i = end) {
		for (end = i + 1; end < report->site_count &&
		    !ac_site_identity(&sites[i], &sites[end]); )
			end++;
		ac_site_find_plain(&sites[i], end - i);
		report->learnt += ac_site_learnt(&sites[i], end - i);
		report->places++;
	}
	if (report->site_count)
		qsort(sites, report->site_count, sizeof *sites, by_weight);
	ac_ranges_arrange(report);
	if (report->process_count)
		qsort(report->processes, report->process_count,
		    sizeof *report->processes, by_start);
	if (report->marker_count)
		qsort(report->markers, report->marker_count,
		    sizeof *report->markers, by_symbol);
}

struct ac_site_total *
ac_report_copy_sites(const struct ac_report *report)
{
	struct ac_site_total *sites = malloc((report->site_count + 1)
	    * sizeof *sites);

	if (sites && report->site_count)
		memcpy(sites, report->sites,
		    report->site_count * sizeof *sites);
	return sites;
}

void
ac_report_destroy(struct ac_report *report)
{
	if (!report)
		return;
	free(report->processes);
	for (size_t i = 0; i < report->site_count; i++)
		free(report->sites[i].ways);
	free(report->sites);
	free(report->markers);
	free(report->callers);
	free(report->events);
	free(report->ranges);
	ac_ranks_destroy(report->ranks_of);
	free(report);
}

/* ---- Exponents ---------------------------------------------------------- */

bool
ac_report_add_ranges(struct ac_report *report, const char *path,
    const struct ac_file_header *header, const struct ac_site_record *records)
{
	const uint32_t count = atomic_load(&header->sites);
	bool done[AC_FILE_RANGES] = { false };

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t place = atomic_load(&records[i].ranges);
		struct ac_exponents *more;

		if (!place || done[place - 1])
			continue;       /* another rung of the same site */
		done[place - 1] = true;
		if (!AC_GROW(report->ranges, report->ranges_count + 1))
			return false;
		more = &report->ranges[report->ranges_count];
		memcpy(&more->key, &records[i].key, sizeof more->key);
		memcpy(more->region, records[i].region.name,
		    sizeof more->region);
		report->ranges_count += ac_report_read_ranges(path, header,
		    place - 1, more->counts);
	}
	if (report->ranges_count > 2 * report->ranges_folded)
		ac_ranges_arrange(report);
	return true;
}

static int
by_site(const void *one, const void *other)
{
	const struct ac_exponents *a = one, *b = other;
	const int order = memcmp(&a->key, &b->key, sizeof a->key);

	return order ? order : strcmp(a->region, b->region);
}

void
ac_ranges_arrange(struct ac_report *report)
{
	struct ac_exponents *r = report->ranges;
	size_t kept = 0;

	if (report->ranges_count)
		qsort(r, report->ranges_count, sizeof *r, by_site);
	for (size_t i = 0; i < report->ranges_count; i++) {
		if (!kept || by_site(&r[kept - 1], &r[i])) {
			if (kept != i)
				memcpy(&r[kept], &r[i], sizeof *r);
			kept++;
			continue;
		}
		for (int e = 0; e < AC_REPORT_RANGES; e++)
			r[kept - 1].counts[e] += r[i].counts[e];
	}
	report->ranges_count = report->ranges_folded = kept;
}

/* None of whose calls was looked at, as in a graph: not that all fits. */
static bool
is_empty(const struct ac_exponents *ranges)
{
	for (int e = 0; e < AC_REPORT_RANGES; e++)
		if (ranges->counts[e])
			return false;
	return true;
}

const struct ac_exponents *
ac_report_find_ranges(const struct ac_report *report,
    const struct ac_site_key *key, const char *region)
{
	const struct ac_exponents *found;
	struct ac_exponents wanted;

	if (!report->ranges_count)
		return NULL;
	memcpy(&wanted.key, key, sizeof wanted.key);
	snprintf(wanted.region, sizeof wanted.region, "%s", region);
	found = bsearch(&wanted, report->ranges, report->ranges_count,
	    sizeof *report->ranges, by_site);
	return found && !is_empty(found) ? found : NULL;
}
