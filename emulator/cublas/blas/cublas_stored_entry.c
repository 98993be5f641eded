/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_stored_entry.c -- cuBLAS calls on banded, packed,
 * Hermitian and complex symmetric matrices, as cublas_stored.c computes them;
 * those on full ones of real numbers are cublas_symmetric.c's and
 * cublas_triangular.c's. */
#include "emulator/cublas/blas/cublas_stored.h"

#define FUNCTION(name) cublasStatus_t cublas##name
#define TYPE(x) _Generic((x), float: EMU_FLOAT, double: EMU_DOUBLE,       \
	cuComplex: EMU_COMPLEX, cuDoubleComplex: EMU_DOUBLE_COMPLEX)
#define BAD(value, most) ((unsigned)(value) > (most))
#define SUBMIT(...)                                                       \
	BLAS_ENTER(handle);                                               \
	return emu_stored_submit(handle, &t, __VA_ARGS__)
#define VECTOR(p, n, inc) { .at = p, .form = EMU_VECTOR, .rows = n,       \
	.cols = 1, .ld = inc }
#define FULL(p, m, n, l) { .at = p, .rows = m, .cols = n, .ld = l }
#define BAND(p, m, n, l, kl, ku) { .at = p, .form = EMU_BANDED, .rows = m, \
	.cols = n, .ld = l, .below = kl, .above = ku }
/* One triangle, of n x n. */
#define UPPER .upper = uplo == CUBLAS_FILL_MODE_UPPER
#define HALF(p, n, l, of) { .at = p, .kind = of, UPPER, .rows = n,        \
	.cols = n, .ld = l }
#define PACKED(p, of) { .at = p, .form = EMU_PACKED, .kind = of, UPPER,   \
	.rows = n, .cols = n }
#define HALF_BAND(p, of) { .at = p, .form = EMU_BANDED, .kind = of, UPPER, \
	.rows = n, .cols = n, .ld = lda,                                  \
	.below = uplo == CUBLAS_FILL_MODE_UPPER ? 0 : k,                  \
	.above = uplo == CUBLAS_FILL_MODE_UPPER ? k : 0 }
#define UPDATE(A, B, of) .what = EMU_UPDATE, .a = A, .b = B, .k = of

/* ---- A matrix and vectors ---------------------------------------------- */

#define MULTIPLY_VECTOR(M, n) .what = EMU_MULTIPLY, .type = TYPE(*x),     \
	.a = M, .b = VECTOR(x, n, incx)
