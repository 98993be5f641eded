/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/memory.c -- loads and stores. */
#include "emulator/ptx/run.h"

static uint64_t
extended(int type, uint64_t x)
{
	return type == T_S8 ? (uint64_t)(int64_t)(int8_t)x
	    : type == T_S16 ? (uint64_t)(int64_t)(int16_t)x
	    : type == T_S32 ? (uint64_t)(int64_t)(int32_t)x : x;
}

/* What others may change is read in one access. */
static uint64_t
fetch(const struct ptx_instruction *in, const unsigned char *from,
    size_t bytes)
{
	uint64_t x = 0;

	if (in->flags & FLAG_POLL && !((uintptr_t)from & (bytes - 1)))
		return bytes == 8 ? __atomic_load_n((const uint64_t *)
		    (const void *)from, __ATOMIC_ACQUIRE)
		    : bytes == 4 ? __atomic_load_n((const uint32_t *)
		    (const void *)from, __ATOMIC_ACQUIRE)
		    : bytes == 2 ? __atomic_load_n((const uint16_t *)
		    (const void *)from, __ATOMIC_ACQUIRE)
		    : __atomic_load_n(from, __ATOMIC_ACQUIRE);
	memcpy(&x, from, bytes);
	return x;
}

static void
load_lane(const struct ptx_instruction *in, unsigned char *const base[4],
    int lane, const unsigned char *from)
{
	const size_t bytes = ptx_type_bytes[in->type];
	const int count = in->vector ? in->vector : 1;

	for (int k = 0; k < count; k++) {
		const uint64_t x = from ? fetch(in, from + (size_t)k * bytes,
		    bytes) : 0;

		lane_store(base, &in->part[k], lane, extended(in->type, x));
	}
}

uint64_t
ptx_address_of(const struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], int lane)
{
	const struct ptx_operand *a = &in->operand[1];

	if (a->base == BASE_NONE)
		return (uint64_t)in->offset + (in->space == SPACE_LOCAL
		    ? (uint64_t)f->local_at : 0);
	if (a->width == 8)
		return ((const uint64_t *)(const void *)(base[a->base] +
		    a->at))[lane] + (uint64_t)in->offset;
	return (uint32_t)(((const uint32_t *)(const void *)(base[a->base] +
	    a->at))[lane] + (uint32_t)in->offset);
}

/* A parameter is the same for all lanes. */
static void
load_parameter(struct warp *w, struct frame *f,
    const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask, size_t bytes)
{
	const unsigned char *from = ptx_reach(w, f, in, 0, (uint64_t)
	    in->offset, bytes, READ, NULL);

	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1)
			load_lane(in, base, i, from);
}

static void
load(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	const size_t bytes = ptx_type_bytes[in->type] * (size_t)(in->vector
	    ? in->vector : 1);

	if (in->space == SPACE_PARAM && in->operand[1].base == BASE_NONE) {
		load_parameter(w, f, in, base, mask, bytes);
		return;
	}
	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1)
			load_lane(in, base, i, ptx_reach(w, f, in, i,
			    ptx_address_of(f, in, base, i), bytes, READ,
			    NULL));
}

/* In one access: the host may read it meanwhile, as it does a post. */
static void
put(unsigned char *to, const unsigned char *value, size_t bytes)
{
	switch (bytes) {
	case 1:
		__atomic_store_n(to, *value, __ATOMIC_RELEASE);
		break;
	case 2:
		__atomic_store_n((uint16_t *)(void *)to,
		    *(const uint16_t *)(const void *)value, __ATOMIC_RELEASE);
		break;
	case 4:
		__atomic_store_n((uint32_t *)(void *)to,
		    *(const uint32_t *)(const void *)value, __ATOMIC_RELEASE);
		break;
	case 8:
		__atomic_store_n((uint64_t *)(void *)to,
		    *(const uint64_t *)(const void *)value, __ATOMIC_RELEASE);
		break;
	default:
		memcpy(to, value, bytes);
		break;
	}
}

static void
store(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	const size_t bytes = ptx_type_bytes[in->type];
	const size_t count = in->vector ? in->vector : 1;

	for (int i = 0; i < LANES; i++) {
		_Alignas(16) unsigned char value[32];
		unsigned char *to;

		if (!(mask >> i & 1))
			continue;
		for (size_t k = 0; k < count; k++) {
			const uint64_t x = lane_value(base, &in->part[k], i);

			memcpy(value + k * bytes, &x, bytes);
		}
		to = ptx_reach(w, f, in, i, ptx_address_of(f, in, base, i),
		    bytes * count, WRITE, value);
		if (to && !((uintptr_t)to & (bytes * count - 1)))
			put(to, value, bytes * count);
		else if (to)
			memcpy(to, value, bytes * count);
	}
}

void
ptx_access(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	if (in->space <= SPACE_CONST)
		w->block->bytes += (uint64_t)(unsigned)
		    __builtin_popcount(mask) * ptx_type_bytes[in->type] *
		    (in->vector ? in->vector : 1u);
	w->rounds.changed |= in->op == OP_st && in->space != SPACE_ARGUMENT;
	if (in->op == OP_st)
		store(w, f, in, base, mask);
	else if (in->op == OP_atom || in->op == OP_red)
		ptx_atomic(w, f, in, base, mask);
	else
		load(w, f, in, base, mask);
}
