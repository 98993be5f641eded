/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/base/test_table.c -- what was stored by key or by address is
 * found, by it alone, by any number of threads; what has no room is not. */
#include "base/table.h"
#include "tests/unit/cases.h"

#include "base/lock.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 200 };

/* ---- By key ------------------------------------------------------------ */

enum { BITS = 8, MOST = 1 << (BITS - 1), ENTRIES = ROUNDS * THREADS * MOST };

struct known {
	struct ac_table_entry entry;
	uint64_t              key[2];
	uint64_t              value;
};

static ac_table_slot slots[1 << BITS];
static struct ac_table table = { slots, BITS, MOST, 0 };
static struct known *entries; /* handed out one by one */
static _Atomic unsigned entries_used;

static int
set_up(void **state)
{
	memset(slots, 0, sizeof slots);
	table.used = 0;
	entries_used = 0;
	if (!entries)
		entries = malloc(ENTRIES * sizeof *entries);
	return !entries;
}

static struct known *
make(uint64_t hash, const uint64_t key[2])
{
	struct known *made = &entries[entries_used++];

	*made = (struct known){ .entry.hash = hash,
		.key = { key[0], key[1] }, .value = key[0] * 3 + key[1] };
	return made;
}

static struct known *
find(uint64_t first, uint64_t second)
{
	const uint64_t key[2] = { first, second };

	return (struct known *)ac_table_get(&table,
	    ac_table_hash(key, sizeof key), key, sizeof key);
}

/* The entry of a key, made if it is new; NULL: there is no room. */
static struct known *
find_or_make(uint64_t first, uint64_t second)
{
	const uint64_t key[2] = { first, second };
	const uint64_t hash = ac_table_hash(key, sizeof key);
	struct known *made = NULL;

	for (;;) {
		struct ac_table_entry *there;
		ac_table_slot *slot = ac_table_find(&table, hash, key,
		    sizeof key, &there);

		if (!slot || there)
			return (struct known *)there;
		if (!made)
			made = make(hash, key);
		if (ac_table_put(&table, slot, NULL, &made->entry))
			return made;
	}
}

CASE_WITH(test_found_by_its_key_alone, set_up, NULL)
{
	struct known *stored[MOST];

	assert_null(find(1, 2));
	for (uint64_t i = 0; i < MOST; i++) {
		stored[i] = find_or_make(i / 2, i % 2 << 63);
		assert_non_null(stored[i]);
	}
	assert_int_equal(table.used, MOST);
	for (uint64_t i = 0; i < MOST; i++) {
		assert_ptr_equal(find(i / 2, i % 2 << 63), stored[i]);
		assert_int_equal(stored[i]->key[0], i / 2);
		assert_int_equal(stored[i]->key[1], i % 2 << 63);
	}
	assert_null(find(MOST, 0));
}

CASE_WITH(test_hashes_differ_by_every_word, set_up, NULL)
{
	const uint64_t key[3] = { 1, 2, 3 }, top = UINT64_C(1) << 63;
	const uint64_t both[3] = { 1 ^ top, 2 ^ top, 3 };
	const uint64_t hash = ac_table_hash(key, sizeof key);

	assert_int_equal(ac_table_hash(key, sizeof key), hash);
	assert_int_not_equal(ac_table_hash(key, 16), hash);
	for (int i = 0; i < 3; i++) {
		uint64_t other[3] = { 1, 2, 3 };

		other[i] ^= top;
		assert_int_not_equal(ac_table_hash(other, sizeof other), hash);
	}
	/* The top bit of one word does not undo that of another. */
	assert_int_not_equal(ac_table_hash(both, sizeof both), hash);
}

/* The upper bits of a hash choose the slot; keys are compared all the same. */
CASE_WITH(test_equal_hashes, set_up, NULL)
{
	const uint64_t last = UINT64_C(0xff) << 56;
	const uint64_t one[2] = { 1, 1 }, two[2] = { 1, 2 };
	struct known *first = make(last, one), *second = make(last, two);
	struct ac_table_entry *there = &first->entry;
	ac_table_slot *slot = ac_table_find(&table, last, one, sizeof one,
	    &there);

	assert_ptr_equal(slot, &slots[(1 << BITS) - 1]);
	assert_null(there);
	assert_true(ac_table_put(&table, slot, NULL, &first->entry));
	slot = ac_table_find(&table, last, two, sizeof two, &there);
	assert_null(there);
	assert_ptr_equal(slot, &slots[0]);
	assert_true(ac_table_put(&table, slot, NULL, &second->entry));
	assert_ptr_equal(ac_table_get(&table, last, one, sizeof one),
	    &first->entry);
	assert_ptr_equal(ac_table_get(&table, last, two, sizeof two),
	    &second->entry);
	/* Of the first word alone, both are the same. */
	assert_ptr_equal(ac_table_get(&table, last, two, 8), &first->entry);
	/* A key that is the same, with another hash, is none of them. */
	assert_null(ac_table_get(&table, last + 1, one, sizeof one));
}

