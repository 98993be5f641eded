/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/numbers.c -- questions that a result answers, not a clock: how
 * Tensor Cores sum, how TF32 rounds, what a compute type really is.
 *
 *   numbers machine | accumulate | rounding | ranges | override
 * `override` is run with NVIDIA_TF32_OVERRIDE=1 and without. */
#include "gpu.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* C = A B, m = n; A, B and C in device memory. */
struct job {
	int m, k;
	cublasHandle_t handle;
	cudaDataType_t type;         /* of A and B */
	cublasComputeType_t compute;
	bool plain;                  /* by cublasSgemm */
};

static void
multiply(const struct job *job, const void *a, const void *b, float *c)
{
	const float one = 1, zero = 0;

	if (job->plain) {
		MUST(cublasSgemm(job->handle, CUBLAS_OP_N, CUBLAS_OP_N, job->m,
		    job->m, job->k, &one, a, job->m, b, job->k, &zero, c,
		    job->m));
		return;
	}
	MUST(cublasGemmEx(job->handle, CUBLAS_OP_N, CUBLAS_OP_N, job->m,
	    job->m, job->k, &one, a, job->type, job->m, b, job->type, job->k,
	    &zero, c, CUDA_R_32F, job->m, job->compute,
	    CUBLAS_GEMM_DEFAULT));
}

/* The error of the job on A of `data` and B of `data_b`, stored as `store` and
 * compared with the product of what `against` leaves of them. */
static struct gpu_error
error_of(const struct job *job, enum gpu_data data, enum gpu_data data_b,
    enum gpu_store store, enum gpu_store against)
{
	const struct gpu_product p = { job->m, job->m, job->k, 1,
		gpu_pool_get(data, 0), gpu_pool_get(data_b, 1), against, 1 };
	const size_t count = (size_t)job->m * (size_t)job->k;
	const size_t result = (size_t)job->m * (size_t)job->m;
	void *a = gpu_fill(p.a, store, count), *b = gpu_fill(p.b, store, count);
	float *c = gpu_alloc(result * sizeof *c);
	struct gpu_error error;

	MUST(cudaMemsetAsync(c, 0xff, result * sizeof *c, gpu.stream));
	multiply(job, a, b, c);
	error = gpu_error_of(&p, c);
	gpu_free(a);
	gpu_free(b);
	gpu_free(c);
	return error;
}

/* ---- n1 */

static void
accumulate(void)
{
	static const int depths[] = { 256, 1024, 4096, 16384 };
	static const char *const data[] = { "normal", "uniform(0,1)" };
	const int last = gpu.quick ? 1 : 4;

	for (int i = 0; i < last; i++)
		for (int positive = 0; positive < 2; positive++) {
			/* So many tiles that no kernel splits K. */
			const struct job job = { gpu.quick ? 64 : 4096,
				depths[i], gpu.handle, CUDA_R_16F,
				CUBLAS_COMPUTE_32F, false };
			const enum gpu_data d = positive ? DATA_UNIT :
			    DATA_NORMAL;
			const double sum = error_of(&job, d, d, STORE_FP16,
			    STORE_FP16).norm;
			const double all = error_of(&job, d, d, STORE_FP16,
			    STORE_FP32).norm;
			char part[64];

			snprintf(part, sizeof part, "%s K=%d", data[positive],
			    job.k);
			row_item("n1", part, sum, "fro",
			    !positive || job.k != 16384 ? "-" :
			    sum > 2e-5 ? "truncates" :
			    sum < 6e-6 ? "rounds" : "unclear",
			    "with the cast %.3g", all);
		}
}

/* ---- n2 */

/* What TF32 makes of x: x times a column of the identity. */
static float
as_tf32(float x)
{
	enum { N = 512, QUICK = 64 };
	const size_t n = gpu.quick ? QUICK : N;
	const struct job job = { (int)n, (int)n, gpu.tf32, CUDA_R_32F,
		CUBLAS_COMPUTE_32F_FAST_TF32, false };
	float *host = calloc(n * n, sizeof *host), result;
	float *device[3];

	gpu_must(!host, "calloc");
	for (int i = 0; i < 3; i++)
		device[i] = gpu_alloc(n * n * sizeof *host);
	for (size_t i = 0; i < n; i++)
		host[i * n + i] = 1;
	MUST(cudaMemcpy(device[0], host, n * n * sizeof *host,
	    cudaMemcpyHostToDevice));
	for (size_t i = 0; i < n * n; i++)
		host[i] = x;
	MUST(cudaMemcpy(device[1], host, n * n * sizeof *host,
	    cudaMemcpyHostToDevice));
	MUST(cudaDeviceSynchronize());
	multiply(&job, device[0], device[1], device[2]);
	MUST(cudaStreamSynchronize(gpu.stream));
	MUST(cudaMemcpy(&result, device[2] + n + 1, sizeof result,
	    cudaMemcpyDeviceToHost));
	for (int i = 0; i < 3; i++)
		gpu_free(device[i]);
	free(host);
	return result;
}

