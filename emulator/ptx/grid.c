/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/grid.c -- a launch: which blocks run, and which run at the same
 * time. */
#include "emulator/ptx/run.h"

#include <stdlib.h>

enum {
	RESIDENT = 64,          /* blocks that may wait for each other */
	MIXED = 6,              /* blocks that run in turns */
	LOCAL_MORE = 4096,      /* for functions that are called */
	SPIN_LOG2 = 28,
	TURN = 1 << 14          /* of a block that waits for others, spinning */
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
stop_spinning(struct ptx_block *b, unsigned here)
{
	struct warp *w = b->warp;

	while (!w->live)
		w++;
	ptx_found(w, &w->top->function->code[w->top->group[0].pc], 0, PTX_SPIN,
	    "%llu instructions, %u blocks at once", (unsigned long long)
	    b->instructions, here);
	ptx_stop(b->launch);
}

/* The blocks of a launch that have begun. */
struct crowd {
	struct launch *l;
	struct ptx_block  *block;
	unsigned here, most;
	uint64_t next, count;   /* numbers of blocks */
	uint64_t limit;
};

/* In a free place, or in a new one. */
static void
begin_next(struct crowd *c)
{
	unsigned i = 0;

	while (i < c->here && !c->block[i].ended)
		i++;
	if (i == c->here)
		c->here++;
	ptx_begin(&c->block[i], c->l, block_number(c->l, c->next++, c->count));
}

/* One that has not ended, searched from a random one on; NULL if each of them
 * waits for the others, unless `release`. */
static struct ptx_block *
choose(struct crowd *c, uint64_t any, bool release)
{
	for (unsigned i = 0; i < c->here; i++) {
		struct ptx_block *b = &c->block[(any + i) % c->here];

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
run_mixed(struct crowd *c)
{
	uint64_t ended = 0;

	while (ended < c->count) {
		const uint64_t any = ptx_random(&c->l->random);
		const uint64_t begun = c->next - ended;
		struct ptx_block *b;

		if (c->next < c->count && begun < c->most && (!begun ||
		    any % 4 == 0))
			begin_next(c);
		b = choose(c, any >> 8, false);
		if (!b && c->next < c->count && c->next - ended < c->most)
			continue;
		if (!b)
			b = choose(c, any >> 8, true);
		ended += ptx_run_block(b, 1 + (any >> 24) % (any % 3 ? 300
		    : 30000));
		if (b->instructions > c->limit)
			stop_spinning(b, c->here);
	}
}

static bool
has_place(const struct crowd *c)
{
	if (c->here < c->most)
		return true;
	for (unsigned i = 0; i < c->here; i++)
		if (c->block[i].ended)
			return true;
	return false;
}

/* One after the other. One that cannot finish stays, and the next begins: the
 * first may wait for it. */
static void
run_in_order(struct crowd *c, uint64_t turn)
{
	bool any = true;

	while (c->next < c->count || any) {
		any = false;
		if (c->next < c->count && has_place(c))
			begin_next(c);
		for (unsigned i = 0; i < c->here; i++) {
			struct ptx_block *b = &c->block[i];

			if (b->ended || ptx_run_block(b, turn))
				continue;
			if (b->instructions > c->limit && (c->here == c->most
			    || c->next == c->count))
				stop_spinning(b, c->here);
			any = true;
		}
	}
}

/* ---- A launch ---------------------------------------------------------- */

static void
free_block(struct launch *l, struct ptx_block *b)
{
	for (unsigned k = 0; k < WARPS; k++) {
		struct warp *w = &b->warp[k];

		while (w->top) {
			struct frame *f = w->top;

			w->top = f->caller;
			f->caller = l->spare;
			l->spare = f;
		}
		free(w->special);
		free(w->local);
	}
	free(b->shared);
	free(b->shadow);
}

static void
free_launch(struct launch *l)
{
	while (l->spare) {
		struct frame *f = l->spare;

		l->spare = f->caller;
		free(f->registers);
		free(f);
	}
	free(l->params);
	free(l);
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
	l->params = calloc(1, kernel->parameter_bytes + 64);
	if (!l->params)
		abort();
	return l;
}

bool
ptx_launch(struct ptx_function *kernel, const unsigned grid[3],
    const unsigned block[3], size_t dynamic_shared, void **params,
    const struct ptx_options *options, struct ptx_result *result)
{
	const uint64_t count = (uint64_t)grid[0] * grid[1] * grid[2];
	const unsigned most = options->cooperative ? (unsigned)count
	    : options->resident ? options->resident : RESIDENT;
	struct launch *const l = make_launch(kernel, grid, block, options);
	struct crowd c = { .l = l, .block = calloc(most, sizeof *c.block),
		.most = options->schedule && most > MIXED &&
		    !options->cooperative ? MIXED : most, .count = count,
		.limit = options->spin_limit ? options->spin_limit
		    : UINT64_C(1) << SPIN_LOG2 };
	struct ptx_block *const blocks = c.block;
	bool good;

	if (!blocks)
		abort();
	l->result = result;
	l->dynamic = dynamic_shared;
	for (size_t i = 0; i < kernel->parameters; i++)
		memcpy(l->params + kernel->parameter[i].at, params[i],
		    kernel->parameter[i].bytes);
	good = !setjmp(l->out);
	if (good && options->schedule)
		run_mixed(&c);
	else if (good)
		run_in_order(&c, options->cooperative ? TURN : c.limit / 16);
	for (unsigned i = 0; i < most; i++) {
		if (blocks[i].begun && !blocks[i].ended) {
			result->instructions += blocks[i].instructions;
			result->bytes += blocks[i].bytes;
		}
		free_block(l, &blocks[i]);
	}
	free(blocks);
	free_launch(l);
	return good;
}
