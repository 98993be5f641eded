/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/zero_sizes.c -- the corners of the argument space:
 * sizes 0 and below, k = 0, alpha = 0, beta = 0 over NaN, leading dimensions
 * too small, NULL pointers. Prints status and C for every case and spelling,
 * and promises nothing itself: the output must be the same with a preload. */
#include "client.h"

#include <math.h>

enum { ROOM = 16, BAD = 99 };

static const struct corner {
	const char *name;
	int m, n, k, lda, ldb, ldc, batch;
	float alpha, beta, fill; /* fill: what C holds before */
	enum { NOTHING, HANDLE, ALPHA, BETA, A_AND_B, ALL } null;
	int transa;
} corners[] = {
	{ "plain", 2, 2, 2, 2, 2, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "m=0", 0, 2, 2, 2, 2, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "n=0", 2, 0, 2, 2, 2, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "m=n=k=0", 0, 0, 0, 1, 1, 1, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "m=-1", -1, 2, 2, 2, 2, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "n=-1", 2, -1, 2, 2, 2, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "k=-1", 2, 2, -1, 2, 2, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "k=0 beta=0", 2, 2, 0, 2, 2, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "k=0 beta=0.5", 2, 2, 0, 2, 2, 2, 1, 1, 0.5f, 5, NOTHING,
	    CUBLAS_OP_N },
	{ "k=0 beta=1", 2, 2, 0, 2, 2, 2, 1, 1, 1, 5, NOTHING, CUBLAS_OP_N },
	{ "k=0 NULL A B", 2, 2, 0, 2, 2, 2, 1, 1, 0.5f, 5, A_AND_B,
	    CUBLAS_OP_N },
	{ "alpha=0 beta=0", 2, 2, 2, 2, 2, 2, 1, 0, 0, 5, NOTHING,
	    CUBLAS_OP_N },
	{ "alpha=0 beta=2", 2, 2, 2, 2, 2, 2, 1, 0, 2, 5, NOTHING,
	    CUBLAS_OP_N },
	{ "alpha=0 NULL A B", 2, 2, 2, 2, 2, 2, 1, 0, 2, 5, A_AND_B,
	    CUBLAS_OP_N },
	{ "alpha=0 over NaN", 2, 2, 2, 2, 2, 2, 1, 0, 0, NAN, NOTHING,
	    CUBLAS_OP_N },
	{ "beta=0 over NaN", 2, 2, 2, 2, 2, 2, 1, 1, 0, NAN, NOTHING,
	    CUBLAS_OP_N },
	{ "beta=-0 over NaN", 2, 2, 2, 2, 2, 2, 1, 1, -0.0f, NAN, NOTHING,
	    CUBLAS_OP_N },
	{ "beta=1 over NaN", 2, 2, 2, 2, 2, 2, 1, 1, 1, NAN, NOTHING,
	    CUBLAS_OP_N },
	{ "beta=0 over inf", 2, 2, 2, 2, 2, 2, 1, 1, 0, INFINITY, NOTHING,
	    CUBLAS_OP_N },
	{ "alpha=NaN", 2, 2, 2, 2, 2, 2, 1, NAN, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "lda<m", 2, 2, 2, 1, 2, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "lda<k", 2, 2, 3, 2, 3, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_T },
	{ "ldb<k", 2, 2, 2, 2, 1, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "ldc<m", 2, 2, 2, 2, 2, 1, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "ld=0", 2, 2, 2, 0, 0, 0, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "ld=0 m=0", 0, 2, 2, 0, 2, 0, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "ld=-2", 2, 2, 2, -2, 2, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "ldc=3", 2, 2, 2, 2, 2, 3, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "1x1x1", 1, 1, 1, 1, 1, 1, 1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "conjugate", 2, 2, 2, 2, 2, 2, 1, 1, 0, 5, NOTHING, CUBLAS_OP_C },
	{ "no such op", 2, 2, 2, 2, 2, 2, 1, 1, 0, 5, NOTHING, BAD },
	{ "batch=2", 2, 2, 2, 2, 2, 2, 2, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "batch=0", 2, 2, 2, 2, 2, 2, 0, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "batch=-1", 2, 2, 2, 2, 2, 2, -1, 1, 0, 5, NOTHING, CUBLAS_OP_N },
	{ "NULL handle", 2, 2, 2, 2, 2, 2, 1, 1, 0, 5, HANDLE, CUBLAS_OP_N },
	{ "NULL alpha", 2, 2, 2, 2, 2, 2, 1, 1, 0, 5, ALPHA, CUBLAS_OP_N },
	{ "NULL beta", 2, 2, 2, 2, 2, 2, 1, 1, 0, 5, BETA, CUBLAS_OP_N },
	{ "m=0 all NULL", 0, 2, 2, 2, 2, 2, 1, 1, 0, 5, ALL, CUBLAS_OP_N },
};

