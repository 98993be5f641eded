/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/ranges.c -- where exponents are counted: places in blocks behind
 * the records of the statistics file, given away one per site on request.
 * Shares the counting lock. Called by the shim, at a site's first call. */
#include "report/count/live.h"

#include <string.h>

enum {
	PLACE_BYTES = AC_REPORT_RANGES * sizeof(uint64_t),
	PLACES = AC_FILE_ALIGN / PLACE_BYTES     /* in a block */
};

/* An address that was handed out stays good for ever. */
static uint64_t *blocks[AC_FILE_RANGE_BLOCKS];

/* A block in our file, NULL if there is no room for it. */
static uint64_t *
extend(unsigned block)
{
	return ac_live_extend(ac_file_ranges_offset(block), AC_FILE_ALIGN);
}

static void
publish(unsigned block)
{
	atomic_fetch_or_explicit(&ac_live.front->header.range_blocks,
	    UINT64_C(1) << block, memory_order_release);
}

void
ac_ranges_move(void)
{
	for (unsigned b = 0; b < AC_FILE_RANGE_BLOCKS; b++) {
		uint64_t *new;

		if (!blocks[b])
			continue;
		new = extend(b);
		if (new)
			publish(b);
		else
			new = ac_file_memory(AC_FILE_ALIGN);
		if (new)
			ac_live_replace(blocks[b], new, AC_FILE_ALIGN);
	}
}

static uint64_t *
address(uint32_t place)
{
	return blocks[place / PLACES] + place % PLACES * AC_REPORT_RANGES;
}

/* A place of its own; 0 if there is no room. What a fork in the middle leaves
 * behind is a place that nobody has. */
static uint32_t
take(void)
{
	const unsigned block = ac_live.ranges / PLACES;

	if (ac_live.ranges == AC_FILE_RANGES)
		return 0;
	if (!blocks[block]) {
		uint64_t *new = extend(block);

		if (!new)
			return 0;
		__atomic_store_n(&blocks[block], new, __ATOMIC_RELEASE);
		publish(block);
	}
	return ++ac_live.ranges;
}

uint64_t *
ac_report_ranges(struct ac_site_record *site)
{
	const int saved = ac_live_enter();
	uint32_t mine = atomic_load(&site->ranges);

	if (!mine && site->number < AC_FILE_SITES) {
		const struct ac_site_record *other = ac_live_find_ranges(site);

		mine = other ? atomic_load(&other->ranges) : take();
		atomic_store(&site->ranges, mine);
	}
	ac_live_leave(saved);
	return mine ? address(mine - 1) : NULL;
}
