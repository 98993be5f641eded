/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_exact.c -- sums with the bits of the GPU: blocks of a
 * Tensor Core, chains of FMAs. It reads packed copies only and knows no
 * device. */
#include "emulator/cublas/cublas_exact.h"
#include "emulator/shared/round.h"

#include <math.h>
#include <stdlib.h>

struct emu_blocks
emu_blocks_of(int capability, enum emu_rate arithmetic)
{
	const bool half = arithmetic == EMU_FP16;
	const bool narrow = half || arithmetic == EMU_BF16;
	const int least = half ? EMU_FP16_LEAST : EMU_FP32_LEAST;

	if (!narrow && arithmetic != EMU_TF32)
		return (struct emu_blocks){ 0, 0, EMU_FP32_LEAST };
	return emu_blocks_of_format(capability, narrow, least);
}

/* An operand as the blocks read it. `special`: per row, an inf or a NaN. */
struct side {
	double *value;
	int *exponent;
	bool *special;
};

/* Rows are padded with zeros to a multiple of `width`. */
static bool
make_side(const float *x, int64_t rows, int64_t k, int64_t width, int least,
    struct side *side)
{
	const size_t count = (size_t)(rows * width);

	side->value = calloc(count, sizeof *side->value);
	side->exponent = malloc(count * sizeof *side->exponent);
	side->special = calloc((size_t)rows, sizeof *side->special);
	if (!side->value || !side->exponent || !side->special)
		return false;
	for (int64_t i = 0; i < rows; i++)
		for (int64_t l = 0; l < width; l++) {
			const float v = l < k ? x[i * k + l] : 0.0f;

			side->value[i * width + l] = (double)v;
			side->exponent[i * width + l] = v == 0.0f ?
			    EMU_EXPONENT_OF_ZERO : emu_exponent_of(v, least);
			side->special[i] |= emu_is_special(v);
		}
	return true;
}

static void
drop_side(struct side *side)
{
	free(side->value);
	free(side->exponent);
	free(side->special);
}

static float
canonical(float x)
{
	return x != x ? emu_from_bits(0x7fffffff) : x;
}

/* With infinities or NaNs there is nothing to align. */
static float
add_special(float sum, const double *a, const double *b, const int *ea,
    const int *eb, int length, int fraction)
{
	const double total = emu_special_total(sum, a, b, length);

	if (total - total == 0)
		return emu_add_block(sum, a, b, ea, eb, length, fraction);
	return (float)total;
}

static float
sum_blocks(struct emu_blocks blocks, int64_t width, const struct side *a,
    int64_t i, const struct side *b, int64_t j)
{
	const double *x = a->value + i * width, *y = b->value + j * width;
	const int *ex = a->exponent + i * width, *ey = b->exponent + j * width;
	const int length = blocks.length;
	const bool special = a->special[i] || b->special[j];
	float sum = 0;

	for (int64_t l = 0; l < width; l += length)
		if (special || emu_is_special(sum))
			sum = add_special(sum, x + l, y + l, ex + l, ey + l,
			    length, blocks.fraction);
		else if (length == 16)
			sum = emu_add_block(sum, x + l, y + l, ex + l, ey + l,
			    16, blocks.fraction);
		else if (length == 8)
			sum = emu_add_block(sum, x + l, y + l, ex + l, ey + l,
			    8, blocks.fraction);
		else
			sum = emu_add_block(sum, x + l, y + l, ex + l, ey + l,
			    4, blocks.fraction);
	return canonical(sum);
}

static bool
sum_all_blocks(struct emu_blocks blocks, int64_t m, int64_t n, int64_t k,
    const float *a, const float *b, float *sums)
{
	const int64_t width = (k + blocks.length - 1) / blocks.length *
	    blocks.length;
	struct side x, y = { NULL, NULL, NULL };
	const bool made = make_side(a, m, k, width, blocks.least, &x) &&
	    make_side(b, n, k, width, blocks.least, &y);

	for (int64_t j = 0; made && j < n; j++)
		for (int64_t i = 0; i < m; i++)
			sums[j * m + i] = sum_blocks(blocks, width, &x, i, &y,
			    j);
	drop_side(&x);
	drop_side(&y);
	return made;
}

/* Four chains at a time, because each FMA waits for the previous one. */
static inline __attribute__((always_inline)) void
chain(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
    float *sums)
{
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i += 4) {
			const int64_t rows = m - i < 4 ? m - i : 4;
			const float *const x = a + i * k;
			const int64_t r1 = rows > 1 ? k : 0;
			const int64_t r2 = rows > 2 ? 2 * k : 0;
			const int64_t r3 = rows > 3 ? 3 * k : 0;
			float sum[4] = { 0, 0, 0, 0 };

			for (int64_t l = 0; l < k; l++) {
				const float y = b[j * k + l];

				sum[0] = __builtin_fmaf(x[l], y, sum[0]);
				sum[1] = __builtin_fmaf(x[r1 + l], y, sum[1]);
				sum[2] = __builtin_fmaf(x[r2 + l], y, sum[2]);
				sum[3] = __builtin_fmaf(x[r3 + l], y, sum[3]);
			}
			for (int64_t r = 0; r < rows; r++)
				sums[j * m + i + r] = canonical(sum[r]);
		}
}

static void
chain_plain(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
    float *sums)
{
	chain(m, n, k, a, b, sums);
}

#if defined(__x86_64__)
__attribute__((target("fma"))) static void
chain_fma(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
    float *sums)
{
	chain(m, n, k, a, b, sums);
}
#define HAS_FMA __builtin_cpu_supports("fma")
#else
#define chain_fma chain_plain
#define HAS_FMA false
#endif

bool
emu_exact_sums(struct emu_blocks blocks, int64_t m, int64_t n, int64_t k,
    const float *a, const float *b, float *sums)
{
	if (blocks.length)
		return sum_all_blocks(blocks, m, n, k, a, b, sums);
	(HAS_FMA ? chain_fma : chain_plain)(m, n, k, a, b, sums);
	return true;
}
