/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/block.c -- a block: its warps, its shared memory. */
#include "emulator/ptx/run.h"

enum { SLICE = 1 << 14 };

static void
special(struct warp *w)
{
	struct ptx_block *b = w->block;
	const struct launch *l = b->launch;
	/* Of a cooperative launch: the address of its barrier, in halves. */
	const uint64_t together = l->options->cooperative
	    ? (uintptr_t)l->together : 0;
	const uint32_t same[S_SPECIALS] = {
		[S_NTID_X] = l->size[0], [S_NTID_Y] = l->size[1],
		[S_NTID_Z] = l->size[2], [S_CTAID_X] = b->at[0],
		[S_CTAID_Y] = b->at[1], [S_CTAID_Z] = b->at[2],
		[S_NCTAID_X] = l->grid[0], [S_NCTAID_Y] = l->grid[1],
		[S_NCTAID_Z] = l->grid[2], [S_WARPID] = w->index,
		[S_NWARPID] = b->warps, [S_NSMID] = 1, [S_GRIDID] = 1,
		[S_WARPSZ] = LANES, [S_DYNAMIC_SMEM] = (uint32_t)l->dynamic,
		[S_TOTAL_SMEM] = (uint32_t)(l->dynamic +
		    l->kernel->shared_bytes),
		[S_ONE] = 1, [S_ENVREG1] = (uint32_t)(together >> 32),
		[S_ENVREG2] = (uint32_t)together
	};

	for (int s = 0; s < S_SPECIALS; s++)
		for (int i = 0; i < LANES; i++) {
			const uint32_t t = w->index * LANES + (uint32_t)i;
			uint32_t x = same[s];

			switch (s) {
			case S_TID_X: x = t % l->size[0]; break;
			case S_TID_Y: x = t / l->size[0] % l->size[1]; break;
			case S_TID_Z: x = t / l->size[0] / l->size[1]; break;
			case S_LANEID: x = (uint32_t)i; break;
			case S_LANEMASK_EQ: x = 1u << i; break;
			case S_LANEMASK_LT: x = (1u << i) - 1; break;
			case S_LANEMASK_LE: x = (2u << i) - 1; break;
			case S_LANEMASK_GT: x = -(2u << i); break;
			case S_LANEMASK_GE: x = -(1u << i); break;
			default: break;
			}
			((uint32_t *)(void *)(w->special + s *
			    SPECIAL_BYTES))[i] = x;
		}
}

/* The other registers keep the values of the previous block. */
static void
special_block(struct warp *w)
{
	for (int d = 0; d < 3; d++) {
		uint32_t *at = (uint32_t *)(void *)(w->special + (S_CTAID_X +
		    d) * SPECIAL_BYTES);

		for (int i = 0; i < LANES; i++)
			at[i] = w->block->at[d];
	}
}

static void
begin_warp(struct ptx_block *b, unsigned i)
{
	struct launch *l = b->launch;
	struct warp *w = &b->warp[i];
	const unsigned rest = b->threads - i * LANES;

	w->block = b;
	w->index = i;
	w->live = rest >= LANES ? UINT32_MAX : (1u << rest) - 1;
	w->epoch = 1;
	w->waits = w->yields = false;
	w->rounds = (struct rounds){ .changed = true };
	w->top = NULL;
	if (!w->local)
		w->local = ptx_memory(b->worker, l->local_bytes * LANES);
	if (!w->special) {
		w->special = ptx_memory(b->worker, S_SPECIALS * SPECIAL_BYTES);
		special(w);
	} else {
		special_block(w);
	}
	ptx_push(w, l->kernel, w->live, NULL);
}

static void
begin_shared(struct ptx_block *b)
{
	struct launch *l = b->launch;
	const size_t own = l->kernel->shared_bytes;

	if (!b->shared)
		b->shared = ptx_memory(b->worker, SHARED_ALL);
	if (l->options->fill) {
		ptx_noise(l, b->shared, (own + 7) / 8 * 8);
		ptx_noise(l, b->shared + SHARED_DYNAMIC, (l->dynamic + 7) / 8 *
		    8);
	}
	if (!l->options->check)
		return;
	if (!b->shadow)
		b->shadow = ptx_memory(b->worker, sizeof *b->shadow *
		    SHARED_ALL);
	memset(b->shadow, 0, sizeof *b->shadow * own);
	memset(b->shadow + SHARED_COMMON, 0, sizeof *b->shadow *
	    l->kernel->module->shared_bytes);
	memset(b->shadow + SHARED_DYNAMIC, 0, sizeof *b->shadow * l->dynamic);
}

