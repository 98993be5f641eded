/* SPDX-License-Identifier: Apache-2.0 */
/* api/region.c -- regions: read from what the program says, interned in a table
 * that only grows, stacked per thread. No call of CUDA, no heap. */
#include "api/region.h"

#include "api/status.h"
#include "api/thread.h"
#include "base/lock.h"
#include "base/mapped.h"
#include "base/text.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

__thread uint64_t ac_region_mark;

const char *const ac_region_rung_words[AC_REGION_RUNGS] = {
	"tf32", "fp16", "bf16", "fp16x3", "bf16x3", "bf16x6", "int8x3",
	"int8x6"
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

/* Open addressing; the number of a region is one more than its slot. Filled
 * under the lock, published last, never emptied. */
enum { SLOTS = 1 << 13 };
static _Atomic(const struct ac_region *) regions[SLOTS];
static struct ac_lock lock;
static unsigned count;

_Static_assert(SLOTS < 1 << 16, "a number fits where threads have it");
_Static_assert(SLOTS >= 2 * AC_REGION_LIMIT, "a free slot is found soon");

const struct ac_region *
ac_region_get(uint32_t number)
{
	return number && number <= SLOTS ? atomic_load_explicit(
	    &regions[number - 1], memory_order_acquire) : NULL;
}

/* The slot of `wanted`, or the free one where it belongs. */
static uint32_t
find(const struct ac_region *wanted, const struct ac_region **found_out)
{
	uint32_t at = ac_text_hash(AC_TEXT_HASH_START, wanted, sizeof *wanted);

	for (;; at++) {
		const struct ac_region *there;

		at &= SLOTS - 1;
		there = ac_region_get(at + 1);
		if (there && memcmp(there, wanted, sizeof *wanted))
			continue;
		*found_out = there;
		return at;
	}
}

/* The number of a region that is new; 0 and why: there is no place for it. */
static uint32_t
add(const struct ac_region *wanted, autocast_status *why)
{
	const struct ac_region *there;
	struct ac_region *region;
	uint32_t at;

	ac_lock_take(&lock);
	at = find(wanted, &there);
	if (!there && count >= AC_REGION_LIMIT) {
		*why = AUTOCAST_E_REGION;
	} else if (!there) {
		*why = AUTOCAST_E_NO_MEMORY;
		region = ac_mapped_take(sizeof *region);
		if (region) {
			*region = *wanted;
			atomic_store_explicit(&regions[at], region,
			    memory_order_release);
			count++;
		}
		there = region;
	}
	ac_lock_give(&lock);
	return there ? at + 1 : 0;
}

/* ---- The door ---------------------------------------------------------- */

static void
enter(uint32_t number)
{
	ac_region_mark = (ac_region_mark & UINT32_MAX)
	    | (uint64_t)number << AC_REGION_SHIFT;
}

autocast_status
autocast_region_push(const char *name, int enabled, const char *rung, int cache)
{
	struct ac_region wanted = { .enabled = enabled != 0,
		.cache = cache != 0 };
	const struct ac_region *there;
	struct ac_thread *thread;
	autocast_status why = AUTOCAST_OK;
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
	number = find(&wanted, &there) + 1;
	if (!there)
		number = add(&wanted, &why);
	if (!number)
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
