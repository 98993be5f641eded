/* SPDX-License-Identifier: Apache-2.0 */
/* shim/recipe.h -- the ways to run a product in lower precision.
 *
 * A recipe returns AC_REASON_NONE when it ran: *status_out is then cuBLAS's
 * answer. Any other reason means that C is untouched and that the original
 * call is to be made (recasting.md R6). Nothing waits for the device. */
#ifndef AC_SHIM_RECIPE_H
#define AC_SHIM_RECIPE_H

#include "shim/gemm.h"
#include "shim/site.h"

/* The same call with another compute type, on the program's own handle. */
enum ac_reason ac_recipe_library(const struct ac_gemm *g,
    const struct ac_site *site, cublasStatus_t *status_out);

/* Cast both operands, then a 16-bit product on a lane of our own. */
enum ac_reason ac_recipe_cast(const struct ac_gemm *g,
    const struct ac_site *site, cublasStatus_t *status_out);

/* What the two have in common: a product whose operands may differ in type
 * from the program's. Scalars as the handle's pointer mode says. */
struct ac_product {
	cublasHandle_t      handle;
	cublasOperation_t   transa, transb;
	int64_t             m, n, k, batch;
	const void         *alpha, *beta;
	struct ac_operand   a, b;
	void               *c;
	int64_t             ldc;
	long long           stride_c;
	cublasComputeType_t compute;
};

/* Issue `product` by cublasGemmEx or cublasGemmStridedBatchedEx, in the form
 * whose indices are wide enough. False: the provider has no such form. */
bool ac_product_issue(struct ac_provider *provider,
    const struct ac_product *product, cublasStatus_t *status_out);

/* Whether the original call may still be made after this answer. */
bool ac_status_is_refusal(cublasStatus_t status);

#endif
