/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lt_torch.c -- cublasLt as PyTorch calls it: row-major
 * tensors as transposes, descriptors and a preference for each call, one
 * algorithm asked for each call, a workspace for each call, a handle that is
 * cuBLAS's. Linear layers with BIAS, RELU_BIAS and GELU_BIAS whose number of
 * rows varies; their gradients, batches for attention, and sums onto what is
 * there as products without an epilogue.
 *
 *   lt_torch [calls=N] [bits=N] [workspace=BYTES]
 * A line: calls, checksum, worst error of any as a part of its bound. `bits` as
 * lt_matrix has it. Exit status 1: an error is beyond its bound, or something
 * was written that must not be. */
#include "lt_client.h"

static cublasHandle_t blas;
static cudaStream_t stream;
static uint64_t workspace_bytes = 1 << 20, checksum;
static int bits = 24;
static double worst;

/* What an address is a multiple of, as ATen asks. */
static uint32_t
alignment(const void *pointer)
{
	uint32_t wanted = 256;

	while ((uintptr_t)pointer % wanted)
		wanted /= 2;
	return wanted;
}

static void
prefer(cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void *pointer)
{
	const uint32_t bytes = alignment(pointer);

	BLAS(cublasLtMatmulPreferenceSetAttribute(preference, attribute,
	    &bytes, sizeof bytes));
}

/* gemm_and_bias() and bgemm_internal_cublaslt(): attributes of a batch only if
 * there is one, C as D. */
static cublasLtMatrixLayout_t
layout_of(const struct lt_matrix *x)
{
	const int32_t batch = x->batch;
	cublasLtMatrixLayout_t made;

	BLAS(cublasLtMatrixLayoutCreate(&made, x->type, (uint64_t)x->rows,
	    (uint64_t)x->cols, x->ld));
	if (batch > 1) {
		LT_LAYOUT_SET(made, BATCH_COUNT, batch);
		LT_LAYOUT_SET(made, STRIDED_BATCH_OFFSET, x->stride);
	}
	return made;
}

static cublasLtMatmulDesc_t
operation_of(const struct lt_problem *p)
{
	const int32_t ta = p->w.turn_a ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int32_t tb = p->w.turn_b ? CUBLAS_OP_T : CUBLAS_OP_N;
	cublasLtMatmulDesc_t operation;

	BLAS(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	LT_SET(operation, TRANSA, ta);
	LT_SET(operation, TRANSB, tb);
	if (p->w.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
		LT_SET(operation, EPILOGUE, p->w.epilogue);
		LT_SET(operation, BIAS_POINTER, p->vector.device);
	}
	return operation;
}

static void
multiply(struct lt_problem *p)
{
	cublasLtHandle_t lt = (cublasLtHandle_t)blas;
	cublasLtMatmulDesc_t operation = operation_of(p);
	cublasLtMatrixLayout_t a = layout_of(&p->a), b = layout_of(&p->b);
	cublasLtMatrixLayout_t c = layout_of(&p->d);
	cublasLtMatmulHeuristicResult_t result;
	cublasLtMatmulPreference_t preference;
	void *workspace = NULL;
	int found = 0;

	BLAS(cublasLtMatmulPreferenceCreate(&preference));
	BLAS(cublasLtMatmulPreferenceSetAttribute(preference,
	    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
	    sizeof workspace_bytes));
	prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
	    p->a.device);
	prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
	    p->b.device);
	prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
	    p->d.device);
	prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
	    p->vector.device ? p->vector.device : p->d.device);
	CUDA(cudaMallocAsync(&workspace, workspace_bytes, stream));
	BLAS(cublasLtMatmulAlgoGetHeuristic(lt, operation, a, b, c, c,
	    preference, 1, &result, &found));
	client_expect(found == 1, "the heuristics name an algorithm");
	BLAS(cublasLtMatmul(lt, operation, lt_alpha(p), p->a.device, a,
	    p->b.device, b, lt_beta(p), p->d.device, c, p->d.device, c,
	    &result.algo, workspace, workspace_bytes, stream));
	CUDA(cudaFreeAsync(workspace, stream));
	BLAS(cublasLtMatmulPreferenceDestroy(preference));
	BLAS(cublasLtMatrixLayoutDestroy(c));
	BLAS(cublasLtMatrixLayoutDestroy(b));
	BLAS(cublasLtMatrixLayoutDestroy(a));
	BLAS(cublasLtMatmulDescDestroy(operation));
}

