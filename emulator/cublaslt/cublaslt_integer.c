/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublaslt/cublaslt_integer.c -- INT8 products with INT32 sums, on the
 * stream's worker. They wrap around, as the GPU's do. A is transposed, B is
 * not. */
#include "emulator/cublaslt/cublaslt.h"

static uint32_t
sum_of(const int8_t *a, const int8_t *b, int64_t k)
{
	uint32_t sum = 0;

	for (int64_t l = 0; l < k; l++)
		sum += (uint32_t)(a[l] * b[l]);
	return sum;
}

static void
run_one(const struct lt_matmul *t, int64_t index)
{
	const struct emu_gemm *g = &t->gemm;
	const int8_t *a = (const int8_t *)g->a.data + index * g->a.stride;
	const int8_t *b = (const int8_t *)g->b.data + index * g->b.stride;
	const uint32_t *c = (const uint32_t *)t->c.data + index * t->c.stride;
	uint32_t *d = (uint32_t *)(uintptr_t)g->c.data + index * g->c.stride;
	const uint32_t alpha = (uint32_t)(int32_t)g->alpha.value;
	const uint32_t beta = (uint32_t)(int32_t)g->beta.value;

	for (int64_t j = 0; j < g->n; j++)
		for (int64_t i = 0; i < g->m; i++) {
			const uint32_t sum = alpha ? alpha * sum_of(
			    &a[i * g->a.ld], &b[j * g->b.ld], g->k) : 0;

			d[j * g->c.ld + i] = sum + (beta ?
			    beta * c[j * t->c.ld + i] : 0);
		}
}

void
lt_integers(const struct lt_matmul *t, struct emu_touched *touched)
{
	const struct emu_gemm *g = &t->gemm;
	const int64_t inputs = g->alpha.value == 0 ? 0 : (g->m + g->n) * g->k;
	const int64_t words = g->m * g->n * (g->beta.value == 0 ? 1 : 2);

	for (int64_t b = 0; b < g->batch; b++)
		run_one(t, b);
	touched->bytes += (uint64_t)(g->batch * (inputs + 4 * words));
}
