/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/site.c -- what tells sites apart, and in which order they come.
 * Pure. */
#include "report/read/read.h"

#include <string.h>

static int
compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int
ac_site_by_key(const struct ac_site_total *a, const struct ac_site_total *b)
{
	const int order = memcmp(&a->key, &b->key, sizeof a->key);

	return order ? order : strcmp(a->region.name, b->region.name);
}

/* Ids first: most differ there, and keys late. */
int
ac_site_identity(const struct ac_site_total *a, const struct ac_site_total *b)
{
	const int order = compare(a->id, b->id);

	return order ? order : ac_site_by_key(a, b);
}

int
ac_site_compare(const void *left, const void *right)
{
	const struct ac_site_total *a = left, *b = right;
	int order = ac_site_identity(a, b);

	if (!order)
		order = memcmp(&a->region, &b->region, sizeof a->region);
	if (!order)
		order = compare(a->rung, b->rung);
	if (!order)
		order = compare(a->tactic, b->tactic);
	if (!order)
		order = compare(a->reason, b->reason);
	if (!order)
		order = compare(a->line, b->line);
	return order ? order : strcmp(a->source, b->source);
}
