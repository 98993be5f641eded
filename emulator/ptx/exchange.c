/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/exchange.c -- lanes that exchange values: shuffles, votes,
 * matches, sums. */
#include "emulator/ptx/run.h"

/* The lane that lane i reads; *good_out: it is within bounds. */
static int
source_of(int mode, int i, uint32_t b, uint32_t c, bool *good_out)
{
	const int segment = (int)(c >> 8 & 31), clamp = (int)(c & 31);
	const int most = (i & segment) | (clamp & ~segment);
	const int least = i & segment, away = (int)(b & 31);
	int j;

	switch (mode) {
	case MODE_UP: j = i - away; break;
	case MODE_DOWN: j = i + away; break;
	case MODE_BFLY: j = i ^ away; break;
	default: j = least | (away & ~segment); break;
	}
	*good_out = mode == MODE_UP ? j >= most : j <= most;
	return *good_out ? j : i;
}

static const uint32_t *
words_of(unsigned char *const base[4], const struct ptx_operand *o)
{
	return (const uint32_t *)(const void *)(base[o->base] + o->at);
}

static void
shuffle(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	const uint32_t *const value = words_of(base, &in->operand[1]);
	const uint32_t *const b = words_of(base, &in->operand[2]);
	const uint32_t *const c = words_of(base, &in->operand[3]);
	uint32_t result[LANES], within = 0;

	for (int i = 0; i < LANES; i++) {
		bool good;
		const int j = source_of(in->mode, i, b[i], c[i], &good);

		within |= (uint32_t)good << i;
		result[i] = mask >> j & 1 ? value[j] : 0;
		/* Undefined by the ISA. Programs that do it and work by luck
		 * need zero. */
		if (mask >> i & 1 && !(mask >> j & 1))
			ptx_found(w, in, i, PTX_SOURCE_LANE, "lane %d does "
			    "not take part", j);
	}
	for (int i = 0; i < LANES && in->operand[0].base == BASE_FRAME; i++)
		if (mask >> i & 1)
			((uint32_t *)(void *)(base[BASE_FRAME] +
			    in->operand[0].at))[i] = result[i];
	set_predicate(base, &in->second, mask, within);
}

static void
vote(const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask, uint32_t members)
{
	const uint32_t yes = predicate(base, &in->operand[1]) & mask & members;
	const uint32_t all = mask & members;
	uint64_t value = 0;

	switch (in->mode) {
	case MODE_ALL: value = yes == all; break;
	case MODE_ANY: value = yes != 0; break;
	case MODE_UNI: value = yes == all || !yes; break;
	default: value = yes; break;
	}
	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1)
			lane_store(base, &in->operand[0], i, value);
}

static void
match(const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask)
{
	uint64_t value[LANES];
	uint32_t same[LANES];

	for (int i = 0; i < LANES; i++)
		value[i] = lane_value(base, &in->operand[1], i);
	for (int i = 0; i < LANES; i++) {
		same[i] = 0;
		for (int j = 0; j < LANES; j++)
			if (mask >> j & 1 && value[i] == value[j])
				same[i] |= 1u << j;
	}
	for (int i = 0; i < LANES; i++) {
		if (!(mask >> i & 1))
			continue;
		if (in->mode == MODE_ALL) {
			const bool all = same[i] == mask;

			lane_store(base, &in->operand[0], i, all ? mask : 0);
			lane_store(base, &in->second, i, all);
		} else {
			lane_store(base, &in->operand[0], i, same[i]);
		}
	}
}

/* The lowest member is the leader. */
static void
elect(const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask, uint32_t members)
{
	const int leader = __builtin_ctz(mask & members ? mask & members
	    : mask);

	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1) {
			lane_store(base, &in->operand[0], i,
			    (uint64_t)leader);
			lane_store(base, &in->second, i, i == leader);
		}
}

static uint32_t
reduced(const struct ptx_instruction *in, uint32_t r, uint32_t x)
{
	const bool less = in->type == T_S32 ? (int32_t)r < (int32_t)x : r < x;

	switch (in->mode) {
	case MODE_ADD: return r + x;
	case MODE_AND: return r & x;
	case MODE_OR: return r | x;
	case MODE_XOR: return r ^ x;
	case MODE_MIN: return less ? r : x;
	default: return less ? x : r;
	}
}

static void
reduce(const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask)
{
	const int first = __builtin_ctz(mask);
	uint32_t r = (uint32_t)lane_value(base, &in->operand[1], first);

	for (int i = first + 1; i < LANES; i++)
		if (mask >> i & 1)
			r = reduced(in, r, (uint32_t)lane_value(base,
			    &in->operand[1], i));
	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1)
			lane_store(base, &in->operand[0], i, r);
}

void
ptx_exchange(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask, uint32_t members)
{
	if ((mask & members) != mask)
		ptx_found(w, in, __builtin_ctz(mask & ~members), PTX_MEMBERS,
		    "lanes %08x, members %08x", mask, members);
	switch (in->op) {
	case OP_shfl:
		shuffle(w, in, base, mask);
		break;
	case OP_vote:
		vote(in, base, mask, members);
		break;
	case OP_elect:
		elect(in, base, mask, members);
		break;
	case OP_match:
		match(in, base, mask);
		break;
	default:
		reduce(in, base, mask);
		break;
	}
}
