/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/epilogues.c -- what the manual of cublasLtMatmul() does not say
 * of its epilogues: what they make of NaN and infinities, which GELU it is, how
 * a mask lies in memory (n9); which of them it has an algorithm for, per types
 * and place of alpha and beta (n10). */
#include "gpu.h"

#include <cublasLt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { M = 128, N = 16, K = 16, RESULTS = 16, WORKSPACE = 4 << 20 };
/* Rows with a value of their own; the others are 1 or -1. */
enum { NAN_ROW, INF_ROW, MINUS_INF_ROW, TWO_ROW, ZERO_ROW, SPECIAL };

static const struct {
	const char *name;
	cublasLtEpilogue_t value;
} epilogues[] = {
#define EPILOGUE(name) { #name, CUBLASLT_EPILOGUE_##name },
	EPILOGUE(DEFAULT) EPILOGUE(BIAS) EPILOGUE(RELU) EPILOGUE(RELU_BIAS)
	EPILOGUE(GELU) EPILOGUE(GELU_BIAS) EPILOGUE(RELU_AUX)
	EPILOGUE(RELU_AUX_BIAS) EPILOGUE(GELU_AUX) EPILOGUE(GELU_AUX_BIAS)
	EPILOGUE(DRELU) EPILOGUE(DRELU_BGRAD) EPILOGUE(DGELU)
	EPILOGUE(DGELU_BGRAD) EPILOGUE(BGRADA) EPILOGUE(BGRADB)
#undef EPILOGUE
};
static const struct {
	const char *name;
	cublasComputeType_t compute;
	cudaDataType_t in;
} kinds[] = {
	{ "FP32", CUBLAS_COMPUTE_32F, CUDA_R_32F },
	{ "FP32 as TF32", CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F },
	{ "FP32 as BF16", CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F },
	{ "FP16, FP32 out", CUBLAS_COMPUTE_32F, CUDA_R_16F },
	{ "BF16, FP32 out", CUBLAS_COMPUTE_32F, CUDA_R_16BF }
};

static cublasLtHandle_t handle;
static cublasLtMatmulDesc_t operation;
static cublasLtMatrixLayout_t layout_a, layout_b, layout_d;
static void *workspace, *bias, *aux;
static float *a, *b, *d;

