/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/arithmetic/blocks.h -- one step of a Tensor Core, bit for bit.
 *
 * A Tensor Core adds `length` products at once to the sum so far: all are
 * aligned to the largest exponent among them, each is truncated to `fraction`
 * bits behind it, they are added exactly, and the result is truncated to FP32
 * [MMA-Sim, arXiv 2511.10909; arXiv 2512.07004], or rounded to FP16 where sums
 * are FP16. */
#ifndef AC_EMULATOR_ARITHMETIC_BLOCKS_H
#define AC_EMULATOR_ARITHMETIC_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* How an architecture adds products of one format. */
struct emu_blocks {
	int length;   /* products added at once; 0: one by one, by FMA */
	int fraction; /* bits kept behind the largest exponent */
	int least;    /* exponent of the format's subnormals */
};

enum { EMU_HOPPER = 90, EMU_TURING = 75 }; /* compute capability */
enum { EMU_FP16_LEAST = -14, EMU_FP32_LEAST = -126 };
/* The exponent of zero: never the largest one. */
enum { EMU_EXPONENT_OF_ZERO = -10000 };

/* Of FP16 and BF16 (`narrow`), and of TF32. `capability`: 90 is 9.0. */
static inline struct emu_blocks
emu_blocks_of_format(int capability, bool narrow, int least)
{
	if (capability >= EMU_HOPPER)
		return (struct emu_blocks){ narrow ? 16 : 8, 25, least };
	/* Turing has FP16 only. */
	if (capability >= EMU_TURING)
		return (struct emu_blocks){ narrow ? 8 : 4, 24, least };
	return (struct emu_blocks){ 4, 23, least };
}

static inline int
emu_exponent_of(float x, int least)
{
	uint32_t bits;
	int exponent;

	memcpy(&bits, &x, sizeof bits);
	exponent = (int)(bits >> 23 & 0xff) - 127;
	return exponent < least ? least : exponent;
}

/* Infinite or NaN. */
static inline bool
emu_is_special(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return (bits & 0x7f800000) == 0x7f800000;
}

static inline double
emu_power_of_two(int exponent)
{
	const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* sum * 2^unit as FP32, toward zero; too large becomes infinite. */
static inline float
emu_truncated(int64_t sum, int unit)
{
	uint64_t size = (uint64_t)(sum < 0 ? -sum : sum);
	int drop;
	float x;

	if (!size)
		return 0;
	drop = 64 - 24 - __builtin_clzll(size);
	if (drop < -149 - unit)
		drop = -149 - unit;
	if (drop > 63)
		return 0;
	if (drop > 0)
		size = size >> drop << drop;
	x = (float)((double)size * emu_power_of_two(unit));
	return sum < 0 ? -x : x;
}

/* One block: the sum so far and a[l] * b[l], whose exponents are ea[l], eb[l],
 * in units of 2^*unit_out. The products are exact in double precision, also
 * when aligned; each aligned one fits 32 bits: below 4 * 2^25. */
static inline __attribute__((always_inline)) int64_t
emu_block_total(float sum, const double *a, const double *b, const int *ea,
    const int *eb, int length, int fraction, int *unit_out)
{
	int top = emu_exponent_of(sum, EMU_FP32_LEAST), unit;
	int64_t total;
	double scale;

	for (int l = 0; l < length; l++)
		if (ea[l] + eb[l] > top)
			top = ea[l] + eb[l];
	unit = top - fraction;
	scale = emu_power_of_two(-unit);
	total = (int64_t)((double)sum * scale);
	for (int l = 0; l < length; l++)
		total += (int32_t)(a[l] * b[l] * scale);
	*unit_out = unit;
	return total;
}

static inline __attribute__((always_inline)) float
emu_add_block(float sum, const double *a, const double *b, const int *ea,
    const int *eb, int length, int fraction)
{
	int unit;
	const int64_t total = emu_block_total(sum, a, b, ea, eb, length,
	    fraction, &unit);

	return emu_truncated(total, unit);
}

/* With infinities or NaNs there is nothing to align: what comes out is infinite
 * or NaN. Finite: they were none. */
static inline double
emu_special_total(float sum, const double *a, const double *b, int length)
{
	double total = (double)sum;

	for (int l = 0; l < length; l++)
		total += a[l] * b[l];
	return total;
}

#endif
