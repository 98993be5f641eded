/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/quick.h -- the common instructions, each as one plain loop over
 * 32 lanes. Compiled once for any processor (quick.c) and once for processors
 * with AVX2 (wide.c), with its parts, of which quick_choose.h is the last.
 *
 * IEEE operations round exactly (compile without fused products). */
#ifndef AC_EMULATOR_PTX_QUICK_H
#define AC_EMULATOR_PTX_QUICK_H

#include "emulator/ptx/number.h"
#include "emulator/ptx/run.h"

#ifdef __clang__
#define IVDEP
#else
#define IVDEP _Pragma("GCC ivdep")
#endif
#define K(op, type) (OP_##op * T_TYPES + T_##type)
#define QUICK_LOOP __attribute__((unused)) static bool
#define ARGUMENTS struct warp *w, const struct ptx_instruction *in, \
	unsigned char *const base[4], uint32_t mask
#define PASS w, in, base, mask
#define FROM(T, k) ((const T *)(const void *)(base[in->operand[k].base] + \
	in->operand[k].at))

/* One row: the result has type D, the operands x, y, z types T, U, V. */
#define LOOP(D, T, U, V, before, e) do { \
	D *const d_ = (D *)(void *)(base[BASE_FRAME] + in->operand[0].at); \
	const T *const x_ = FROM(T, 1); \
	const U *const y_ = FROM(U, 2); \
	const V *const z_ = FROM(V, 3); \
 \
	(void)w; \
	(void)y_; \
	(void)z_; \
	if (mask == UINT32_MAX) { \
		IVDEP for (int i = 0; i < LANES; i++) { \
			before(x, T) before(y, U) before(z, V) \
			d_[i] = (D)(e); \
		} \
	} else { \
		IVDEP for (int i = 0; i < LANES; i++) { \
			before(x, T) before(y, U) before(z, V) \
			const D v_ = (D)(e); \
			d_[i] = mask >> i & 1 ? v_ : d_[i]; \
		} \
	} \
	return true; } while (0)
#define AS_IT_IS(x, T) const T x = x##_[i]; (void)x;
#define FLUSHED(x, T) const T x = flush(x##_[i]); (void)x;

/* ---- FP32, FP64 -------------------------------------------------------- */

#define FLOAT_ROWS(X) \
	X(add, c32(x + y)) \
	X(sub, c32(x - y)) \
	X(mul, c32(x * y)) \
	X(mad, c32(__builtin_fmaf(x, y, z))) \
	X(fma, c32(__builtin_fmaf(x, y, z))) \
	X(div, c32(x / y)) \
	X(rcp, c32(1 / x)) \
	X(sqrt, c32(__builtin_sqrtf(x))) \
	X(min, min32(x, y)) \
	X(max, max32(x, y)) \
	X(neg, f32_of(bits_of(x) ^ 0x80000000)) \
	X(abs, f32_of(bits_of(x) & 0x7fffffff)) \
	X(copysign, f32_of((bits_of(x) & 0x80000000) | \
	    (bits_of(y) & 0x7fffffff)))
#define DOUBLE_ROWS(X) \
	X(add, c64(x + y)) \
	X(sub, c64(x - y)) \
	X(mul, c64(x * y)) \
	X(mad, c64(__builtin_fma(x, y, z))) \
	X(fma, c64(__builtin_fma(x, y, z))) \
	X(div, c64(x / y)) \
	X(rcp, c64(1 / x)) \
	X(sqrt, c64(__builtin_sqrt(x))) \
	X(min, min64(x, y)) \
	X(max, max64(x, y)) \
	X(neg, f64_of(bits_of64(x) ^ 1ull << 63)) \
	X(abs, f64_of(bits_of64(x) & ~(1ull << 63))) \
	X(copysign, f64_of((bits_of64(x) & 1ull << 63) | \
	    (bits_of64(y) & ~(1ull << 63))))

/* As it is; with .ftz; with .sat, with .ftz or not. */
#define FLOAT(op, e) \
QUICK_LOOP \
op##_F32(ARGUMENTS) \
{ \
	LOOP(float, float, float, float, AS_IT_IS, e); \
} \
QUICK_LOOP \
op##_F32_ftz(ARGUMENTS) \
{ \
	LOOP(float, float, float, float, FLUSHED, flush(e)); \
} \
QUICK_LOOP \
op##_F32_sat(ARGUMENTS) \
{ \
	if (in->flags & FLAG_FTZ) \
		LOOP(float, float, float, float, FLUSHED, \
		    saturated32(flush(e))); \
	LOOP(float, float, float, float, AS_IT_IS, saturated32(e)); \
}
FLOAT_ROWS(FLOAT)

#define DOUBLE(op, e) \
QUICK_LOOP \
op##_F64(ARGUMENTS) \
{ \
	LOOP(double, double, double, double, AS_IT_IS, e); \
}
DOUBLE_ROWS(DOUBLE)

/* ---- Integers and bits ------------------------------------------------- */

