/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/injected.c -- a program in which a call of NVIDIA's is
 * made to fail: products by every function, with C read and not, in arrays, in
 * a capture. For each call of a product a line: what kind, which of its calls,
 * its status, and whether the result is right. It goes on after a product that
 * failed, and ends with a line where anything else did.
 *
 * Right: each number is off by no more than two roundings to 11 bits of each of
 * its products, and of the sum of as many in FP32, make of the sizes of what
 * went into it. */
#include "injected.h"

#include <cublasLt.h>

#include <math.h>

enum { M = 48, N = 32, K = 64, BATCH = 2, ROUNDS = 5, REPLAYS = 2 };

static cudaStream_t stream;
static cublasHandle_t handle;
static float *device_a, *device_b, *device_c;

/* ---- Kinds --------------------------------------------------------------- */

static const float none = 0;

static int
sgemm(float *a, float *b, float *c)
{
	return (int)cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K,
	    &one, a, M, b, K, &none, c, M);
}

static int
sgemm_adds(float *a, float *b, float *c)
{
	return (int)cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K,
	    &one, a, M, b, K, &one, c, M);
}

static int
strided(float *a, float *b, float *c)
{
	return (int)cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N,
	    M, N, K, &one, a, M, M * K, b, K, K * N, &none, c, M, M * N, BATCH);
}

static const float **arrays;

static void
open_arrays(cudaStream_t unused)
{
	const float *host[3 * BATCH];
	void *device;

	(void)unused;
	for (int i = 0; i < BATCH; i++) {
		host[i] = device_a + i * M * K;
		host[BATCH + i] = device_b + i * K * N;
		host[2 * BATCH + i] = device_c + i * M * N;
	}
	NEED(cudaMalloc(&device, sizeof host));
	NEED(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
	arrays = device;
}

static int
in_arrays(float *a, float *b, float *c)
{
	(void)a, (void)b, (void)c;
	return (int)cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N,
	    K, &one, arrays, M, arrays + BATCH, K, &none,
	    (float **)(uintptr_t)(arrays + 2 * BATCH), M, BATCH);
}

static cublasLtHandle_t lt;
static cublasLtMatmulDesc_t operation;
static cublasLtMatrixLayout_t of_a, of_b, of_c;

