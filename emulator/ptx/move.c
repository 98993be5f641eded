/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/move.c -- instructions that only move: vectors, addresses,
 * clocks. */
#include "emulator/ptx/run.h"

#include <time.h>

static void
read_clock(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	struct timespec now;
	uint64_t value;

	clock_gettime(CLOCK_MONOTONIC, &now);
	value = in->mode == S_GLOBALTIMER ? (uint64_t)now.tv_sec * 1000000000 +
	    (uint64_t)now.tv_nsec : w->block->instructions * 4;
	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1)
			lane_store(base, &in->operand[0], i, value);
}

static void
pack(const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask)
{
	const int bits = ptx_type_bytes[in->type] * 8 / in->vector;

	for (int i = 0; i < LANES; i++) {
		uint64_t x = 0;

		if (!(mask >> i & 1))
			continue;
		if (in->op == OP_pack) {
			for (int k = 0; k < in->vector; k++)
				x |= lane_value(base, &in->part[k], i) << k *
				    bits;
			lane_store(base, &in->operand[0], i, x);
			continue;
		}
		x = lane_value(base, &in->operand[1], i);
		for (int k = 0; k < in->vector; k++)
			lane_store(base, &in->part[k], i, x >> k * bits);
	}
}

/* The first generic address of a space, for one lane. */
static uint64_t
window_of(const struct warp *w, int space, int lane)
{
	const struct launch *l = w->block->launch;

	switch (space) {
	case SPACE_SHARED:
		return (uintptr_t)w->block->shared;
	case SPACE_LOCAL:
		return (uintptr_t)w->local + (size_t)lane * l->local_bytes;
	case SPACE_PARAM:
		return (uintptr_t)l->params;
	default:
		return 0;
	}
}

static bool
is_in_space(const struct warp *w, int space, int lane, uint64_t x)
{
	const size_t local_bytes = w->block->launch->local_bytes;
	const bool shared = x - (uintptr_t)w->block->shared < SHARED_ALL;
	const bool local = x - (uintptr_t)w->local < local_bytes * LANES;

	switch (space) {
	case SPACE_GLOBAL:
		return !shared && !local;
	case SPACE_SHARED:
		return shared;
	case SPACE_LOCAL:
		return x - window_of(w, space, lane) < local_bytes;
	default:
		return false;
	}
}

/* One lane of: mov of a local variable's address, cvta, isspacep. */
static uint64_t
address(const struct warp *w, const struct frame *f,
    const struct ptx_instruction *in, int lane, uint64_t x)
{
	const uint64_t window = window_of(w, in->space, lane);

	if (in->op == OP_address)
		return (uint64_t)(f->local_at + in->offset);
	if (in->op == OP_isspacep)
		return is_in_space(w, in->space, lane, x);
	return in->mode == MODE_TO ? x - window : x + window;
}

void
ptx_move(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	if (in->op == OP_pack || in->op == OP_unpack) {
		pack(in, base, mask);
		return;
	}
	if (in->op == OP_clock) {
		read_clock(w, in, base, mask);
		return;
	}
	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1)
			lane_store(base, &in->operand[0], i, address(w, f, in,
			    i, lane_value(base, &in->operand[1], i)));
}