/* A slot that was empty may have been filled with another key's entry. */
CASE_WITH(test_filled_meanwhile, set_up, NULL)
{
	const uint64_t one[2] = { 1, 1 }, two[2] = { 1, 2 };
	struct known *first = make(1, one), *second = make(1, two);
	struct ac_table_entry *there;
	ac_table_slot *slot = ac_table_find(&table, 1, one, sizeof one,
	    &there);

	assert_true(ac_table_put(&table, slot, NULL, &second->entry));
	assert_null(there);
	assert_false(ac_table_put(&table, slot, there, &first->entry));
	assert_null(ac_table_get(&table, 1, one, sizeof one));
	slot = ac_table_find(&table, 1, one, sizeof one, &there);
	assert_true(ac_table_put(&table, slot, there, &first->entry));
	assert_ptr_equal(ac_table_get(&table, 1, one, sizeof one),
	    &first->entry);
	assert_ptr_equal(ac_table_get(&table, 1, two, sizeof two),
	    &second->entry);
}

CASE_WITH(test_replaced_by_its_own_key, set_up, NULL)
{
	struct known *first = find_or_make(1, 2), *second, *third;
	const uint64_t key[2] = { 1, 2 };
	struct ac_table_entry *there;
	ac_table_slot *slot = ac_table_find(&table, first->entry.hash, key,
	    sizeof key, &there);

	assert_ptr_equal(there, first);
	second = make(first->entry.hash, key);
	third = make(first->entry.hash, key);
	assert_true(ac_table_put(&table, slot, &first->entry, &second->entry));
	assert_ptr_equal(find(1, 2), second);
	assert_int_equal(table.used, 1);
	/* Who comes late looks again. */
	assert_false(ac_table_put(&table, slot, &first->entry, &third->entry));
	assert_false(ac_table_put(&table, slot, NULL, &third->entry));
	assert_ptr_equal(find(1, 2), second);
	assert_int_equal(table.used, 1);
}

CASE_WITH(test_full, set_up, NULL)
{
	const uint64_t key[2] = { 999, 0 };
	struct ac_table_entry *there;

	for (uint64_t i = 0; i < MOST; i++)
		assert_non_null(find_or_make(i, i));
	assert_null(ac_table_find(&table, ac_table_hash(key, sizeof key), key,
	    sizeof key, &there));
	assert_null(there);
	assert_null(find_or_make(999, 0));
	assert_int_equal(entries_used, MOST);
	for (uint64_t i = 0; i < MOST; i++)
		assert_int_equal(find(i, i)->value, i * 4);
}

/* All with one hash: there is room for as many as are probed. */
CASE_WITH(test_a_run_ends, set_up, NULL)
{
	uint64_t key[2] = { 0, 0 };
	struct ac_table_entry *there;
	ac_table_slot *slot;

	for (; key[0] < 64; key[0]++) {
		slot = ac_table_find(&table, 1, key, sizeof key, &there);
		assert_non_null(slot);
		assert_true(ac_table_put(&table, slot, NULL,
		    &make(1, key)->entry));
	}
	assert_null(ac_table_find(&table, 1, key, sizeof key, &there));
	key[0] = 63;
	assert_non_null(ac_table_get(&table, 1, key, sizeof key));
}

static pthread_barrier_t together;

static void *
find_all(void *into)
{
	struct known **found = into;

	pthread_barrier_wait(&together);
	for (uint64_t i = 0; i < MOST / 2; i++)
		found[i] = find_or_make(i, i);
	return NULL;
}

CASE_WITH(test_threads_find_the_same, set_up, NULL)
{
	static struct known *found[THREADS][MOST];
	pthread_t thread[THREADS];

	pthread_barrier_init(&together, NULL, THREADS);
	for (int round = 0; round < ROUNDS; round++) {
		set_up(state);
		for (int t = 0; t < THREADS; t++)
			assert_int_equal(pthread_create(&thread[t], NULL,
			    find_all, found[t]), 0);
		for (int t = 0; t < THREADS; t++)
			pthread_join(thread[t], NULL);
		for (uint64_t i = 0; i < MOST / 2; i++) {
			assert_non_null(found[0][i]);
			assert_int_equal(found[0][i]->value, i * 4);
			for (int t = 1; t < THREADS; t++)
				assert_ptr_equal(found[t][i], found[0][i]);
		}
		assert_int_equal(table.used, MOST / 2);
	}
	pthread_barrier_destroy(&together);
}

