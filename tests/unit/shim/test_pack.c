/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_pack.c -- what is known of variant packs, made for one
 * execution each, by many threads at once. */
#include "shim/graph/pack.h"
#include "tests/unit/cases.h"

#include <pthread.h>

enum { MANY = 20000, THREADS = 8, ROUNDS = 5000 };

static cudnnBackendDescriptor_t
pack_at(uintptr_t number)
{
	return (cudnnBackendDescriptor_t)(0x100000 + 64 * number);
}

static void
set_ids(cudnnBackendDescriptor_t pack, int64_t count, const int64_t *ids)
{
	ac_pack_set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
	    count, ids);
}

static void
set_pointers(cudnnBackendDescriptor_t pack, int64_t count, void *const *at)
{
	ac_pack_set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
	    CUDNN_TYPE_VOID_PTR, count, at);
}

/* As programs make them: `number` tells it from others. */
static cudnnBackendDescriptor_t
make(uintptr_t number)
{
	const int64_t ids[3] = { 'x', 'w', (int64_t)number };
	void *const at[3] = { (void *)0x10, (void *)0x20, (void *)number };
	void *const workspace = (void *)(number + 256);
	const cudnnBackendDescriptor_t pack = pack_at(number);

	ac_pack_create(pack);
	set_pointers(pack, 3, at);
	set_ids(pack, 3, ids);
	ac_pack_set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
	    CUDNN_TYPE_VOID_PTR, 1, &workspace);
	return pack;
}

static bool
is_known(uintptr_t number)
{
	const struct ac_pack *pack = ac_pack_find(pack_at(number));

	return pack && pack->uids == 3 && pack->uid[2] == (int64_t)number
	    && pack->pointer[2] == (void *)number
	    && pack->workspace == (void *)(number + 256);
}

CASE(test_a_pack)
{
	(void)make(1);
	assert_null(ac_pack_find(pack_at(1))); /* not finalized */
	ac_pack_finalize(pack_at(1));
	assert_true(is_known(1));
	ac_pack_drop(pack_at(1));
	assert_null(ac_pack_find(pack_at(1)));
	/* A row may have free ones. */
	assert_null(ac_pack_find(NULL));
	assert_null(ac_pack_find((cudnnBackendDescriptor_t)1));
	ac_pack_drop(pack_at(1));
	ac_pack_drop(NULL);
	ac_pack_finalize(pack_at(1));
	/* The address is another one's, of which nothing is left. */
	ac_pack_create(pack_at(1));
	ac_pack_finalize(pack_at(1));
	assert_int_equal(ac_pack_find(pack_at(1))->uids, 0);
	assert_null(ac_pack_find(pack_at(1))->workspace);
	ac_pack_drop(pack_at(1));
}

/* Values of what is not known are not even looked at: these are in no
 * memory. */
CASE(test_strange_packs)
{
	void *const nowhere = (void *)8;
	static const struct {
		int name, type, count;
	} rows[] = {
		{ 1010, CUDNN_TYPE_INT64, 2 },  /* OVERRIDE_UNIQUE_IDS */
		{ 1011, CUDNN_TYPE_VOID_PTR, 1 }, /* OVERRIDE_SHAPES */
		{ 1012, CUDNN_TYPE_VOID_PTR, 1 }, /* OVERRIDE_STRIDES */
		{ CUDNN_ATTR_VARIANT_PACK_INTERMEDIATES, CUDNN_TYPE_VOID_PTR,
		  1 },
		{ CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT32, 3 },
		{ CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 9 },
		{ CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_INT64, 3 },
		{ CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
		  1025 },
	};
	const int64_t two[2] = { 1, 2 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const cudnnBackendDescriptor_t pack = make(2);

		ac_pack_set(pack, (cudnnBackendAttributeName_t)rows[i].name,
		    (cudnnBackendAttributeType_t)rows[i].type, rows[i].count,
		    nowhere);
		ac_pack_finalize(pack);
		assert_null(ac_pack_find(pack));
		ac_pack_drop(pack);
	}
	set_ids(make(2), 2, two); /* fewer than pointers */
	ac_pack_finalize(pack_at(2));
	assert_null(ac_pack_find(pack_at(2)));
	ac_pack_drop(pack_at(2));
}

/* Programs may keep theirs. */
CASE(test_there_is_room)
{
	for (uintptr_t i = 0; i < MANY; i++)
		ac_pack_finalize(make(i));
	for (uintptr_t i = 0; i < MANY; i++)
		assert_true(is_known(i));
	for (uintptr_t i = 0; i < MANY; i++)
		ac_pack_drop(pack_at(i));
	for (uintptr_t i = 0; i < MANY; i++)
		assert_null(ac_pack_find(pack_at(i)));
}

/* Each has packs of its own, at addresses that share all rows. */
static void *
come_and_go(void *number)
{
	uintptr_t wrong = 0;

	for (uintptr_t i = 0; i < ROUNDS; i++) {
		const uintptr_t of = i * THREADS + (uintptr_t)number;

		ac_pack_finalize(make(of));
		wrong += !is_known(of);
		ac_pack_drop(pack_at(of));
		wrong += ac_pack_find(pack_at(of)) != NULL;
	}
	return (void *)wrong;
}

CASE(test_threads)
{
	pthread_t thread[THREADS];
	void *wrong;

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, come_and_go,
		    (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &wrong);
		assert_null(wrong);
	}
}

CASES_RUN(NULL, NULL)