static void
rounding(void)
{
	const struct job job = { gpu.quick ? 64 : 2048, gpu.quick ? 256 : 4096,
		gpu.tf32, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, false };
	const double bias = error_of(&job, DATA_UNIT, DATA_UNIT, STORE_FP32,
	    STORE_FP32).bias;
	const float above = as_tf32(1 + 0.75f * 0x1p-10f);
	const float tie = as_tf32(1 + 0.5f * 0x1p-10f);
	const float up = 1 + 0x1p-10f;

	row_item("n2", "bias, uniform(0,1)", bias, "relative",
	    fabs(bias) < 1e-4 ? "nearest" : bias < -4e-4 ? "truncates" :
	    "unclear", "K=%d", job.k);
	row_item("n2", "1 + 3/4 ulp", (above - 1) * 0x1p10, "ulp",
	    above == up ? "nearest" : above == 1 ? "truncates" : "unclear",
	    "0 truncated, 1 nearest");
	row_item("n2", "1 + 1/2 ulp", (tie - 1) * 0x1p10, "ulp",
	    tie == up ? "ties away" : tie == 1 ? "ties to even" : "unclear",
	    "0 to even (or truncated), 1 away");
}

/* ---- n6, a2 */

/* What arithmetic has these errors on normal, 1e-30 and 1e5 data? */
static const char *
arithmetic(double normal, double tiny, double large)
{
	if (normal < 2e-5)
		return "FP32";
	if (normal > 1e-3)
		return normal < 5e-3 ? "BF16" : "unclear";
	if (tiny > 0.5 || !isfinite(large))
		return "FP16, unscaled";
	return tiny < 1e-3 && large < 1e-3 ? "TF32, or scaled FP16" : "unclear";
}

static void
ranges(void)
{
	static const struct {
		const char *name;
		cublasComputeType_t compute;
	} types[] = {
		{ "FAST_16F", CUBLAS_COMPUTE_32F_FAST_16F },
		{ "FAST_16BF", CUBLAS_COMPUTE_32F_FAST_16BF },
		{ "FAST_TF32", CUBLAS_COMPUTE_32F_FAST_TF32 },
	};
	static const int sizes[] = { 128, 1024, 4096 };

	for (int i = 0; i < (gpu.quick ? 1 : 3); i++)
		for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
			const struct job job = { sizes[i], sizes[i],
				gpu.handle, CUDA_R_32F, types[t].compute,
				false };
			double error[3];
			char part[64];

			for (int d = 0; d < 3; d++)
				error[d] = error_of(&job, ((enum gpu_data[]) {
				    DATA_NORMAL, DATA_TINY, DATA_LARGE })[d],
				    DATA_NORMAL, STORE_FP32, STORE_FP32).norm;
			snprintf(part, sizeof part, "%s N=%d", types[t].name,
			    job.m);
			row_item("a2", part, error[0], "fro",
			    arithmetic(error[0], error[1], error[2]),
			    "1e-30 data %.3g, 1e5 data %.3g", error[1],
			    error[2]);
		}
}

/* ---- a1 */

static void
override(void)
{
	static const int sizes[] = { 128, 1024, 4096 };
	const char *set = getenv("NVIDIA_TF32_OVERRIDE");

	for (int i = 0; i < (gpu.quick ? 1 : 3); i++) {
		const struct job job = { sizes[i], sizes[i], gpu.handle,
			CUDA_R_32F, CUBLAS_COMPUTE_32F, true };
		const double error = error_of(&job, DATA_NORMAL, DATA_NORMAL,
		    STORE_FP32, STORE_FP32).norm;
		char part[64];

		snprintf(part, sizeof part, "override %s N=%d",
		    set ? set : "unset", job.m);
		row_item("a1", part, error, "fro",
		    !set ? "-" : error > 1e-4 ? "yes" : "no",
		    "about 3e-4 is TF32, about 1e-6 FP32");
	}
}

/* ---- The machine */

static int
attribute(enum cudaDeviceAttr what)
{
	int value;

	MUST(cudaDeviceGetAttribute(&value, what, 0));
	return value;
}

static void
machine(void)
{
	char name[256] = "";
	int driver, runtime, cublas;
	size_t left, total;
	int (*device_name)(char *, int, int);
	void *found = dlsym(RTLD_DEFAULT, "cuDeviceGetName");

	if (!found)
		found = dlsym(dlopen("libcuda.so.1", RTLD_NOW),
		    "cuDeviceGetName");
	gpu_must(!found, "cuDeviceGetName");
	memcpy(&device_name, &found, sizeof found);
	MUST(device_name(name, sizeof name - 1, 0));
	MUST(cudaDriverGetVersion(&driver));
	MUST(cudaRuntimeGetVersion(&runtime));
	MUST(cublasGetVersion(gpu.handle, &cublas));
	MUST(cudaMemGetInfo(&left, &total));
	row("machine", "gpu=%s\tcompute_capability=%d.%d\tmultiprocessors=%d\t"
	    "memory_bytes=%zu\tl2_bytes=%d\tcuda_driver=%d\tcuda_runtime=%d\t"
	    "cublas=%d\temulated=%s", name,
	    attribute(cudaDevAttrComputeCapabilityMajor),
	    attribute(cudaDevAttrComputeCapabilityMinor),
	    attribute(cudaDevAttrMultiProcessorCount), total,
	    attribute(cudaDevAttrL2CacheSize), driver, runtime, cublas,
	    strstr(name, "emulated") ? "yes" : "no");
}

static void
take(int option, const char *value)
{
	(void)option, (void)value;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} commands[] = {
		{ "machine", machine }, { "accumulate", accumulate },
		{ "rounding", rounding }, { "ranges", ranges },
		{ "override", override },
	};
	const int first = gpu_start(argc, argv, "", take);

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (first < argc && !strcmp(argv[first], commands[i].name)) {
			commands[i].run();
			return 0;
		}
	fputs("numbers: no such question\n", stderr);
	return 2;
}