#define SET(attribute, value)                                             \
	MUST(cublasLtMatmulDescSetAttribute(operation,                    \
	    CUBLASLT_MATMUL_DESC_##attribute, &(value), sizeof (value)))

static bool
wants_bias(cublasLtEpilogue_t epilogue)
{
	switch (epilogue) {
	case CUBLASLT_EPILOGUE_DEFAULT:
	case CUBLASLT_EPILOGUE_RELU:
	case CUBLASLT_EPILOGUE_RELU_AUX:
	case CUBLASLT_EPILOGUE_GELU:
	case CUBLASLT_EPILOGUE_GELU_AUX:
	case CUBLASLT_EPILOGUE_DRELU:
	case CUBLASLT_EPILOGUE_DGELU:
		return false;
	default:
		return true;
	}
}

static bool
wants_aux(cublasLtEpilogue_t epilogue)
{
	switch (epilogue) {
	case CUBLASLT_EPILOGUE_RELU_AUX:
	case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
	case CUBLASLT_EPILOGUE_GELU_AUX:
	case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
	case CUBLASLT_EPILOGUE_DRELU:
	case CUBLASLT_EPILOGUE_DRELU_BGRAD:
	case CUBLASLT_EPILOGUE_DGELU:
	case CUBLASLT_EPILOGUE_DGELU_BGRAD:
		return true;
	default:
		return false;
	}
}

static void
describe(cublasComputeType_t compute, cudaDataType_t in,
    cublasLtEpilogue_t epilogue, bool device, int32_t order)
{
	const int32_t mode = device ? CUBLASLT_POINTER_MODE_DEVICE :
	    CUBLASLT_POINTER_MODE_HOST;
	const int64_t aux_ld = M;

	MUST(cublasLtMatmulDescCreate(&operation, compute, CUDA_R_32F));
	SET(EPILOGUE, epilogue);
	SET(POINTER_MODE, mode);
	/* Where an epilogue has none, a product with one is refused. */
	if (wants_bias(epilogue))
		SET(BIAS_POINTER, bias);
	if (wants_aux(epilogue)) {
		SET(EPILOGUE_AUX_POINTER, aux);
		SET(EPILOGUE_AUX_LD, aux_ld);
	}
	MUST(cublasLtMatrixLayoutCreate(&layout_a, in, M, K, M));
	MUST(cublasLtMatrixLayoutCreate(&layout_b, in, K, N, K));
	MUST(cublasLtMatrixLayoutCreate(&layout_d, CUDA_R_32F, M, N,
	    order == CUBLASLT_ORDER_ROW ? N : M));
	MUST(cublasLtMatrixLayoutSetAttribute(layout_d,
	    CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
}

static void
forget(void)
{
	MUST(cublasLtMatmulDescDestroy(operation));
	MUST(cublasLtMatrixLayoutDestroy(layout_a));
	MUST(cublasLtMatrixLayoutDestroy(layout_b));
	MUST(cublasLtMatrixLayoutDestroy(layout_d));
}

static int
offered(cublasLtMatmulHeuristicResult_t *results)
{
	const uint64_t bytes = WORKSPACE;
	cublasLtMatmulPreference_t preference;
	int found = 0;

	MUST(cublasLtMatmulPreferenceCreate(&preference));
	MUST(cublasLtMatmulPreferenceSetAttribute(preference,
	    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes));
	if (cublasLtMatmulAlgoGetHeuristic(handle, operation, layout_a,
	    layout_b, layout_d, layout_d, preference, RESULTS, results,
	    &found))
		found = 0;
	MUST(cublasLtMatmulPreferenceDestroy(preference));
	return found;
}

/* ---- n10 */

static int
count(int kind, cublasLtEpilogue_t epilogue, bool device, int32_t order)
{
	cublasLtMatmulHeuristicResult_t results[RESULTS];
	int found;

	describe(kinds[kind].compute, kinds[kind].in, epilogue, device, order);
	found = offered(results);
	forget();
	return found;
}

static void
offers(void)
{
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (size_t e = 0; e < sizeof epilogues / sizeof *epilogues;
		    e++) {
			const int32_t column = CUBLASLT_ORDER_COL;
			const int host = count((int)k, epilogues[e].value,
			    false, column);
			const int device = count((int)k, epilogues[e].value,
			    true, column);
			char part[64];

			snprintf(part, sizeof part, "%s %s", kinds[k].name,
			    epilogues[e].name);
			row_item("n10", part, host, "algorithms",
			    host && device ? "both modes" : host ?
			    "host mode only" : device ? "device mode only" :
			    "none", "device mode: %d; D in row order: %d",
			    device, count((int)k, epilogues[e].value, false,
			    CUBLASLT_ORDER_ROW));
		}
}

/* ---- n9: A's first column times a row of ones. */

static float
value_of(int row)
{
	switch (row) {
	case NAN_ROW:
		return NAN;
	case INF_ROW:
		return INFINITY;
	case MINUS_INF_ROW:
		return -INFINITY;
	case TWO_ROW:
		return 2;
	case ZERO_ROW:
		return 0;
	default: /* bits of a prime: no order of them looks like another */
		return 0x5bd1e995u >> row % 32 & 1 ? 1 : -1;
	}
}

static void
put(void *to, const void *from, size_t bytes)
{
	MUST(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice,
	    gpu.stream));
	MUST(cudaStreamSynchronize(gpu.stream));
}

static void
fetch(void *to, const void *from, size_t bytes)
{
	MUST(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost,
	    gpu.stream));
	MUST(cudaStreamSynchronize(gpu.stream));
}

/* The rows of A are the values, or all are 1. */
static void
fill(bool with_values)
{
	float host_a[M * K] = { 0 }, host_b[K * N] = { 0 };

	for (int i = 0; i < M; i++)
		host_a[i] = with_values ? value_of(i) : 1;
	for (int j = 0; j < N; j++)
		host_b[j * K] = 1;
	put(a, host_a, sizeof host_a);
	put(b, host_b, sizeof host_b);
	MUST(cudaMemsetAsync(bias, 0, M * sizeof(float), gpu.stream));
}

/* D's first column; false, and a row that says so, if there is no algorithm. */
static bool
run(cublasLtEpilogue_t epilogue, const char *name, float column[M])
{
	cublasLtMatmulHeuristicResult_t results[RESULTS];
	const float one = 1, zero = 0;
	int status = -1;

	describe(CUBLAS_COMPUTE_32F, CUDA_R_32F, epilogue, false,
	    CUBLASLT_ORDER_COL);
	if (offered(results) && !results[0].state)
		status = (int)cublasLtMatmul(handle, operation, &one, a,
		    layout_a, b, layout_b, &zero, d, layout_d, d, layout_d,
		    &results[0].algo, workspace, WORKSPACE, gpu.stream);
	forget();
	if (status) {
		char reason[64];

		snprintf(reason, sizeof reason, status < 0 ? "no algorithm" :
		    "the product was refused: status %d", status);
		row_unanswered("n9", name, reason);
		return false;
	}
	fetch(column, d, M * sizeof *column);
	return true;
}

static void
class_row(const char *part, float x)
{
	row_item("n9", part, isnan(x), "is NaN", isnan(x) ? "NaN" :
	    isinf(x) ? x > 0 ? "inf" : "-inf" : x == 0 ? signbit(x) ? "-0" :
	    "0" : "another number", "bits %08x", ((union { float f;
	    unsigned u; }){ x }).u);
}

/* Which of two forms a number is nearer to. */
static void
form_row(const char *part, float x, double by_tanh, double by_erf)
{
	const double t = fabs((double)x - by_tanh);
	const double e = fabs((double)x - by_erf);

	row_item("n9", part, (double)x, "value", t < e / 4 ? "tanh" :
	    e < t / 4 ? "erf" : "unclear", "by tanh %.9g, by erf %.9g",
	    by_tanh, by_erf);
}

static double
gelu_tanh(double x)
{
	return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) *
	    (x + 0.044715 * x * x * x)));
}

