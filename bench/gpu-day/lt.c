/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/lt.c -- does cublasLt offer FP16 products whose K is split and
 * whose parts are added up in FP32 (n8), and what are they like? */
#include "gpu.h"

#include <cublasLt.h>
#include <stdio.h>
#include <string.h>

enum { WORKSPACE = 256 << 20, RESULTS = 32, IDS = 128 };

static cublasLtHandle_t handle;
static void *workspace;

struct product {
	int m, k;
	cublasLtMatmulDesc_t desc;
	cublasLtMatrixLayout_t a, b, c;
	const cublasLtMatmulAlgo_t *algo;
	void *on_a, *on_b;
	float *on_c;
};

static void
product_make(int m, int k, struct product *p)
{
	const size_t count = (size_t)m * (size_t)k;

	*p = (struct product){ .m = m, .k = k };
	MUST(cublasLtMatmulDescCreate(&p->desc, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	MUST(cublasLtMatrixLayoutCreate(&p->a, CUDA_R_16F, (uint64_t)m,
	    (uint64_t)k, m));
	MUST(cublasLtMatrixLayoutCreate(&p->b, CUDA_R_16F, (uint64_t)k,
	    (uint64_t)m, k));
	MUST(cublasLtMatrixLayoutCreate(&p->c, CUDA_R_32F, (uint64_t)m,
	    (uint64_t)m, m));
	p->on_a = gpu_fill(gpu_pool_get(DATA_UNIT, 0), STORE_FP16, count);
	p->on_b = gpu_fill(gpu_pool_get(DATA_UNIT, 1), STORE_FP16, count);
	p->on_c = gpu_alloc((size_t)m * (size_t)m * sizeof(float));
}

static void
call(void *context)
{
	const struct product *p = context;
	const float one = 1, zero = 0;

	MUST(cublasLtMatmul(handle, p->desc, &one, p->on_a, p->a, p->on_b,
	    p->b, &zero, p->on_c, p->c, p->on_c, p->c, p->algo, workspace,
	    WORKSPACE, gpu.stream));
}

static uint32_t
config(const cublasLtMatmulAlgo_t *algo,
    cublasLtMatmulAlgoConfigAttributes_t what)
{
	uint32_t value = 0;
	size_t written;

	(void)cublasLtMatmulAlgoConfigGetAttribute(algo, what, &value,
	    sizeof value, &written);
	return value;
}

/* What the heuristics offer when only these reductions are allowed. */
static int
heuristics(const struct product *p, uint32_t reductions,
    cublasLtMatmulHeuristicResult_t *results)
{
	const size_t bytes = WORKSPACE;
	cublasLtMatmulPreference_t preference;
	int count = 0;

	MUST(cublasLtMatmulPreferenceCreate(&preference));
	MUST(cublasLtMatmulPreferenceSetAttribute(preference,
	    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
	MUST(cublasLtMatmulPreferenceSetAttribute(preference,
	    CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions,
	    sizeof reductions));
	if (cublasLtMatmulAlgoGetHeuristic(handle, p->desc, p->a, p->b,
	    p->c, p->c, preference, RESULTS, results, &count))
		return 0;
	return count;
}

/* Of the algorithms there are, how many can do it at all? */
static void
capabilities(void)
{
	int ids[IDS], count = 0, able = 0;

	MUST(cublasLtMatmulAlgoGetIds(handle, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, IDS,
	    ids, &count));
	for (int i = 0; i < count; i++) {
		cublasLtMatmulAlgo_t algo;
		int32_t splits = 0;
		uint32_t reductions = 0;
		size_t written;

		if (cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F,
		    CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F,
		    CUDA_R_32F, ids[i], &algo))
			continue;
		(void)cublasLtMatmulAlgoCapGetAttribute(&algo,
		    CUBLASLT_ALGO_CAP_SPLITK_SUPPORT, &splits, sizeof splits,
		    &written);
		(void)cublasLtMatmulAlgoCapGetAttribute(&algo,
		    CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK, &reductions,
		    sizeof reductions, &written);
		able += splits &&
		    reductions & CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
	}
	row_item("n8", "algorithms that can", able, "algorithms",
	    able ? "offered" : "not offered", "of %d for FP16 in, FP32 out",
	    count);
}

static void
measure(struct product *p, const cublasLtMatmulHeuristicResult_t *result)
{
	const struct gpu_product product = { p->m, p->m, p->k, 1,
		gpu_pool_get(DATA_UNIT, 0), gpu_pool_get(DATA_UNIT, 1),
		STORE_FP16, 1 };
	const uint32_t splits = config(&result->algo,
	    CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
	const uint32_t scheme = config(&result->algo,
	    CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
	struct gpu_timing t;
	char part[80];

	p->algo = &result->algo;
	t = gpu_time(call, p);
	snprintf(part, sizeof part, "%dx%dx%d, %u parts, scheme %u", p->m,
	    p->m, p->k, splits, scheme);
	row_item("n8", part, t.median, "s", splits > 1 ? "split" : "whole",
	    "error %.3g, %.4g TFLOP/s, algorithm %u",
	    gpu_error_of(&product, p->on_c).norm,
	    2e-12 * p->m * p->m * p->k / t.median,
	    config(&result->algo, CUBLASLT_ALGO_CONFIG_ID));
}

/* The best as it comes, and the best that splits most. */
static void
offered(int m, int k)
{
	cublasLtMatmulHeuristicResult_t results[RESULTS];
	struct product p;
	uint32_t most = 1;
	int count, chosen = -1;

	product_make(m, k, &p);
	count = heuristics(&p, CUBLASLT_REDUCTION_SCHEME_NONE, results);
	if (count)
		measure(&p, &results[0]);
	count = heuristics(&p, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
	    results);
	for (int i = 0; i < count; i++) {
		const uint32_t splits = config(&results[i].algo,
		    CUBLASLT_ALGO_CONFIG_SPLITK_NUM);

		if (results[i].state || splits <= most)
			continue;
		most = splits;
		chosen = i;
	}
	if (chosen >= 0)
		measure(&p, &results[chosen]);
	else
		row_item("n8", "heuristics", count, "results", "none splits",
		    "%dx%dx%d", m, m, k);
	gpu_free(p.on_a);
	gpu_free(p.on_b);
	gpu_free(p.on_c);
}

static void
take(int option, const char *value)
{
	(void)option, (void)value;
}

int
main(int argc, char **argv)
{
	(void)gpu_start(argc, argv, "", take);
	MUST(cublasLtCreate(&handle));
	workspace = gpu_alloc(WORKSPACE);
	capabilities();
	if (gpu.quick) {
		offered(64, 256);
		return 0;
	}
	offered(512, 16384);
	offered(2048, 16384);
	offered(8192, 8192);
	return 0;
}
