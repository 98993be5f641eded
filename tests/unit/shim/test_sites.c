/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_sites.c -- sites are found by their queries, decided
 * once, and again once a module was unloaded, by any number of threads. */
#include "shim/site/sites.h"
#include "tests/unit/cases.h"

#include <pthread.h>

enum { BITS = 6, SLOTS = 1 << BITS, LIMIT = SLOTS / 2, MANY = LIMIT - 1 };
enum { THREADS = 8, ROUNDS = 200 };

struct query {
	uint64_t key[2];
	uint64_t rest;           /* does not tell sites apart */
};

struct site {
	struct ac_table_entry entry;
	struct query        query;
	int                 decision;
	struct site        *next;
};

_Atomic uint32_t ac_binding_generation; /* in place of shim/site/site.c */

static _Atomic int decision, made;   /* what is decided; how often */
static bool has_no_memory, unloads;
static _Atomic(struct site *) all;

static struct ac_table_entry *
make(const void *query, struct ac_table_entry *there)
{
	struct site *site;

	atomic_fetch_add(&made, 1);
	if (unloads)
		atomic_fetch_add(&ac_binding_generation, 1);
	if (there && ((struct site *)there)->decision == decision)
		return there;
	site = has_no_memory ? NULL : calloc(1, sizeof *site);
	if (!site)
		return NULL;
	memcpy(&site->query, query, sizeof site->query);
	site->decision = decision;
	site->next = all;
	while (!atomic_compare_exchange_weak(&all, &site->next, site))
		;
	return &site->entry;
}

static ac_table_slot slots[SLOTS];
static struct ac_sites sites = { { slots, BITS, LIMIT, 0 }, make };

static struct site *
find(uint64_t first, uint64_t second)
{
	const struct query query = { { first, second }, first + second };

	return (struct site *)ac_sites_find(&sites, ac_table_hash(&query,
	    sizeof query.key), &query, sizeof query.key);
}

static int
empty(void **state)
{
	struct site *site = all;

	for (struct site *next; site; site = next) {
		next = site->next;
		free(site);
	}
	memset(slots, 0, sizeof slots);
	sites.table.used = 0;
	all = NULL;
	decision = made = 0;
	has_no_memory = unloads = false;
	return 0;
}

CASE_WITH(test_told_apart, NULL, empty)
{
	const struct query other = { { 1, 2 }, 77 };
	struct site *site[LIMIT];

	for (int i = 0; i < LIMIT; i++) {
		site[i] = find((uint64_t)i / 2, (uint64_t)i % 2 << 63);
		assert_non_null(site[i]);
		assert_int_equal(site[i]->query.key[0], i / 2);
		assert_int_equal(site[i]->query.key[1] >> 63, i % 2);
	}
	for (int i = 0; i < LIMIT; i++)
		assert_ptr_equal(site[i], find((uint64_t)i / 2,
		    (uint64_t)i % 2 << 63));
	assert_int_equal(made, LIMIT);
	empty(NULL);
	assert_ptr_equal(find(1, 2), ac_sites_find(&sites,
	    ac_table_hash(&other, sizeof other.key), &other,
	    sizeof other.key));
}

/* Not even one whose hash is the same. */
CASE_WITH(test_equal_hashes, NULL, empty)
{
	struct site *first = find(1, 2), *second;
	unsigned place = 0;

	while (slots[place] != &first->entry)
		place++;
	first->query.key[1] = 3;
	second = find(1, 2);
	assert_ptr_not_equal(first, second);
	assert_int_equal(first->entry.hash, second->entry.hash);
	assert_ptr_equal(slots[(place + 1) % SLOTS], &second->entry);
	assert_ptr_equal(find(1, 2), second);
}

CASE_WITH(test_decided_again, NULL, empty)
{
	struct site *site = find(1, 2), *other = find(3, 4), *again;

	ac_binding_generation++;
	assert_ptr_equal(find(1, 2), site);
	assert_ptr_equal(find(1, 2), site);
	assert_int_equal(made, 3);
	decision = 1;
	ac_binding_generation++;
	again = find(1, 2);
	assert_ptr_not_equal(again, site);
	assert_int_equal(again->decision, 1);
	assert_ptr_equal(find(1, 2), again);
	assert_int_equal(made, 4);
	assert_ptr_not_equal(find(3, 4), other);
	assert_int_equal(sites.table.used, 2);
}

/* What is decided while a module is unloaded may be of that module. */
CASE_WITH(test_unloaded_meanwhile, NULL, empty)
{
	struct site *site;

	unloads = true;
	site = find(1, 2);
	unloads = false;
	assert_int_equal(made, 1);
	assert_ptr_equal(find(1, 2), site);
	assert_int_equal(made, 2);
	assert_ptr_equal(find(1, 2), site);
	assert_int_equal(made, 2);
}

CASE_WITH(test_no_room, NULL, empty)
{
	struct site *site;

	has_no_memory = true;
	assert_null(find(1, 2));
	has_no_memory = false;
	site = find(1, 2);
	assert_non_null(site);
	for (uint64_t i = 1; i < LIMIT; i++)
		assert_non_null(find(i, 99));
	assert_null(find(LIMIT, 99));
	assert_int_equal(sites.table.used, LIMIT);
	assert_ptr_equal(find(1, 2), site);
	decision = 1;
	ac_binding_generation++;
	assert_int_equal(find(1, 2)->decision, 1);
	assert_null(find(LIMIT, 99));
	has_no_memory = true;
	decision = 2;
	ac_binding_generation++;
	assert_null(find(1, 2));
}

static pthread_barrier_t together;

static void *
find_all(void *into)
{
	struct site **site = into;

	pthread_barrier_wait(&together);
	for (uint64_t i = 0; i < MANY; i++)
		site[i] = find(i, i);
	return NULL;
}

CASE_WITH(test_threads, NULL, empty)
{
	static struct site *found[THREADS][MANY];
	pthread_t thread[THREADS];

	pthread_barrier_init(&together, NULL, THREADS);
	for (int round = 0; round < ROUNDS; round++) {
		/* Every other round finds those of the round before. */
		if (round % 2) {
			decision = round;
			ac_binding_generation++;
		} else {
			empty(state);
		}
		for (int t = 0; t < THREADS; t++)
			assert_int_equal(pthread_create(&thread[t], NULL,
			    find_all, found[t]), 0);
		for (int t = 0; t < THREADS; t++)
			pthread_join(thread[t], NULL);
		for (int i = 0; i < MANY; i++) {
			assert_non_null(found[0][i]);
			assert_int_equal(found[0][i]->query.key[0], i);
			for (int t = 1; t < THREADS; t++)
				assert_ptr_equal(found[t][i], found[0][i]);
		}
		assert_int_equal(sites.table.used, MANY);
	}
	pthread_barrier_destroy(&together);
}

CASES_RUN(NULL, NULL)