static double
gelu_erf(double x)
{
	return 0.5 * x * (1 + erf(x / sqrt(2)));
}

/* By a difference of 1e-6: better than 1e-9, as x is near 1. */
static double
slope(double (*function)(double), double x)
{
	return (function(x + 1e-6) - function(x - 1e-6)) / 2e-6;
}

/* Bits of the first column's mask, counted from this end of each byte. */
static int
agreeing(const unsigned char mask[M / 8], bool lowest_first)
{
	int same = 0;

	for (int i = SPECIAL; i < M; i++)
		same += (mask[i / 8] >> (lowest_first ? i % 8 : 7 - i % 8) &
		    1) == (value_of(i) > 0);
	return same;
}

static void
mask_rows(void)
{
	unsigned char mask[M / 8];
	bool lowest;

	fetch(mask, aux, sizeof mask);
	lowest = agreeing(mask, true) == M - SPECIAL;
	row_item("n9", "order of a mask's bits", agreeing(mask, true),
	    "bits agree", lowest ? "lowest first" :
	    agreeing(mask, false) == M - SPECIAL ? "highest first" :
	    "another", "of %d; first bytes %02x %02x %02x %02x", M - SPECIAL,
	    mask[0], mask[1], mask[2], mask[3]);
	if (!lowest)
		return;
	row_item("n9", "a mask's bit of NaN", mask[0] >> NAN_ROW & 1, "bit",
	    mask[0] >> NAN_ROW & 1 ? "set" : "clear", "-");
	row_item("n9", "a mask's bit of 0", mask[0] >> ZERO_ROW & 1, "bit",
	    mask[0] >> ZERO_ROW & 1 ? "set" : "clear", "-");
}

static void
forward(void)
{
	float x[M];

	fill(true);
	if (run(CUBLASLT_EPILOGUE_RELU, "RELU", x)) {
		class_row("RELU of NaN", x[NAN_ROW]);
		class_row("RELU of inf", x[INF_ROW]);
		class_row("RELU of -inf", x[MINUS_INF_ROW]);
	}
	if (run(CUBLASLT_EPILOGUE_GELU, "GELU", x)) {
		form_row("GELU of 2", x[TWO_ROW], gelu_tanh(2), gelu_erf(2));
		class_row("GELU of NaN", x[NAN_ROW]);
		class_row("GELU of inf", x[INF_ROW]);
		class_row("GELU of -inf", x[MINUS_INF_ROW]);
	}
	if (run(CUBLASLT_EPILOGUE_RELU_AUX, "RELU_AUX", x))
		mask_rows();
}

/* A product of ones through what AUX holds, and of the values through a mask
 * that lets nothing pass. */
static void
backward(void)
{
	float x[M], before[M * N];

	for (int i = 0; i < M * N; i++)
		before[i] = value_of(i % M);
	fill(false);
	put(aux, before, sizeof before);
	if (run(CUBLASLT_EPILOGUE_DGELU, "DGELU", x)) {
		form_row("DGELU at 2", x[TWO_ROW], slope(gelu_tanh, 2),
		    slope(gelu_erf, 2));
		class_row("DGELU at inf", x[INF_ROW]);
		class_row("DGELU at -inf", x[MINUS_INF_ROW]);
		class_row("DGELU at NaN", x[NAN_ROW]);
	}
	fill(true);
	memset(before, 0, sizeof before);
	put(aux, before, sizeof before);
	if (run(CUBLASLT_EPILOGUE_DRELU, "DRELU", x))
		class_row("DRELU of NaN, its bit clear", x[NAN_ROW]);
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
	bias = gpu_alloc((M + N) * sizeof(float));
	aux = gpu_alloc(M * N * sizeof(float));
	a = gpu_alloc(M * K * sizeof(float));
	b = gpu_alloc(K * N * sizeof(float));
	d = gpu_alloc(M * N * sizeof(float));
	forward();
	backward();
	offers();
	return 0;
}