/* What is the same with a sign and without. */
#define ALIKE_ROWS(X) \
	X(add, x + y) X(sub, x - y) X(and, x & y) X(or, x | y) X(xor, x ^ y) \
	X(not, ~x) X(cnot, !x) X(mov, x) X(neg, 0 - x)
#define SIGNED_ROWS(X) \
	X(min, x < y ? x : y) X(max, x > y ? x : y)
/* Of N bits; shr differs. */
#define SHIFT_ROWS(X) \
	X(shl, B16, uint16_t, y > 15 ? 0 : x << y) \
	X(shl, B32, uint32_t, y > 31 ? 0 : x << (y & 31)) \
	X(shl, B64, uint64_t, y > 63 ? 0 : x << (y & 63)) \
	X(shr, U16, uint16_t, y > 15 ? 0 : x >> y) \
	X(shr, U32, uint32_t, y > 31 ? 0 : x >> (y & 31)) \
	X(shr, U64, uint64_t, y > 63 ? 0 : x >> (y & 63)) \
	X(shr, S16, int16_t, x >> (y > 15 ? 15 : y)) \
	X(shr, S32, int32_t, x >> (y > 31 ? 31 : y)) \
	X(shr, S64, int64_t, x >> (y > 63 ? 63 : y))
/* W holds a product, V is W without a sign: a wide mad goes around. */
#define PRODUCT_ROWS(X) \
	X(U16, uint16_t, uint32_t, uint32_t, 16) \
	X(S16, int16_t, int32_t, uint32_t, 16) \
	X(U32, uint32_t, uint64_t, uint64_t, 32) \
	X(S32, int32_t, int64_t, uint64_t, 32)

#define ROW(name, D, T, U, V, e) \
QUICK_LOOP \
name(ARGUMENTS) \
{ \
	LOOP(D, T, U, V, AS_IT_IS, e); \
}
#define ALIKE(op, e) \
	ROW(op##_B16, uint16_t, uint16_t, uint16_t, uint16_t, e) \
	ROW(op##_B32, uint32_t, uint32_t, uint32_t, uint32_t, e) \
	ROW(op##_B64, uint64_t, uint64_t, uint64_t, uint64_t, e)
#define SIGNED(op, e) \
	ROW(op##_U16, uint16_t, uint16_t, uint16_t, uint16_t, e) \
	ROW(op##_S16, int16_t, int16_t, int16_t, int16_t, e) \
	ROW(op##_U32, uint32_t, uint32_t, uint32_t, uint32_t, e) \
	ROW(op##_S32, int32_t, int32_t, int32_t, int32_t, e) \
	ROW(op##_U64, uint64_t, uint64_t, uint64_t, uint64_t, e) \
	ROW(op##_S64, int64_t, int64_t, int64_t, int64_t, e)
#define SHIFT(op, type, T, e) ROW(op##_##type, T, T, uint32_t, uint32_t, e)
#define PRODUCT(type, T, W, V, N) \
	ROW(mul_lo_##type, T, T, T, T, (W)x * (W)y) \
	ROW(mul_hi_##type, T, T, T, T, (W)x * (W)y >> N) \
	ROW(mul_wide_##type, W, T, T, T, (W)x * (W)y) \
	ROW(mad_lo_##type, T, T, T, T, (V)((W)x * (W)y) + (V)z) \
	ROW(mad_hi_##type, T, T, T, T, ((W)x * (W)y >> N) + (W)z) \
	ROW(mad_wide_##type, W, T, T, W, (V)((W)x * (W)y) + (V)z)
#define SELECT(bits, T) \
QUICK_LOOP \
selp_##bits(ARGUMENTS) \
{ \
	const uint32_t c = predicate(base, &in->operand[3]); \
 \
	LOOP(T, T, T, T, AS_IT_IS, c >> i & 1 ? x : y); \
}
SELECT(B16, uint16_t)
SELECT(B32, uint32_t)
SELECT(B64, uint64_t)
ALIKE_ROWS(ALIKE)
SIGNED_ROWS(SIGNED)
SHIFT_ROWS(SHIFT)
PRODUCT_ROWS(PRODUCT)
#define DIVIDE(type, T, q) \
	ROW(div_##type, T, T, T, T, q) \
	ROW(rem_##type, T, T, T, T, y ? (uint32_t)x - (uint32_t)(q) * \
	    (uint32_t)y : (uint32_t)x)
/* A quotient of doubles is off by less than 1 / y. By zero: all ones, as GPUs
 * do; the ISA leaves it open. */
DIVIDE(U32, uint32_t, y ? (uint32_t)((double)x / (double)(y ? y : 1))
    : UINT32_MAX)
DIVIDE(S32, int32_t, y == 0 ? -1 : y == -1 ? (int32_t)(0 - (uint32_t)x)
    : (int32_t)((double)x / (double)(y == 0 || y == -1 ? 1 : y)))
ROW(mul_lo_B64, uint64_t, uint64_t, uint64_t, uint64_t, x * y)
ROW(mad_lo_B64, uint64_t, uint64_t, uint64_t, uint64_t, x * y + z)

#endif
