/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_ledger.c -- which record is whose, where it lies, and
 * what a call costs that can have none. */
#include "base/mapped.h"
#include "shim/device/hold.h"
#include "shim/device/ledger.h"
#include "shim/device/mailbox.h"
#include "tests/unit/cases.h"

enum { SLAB = 256 };             /* records */

/* ---- A world with memory, or without ------------------------------------ */

static enum ac_reason lacks;
static bool is_ordered, maps_ours, maps;
static unsigned mapped, slabs_taken, mailed;
static uint64_t live; /* the capture that something is left of */
static struct ac_verified_record copies[512];

void *
ac_mapped_take(size_t bytes)
{
	static struct ac_ledger pool[2048];
	static unsigned used;

	assert_true(bytes == sizeof *pool && used < 2048);
	mapped++;
	return &pool[used++];
}

bool
ac_scratch_order(struct ac_scratch *scratch, ac_cu_stream stream, bool captures)
{
	return is_ordered || !captures;
}

static uint32_t has_table; /* the epoch that has one */
static uint32_t now(void);

enum ac_reason
ac_scratch_take(struct ac_scratch *scratch, uint64_t limit, uint64_t bytes,
    bool zeroed, ac_cu_stream stream, ac_cu_address *address_out)
{
	assert_true(zeroed && limit == 1 << 20);
	assert_int_equal(bytes, SLAB * 64 + (has_table == now() ? 0
	    : sizeof(struct ac_verified_cancelled)));
	if (lacks != AC_REASON_NONE)
		return lacks;
	has_table = now();
	*address_out = (ac_cu_address)++slabs_taken << 20;
	return AC_REASON_NONE;
}

bool
ac_hold_is_live(uint64_t capture)
{
	return capture == live;
}

bool
ac_mailbox_take(const struct ac_place *place, size_t bytes, bool outlives,
    void **host_out, ac_cu_address *device_out)
{
	assert_int_equal(bytes, sizeof *copies);
	if (!(outlives ? maps_ours : maps))
		return false;
	*host_out = &copies[mailed % 512];
	*device_out = 4096 + (ac_cu_address)mailed++;
	return true;
}

static struct ac_place place; /* but for stream and capture */
static bool is_steady;

static uint32_t
now(void)
{
	return place.epoch;
}

static int
begin(void **state)
{
	lacks = AC_REASON_NONE;
	is_ordered = maps_ours = maps = true;
	mapped = slabs_taken = 0;
	live = 0;
	memset(copies, 0, sizeof copies);
	place.epoch++; /* nothing is left of what was */
	return 0;
}

static struct ac_ledger *
find(ac_ledgers *site, uint64_t stream, uint64_t capture, unsigned candidate)
{
	place.stream_id = stream;
	place.capture = capture;
	return ac_ledger_find(site, (struct ac_variants *)(uintptr_t)8, &place,
	    candidate, is_steady, 1 << 20);
}

/* ---- Cases ------------------------------------------------------------- */

CASE_WITH(test_none_costs_nothing, begin, NULL)
{
	ac_ledgers site = NULL;

	for (int i = 0; i < 100; i++) {
		lacks = i % 2 ? AC_REASON_WORKSPACE : AC_REASON_OUT_OF_MEMORY;
		assert_null(find(&site, 1, 0, 0));
		assert_int_equal(ac_ledger_lacks(&site, &place), lacks);
	}
	/* A capture takes nothing at all. */
	lacks = AC_REASON_NONE;
	assert_null(find(&site, 1, 7, 0));
	assert_true(mapped == 0 && slabs_taken == 0);
}

