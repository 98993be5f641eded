/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/linear.c -- a product with a bias, and an activation, by
 * cublasLt. */
#include "linear.h"

enum { WORKSPACE = 32 << 20 };

static cublasLtHandle_t handle;
static void *workspace;

static void
set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
    const void *value, size_t bytes)
{
	MUST(cublasLtMatmulDescSetAttribute(operation, attribute, value,
	    bytes));
}

static cublasLtMatrixLayout_t
layout(cudaDataType_t type, bool turned, int rows, int cols)
{
	const int stored = turned ? cols : rows;
	cublasLtMatrixLayout_t made;

	MUST(cublasLtMatrixLayoutCreate(&made, type, (uint64_t)stored,
	    (uint64_t)(turned ? rows : cols), stored));
	return made;
}

static void
describe(const struct gemm_case *c, cudaDataType_t type,
    cublasComputeType_t compute, bool device, struct linear *l)
{
	const int32_t op[2] = { c->trans[0] ? CUBLAS_OP_T : CUBLAS_OP_N,
		c->trans[1] ? CUBLAS_OP_T : CUBLAS_OP_N };
	const int32_t mode = device ? CUBLASLT_POINTER_MODE_DEVICE :
	    CUBLASLT_POINTER_MODE_HOST;

	MUST(cublasLtMatmulDescCreate(&l->operation, compute, CUDA_R_32F));
	set(l->operation, CUBLASLT_MATMUL_DESC_TRANSA, &op[0], sizeof *op);
	set(l->operation, CUBLASLT_MATMUL_DESC_TRANSB, &op[1], sizeof *op);
	set(l->operation, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode,
	    sizeof mode);
	set(l->operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &c->epilogue,
	    sizeof c->epilogue);
	set(l->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &l->bias,
	    sizeof l->bias);
	l->a = layout(type, c->trans[0], c->m, c->k);
	l->b = layout(type, c->trans[1], c->k, c->n);
	l->d = layout(CUDA_R_32F, false, c->m, c->n);
}

static bool
ask(struct linear *l)
{
	const uint64_t bytes = WORKSPACE;
	cublasLtMatmulPreference_t preference;
	int found = 0;

	MUST(cublasLtMatmulPreferenceCreate(&preference));
	MUST(cublasLtMatmulPreferenceSetAttribute(preference,
	    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
	(void)cublasLtMatmulAlgoGetHeuristic(handle, l->operation, l->a, l->b,
	    l->d, l->d, preference, 1, &l->chosen, &found);
	MUST(cublasLtMatmulPreferenceDestroy(preference));
	return found;
}

bool
linear_make(const struct gemm_case *c, cudaDataType_t type,
    cublasComputeType_t compute, bool device, struct linear *out)
{
	const size_t bytes = (size_t)c->m * sizeof(float);

	if (!handle) {
		MUST(cublasLtCreate(&handle));
		workspace = gpu_alloc(WORKSPACE);
	}
	out->bias = gpu_alloc(bytes);
	MUST(cudaMemsetAsync(out->bias, 0, bytes, gpu.stream));
	describe(c, type, compute, device, out);
	if (ask(out))
		return true;
	linear_free(out);
	return false;
}

void
linear_call(const struct linear *l, const void *a, const void *b, float *d,
    const float *one, const float *zero)
{
	MUST(cublasLtMatmul(handle, l->operation, one, a, l->a, b, l->b, zero,
	    d, l->d, d, l->d, &l->chosen.algo, workspace, WORKSPACE,
	    gpu.stream));
}

void
linear_free(struct linear *l)
{
	MUST(cublasLtMatmulDescDestroy(l->operation));
	MUST(cublasLtMatrixLayoutDestroy(l->a));
	MUST(cublasLtMatrixLayoutDestroy(l->b));
	MUST(cublasLtMatrixLayoutDestroy(l->d));
	gpu_free(l->bias);
}
