/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/barrier.c -- threads that wait for threads; threads that end. */
#include "emulator/ptx/run.h"

/* One group continues after its barrier, with the result of the barrier. */
static void
let_go(struct warp *w, struct frame *f, struct group *own,
    const struct barrier *bar)
{
	const struct ptx_instruction *in = &f->function->code[own->pc];
	const uint64_t value = in->combine == MODE_POPC ? bar->count
	    : in->combine == MODE_OR ? bar->any : !bar->all;
	unsigned char *base[4];

	ptx_bases(w, f, base);
	for (int i = 0; i < LANES && in->mode == MODE_RED; i++)
		if (own->mask >> i & 1)
			lane_store(base, &in->operand[0], i, value);
	own->state = GROUP_RUNS;
	own->pc++;
	w->waits = false;
}

/* All have arrived. */
static void
release(struct ptx_block *b, int id)
{
	struct barrier *bar = &b->barrier[id];

	for (unsigned i = 0; i < b->warps; i++)
		for (struct frame *f = b->warp[i].top; f; f = f->caller)
			for (int g = 0; g < f->groups; g++)
				if (f->group[g].state == GROUP_AT_BARRIER &&
				    f->group[g].barrier == id)
					let_go(&b->warp[i], f, &f->group[g],
					    bar);
	*bar = (struct barrier){0};
	b->epoch++;
}

static void
release_if_all(struct ptx_block *b)
{
	for (int i = 0; i < BARRIERS; i++) {
		const struct barrier *bar = &b->barrier[i];

		if (bar->arrived && bar->arrived >= (bar->wanted ? bar->wanted
		    : b->live))
			release(b, i);
	}
}

void
ptx_arrive(struct warp *w, struct frame *f, int g,
    const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask)
{
	struct ptx_block *b = w->block;
	const int first = __builtin_ctz(mask);
	const int id = (int)lane_value(base, &in->operand[1], first) &
	    (BARRIERS - 1);
	struct barrier *bar = &b->barrier[id];
	const bool red = in->mode == MODE_RED;
	const bool counted = in->operands == (red ? 4 : 2);
	const bool aligned = in->op == OP_bar || in->flags & FLAG_ALIGNED;
	const struct ptx_operand *p = &in->operand[counted ? 3 : 2];

	if (aligned && mask != w->live)
		ptx_found(w, in, first, PTX_DIVERGENT_BARRIER, "lanes %08x of "
		    "%08x", mask, w->live);
	if (counted)
		bar->wanted = (uint32_t)lane_value(base, &in->operand[2],
		    first);
	bar->arrived += (uint32_t)__builtin_popcount(mask);
	if (red) {
		const uint32_t yes = predicate(base, p) & mask;

		bar->any |= yes != 0;
		bar->all |= yes != mask; /* some said no */
		bar->count += (uint32_t)__builtin_popcount(yes);
	}
	if (in->mode == MODE_ARRIVE) {
		f->group[g].pc++;
	} else {
		f->group[g].state = GROUP_AT_BARRIER;
		f->group[g].barrier = (uint8_t)id;
	}
	release_if_all(b);
}

void
ptx_leave(struct warp *w, uint32_t mask)
{
	for (struct frame *f = w->top; f; f = f->caller) {
		for (int g = 0; g < f->groups; g++)
			f->group[g].mask &= ~mask;
		ptx_drop_empty(f);
	}
	w->live &= ~mask;
	w->block->live -= (unsigned)__builtin_popcount(mask);
	release_if_all(w->block);
}
