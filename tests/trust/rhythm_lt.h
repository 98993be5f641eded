/* SPDX-License-Identifier: Apache-2.0 */
/* tests/trust/rhythm_lt.h -- rhythm's products by cublasLt: a call as PyTorch
 * makes it, and what its epilogue makes of a number. */
#ifndef TESTS_TRUST_RHYTHM_LT_H
#define TESTS_TRUST_RHYTHM_LT_H

#include "tests/preload/programs/client.h"

#include <cublasLt.h>

/* What an epilogue reads of its own. On the device, and as the host knows it:
 * one bias per row and matrix, one number per output: DGELU's, or a mask. */
struct rhythm_tail {
	unsigned epilogue;      /* cublasLtEpilogue_t; 0: no cublasLt */
	int      m, n, batch;
	int64_t  aux_ld;
	float   *bias, *host_bias; /* NULL: the epilogue adds none */
	void    *aux;
	float   *host_aux;         /* NULL: it reads none */
};

/* One product. */
struct rhythm_lt {
	cublasLtHandle_t handle;
	cudaStream_t stream;
	cublasComputeType_t compute;
	int m, n, k, lda, ldb, batch;
	int64_t stride_a, stride_b;
	const float *a, *b, *c; /* C: NULL with a beta of 0 */
	float *d, beta;
	const struct rhythm_tail *tail; /* NULL: DEFAULT */
	void  *aux_out;         /* what it writes apart from D */
	float *sums;
	bool   asks;            /* for an algorithm, each time */
};

/* By its name, as gelu_aux_bias; 0: there is none. */
unsigned rhythm_lt_epilogue(const char *name);
void rhythm_lt_multiply(const struct rhythm_lt *p);

/* `size` is that of the biases about `mean`; with `bias` they are these. */
struct rhythm_tail rhythm_tail_draw(unsigned epilogue, int m, int n, int batch,
    double size, double mean, const float *bias, uint64_t *seed);
bool rhythm_tail_adds(unsigned epilogue);
bool rhythm_tail_sums(unsigned epilogue);
/* Whether it writes a second matrix; whether that is x itself, in FP32. */
bool rhythm_tail_writes(unsigned epilogue);
bool rhythm_tail_keeps(unsigned epilogue);
/* Whether it multiplies by real numbers. */
bool rhythm_tail_scales(unsigned epilogue);
/* Floats that hold the second matrix. */
size_t rhythm_tail_room(int m, int n, int batch);

/* What is lost of an output counts from `blur` on, against `near`, and, where
 * the product shows, against what it adds times `slope`. */
struct rhythm_through {
	double value, near, slope, blur;
};
/* What becomes of `x` in output `at` (column order, packed). */
struct rhythm_through rhythm_tail_at(const struct rhythm_tail *tail, size_t at,
    double x);

#endif