static void
judge(struct lt_problem *p, const char *what)
{
	struct lt_error error;
	double share;
	uint64_t hash;

	CUDA(cudaStreamSynchronize(stream));
	error = lt_check(p);
	share = error.worst / lt_bound(p, bits);
	hash = lt_hash(p);
	checksum = client_hash(checksum, &hash, sizeof hash);
	worst = share > worst ? share : worst;
	if (share <= 1)
		return;
	fprintf(stderr, "broken: %s: error %g, bound %g %s\n", what,
	    error.worst, lt_bound(p, bits), error.broken ? error.broken : "");
	exit(EXIT_FAILURE);
}

/* y (rows x out) = act(x (rows x in) W (out x in)^T + bias): in column order
 * y^T = W x^T. */
static struct lt_wanted
forward(int rows, int in, int out, unsigned epilogue)
{
	return (struct lt_wanted){ .kind = &lt_kinds[LT_FP32], .m = out,
		.n = rows, .k = in, .batch = 1, .turn_a = true,
		.epilogue = epilogue, .alpha = 1 };
}

/* dx = dy W, and dW += dy^T x. */
static struct lt_wanted
to_input(int rows, int in, int out)
{
	return (struct lt_wanted){ .kind = &lt_kinds[LT_FP32], .m = in,
		.n = rows, .k = out, .batch = 1,
		.epilogue = CUBLASLT_EPILOGUE_DEFAULT, .alpha = 1 };
}

static struct lt_wanted
to_weights(int rows, int in, int out)
{
	return (struct lt_wanted){ .kind = &lt_kinds[LT_FP32], .m = in,
		.n = out, .k = rows, .batch = 1, .turn_b = true,
		.epilogue = CUBLASLT_EPILOGUE_DEFAULT, .alpha = 1, .beta = 1 };
}

/* Scores of some heads: alpha is 1 / sqrt(depth). */
static struct lt_wanted
attention(int rows, int depth, int heads)
{
	return (struct lt_wanted){ .kind = &lt_kinds[LT_FP32], .m = rows,
		.n = rows, .k = depth, .batch = heads, .turn_a = true,
		.epilogue = CUBLASLT_EPILOGUE_DEFAULT, .alpha = 0.25f };
}

static void
take(const char *argument, int *calls)
{
	unsigned long long number;

	if (sscanf(argument, "calls=%d", calls) == 1 ||
	    sscanf(argument, "bits=%d", &bits) == 1)
		return;
	if (sscanf(argument, "workspace=%llu", &number) != 1)
		exit(EXIT_USAGE);
	workspace_bytes = number;
}

int
main(int argc, char **argv)
{
	static const int rows[] = { 32, 29 };
	struct lt_problem *problems[12];
	int calls = 4, count = 0;

	for (int i = 1; i < argc; i++)
		take(argv[i], &calls);
	BLAS(cublasCreate(&blas));
	CUDA(cudaStreamCreate(&stream));
	for (int i = 0; i < 2; i++) {
		const struct lt_wanted wanted[] = {
			forward(rows[i], 40, 64, CUBLASLT_EPILOGUE_GELU_BIAS),
			forward(rows[i], 64, 64, CUBLASLT_EPILOGUE_RELU_BIAS),
			forward(rows[i], 64, 24, CUBLASLT_EPILOGUE_BIAS),
			to_input(rows[i], 64, 24), to_weights(rows[i], 64, 24),
			attention(rows[i], 16, 4) };

		for (int j = 0; j < 6; j++, count++)
			problems[count] = lt_make(&wanted[j],
			    (uint64_t)count);
	}
	for (int i = 0; i < calls; i++)
		for (int j = 0; j < count; j++) {
			lt_renew(problems[j]);
			multiply(problems[j]);
			judge(problems[j], "a product");
		}
	printf("calls=%d checksum=%016" PRIx64 " worst=%.3g\n", calls * count,
	    checksum, worst);
	for (int j = 0; j < count; j++)
		lt_drop(problems[j]);
	CUDA(cudaStreamDestroy(stream));
	BLAS(cublasDestroy(blas));
	return EXIT_SUCCESS;
}
