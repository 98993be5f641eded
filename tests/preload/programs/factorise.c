/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/factorise.c -- factorise lu|cholesky N BLOCK TIMES: a
 * blocked factorisation, as codes of their own have it: panels on the host (of
 * Cholesky the blocks on the diagonal), block rows or columns by cublasStrsm(),
 * the rest by cublasSgemm(). Prints the backward
 * error of the last: of L U, or L L^T, against the matrix, normwise. */
#include "client.h"

#include <math.h>

static uint64_t seed = 88172645463325252u;

static double
any_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) * 0x1p-53 - 0.5;
}

/* Columns of a panel of `rows` x `cols`, without pivots. */
static void
factorise_panel(float *p, int rows, int cols, bool is_cholesky)
{
	for (int j = 0; j < cols; j++) {
		float *own = p + (size_t)j * (size_t)rows;
		const float pivot = is_cholesky ? sqrtf(own[j]) : own[j];

		if (is_cholesky)
			own[j] = pivot;
		for (int i = j + 1; i < rows; i++)
			own[i] /= pivot;
		for (int q = j + 1; q < cols; q++) {
			float *other = p + (size_t)q * (size_t)rows;
			const float by = is_cholesky ? own[q] : other[j];

			for (int i = is_cholesky ? q : j + 1; i < rows; i++)
				other[i] = fmaf(-own[i], by, other[i]);
		}
	}
}

/* What is right of and below a panel of `cols` columns at (k, k). */
static void
update(cublasHandle_t handle, float *d, int n, int k, int cols,
    bool is_cholesky)
{
	const float minus = -1;
	const int rest = n - k - cols;
	float *below = d + (size_t)k * (size_t)n + k + cols;
	float *right = d + (size_t)(k + cols) * (size_t)n + k;
	float *corner = right + cols;

	if (rest <= 0)
		return;
	if (is_cholesky) {
		BLAS(cublasStrsm(handle, CUBLAS_SIDE_RIGHT,
		    CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT,
		    rest, cols, &one, d + (size_t)k * (size_t)n + k, n, below,
		    n));
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, rest, rest,
		    cols, &minus, below, n, below, n, &one, corner, n));
		return;
	}
	BLAS(cublasStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
	    CUBLAS_OP_N, CUBLAS_DIAG_UNIT, cols, rest, &one,
	    d + (size_t)k * (size_t)n + k, n, right, n));
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, rest, rest, cols,
	    &minus, below, n, right, n, &one, corner, n));
}

static void
factorise(cublasHandle_t handle, float *d, int n, int block, bool is_cholesky)
{
	float *panel = client_allocate((size_t)n * (size_t)block,
	    sizeof *panel);

	for (int k = 0; k < n; k += block) {
		const int cols = n - k < block ? n - k : block;
		const int rows = is_cholesky ? cols : n - k;
		float *at = d + (size_t)k * (size_t)n + k;
		const size_t wide = sizeof *d * (size_t)rows;

		CUDA(cudaMemcpy2D(panel, wide, at, sizeof *d * (size_t)n, wide,
		    (size_t)cols, cudaMemcpyDeviceToHost));
		factorise_panel(panel, rows, cols, is_cholesky);
		CUDA(cudaMemcpy2D(at, sizeof *d * (size_t)n, panel, wide, wide,
		    (size_t)cols, cudaMemcpyHostToDevice));
		update(handle, d, n, k, cols, is_cholesky);
	}
	free(panel);
}

/* The lower triangle tells: above it are a Cholesky factor's leavings. */
static double
error_of(const float *l, const float *a, int n, bool is_cholesky)
{
	double off = 0, all = 0;

	for (int j = 0; j < n; j++)
		for (int i = is_cholesky ? j : 0; i < n; i++) {
			const int last = i < j ? i : j;
			const double exact = (double)a[(size_t)j * (size_t)n
			    + (size_t)i];
			double sum = 0;

			for (int k = 0; k <= last; k++) {
				const float *row = l + (size_t)k * (size_t)n;
				const float *col = l + (size_t)j * (size_t)n;

				sum += is_cholesky
				    ? (double)row[i] * (double)row[j]
				    : (k == i ? 1 : (double)row[i])
				    * (double)col[k];
			}
			off += (sum - exact) * (sum - exact);
			all += exact * exact;
		}
	return sqrt(off / all);
}

int
main(int argc, char **argv)
{
	const bool is_cholesky = argc > 1 && !strcmp(argv[1], "cholesky");
	const int n = argc == 5 ? atoi(argv[2]) : 0;
	const size_t count = (size_t)n * (size_t)n;
	float *a, *l, *d;
	cublasHandle_t handle;

	if (n < 1)
		return EXIT_USAGE;
	a = client_allocate(count, sizeof *a);
	l = client_allocate(count, sizeof *l);
	for (int j = 0; j < n; j++)
		for (int i = is_cholesky ? j : 0; i < n; i++) {
			float *x = a + (size_t)j * (size_t)n + i;

			*x = (float)any_number() + (i == j ? (float)n / 16 : 0);
			a[(size_t)i * (size_t)n + (size_t)j] = is_cholesky
			    ? *x : a[(size_t)i * (size_t)n + (size_t)j];
		}
	BLAS(cublasCreate(&handle));
	CUDA(cudaMalloc((void **)&d, count * sizeof *d));
	for (int i = 0; i < atoi(argv[4]); i++) {
		CUDA(cudaMemcpy(d, a, count * sizeof *d,
		    cudaMemcpyHostToDevice));
		factorise(handle, d, n, atoi(argv[3]), is_cholesky);
	}
	CUDA(cudaMemcpy(l, d, count * sizeof *d, cudaMemcpyDeviceToHost));
	printf("%s error=%.3g\n", argv[1], error_of(l, a, n, is_cholesky));
	BLAS(cublasDestroy(handle));
	CUDA(cudaFree(d));
	free(l);
	free(a);
	return 0;
}
