/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/steps_lt.c -- the door to cublasLt: c = gelu(a b +
 * bias), by one algorithm that was asked for at first. */
#include "steps.h"

#include <cublasLt.h>

enum { EDGE = 96, WORKSPACE = 1 << 20 };

static cublasLtHandle_t handle;
static cublasLtMatmulDesc_t operation;
static cublasLtMatrixLayout_t layout;
static cublasLtMatmulHeuristicResult_t found;
static cudaStream_t stream;
static void *workspace;
static float *bias;

static void
follow(cudaStream_t at)
{
	stream = at;
}

#define SET(attribute, value) BLAS(cublasLtMatmulDescSetAttribute(operation, \
	CUBLASLT_MATMUL_DESC_##attribute, &(value), sizeof (value)))

static void
ask(void)
{
	const uint64_t bytes = WORKSPACE;
	cublasLtMatmulPreference_t preference;
	int count;

	BLAS(cublasLtMatmulPreferenceCreate(&preference));
	BLAS(cublasLtMatmulPreferenceSetAttribute(preference,
	    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
	BLAS(cublasLtMatmulAlgoGetHeuristic(handle, operation, layout, layout,
	    layout, layout, preference, 1, &found, &count));
	BLAS(cublasLtMatmulPreferenceDestroy(preference));
}

static void
open_lt(cudaStream_t at)
{
	const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;

	follow(at);
	BLAS(cublasLtCreate(&handle));
	bias = client_random_device(EDGE, 1, 7);
	CUDA(cudaMalloc(&workspace, WORKSPACE));
	BLAS(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	SET(EPILOGUE, epilogue);
	SET(BIAS_POINTER, bias);
	BLAS(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, EDGE, EDGE,
	    EDGE));
	ask();
}

static void
run(const struct layer *layer)
{
	BLAS(cublasLtMatmul(handle, operation, &one, layer->a, layout,
	    layer->b, layout, &zero, layer->c, layout, layer->c, layout,
	    &found.algo, workspace, WORKSPACE, stream));
}

/* The second half of K takes nearly all of the first away again. */
static void
cancel(float *a, float *b)
{
	enum { HALF = EDGE / 2 };

	memcpy(a + HALF * EDGE, a, HALF * EDGE * sizeof *a);
	for (int j = 0; j < EDGE; j++)
		for (int i = 0; i < HALF; i++)
			b[j * EDGE + HALF + i] = 1e-4f * b[j * EDGE + HALF + i]
			    - b[j * EDGE + i];
}

const struct door *
steps_door(void)
{
	static const struct door door = {
		"lt", EDGE * EDGE, EDGE * EDGE, EDGE * EDGE, 200, open_lt,
		follow, run, cancel
	};

	return &door;
}
