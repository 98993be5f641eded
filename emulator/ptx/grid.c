/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/grid.c -- a launch: which blocks run, and which run at the same
 * time. */
#include "emulator/ptx/run.h"

#include <stdlib.h>
#include <time.h>

enum {
	RESIDENT = 64,          /* blocks that may wait for each other */
	MIXED = 6,              /* blocks that run in turns */
	LOCAL_MORE = 4096,      /* for functions that are called */
	SPIN_LOG2 = 28,
	TURN = 1 << 14,         /* of a block that waits for others, spinning */
	PAUSE = 20000           /* ns, of who waits for other threads */
};

static uint64_t
block_number(const struct launch *l, uint64_t i, uint64_t count)
{
	if (!l->options->schedule)
		return i;
	/* 1000003 is prime; a grid whose size it divides runs in order. */
	return count % 1000003 ? (i * 1000003 + l->options->schedule) % count
	    : i;
}

static void
stop_spinning(struct host_thread *r, struct ptx_block *b)
{
	struct warp *w = b->warp;

	while (!w->live)
		w++;
	ptx_found(w, &w->top->function->code[w->top->group[0].pc], 0, PTX_SPIN,
	    "%llu instructions, %u blocks at once", (unsigned long long)
	    b->instructions, r->here);
	ptx_stop(r);
}

/* In a free place, or in a new one. False: there is neither, or no block. */
static bool
begin_next(struct host_thread *r)
{
	struct launch *const l = r->launch;
	uint64_t number;
	unsigned i = 0;

	while (i < r->here && !r->block[i].ended)
		i++;
	if (i == l->most || atomic_load(&l->next) >= l->count)
		return false;
	number = atomic_fetch_add(&l->next, 1);
	if (number >= l->count)
		return false;
	r->here += i == r->here;
	ptx_begin(&r->block[i], r, block_number(l, number, l->count));
	return true;
}

static bool
run(struct host_thread *r, struct ptx_block *b, uint64_t budget)
{
	if (!ptx_run_block(b, budget))
		return false;
	r->instructions += b->instructions;
	r->bytes += b->bytes;
	return true;
}

/* One that has not ended, searched from a random one on; NULL if each of them
 * waits for the others, unless `release`. */
static struct ptx_block *
choose(struct host_thread *r, uint64_t any, bool release)
{
	for (unsigned i = 0; i < r->here; i++) {
		struct ptx_block *b = &r->block[(any + i) % r->here];

		if (b->ended || (b->stalled && !release))
			continue;
		b->released |= release;
		b->stalled = false;
		return b;
	}
	return NULL;
}

/* Several at a time, each for random stretches: messages between blocks through
 * global memory come in many orders. In most of them one warp is held back
 * until no other, in any block, can continue without it. */
static void
run_mixed(struct host_thread *r)
{
	struct launch *const l = r->launch;
	uint64_t ended = 0, begun = 0;

	while (ended < l->count) {
		const uint64_t any = ptx_random(&l->random);
		const uint64_t here = begun - ended;
		struct ptx_block *b;

		if (begun < l->count && here < l->most && (!here ||
		    any % 4 == 0))
			begun += begin_next(r);
		b = choose(r, any >> 8, false);
		if (!b && begun < l->count && begun - ended < l->most)
			continue;
		if (!b)
			b = choose(r, any >> 8, true);
		ended += run(r, b, 1 + (any >> 24) % (any % 3 ? 300 : 30000));
		if (b->instructions > l->limit)
			stop_spinning(r, b);
	}
}

/* A turn of each block that has begun. Returns how many have not ended;
 * *worked_out: some did more than to look whether others had done something. */
static unsigned
run_turns(struct host_thread *r, bool *worked_out)
{
	struct launch *const l = r->launch;
	unsigned left = 0;

	*worked_out = false;
	for (unsigned i = 0; i < r->here; i++) {
		struct ptx_block *b = &r->block[i];
		const uint64_t before = b->instructions;
		bool ended;

		if (b->ended)
			continue;
		ended = run(r, b, l->turn);
		left += !ended;
		if (ended || b->instructions - before >= l->turn) {
			*worked_out = true;
			atomic_fetch_add(&l->progress, 1);
		} else if (r->seen_progress != atomic_load(&l->progress)) {
			b->excused += b->instructions - before;
		}
		if (!ended && b->instructions - b->excused > l->limit &&
		    (r->here == l->most || atomic_load(&l->next) >= l->count))
			stop_spinning(r, b);
	}
	r->seen_progress = atomic_load(&l->progress);
	return left;
}

/* One after the other. One that cannot finish stays, and the next begins: the
 * first may wait for it. Helpers do the same with blocks of theirs. */
