/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/memo.c -- finds what a call says. */
#include "shim/lt/memo.h"

#include <stddef.h>

struct ac_lt_known *
ac_lt_know(const struct ac_lt_asked *asked, struct ac_lt_known *scratch)
{
	if (!ac_lt_read(asked, &scratch->content))
		return NULL;
	atomic_init(&scratch->site, NULL);
	return scratch;
}
