/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_level1_ex.c -- cuBLAS calls on vectors that are
 * told the types. Contracts are NVIDIA's. The manual does not describe copy,
 * swap, asum, amax and amin: they take the same vectors. */
#include "emulator/cublas/blas/cublas_vector.h"

/* Which types go together: both vectors have the same. Scalars, and results of
 * dot, have the type `scalar` and the vectors' own; norms `norm`, and `norms`
 * to compute them [cuBLAS manual, cublasAxpyEx(), cublasDotEx(),
 * cublasNrm2Ex(), cublasScalEx(), cublasRotEx()]. */
static const struct row {
	cudaDataType vector, execution, scalar, norm, norms, turn[2];
	enum emu_real real;
} rows[] = {
#define ROW(vector, execution, scalar, norm, norms, one, other, real) {   \
	CUDA_##vector, CUDA_##execution, CUDA_##scalar, CUDA_##norm,      \
	CUDA_##norms, { CUDA_##one, CUDA_##other }, EMU_##real },
	/*  vector  execution scalar norm  norms  cos and sin   */
	ROW(R_16F,  R_32F, R_32F, R_16F,  R_32F, R_16F,  R_16F,  HALF)
	ROW(R_16BF, R_32F, R_32F, R_16BF, R_32F, R_16BF, R_16BF, BFLOAT)
	ROW(R_32F,  R_32F, R_32F, R_32F,  R_32F, R_32F,  R_32F,  FLOAT)
	ROW(R_64F,  R_64F, R_64F, R_64F,  R_64F, R_64F,  R_64F,  DOUBLE)
	ROW(C_32F,  C_32F, C_32F, R_32F,  R_32F, R_32F,  C_32F,  COMPLEX)
	ROW(C_64F,  C_64F, C_64F, R_64F,  R_64F, R_64F,  C_64F,
	    DOUBLE_COMPLEX)
#undef ROW
};

static const struct row *
find(cudaDataType type)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].vector == type)
			return &rows[i];
	return NULL;
}

/* Of a type that a row names. */
static enum emu_real
real_of(cudaDataType type)
{
	return find(type)->real;
}

/* `matches`: the types are those of `row`, the vectors' own. */
#define REQUIRE(matches)                                                  \
	const struct row *const row = find(xType);                        \
	BLAS_ENTER(handle);                                               \
	if (!row || !(matches))                                           \
		return CUBLAS_STATUS_NOT_SUPPORTED
#define VECTORS(which, increment) .call = which, .type = row->real,       \
	.n = n, .incx = incx, .incy = increment, .x = x

#define AXPY(symbol, index)                                               \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const void *alpha,                 \
    cudaDataType alphaType, const void *x, cudaDataType xType, index incx, \
    void *y, cudaDataType yType, index incy, cudaDataType execution)      \
{                                                                         \
	REQUIRE(yType == xType && alphaType == row->scalar &&             \
	    execution == row->execution);                                 \
	const struct emu_vectors v = { VECTORS(EMU_AXPY, incy), .y = y,   \
	    .alpha = alpha, .alpha_type = real_of(alphaType) };           \
	return alpha ? emu_vector_submit(handle, &v) :                    \
	    CUBLAS_STATUS_INVALID_VALUE;                                  \
}
#define SCAL(symbol, index)                                               \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const void *alpha,                 \
    cudaDataType alphaType, void *x, cudaDataType xType, index incx,      \
    cudaDataType execution)                                               \
{                                                                         \
	REQUIRE(alphaType == row->scalar && execution == row->execution);  \
	const struct emu_vectors v = { VECTORS(EMU_SCAL, 1),              \
	    .alpha = alpha, .alpha_type = real_of(alphaType) };           \
	return alpha ? emu_vector_submit(handle, &v) :                    \
	    CUBLAS_STATUS_INVALID_VALUE;                                  \
}
#define DOT(symbol, call, index)                                          \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const void *x, cudaDataType xType, \
    index incx, const void *y, cudaDataType yType, index incy,            \
    void *result, cudaDataType resultType, cudaDataType execution)        \
{                                                                         \
	REQUIRE(yType == xType && resultType == xType &&                  \
	    execution == row->execution);                                 \
	const struct emu_vectors v = { VECTORS(call, incy), .y = y,       \
	    .result = result, .result_bytes = emu_real_bytes(row->real) }; \
	return emu_vector_submit(handle, &v);                             \
}
#define NORM(symbol, call, index)                                         \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const void *x, cudaDataType xType, \
    index incx, void *result, cudaDataType resultType,                    \
    cudaDataType execution)                                               \
{                                                                         \
	REQUIRE(resultType == row->norm && execution == row->norms);      \
	const struct emu_vectors v = { VECTORS(call, 1),                  \
	    .result = result,                                             \
	    .result_bytes = emu_real_bytes(real_of(resultType)) };        \
	return emu_vector_submit(handle, &v);                             \
}
#define ROT(symbol, index)                                                \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, void *x, cudaDataType xType,       \
    index incx, void *y, cudaDataType yType, index incy, const void *c,   \
    const void *s, cudaDataType csType, cudaDataType execution)           \
{                                                                         \
	REQUIRE(yType == xType && execution == row->execution &&          \
	    (csType == row->turn[0] || csType == row->turn[1]));          \
	const struct emu_vectors v = { VECTORS(EMU_ROT, incy), .y = y,    \
	    .alpha = c, .alpha_type = real_of(csType), .s = s,            \
	    .s_type = real_of(csType) };                                  \
	return n <= 0 || (c && s) ? emu_vector_submit(handle, &v) :       \
	    CUBLAS_STATUS_INVALID_VALUE;                                  \
}
#define MOVE(symbol, call, index, constant)                               \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, constant void *x,                  \
    cudaDataType xType, index incx, void *y, cudaDataType yType,          \
    index incy)                                                           \
{                                                                         \
	REQUIRE(yType == xType);                                          \
	const struct emu_vectors v = { VECTORS(call, incy), .y = y };     \
	return emu_vector_submit(handle, &v);                             \
}
#define EXTREME(symbol, call, index)                                      \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const void *x, cudaDataType xType, \
    index incx, index *result)                                            \
{                                                                         \
	REQUIRE(true);                                                    \
	const struct emu_vectors v = { VECTORS(call, 1),                  \
	    .result = result, .result_bytes = sizeof *result };           \
	return emu_vector_submit(handle, &v);                             \
}
#define ALL(suffix, index)                                                \
	AXPY(cublasAxpyEx##suffix, index)                                 \
	SCAL(cublasScalEx##suffix, index)                                 \
	DOT(cublasDotEx##suffix, EMU_DOT, index)                          \
	DOT(cublasDotcEx##suffix, EMU_DOTC, index)                        \
	NORM(cublasNrm2Ex##suffix, EMU_NRM2, index)                       \
	NORM(cublasAsumEx##suffix, EMU_ASUM, index)                       \
	ROT(cublasRotEx##suffix, index)                                   \
	MOVE(cublasCopyEx##suffix, EMU_COPY, index, const)                \
	MOVE(cublasSwapEx##suffix, EMU_SWAP, index, )                     \
	EXTREME(cublasIamaxEx##suffix, EMU_AMAX, index)                   \
	EXTREME(cublasIaminEx##suffix, EMU_AMIN, index)

ALL(, int)
ALL(_64, int64_t)
