/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/known_calls.h -- what calls of cublasLtMatmul() said before: a call
 * that says the same again is known without asking the library for 70
 * attributes.
 *
 * Calls are told apart by the bytes of their descriptors, wherever those lie:
 * programs make descriptors for each call, on the stack, or change them between
 * calls. Equal bytes mean equal attributes where shim/lt/proof.h has proven it;
 * elsewhere every call is read. */
#ifndef AC_SHIM_LT_KNOWN_CALLS_H
#define AC_SHIM_LT_KNOWN_CALLS_H

#include "base/table.h"
#include "shim/lt/content.h"
#include "shim/lt/library.h"
#include "shim/lt/pairs.h"

#include <stdatomic.h>
#include <stddef.h>

struct ac_lt_known {
	struct ac_lt_content  content;
	const struct ac_lt_version *version; /* of its operation, or NULL */
	/* Whoever decides may keep here what it decided of calls of this
	 * content from this place; NULL at first. */
	_Atomic(const void *) site;
};

/* What `asked` says, as far as it tells sites apart: content.compute to
 * .epilogue, and A, B and D. The rest is right, too, if
 * content.unsupported is set; else ac_lt_verify() sees to that before a recast.
 * A kept call does not pay for it.
 *
 * As stored, or *scratch, filled; NULL: it cannot be read (ac_lt_read()). What
 * is stored stays for ever, and nothing but `site` changes. Any thread. Takes
 * memory at new content, up to a limit. */
struct ac_lt_known *ac_lt_find(const struct ac_lt_asked *asked,
    struct ac_lt_known *scratch);

/* All that the same call says: `known`, or another one; else as above. */
struct ac_lt_known *ac_lt_verify(const struct ac_lt_asked *asked,
    struct ac_lt_known *known, struct ac_lt_known *scratch);

/* ---- The first look: what every call pays for --------------------------- */

enum {
	AC_LT_MATRIX_WORDS = 8,      /* of a layout in a key, the last one 0 */
	AC_LT_HINT_BITS = 12, AC_LT_WAYS = 4
};

struct ac_lt_key {
	uint64_t caller, mark, device, version;
	uint64_t a[AC_LT_MATRIX_WORDS], b[AC_LT_MATRIX_WORDS];
	uint64_t d[AC_LT_MATRIX_WORDS];
	uint64_t c[AC_LT_MATRIX_WORDS];            /* D's without a C */
	uint64_t operation[AC_LT_OPERATION_WORDS]; /* masked */
};

struct ac_lt_entry {
	struct ac_table_entry head;
	struct ac_lt_key      key __attribute__((aligned(16)));
	struct ac_lt_known    known;
};
_Static_assert(offsetof(struct ac_lt_entry, key)
    == sizeof(struct ac_table_entry), "the key follows at once");

/* Where to look first, by a hash that takes no time. Several calls may have the
 * same; whoever finds no place there takes another's. */
typedef _Atomic(struct ac_lt_entry *) ac_lt_hint;
extern ac_lt_hint ac_lt_hints[1 << AC_LT_HINT_BITS][AC_LT_WAYS]
    __attribute__((visibility("hidden")));

/* Of what tells products of one place apart: rows and columns of A, columns of
 * D, and a transpose, in NVIDIA's descriptors. */
static inline ac_lt_hint *
ac_lt_hints_of(const struct ac_lt_asked *asked)
{
	const uint64_t *a = asked->a->data, *d = asked->d->data;

	return ac_lt_hints[((a[1] + (d[2] << 32 | d[2] >> 32))
	    * UINT64_C(0x9E3779B97F4A7C15) + a[2]
	    + ((uint64_t)(uintptr_t)asked->caller ^ asked->mark
	    ^ asked->desc->data[AC_LT_HASHED_WORD]))
	    * UINT64_C(0xD6E8FEB86659FD93) >> (64 - AC_LT_HINT_BITS)];
}

/* The first words of two descriptors: what differs. */
static inline ac_lt_pair
ac_lt_differ(const void *words, const uint64_t *stored)
{
	const ac_lt_loose_pair *left = words;
	const ac_lt_pair *right = (const ac_lt_pair *)stored;

	_Static_assert(AC_LT_HEAD_WORDS == 6, "three pairs");
	return (left[0] ^ right[0]) | (left[1] ^ right[1])
	    | (left[2] ^ right[2]);
}

static inline ac_lt_pair
ac_lt_differ_masked(const void *words, const uint64_t *stored,
    const uint64_t *mask)
{
	const ac_lt_loose_pair *left = words;
	const ac_lt_pair *right = (const ac_lt_pair *)stored;
	const ac_lt_pair *bits = (const ac_lt_pair *)mask;

	return ((left[0] ^ right[0]) & bits[0])
	    | ((left[1] ^ right[1]) & bits[1])
	    | ((left[2] ^ right[2]) & bits[2]);
}

/* Whether a call is what an entry says, as ac_lt_find() compares it. What tells
 * the version of an operation is in its head, so the entry's mask will do. */
static inline bool
ac_lt_is_alike(const struct ac_lt_asked *asked, const struct ac_lt_entry *entry)
{
	const struct ac_lt_key *key = &entry->key;
	const ac_lt_pair bits = ac_lt_differ(asked->a, key->a)
	    | ac_lt_differ(asked->b, key->b) | ac_lt_differ(asked->d, key->d)
	    | ac_lt_differ_masked(asked->desc, key->operation,
	    entry->known.version->mask);

	return !(bits[0] | bits[1]
	    | ((uint64_t)(uintptr_t)asked->caller ^ key->caller)
	    | (asked->mark ^ key->mark)
	    | ((uint64_t)asked->device ^ key->device));
}

/* Without a descriptor cublasLt reads no other. */
static inline bool
ac_lt_is_complete(const struct ac_lt_asked *asked)
{
	return asked->desc && asked->a && asked->b && asked->d;
}

/* What ac_lt_find() says of such a call from this place, if a look will do, for
 * the library that it reached when it was known first: whoever decided must
 * know that it still does. Of unsupported content the rest is not compared.
 * asked->provider is not read. */
static inline struct ac_lt_known *
ac_lt_find_fast(const struct ac_lt_asked *asked)
{
	struct ac_lt_entry *entry;

	if (__builtin_expect(!ac_lt_is_complete(asked), 0))
		return NULL;
	entry = atomic_load_explicit(ac_lt_hints_of(asked),
	    memory_order_acquire);
	return __builtin_expect(entry && ac_lt_version_id(entry->known.version)
	    == entry->key.version && ac_lt_is_alike(asked, entry), 1)
	    ? &entry->known : NULL;
}

#endif