static const char *const spellings[] = {
	"sgemm", "gemmex", "strided", "stridedex"
};

struct device {
	cublasHandle_t handle;
	float *a, *b, *c;
};

static cublasStatus_t
call(int spelling, const struct corner *x, const struct device *d)
{
	const cublasHandle_t handle = x->null == HANDLE ? NULL : d->handle;
	const cublasOperation_t ta = (cublasOperation_t)x->transa;
	const cublasOperation_t tb = CUBLAS_OP_N;
	const bool none = x->null == ALL;
	const float *alpha = x->null == ALPHA || none ? NULL : &x->alpha;
	const float *beta = x->null == BETA || none ? NULL : &x->beta;
	const float *a = x->null == A_AND_B || none ? NULL : d->a;
	const float *b = x->null == A_AND_B || none ? NULL : d->b;
	float *c = none ? NULL : d->c;

	switch (spelling) {
	case 0:
		return cublasSgemm(handle, ta, tb, x->m, x->n, x->k, alpha, a,
		    x->lda, b, x->ldb, beta, c, x->ldc);
	case 1:
		return cublasGemmEx(handle, ta, tb, x->m, x->n, x->k, alpha, a,
		    CUDA_R_32F, x->lda, b, CUDA_R_32F, x->ldb, beta, c,
		    CUDA_R_32F, x->ldc, CUBLAS_COMPUTE_32F,
		    CUBLAS_GEMM_DEFAULT);
	case 2:
		return cublasSgemmStridedBatched(handle, ta, tb, x->m, x->n,
		    x->k, alpha, a, x->lda, 4, b, x->ldb, 4, beta, c, x->ldc,
		    8, x->batch);
	default:
		return cublasGemmStridedBatchedEx(handle, ta, tb, x->m, x->n,
		    x->k, alpha, a, CUDA_R_32F, x->lda, 4, b, CUDA_R_32F,
		    x->ldb, 4, beta, c, CUDA_R_32F, x->ldc, 8, x->batch,
		    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
	}
}

/* Whole numbers: any rung gives the same C. Returns the hash of C. */
static uint64_t
try(int spelling, const struct corner *x, const struct device *d)
{
	float c[ROOM];
	cublasStatus_t status;

	for (int i = 0; i < ROOM; i++)
		c[i] = x->fill;
	CUDA(cudaMemcpy(d->c, c, sizeof c, cudaMemcpyHostToDevice));
	status = call(spelling, x, d);
	CUDA(cudaDeviceSynchronize());
	client_host(c, d->c, ROOM);
	printf("%-10s %-17s status %2d C", spellings[spelling], x->name,
	    (int)status);
	for (int i = 0; i < ROOM; i++) {
		if (isnan(c[i]))
			c[i] = NAN; /* its sign and bits promise nothing */
		printf(" %g", (double)c[i]);
	}
	putchar('\n');
	return client_hash((uint64_t)status + 1, c, sizeof c);
}

int
main(void)
{
	const int count = sizeof corners / sizeof *corners;
	struct device d;
	float whole[ROOM];
	uint64_t hash = 0;

	for (int i = 0; i < ROOM; i++)
		whole[i] = (float)(i + 1);
	d.a = client_device(whole, ROOM);
	d.b = client_device(whole, ROOM);
	d.c = client_device(whole, ROOM);
	BLAS(cublasCreate(&d.handle));
	for (int s = 0; s < 4; s++)
		for (int i = 0; i < count; i++) {
			const uint64_t bits = try(s, &corners[i], &d);
			hash = client_hash(hash, &bits, sizeof bits);
		}
	BLAS(cublasDestroy(d.handle));
	CUDA(cudaFree(d.c));
	CUDA(cudaFree(d.b));
	CUDA(cudaFree(d.a));
	printf("zero_sizes checksum=%016" PRIx64 "\n", hash);
	return EXIT_SUCCESS;
}
