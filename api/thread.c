/* SPDX-License-Identifier: Apache-2.0 */
/* api/thread.c -- hands out the blocks of api/thread.h and takes them back when
 * threads end. */
#include "api/thread.h"

#include "base/elf.h"
#include "base/lock.h"
#include "base/mapped.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static const struct ac_thread none;

__thread const struct ac_thread *ac_thread_seen = &none;

static struct ac_lock lock;     /* for what follows */
static struct ac_thread *free_blocks;
static pthread_key_t key;
static bool has_key;

/* A thread that opens a region or fails later still, in another destructor,
 * gets a block that is not taken back. */
static void
give_back(void *block)
{
	struct ac_thread *const mine = block;

	ac_thread_seen = &none;
	ac_lock_take(&lock);
	mine->next = free_blocks;
	free_blocks = mine;
	ac_lock_give(&lock);
}

/* These left libpthread late: named, they would ask for a newer system. Looked
 * up without our lock, since the loader's is taken for it. A library that was
 * opened late finds none, and its blocks are not used again: it may be closed
 * before its threads end. */
static bool
watch_end(struct ac_thread *block)
{
	int (*const create)(pthread_key_t *, void (*)(void *)) =
	    (int (*)(pthread_key_t *, void (*)(void *)))
	    (uintptr_t)ac_elf_next("pthread_key_create");
	int (*const set)(pthread_key_t, const void *) =
	    (int (*)(pthread_key_t, const void *))
	    (uintptr_t)ac_elf_next("pthread_setspecific");
	bool watched;

	if (!create || !set)
		return false;
	ac_lock_take(&lock);
	if (!has_key)
		has_key = !create(&key, give_back);
	watched = has_key;
	ac_lock_give(&lock);
	return watched && !set(key, block);
}

struct ac_thread *
ac_thread_get(void)
{
	struct ac_thread *block;

	if (ac_thread_seen != &none)
		return (struct ac_thread *)(uintptr_t)ac_thread_seen;
	ac_lock_take(&lock);
	block = free_blocks;
	if (block)
		free_blocks = block->next;
	ac_lock_give(&lock);
	if (block)
		memset(block, 0, sizeof *block);
	else
		block = ac_mapped_take(sizeof *block);
	if (!block)
		return NULL;
	ac_thread_seen = block;
	(void)watch_end(block);
	return block;
}
