/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/arena.c -- the memory of one policy.
 * The only allocation here besides the parser's own workspace; nothing
 * is taken after loading. */
#include "policy/language/arena.h"

#include <stdlib.h>

struct ac_arena_block {
	struct ac_arena_block *next;
	size_t                 used, size;
	_Alignas(max_align_t) char bytes[];
};

enum { BLOCK_BYTES = 16 << 10 };

static struct ac_arena_block *
add_block(struct ac_arena *arena, size_t bytes)
{
	struct ac_arena_block *block;
	size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

	if (size > AC_ARENA_LIMIT_BYTES - arena->total_bytes)
		return NULL;
	block = calloc(1, sizeof(*block) + size);
	if (block == NULL)
		return NULL;
	block->size = size;
	block->next = arena->blocks;
	arena->blocks = block;
	arena->total_bytes += size;
	return block;
}

void *
ac_arena_take(struct ac_arena *arena, size_t bytes)
{
	const size_t grain = _Alignof(max_align_t);
	struct ac_arena_block *block = arena->blocks;
	void *taken;

	if (bytes > AC_ARENA_LIMIT_BYTES)
		return NULL;
	bytes = (bytes + grain - 1) / grain * grain;
	if (block == NULL || bytes > block->size - block->used)
		block = add_block(arena, bytes);
	if (block == NULL)
		return NULL;
	taken = block->bytes + block->used;
	block->used += bytes;
	return taken;
}

void
ac_arena_release(struct ac_arena *arena)
{
	struct ac_arena_block *block, *next;

	for (block = arena->blocks; block != NULL; block = next) {
		next = block->next;
		free(block);
	}
	arena->blocks = NULL;
	arena->total_bytes = 0;
}