static void
run_in_order(struct host_thread *r, struct helpers *h)
{
	struct launch *const l = r->launch;
	bool worked = true;
	unsigned left;

	do {
		if (h)
			ptx_ask_helpers(h, l, r->instructions);
		if (!begin_next(r) && !worked && l->crowded)
			nanosleep(&(struct timespec){ 0, PAUSE }, NULL);
		left = run_turns(r, &worked);
	} while (left || atomic_load(&l->next) < l->count);
}

void
ptx_run_blocks(struct host_thread *r)
{
	if (!setjmp(r->out))
		run_in_order(r, NULL);
}

/* ---- A launch ---------------------------------------------------------- */

static void
free_block(struct host_thread *r, struct ptx_block *b)
{
	for (unsigned k = 0; k < WARPS; k++) {
		struct warp *w = &b->warp[k];

		while (w->top) {
			struct frame *f = w->top;

			w->top = f->caller;
			f->caller = r->spare;
			r->spare = f;
		}
		free(w->special);
		free(w->local);
	}
	free(b->shared);
	free(b->shadow);
}

void
ptx_end_worker(struct host_thread *r)
{
	struct launch *const l = r->launch;

	for (unsigned i = 0; i < r->here; i++) {
		if (r->block[i].begun && !r->block[i].ended) {
			r->instructions += r->block[i].instructions;
			r->bytes += r->block[i].bytes;
		}
		free_block(r, &r->block[i]);
	}
	free(r->block);
	while (r->spare) {
		struct frame *f = r->spare;

		r->spare = f->caller;
		free(f->registers);
		free(f);
	}
	pthread_mutex_lock(&l->lock);
	l->result->instructions += r->instructions;
	l->result->bytes += r->bytes;
	pthread_mutex_unlock(&l->lock);
}

static size_t
local_of(const struct ptx_module *m)
{
	size_t all = LOCAL_MORE;

	for (const struct ptx_function *f = m->functions; f; f = f->next)
		if (all < f->local_bytes * 2 + LOCAL_MORE)
			all = f->local_bytes * 2 + LOCAL_MORE;
	return (all + 63) / 64 * 64;
}

static struct launch *
make_launch(struct ptx_function *kernel, const unsigned grid[3],
    const unsigned block[3], const struct ptx_options *options)
{
	struct launch *l = calloc(1, sizeof *l);

	if (!l || !kernel->defined)
		abort();
	l->kernel = kernel;
	l->options = options;
	l->random = options->schedule ^ options->fill << 20 ^ options->nans
	    << 40;
	l->checks = options->check || options->count || options->nans;
	l->local_bytes = local_of(kernel->module);
	for (int i = 0; i < 3; i++) {
		l->grid[i] = grid[i];
		l->size[i] = block[i];
	}
	l->count = (uint64_t)grid[0] * grid[1] * grid[2];
	l->most = options->cooperative ? (unsigned)l->count : options->schedule
	    ? MIXED : RESIDENT;
	if (options->resident && !options->cooperative &&
	    (!options->schedule || options->resident < MIXED))
		l->most = options->resident;
	l->limit = options->spin_limit ? options->spin_limit
	    : UINT64_C(1) << SPIN_LOG2;
	l->turn = options->cooperative ? TURN : l->limit / 16;
	pthread_mutex_init(&l->lock, NULL);
	l->params = calloc(1, kernel->parameter_bytes + 64);
	if (!l->params)
		abort();
	return l;
}

static void
run_launch(struct launch *l, struct helpers *h)
{
	struct host_thread *const r = calloc(1, sizeof *r);

	if (!r)
		abort();
	r->launch = l;
	r->block = calloc(l->most, sizeof *r->block);
	if (!r->block)
		abort();
	if (!setjmp(r->out)) {
		if (l->options->schedule)
			run_mixed(r);
		else
			run_in_order(r, h);
	}
	ptx_join_helpers(h);
	ptx_end_worker(r);
	free(r);
}

bool
ptx_launch(struct ptx_function *kernel, const unsigned grid[3],
    const unsigned block[3], size_t dynamic_shared, void **params,
    const struct ptx_options *options, struct ptx_result *result)
{
	struct launch *const l = make_launch(kernel, grid, block, options);
	struct helpers *const h = calloc(1, sizeof *h);
	bool good;

	if (!h)
		abort();
	l->result = result;
	l->dynamic = dynamic_shared;
	for (size_t i = 0; i < kernel->parameters; i++)
		memcpy(l->params + kernel->parameter[i].at, params[i],
		    kernel->parameter[i].bytes);
	run_launch(l, h);
	ptx_found_end(l);
	good = !l->stopped;
	pthread_mutex_destroy(&l->lock);
	free(h);
	free(l->params);
	free(l);
	return good;
}