CASE_WITH(test_one_for_each, begin, NULL)
{
	ac_ledgers site = NULL, other = NULL;
	struct ac_ledger *first, *last;

	first = find(&site, 1, 0, 0);
	assert_non_null(first);
	assert_ptr_equal(ac_ledger_first(), first);
	assert_ptr_equal(first->of, (void *)8);
	assert_int_equal(first->calls + first->queued, 0);
	assert_ptr_equal(find(&site, 1, 0, 0), first);
	assert_ptr_not_equal(find(&site, 2, 0, 0), first);
	assert_ptr_not_equal(find(&site, 1, 7, 0), first);
	assert_ptr_not_equal(find(&site, 1, 0, 1), first);
	assert_ptr_not_equal(find(&other, 1, 0, 0), first);
	assert_ptr_equal(ac_ledger_first(), other);
	/* What has cancelled is the whole context's. */
	assert_ptr_equal(first->cancelled, (char *)first->record + SLAB * 64);
	assert_ptr_equal(other->cancelled, first->cancelled);
	assert_false(first->heeds_cancelled);
	assert_true(find(&site, 1, 7, 0)->heeds_cancelled);
	assert_ptr_not_equal(ac_ledger_first()->also, first);
	assert_int_equal(mapped, 5);
	assert_int_equal(slabs_taken, 1);
	/* What is being cleared cannot go into a graph. */
	is_ordered = false;
	assert_null(find(&site, 3, 7, 0));
	assert_int_equal(mapped, 5);
	/* A site with too many streams that keep theirs. */
	is_steady = true;
	assert_int_equal(ac_ledger_lacks(&site, &place), AC_REASON_DRIVER);
	for (uint64_t i = 10; i < 100; i++)
		first = find(&site, i, 0, 0);
	is_steady = false;
	assert_null(first);
	assert_int_equal(ac_ledger_lacks(&site, &place), AC_REASON_UNREAD);
	assert_int_equal(mapped, 65);
	/* Those of a context that was reset serve nobody, and make room. */
	last = site;
	first = last->next;
	place.epoch++;
	is_steady = true;
	for (uint64_t i = 10; i < 74; i++)
		assert_non_null(find(&site, i, 0, 0));
	assert_null(find(&site, 74, 0, 0));
	assert_int_equal(mapped, 65 + 64);
	is_steady = false;
	assert_ptr_equal(last->next, NULL);
	assert_ptr_not_equal(first->next, NULL); /* who was there goes on */
	assert_ptr_not_equal(find(&other, 1, 0, 0), other->next);
	assert_int_equal(slabs_taken, 2);
}

/* Those of another context stay. */
CASE_WITH(test_contexts_in_turn, begin, NULL)
{
	ac_ledgers site = NULL;
	struct ac_ledger *there;

	there = find(&site, 1, 0, 0);
	there->scratch = 1;
	for (int i = 0; i < 300; i++, place.epoch++)
		assert_non_null(find(&site, 1, 0, 0));
	place.epoch -= 300;
	place.index = 1;
	assert_ptr_equal(find(&site, 1, 0, 0), there);
	place.index = 0;
	place.epoch += 300;
}

/* Where there are 64, the next stream has the oldest one with nothing on its
 * way, and that stream another, when it comes back. */
CASE_WITH(test_streams_leave_theirs, begin, NULL)
{
	ac_ledgers site = NULL;
	struct ac_ledger *one[64];

	for (uint64_t i = 0; i < 64; i++) {
		one[i] = find(&site, 1 + i, 0, i == 3);
		one[i]->queued = i != 3 && i != 5;
	}
	assert_null(find(&site, 70, 9, 0)); /* captured */
	assert_ptr_equal(find(&site, 70, 0, 0), one[5]);
	one[5]->queued = 1;
	assert_null(find(&site, 6, 0, 0));
	copies[one[5]->host - copies].calls = 1;
	assert_ptr_equal(find(&site, 70, 0, 0), one[5]);
	assert_ptr_equal(find(&site, 6, 0, 0), one[5]);
	assert_int_equal(one[5]->queued, 1);
	assert_ptr_equal(find(&site, 80, 0, 1), one[3]);
	assert_int_equal(mapped, 64);
	place.epoch++; /* nobody has one of those that were of another */
	assert_int_equal(find(&site, 81, 0, 0)->epoch, place.epoch);
	assert_int_equal(mapped, 65);
}

/* A capture has what is left of a slab, and no more. */
CASE_WITH(test_slabs, begin, NULL)
{
	ac_ledgers site = NULL;
	struct ac_verified_record *last = NULL;

	for (unsigned i = 0; i < SLAB; i++) {
		struct ac_ledger *one;

		if (i % 60 == 0)
			site = NULL;
		one = find(&site, 1 + i, i ? 100 + i : 0, 0);
		assert_non_null(one);
		if (last)
			assert_int_equal((char *)one->record - (char *)last,
			    64);
		last = one->record;
	}
	site = NULL;
	assert_null(find(&site, 1, 7, 0));
	assert_int_equal(slabs_taken, 1);
	assert_non_null(find(&site, 1, 0, 0));
	assert_int_equal(slabs_taken, 2);
	assert_non_null(find(&site, 1, 7, 0));
}

