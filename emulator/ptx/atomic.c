/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/atomic.c -- atomics. */
#include "emulator/ptx/number.h"
#include "emulator/ptx/run.h"

static uint16_t
half_sum(int type, uint64_t a, uint64_t b)
{
	const bool is_half = type == T_F16 || type == T_F16X2;

	return is_half ? f16_from32(f16_to((uint16_t)a) + f16_to((uint16_t)b))
	    : bf16_from(bf16_to((uint16_t)a) + bf16_to((uint16_t)b));
}

static uint64_t
sum(int type, uint64_t a, uint64_t b)
{
	switch (type) {
	case T_F32:
		return bits_of(c32(f32_of((uint32_t)a) + f32_of((uint32_t)b)));
	case T_F64:
		return bits_of64(c64(f64_of(a) + f64_of(b)));
	case T_F16: case T_BF16:
		return half_sum(type, a, b);
	case T_F16X2: case T_BF16X2:
		return half_sum(type, a, b) | (uint64_t)half_sum(type, a >> 16,
		    b >> 16) << 16;
	default:
		return a + b;
	}
}

static uint64_t
updated(const struct ptx_instruction *in, uint64_t old, uint64_t x, uint64_t y)
{
	const bool less = in->type == T_S32 ? (int32_t)old < (int32_t)x
	    : in->type == T_S64 ? (int64_t)old < (int64_t)x : old < x;

	switch (in->mode) {
	case MODE_ADD: return sum(in->type, old, x);
	case MODE_MIN: return less ? old : x;
	case MODE_MAX: return less ? x : old;
	case MODE_INC: return old >= x ? 0 : old + 1;
	case MODE_DEC: return !old || old > x ? x : old - 1;
	case MODE_AND: return old & x;
	case MODE_OR: return old | x;
	case MODE_XOR: return old ^ x;
	case MODE_EXCH: return x;
	default: return old == x ? y : old;
	}
}

/* Atomic with respect to other blocks, other launches and the host, where the
 * host can do that. */
static uint64_t
update(const struct ptx_instruction *in, void *at, uint64_t x, uint64_t y)
{
	const size_t bytes = ptx_type_bytes[in->type];
	const bool aligned = !((uintptr_t)at & (bytes - 1));
	uint64_t old = 0, new;

	if (aligned && bytes == 4) {
		uint32_t now = __atomic_load_n((uint32_t *)at,
		    __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n((uint32_t *)at, &now,
		    (uint32_t)updated(in, now, x, y), false, __ATOMIC_SEQ_CST,
		    __ATOMIC_RELAXED))
			;
		return now;
	}
	if (aligned && bytes == 8) {
		uint64_t now = __atomic_load_n((uint64_t *)at,
		    __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n((uint64_t *)at, &now,
		    updated(in, now, x, y), false, __ATOMIC_SEQ_CST,
		    __ATOMIC_RELAXED))
			;
		return now;
	}
	if (aligned && bytes == 2) {
		uint16_t now = __atomic_load_n((uint16_t *)at,
		    __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n((uint16_t *)at, &now,
		    (uint16_t)updated(in, now, x, y), false, __ATOMIC_SEQ_CST,
		    __ATOMIC_RELAXED))
			;
		return now;
	}
	memcpy(&old, at, bytes);
	new = updated(in, old, x, y);
	memcpy(at, &new, bytes);
	return old;
}

void
ptx_atomic(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	const size_t bytes = ptx_type_bytes[in->type];
	bool changed = false;

	for (int i = 0; i < LANES; i++) {
		uint64_t old, new, x, y;
		void *at;

		if (!(mask >> i & 1))
			continue;
		at = ptx_reach(w, f, in, i, ptx_address_of(f, in, base, i),
		    bytes, ATOMIC, NULL);
		if (!at)
			continue;
		x = lane_value(base, &in->operand[2], i);
		y = lane_value(base, &in->operand[3], i);
		old = update(in, at, x, y);
		new = updated(in, old, x, y);
		changed |= memcmp(&new, &old, bytes) != 0;
		if (in->op == OP_atom)
			lane_store(base, &in->operand[0], i, old);
	}
	w->rounds.changed |= changed;
	w->polls += !changed;
}
