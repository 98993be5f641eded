/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/call.h -- one call of cublasLtMatmul on its way: the program's
 * arguments, what they describe, the site. */
#ifndef AC_SHIM_LT_CALL_H
#define AC_SHIM_LT_CALL_H

#include "shim/bind/wrapper.h"
#include "shim/lt/memo.h"
#include "shim/lt/plan.h"
#include "shim/lt/product.h"

#include <cublasLt.h>

/* NVIDIA's names and order. */
struct ac_lt_arguments {
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t operation;
	const void *alpha, *a;
	cublasLtMatrixLayout_t a_layout;
	const void *b;
	cublasLtMatrixLayout_t b_layout;
	const void *beta, *c;
	cublasLtMatrixLayout_t c_layout;
	void *d;
	cublasLtMatrixLayout_t d_layout;
	const cublasLtMatmulAlgo_t *algorithm;
	void *workspace;
	size_t workspace_bytes;
	cudaStream_t stream;
};

/* What the memo leads to: the product of some content, and its site. Never
 * changed once another thread may see it. */
struct ac_lt_use {
	const struct ac_site *site;
	struct ac_lt_known   *known;
	struct ac_lt_content  content;
	struct ac_lt_product  product;
	const struct ac_lt_sort *sort; /* of the operation; NULL: unknown */
	int                   device;
	ac_lt_plan_hint      *hint;    /* NULL: none */
};

/* A place for what cannot be remembered. */
struct ac_lt_scratch {
	struct ac_lt_known known;
	struct ac_lt_use   use;
	struct ac_site     site;
};

/* Try to run it in lower precision, as ac_gemm_recast() does. Counts it. */
enum ac_outcome ac_lt_recast(const struct ac_lt_arguments *x,
    const struct ac_lt_use *use, struct ac_provider *provider,
    struct ac_kept *kept_out, cublasStatus_t *status_out);

#endif
