/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/bits.c -- bits of two or three words: funnel shifts, tables
 * of truth, permutations of bytes. */
#include "emulator/ptx/lanes.h"

static uint32_t
byte_of(uint64_t x, uint32_t selector)
{
	uint32_t byte = (uint32_t)(x >> 8 * (selector & 7)) & 255;

	return selector & 8 ? byte & 128 ? 255 : 0 : byte;
}

static uint32_t
permute(uint32_t a, uint32_t b, uint32_t c, int mode)
{
	const uint64_t x = (uint64_t)b << 32 | a;
	uint32_t s = 0;

	for (uint32_t i = 0; i < 4; i++) {
		uint32_t n = c & 3, k;

		switch (mode) {
		case MODE_F4E: k = n + i; break;
		case MODE_B4E: k = n - i; break;
		case MODE_RC8: k = n; break;
		case MODE_ECL: k = i > n ? i : n; break;
		case MODE_ECR: k = i < n ? i : n; break;
		case MODE_RC16: k = (n & 1) * 2 + (i & 1); break;
		default: k = c >> 4 * i & 15; break;
		}
		if (mode == MODE_F4E || mode == MODE_B4E)
			k &= 7;
		s |= byte_of(x, k) << 8 * i;
	}
	return s;
}

static uint32_t
truth(uint32_t a, uint32_t b, uint32_t c, unsigned table)
{
	uint32_t r = 0;

	if (table & 0x01) r |= ~a & ~b & ~c;
	if (table & 0x02) r |= ~a & ~b & c;
	if (table & 0x04) r |= ~a & b & ~c;
	if (table & 0x08) r |= ~a & b & c;
	if (table & 0x10) r |= a & ~b & ~c;
	if (table & 0x20) r |= a & ~b & c;
	if (table & 0x40) r |= a & b & ~c;
	if (table & 0x80) r |= a & b & c;
	return r;
}

/* Of two words side by side. */
static void
funnel(const struct lanes *l)
{
	const uint32_t *const x = S(uint32_t, 1), *const y = S(uint32_t, 2);
	const uint32_t *const z = S(uint32_t, 3);
	const bool wrap = l->in->combine == MODE_WRAP;

#define AMOUNT (wrap ? z[i] & 31 : z[i] > 32 ? 32 : z[i])
	if (l->in->mode == MODE_L)
		EACH(uint32_t, ((uint64_t)y[i] << 32 | x[i]) << AMOUNT >> 32);
	else
		EACH(uint32_t, ((uint64_t)y[i] << 32 | x[i]) >> AMOUNT);
#undef AMOUNT
}

bool
ptx_bits(const struct lanes *l)
{
	switch (l->in->op * T_TYPES + l->in->type) {
	case K(shf, B32):
		funnel(l);
		break;
	case K(lop3, B32): TERNARY(uint32_t, truth(x[i], y[i], z[i],
	    l->in->lut))
	case K(prmt, B32): TERNARY(uint32_t, permute(x[i], y[i], z[i],
	    l->in->mode))
	default: return false;
	}
	return true;
}