void
ptx_begin(struct ptx_block *b, struct host_thread *r, uint64_t number)
{
	struct launch *const l = r->launch;

	b->launch = l;
	b->worker = r;
	b->number = number;
	b->at[0] = (uint32_t)(number % l->grid[0]);
	b->at[1] = (uint32_t)(number / l->grid[0] % l->grid[1]);
	b->at[2] = (uint32_t)(number / l->grid[0] / l->grid[1]);
	b->threads = b->live = l->size[0] * l->size[1] * l->size[2];
	b->warps = (b->threads + LANES - 1) / LANES;
	b->epoch++;
	b->instructions = b->bytes = b->excused = 0;
	b->begun = true;
	b->stalled = b->released = b->ended = false;
	b->held = l->options->schedule && ptx_random(&l->random) % 4
	    ? (int)(ptx_random(&l->random) % b->warps) : -1;
	memset(b->barrier, 0, sizeof b->barrier);
	begin_shared(b);
	for (unsigned i = 0; i < b->warps; i++)
		begin_warp(b, i);
}

/* Whether some lanes wait for others that never come; reports it. */
static bool
miss_members(struct ptx_block *b)
{
	for (unsigned i = 0; i < b->warps; i++)
		for (struct frame *f = b->warp[i].top; f; f = f->caller)
			for (int g = 0; g < f->groups; g++) {
				struct group *own = &f->group[g];
				const struct ptx_instruction *in =
				    &f->function->code[own->pc];

				if (own->state != GROUP_FOR_LANES)
					continue;
				ptx_found(&b->warp[i], in, __builtin_ctz(
				    own->mask), PTX_MEMBERS, "lanes %08x wait "
				    "for members %08x", own->mask,
				    own->members);
				return true;
			}
	return false;
}

static uint64_t
quantum(struct launch *l)
{
	if (!l->options->schedule)
		return SLICE;
	return ptx_random(&l->random) % (ptx_random(&l->random) % 3 ? 64
	    : 4096) + 1;
}

/* One round of all warps but the one that is held back. False: none of them can
 * continue. */
static bool
run_round(struct ptx_block *b)
{
	struct launch *l = b->launch;
	const uint64_t before = b->instructions;
	const unsigned live = b->live;
	const unsigned first = l->options->schedule
	    ? (unsigned)(ptx_random(&l->random) % b->warps) : 0;

	for (unsigned i = 0; i < b->warps; i++) {
		struct warp *w = &b->warp[(i + first) % b->warps];

		if (atomic_load_explicit(&l->stopped, memory_order_relaxed))
			ptx_stop(b->worker);
		if (w->live && !w->waits && (int)w->index != b->held)
			ptx_run_warp(w, quantum(l));
	}
	return b->instructions != before || b->live != live;
}

/* Nobody can continue. */
static _Noreturn void
stop_waiting(struct ptx_block *b)
{
	struct warp *w = b->warp;

	if (!miss_members(b)) {
		while (!w->live)
			w++;
		ptx_found(w, &w->top->function->code[w->top->group[0].pc], 0,
		    PTX_DEADLOCK, "%u threads wait", b->live);
	}
	ptx_stop(b->worker);
}

static void
end_block(struct ptx_block *b)
{
	for (unsigned i = 0; i < b->warps; i++)
		while (b->warp[i].top)
			ptx_pop(&b->warp[i]);
	b->ended = true;
}

/* Only the warp that is held back can continue; it must not before all other
 * blocks wait, too. False: not now. */
static bool
run_held(struct ptx_block *b)
{
	struct launch *l = b->launch;
	struct warp *w = &b->warp[b->held];

	b->stalled = !b->released;
	if (b->stalled)
		return false;
	b->released = false;
	ptx_run_warp(w, SLICE);
	b->held = (int)(ptx_random(&l->random) % b->warps);
	return true;
}

/* All that could run only poll: another block must come first. */
static bool
all_yield(struct ptx_block *b)
{
	bool any = false;

	for (unsigned i = 0; i < b->warps; i++) {
		const struct warp *w = &b->warp[i];

		if (!w->live || w->waits)
			continue;
		if (!w->yields)
			return false;
		any = true;
	}
	for (unsigned i = 0; any && i < b->warps; i++)
		b->warp[i].yields = false;
	return any;
}

bool
ptx_run_block(struct ptx_block *b, uint64_t budget)
{
	const uint64_t until = b->instructions + budget;

	while (b->live && !all_yield(b)) {
		const struct warp *w = b->held >= 0 ? &b->warp[b->held] : NULL;

		if (run_round(b)) {
			if (b->instructions >= until)
				return false;
		} else if (!w || !w->live || w->waits) {
			stop_waiting(b);
		} else if (!run_held(b)) {
			return false;
		}
	}
	if (b->live)
		return false;
	end_block(b);
	return true;
}
