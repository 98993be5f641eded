/* SPDX-License-Identifier: Apache-2.0 */
/* base/mapped.c -- a bump allocator over zeroed memory. */
#include "base/mapped.h"

#include "base/lock.h"

#include <sys/mman.h>

enum { ALIGNMENT = 64, BLOCK_BYTES = 1 << 20 };

/* The first block costs no call. */
static struct ac_lock lock;
static char first[BLOCK_BYTES] __attribute__((aligned(ALIGNMENT)));
static char *next_free = first;
static size_t left = sizeof first;

static void *
map(size_t bytes)
{
	void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return block == MAP_FAILED ? NULL : block;
}

void *
ac_mapped_take(size_t bytes)
{
	void *taken = NULL;

	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (bytes > BLOCK_BYTES / 4)
		return map(bytes);
	ac_lock_take(&lock);
	if (left < bytes) {
		next_free = map(BLOCK_BYTES);
		left = next_free ? BLOCK_BYTES : 0;
	}
	if (left >= bytes) {
		taken = next_free;
		left -= bytes;
		next_free += bytes;
	}
	ac_lock_give(&lock);
	return taken;
}
