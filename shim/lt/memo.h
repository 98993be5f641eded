/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/memo.h -- what calls of cublasLtMatmul() said before: a call that
 * says the same again is known without asking the library for 70 attributes.
 *
 * Calls are told apart by the bytes of their descriptors, wherever those lie:
 * programs make descriptors for each call, on the stack, or change them between
 * calls. Equal bytes mean equal attributes where shim/lt/proof.h has proven it;
 * elsewhere every call is read. */
#ifndef AC_SHIM_LT_MEMO_H
#define AC_SHIM_LT_MEMO_H

#include "shim/lt/content.h"

#include <stdatomic.h>

struct ac_lt_known {
	struct ac_lt_content  content;
	const struct ac_lt_sort *sort; /* of its operation; NULL: unknown */
	/* Whoever decides may keep here what it decided of calls of this
	 * content from this place; NULL at first. */
	_Atomic(const void *) site;
};

/* What `asked` says, as far as it tells sites apart: content.compute to
 * .epilogue, and A, B and D. The rest is right, too, if content.odd is set;
 * else ac_lt_confirm() sees to that, before a recast: a call that is kept does
 * not pay for it.
 *
 * As stored, or *scratch, filled; NULL: it cannot be read (ac_lt_read()). What
 * is stored stays for ever, and nothing but `site` changes. Any thread. Takes
 * memory at new content, up to a limit. */
struct ac_lt_known *ac_lt_know(const struct ac_lt_asked *asked,
    struct ac_lt_known *scratch);

/* All that the same call says: `known`, or another one; else as above. */
struct ac_lt_known *ac_lt_confirm(const struct ac_lt_asked *asked,
    struct ac_lt_known *known, struct ac_lt_known *scratch);

#endif
