/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/call.h -- one call of cublasLtMatmul on its way: the program's
 * arguments, what they describe, the site. */
#ifndef AC_SHIM_LT_CALL_H
#define AC_SHIM_LT_CALL_H

#include "shim/bind/wrapper.h"
#include "shim/lt/known_calls.h"
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

/* The algorithm that a call named last, and the room that it had. */
struct ac_lt_choice {
	cublasLtMatmulAlgo_t algorithm;
	uint64_t             room;    /* of a workspace, plus 1; 0: none */
	uint64_t             hash;    /* of those */
};

/* What calls leave for the next ones. Any thread. */
struct ac_lt_last {
	ac_lt_plan_hint plan;
	_Atomic(const struct ac_lt_choice *) choice; /* NULL at first; never
	                                              * freed */
	_Atomic unsigned choices;     /* that there were */
};

/* What is known of a call leads to: the product of some content, and its site.
 * Never changed once another thread may see it. */
struct ac_lt_decided {
	const struct ac_site *site;
	struct ac_lt_known   *known;
	struct ac_lt_content  content;
	struct ac_lt_product  product;
	const struct ac_lt_version *version; /* of the operation; NULL: not
	                                * known */
	int                   device;
	struct ac_lt_last    *last;    /* NULL: none */
	/* What a call is to the recipes, but for addresses. */
	struct ac_gemm        gemm;
	struct ac_gemm_tail   tail;
};

/* A place for what cannot be remembered. */
struct ac_lt_scratch {
	struct ac_lt_known known;
	struct ac_lt_decided decided;
	struct ac_site     site;
};

/* Set decided->gemm and decided->tail by the rest of it. */
void ac_lt_decided_prepare(struct ac_lt_decided *decided);

/* Try to run it in lower precision, as ac_gemm_recast() does. Counts it. */
enum ac_outcome ac_lt_recast(const struct ac_lt_arguments *x,
    const struct ac_lt_asked *asked, const struct ac_lt_decided *decided,
    struct ac_kept *kept_out, cublasStatus_t *status_out);

#endif
