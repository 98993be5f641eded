/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_lanes.c -- sums of a Tensor Core, four outputs at a
 * time, with the bits of emulator/arithmetic/blocks.h. K is cut into chunks
 * that stay in the cache; between two of them a sum is the FP32 number that a
 * Tensor Core keeps. Vectors are the compiler's own, so every machine runs the
 * same text. */
#include "emulator/cublas/cublas_exact.h"

#include <stdlib.h>
#include <string.h>

/* All functions with vectors are inlined: no ABI is concerned. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))

enum {
	LANES = 4,
	CHUNK = 256, /* of K: a multiple of every block's length */
	LENGTH = 16  /* of the longest block */
};
/* Bits of a double that FP32 lacks. */
#define DROPPED 0x1fffffff

typedef double wide __attribute__((vector_size(8 * LANES)));
typedef int64_t wide_bits __attribute__((vector_size(8 * LANES)));
typedef int32_t narrow __attribute__((vector_size(4 * LANES)));
typedef uint32_t narrow_bits __attribute__((vector_size(4 * LANES)));

/* One chunk of LANES rows of A, and of one column of B. `special`: an inf or a
 * NaN is among them. */
struct rows {
	union {
		wide all[CHUNK];
		double lane[CHUNK][LANES];
	} value;
	union {
		narrow all[CHUNK];
		int lane[CHUNK][LANES];
	} exponent;
	bool special;
};

struct column {
	double value[CHUNK];
	int exponent[CHUNK];
	bool special;
};

/* What one sum is: chunks of `count` numbers, zeros behind the last one. */
struct chunk {
	struct emu_blocks blocks;
	int64_t at, count;
};

/* Number l goes to value[l * stride]. NULL for x: zeros. */
static bool
spread(const struct chunk *c, const float *x, int stride, double *value,
    int *exponent)
{
	bool special = false;

	for (int64_t l = 0; l < CHUNK; l++) {
		const float v = x && l < c->count ? x[c->at + l] : 0.0f;

		value[l * stride] = (double)v;
		exponent[l * stride] = v == 0.0f ? EMU_EXPONENT_OF_ZERO :
		    emu_exponent_of(v, c->blocks.least);
		special |= emu_is_special(v);
	}
	return special;
}

/* One block and one output, whatever the numbers are. With infinities or NaNs
 * there is nothing to align. */
static float
add_any(struct emu_blocks blocks, float sum, const double *a, const double *b,
    const int *ea, const int *eb)
{
	const double total = emu_special_total(sum, a, b, blocks.length);

	if (total - total == 0)
		return emu_add_block(sum, a, b, ea, eb, blocks.length,
		    blocks.fraction);
	return (float)total;
}

/* Block l, lane by lane. */
static __attribute__((noinline)) void
add_slowly(struct emu_blocks blocks, const struct rows *a,
    const struct column *b, int64_t l, float sums[LANES])
{
	for (int q = 0; q < LANES; q++) {
		double x[LENGTH];
		int ex[LENGTH];

		for (int i = 0; i < blocks.length; i++) {
			x[i] = a->value.lane[l + i][q];
			ex[i] = a->exponent.lane[l + i][q];
		}
		sums[q] = add_any(blocks, sums[q], x, b->value + l, ex,
		    b->exponent + l);
	}
}

INLINE narrow
larger(narrow a, narrow b)
{
	const narrow mask = a > b;

	return b ^ ((a ^ b) & mask);
}

INLINE wide
power_of_two(narrow exponent)
{
	return (wide)((__builtin_convertvector(exponent, wide_bits) + 1023) <<
	    52);
}

/* emu_add_block() in all lanes. A product fits 27 bits when it is aligned, so
 * 16 of them fit an int. Right where the result is regular. */
INLINE wide
add_block(const struct rows *a, const struct column *b, int64_t l,
    const wide *sum, int length, int fraction)
{
	narrow top = __builtin_convertvector(((wide_bits)*sum >> 52 & 0x7ff)
	    - 1023, narrow);
	narrow_bits total = { 0 }; /* irregular ones may wrap */
	wide scale, all;

	top = larger(top, (narrow){ 0 } + EMU_FP32_LEAST);
	for (int i = 0; i < length; i++)
		top = larger(top, a->exponent.all[l + i] + b->exponent[l + i]);
	scale = power_of_two(fraction - top);
	for (int i = 0; i < length; i++)
		total += (narrow_bits)__builtin_convertvector(a->value.all[l
		    + i] * b->value[l + i] * scale, narrow);
	all = __builtin_convertvector((narrow)total, wide)
	    + __builtin_convertvector(__builtin_convertvector(*sum * scale,
	    narrow), wide);
	all *= power_of_two(top - fraction);
	return (wide)((wide_bits)all & ~(int64_t)DROPPED);
}

