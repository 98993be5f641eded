/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/helpers.c -- threads of the host that run blocks of a launch, as
 * the thread that launches does. They live as long as the launch: a child of
 * fork() finds none. */
#include "emulator/ptx/run.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Instructions of warps that are worth a thread: a third of a millisecond. */
enum { WORTH = 1 << 15 };

/* Helpers of all launches. The high half is the process: its parent's do not
 * count after fork(). */
static _Atomic uint64_t busy;

static unsigned
processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) ? 1
	    : (unsigned)CPU_COUNT(&set);
}

/* Up to `wanted` more, of `most` in all. */
static unsigned
hire(unsigned wanted, unsigned most)
{
	const uint64_t own = (uint64_t)(uint32_t)getpid() << 32;
	uint64_t old = atomic_load(&busy), now, hired;

	do {
		now = old >> 32 == own >> 32 ? old & UINT32_MAX : 0;
		hired = now >= most ? 0 : most - now < wanted ? most - now
		    : wanted;
	} while (!atomic_compare_exchange_weak(&busy, &old, own | (now +
	    hired)));
	return (unsigned)hired;
}

static void *
help(void *worker)
{
	ptx_run_blocks(worker);
	return NULL;
}

/* With all signals blocked: the program's handlers are for its own threads. */
static bool
start(struct host_thread *r, struct launch *l)
{
	sigset_t all, before;
	bool good;

	r->launch = l;
	r->block = calloc(l->most, sizeof *r->block);
	if (!r->block)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	good = !pthread_create(&r->thread, NULL, help, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!good)
		free(r->block);
	return good;
}

static bool
is_ordered(const struct ptx_function *kernel)
{
	const struct ptx_function *f = kernel->module->functions;

	while (f && !(f->ordered && (f == kernel || !f->kernel)))
		f = f->next;
	return f != NULL;
}

/* Whether blocks may run in any order: where nobody can see it, or wants the
 * same bits again. */
static bool
is_free(const struct launch *l)
{
	const struct ptx_options *o = l->options;

	return !l->checks && !o->schedule && !o->fill &&
	    (o->any_order || !is_ordered(l->kernel));
}

void
ptx_ask_helpers(struct helpers *h, struct launch *l, uint64_t done)
{
	const struct ptx_options *o = l->options;
	const uint64_t next = atomic_load(&l->next);
	const uint64_t blocks = next < l->count ? l->count - next : 0;
	const uint64_t warps = ((uint64_t)l->size[0] * l->size[1] * l->size[2]
	    + LANES - 1) / LANES;
	const unsigned most = o->threads ? o->threads : processors();
	const uint64_t wanted = blocks < (next ? 1 : 2) ? 0 : blocks - !next;
	unsigned hired;

	if (h->asked || !wanted || (!o->any_order && !o->cooperative && done <
	    WORTH && blocks * warps * l->kernel->count < WORTH * 2))
		return;
	h->asked = most < 2 || !is_free(l);
	if (h->asked)
		return;
	hired = hire(wanted < MOST_THREADS - 1 ? (unsigned)wanted
	    : MOST_THREADS - 1, (most < MOST_THREADS ? most : MOST_THREADS) -
	    1);
	h->asked = l->crowded = hired > 0;
	while (h->count < hired && start(&h->worker[h->count], l))
		h->count++;
	atomic_fetch_sub(&busy, hired - h->count);
}

void
ptx_join_helpers(struct helpers *h)
{
	for (unsigned i = 0; i < h->count; i++) {
		pthread_join(h->worker[i].thread, NULL);
		ptx_end_worker(&h->worker[i]);
	}
	if (h->count)
		atomic_fetch_sub(&busy, h->count);
}