#define GBMV(L, T, suffix, index)                                         \
FUNCTION(L##gbmv_v2##suffix)(cublasHandle_t handle,                       \
    cublasOperation_t trans, index m, index n, index kl, index ku,        \
    const T *alpha, const T *A, index lda, const T *x, index incx,        \
    const T *beta, T *y, index incy)                                      \
{                                                                         \
	const bool turned = trans != CUBLAS_OP_N;                         \
	struct emu_stored_call t = { .op = trans, .bad = BAD(trans, 2),   \
	    MULTIPLY_VECTOR(BAND(A, m, n, lda, kl, ku), turned ? m : n),  \
	    .c = VECTOR(y, turned ? n : m, incy) };                       \
	SUBMIT(alpha, TYPE(*alpha), beta, TYPE(*beta));                   \
}
/* Symmetric or Hermitian: sbmv, hbmv; spmv, hpmv; symv, hemv. */
#define BANDED_MV(L, T, suffix, index, name, kind)                        \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasFillMode_t uplo, index n, index k, const T *alpha, const T *A,  \
    index lda, const T *x, index incx, const T *beta, T *y, index incy)   \
{                                                                         \
	struct emu_stored_call t = { .bad = BAD(uplo, 1),                 \
	    MULTIPLY_VECTOR(HALF_BAND(A, kind), n),                       \
	    .c = VECTOR(y, n, incy) };                                    \
	SUBMIT(alpha, TYPE(*alpha), beta, TYPE(*beta));                   \
}
#define PACKED_MV(L, T, suffix, index, name, kind)                        \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasFillMode_t uplo, index n, const T *alpha, const T *AP,          \
    const T *x, index incx, const T *beta, T *y, index incy)              \
{                                                                         \
	struct emu_stored_call t = { .bad = BAD(uplo, 1),                 \
	    MULTIPLY_VECTOR(PACKED(AP, kind), n),                         \
	    .c = VECTOR(y, n, incy) };                                    \
	SUBMIT(alpha, TYPE(*alpha), beta, TYPE(*beta));                   \
}
#define FULL_MV(L, T, suffix, index, name, kind)                          \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasFillMode_t uplo, index n, const T *alpha, const T *A,           \
    index lda, const T *x, index incx, const T *beta, T *y, index incy)   \
{                                                                         \
	struct emu_stored_call t = { .bad = BAD(uplo, 1),                 \
	    MULTIPLY_VECTOR(HALF(A, n, lda, kind), n),                    \
	    .c = VECTOR(y, n, incy) };                                    \
	SUBMIT(alpha, TYPE(*alpha), beta, TYPE(*beta));                   \
}
/* T2: alpha's type. */
#define RANK_1(L, T, suffix, index, name, kind, T2)                       \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasFillMode_t uplo, index n, const T2 *alpha, const T *x,          \
    index incx, T *A, index lda)                                          \
{                                                                         \
	struct emu_stored_call t = { .bad = BAD(uplo, 1),                 \
	    UPDATE(VECTOR(x, n, incx), VECTOR(x, n, incx), 1),            \
	    .type = TYPE(*x), .c = HALF(A, n, lda, kind) };               \
	SUBMIT(alpha, TYPE(*alpha), NULL, EMU_REALS);                     \
}
#define RANK_2(L, T, suffix, index, name, kind)                           \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasFillMode_t uplo, index n, const T *alpha, const T *x,           \
    index incx, const T *y, index incy, T *A, index lda)                  \
{                                                                         \
	struct emu_stored_call t = { .bad = BAD(uplo, 1), .both = true,   \
	    UPDATE(VECTOR(x, n, incx), VECTOR(y, n, incy), 1),            \
	    .type = TYPE(*x), .c = HALF(A, n, lda, kind) };               \
	SUBMIT(alpha, TYPE(*alpha), NULL, EMU_REALS);                     \
}
#define PACKED_RANK_1(L, T, suffix, index, name, kind, T2)                \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasFillMode_t uplo, index n, const T2 *alpha, const T *x,          \
    index incx, T *AP)                                                    \
{                                                                         \
	struct emu_stored_call t = { .bad = BAD(uplo, 1),                 \
	    UPDATE(VECTOR(x, n, incx), VECTOR(x, n, incx), 1),            \
	    .type = TYPE(*x), .c = PACKED(AP, kind) };                    \
	SUBMIT(alpha, TYPE(*alpha), NULL, EMU_REALS);                     \
}
#define PACKED_RANK_2(L, T, suffix, index, name, kind)                    \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasFillMode_t uplo, index n, const T *alpha, const T *x,           \
    index incx, const T *y, index incy, T *AP)                            \
{                                                                         \
	struct emu_stored_call t = { .bad = BAD(uplo, 1), .both = true,   \
	    UPDATE(VECTOR(x, n, incx), VECTOR(y, n, incy), 1),            \
	    .type = TYPE(*x), .c = PACKED(AP, kind) };                    \
	SUBMIT(alpha, TYPE(*alpha), NULL, EMU_REALS);                     \
}

/* ---- Triangles --------------------------------------------------------- */

#define TRIANGLE(M, does) .what = does, .type = TYPE(*x), .op = trans,    \
	.bad = BAD(uplo, 1) || BAD(trans, 2) || BAD(diag, 1), .a = M,     \
	.c = VECTOR(x, n, incx)
#define BANDED_TRIANGLE(L, T, suffix, index, name, does)                  \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasFillMode_t uplo, cublasOperation_t trans,                       \
    cublasDiagType_t diag, index n, index k, const T *A, index lda,       \
    T *x, index incx)                                                     \
{                                                                         \
	struct emu_stored_call t = {                                      \
	    TRIANGLE(HALF_BAND(A, EMU_TRIANGULAR), does) };               \
	t.a.unit = diag == CUBLAS_DIAG_UNIT;                              \
	SUBMIT(NULL, EMU_REALS, NULL, EMU_REALS);                         \
}
#define PACKED_TRIANGLE(L, T, suffix, index, name, does)                  \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasFillMode_t uplo, cublasOperation_t trans,                       \
    cublasDiagType_t diag, index n, const T *AP, T *x, index incx)        \
{                                                                         \
	struct emu_stored_call t = {                                      \
	    TRIANGLE(PACKED(AP, EMU_TRIANGULAR), does) };                 \
	t.a.unit = diag == CUBLAS_DIAG_UNIT;                              \
	SUBMIT(NULL, EMU_REALS, NULL, EMU_REALS);                         \
}
#define UNPACK(L, T)                                                      \
FUNCTION(L##tpttr)(cublasHandle_t handle, cublasFillMode_t uplo, int n,   \
    const T *AP, T *A, int lda)                                           \
{                                                                         \
	struct emu_stored_call t = { .what = EMU_COPY,                    \
	    .type = TYPE(*A), .bad = BAD(uplo, 1),                        \
	    .a = PACKED(AP, EMU_SYMMETRIC),                               \
	    .c = HALF(A, n, lda, EMU_SYMMETRIC) };                        \
	SUBMIT(NULL, EMU_REALS, NULL, EMU_REALS);                         \
}                                                                         \
FUNCTION(L##trttp)(cublasHandle_t handle, cublasFillMode_t uplo, int n,   \
    const T *A, int lda, T *AP)                                           \
{                                                                         \
	struct emu_stored_call t = { .what = EMU_COPY,                    \
	    .type = TYPE(*A), .bad = BAD(uplo, 1),                        \
	    .a = HALF(A, n, lda, EMU_SYMMETRIC),                          \
	    .c = PACKED(AP, EMU_SYMMETRIC) };                             \
	SUBMIT(NULL, EMU_REALS, NULL, EMU_REALS);                         \
}