static void
open_lt(cudaStream_t unused)
{
	(void)unused;
	NEED(cublasLtCreate(&lt));
	NEED(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	NEED(cublasLtMatrixLayoutCreate(&of_a, CUDA_R_32F, M, K, M));
	NEED(cublasLtMatrixLayoutCreate(&of_b, CUDA_R_32F, K, N, K));
	NEED(cublasLtMatrixLayoutCreate(&of_c, CUDA_R_32F, M, N, M));
}

static int
by_lt(float *a, float *b, float *c)
{
	return (int)cublasLtMatmul(lt, operation, &one, a, of_a, b, of_b, &none,
	    c, of_c, c, of_c, NULL, NULL, 0, stream);
}

/* C is behind D. */
static int
lt_apart(float *a, float *b, float *c)
{
	return (int)cublasLtMatmul(lt, operation, &one, a, of_a, b, of_b, &one,
	    c + M * N, of_c, c, of_c, NULL, NULL, 0, stream);
}

static double
dot(const float *a, const float *b, size_t at, double *size)
{
	const size_t matrix = at / (M * N), row = at % M, col = at / M % N;
	double sum = 0;

	for (size_t k = 0; k < K; k++) {
		const double x = (double)a[matrix * M * K + k * M + row]
		    * b[matrix * K * N + col * K + k];

		sum += x;
		*size += fabs(x);
	}
	return sum;
}

#define ONE M * K, K * N, M * N
#define TWO 2 * M * K, 2 * K * N, 2 * M * N
static const struct kind kinds[] = {
	{ "sgemm", K, ONE, 0, false, NULL, sgemm, dot },
	{ "sgemm-adds", K, ONE, 1, false, NULL, sgemm_adds, dot },
	{ "strided", K, TWO, 0, false, NULL, strided, dot },
	{ "arrays", K, TWO, 0, false, open_arrays, in_arrays, dot },
	{ "lt", K, ONE, 0, false, open_lt, by_lt, dot },
	{ "lt-apart", K, ONE, 1, false, NULL, lt_apart, dot },
	{ "captured", K, ONE, 0, true, NULL, sgemm, dot },
};

/* ---- One call ------------------------------------------------------------ */

static float a[INJECTED_MOST], b[INJECTED_MOST], before[INJECTED_MOST],
    after[INJECTED_MOST];

static void
draw(float *to, size_t count, uint64_t seed)
{
	for (size_t i = 0; i < count; i++)
		to[i] = (float)(2 * client_uniform(&seed) - 1);
}

/* What C holds is in front, and once more behind it. */
static void
upload(const struct kind *kind, uint64_t seed)
{
	NEED(cudaStreamSynchronize(stream)); /* one that failed may run */
	draw(a, kind->a, seed);
	draw(b, kind->b, seed + 1);
	draw(before, kind->c, seed + 2);
	NEED(cudaMemcpy(device_a, a, kind->a * sizeof *a,
	    cudaMemcpyHostToDevice));
	NEED(cudaMemcpy(device_b, b, kind->b * sizeof *b,
	    cudaMemcpyHostToDevice));
	for (int i = 0; i < 2; i++)
		NEED(cudaMemcpy(device_c + (size_t)i * kind->c, before,
		    kind->c * sizeof *before, cudaMemcpyHostToDevice));
	NEED(cudaDeviceSynchronize()); /* the stream waits for no upload */
}

static bool
is_right(const struct kind *kind)
{
	const double rounding = 1 / 2048.0, sum = (kind->k + 2) / 8388608.0;
	const double part = (1 + rounding) * (1 + rounding) - 1 + sum;

	NEED(cudaStreamSynchronize(stream));
	NEED(cudaMemcpy(after, device_c, kind->c * sizeof *after,
	    cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < kind->c; i++) {
		const double held = kind->beta * (double)before[i];
		double size = fabs(held);
		const double right = held + kind->result(a, b, i, &size);

		if (!(fabs(after[i] - right) <= part * size))
			return false;
	}
	return true;
}

static void
tell(const struct kind *kind, int round, int status)
{
	printf("%s %d: status %d%s\n", kind->name, round, status, status ? ""
	    : is_right(kind) ? ", right" : ", wrong");
}

static void
capture(const struct kind *kind)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;
	int status;

	upload(kind, 1000);
	NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	status = kind->run(device_a, device_b, device_c);
	NEED(cudaStreamEndCapture(stream, &graph));
	NEED(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < REPLAYS; i++) {
		NEED(cudaGraphLaunch(executable, stream));
		tell(kind, ROUNDS + i, status);
		upload(kind, (uint64_t)(1010 + 10 * i));
	}
	NEED(cudaGraphExecDestroy(executable));
	NEED(cudaGraphDestroy(graph));
}

static void
try_kind(const struct kind *kind)
{
	if (kind->open)
		kind->open(stream);
	for (int i = 0; i < ROUNDS; i++) {
		upload(kind, (uint64_t)(10 * i + 1));
		tell(kind, i, kind->run(device_a, device_b, device_c));
	}
	if (kind->captured)
		capture(kind);
}

int
main(void)
{
	const size_t bytes = INJECTED_MOST * sizeof(float);

	NEED(cudaMalloc((void **)&device_a, bytes));
	NEED(cudaMalloc((void **)&device_b, bytes));
	NEED(cudaMalloc((void **)&device_c, 2 * bytes));
	NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	NEED(cublasCreate(&handle));
	NEED(cublasSetStream(handle, stream));
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		try_kind(&kinds[i]);
	if (injected_kind)
		try_kind(injected_kind());
	NEED(cublasLtDestroy(lt));
	NEED(cublasDestroy(handle));
	NEED(cudaStreamDestroy(stream));
	NEED(cudaFree(device_a));
	NEED(cudaFree(device_b));
	NEED(cudaFree(device_c));
	return EXIT_SUCCESS;
}
