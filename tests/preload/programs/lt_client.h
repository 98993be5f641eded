/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lt_client.h -- what the clients of cublasLt share: one
 * product with an epilogue, its matrices on both sides, its reference in FP64.
 *
 * A matrix in row order is one in column order, turned. Rows, columns, m, n and
 * k are those that the descriptors name. Gaps between columns, what lies around
 * a matrix, and a D that is not read hold NaN (integers: a number), so that a
 * stray read shows. */
#ifndef TESTS_PRELOAD_PROGRAMS_LT_CLIENT_H
#define TESTS_PRELOAD_PROGRAMS_LT_CLIENT_H

#include "client.h"

#include <cublasLt.h>

/* Types of a product, and the bits that it keeps of its inputs by itself: 24 if
 * all of FP32. */
struct lt_kind {
	const char         *name;
	cublasComputeType_t compute;
	cudaDataType_t      scale, in, out;
	int                 bits;
};
enum { LT_FP32, LT_PEDANTIC, LT_FAST_TF32, LT_FAST_16F, LT_FAST_16BF,
	LT_FP16_FP32, LT_BF16_FP32, LT_FP16, LT_BF16, LT_INT8, LT_KINDS };
extern const struct lt_kind lt_kinds[LT_KINDS];

/* 1 DEFAULT, 2 RELU, 4 BIAS, 8 DRELU, 16 BGRAD, 32 GELU, 64 DGELU, 128 AUX. */
enum { LT_RELU = 2, LT_BIAS = 4, LT_DRELU = 8, LT_BGRAD = 16, LT_GELU = 32,
	LT_DGELU = 64, LT_AUX = 128, LT_BGRADA = CUBLASLT_EPILOGUE_BGRADA,
	LT_BGRADB = CUBLASLT_EPILOGUE_BGRADB, LT_EPILOGUES = 16 };
extern const struct lt_epilogue {
	const char        *name;
	cublasLtEpilogue_t value;
} lt_epilogues[LT_EPILOGUES];

struct lt_wanted {
	const struct lt_kind *kind;
	int64_t  m, n, k;
	int      batch, pad;      /* pad: of each leading dimension */
	bool     turn_a, turn_b, row_a, row_b, row_d, broadcast_b;
	unsigned epilogue;
	float    alpha, beta;
	bool     apart;           /* C is not D */
	bool     no_c;            /* C is NULL: beta is 0 */
	bool     on_device;       /* alpha and beta */
};

/* `before` is what was uploaded, `after` what lt_check() fetched. */
struct lt_buffer {
	unsigned char *before, *after;
	unsigned char *memory;    /* on the device */
	size_t bytes;
};

struct lt_matrix {
	struct lt_buffer buffer;
	cudaDataType_t   type;
	int64_t rows, cols, ld, stride;
	int     batch;
	bool    row;
	void   *device;           /* its first element */
};

struct lt_problem {
	struct lt_wanted w;
	struct lt_matrix a, b, c, d; /* c: only if apart */
	struct lt_matrix vector;     /* bias or its gradient: a column each */
	struct lt_matrix aux;        /* of a mask, a column of bytes each */
	int64_t aux_ld, aux_stride;  /* as cublasLt counts: elements, or bits */
	float  *scalars;             /* alpha and beta on the device */
};

/* Inputs are random: FP32 uniform in [-1, 1), others multiples of 1/64. Ends
 * the program if anything fails; lt_drop() frees it. */
struct lt_problem *lt_make(const struct lt_wanted *wanted, uint64_t seed);
/* D, the vector and AUX as lt_make() left them. */
void lt_renew(struct lt_problem *p);
void lt_drop(struct lt_problem *p);
/* Other numbers in an input, from the host; `count` of them, in storage order,
 * gaps included; the rest stays. */
void lt_put(struct lt_matrix *x, size_t at, const float *values, size_t count);
/* What a product's pointers are. */
const void *lt_alpha(const struct lt_problem *p);
const void *lt_beta(const struct lt_problem *p);
const void *lt_c(const struct lt_problem *p);

/* Descriptors by Create, as the problem says. */
struct lt_descriptors {
	cublasLtMatmulDesc_t   operation;
	cublasLtMatrixLayout_t a, b, c, d;
};
cublasLtMatrixLayout_t lt_layout(const struct lt_matrix *x);
void lt_describe(const struct lt_problem *p, struct lt_descriptors *out);
void lt_undescribe(struct lt_descriptors *d);
#define LT_SET(operation, attribute, value)                               \
	BLAS(cublasLtMatmulDescSetAttribute(operation,                    \
	    CUBLASLT_MATMUL_DESC_##attribute, &(value), sizeof (value)))
#define LT_LAYOUT_SET(layout, attribute, value)                           \
	BLAS(cublasLtMatrixLayoutSetAttribute(layout,                     \
	    CUBLASLT_MATRIX_LAYOUT_##attribute, &(value), sizeof (value)))
cublasStatus_t lt_multiply(cublasLtHandle_t handle,
    const struct lt_problem *p, const struct lt_descriptors *d,
    const cublasLtMatmulAlgo_t *algo, void *workspace, size_t bytes,
    cudaStream_t stream);

/* How far D, AUX and the vector are from the reference, as part of what went
 * into each number: the sum of its products' sizes, |beta c| and |bias|, times
 * the steepest slope of the activation (1.13 for GELU). Infinite: a class
 * differs (NaN, infinities), a gap or an input was written. */
struct lt_error {
	double worst;
	const char *broken; /* NULL: no promise is */
};
struct lt_error lt_check(struct lt_problem *p);
/* As lt_check() has fetched them. */
uint64_t lt_hash(const struct lt_problem *p);
/* The largest `worst` there may be, if no input keeps fewer than `bits` bits.
 * A product of two rounded inputs is off by (1 + u)^2 - 1, u = 2^-bits; sums of
 * k (and then n) numbers in FP32, where Tensor Cores truncate, by a unit of
 * 2^-23 each, the epilogue's own steps by eight more; D's format rounds once.*/
double lt_bound(const struct lt_problem *p, int bits);

#endif