/* ---- By address -------------------------------------------------------- */

enum { ROW_BITS = 6, WINDOW = 8, THINGS = 4000 };

struct thing {
	struct ac_row row;
	uintptr_t     value;
	char          more[40];
};

static struct thing things[(1 << ROW_BITS) + WINDOW];
static const struct ac_rows rows = { things, sizeof *things, ROW_BITS, WINDOW };
static struct ac_lock lock;

static const void *
address_of(uintptr_t number)
{
	return (const void *)(0x100000 + 64 * number);
}

static struct thing *
seek(uintptr_t number)
{
	return (struct thing *)ac_rows_find(&rows, address_of(number));
}

static bool
keep(uintptr_t number, uintptr_t value)
{
	struct thing *thing;

	ac_lock_take(&lock);
	thing = (struct thing *)ac_rows_take(&rows, address_of(number));
	if (thing) {
		thing->value = value;
		ac_row_set(&thing->row, address_of(number));
	}
	ac_lock_give(&lock);
	return thing != NULL;
}

static bool
drop(uintptr_t number)
{
	struct ac_row *row;

	ac_lock_take(&lock);
	row = ac_rows_find(&rows, address_of(number));
	if (row)
		ac_row_set(row, NULL);
	ac_lock_give(&lock);
	return row != NULL;
}

static int
clear(void **state)
{
	memset(things, 0, sizeof things);
	return 0;
}

CASE_WITH(test_comes_and_goes, clear, NULL)
{
	assert_null(seek(1));
	assert_null(ac_rows_find(&rows, NULL));
	assert_true(keep(1, 11));
	assert_true(keep(2, 22));
	assert_int_equal(seek(1)->value, 11);
	assert_int_equal(seek(2)->value, 22);
	assert_true(drop(1));
	assert_false(drop(1));
	assert_null(seek(1));
	assert_int_equal(seek(2)->value, 22);
}

/* What has the address of one that was never dropped takes its row: and until
 * that is filled nobody finds it. */
CASE_WITH(test_an_address_is_used_again, clear, NULL)
{
	struct ac_row *row, *again;

	assert_true(keep(1, 11));
	row = ac_rows_find(&rows, address_of(1));
	again = ac_rows_take(&rows, address_of(1));
	assert_ptr_equal(row, again);
	assert_null(seek(1));
	ac_row_set(again, address_of(1));
	assert_ptr_equal(ac_rows_find(&rows, address_of(1)), row);
	/* In the second of its rows even if the first is free again. */
	clear(state);
	row = ac_rows_take(&rows, address_of(1));
	ac_row_set(row, address_of(2));
	again = ac_rows_take(&rows, address_of(1));
	ac_row_set(again, address_of(1));
	assert_ptr_not_equal(row, again);
	ac_row_set(row, NULL);
	assert_ptr_equal(ac_rows_find(&rows, address_of(1)), again);
	assert_ptr_equal(ac_rows_take(&rows, address_of(1)), again);
}

CASE_WITH(test_room_ends_and_comes_back, clear, NULL)
{
	unsigned kept = 0, taken = 0;

	for (uintptr_t i = 0; i < THINGS; i++)
		kept += keep(i, i);
	for (unsigned i = 0; i < sizeof things / sizeof *things; i++)
		taken += things[i].row.address != 0;
	/* The last window ends one row before the last. */
	assert_int_equal(kept, (1 << ROW_BITS) + WINDOW - 1);
	assert_int_equal(taken, kept);
	for (uintptr_t i = 0; i < THINGS; i++)
		if (seek(i))
			assert_int_equal(seek(i)->value, i);
	for (uintptr_t i = 0; i < THINGS; i++)
		kept -= drop(i);
	assert_int_equal(kept, 0);
	assert_true(keep(5, 5));
}

/* Each thread has two things that stay, and some that come and go. */
static void *
come_and_go(void *number)
{
	const uintptr_t mine = (uintptr_t)number;
	uintptr_t wrong = 0;

	for (uintptr_t i = 0; i < THINGS; i++) {
		const uintptr_t other = THREADS * (i + 1) + mine;
		const bool is_kept = keep(other, i);

		wrong += is_kept != (seek(other) != NULL);
		if (is_kept) {
			wrong += seek(other)->value != i;
			wrong += !drop(other);
		}
		wrong += seek(other) != NULL;
		wrong += !seek(mine) || seek(mine)->value != mine;
	}
	return (void *)wrong;
}

CASE_WITH(test_threads_come_and_go, clear, NULL)
{
	pthread_t thread[THREADS];
	void *wrong;

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_true(keep(i, i));
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, come_and_go,
		    (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &wrong);
		assert_null(wrong);
	}
}

CASES_RUN(NULL, NULL)
