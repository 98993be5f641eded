/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/warp.c -- a warp: which instruction comes next, for which
 * lanes. */
#include "emulator/ptx/matrix.h"

#include <stdatomic.h>

enum { FAVOUR_AFTER = 4096, MOST_POLLS = 64 };

/* What follows an instruction. */
enum after {
	AFTER_NEXT,     /* the next one */
	AFTER_STAY,     /* the one at `pc` */
	AFTER_PICK,     /* perhaps another group's */
	AFTER_FRAME     /* perhaps in another frame */
};

/* One group of the top frame. */
struct cursor {
	struct warp  *w;
	struct frame *f;
	unsigned char *base[4];
	int      g;
	uint32_t mask;
	int64_t  pc, next;      /* another group waits at `next` */
};

/* Give NaNs that arithmetic made a random payload. */
static void
any_nans(struct launch *l, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	const struct ptx_operand *o = &in->operand[0];

	if (o->base != BASE_FRAME || (in->type != T_F32 && in->type != T_F64))
		return;
	switch (in->op) {
	case OP_add: case OP_sub: case OP_mul: case OP_mad: case OP_fma:
	case OP_div: case OP_rcp: case OP_sqrt: case OP_rsqrt: case OP_cvt:
	case OP_min: case OP_max: case OP_ex2: case OP_lg2: case OP_sin:
	case OP_cos: case OP_tanh:
		break;
	default:
		return;
	}
	for (int i = 0; i < LANES; i++) {
		const uint64_t x = lane_value(base, o, i);
		const uint64_t any = ptx_random(&l->random);

		if (!(mask >> i & 1))
			continue;
		if (in->type == T_F32 && (x & 0x7fffffff) > 0x7f800000)
			lane_store(base, o, i, (any & 0x803fffff) |
			    0x7fc00000);
		if (in->type == T_F64 && (x & INT64_MAX) > 0x7ff0000000000000)
			lane_store(base, o, i, (any & 0x8007ffffffffffff) |
			    0x7ff8000000000000);
	}
}

/* ---- Branches ---------------------------------------------------------- */

/* Group `own` has jumped to `to`. */
static void
count_turn(const struct cursor *c, int64_t to, int own)
{
	struct frame *f = c->f;

	if (to > c->pc || ++f->turns <= FAVOUR_AFTER)
		return;
	f->turns = 0;
	ptx_favour(f, own);
}

static enum after
branch(struct cursor *c, const struct ptx_instruction *in, uint32_t on)
{
	struct frame *f = c->f;
	struct group *own = &f->group[c->g];

	if (!on)
		return AFTER_NEXT;
	if (on == c->mask && f->groups == 1) {
		c->pc = in->offset;
		return AFTER_STAY;
	}
	if (on == c->mask) {
		own->pc = in->offset;
		count_turn(c, in->offset, c->g);
		return AFTER_PICK;
	}
	own->mask = c->mask & ~on;
	own->pc = c->pc + 1;
	f->group[f->groups++] = (struct group){ .pc = in->offset, .mask = on };
	count_turn(c, in->offset, f->groups - 1);
	return AFTER_PICK;
}

/* brx: the lanes that go where the first of them goes; the others run this
 * instruction again. */
static enum after
branch_by_index(struct cursor *c, const struct ptx_instruction *in, uint32_t on)
{
	const struct ptx_target *t = in->target;
	const uint64_t n = lane_value(c->base, &in->operand[0],
	    __builtin_ctz(on));
	struct frame *f = c->f;
	struct group *own = &f->group[c->g];
	uint32_t alike = 0;

	if (n >= t->count) {
		ptx_found(c->w, in, __builtin_ctz(on), PTX_OUTSIDE, "target "
		    "%llu of %zu", (unsigned long long)n, t->count);
		ptx_stop(c->w->block->worker);
	}
	for (int i = 0; i < LANES; i++)
		if (on >> i & 1 && lane_value(c->base, &in->operand[0], i) == n)
			alike |= 1u << i;
	if (alike == c->mask) {
		own->pc = t->pc[n];
		return AFTER_PICK;
	}
	own->mask = c->mask & ~alike;
	own->pc = on == c->mask || (on & ~alike) ? c->pc : c->pc + 1;
	f->group[f->groups++] = (struct group){ .pc = t->pc[n],
		.mask = alike };
	return AFTER_PICK;
}

