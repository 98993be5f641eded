/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/gemm_client.h -- one matrix product, in every
 * spelling cuBLAS has, on every kind of data. */
#ifndef TESTS_PRELOAD_PROGRAMS_GEMM_CLIENT_H
#define TESTS_PRELOAD_PROGRAMS_GEMM_CLIENT_H

#include "client.h"

/* Sizes are the caller's, wrong ones included; strides in elements. */
struct product {
	cublasOperation_t transa, transb;
	int64_t m, n, k, lda, ldb, ldc, batch;
	long long stride_a, stride_b, stride_c;
	float alpha, beta;
	cublasComputeType_t compute;
	cublasGemmAlgo_t algo;
};

/* Where cuBLAS finds them: alpha and beta as the pointer mode says. */
struct operands {
	const float *alpha, *beta, *a, *b;
	float *c;
};

/* Rows and columns as they lie in memory; never negative. */
struct matrix {
	int64_t rows, cols;
};

/* ---- gemm_forms.c: the spellings */

struct form;

const struct form *form_find(const char *name);
void form_list(FILE *out);
/* Whether the loaded libcublas exports it. */
bool form_exists(const struct form *form);
/* Whether it multiplies more than one pair of matrices. */
bool form_is_batched(const struct form *form);
/* Make the call; device arrays that it needs live until the device is idle. */
cublasStatus_t form_call(const struct form *form, cublasHandle_t handle,
    const struct product *p, const struct operands *o);

/* ---- gemm_data.c: the data */

struct distribution;

const struct distribution *distribution_find(const char *name);
/* Fill A (m x k, a[i * k + p]) and B (k x n, b[p * n + j]), row by row. */
void distribution_fill(const struct distribution *d, uint64_t *state,
    int64_t m, int64_t n, int64_t k, double *a, double *b);

/* ---- gemm_arguments.c: the command line */

struct options {
	bool reference, device_scalars, stream, nan_c;
	const char *alias; /* NULL: none; else two operands' letters */
	int64_t repeat, gap, offset, workspace;
	bool share_a, share_b; /* stride 0 */
	cublasMath_t math;
};

struct arguments {
	struct product product; /* strides not yet set */
	struct options options;
	const struct form *form;
	const struct distribution *distribution;
	uint64_t seed;
	const char *out;        /* "-": none */
};

/* Never returns from bad arguments (status 2) or a request for a list. */
struct arguments arguments_parse(int argc, char **argv);
void arguments_reject(const char *what, const char *value);

/* ---- gemm_check.c: the reference */

int64_t largest(int64_t a, int64_t b);
/* How op(X), rows x cols, is stored. */
struct matrix stored(cublasOperation_t op, int64_t rows, int64_t cols);

/* Over all matrices of a batch, against FP64; an error below FLT_MIN is none.
 * Elements whose reference is inf or NaN count in `classes` if C is not the
 * same, those too large for FP32 if C is finite; finite ones if C is not. */
struct error {
	double normwise;  /* Frobenius norm of the error over the reference's */
	double component; /* worst |error| over (|alpha| |A| |B| + |beta C|) */
	double row;       /* worst row of C, as normwise */
	int64_t classes;
	int64_t compared; /* elements behind the first three */
};

/* All on the host: operands as uploaded, `before` and `after` are C. */
struct error error_measure(const struct product *p, const float *a,
    const float *b, const float *before, const float *after);

/* Elements from the first to the last one a call may touch. */
size_t extent(int64_t rows, int64_t cols, int64_t ld, long long stride,
    int64_t batch);
/* Whether all of C but the m x n elements of each matrix is as before. */
bool padding_is_kept(const struct product *p, const float *before,
    const float *after, size_t count);

#endif
