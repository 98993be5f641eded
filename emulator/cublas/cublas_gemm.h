/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_gemm.h -- a matrix product, whichever function the
 * program called. cublas_gemm_entry.c packs one, cublas_gemm.c checks and
 * queues it, cublas_product.c and cublas_sums.c compute it on the stream's
 * worker. */
#ifndef AC_EMULATOR_CUBLAS_GEMM_H
#define AC_EMULATOR_CUBLAS_GEMM_H

#include "emulator/cublas/cublas.h"
#include "emulator/cublas/cublas_touch.h"

struct emu_gemm {
	cublasOperation_t transa, transb;
	int64_t m, n, k, batch;
	struct emu_operand a, b, c;
	enum emu_real real;
	enum emu_rate arithmetic;  /* what inputs are rounded to; whose sums */
	struct emu_scalar alpha, beta;
	const char *call;          /* the calling function, for complaints */
};

/* Check everything as cuBLAS does, read the scalars, choose the arithmetic for
 * `compute`. alpha and beta are the program's pointers. */
cublasStatus_t emu_gemm_check(cublasHandle_t handle, struct emu_gemm *gemm,
    const void *alpha, const void *beta, cublasComputeType_t compute);
/* The part of it that chooses the arithmetic, by types and `compute` alone. */
cublasStatus_t emu_gemm_choose(struct emu_gemm *gemm,
    cublasComputeType_t compute);
/* Queue a checked product; an empty one returns at once. */
cublasStatus_t emu_gemm_queue(cublasHandle_t handle,
    const struct emu_gemm *gemm);
/* Both. */
cublasStatus_t emu_gemm_call(cublasHandle_t handle, struct emu_gemm *gemm,
    const void *alpha, const void *beta, cublasComputeType_t compute);

/* Whether the product reads A and B; alpha is known. */
static inline bool
emu_gemm_multiplies(const struct emu_gemm *g)
{
	return g->k > 0 && !emu_scalar_is_zero(&g->alpha);
}

/* Whether the device may not touch one of the matrices at these addresses;
 * complains. Strides count only without arrays of pointers. */
int emu_gemm_check_memory(const struct emu_gemm *g, const void *a,
    const void *b, const void *c, int64_t batch);

/* Compute it. Runs on a worker. */
void emu_product_run(struct emu_gemm *gemm);
/* Its halves: compute it, in the FPU's mode of emu_float_mode(), and return the
 * bytes that it moved; count such bytes and its time. */
uint64_t emu_product_compute(struct emu_gemm *gemm);
void emu_product_account(const struct emu_gemm *gemm, uint64_t bytes);

/* One real product in column order: C = alpha A B + beta C; beta 0 writes
 * without reading. Same arguments give the same bits (cublas_blas.c). */
void emu_sgemm(bool transa, bool transb, int m, int n, int k, float alpha,
    const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
    float *c, int64_t ldc);
void emu_dgemm(bool transa, bool transb, int m, int n, int k, double alpha,
    const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
    double *c, int64_t ldc);

#endif