/* ret, exit. */
static enum after
end(struct cursor *c, const struct ptx_instruction *in, uint32_t on)
{
	struct frame *f = c->f;
	struct group *own = &f->group[c->g];

	own->pc = c->pc + 1;
	f->favoured = -1;
	if (in->op == OP_ret && f->caller) {
		own->mask &= ~on;
		ptx_drop_empty(f);
	} else {
		ptx_leave(c->w, on);
	}
	return AFTER_FRAME;
}

/* ---- Waiting ----------------------------------------------------------- */

static enum after
barrier(struct cursor *c, const struct ptx_instruction *in, uint32_t on)
{
	struct frame *f = c->f;

	f->group[c->g].pc = c->pc;
	f->favoured = -1;
	if (in->mode != MODE_WARP) {
		ptx_arrive(c->w, f, c->g, in, c->base, on);
	} else if (ptx_gather(c->w, f, c->g, ptx_members(in, c->base, on))) {
		c->w->epoch++;
		f->group[c->g].pc++;
		ptx_drop_empty(f);
	}
	return AFTER_PICK;
}

/* With a guard, it does not wait for members. */
static enum after
exchange(struct cursor *c, const struct ptx_instruction *in, uint32_t on)
{
	const uint32_t members = ptx_members(in, c->base, on);
	struct frame *f = c->f;
	struct group *own = &f->group[c->g];
	const bool alone = f->groups == 1;

	own->pc = c->pc;
	if (!in->guarded && !ptx_gather(c->w, f, c->g, members)) {
		f->favoured = -1;
		return AFTER_PICK;
	}
	if (!in->guarded)
		on = own->mask;
	if (in->op >= OP_ldmatrix && in->op <= OP_wmma)
		ptx_matrices(c->w, f, in, c->base, on);
	else
		ptx_exchange(c->w, in, c->base, on, members);
	if (alone)
		return AFTER_NEXT;
	own->pc = c->pc + 1;
	ptx_drop_empty(f);
	return AFTER_PICK;
}

/* ---- One instruction --------------------------------------------------- */

static _Noreturn void
stop_at(struct cursor *c, const struct ptx_instruction *in, uint32_t on)
{
	const bool is_trap = in->op == OP_trap;

	ptx_found(c->w, in, __builtin_ctz(on), is_trap ? PTX_TRAP
	    : PTX_UNSUPPORTED, "%s", is_trap ? "trap" : in->call
	    ? in->call->name : "");
	ptx_stop(c->w->block->worker);
}

static void
active_mask(struct cursor *c, const struct ptx_instruction *in, uint32_t on)
{
	for (int i = 0; i < LANES; i++)
		if (on >> i & 1)
			lane_store(c->base, &in->operand[0], i, on);
}

/* Other launches and the host may read it. Not a fence: ThreadSanitizer does
 * not support them. */
static void
order_memory(void)
{
	static _Atomic unsigned everyone;

	atomic_fetch_add(&everyone, 0);
}

/* Who only looks whether something has changed lets others run. */
static enum after
give_way(const struct cursor *c)
{
	c->w->yields |= c->w->polls >= MOST_POLLS;
	return AFTER_NEXT;
}

