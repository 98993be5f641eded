/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/gemm.c -- FP32 products in every way that cuBLAS offers, and
 * cublasLt: times, and errors against FP64. Run with the library preloaded,
 * `native` is ours.
 *
 *   gemm [-W WAY,...] [-l LABEL] [-e] [-s] SET...
 * -W: native tf32 fast16f fast16bf pure16 pure16-device, whose factors are on
 * the device, as ours are. -l: what rows call `native` here. -e: errors, too.
 * -s: B is of BF16's numbers, as weights may be. A set is a name of cases.c, or
 * N for a square. */
#include "linear.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct way {
	const char *name;
	enum gpu_store store;
	bool tf32;                   /* the math mode */
	cublasComputeType_t compute; /* of cublasGemmEx; native: of its own */
	bool ex, device;             /* device: alpha and beta are there */
};

static const struct way ways[] = {
	{ "native", STORE_FP32, false, CUBLAS_COMPUTE_32F, false, false },
	{ "tf32", STORE_FP32, true, CUBLAS_COMPUTE_32F, false, false },
	{ "fast16f", STORE_FP32, false, CUBLAS_COMPUTE_32F_FAST_16F, true,
	  false },
	{ "fast16bf", STORE_FP32, false, CUBLAS_COMPUTE_32F_FAST_16BF, true,
	  false },
	{ "pure16", STORE_FP16, false, CUBLAS_COMPUTE_32F, true, false },
	{ "pure16-device", STORE_FP16, false, CUBLAS_COMPUTE_32F, true, true },
};
enum { WAYS = sizeof ways / sizeof *ways, ROOM = 24 };

static const char *chosen = "native", *label;
static bool with_errors;
static enum gpu_data data_of[2] = { DATA_NORMAL, DATA_NORMAL }; /* A, B */

/* A case in device memory. */
struct product {
	const struct gemm_case *c;
	const struct way *way;
	cublasHandle_t handle;
	void  *operand[2][2];        /* A, B; as FP32, as FP16 */
	float *result;
	void  *array[3][2];          /* of pointers, of both kinds; C's is
	                              * array[2][0] */
	cublasOperation_t op[2];
	int    ld[2];
	struct linear linear;        /* of FORM_LINEAR, this way */
};

/* In device pointer mode, and its 1 and 0. */
static cublasHandle_t by_device;
static float *device_factors;

static void
call_plain(const struct product *p, const float *one, const float *zero)
{
	const struct gemm_case *c = p->c;
	const float *a = p->operand[0][0], *b = p->operand[1][0];
	const int lda = p->ld[0], ldb = p->ld[1];

	if (c->form == FORM_SINGLE)
		MUST(cublasSgemm(p->handle, p->op[0], p->op[1], c->m, c->n,
		    c->k, one, a, lda, b, ldb, zero, p->result, c->m));
	else if (c->form == FORM_STRIDED)
		MUST(cublasSgemmStridedBatched(p->handle, p->op[0], p->op[1],
		    c->m, c->n, c->k, one, a, lda, (long long)c->m * c->k, b,
		    ldb, (long long)c->k * c->n, zero, p->result, c->m,
		    (long long)c->m * c->n, c->batch));
	else
		MUST(cublasSgemmBatched(p->handle, p->op[0], p->op[1], c->m,
		    c->n, c->k, one, (const float *const *)p->array[0][0], lda,
		    (const float *const *)p->array[1][0], ldb, zero,
		    (float *const *)p->array[2][0], c->m, c->batch));
}

