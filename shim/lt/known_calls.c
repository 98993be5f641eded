/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/known_calls.c -- finds what a call said before, by the bytes of its
 * descriptors. */
#include "shim/lt/known_calls.h"

#include "base/mapped.h"
#include "base/table.h"
#include "shim/lt/library.h"

#include <stddef.h>
#include <string.h>

enum {
	BITS = 14,           /* of the table's slots */
	MOST = 1 << 13       /* entries, of less than 1 kB: 7 MB */
};

static ac_table_slot slots[1 << BITS];
static struct ac_table table = { .slots = slots, .bits = BITS, .most = MOST };

ac_lt_hint ac_lt_hints[1 << AC_LT_HINT_BITS][AC_LT_WAYS];

/* NULL: nothing is proven of it. */
static const struct ac_lt_proof *
proof_of(struct ac_provider *provider)
{
	const struct ac_lt_library *library = ac_lt_library_of(provider);

	return library && !library->proof.objection ? &library->proof : NULL;
}

static inline bool
is_of_version(const uint64_t *operation, const struct ac_lt_proof *proof,
    const struct ac_lt_version *version)
{
	return (operation[proof->at] & proof->bits) == version->value;
}

/* ---- Comparing ----------------------------------------------------------- */

/* Of an operation behind its head. It may have an odd number of words, behind
 * which nothing is read. */
static inline ac_lt_pair
rest_differs(const uint64_t *operation, const uint64_t *stored,
    const struct ac_lt_version *version)
{
	const ac_lt_pair *bits = (const ac_lt_pair *)version->mask;
	const unsigned pairs = version->words / 2, end = version->words - 1;
	const uint64_t last = (operation[end] ^ stored[end])
	    & version->mask[end];
	ac_lt_pair all = { last, 0 };
	unsigned i = AC_LT_HEAD_WORDS / 2;

	for (; i + 2 <= pairs; i += 2)
		all |= (ac_lt_xor(operation, stored, i) & bits[i])
		    | (ac_lt_xor(operation, stored, i + 1) & bits[i + 1]);
	return i < pairs ? all | (ac_lt_xor(operation, stored, i) & bits[i])
	    : all;
}

/* Whether the rest is as in the entry, too. */
static inline bool
is_confirmed(const struct ac_lt_asked *asked, const struct ac_lt_entry *entry)
{
	enum { LAST = AC_LT_HEAD_WORDS };
	const struct ac_lt_key *key = &entry->key;
	const cublasLtMatrixLayout_t c = asked->c ? asked->c : asked->d;
	const ac_lt_pair bits = ac_lt_differ(c, key->c)
	    | rest_differs(asked->desc->data, key->operation,
	    entry->known.version);

	_Static_assert(LAST + 1 == AC_LT_LAYOUT_WORDS, "one word is left");
	return !(bits[0] | bits[1] | (c->data[LAST] ^ key->c[LAST])
	    | (asked->a->data[LAST] ^ key->a[LAST])
	    | (asked->b->data[LAST] ^ key->b[LAST])
	    | (asked->d->data[LAST] ^ key->d[LAST]));
}

/* ---- Finding ------------------------------------------------------------- */

static void
copy_layout(uint64_t *to, cublasLtMatrixLayout_t layout)
{
	memcpy(to, layout, AC_LT_LAYOUT_WORDS * sizeof *to);
}

static void
make_key(const struct ac_lt_asked *asked, const struct ac_lt_version *version,
    struct ac_lt_key *key_out)
{
	memset(key_out, 0, sizeof *key_out);
	key_out->caller = (uint64_t)(uintptr_t)asked->caller;
	key_out->mark = asked->mark;
	key_out->device = (uint64_t)asked->device;
	key_out->version = ac_lt_version_id(version);
	copy_layout(key_out->a, asked->a);
	copy_layout(key_out->b, asked->b);
	copy_layout(key_out->c, asked->c ? asked->c : asked->d);
	copy_layout(key_out->d, asked->d);
	for (unsigned i = 0; i < version->words; i++)
		key_out->operation[i] = asked->desc->data[i] & version->mask[i];
}

static struct ac_lt_known *
read_into(const struct ac_lt_asked *asked, struct ac_lt_known *known)
{
	if (!ac_lt_read(asked, &known->content))
		return NULL;
	known->version = NULL;
	atomic_init(&known->site, NULL);
	return known;
}

static struct ac_lt_entry *
make_entry(const struct ac_lt_key *key, const struct ac_lt_version *version,
    const struct ac_lt_content *content)
{
	struct ac_lt_entry *entry = ac_mapped_take(sizeof *entry);

	if (!entry)
		return NULL;
	entry->head.hash = ac_table_hash(key, sizeof *key);
	entry->key = *key;
	entry->known.version = version;
	entry->known.content = *content;
	return entry;
}

/* The entry of all that the call says, made if there is room for it. */
__attribute__((cold, noinline))
static struct ac_lt_known *
store(const struct ac_lt_asked *asked, const struct ac_lt_version *version,
    struct ac_lt_known *scratch)
{
	ac_lt_hint *const ways = ac_lt_hints_of(asked);
	struct ac_lt_key key, again;
	struct ac_table_entry *there;
	struct ac_lt_entry *entry = NULL;
	unsigned way = 0;

	make_key(asked, version, &key);
	for (;;) {
		ac_table_slot *slot = ac_table_find(&table,
		    ac_table_hash(&key, sizeof key), &key, sizeof key, &there);

		if (there)
			break;
		if (!read_into(asked, scratch))
			return NULL;
		/* Another thread may be changing a descriptor. */
		make_key(asked, version, &again);
		if (!slot || memcmp(&again, &key, sizeof key))
			return scratch;
		if (!entry)
			entry = make_entry(&key, version, &scratch->content);
		if (!entry)
			return scratch;
		ac_table_put(&table, slot, NULL, &entry->head);
	}
	while (way < AC_LT_WAYS - 1 && atomic_load_explicit(&ways[way],
	    memory_order_relaxed))
		way++;
	entry = (struct ac_lt_entry *)there;
	atomic_store_explicit(&ways[way], entry, memory_order_release);
	return &entry->known;
}

struct ac_lt_known *
ac_lt_find(const struct ac_lt_asked *asked, struct ac_lt_known *scratch)
{
	const struct ac_lt_proof *proof;
	const struct ac_lt_version *version;
	ac_lt_hint *ways;

	if (!ac_lt_is_complete(asked))
		return NULL;
	proof = proof_of(asked->provider);
	version = proof ? proof->version : NULL;
	for (; proof && version < proof->version + proof->count; version++)
		if (is_of_version(asked->desc->data, proof, version))
			break;
	if (!proof || version == proof->version + proof->count)
		return read_into(asked, scratch);
	ways = ac_lt_hints_of(asked);
	for (unsigned i = 0; i < AC_LT_WAYS; i++) {
		struct ac_lt_entry *there = atomic_load_explicit(&ways[i],
		    memory_order_acquire);

		if (there && there->key.version == ac_lt_version_id(version)
		    && ac_lt_is_alike(asked, there)
		    && (!there->known.content.unsupported
		    || is_confirmed(asked, there)))
			return &there->known;
	}
	return store(asked, version, scratch);
}

struct ac_lt_known *
ac_lt_verify(const struct ac_lt_asked *asked, struct ac_lt_known *known,
    struct ac_lt_known *scratch)
{
	const struct ac_lt_entry *entry = (const struct ac_lt_entry *)(
	    (char *)known - offsetof(struct ac_lt_entry, known));

	if (known == scratch || is_confirmed(asked, entry))
		return known;
	return store(asked, known->version, scratch);
}
