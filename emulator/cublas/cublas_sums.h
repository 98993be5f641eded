/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_sums.h -- one matrix product of a batch, and the ways
 * to compute it. cublas_product.c chooses; cublas_sums.c has the slow ones.
 * Runs on workers. */
#ifndef AC_EMULATOR_CUBLAS_SUMS_H
#define AC_EMULATOR_CUBLAS_SUMS_H

#include "emulator/cublas/cublas_gemm.h"

struct emu_product {
	const struct emu_gemm *g;
	const void *a, *b;
	void *c;
	struct emu_touched *touched;
};

/* Rows and columns of A and B in memory. */
static inline int64_t
emu_rows_of_a(const struct emu_gemm *g)
{
	return g->transa == CUBLAS_OP_N ? g->m : g->k;
}

static inline int64_t
emu_rows_of_b(const struct emu_gemm *g)
{
	return g->transb == CUBLAS_OP_N ? g->k : g->n;
}

/* Whether to compute this one with the bits of the GPU. Not if it is large, and
 * that is said. */
bool emu_product_fits_exact(const struct emu_gemm *g);
/* FP32 or complex, added as the GPU adds. False: the host has no memory
 * left. */
bool emu_product_exact(const struct emu_product *p);
/* The same in FP64, rounded once. */
bool emu_product_reference(const struct emu_product *p);

#endif
