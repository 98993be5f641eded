/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_lt.h -- a product of cublasLt and all that
 * belongs to it, for the tests of the emulated cublasLt. */
#ifndef AC_TEST_EMU_LT_H
#define AC_TEST_EMU_LT_H

#include "test_emu_format.h"

#include <cublasLt.h>

#include <stdbool.h>

/* One matrix of a batch, or a batch. Its numbers are multiples of 1/8 from -2
 * to 2, which every format holds; so do the products below hold all sums:
 * multiples of 1/64 (times alpha) below 2^9, 15 bits of FP32's 24. */
struct test_matrix {
	int rows, cols, ld, batch;
	bool row;            /* in row order */
	long long stride;
	cudaDataType type;
	size_t count;
	double *values;      /* as uploaded */
	void *device;
	cublasLtMatrixLayout_t layout;
};

static inline double
test_eighths(uint64_t *seed)
{
	return nearbyint((double)test_random(seed) * 16) / 8;
}

static inline void *
test_stored(const double *values, size_t count, cudaDataType type)
{
	unsigned char *stored = malloc(count * width(type));
	void *device;

	for (size_t i = 0; i < count; i++)
		put(stored, i, values[i], type);
	device = test_upload(stored, count * width(type));
	free(stored);
	return device;
}

static inline double *
test_fetched(const void *device, size_t count, cudaDataType type)
{
	void *stored = malloc(count * width(type));
	double *values = malloc(count * sizeof *values);

	OK(cudaMemcpy(stored, device, count * width(type),
	    cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < count; i++)
		values[i] = type == CUDA_R_32F ?
		    (double)((float *)stored)[i] :
		    decode(((uint16_t *)stored)[i], format_of(type));
	free(stored);
	return values;
}

static inline double *
test_numbers(size_t count, uint64_t *seed)
{
	double *values = malloc(count * sizeof *values);

	for (size_t i = 0; i < count; i++)
		values[i] = test_eighths(seed);
	return values;
}

/* `broadcast`: the batch reads one matrix. */
static inline struct test_matrix
test_matrix(int rows, int cols, bool row, int pad, int batch, bool broadcast,
    cudaDataType type, uint64_t *seed)
{
	struct test_matrix x = { rows, cols, (row ? cols : rows) + pad, batch,
		row, 0, type, 0, NULL, NULL, NULL };
	const int32_t order = row ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
	const int64_t one = (int64_t)x.ld * (row ? rows : cols);
	const int64_t stride = broadcast ? 0 : one;

	x.stride = stride;
	x.count = (size_t)(one * (broadcast ? 1 : batch));
	x.values = test_numbers(x.count, seed);
	x.device = test_stored(x.values, x.count, type);
	OK(cublasLtMatrixLayoutCreate(&x.layout, type, (uint64_t)rows,
	    (uint64_t)cols, x.ld));
	OK(cublasLtMatrixLayoutSetAttribute(x.layout,
	    CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
	OK(cublasLtMatrixLayoutSetAttribute(x.layout,
	    CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
	OK(cublasLtMatrixLayoutSetAttribute(x.layout,
	    CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
	    sizeof stride));
	return x;
}

static inline void
test_matrix_drop(struct test_matrix *x)
{
	OK(cublasLtMatrixLayoutDestroy(x->layout));
	OK(cudaFree(x->device));
	free(x->values);
}

/* Where element (i, j) of matrix `b` is. */
static inline size_t
test_place(const struct test_matrix *x, int b, int i, int j)
{
	return (size_t)(b * x->stride + (x->row ?
	    (long long)i * x->ld + j : (long long)j * x->ld + i));
}

static inline double
test_at(const struct test_matrix *x, int b, bool turned, int i, int j)
{
	return x->values[turned ? test_place(x, b, j, i) :
	    test_place(x, b, i, j)];
}

static inline cublasLtMatmulDesc_t
test_operation(cublasComputeType_t compute, int32_t ta, int32_t tb)
{
	cublasLtMatmulDesc_t operation;

	OK(cublasLtMatmulDescCreate(&operation, compute, CUDA_R_32F));
	OK(cublasLtMatmulDescSetAttribute(operation,
	    CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta));
	OK(cublasLtMatmulDescSetAttribute(operation,
	    CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb));
	return operation;
}

#define TEST_SET(operation, attribute, value)                             \
	OK(cublasLtMatmulDescSetAttribute(operation,                      \
	    CUBLASLT_MATMUL_DESC_##attribute, &(value), sizeof (value)))

/* An attribute by number: operation_get(), operation_set() and so on. */
#define TEST_ATTRIBUTES(name, getter, setter, object, attributes)         \
static inline int                                                         \
name##_get(void *at, int attribute, void *value, size_t bytes,            \
    size_t *written)                                                      \
{                                                                         \
	return (int)getter((object *)at, (attributes)attribute, value,    \
	    bytes, written);                                              \
}                                                                         \
static inline int                                                         \
name##_set(void *at, int attribute, const void *value, size_t bytes)      \
{                                                                         \
	return (int)setter((object *)at, (attributes)attribute, value,    \
	    bytes);                                                       \
}
TEST_ATTRIBUTES(operation, cublasLtMatmulDescGetAttribute,
    cublasLtMatmulDescSetAttribute, cublasLtMatmulDescOpaque_t,
    cublasLtMatmulDescAttributes_t)
TEST_ATTRIBUTES(layout, cublasLtMatrixLayoutGetAttribute,
    cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayoutOpaque_t,
    cublasLtMatrixLayoutAttribute_t)
TEST_ATTRIBUTES(preference, cublasLtMatmulPreferenceGetAttribute,
    cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreferenceOpaque_t,
    cublasLtMatmulPreferenceAttributes_t)
TEST_ATTRIBUTES(config, cublasLtMatmulAlgoConfigGetAttribute,
    cublasLtMatmulAlgoConfigSetAttribute, cublasLtMatmulAlgo_t,
    cublasLtMatmulAlgoConfigAttributes_t)

#endif
