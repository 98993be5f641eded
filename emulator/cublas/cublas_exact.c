/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_exact.c -- sums with the bits of the GPU: blocks of a
 * Tensor Core (cublas_lanes.c), chains of FMAs. It reads packed copies only and
 * knows no device. */
#include "emulator/cublas/cublas_exact.h"
#include "emulator/shared/round.h"

#include <math.h>

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

static float
canonical(float x)
{
	return x != x ? emu_from_bits(0x7fffffff) : x;
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
				sums[j * m + i + r] = sum[r];
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
	if (!blocks.length)
		(HAS_FMA ? chain_fma : chain_plain)(m, n, k, a, b, sums);
	else if (!emu_lanes_sums(blocks, m, n, k, a, b, sums))
		return false;
	for (int64_t i = 0; i < m * n; i++)
		sums[i] = canonical(sums[i]);
	return true;
}
