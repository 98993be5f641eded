/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/arena.h -- the memory of one policy: taken while it loads,
 * given back all at once. One thread at a time. */
#ifndef AC_POLICY_ARENA_H
#define AC_POLICY_ARENA_H

#include <stddef.h>

/* More than any policy written by hand needs; a bound for generated ones. */
enum { AC_ARENA_LIMIT_BYTES = 32 << 20 };

struct ac_arena_block;
struct ac_arena {
	struct ac_arena_block *blocks;
	size_t                 total_bytes;
};

/* `bytes` zeroed bytes aligned for any object, or NULL when memory or the
 * limit is exhausted. All-zero is an empty arena. */
void *ac_arena_take(struct ac_arena *arena, size_t bytes);

void ac_arena_release(struct ac_arena *arena);

#endif
