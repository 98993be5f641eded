/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/quick_choose.h -- a part of quick.h: QUICK() says which loop an
 * instruction has; NULL: none, it takes the general way. */
#ifndef AC_EMULATOR_PTX_QUICK_CHOOSE_H
#define AC_EMULATOR_PTX_QUICK_CHOOSE_H

#include "emulator/ptx/quick_memory.h"

/* Its result goes nowhere. */
QUICK_LOOP
do_nothing(ARGUMENTS)
{
	(void)w;
	(void)in;
	(void)base;
	(void)mask;
	return true;
}

static ptx_quick
choose_float(const struct ptx_instruction *in)
{
	const unsigned flags = in->flags;

	if (in->round > ROUND_RN && in->round <= ROUND_RP) {
#ifdef __SSE__
		if (in->type != T_F32 || flags & FLAG_SAT)
			return NULL;
		switch (in->op) {
		case OP_add: return add_directed;
		case OP_sub: return sub_directed;
		case OP_mul: return mul_directed;
		case OP_mad: case OP_fma: return fma_directed;
		default: return NULL;
		}
#else
		return NULL;
#endif
	}
	if (flags & (FLAG_NAN | FLAG_RELU))
		return NULL;
	switch (in->op * T_TYPES + in->type) {
#define CASE_FLOAT(op, e) case K(op, F32): return flags & FLAG_SAT \
	? op##_F32_sat : flags & FLAG_FTZ ? op##_F32_ftz : op##_F32;
#define CASE_DOUBLE(op, e) case K(op, F64): return op##_F64;
	FLOAT_ROWS(CASE_FLOAT)
	DOUBLE_ROWS(CASE_DOUBLE)
	default: return NULL;
	}
}

static ptx_quick
choose_product(const struct ptx_instruction *in)
{
	const bool adds = in->op == OP_mad;

	switch (in->type) {
#define CASE_PRODUCT(type, T, W, V, N) case T_##type: \
	return in->mode == MODE_WIDE ? adds ? mad_wide_##type \
	    : mul_wide_##type : in->mode == MODE_HI ? adds ? mad_hi_##type \
	    : mul_hi_##type : adds ? mad_lo_##type : mul_lo_##type;
	PRODUCT_ROWS(CASE_PRODUCT)
	case T_U64: case T_S64:
		return in->mode == MODE_HI ? NULL : adds ? mad_lo_B64
		    : mul_lo_B64;
	default: return NULL;
	}
}

/* As wide as the type, whatever is in them. */
static ptx_quick
choose_alike(const struct ptx_instruction *in)
{
	const int bytes = ptx_type_bytes[in->type];

#define BY_WIDTH(op) (bytes == 2 ? op##_B16 : bytes == 4 ? op##_B32 \
	: bytes == 8 ? op##_B64 : NULL)
#define CASE_ALIKE(op, e) case OP_##op: return BY_WIDTH(op);
	switch (in->op) {
	ALIKE_ROWS(CASE_ALIKE)
	case OP_selp: return BY_WIDTH(selp);
	default: return NULL;
	}
}

static ptx_quick
choose_integer(const struct ptx_instruction *in)
{
	if (in->op == OP_mul || in->op == OP_mad)
		return choose_product(in);
	switch (in->op * T_TYPES + in->type) {
#define CASE_SIGNED(op, e) \
	case K(op, U16): return op##_U16; case K(op, S16): return op##_S16; \
	case K(op, U32): return op##_U32; case K(op, S32): return op##_S32; \
	case K(op, U64): return op##_U64; case K(op, S64): return op##_S64;
#define CASE_SHIFT(op, type, T, e) case K(op, type): return op##_##type;
	SIGNED_ROWS(CASE_SIGNED)
	SHIFT_ROWS(CASE_SHIFT)
	case K(shr, B16): return shr_U16;
	case K(shr, B32): return shr_U32;
	case K(shr, B64): return shr_U64;
	case K(div, U32): return div_U32;
	case K(div, S32): return div_S32;
	case K(rem, U32): return rem_U32;
	case K(rem, S32): return rem_S32;
	default: return choose_alike(in);
	}
}