/* ---- Matrices ---------------------------------------------------------- */

/* Rank k: of a Hermitian matrix not by a transposition, of a symmetric one of
 * complex numbers not by a conjugated one. */
#define IS_BAD(kind, T) (BAD(uplo, 1) || BAD(trans, 2) ||                 \
	((kind) == EMU_HERMITIAN && trans == CUBLAS_OP_T) ||              \
	((kind) == EMU_SYMMETRIC && TYPE((T){ 0 }) != EMU_FLOAT &&        \
	TYPE((T){ 0 }) != EMU_DOUBLE && trans == CUBLAS_OP_C))
#define FACTOR(p, ld) FULL(p, trans == CUBLAS_OP_N ? n : k,               \
	trans == CUBLAS_OP_N ? k : n, ld)
#define RANK_K(L, T, suffix, index, name, kind, T2)                       \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasFillMode_t uplo, cublasOperation_t trans, index n, index k,     \
    const T2 *alpha, const T *A, index lda, const T2 *beta, T *C,         \
    index ldc)                                                            \
{                                                                         \
	struct emu_stored_call t = { .bad = IS_BAD(kind, T), .op = trans, \
	    UPDATE(FACTOR(A, lda), FACTOR(A, lda), k),                    \
	    .type = TYPE(*A), .c = HALF(C, n, ldc, kind) };               \
	SUBMIT(alpha, TYPE(*alpha), beta, TYPE(*beta));                   \
}
/* In 8 bits they are not built. */
#define RANK_K_EX(name, suffix, index, kind, T2)                          \
FUNCTION(C##name##Ex##suffix)(cublasHandle_t handle,                      \
    cublasFillMode_t uplo, cublasOperation_t trans, index n, index k,     \
    const T2 *alpha, const void *A, cudaDataType Atype, index lda,        \
    const T2 *beta, void *C, cudaDataType Ctype, index ldc)               \
{                                                                         \
	struct emu_stored_call t = { .bad = IS_BAD(kind, cuComplex),      \
	    .op = trans, UPDATE(FACTOR(A, lda), FACTOR(A, lda), k),       \
	    .type = EMU_COMPLEX, .c = HALF(C, n, ldc, kind) };            \
	if (Atype != CUDA_C_32F || Ctype != CUDA_C_32F)                   \
		return CUBLAS_STATUS_NOT_SUPPORTED;                       \
	SUBMIT(alpha, TYPE(*alpha), beta, TYPE(*beta));                   \
}
/* Two factors; `twice`: and the same the other way round. */
#define RANK_2K(L, T, name, index, kind, T2, twice)                       \
FUNCTION(L##name)(cublasHandle_t handle, cublasFillMode_t uplo,           \
    cublasOperation_t trans, index n, index k, const T *alpha,            \
    const T *A, index lda, const T *B, index ldb, const T2 *beta, T *C,   \
    index ldc)                                                            \
{                                                                         \
	struct emu_stored_call t = { .bad = IS_BAD(kind, T), .op = trans, \
	    UPDATE(FACTOR(A, lda), FACTOR(B, ldb), k), .both = twice,     \
	    .type = TYPE(*A), .c = HALF(C, n, ldc, kind) };               \
	SUBMIT(alpha, TYPE(*alpha), beta, TYPE(*beta));                   \
}
#define SIDED(L, T, suffix, index, name, form)                            \
FUNCTION(L##name##_v2##suffix)(cublasHandle_t handle,                     \
    cublasSideMode_t side, cublasFillMode_t uplo, index m, index n,       \
    const T *alpha, const T *A, index lda, const T *B, index ldb,         \
    const T *beta, T *C, index ldc)                                       \
{                                                                         \
	const bool right = side == CUBLAS_SIDE_RIGHT;                     \
	struct emu_stored_call t = { .what = EMU_MULTIPLY,                \
	    .type = TYPE(*A), .bad = BAD(side, 1) || BAD(uplo, 1),        \
	    .right = right, .a = HALF(A, right ? n : m, lda, form),       \
	    .b = FULL(B, m, n, ldb), .c = FULL(C, m, n, ldc) };           \
	SUBMIT(alpha, TYPE(*alpha), beta, TYPE(*beta));                   \
}

