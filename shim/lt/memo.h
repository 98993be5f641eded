/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/memo.h -- what calls of cublasLtMatmul() said before: a call that
 * says the same again is known without asking the library for 40 attributes. */
#ifndef AC_SHIM_LT_MEMO_H
#define AC_SHIM_LT_MEMO_H

#include "shim/lt/content.h"

#include <stdatomic.h>

struct ac_lt_known {
	struct ac_lt_content  content;
	/* Whoever decides may keep what it decided here, of calls from this
	 * place of this content; NULL at first. */
	_Atomic(const void *) site;
};

/* What `asked` says: as stored, or *scratch, filled. NULL: it cannot be read
 * (ac_lt_read()). What is stored stays for ever, is one per provider, device,
 * caller, mark and content, and only `site` changes. Any thread; takes memory
 * at new content only. */
struct ac_lt_known *ac_lt_know(const struct ac_lt_asked *asked,
    struct ac_lt_known *scratch);

#endif
