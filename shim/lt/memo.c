/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/memo.c -- finds what a call said before, by the bytes of its
 * descriptors. */
#include "shim/lt/memo.h"

#include "base/mapped.h"
#include "base/table.h"
#include "shim/lt/library.h"

#include <stddef.h>
#include <string.h>

enum {
	BITS = 14,           /* of the table's slots */
	MOST = 1 << 13,      /* entries, of less than 1 kB: 7 MB */
	HINT_BITS = 12, WAYS = 4,
	MATRIX_WORDS = 8     /* of a layout in a key, the last one 0 */
};

/* Sixteen bytes at a time, wherever they are. */
typedef uint64_t pair __attribute__((vector_size(16)));
typedef uint64_t loose_pair
    __attribute__((vector_size(16), aligned(8), may_alias));

struct key {
	uint64_t caller, mark, device, sort;
	uint64_t a[MATRIX_WORDS], b[MATRIX_WORDS], d[MATRIX_WORDS];
	uint64_t c[MATRIX_WORDS];    /* D's without a C */
	uint64_t operation[AC_LT_OPERATION_WORDS]; /* masked */
};

struct entry {
	struct ac_table_entry head;
	struct key            key __attribute__((aligned(16)));
	struct ac_lt_known    known;
};
_Static_assert(offsetof(struct entry, key) == sizeof(struct ac_table_entry),
    "the key follows at once");

static ac_table_slot slots[1 << BITS];
static struct ac_table table = { .slots = slots, .bits = BITS, .most = MOST };

/* Where to look first, by a hash that takes no time. Several calls may have the
 * same; whoever finds no place there takes another's. */
static _Atomic(struct entry *) hints[1 << HINT_BITS][WAYS];

/* The library of the last call, if it is proven; one is the rule. */
static _Atomic(const struct ac_lt_library *) last;

/* NULL: nothing is proven of it. */
static const struct ac_lt_library *
library_of(struct ac_provider *provider)
{
	const struct ac_lt_library *library = ac_lt_library_of(provider);

	if (!library || library->proof.objection)
		return NULL;
	atomic_store_explicit(&last, library, memory_order_release);
	return library;
}

static inline bool
is_of_sort(const uint64_t *operation, const struct ac_lt_proof *proof,
    const struct ac_lt_sort *sort)
{
	return (operation[proof->at] & proof->tell) == sort->value;
}

/* ---- Comparing ----------------------------------------------------------- */

/* The first words of two descriptors: what differs. */
static inline pair
differ(const void *words, const uint64_t *stored)
{
	const loose_pair *left = words;
	const pair *right = (const pair *)stored;

	_Static_assert(AC_LT_HEAD_WORDS == 6, "three pairs");
	return (left[0] ^ right[0]) | (left[1] ^ right[1])
	    | (left[2] ^ right[2]);
}

static inline pair
differ_masked(const void *words, const uint64_t *stored, const uint64_t *mask)
{
	const loose_pair *left = words;
	const pair *right = (const pair *)stored, *bits = (const pair *)mask;

	return ((left[0] ^ right[0]) & bits[0])
	    | ((left[1] ^ right[1]) & bits[1])
	    | ((left[2] ^ right[2]) & bits[2]);
}

/* Whether a call is what an entry says, as ac_lt_know() compares it. */
static inline bool
is_alike(const struct ac_lt_asked *asked, const struct ac_lt_sort *sort,
    const struct entry *entry)
{
	const struct key *key = &entry->key;
	const pair bits = differ(asked->a, key->a) | differ(asked->b, key->b)
	    | differ(asked->d, key->d)
	    | differ_masked(asked->desc, key->operation, sort->mask);

	return !(bits[0] | bits[1]
	    | ((uint64_t)(uintptr_t)asked->caller ^ key->caller)
	    | (asked->mark ^ key->mark)
	    | ((uint64_t)asked->device ^ key->device)
	    | (sort->id ^ key->sort));
}

/* Of an operation behind its head. It may have an odd number of words, behind
 * which nothing is read. */
static inline pair
rest_differs(const uint64_t *operation, const uint64_t *stored,
    const struct ac_lt_sort *sort)
{
	const loose_pair *left = (const loose_pair *)operation;
	const pair *right = (const pair *)stored;
	const pair *bits = (const pair *)sort->mask;
	const unsigned pairs = sort->words / 2, end = sort->words - 1;
	pair all = { (operation[end] ^ stored[end]) & sort->mask[end], 0 };

	for (unsigned i = AC_LT_HEAD_WORDS / 2; i < pairs; i++)
		all |= (left[i] ^ right[i]) & bits[i];
	return all;
}

/* Whether the rest is as in the entry, too. */
static bool
is_confirmed(const struct ac_lt_asked *asked, const struct entry *entry)
{
	enum { LAST = AC_LT_HEAD_WORDS };
	const struct key *key = &entry->key;
	const cublasLtMatrixLayout_t c = asked->c ? asked->c : asked->d;
	const pair bits = differ(c, key->c) | rest_differs(asked->desc->data,
	    key->operation, entry->known.sort);

	_Static_assert(LAST + 1 == AC_LT_LAYOUT_WORDS, "one word is left");
	return !(bits[0] | bits[1] | (c->data[LAST] ^ key->c[LAST])
	    | (asked->a->data[LAST] ^ key->a[LAST])
	    | (asked->b->data[LAST] ^ key->b[LAST])
	    | (asked->d->data[LAST] ^ key->d[LAST]));
}

/* ---- Finding ------------------------------------------------------------- */

/* Of what tells products of one place apart: rows and columns of A, columns of
 * D, and a transpose, in NVIDIA's descriptors. */