static ptx_quick
choose_compare(const struct ptx_instruction *in)
{
	switch (in->type) {
	case T_B16: case T_U16: return setp_U16;
	case T_S16: return setp_S16;
	case T_B32: case T_U32: return setp_U32;
	case T_S32: return setp_S32;
	case T_B64: case T_U64: return setp_U64;
	case T_S64: return setp_S64;
	case T_F32: return in->flags & FLAG_FTZ ? setp_F32_ftz : setp_F32;
	case T_F64: return setp_F64;
	default: return NULL;
	}
}

static ptx_quick
choose_predicate(const struct ptx_instruction *in)
{
	switch (in->op) {
	case OP_and: return and_PRED;
	case OP_or: return or_PRED;
	case OP_xor: return xor_PRED;
	case OP_not: return not_PRED;
	case OP_mov: return mov_PRED;
	default: return NULL;
	}
}

static ptx_quick
choose_convert(const struct ptx_instruction *in)
{
	const int round = in->round;

#define CASE_CONVERT(to, of, D, T, when, with, e) \
	if (in->type == T_##to && in->from == T_##of && (when) && \
	    in->flags == (with) && in->operand[0].width == sizeof(D) && \
	    in->operand[1].width == sizeof(T)) \
		return cvt_##to##_##of;
	CONVERT_ROWS(CASE_CONVERT)
	if (in->type == T_F32 && in->from == T_F32 && round == ROUND_NONE &&
	    in->flags == (FLAG_SAT | FLAG_FTZ))
		return cvt_F32_F32_ftz;
	return NULL;
}

static ptx_quick
choose_load(const struct ptx_instruction *in)
{
	const int bytes = ptx_type_bytes[in->type];
	const bool stores = in->op == OP_st;
	const struct ptx_operand *const a = &in->operand[1];
	const int parts = in->vector ? in->vector : 1;

	for (int k = 0; k < parts; k++)
		if (in->part[k].width != bytes || (!stores &&
		    in->part[k].base != BASE_FRAME))
			return NULL;
#define WAY(way) (bytes == 4 ? way##_B32 : bytes == 8 ? way##_B64 : NULL)
	if (in->flags & (FLAG_POLL | FLAG_RELEASE))
		return NULL;
	if (in->space == SPACE_PARAM && a->base == BASE_NONE && !in->vector &&
	    !stores)
		return WAY(load_param);
	if (in->space == SPACE_SHARED && a->width == 4 && !in->vector &&
	    a->base != BASE_NONE)
		return stores ? WAY(store_shared) : WAY(load_shared);
	if (in->space > SPACE_CONST || a->width != 8 || a->base == BASE_NONE)
		return NULL;
	if (in->vector)
		return stores ? WAY(store_vector) : WAY(load_vector);
	if (bytes == 2)
		return stores ? store_B16 : load_B16;
	return stores ? WAY(store) : WAY(load);
}

static ptx_quick
choose_arithmetic(const struct ptx_instruction *in)
{
	if (in->type == T_PRED)
		return choose_predicate(in);
	if (in->op == OP_mov || in->op == OP_selp)
		return choose_alike(in);
	if (in->type == T_F32 || in->type == T_F64)
		return choose_float(in);
	if (in->type == T_U16X2 || in->type == T_S16X2 || is_float(in->type) ||
	    in->type == T_F16X2 || in->type == T_BF16X2 ||
	    in->flags & (FLAG_SAT | FLAG_RELU))
		return NULL;
	return choose_integer(in);
}

ptx_quick
QUICK(const struct ptx_instruction *in)
{
	ptx_quick loop;

	switch (in->op) {
	case OP_setp:
		return choose_compare(in);
	case OP_ld: case OP_st:
		return choose_load(in);
	case OP_cvt:
		loop = choose_convert(in);
		break;
	default:
		loop = in->flags & FLAG_CC ? NULL : choose_arithmetic(in);
		break;
	}
	return loop && in->operand[0].base != BASE_FRAME ? do_nothing : loop;
}

#endif
