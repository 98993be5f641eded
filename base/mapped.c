/* SPDX-License-Identifier: Apache-2.0 */
/* base/mapped.c -- a bump allocator over anonymous mappings. */
#include "base/mapped.h"

#include <pthread.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, BLOCK_BYTES = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *next_free;
static size_t left;

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
	pthread_mutex_lock(&lock);
	if (left < bytes) {
		next_free = map(BLOCK_BYTES);
		left = next_free ? BLOCK_BYTES : 0;
	}
	if (left >= bytes) {
		taken = next_free;
		next_free += bytes;
		left -= bytes;
	}
	pthread_mutex_unlock(&lock);
	return taken;
}