static inline _Atomic(struct entry *) *
hints_of(const struct ac_lt_asked *asked)
{
	const uint64_t *a = asked->a->data, *d = asked->d->data;

	return hints[((a[1] + (d[2] << 32 | d[2] >> 32))
	    * UINT64_C(0x9E3779B97F4A7C15) + a[2]
	    + ((uint64_t)(uintptr_t)asked->caller ^ asked->mark
	    ^ asked->desc->data[AC_LT_HASHED_WORD]))
	    * UINT64_C(0xD6E8FEB86659FD93) >> (64 - HINT_BITS)];
}

static void
copy_layout(uint64_t *to, cublasLtMatrixLayout_t layout)
{
	memcpy(to, layout, AC_LT_LAYOUT_WORDS * sizeof *to);
}

static void
make_key(const struct ac_lt_asked *asked, const struct ac_lt_sort *sort,
    struct key *key_out)
{
	memset(key_out, 0, sizeof *key_out);
	key_out->caller = (uint64_t)(uintptr_t)asked->caller;
	key_out->mark = asked->mark;
	key_out->device = (uint64_t)asked->device;
	key_out->sort = sort->id;
	copy_layout(key_out->a, asked->a);
	copy_layout(key_out->b, asked->b);
	copy_layout(key_out->c, asked->c ? asked->c : asked->d);
	copy_layout(key_out->d, asked->d);
	for (unsigned i = 0; i < sort->words; i++)
		key_out->operation[i] = asked->desc->data[i] & sort->mask[i];
}

static struct ac_lt_known *
read_into(const struct ac_lt_asked *asked, struct ac_lt_known *known)
{
	if (!ac_lt_read(asked, &known->content))
		return NULL;
	known->sort = NULL;
	atomic_init(&known->site, NULL);
	return known;
}

static struct entry *
make_entry(const struct key *key, const struct ac_lt_sort *sort,
    const struct ac_lt_content *content)
{
	struct entry *entry = ac_mapped_take(sizeof *entry);

	if (!entry)
		return NULL;
	entry->head.hash = ac_table_hash(key, sizeof *key);
	entry->key = *key;
	entry->known.sort = sort;
	entry->known.content = *content;
	return entry;
}

/* The entry of all that the call says, made if there is room for it. */
__attribute__((cold, noinline))
static struct ac_lt_known *
store(const struct ac_lt_asked *asked, const struct ac_lt_sort *sort,
    struct ac_lt_known *scratch)
{
	_Atomic(struct entry *) *const ways = hints_of(asked);
	struct key key, again;
	struct ac_table_entry *there;
	struct entry *entry = NULL;
	unsigned way = 0;

	make_key(asked, sort, &key);
	for (;;) {
		ac_table_slot *slot = ac_table_find(&table,
		    ac_table_hash(&key, sizeof key), &key, sizeof key, &there);

		if (there)
			break;
		if (!read_into(asked, scratch))
			return NULL;
		/* Another thread may be changing a descriptor. */
		make_key(asked, sort, &again);
		if (!slot || memcmp(&again, &key, sizeof key))
			return scratch;
		if (!entry)
			entry = make_entry(&key, sort, &scratch->content);
		if (!entry)
			return scratch;
		ac_table_put(&table, slot, NULL, &entry->head);
	}
	while (way < WAYS - 1 && atomic_load_explicit(&ways[way],
	    memory_order_relaxed))
		way++;
	entry = (struct entry *)there;
	atomic_store_explicit(&ways[way], entry, memory_order_release);
	return &entry->known;
}

/* The rest of ac_lt_know(): other libraries, sorts and hints. */
__attribute__((cold, noinline))
static struct ac_lt_known *
search(const struct ac_lt_asked *asked, struct ac_lt_known *scratch)
{
	_Atomic(struct entry *) *const ways = hints_of(asked);
	const struct ac_lt_library *library = library_of(asked->provider);
	const struct ac_lt_proof *proof = library ? &library->proof : NULL;
	const struct ac_lt_sort *sort = proof ? proof->sorts : NULL;

	for (; proof && sort < proof->sorts + proof->count; sort++)
		if (is_of_sort(asked->desc->data, proof, sort))
			break;
	if (!proof || sort == proof->sorts + proof->count)
		return read_into(asked, scratch);
	for (unsigned i = 0; i < WAYS; i++) {
		struct entry *there = atomic_load_explicit(&ways[i],
		    memory_order_acquire);

		if (there && is_alike(asked, sort, there)
		    && (!there->known.content.odd
		    || is_confirmed(asked, there)))
			return &there->known;
	}
	return store(asked, sort, scratch);
}

struct ac_lt_known *
ac_lt_know(const struct ac_lt_asked *asked, struct ac_lt_known *scratch)
{
	const struct ac_lt_library *library = atomic_load_explicit(&last,
	    memory_order_acquire);
	struct entry *there;

	if (!asked->desc || !asked->a || !asked->b || !asked->d)
		return NULL;
	if (__builtin_expect(!library || atomic_load_explicit(
	    &library->provider, memory_order_acquire) != asked->provider
	    || !is_of_sort(asked->desc->data, &library->proof,
	    library->proof.sorts), 0))
		return search(asked, scratch);
	there = atomic_load_explicit(hints_of(asked), memory_order_acquire);
	if (__builtin_expect(there && is_alike(asked, library->proof.sorts,
	    there) && !there->known.content.odd, 1))
		return &there->known;
	return search(asked, scratch);
}

struct ac_lt_known *
ac_lt_confirm(const struct ac_lt_asked *asked, struct ac_lt_known *known,
    struct ac_lt_known *scratch)
{
	const struct entry *entry = (const struct entry *)((char *)known
	    - offsetof(struct entry, known));

	if (known == scratch || is_confirmed(asked, entry))
		return known;
	return store(asked, known->sort, scratch);
}
