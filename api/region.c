/* SPDX-License-Identifier: Apache-2.0 */
/* api/region.c -- regions: read from what the program says, interned in a table
 * that only grows, stacked per thread. No call of CUDA, no heap. */
#include "api/region.h"

#include "api/status.h"
#include "api/thread.h"
#include "base/mapped.h"
#include "base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

__thread uint64_t ac_region_mark;

const char *const ac_region_rung_words[AC_REGION_RUNGS] = {
	"tf32", "fp16", "bf16", "fp16x2", "fp16x3", "bf16x3", "bf16x6"
};

/* ---- What the program says --------------------------------------------- */

static bool
read_name(struct ac_region *region, const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789_./+@%~:-";
	size_t length = 0;

	if (!name)
		return false;
	while (length < AC_REGION_NAME && name[length]
	    && strchr(allowed, name[length]))
		length++;
	if (!length || length == AC_REGION_NAME || name[length])
		return false;
	memcpy(region->name, name, length);
	return true;
}

/* One word of a list; a rung named twice counts once. */
static bool
add_rung(struct ac_region *region, const char *word, size_t length)
{
	uint8_t rung = 0;

	while (strncmp(ac_region_rung_words[rung], word, length)
	    || ac_region_rung_words[rung][length])
		if (++rung == AC_REGION_RUNGS)
			return false;
	rung++;
	if (!memchr(region->rung, rung, region->rung_count))
		region->rung[region->rung_count++] = rung;
	return true;
}

static bool
read_rungs(struct ac_region *region, const char *list)
{
	size_t length;

	if (!list)
		return true;
	region->is_auto = !strcmp(list, "auto");
	if (region->is_auto)
		return true;
	for (;; list += length + 1) {
		length = strcspn(list, ",");
		if (!add_rung(region, list, length))
			return false;
		if (!list[length])
			return true;
	}
}

/* ---- The table --------------------------------------------------------- */

/* The number of a region is one more than its slot. */
enum { BITS = 13 };

struct known {
	struct ac_table_entry entry;
	struct ac_region      region;
};

static ac_table_slot slots[1 << BITS];
static struct ac_table table = { slots, BITS, AC_REGION_LIMIT, 0 };

_Static_assert(BITS <= 16, "a number fits where threads have it");
_Static_assert(AC_REGION_LIMIT <= 1 << (BITS - 1), "as the table wants it");
_Static_assert(sizeof(struct ac_region) % sizeof(uint64_t) == 0
    && offsetof(struct known, region) == sizeof(struct ac_table_entry),
    "a region is a key");

const struct ac_region *
ac_region_get(uint32_t number)
{
	const struct known *known = number && number <= 1 << BITS
	    ? (const struct known *)ac_table_at(&slots[number - 1]) : NULL;

	return known ? &known->region : NULL;
}

/* The number of `wanted`, known from now on. */
static autocast_status
number_of(const struct ac_region *wanted, uint32_t *number_out)
{
	const uint64_t hash = ac_table_hash(wanted, sizeof *wanted);
	struct known *made = NULL;

	for (;;) {
		struct ac_table_entry *there;
		ac_table_slot *slot = ac_table_find(&table, hash, wanted,
		    sizeof *wanted, &there);

		if (!slot)
			return AUTOCAST_E_REGION;
		if (!there) {
			if (!made && !(made = ac_mapped_take(sizeof *made)))
				return AUTOCAST_E_NO_MEMORY;
			made->entry.hash = hash;
			made->region = *wanted;
			if (!ac_table_put(&table, slot, NULL, &made->entry))
				continue;
		}
		*number_out = (uint32_t)(slot - slots) + 1;
		return AUTOCAST_OK;
	}
}

/* ---- The door ---------------------------------------------------------- */

static void
enter(uint32_t number)
{
	ac_region_mark = (ac_region_mark & UINT32_MAX)
	    | (uint64_t)number << AC_REGION_SHIFT;
}

autocast_status
autocast_region_push(const char *name, int enabled, const char *rung)
{
	struct ac_region wanted = { .enabled = enabled != 0 };
	struct ac_thread *thread;
	autocast_status why;
	uint32_t number;

	if (!read_name(&wanted, name))
		return ac_status_fail(AUTOCAST_E_INVALID, "the name of a "
		    "region is 1 to 63 characters of A-Z a-z 0-9 and "
		    "_./+@%%~:-");
	if (!read_rungs(&wanted, rung))
		return ac_status_fail(AUTOCAST_E_INVALID, "region %s: '%.40s' "
		    "is neither auto nor a list of rungs such as fp16,tf32",
		    wanted.name, rung);
	thread = ac_thread_get();
	if (!thread)
		return AUTOCAST_E_NO_MEMORY;
	if (thread->depth == AC_REGIONS_DEEP)
		return ac_status_fail(AUTOCAST_E_REGION, "region %s: %d are "
		    "open on this thread", wanted.name, AC_REGIONS_DEEP);
	why = number_of(&wanted, &number);
	if (why)
		return ac_status_fail(why, why == AUTOCAST_E_REGION ?
		    "region %s: the process had %d different ones" :
		    "region %s: no memory for one of %d", wanted.name,
		    AC_REGION_LIMIT);
	thread->open[thread->depth++] = (uint16_t)number;
	enter(number);
	return AUTOCAST_OK;
}

autocast_status
autocast_region_pop(void)
{
	struct ac_thread *thread;

	/* A thread that has no block has no region either, nor needs one. */
	if (!ac_thread_seen->depth)
		return ac_status_fail(AUTOCAST_E_REGION,
		    "no region is open on this thread");
	thread = ac_thread_get();
	thread->depth--;
	enter(thread->depth ? thread->open[thread->depth - 1] : 0);
	return AUTOCAST_OK;
}
