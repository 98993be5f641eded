/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/shard.c -- the counters of one thread: taken at its first call,
 * given back when it ends, never emptied. A thread that gets none (there are
 * too many threads, the disk is full, the thread is ending) counts in the
 * records. Takes the counting lock only to hand out a shard. */
#include "report/count/live.h"
#include "base/elf.h"

#include <pthread.h>
#include <sys/mman.h>

enum { SHARD_BYTES = AC_FILE_ALIGN };
#define ALL_SHARDS UINT32_MAX

_Static_assert(AC_FILE_SHARDS == 32, "as many as ALL_SHARDS has bits");

__thread struct ac_report_mine ac_report_mine;

/* Changed under the lock; `free_shards` also by threads that end. */
static _Atomic uint32_t free_shards = ALL_SHARDS;
static uint32_t stored;                         /* those in our file */
static uint64_t *mapped[AC_FILE_SHARDS];        /* once set, it stays */

/* ---- Giving back ------------------------------------------------------- */

/* These left libpthread late, and a library that names them would not load on
 * systems of before. Looked up without the counting lock, since the loader's
 * is taken for it; every thread finds the same. A library that was opened later
 * finds none behind itself, and so has no shards: it may be closed before its
 * threads end, which would then run what is there no more. */
static int (*_Atomic create_key)(pthread_key_t *, void (*)(void *));
static int (*_Atomic set_value)(pthread_key_t, const void *);

static void
look_up(void)
{
	if (atomic_load(&set_value))
		return;
	atomic_store(&create_key, (int (*)(pthread_key_t *, void (*)(void *)))
	    (uintptr_t)ac_elf_next("pthread_key_create"));
	atomic_store(&set_value, (int (*)(pthread_key_t, const void *))
	    (uintptr_t)ac_elf_next("pthread_setspecific"));
}

/* Destructors that run later and count again use the records. A child that
 * was forked meanwhile has nothing to give back. */
static void
give_back(void *unused)
{
	const bool had_one = ac_report_mine.limit != 0;

	(void)unused;
	ac_report_mine.ended = true;
	ac_report_mine.limit = 0;
	if (had_one)
		atomic_fetch_or_explicit(&free_shards,
		    UINT32_C(1) << ac_report_mine.shard, memory_order_release);
}

/* See to it that give_back() runs when this thread ends. */
static bool
watch_end(const void *value)
{
	static pthread_key_t key;
	static bool made;
	int (*const create)(pthread_key_t *, void (*)(void *)) = create_key;
	int (*const set)(pthread_key_t, const void *) = set_value;

	if (!made)
		made = create && !create(&key, give_back);
	return made && set && !set(key, value);
}

/* ---- Taking ------------------------------------------------------------ */

/* The memory of a shard: of the file, if there is one. */
static uint64_t *
place(unsigned shard)
{
	uint64_t *calls;

	if (mapped[shard] && (!*ac_live.path || stored >> shard & 1))
		return mapped[shard];
	if (!shard && ac_live.first_shard)
		calls = ac_live.first_shard;
	else if (!*ac_live.path)
		calls = ac_file_memory(SHARD_BYTES);
	else
		calls = ac_live_extend(ac_file_shard_offset(shard),
		    SHARD_BYTES);
	if (!calls)
		return NULL;
	if (mapped[shard] && mapped[shard] != calls)
		ac_live_replace(mapped[shard], calls, SHARD_BYTES);
	else
		mapped[shard] = calls;
	if (!*ac_live.path)
		return calls;
	stored |= UINT32_C(1) << shard;
	atomic_store_explicit(&ac_live.front->header.shards, stored,
	    memory_order_release);
	return mapped[shard];
}

static void
take(void)
{
	uint32_t free;
	int saved;

	look_up();
	saved = ac_live_enter();
	free = atomic_load_explicit(&free_shards, memory_order_acquire);
	if (free) {
		const unsigned shard = (unsigned)__builtin_ctz(free);
		uint64_t *calls = place(shard);

		if (!calls) {           /* nor would the others find room */
			atomic_fetch_and(&free_shards, stored);
		} else if (!watch_end(calls)) {
			atomic_store(&free_shards, 0);
		} else {
			atomic_fetch_and(&free_shards,
			    ~(UINT32_C(1) << shard));
			ac_report_mine.calls = calls;
			ac_report_mine.shard = (uint16_t)shard;
			atomic_signal_fence(memory_order_release);
			ac_report_mine.limit = AC_REPORT_SHARD_SITES;
		}
	}
	ac_live_leave(saved);
}

/* A child that no fork handler told of may still have its parent's shard. */
void
ac_shard_forget(void)
{
	for (unsigned i = 0; i < AC_FILE_SHARDS; i++)
		if (mapped[i])
			(void)mmap(mapped[i], SHARD_BYTES, PROT_READ
			    | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS
			    | MAP_FIXED, -1, 0);
	stored = 0;
	atomic_store(&free_shards, ALL_SHARDS);
	ac_report_mine.limit = 0;
}

/* ---- Counting ---------------------------------------------------------- */

void
ac_report_count_slowly(struct ac_site_record *site)
{
	ac_report_check_fork();
	if (!ac_report_mine.limit && !ac_report_mine.ended &&
	    site->number < AC_REPORT_SHARD_SITES &&
	    atomic_load_explicit(&free_shards, memory_order_relaxed))
		take();
	if (site->number < ac_report_mine.limit)
		ac_report_mine.calls[site->number]++;
	else
		atomic_fetch_add_explicit(site->rung == AC_RUNG_KEEP
		    ? &site->kept[site->reason] : &site->recast, 1,
		    memory_order_relaxed);
}

void
ac_report_count_other(struct ac_site_record *site, enum ac_reason reason)
{
	ac_report_check_fork();
	atomic_fetch_add_explicit(reason == AC_REASON_NONE ? &site->recast
	    : &site->kept[reason], 1, memory_order_relaxed);
}
