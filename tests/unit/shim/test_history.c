/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_history.c -- which history is whose, and what a call
 * costs that can have none. */
#include "base/mapped.h"
#include "shim/device/history.h"
#include "shim/device/hold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- A world with memory, or without ------------------------------------ */

static bool has_memory, is_ordered;
static unsigned mapped, slabs_taken;

void *
ac_mapped_take(size_t bytes)
{
	static struct ac_history pool[128];

	assert_true(bytes == sizeof *pool && mapped < 128);
	return &pool[mapped++];
}

bool
ac_scratch_order(struct ac_scratch *scratch, ac_cu_stream stream, bool captures)
{
	(void)scratch, (void)stream;
	return is_ordered || !captures;
}

enum ac_reason
ac_scratch_take(struct ac_scratch *scratch, uint64_t limit, uint64_t bytes,
    bool zeroed, ac_cu_stream stream, ac_cu_address *address_out)
{
	(void)scratch, (void)limit, (void)bytes, (void)stream;
	assert_true(zeroed);
	if (!has_memory)
		return AC_REASON_WORKSPACE;
	slabs_taken++;
	*address_out = (ac_cu_address)slabs_taken << 20;
	return AC_REASON_NONE;
}

static uint64_t live; /* the capture that something is left of */

bool
ac_hold_is_live(uint64_t capture)
{
	return capture == live;
}

static struct ac_recast_history *
find(ac_histories *site, uint64_t stream, uint64_t capture, unsigned candidate)
{
	const struct ac_place place = { .stream_id = stream,
		.capture = capture };

	return ac_history_find(site, &place, candidate, 1 << 20);
}

/* ---- Cases ------------------------------------------------------------- */

static void
test_none_costs_nothing(void **state)
{
	ac_histories site = NULL;

	(void)state;
	has_memory = false;
	mapped = 0;
	for (int i = 0; i < 100; i++)
		assert_null(find(&site, 1, 0, 0));
	assert_int_equal(mapped, 0);
}

static void
test_one_for_each(void **state)
{
	ac_histories site = NULL, other = NULL;
	struct ac_recast_history *first;

	(void)state;
	has_memory = true;
	mapped = 0;
	is_ordered = true;
	first = find(&site, 1, 0, 0);
	assert_non_null(first);
	assert_ptr_equal(find(&site, 1, 0, 0), first);
	assert_ptr_not_equal(find(&site, 2, 0, 0), first);
	assert_ptr_not_equal(find(&site, 1, 7, 0), first);
	assert_ptr_not_equal(find(&site, 1, 0, 1), first);
	assert_ptr_not_equal(find(&other, 1, 0, 0), first);
	assert_int_equal(mapped, 5);
	assert_int_equal(slabs_taken, 1);
	/* What is being cleared cannot go into a graph. */
	is_ordered = false;
	assert_null(find(&site, 3, 7, 0));
	assert_int_equal(mapped, 5);
	/* A site with too many streams. */
	for (uint64_t i = 10; i < 100; i++)
		first = find(&site, i, 0, 0);
	assert_null(first);
	assert_int_equal(mapped, 65);
}

/* What a graph has left is the next one's, if that is known to end, too. */
static void
test_graphs_leave_theirs(void **state)
{
	ac_histories site = NULL;
	struct ac_recast_history *first, *second, *for_good;

	(void)state;
	has_memory = is_ordered = true;
	mapped = 0;
	for_good = find(&site, 1, 6, 0);
	live = 7;
	first = find(&site, 1, 7, 0);
	assert_ptr_equal(find(&site, 1, 7, 0), first);
	second = find(&site, 1, 8, 0); /* not held: nobody knows its end */
	assert_int_equal(mapped, 3);
	live = 9;
	assert_ptr_not_equal(find(&site, 2, 9, 0), first);
	assert_ptr_not_equal(find(&site, 1, 9, 1), first);
	assert_ptr_not_equal(find(&site, 1, 0, 0), first);
	assert_ptr_equal(find(&site, 1, 9, 0), first);
	assert_ptr_equal(find(&site, 1, 9, 0), first);
	live = 0;
	assert_ptr_not_equal(find(&site, 1, 10, 0), first);
	assert_ptr_equal(find(&site, 1, 8, 0), second);
	assert_ptr_equal(find(&site, 1, 6, 0), for_good);
	assert_int_equal(mapped, 7);
	/* However many there are. */
	for (uint64_t i = 100; i < 300; i++) {
		live = i;
		assert_ptr_equal(find(&site, 1, i, 0), first);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none_costs_nothing),
		cmocka_unit_test(test_one_for_each),
		cmocka_unit_test(test_graphs_leave_theirs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