/* ---- What is exported -------------------------------------------------- */

#define ALL(L, T, suffix, index)                                          \
	GBMV(L, T, suffix, index)                                         \
	BANDED_TRIANGLE(L, T, suffix, index, tbmv, EMU_TURN)              \
	BANDED_TRIANGLE(L, T, suffix, index, tbsv, EMU_SOLVE)             \
	PACKED_TRIANGLE(L, T, suffix, index, tpmv, EMU_TURN)              \
	PACKED_TRIANGLE(L, T, suffix, index, tpsv, EMU_SOLVE)             \
	RANK_2(L, T, suffix, index, syr2, EMU_SYMMETRIC)                  \
	RANK_2K(L, T, syrkx##suffix, index, EMU_SYMMETRIC, T, false)
#define REAL(L, T, suffix, index)                                         \
	ALL(L, T, suffix, index)                                          \
	BANDED_MV(L, T, suffix, index, sbmv, EMU_SYMMETRIC)               \
	PACKED_MV(L, T, suffix, index, spmv, EMU_SYMMETRIC)               \
	PACKED_RANK_1(L, T, suffix, index, spr, EMU_SYMMETRIC, T)         \
	PACKED_RANK_2(L, T, suffix, index, spr2, EMU_SYMMETRIC)
#define COMPLEX(L, T, R, suffix, index)                                   \
	ALL(L, T, suffix, index)                                          \
	BANDED_MV(L, T, suffix, index, hbmv, EMU_HERMITIAN)               \
	PACKED_MV(L, T, suffix, index, hpmv, EMU_HERMITIAN)               \
	FULL_MV(L, T, suffix, index, hemv, EMU_HERMITIAN)                 \
	FULL_MV(L, T, suffix, index, symv, EMU_SYMMETRIC)                 \
	RANK_1(L, T, suffix, index, her, EMU_HERMITIAN, R)                \
	RANK_1(L, T, suffix, index, syr, EMU_SYMMETRIC, T)                \
	RANK_2(L, T, suffix, index, her2, EMU_HERMITIAN)                  \
	PACKED_RANK_1(L, T, suffix, index, hpr, EMU_HERMITIAN, R)         \
	PACKED_RANK_2(L, T, suffix, index, hpr2, EMU_HERMITIAN)           \
	RANK_K(L, T, suffix, index, herk, EMU_HERMITIAN, R)               \
	RANK_K(L, T, suffix, index, syrk, EMU_SYMMETRIC, T)               \
	RANK_2K(L, T, her2k_v2##suffix, index, EMU_HERMITIAN, R, true)    \
	RANK_2K(L, T, syr2k_v2##suffix, index, EMU_SYMMETRIC, T, true)    \
	RANK_2K(L, T, herkx##suffix, index, EMU_HERMITIAN, R, false)      \
	SIDED(L, T, suffix, index, hemm, EMU_HERMITIAN)                   \
	SIDED(L, T, suffix, index, symm, EMU_SYMMETRIC)
#define EX(suffix, index)                                                 \
	RANK_K_EX(syrk, suffix, index, EMU_SYMMETRIC, cuComplex)          \
	RANK_K_EX(syrk3m, suffix, index, EMU_SYMMETRIC, cuComplex)        \
	RANK_K_EX(herk, suffix, index, EMU_HERMITIAN, float)              \
	RANK_K_EX(herk3m, suffix, index, EMU_HERMITIAN, float)

REAL(S, float, , int)
REAL(D, double, , int)
COMPLEX(C, cuComplex, float, , int)
COMPLEX(Z, cuDoubleComplex, double, , int)
REAL(S, float, _64, int64_t)
REAL(D, double, _64, int64_t)
COMPLEX(C, cuComplex, float, _64, int64_t)
COMPLEX(Z, cuDoubleComplex, double, _64, int64_t)
EX(, int)
EX(_64, int64_t)
UNPACK(S, float)
UNPACK(D, double)
UNPACK(C, cuComplex)
UNPACK(Z, cuDoubleComplex)
