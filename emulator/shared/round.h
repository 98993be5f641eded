/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/shared/round.h -- FP32 to narrower formats and back, in integer
 * arithmetic: to nearest, ties to even; subnormals are kept; NaN stays NaN, and
 * what is too large becomes infinite. Also the FPU's own mode. */
#ifndef AC_EMULATOR_ROUND_H
#define AC_EMULATOR_ROUND_H

#include "emulator/driver/emu.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* The program's rounding and denormal modes, which its threads inherit, must
 * not change what a device computes. So emu_float_mode(EMU_FLOAT_MODE) comes
 * before a computation, and emu_float_mode() of what that returned after it. */
enum { EMU_FLOAT_MODE = 0x1f80 };

static inline unsigned
emu_float_mode(unsigned mode)
{
#if defined(__x86_64__)
	const unsigned before = _mm_getcsr();

	_mm_setcsr(mode);
	return before;
#else
	return mode;
#endif
}

static inline uint32_t
emu_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline float
emu_from_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* Round away the last `drop` bits of the mantissa. */
static inline float
emu_round_mantissa(float x, int drop)
{
	uint32_t bits = emu_bits(x);

	if ((bits & 0x7fffffff) >= 0x7f800000)
		return x;
	bits += (1u << (drop - 1)) - 1 + (bits >> drop & 1);
	return emu_from_bits(bits & ~((1u << drop) - 1));
}

static inline float
emu_round_tf32(float x)
{
	return emu_round_mantissa(x, 13);
}

static inline float
emu_round_bf16(float x)
{
	return emu_round_mantissa(x, 16);
}

static inline uint16_t
emu_to_bf16(float x)
{
	return x != x ? 0x7fff : (uint16_t)(emu_bits(emu_round_bf16(x)) >> 16);
}

static inline float
emu_from_bf16(uint16_t x)
{
	return emu_from_bits((uint32_t)x << 16);
}

static inline uint16_t
emu_to_fp16(float x)
{
	const uint32_t sign = emu_bits(x) >> 16 & 0x8000;
	const uint32_t bits = emu_bits(x) & 0x7fffffff;
	uint32_t half;

	if (bits > 0x7f800000)
		return 0x7fff;
	if (bits >= 0x477ff000) /* from 65520 on */
		return (uint16_t)(sign | 0x7c00);
	if (bits >= 0x38800000) { /* normal: from 2^-14 on */
		half = bits - 0x38000000;
		return (uint16_t)(sign |
		    (half + 0xfff + (half >> 13 & 1)) >> 13);
	}
	/* The FPU rounds at 2^-24: one is 2^23 of those. */
	return (uint16_t)(sign |
	    (emu_bits(emu_from_bits(bits) + 0.5f) - 0x3f000000));
}

static inline float
emu_from_fp16(uint16_t x)
{
	const uint32_t sign = (uint32_t)(x & 0x8000) << 16;
	const uint32_t rest = x & 0x7fff;

	if (rest >= 0x7c00)
		return emu_from_bits(sign | 0x7f800000 |
		    (rest & 0x3ff) << 13);
	if (rest >= 0x400)
		return emu_from_bits(sign | ((rest << 13) + 0x38000000));
	return emu_from_bits(sign |
	    emu_bits((float)rest * 0x1p-24f));
}

/* x rounded to this format; FP32 and FP64 leave it alone. */
static inline float
emu_round(float x, enum emu_rate format)
{
	switch (format) {
	case EMU_TF32:
		return emu_round_tf32(x);
	case EMU_BF16:
		return emu_round_bf16(x);
	case EMU_FP16:
		return emu_from_fp16(emu_to_fp16(x));
	default:
		return x;
	}
}

#endif
