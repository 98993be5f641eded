/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/linear.h -- a linear layer by cublasLt, as frameworks call it:
 * row-major tensors as transposes, C is D, an algorithm asked for. */
#ifndef AC_BENCH_LINEAR_H
#define AC_BENCH_LINEAR_H

#include "gemm.h"

#include <cublasLt.h>

struct linear {
	cublasLtMatmulDesc_t   operation;
	cublasLtMatrixLayout_t a, b, d;
	cublasLtMatmulHeuristicResult_t chosen;
	float *bias;           /* zeros: errors are those of the product */
};

/* For inputs of a type; `device`: alpha and beta are there. False: there is no
 * algorithm, and nothing to free. */
bool linear_make(const struct gemm_case *c, cudaDataType_t type,
    cublasComputeType_t compute, bool device, struct linear *out);
/* Queues it on gpu.stream. */
void linear_call(const struct linear *l, const void *a, const void *b,
    float *d, const float *one, const float *zero);
void linear_free(struct linear *l);

#endif
