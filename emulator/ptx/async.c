/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/async.c -- cp.async, which copies at once; mbarriers, which
 * count arrivals in a word of shared memory.
 *
 * How the word is laid out is not specified. Here: arrivals that this phase
 * still needs, in 20 bits; those that each phase needs, in 20; bytes of
 * transactions that are still to come, in 23; and the parity of the phase. */
#include "emulator/ptx/run.h"

enum { COUNT = 20, MOST = (1 << COUNT) - 1, BYTES = 23,
	MOST_BYTES = (1 << BYTES) - 1 };

struct phase {
	uint32_t pending, wanted;
	uint32_t bytes;         /* modulo 2^23 */
	bool     parity;
};

static struct phase
unpacked(uint64_t x)
{
	return (struct phase){ x & MOST, x >> COUNT & MOST,
		x >> 2 * COUNT & MOST_BYTES, x >> 63 };
}

static uint64_t
packed(struct phase p)
{
	return (p.pending & MOST) | (uint64_t)(p.wanted & MOST) << COUNT |
	    (uint64_t)(p.bytes & MOST_BYTES) << 2 * COUNT |
	    (uint64_t)p.parity << 63;
}

/* The next phase begins if nothing is missing. */
static void
complete(struct warp *w, struct phase *p)
{
	if (p->pending || p->bytes)
		return;
	p->pending = p->wanted;
	p->parity = !p->parity;
	/* What was done before is seen by whoever waits. */
	w->block->epoch++;
}

static void
arrive(struct warp *w, const struct ptx_instruction *in, int lane,
    struct phase *p, uint64_t count)
{
	if (in->combine == MODE_EXPECT) {
		p->bytes += (uint32_t)count;
		count = 1;
	}
	if (in->mode == MODE_DROP)
		p->wanted -= (uint32_t)count;
	if (count > p->pending)
		ptx_found(w, in, lane, PTX_MEMBERS, "%llu arrive where %u are "
		    "missing", (unsigned long long)count, p->pending);
	else
		p->pending -= (uint32_t)count;
	complete(w, p);
}

/* The instructions that change the word, or read it. Returns their result. */
static uint64_t
change(struct warp *w, const struct ptx_instruction *in, int lane,
    struct phase *p, uint64_t x, bool has_x)
{
	const uint64_t before = packed(*p);

	switch (in->mode) {
	case MODE_INIT:
		*p = (struct phase){ .pending = (uint32_t)x & MOST,
			.wanted = (uint32_t)x & MOST };
		return 0;
	case MODE_INVAL:
		*p = (struct phase){0};
		return 0;
	case MODE_EXPECT:
		p->bytes += (uint32_t)x;
		return 0;
	case MODE_COMPLETE:
		p->bytes -= (uint32_t)x;
		complete(w, p);
		return 0;
	case MODE_TEST: case MODE_TRY:
		return in->combine == MODE_PARITY ? p->parity != (x & 1)
		    : p->parity != unpacked(x).parity;
	case MODE_BARRIER:      /* of cp.async, whose copies are done */
		if (in->combine == MODE_NOINC)
			arrive(w, in, lane, p, 1);
		return 0;
	default:
		arrive(w, in, lane, p, has_x ? x : 1);
		return before;
	}
}

static void
barrier(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], int lane)
{
	const bool has_x = in->operand[2].base != BASE_NONE;
	const uint64_t x = has_x ? lane_value(base, &in->operand[2], lane) : 0;
	struct phase p;
	uint64_t word, result;
	unsigned char *at;

	if (in->mode == MODE_PENDING) {
		lane_store(base, &in->operand[0], lane, unpacked(
		    lane_value(base, &in->operand[1], lane)).pending);
		return;
	}
	at = ptx_reach_in(w, f, in, in->space, lane, ptx_address_of(f, in,
	    base, lane), sizeof word, in->mode == MODE_INIT ? WRITE : ATOMIC,
	    NULL);
	if (!at)
		return;
	memcpy(&word, at, sizeof word);
	p = unpacked(word);
	result = change(w, in, lane, &p, x, has_x);
	w->rounds.changed |= word != packed(p);
	word = packed(p);
	memcpy(at, &word, sizeof word);
	lane_store(base, &in->operand[0], lane, result);
	if (in->mode == MODE_TRY || in->mode == MODE_TEST)
		w->polls++;
}

/* The bytes that come from the source; the rest is zero. */
static size_t
bytes_to_read(const struct ptx_instruction *in, unsigned char *const base[4],
    int lane, size_t bytes)
{
	const struct ptx_operand *o = &in->operand[3];
	uint64_t x;

	if (o->base == BASE_NONE)
		return bytes;
	x = lane_value(base, o, lane);
	if (!o->width)          /* a predicate: ignore the source */
		return x ? 0 : bytes;
	return x < bytes ? (size_t)x : bytes;
}

static void
copy(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], int lane)
{
	const struct ptx_operand *o = &in->operand[0];
	const uint64_t to = (o->base == BASE_NONE ? 0 : lane_value(base, o,
	    lane)) + (uint64_t)in->to_offset;
	const size_t bytes = (size_t)lane_value(base, &in->operand[2], lane);
	const size_t reads = bytes_to_read(in, base, lane, bytes);
	const uint64_t from = ptx_address_of(f, in, base, lane);
	_Alignas(16) unsigned char value[16] = {0};
	unsigned char *at;

	for (size_t i = 0; i < reads; i += reads == bytes ? bytes : 1) {
		const size_t size = reads == bytes ? bytes : 1;

		at = ptx_reach_in(w, f, in, SPACE_GLOBAL, lane, from + i,
		    size, READ, NULL);
		if (at)
			memcpy(value + i, at, size);
	}
	at = ptx_reach_in(w, f, in, SPACE_SHARED, lane, o->width == 8 ? to
	    : (uint32_t)to, bytes, WRITE, value);
	if (at)
		memcpy(at, value, bytes);
}

void
ptx_async(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	const bool is_copy = in->op == OP_cp && in->mode == MODE_NONE;

	if (in->mode == MODE_COMMIT || in->mode == MODE_WAIT ||
	    in->mode == MODE_WAIT_ALL)
		return;
	for (int i = 0; i < LANES; i++)
		if (mask >> i & 1 && is_copy)
			copy(w, f, in, base, i);
		else if (mask >> i & 1)
			barrier(w, f, in, base, i);
}