/* Each is zero or a normal FP32 number. */
INLINE bool
is_regular(const wide *sum)
{
	const wide_bits size = (wide_bits)*sum & INT64_MAX;
	const wide_bits least = (wide_bits)((wide){ 0 } + 0x1p-126);
	const wide_bits most = (wide_bits)((wide){ 0 } + 0x1p128);
	const wide_bits odd = ((size < least) & (size != 0)) | (size >= most);

	return !(odd[0] | odd[1] | odd[2] | odd[3]);
}

INLINE bool
has_special(const float sums[LANES])
{
	bool special = false;

	for (int q = 0; q < LANES; q++)
		special |= emu_is_special(sums[q]);
	return special;
}

INLINE void
add_chunk(const struct chunk *c, const struct rows *a, const struct column *b,
    int length, float sums[LANES])
{
	bool special = a->special || b->special || has_special(sums);
	wide sum = { (double)sums[0], (double)sums[1], (double)sums[2],
		(double)sums[3] };

	for (int64_t l = 0; l < c->count; l += length) {
		const wide next = add_block(a, b, l, &sum, length,
		    c->blocks.fraction);

		if (!special && is_regular(&next)) {
			sum = next;
			continue;
		}
		for (int q = 0; q < LANES; q++)
			sums[q] = (float)sum[q];
		add_slowly(c->blocks, a, b, l, sums);
		special |= has_special(sums);
		for (int q = 0; q < LANES; q++)
			sum[q] = (double)sums[q];
	}
	for (int q = 0; q < LANES; q++)
		sums[q] = (float)sum[q];
}

/* sums[j * m] for all columns; `rows` of the lanes count. */
INLINE void
add_columns(const struct chunk *c, const struct rows *a,
    const struct column *b, int64_t m, int64_t n, int64_t rows, float *sums)
{
	for (int64_t j = 0; j < n; j++) {
		float four[LANES] = { 0 };

		memcpy(four, sums + j * m, (size_t)rows * sizeof *four);
		if (c->blocks.length == 16)
			add_chunk(c, a, &b[j], 16, four);
		else if (c->blocks.length == 8)
			add_chunk(c, a, &b[j], 8, four);
		else
			add_chunk(c, a, &b[j], 4, four);
		memcpy(sums + j * m, four, (size_t)rows * sizeof *four);
	}
}

typedef void add_function(const struct chunk *c, const struct rows *a,
    const struct column *b, int64_t m, int64_t n, int64_t rows, float *sums);

static void
add_plain(const struct chunk *c, const struct rows *a, const struct column *b,
    int64_t m, int64_t n, int64_t rows, float *sums)
{
	add_columns(c, a, b, m, n, rows, sums);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
add_avx2(const struct chunk *c, const struct rows *a, const struct column *b,
    int64_t m, int64_t n, int64_t rows, float *sums)
{
	add_columns(c, a, b, m, n, rows, sums);
}
#define HAS_AVX2 __builtin_cpu_supports("avx2")
#else
#define add_avx2 add_plain
#define HAS_AVX2 false
#endif

bool
emu_lanes_sums(struct emu_blocks blocks, int64_t m, int64_t n, int64_t k,
    const float *a, const float *b, float *sums)
{
	add_function *const add = HAS_AVX2 ? add_avx2 : add_plain;
	struct column *const columns = malloc((size_t)n * sizeof *columns + 1);
	struct rows rows;

	memset(sums, 0, (size_t)(m * n) * sizeof *sums);
	for (int64_t at = 0; columns && at < k; at += CHUNK) {
		const struct chunk c = { blocks, at, k - at < CHUNK ? k - at :
			CHUNK };

		for (int64_t j = 0; j < n; j++)
			columns[j].special = spread(&c, b + j * k, 1,
			    columns[j].value, columns[j].exponent);
		for (int64_t i = 0; i < m; i += LANES) {
			rows.special = false;
			for (int64_t q = 0; q < LANES; q++)
				rows.special |= spread(&c, i + q < m ? a +
				    (i + q) * k : NULL, LANES,
				    &rows.value.lane[0][q],
				    &rows.exponent.lane[0][q]);
			add(&c, &rows, columns, m, n, m - i < LANES ? m - i :
			    LANES, sums + i);
		}
	}
	free(columns);
	return columns;
}
