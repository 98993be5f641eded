/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/lanes.c -- one instruction for all lanes: chooses the file that
 * does it, and applies .ftz and .sat. */
#include "emulator/ptx/lanes.h"

static void
flush_operands(struct lanes *l, float flushed[OPERANDS][LANES])
{
	for (int k = 1; k < OPERANDS; k++) {
		if (l->in->operand[k].width != 4)
			continue;
		for (int i = 0; i < LANES; i++)
			flushed[k][i] = flush(S(float, k)[i]);
		l->p[k] = (unsigned char *)flushed[k];
	}
}

static void
finish_result(const struct lanes *l)
{
	const bool sat = l->in->flags & FLAG_SAT;
	const bool ftz = l->in->flags & FLAG_FTZ;
	float *const r = (float *)(void *)l->d;

	for (int i = 0; i < LANES; i++) {
		if (!(l->mask >> i & 1))
			continue;
		if (ftz)
			r[i] = flush(r[i]);
		if (sat)
			r[i] = r[i] > 0 ? r[i] < 1 ? r[i] : 1 : 0;
	}
}

static bool
by_type(const struct lanes *l)
{
	switch (l->in->type) {
	case T_F32: case T_F64:
		return ptx_float(l);
	case T_F16: case T_BF16: case T_F16X2: case T_BF16X2:
		return ptx_half(l);
	default:
		return ptx_integer(l);
	}
}

static void
work_out(const struct lanes *l)
{
	const struct ptx_instruction *in = l->in;

	switch (in->op) {
	case OP_setp: case OP_set:
		ptx_compare(l);
		return;
	case OP_cvt:
		ptx_convert(l);
		return;
	case OP_addc: case OP_subc: case OP_madc:
		ptx_carry(l);
		return;
	case OP_and: case OP_or: case OP_xor: case OP_not: case OP_cnot:
	case OP_lop3: case OP_shf: case OP_shl: case OP_shr: case OP_mov:
	case OP_prmt: case OP_selp:
		if (ptx_bits(l))
			return;
		break;
	default:
		if (in->flags & FLAG_CC) {
			ptx_carry(l);
			return;
		}
		if (in->round > ROUND_RN && in->round <= ROUND_RP) {
			ptx_directed(l);
			return;
		}
		if (by_type(l))
			return;
		break;
	}
	ptx_rare(l);
}

void
ptx_lanes(struct warp *w, const struct ptx_instruction *in,
    unsigned char *const base[4], uint32_t mask)
{
	unsigned char scratch[LANES * 16];
	float flushed[OPERANDS][LANES];
	struct lanes l = { .w = w, .in = in, .base = base, .mask = mask };
	const bool narrow = (in->op == OP_set ? in->from : in->type) ==
	    T_F32 && in->op != OP_slct && in->flags & (FLAG_FTZ |
	    FLAG_SAT) && in->op != OP_cvt;

	if (in->quick) {
		(void)in->quick(w, in, base, mask);
		return;
	}
	for (int k = 0; k < OPERANDS; k++)
		l.p[k] = base[in->operand[k].base] + in->operand[k].at;
	l.d = in->operand[0].base == BASE_FRAME ? l.p[0] : scratch;
	if (narrow && in->flags & FLAG_FTZ)
		flush_operands(&l, flushed);
	work_out(&l);
	if (narrow && in->op != OP_setp && in->op != OP_set &&
	    in->op != OP_testp)
		finish_result(&l);
}
