/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/cast.h -- numbers, once, for both sides: their bits, casts,
 * exponents and what those make of alpha.
 *
 * The GPU and its CPU twins compile these bodies, so they agree bit for bit:
 * integer operations, products with powers of two, and one conversion per
 * format. No libm, no fused multiply-add (the CPU side is built with
 * -ffp-contract=off), no flush to zero. Not for anyone else: kernels.h and the
 * headers of the folders are the room's interfaces. */
#ifndef AC_KERNELS_CAST_H
#define AC_KERNELS_CAST_H

#include "kernels/load/kernels.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* AC_CAST_ROLLED: before a loop that gains nothing from being unrolled. The
 * text of the kernels is part of the library. */
#ifdef __CUDACC__
#define AC_CAST_BODY static __device__ __forceinline__
#define AC_CAST_ROLLED _Pragma("unroll 1")
#else
#define AC_CAST_BODY static inline
#define AC_CAST_ROLLED
#endif

/* The host compiler writes it, the GPU reads it. */
static_assert(sizeof(struct ac_cast_scalar) == 16, "scalar layout");

/* Threads per block, of most kernels; of a warp. */
enum { AC_CAST_BLOCK = 256, AC_CAST_LANES = 32 };

enum {
	AC_CAST_INF     = 0x7f800000, /* bits of FP32 infinity */
	AC_CAST_MAX     = 0x7f7fffff, /* bits of FLT_MAX */
	AC_CAST_NAN16   = 0x7fff      /* the NaN that cvt.rn.{f16,bf16} makes */
};

AC_CAST_BODY uint32_t
ac_cast_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

AC_CAST_BODY float
ac_cast_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

AC_CAST_BODY int32_t
ac_cast_clz(uint32_t bits)
{
#ifdef __CUDACC__
	return __clz((int)bits);
#else
	return __builtin_clz(bits);
#endif
}

/* floor(log2) of a finite positive float, subnormals included. */
AC_CAST_BODY int32_t
ac_cast_log2(uint32_t magnitude)
{
	if (magnitude >> 23)
		return (int32_t)(magnitude >> 23) - 127;
	return 31 - ac_cast_clz(magnitude) - 149;
}

/* FP32 to FP16, nearest even: beyond 65520 infinity, subnormals honoured. */
AC_CAST_BODY uint16_t
ac_cast_fp16(float x)
{
#ifdef __CUDACC__
	uint16_t to;

	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to) : "f"(x));
	return to;
#else
	const uint32_t bits = ac_cast_bits(x), sign = bits >> 16 & 0x8000;
	uint32_t m = bits & 0x7fffffff, shift;

	if (m > AC_CAST_INF)
		return AC_CAST_NAN16;
	if (m >= 0x477ff000) /* 65520: halfway to 2^16 */
		return (uint16_t)(sign | 0x7c00);
	if (m >= 0x38800000) { /* 2^-14, the smallest normal */
		m -= (uint32_t)(127 - 15) << 23;
		return (uint16_t)(sign | (m + 0xfff + (m >> 13 & 1)) >> 13);
	}
	if (m < 0x33000000) /* 2^-25: less than half the smallest */
		return (uint16_t)sign;
	shift = 126 - (m >> 23);
	m = (m & 0x7fffff) | 0x800000;
	m += (1u << (shift - 1)) - 1 + (m >> shift & 1);
	return (uint16_t)(sign | m >> shift);
#endif
}

/* A number, not a NaN, to BF16, nearest even. In integers on both sides:
 * cvt.rn.bf16.f32 needs sm_80, and gives the same bits. */
AC_CAST_BODY uint16_t
ac_cast_finite_bf16(float x)
{
	const uint32_t bits = ac_cast_bits(x);

	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

AC_CAST_BODY uint16_t
ac_cast_bf16(float x)
{
	if ((ac_cast_bits(x) & 0x7fffffff) > AC_CAST_INF)
		return AC_CAST_NAN16;
	return ac_cast_finite_bf16(x);
}

/* FP16 to FP32, exactly. */
AC_CAST_BODY float
ac_cast_widen_fp16(uint16_t from)
{
#ifdef __CUDACC__
	float to;

	asm("cvt.f32.f16 %0, %1;" : "=f"(to) : "h"(from));
	return to;
#else
	const uint32_t sign = (uint32_t)(from & 0x8000) << 16;
	const uint32_t m = from & 0x7fff;

	if (m >= 0x7c00)
		return ac_cast_float(sign | AC_CAST_INF | (m & 0x3ff) << 13);
	if (m >= 0x400)
		return ac_cast_float(sign | ((m << 13) + (112u << 23)));
	return ac_cast_float(sign | ac_cast_bits((float)m * 0x1p-24f));
#endif
}

AC_CAST_BODY bool
ac_cast_is_finite(float x)
{
	return (ac_cast_bits(x) & AC_CAST_INF) != AC_CAST_INF;
}

AC_CAST_BODY float
ac_cast_absolute(float x)
{
	return ac_cast_float(ac_cast_bits(x) & 0x7fffffff);
}

AC_CAST_BODY double
ac_cast_sqrt(double x)
{
#ifdef __CUDACC__
	return __dsqrt_rn(x);
#else
	return __builtin_sqrt(x);
#endif
}

/* The exponents in use and what they make of alpha. */
struct ac_cast_scale {
	int32_t  exponent[2];
	float    alpha;
};

/* By `excess` in all, half each (operand 0 takes the odd one): what the
 * operands lose at the small end is then the least. */
AC_CAST_BODY void
ac_cast_lower(int32_t excess, struct ac_cast_scale *scale)
{
	scale->exponent[0] -= excess - excess / 2;
	scale->exponent[1] -= excess / 2;
}

/* What follows from the exponents one would like, and alpha: both are lowered,
 * half each, until alpha 2^-(e0 + e1) is normal; what is then beyond FLT_MAX is
 * that. */
AC_CAST_BODY struct ac_cast_scale
ac_cast_scale_from(int32_t exponent0, int32_t exponent1, float alpha)
{
	const uint32_t bits = ac_cast_bits(alpha), sign = bits & 0x80000000;
	const uint32_t magnitude = bits & 0x7fffffff;
	struct ac_cast_scale scale;
	int32_t to, log2;

	scale.exponent[0] = exponent0;
	scale.exponent[1] = exponent1;
	scale.alpha = alpha;
	if (!magnitude || magnitude >= AC_CAST_INF)
		return scale; /* 0, inf and NaN times any power of two */
	log2 = ac_cast_log2(magnitude);
	to = log2 - scale.exponent[0] - scale.exponent[1];
	if (to < -126) {
		ac_cast_lower(-126 - to, &scale);
		to = -126;
	}
	if (to > 127) {
		scale.alpha = ac_cast_float(sign | AC_CAST_MAX);
		return scale;
	}
	/* alpha's own fraction, a subnormal's shifted up to 24 bits. */
	scale.alpha = ac_cast_float(sign | (uint32_t)(to + 127) << 23 |
	    ((magnitude >> 23 ? magnitude : magnitude << (-126 - log2)) &
	    0x7fffff));
	return scale;
}

AC_CAST_BODY float
ac_cast_scalar_read(const struct ac_cast_scalar *scalar)
{
	return scalar->device ? *scalar->device : scalar->value;
}

#endif