/* Where the host reads: at any time what is ours, else at a place of the same
 * context; nowhere what is not mapped, which runs all the same. */
CASE_WITH(test_copies, begin, NULL)
{
	ac_ledgers site = NULL;
	struct ac_ledger *ours, *driver_s, *none;
	struct ac_place elsewhere;

	ours = find(&site, 1, 0, 0);
	maps_ours = false;
	driver_s = find(&site, 2, 0, 0);
	maps = false;
	none = find(&site, 3, 0, 0);
	assert_int_equal((ac_cu_address)(uintptr_t)ours->post,
	    4096 + mailed - 2);
	copies[(mailed - 2) % 512].calls = 5;
	assert_int_equal(ac_ledger_posted(ours), 5);
	assert_true(ac_ledger_is_readable(ours, NULL));
	assert_false(ac_ledger_is_readable(driver_s, NULL));
	assert_true(ac_ledger_is_readable(driver_s, &place));
	elsewhere = place;
	elsewhere.index++;
	assert_false(ac_ledger_is_readable(driver_s, &elsewhere));
	assert_true(ac_ledger_is_readable(ours, &elsewhere));
	elsewhere = place;
	elsewhere.epoch++;
	assert_false(ac_ledger_is_readable(driver_s, &elsewhere));
	assert_non_null(none->record);
	assert_null(none->post);
	assert_false(ac_ledger_is_readable(none, &place));
}

/* The ledger of a call that capture `capture` of stream 1 recorded. */
static struct ac_ledger *
record(ac_ledgers *site, uint64_t capture)
{
	struct ac_ledger *found = find(site, 1, capture, 0);

	if (found)
		ac_ledger_recorded(found, &place);
	return found;
}

/* What a graph has left is the next one's, if it is known that it has, by then:
 * a call is recorded behind the look for its ledger. */
CASE_WITH(test_graphs_leave_theirs, begin, NULL)
{
	ac_ledgers site = NULL;
	struct ac_ledger *first, *second, *for_good;

	assert_non_null(find(&site, 9, 0, 0));
	for_good = record(&site, 6); /* not held: nobody knows its end */
	first = find(&site, 1, 7, 0);
	live = 7;
	assert_ptr_equal(record(&site, 7), first);
	second = record(&site, 8);
	assert_int_equal(mapped, 4);
	live = 9;
	assert_ptr_not_equal(find(&site, 2, 9, 0), first);
	assert_ptr_not_equal(find(&site, 1, 9, 1), first);
	assert_ptr_not_equal(find(&site, 1, 0, 0), first);
	assert_ptr_equal(find(&site, 1, 9, 0), first);
	assert_ptr_equal(record(&site, 9), first);
	live = 0;
	assert_ptr_equal(find(&site, 1, 8, 0), second);
	assert_ptr_equal(find(&site, 1, 6, 0), for_good);
	assert_int_equal(mapped, 7);
	/* However many there are; also of those that recorded none. */
	for (uint64_t i = 100; i < 300; i++) {
		live = 0;
		assert_ptr_equal(find(&site, 1, i, 0), first);
		live = i;
		if (i % 2)
			assert_ptr_equal(record(&site, i), first);
	}
	assert_int_equal(mapped, 7);
}

/* Whichever stream that was of, once there are as many as may be. */
CASE_WITH(test_graphs_of_many_streams, begin, NULL)
{
	ac_ledgers site = NULL;

	assert_non_null(find(&site, 999, 0, 0));
	for (uint64_t i = 1; i < 300; i++) {
		live = 0;
		assert_non_null(find(&site, i, 1000 + i, 0));
		live = 1000 + i;
		ac_ledger_recorded(find(&site, i, 1000 + i, 0), &place);
		assert_int_equal(mapped, i < 63 ? i + 1 : 64);
	}
	is_steady = true; /* when posts come must not matter */
	live = 0;
	assert_null(find(&site, 300, 2000, 0));
	is_steady = false;
}

CASES_RUN(NULL, NULL)
