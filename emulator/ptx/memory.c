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

static void
load_lane(const struct ptx_instruction *in, unsigned char *const base[4],
    int lane, const unsigned char *from)
{
	const size_t bytes = ptx_type_bytes[in->type];
	const int count = in->vector ? in->vector : 1;

	for (int k = 0; k < count; k++) {
		uint64_t x = 0;

		if (from)
			memcpy(&x, from + (size_t)k * bytes, bytes);
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

/* The address is in a register of 64 bits, and nothing is checked. */
static bool
is_plain(const struct warp *w, const struct ptx_instruction *in)
{
	return !w->block->launch->checks && in->space <= SPACE_CONST &&
	    !in->vector && in->operand[1].width == 8;
}

/* Whether no lane's address needs a closer look: with bounds, all are aligned
 * and in the region that was used last. */
static bool
is_good(const struct warp *w, const struct ptx_instruction *in,
    const uint64_t *a, uint32_t mask, size_t bytes)
{
	const struct launch *l = w->block->launch;
	uint64_t low = UINT64_MAX, high = 0, any = 0;

	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1) {
			const uint64_t at = a[i] + (uint64_t)in->offset;

			low = at < low ? at : low;
			high = at > high ? at : high;
			any |= at;
		}
	if (!l->options->bounds)
		return low >= LOWEST;
	return l->last && low >= l->last->low && high < l->last->high &&
	    bytes <= l->last->high - high && !(any & (bytes - 1));
}

#define PLAIN_LOAD(T) do { \
	T *const to = (T *)(void *)(base[BASE_FRAME] + in->part[0].at); \
 \
	for (int i = 0; i < LANES; i++) \
		if (mask >> i & 1) \
			to[i] = *(const T *)(uintptr_t)(a[i] + \
			    (uint64_t)in->offset); \
	} while (0)

/* False: use the general way, which also reports bad addresses. */
static bool
load_plainly(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask, size_t bytes)
{
	const uint64_t *const a = (const uint64_t *)(const void *)
	    (base[in->operand[1].base] + in->operand[1].at);

	if (in->part[0].base != BASE_FRAME || in->part[0].width != bytes ||
	    (bytes != 4 && bytes != 8))
		return false;
	if (!is_good(w, in, a, mask, bytes))
		return false;
	if (bytes == 4)
		PLAIN_LOAD(uint32_t);
	else
		PLAIN_LOAD(uint64_t);
	return true;
}

static bool
store_plainly(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask, size_t bytes)
{
	const uint32_t *const x = (const uint32_t *)(const void *)
	    (base[in->part[0].base] + in->part[0].at);
	const uint64_t *const a = (const uint64_t *)(const void *)
	    (base[in->operand[1].base] + in->operand[1].at);

	if (bytes != 4 || in->part[0].width != 4)
		return false;
	if (!is_good(w, in, a, mask, bytes))
		return false;
	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1)
			*(uint32_t *)(uintptr_t)(a[i] + (uint64_t)in->offset) =
			    x[i];
	return true;
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
	if (is_plain(w, in) && load_plainly(w, in, base, mask, bytes))
		return;
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
	case 2:
		*(volatile uint16_t *)(void *)to =
		    *(const uint16_t *)(const void *)value;
		break;
	case 4:
		*(volatile uint32_t *)(void *)to =
		    *(const uint32_t *)(const void *)value;
		break;
	case 8:
		*(volatile uint64_t *)(void *)to =
		    *(const uint64_t *)(const void *)value;
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

	if (is_plain(w, in) && store_plainly(w, in, base, mask, bytes))
		return;
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
		w->block->launch->result->bytes += (uint64_t)(unsigned)
		    __builtin_popcount(mask) * ptx_type_bytes[in->type] *
		    (in->vector ? in->vector : 1u);
	if (in->op == OP_st)
		store(w, f, in, base, mask);
	else if (in->op == OP_atom || in->op == OP_red)
		ptx_atomic(w, f, in, base, mask);
	else
		load(w, f, in, base, mask);
}
