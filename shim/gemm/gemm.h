/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/gemm.h -- a matrix product, however the caller spelled it.
 * Column-major, as cuBLAS: op(A) is m x k, op(B) is k x n, C is m x n.
 * Pointers are borrowed for the length of one call. */
#ifndef AC_SHIM_GEMM_H
#define AC_SHIM_GEMM_H

#include "shim/trial/conduct.h"
#include "shim/site/site.h"

#include <stdbool.h>
#include <stdint.h>

struct ac_operand {
	const void   *data;    /* a matrix; an array of matrices if BATCHED */
	cudaDataType  type;
	int64_t       ld;      /* leading dimension, in elements */
	long long     stride;  /* from one matrix to the next, in elements */
};

struct ac_gemm {
	cublasHandle_t     handle;
	cublasOperation_t  transa, transb;
	int64_t            m, n, k, batch;
	const void        *alpha, *beta; /* host or device, as the handle's
	                                  * pointer mode says */
	struct ac_operand  a, b, c;
	bool               in_arrays; /* `data` are arrays of matrices on the
	                               * device: the host cannot see them */
};

/* Try to run `g` in lower precision, as its site's decision says. DONE:
 * *status_out is the answer. Else C is untouched, and the original is to be
 * made. Counts the call. */
enum ac_outcome ac_gemm_recast(const struct ac_gemm *g,
    const struct ac_site *site, struct ac_kept *kept_out,
    cublasStatus_t *status_out);

#endif