static enum after
step(struct cursor *c, const struct ptx_instruction *in, uint32_t on)
{
	struct launch *l = c->w->block->launch;

	switch (in->op) {
	case OP_bra:
		return branch(c, in, on);
	case OP_brx:
		return branch_by_index(c, in, on);
	case OP_call:
		c->f->group[c->g].pc = c->pc + 1;
		ptx_call(c->w, c->f, in, c->base, on);
		return c->w->top == c->f ? AFTER_NEXT : AFTER_FRAME;
	case OP_ret: case OP_exit:
		return end(c, in, on);
	case OP_bar: case OP_barrier:
		return barrier(c, in, on);
	case OP_shfl: case OP_vote: case OP_match: case OP_redux:
	case OP_elect: case OP_ldmatrix: case OP_stmatrix: case OP_mma:
	case OP_wmma:
		return exchange(c, in, on);
	case OP_activemask:
		active_mask(c, in, on);
		return AFTER_NEXT;
	case OP_trap: case OP_unsupported:
		stop_at(c, in, on);
	case OP_ld: case OP_ldu: case OP_st: case OP_atom: case OP_red:
		ptx_access(c->w, c->f, in, c->base, on);
		c->w->polls += (in->flags & FLAG_POLL) != 0;
		return give_way(c);
	case OP_cp: case OP_mbarrier:
		ptx_async(c->w, c->f, in, c->base, on);
		return give_way(c);
	case OP_nanosleep:
		c->w->polls = MOST_POLLS;
		return give_way(c);
	case OP_membar: case OP_fence:
		order_memory();
		return AFTER_NEXT;
	case OP_prefetch: case OP_prefetchu: case OP_brkpt:
	case OP_pmevent: case OP_griddepcontrol: case OP_discard:
	case OP_applypriority:
		return AFTER_NEXT;
	case OP_address: case OP_cvta: case OP_isspacep: case OP_pack:
	case OP_unpack: case OP_clock:
		ptx_move(c->w, c->f, in, c->base, on);
		return AFTER_NEXT;
	default:
		ptx_lanes(c->w, in, c->base, on);
		if (l->options->nans)
			any_nans(l, in, c->base, on);
		return AFTER_NEXT;
	}
}

/* The lanes that run an instruction. */
static inline uint32_t
guarded(const struct cursor *c, const struct ptx_instruction *in)
{
	uint32_t yes;

	if (!in->guarded)
		return c->mask;
	memcpy(&yes, c->base[BASE_FRAME] + in->guard, sizeof yes);
	return c->mask & (in->guard_inverted ? ~yes : yes);
}

/* Runs one group until another one's turn. Returns how many instructions of
 * `budget` it ran. */
static uint64_t
run_group(struct cursor *c, uint64_t budget, enum after *after_out)
{
	struct ptx_instruction *const code = c->f->function->code;
	struct launch *l = c->w->block->launch;
	enum after after = AFTER_PICK;
	uint64_t done = 0;

	for (; c->pc < c->next && done < budget && !c->w->yields; done++) {
		struct ptx_instruction *in = &code[c->pc];
		const uint32_t on = guarded(c, in);

		if (l->checks) {
			l->result->lanes += (uint64_t)__builtin_popcount(on);
			if (l->options->count)
				in->hits += on != 0;
		}
		if (on && in->quick && !l->options->nans &&
		    in->quick(c->w, in, c->base, on)) {
			c->pc++;
			continue;
		}
		after = on || in->op == OP_bra ? step(c, in, on) : AFTER_NEXT;
		if (after == AFTER_NEXT) {
			c->pc++;
		} else if (after != AFTER_STAY) {
			*after_out = after;
			return done + 1;
		}
	}
	c->f->group[c->g].pc = c->pc;
	*after_out = AFTER_PICK;
	return done;
}

/* Runs the groups of the top frame; true: perhaps another frame is the top
 * now. */
static bool
run_frame(struct warp *w, uint64_t budget, uint64_t *done)
{
	struct cursor c = { .w = w, .f = w->top };
	enum after after = AFTER_PICK;

	ptx_bases(w, c.f, c.base);
	while (after != AFTER_FRAME) {
		if (*done >= budget || w->yields)
			return false;
		c.g = ptx_pick(c.f, &c.next);
		if (c.g < 0) {
			w->waits = true;
			return false;
		}
		c.pc = c.f->group[c.g].pc;
		c.mask = c.f->group[c.g].mask;
		*done += run_group(&c, budget - *done, &after);
	}
	return true;
}

void
ptx_run_warp(struct warp *w, uint64_t budget)
{
	uint64_t done = 0;
	bool more = true;

	w->yields = false;
	w->polls = 0;
	while (more) {
		while (w->top && !w->top->groups)
			ptx_pop(w);
		more = w->top && run_frame(w, budget, &done);
	}
	w->block->instructions += done;
	if (w->block->launch->options->idle_limit)
		ptx_look(w, done);
}