static void
call_ex(const struct product *p, const float *one, const float *zero)
{
	const struct gemm_case *c = p->c;
	const bool half = p->way->store == STORE_FP16;
	const cudaDataType_t type = half ? CUDA_R_16F : CUDA_R_32F;
	const void *a = p->operand[0][half], *b = p->operand[1][half];
	const int lda = p->ld[0], ldb = p->ld[1];

	if (c->form == FORM_SINGLE)
		MUST(cublasGemmEx(p->handle, p->op[0], p->op[1], c->m, c->n,
		    c->k, one, a, type, lda, b, type, ldb, zero, p->result,
		    CUDA_R_32F, c->m, p->way->compute, CUBLAS_GEMM_DEFAULT));
	else if (c->form == FORM_STRIDED)
		MUST(cublasGemmStridedBatchedEx(p->handle, p->op[0], p->op[1],
		    c->m, c->n, c->k, one, a, type, lda,
		    (long long)c->m * c->k, b, type, ldb,
		    (long long)c->k * c->n, zero, p->result, CUDA_R_32F, c->m,
		    (long long)c->m * c->n, c->batch, p->way->compute,
		    CUBLAS_GEMM_DEFAULT));
	else
		MUST(cublasGemmBatchedEx(p->handle, p->op[0], p->op[1], c->m,
		    c->n, c->k, one, (const void *const *)p->array[0][half],
		    type, lda, (const void *const *)p->array[1][half], type,
		    ldb, zero, (void *const *)p->array[2][0], CUDA_R_32F, c->m,
		    c->batch, p->way->compute, CUBLAS_GEMM_DEFAULT));
}

static void
call(void *context)
{
	const struct product *p = context;
	const bool half = p->way->store == STORE_FP16;
	const float one = 1, zero = 0;

	if (p->c->form == FORM_LINEAR)
		linear_call(&p->linear, p->operand[0][half],
		    p->operand[1][half], p->result,
		    p->way->device ? device_factors : &one,
		    p->way->device ? device_factors + 1 : &zero);
	else if (p->way->device)
		call_ex(p, device_factors, device_factors + 1);
	else if (p->way->ex)
		call_ex(p, &one, &zero);
	else
		call_plain(p, &one, &zero);
}

/* A handle for factors on the device, and these. */
static void
by_device_start(void)
{
	const float factors[2] = { 1, 0 };

	if (by_device)
		return;
	MUST(cublasCreate(&by_device));
	MUST(cublasSetStream(by_device, gpu.stream));
	MUST(cublasSetPointerMode(by_device, CUBLAS_POINTER_MODE_DEVICE));
	device_factors = gpu_alloc(sizeof factors);
	MUST(cudaMemcpyAsync(device_factors, factors, sizeof factors,
	    cudaMemcpyHostToDevice, gpu.stream));
	MUST(cudaStreamSynchronize(gpu.stream));
}

/* Device memory with the addresses of `batch` matrices. */
static void *
addresses(const void *first, size_t bytes_each, int batch)
{
	const char **host = malloc((size_t)batch * sizeof *host);
	void *device = gpu_alloc((size_t)batch * sizeof *host);

	gpu_must(!host, "malloc");
	for (int i = 0; i < batch; i++)
		host[i] = (const char *)first + (size_t)i * bytes_each;
	MUST(cudaMemcpyAsync(device, host, (size_t)batch * sizeof *host,
	    cudaMemcpyHostToDevice, gpu.stream));
	MUST(cudaStreamSynchronize(gpu.stream));
	free(host);
	return device;
}

static bool
is_chosen(const struct way *way)
{
	const size_t length = strlen(way->name);

	for (const char *s = chosen; s; s = strchr(s, ','), s = s ? s + 1 : s)
		if (!strncmp(s, way->name, length) &&
		    (s[length] == ',' || !s[length]))
			return true;
	return false;
}

static bool
needs_halves(void)
{
	for (int i = 0; i < WAYS; i++)
		if (ways[i].store == STORE_FP16 && is_chosen(&ways[i]))
			return true;
	return false;
}

static void
product_make(const struct gemm_case *c, struct product *p)
{
	const size_t each[2] = { (size_t)c->m * c->k, (size_t)c->k * c->n };
	const size_t result = (size_t)c->m * c->n;

	memset(p, 0, sizeof *p);
	p->c = c;
	for (int i = 0; i < 2; i++)
		p->op[i] = c->trans[i] ? CUBLAS_OP_T : CUBLAS_OP_N;
	p->ld[0] = c->trans[0] ? c->k : c->m;
	p->ld[1] = c->trans[1] ? c->n : c->k;
	for (unsigned i = 0; i < 2; i++)
		for (int half = 0; half <= needs_halves(); half++) {
			const enum gpu_store s = half ? STORE_FP16 : STORE_FP32;

			p->operand[i][half] = gpu_fill(
			    gpu_pool_get(data_of[i], i), s,
			    each[i] * (size_t)c->batch);
			if (c->form == FORM_ARRAY)
				p->array[i][half] = addresses(
				    p->operand[i][half],
				    each[i] * gpu_store_bytes(s), c->batch);
		}
	p->result = gpu_alloc(result * (size_t)c->batch * sizeof(float));
	if (c->form == FORM_ARRAY)
		p->array[2][0] = addresses(p->result, result * sizeof(float),
		    c->batch);
}

