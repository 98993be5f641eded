/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/merge_ranges.c -- the exponents of several processes in one run,
 * by site. Allocates; the autocast program's only. */
#include "report/read/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		more = realloc(report->ranges,
		    (report->ranges_count + 1) * sizeof *more);
		if (!more)
			return false;
		report->ranges = more;
		more += report->ranges_count;
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
