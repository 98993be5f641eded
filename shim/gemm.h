/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm.h -- a matrix product, however the caller spelled it.
 * Column-major, as cuBLAS: op(A) is m x k, op(B) is k x n, C is m x n.
 * Pointers are borrowed for the length of one call. */
#ifndef AC_SHIM_GEMM_H
#define AC_SHIM_GEMM_H

#include "shim/provider.h"

#include <stdbool.h>
#include <stdint.h>

/* cuBLAS's name for it is too new for some headers we build with. */
enum { AC_COMPUTE_32F_EMULATED_16BFX9 = 78 };

struct ac_operand {
	const void   *data;    /* a matrix; an array of matrices if BATCHED */
	cudaDataType  type;
	int64_t       ld;      /* leading dimension, in elements */
	long long     stride;  /* from one matrix to the next, in elements */
};

struct ac_gemm {
	enum ac_entry      entry;      /* the symbol the program called */
	uint32_t           operation;  /* enum ac_operation */
	const void        *caller;     /* return address in the program */
	cublasHandle_t     handle;
	cublasOperation_t  transa, transb;
	int64_t            m, n, k, batch;
	const void        *alpha, *beta; /* host or device, as the handle's
	                                  * pointer mode says */
	struct ac_operand  a, b, c;
	int                compute;    /* cublasComputeType_t; 0: the function
	                                * has none, the math mode decides */
	bool               rewritable; /* a recipe exists for this shape */
};

/* Try to run `g` in lower precision. True: done, *status_out is the answer.
 * False: C is untouched, the caller must make the original call through
 * *next_out, which is always set. Counts the call either way. */
bool ac_gemm_recast(const struct ac_gemm *g, ac_fn *next_out,
    cublasStatus_t *status_out);

/* Bind without deciding: for calls NVIDIA's own libraries make while serving
 * one of the program's. */
ac_fn ac_gemm_next(const struct ac_gemm *g);

#endif