static void
product_free(struct product *p)
{
	for (int i = 0; i < 3; i++)
		for (int half = 0; half < 2; half++) {
			if (i < 2 && p->operand[i][half])
				gpu_free(p->operand[i][half]);
			if (p->array[i][half])
				gpu_free(p->array[i][half]);
		}
	gpu_free(p->result);
}

/* Whether cublasLt has a way; its compute type is the math mode's. */
static bool
make_linear(struct product *p, const struct way *way)
{
	return linear_make(p->c, way->store == STORE_FP16 ? CUDA_R_16F :
	    CUDA_R_32F, way->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 :
	    way->compute, way->device, &p->linear);
}

/* A GELU hides what the product is. */
static bool
has_error(const struct gemm_case *c)
{
	return with_errors && (c->form != FORM_LINEAR ||
	    c->epilogue == CUBLASLT_EPILOGUE_BIAS);
}

static void
measure(struct product *p, const struct way *way)
{
	const struct gemm_case *c = p->c;
	const struct gpu_product product = { c->m, c->n, c->k, c->batch,
		gpu_pool_get(data_of[0], 0), gpu_pool_get(data_of[1], 1),
		STORE_FP32, 1, c->trans[0], c->trans[1] };
	struct gpu_timing t;
	char error[32] = "";

	p->way = way;
	if (way->device)
		by_device_start();
	if (c->form == FORM_LINEAR && !make_linear(p, way)) {
		row("left_out", "case=%s\tway=%s\tnote=cublasLt has no "
		    "algorithm for it", c->name,
		    label && way == ways ? label : way->name);
		return;
	}
	p->handle = way->device ? by_device :
	    way->tf32 ? gpu.tf32 : gpu.handle;
	MUST(cudaMemsetAsync(p->result, 0xff, (size_t)c->m * c->n *
	    (size_t)c->batch * sizeof(float), gpu.stream));
	t = gpu_time(call, p);
	if (c->form == FORM_LINEAR)
		linear_free(&p->linear);
	if (has_error(c))
		snprintf(error, sizeof error, "\terror=%.4g",
		    gpu_error_of(&product, p->result).norm);
	row("time", "case=%s\tway=%s\tform=%s\tm=%d\tn=%d\tk=%d\tbatch=%d\t"
	    "median=%.6g\tlow=%.6g\thigh=%.6g\tsamples=%d\tcalls=%d\t"
	    "tflops=%.5g%s", c->name,
	    label && way == ways ? label : way->name, gemm_forms[c->form],
	    c->m, c->n, c->k, c->batch, t.median, t.low, t.high, t.samples,
	    t.calls, 2e-12 * c->m * c->n * c->k * c->batch / t.median, error);
}

static double
bytes_of(const struct gemm_case *c)
{
	const double elements = (double)c->m * c->k + (double)c->k * c->n;

	return c->batch * (elements * (needs_halves() ? 6 : 4) +
	    /* ours: casts, and a result apart */
	    elements * 2 + 8.0 * c->m * c->n);
}

static void
run(const struct gemm_case *c)
{
	struct product p;

	if (gpu_is_late() || !gpu_has_room(bytes_of(c))) {
		row("left_out", "case=%s\tway=%s\tnote=%s", c->name,
		    label ? label : chosen,
		    gpu_is_late() ? "out of time" : "out of device memory");
		return;
	}
	product_make(c, &p);
	for (int i = 0; i < WAYS; i++)
		if (is_chosen(&ways[i]))
			measure(&p, &ways[i]);
	product_free(&p);
}

static void
take(int option, const char *value)
{
	switch (option) {
	case 'W': chosen = value; break;
	case 'l': label = value; break;
	case 'e': with_errors = true; break;
	case 's': data_of[1] = DATA_SHORT; break;
	}
}

int
main(int argc, char **argv)
{
	const int first = gpu_start(argc, argv, "W:l:es", take);

	for (int i = first; i < argc; i++)
		gemm_cases_of(argv[i], run);
	return 0;
}
