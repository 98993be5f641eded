/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_level3.c -- cuBLAS calls on matrices other than
 * products, of each type: geam, dgmm, trsm and trsmBatched. Plain loops in
 * double precision. Contracts are NVIDIA's. */
#include "emulator/cublas/blas/cublas_matrix.h"

#include <complex.h>

struct matrices {
	enum emu_real type;
	cublasOperation_t transa, transb;
	bool left, upper, unit;
	int64_t m, n, lda, ldb, ldc, incx;
	const void *a, *b;
	void *c;
	struct emu_scalar alpha, beta;
	/* Of a batch, which is solved: count matrices, whose addresses are on
	 * the device. */
	int64_t count;
	const void *const *as;
	void *const *cs;
	const char *call;
};
enum { GEAM, DGMM, TRSM, CALLS };
typedef void (*matrices_run)(struct matrices *t);

/* Elements are T, scalars `scalar` of a struct emu_scalar, sums are A. */
#define ELEMENTS(L, T, A, scalar, conjugate)                              \
/* Element of op(A). */                                                   \
static inline A                                                           \
pick_##L(const T *a, int64_t ld, cublasOperation_t op, int64_t i,         \
    int64_t j)                                                            \
{                                                                         \
	const A x = (A)a[op == CUBLAS_OP_N ? j * ld + i : i * ld + j];    \
	return op == CUBLAS_OP_C ? conjugate(x) : x;                      \
}                                                                         \
/* C = alpha op(A) + beta op(B) */                                        \
static void                                                               \
geam_##L(struct matrices *t)                                              \
{                                                                         \
	const A alpha = scalar(t->alpha), beta = scalar(t->beta);         \
	T *const c = t->c;                                                \
	for (int64_t j = 0; j < t->n; j++)                                \
		for (int64_t i = 0; i < t->m; i++) {                      \
			A sum = 0;                                        \
			if (alpha != 0)                                   \
				sum += alpha * pick_##L(t->a, t->lda,     \
				    t->transa, i, j);                     \
			if (beta != 0)                                    \
				sum += beta * pick_##L(t->b, t->ldb,      \
				    t->transb, i, j);                     \
			c[j * t->ldc + i] = (T)sum;                       \
		}                                                         \
}                                                                         \
/* C = diag(X) A or A diag(X) */                                          \
static void                                                               \
dgmm_##L(struct matrices *t)                                              \
{                                                                         \
	const int64_t order = t->left ? t->m : t->n;                      \
	const T *const a = t->a, *const x = t->b;                         \
	T *const c = t->c;                                                \
	for (int64_t j = 0; j < t->n; j++)                                \
		for (int64_t i = 0; i < t->m; i++)                        \
			c[j * t->ldc + i] = (T)((A)a[j * t->lda + i] *    \
			    (A)x[emu_at(t->left ? i : j, order,           \
			    t->incx)]);                                   \
}                                                                         \
/* Solve for one right-hand side at `x`, whose elements are `step` apart. \
 * With A on the right the system is transposed. */                       \
static void                                                               \
solve_##L(const struct matrices *t, A alpha, int64_t order, T *x,         \
    int64_t step)                                                         \
{                                                                         \
	const bool upper = (t->upper != (t->transa != CUBLAS_OP_N)) ==    \
	    t->left;                                                      \
	for (int64_t s = 0; s < order; s++) {                             \
		const int64_t i = upper ? order - 1 - s : s;              \
		const int64_t high = upper ? order : i;                   \
		A sum = alpha * (A)x[i * step];                           \
		for (int64_t j = upper ? i + 1 : 0; j < high; j++)        \
			sum -= pick_##L(t->a, t->lda, t->transa,          \
			    t->left ? i : j, t->left ? j : i) *           \
			    (A)x[j * step];                               \
		x[i * step] = (T)(t->unit ? sum : sum /                   \
		    pick_##L(t->a, t->lda, t->transa, i, i));             \
	}                                                                 \
}                                                                         \
/* op(A) X = alpha B or X op(A) = alpha B, X in place of B */             \
static void                                                               \
trsm_##L(struct matrices *t)                                              \
{                                                                         \
	const int64_t order = t->left ? t->m : t->n;                      \
	const int64_t sides = t->left ? t->n : t->m;                      \
	const int64_t step = t->left ? 1 : t->ldc;                        \
	const A alpha = scalar(t->alpha);                                 \
	for (int64_t s = 0; s < sides; s++) {                             \
		T *const x = (T *)t->c + (t->left ? s * t->ldc : s);      \
		if (alpha != 0)                                           \
			solve_##L(t, alpha, order, x, step);              \
		for (int64_t i = 0; alpha == 0 && i < order; i++)         \
			x[i * step] = 0;                                  \
	}                                                                 \
}

#define REAL_SCALAR(s) ((s).value)
/* complex.h has CMPLX for gcc alone. */
#define COMPLEX_SCALAR(s) __builtin_complex((s).value, (s).imaginary)
#define SAME(x) (x)

ELEMENTS(S, float, double, REAL_SCALAR, SAME)
ELEMENTS(D, double, double, REAL_SCALAR, SAME)
ELEMENTS(C, float complex, double complex, COMPLEX_SCALAR, conj)
ELEMENTS(Z, double complex, double complex, COMPLEX_SCALAR, conj)

static const matrices_run runs[EMU_REALS][CALLS] = {
	[EMU_FLOAT] = { geam_S, dgmm_S, trsm_S },
	[EMU_DOUBLE] = { geam_D, dgmm_D, trsm_D },
	[EMU_COMPLEX] = { geam_C, dgmm_C, trsm_C },
	[EMU_DOUBLE_COMPLEX] = { geam_Z, dgmm_Z, trsm_Z }
};

/* ---- Queueing ----------------------------------------------------------- */

static int
check(const struct matrices *t, const void *at, int64_t rows, int64_t cols,
    int64_t ld, const char *argument)
{
	const struct emu_shape shape = { rows, cols, ld, 1, 0,
		emu_real_bytes(t->type) };

	return emu_memory_check_matrix(at, &shape, argument);
}

static int
check_system(const struct matrices *t, const void *a, const void *b)
{
	const int64_t order = t->left ? t->m : t->n;
	int bad = EMU_OK;

	if (!emu_scalar_is_zero(&t->alpha))
		bad = check(t, a, order, order, t->lda, "A");
	return bad ? bad : check(t, b, t->m, t->n, t->ldc, "B");
}

struct task {
	matrices_run run;
	struct matrices t;
};

static void
run(void *arguments)
{
	struct task *task = arguments;
	struct matrices *t = &task->t;
	int bad = EMU_OK;

	emu_scalar_fetch(&t->alpha);
	emu_scalar_fetch(&t->beta);
	if (!t->as)
		task->run(t);
	/* TSan sees bad accesses itself; the checks' lock would hide races. */
	emu_call_name(t->call);
	for (int64_t i = 0; t->as && !bad && i < t->count; i++) {
		t->a = t->as[i];
		t->c = t->cs[i];
		bad = EMU_TSAN ? EMU_OK : check_system(t, t->a, t->c);
		if (!bad)
			task->run(t);
	}
	if (bad)
		emu_device_poison(bad);
}

static cublasStatus_t
submit(cublasHandle_t handle, int call, const struct matrices *t)
{
	struct task *task = emu_task_new(run, sizeof *task);

	if (task) {
		task->run = runs[t->type][call];
		task->t = *t;
		task->t.call = emu_call_current();
	}
	return emu_blas_submit(handle, task);
}

static bool
is_operation(cublasOperation_t operation)
{
	return (unsigned)operation <= CUBLAS_OP_C;
}

static cublasStatus_t
geam(cublasHandle_t handle, struct matrices *t, const void *alpha,
    const void *beta)
{
	const bool turns_a = t->transa != CUBLAS_OP_N;
	const bool turns_b = t->transb != CUBLAS_OP_N;
	cublasStatus_t status;
	int bad = EMU_OK;

	if (!is_operation(t->transa) || !is_operation(t->transb) ||
	    t->m < 0 || t->n < 0 || t->lda < 1 || t->ldb < 1 ||
	    t->lda < (turns_a ? t->n : t->m) ||
	    t->ldb < (turns_b ? t->n : t->m) || t->ldc < 1 ||
	    t->ldc < t->m || (t->c == t->a && (turns_a ||
	    t->lda != t->ldc)) || (t->c == t->b && (turns_b ||
	    t->ldb != t->ldc)))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!t->m || !t->n)
		return CUBLAS_STATUS_SUCCESS;
	status = emu_scalar_take(handle, alpha, t->type, "alpha", &t->alpha);
	if (!status)
		status = emu_scalar_take(handle, beta, t->type, "beta",
		    &t->beta);
	if (status)
		return status;
	if (!emu_scalar_is_zero(&t->alpha))
		bad = check(t, t->a, turns_a ? t->n : t->m,
		    turns_a ? t->m : t->n, t->lda, "A");
	if (!bad && !emu_scalar_is_zero(&t->beta))
		bad = check(t, t->b, turns_b ? t->n : t->m,
		    turns_b ? t->m : t->n, t->ldb, "B");
	if (!bad)
		bad = check(t, t->c, t->m, t->n, t->ldc, "C");
	return bad ? emu_blas_status(bad) : submit(handle, GEAM, t);
}

/* incx may be 0: one number for all. */
static cublasStatus_t
dgmm(cublasHandle_t handle, struct matrices *t, cublasSideMode_t mode)
{
	int bad;

	if ((unsigned)mode > 1 || t->m < 0 || t->n < 0 || t->lda < 1 ||
	    t->lda < t->m || t->ldc < 1 || t->ldc < t->m)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!t->m || !t->n)
		return CUBLAS_STATUS_SUCCESS;
	bad = check(t, t->a, t->m, t->n, t->lda, "A");
	if (!bad)
		bad = check(t, t->b, 1, t->left ? t->m : t->n, t->incx < 0 ?
		    -t->incx : t->incx, "x");
	if (!bad)
		bad = check(t, t->c, t->m, t->n, t->ldc, "C");
	return bad ? emu_blas_status(bad) : submit(handle, DGMM, t);
}

static cublasStatus_t
trsm(cublasHandle_t handle, struct matrices *t, const void *alpha)
{
	const uint64_t pointers = (uint64_t)t->count * sizeof(void *);
	cublasStatus_t status;
	int bad;

	if (!is_operation(t->transa) || t->m < 0 || t->n < 0 || t->count < 0 ||
	    t->lda < 1 || t->lda < (t->left ? t->m : t->n) || t->ldc < 1 ||
	    t->ldc < t->m)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!t->m || !t->n || !t->count)
		return CUBLAS_STATUS_SUCCESS;
	status = emu_scalar_take(handle, alpha, t->type, "alpha", &t->alpha);
	if (status)
		return status;
	if (!t->as)
		bad = check_system(t, t->a, t->c);
	else
		bad = emu_memory_check(t->as, pointers, "A");
	if (!bad && t->as)
		bad = emu_memory_check(t->cs, pointers, "B");
	return bad ? emu_blas_status(bad) : submit(handle, TRSM, t);
}

/* ---- What is exported --------------------------------------------------- */

#define GEAM(symbol, index, T, real)                                      \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, cublasOperation_t transa,                   \
    cublasOperation_t transb, index m, index n, const T *alpha,           \
    const T *A, index lda, const T *beta, const T *B, index ldb, T *C,    \
    index ldc)                                                            \
{                                                                         \
	struct matrices t = { .type = real, .transa = transa,             \
	    .transb = transb, .m = m, .n = n, .lda = lda, .ldb = ldb,     \
	    .ldc = ldc, .a = A, .b = B, .c = C };                         \
	BLAS_ENTER(handle);                                               \
	return geam(handle, &t, alpha, beta);                             \
}
#define DGMM(symbol, index, T, real)                                      \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, cublasSideMode_t mode, index m, index n,    \
    const T *A, index lda, const T *x, index incx, T *C, index ldc)       \
{                                                                         \
	struct matrices t = { .type = real,                               \
	    .left = mode == CUBLAS_SIDE_LEFT, .m = m, .n = n, .lda = lda, \
	    .incx = incx, .ldc = ldc, .a = A, .b = x, .c = C };           \
	BLAS_ENTER(handle);                                               \
	return dgmm(handle, &t, mode);                                    \
}
#define SYSTEM(real) .type = real, .transa = trans,                       \
	.left = side == CUBLAS_SIDE_LEFT,                                 \
	.upper = uplo == CUBLAS_FILL_MODE_UPPER,                          \
	.unit = diag == CUBLAS_DIAG_UNIT, .m = m, .n = n, .lda = lda,     \
	.ldc = ldb
#define IS_KNOWN ((unsigned)side <= 1 && (unsigned)uplo <= 1 &&           \
	(unsigned)diag <= 1)
#define TRSM(symbol, index, T, real)                                      \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, cublasSideMode_t side,                      \
    cublasFillMode_t uplo, cublasOperation_t trans,                       \
    cublasDiagType_t diag, index m, index n, const T *alpha, const T *A,  \
    index lda, T *B, index ldb)                                           \
{                                                                         \
	struct matrices t = { SYSTEM(real), .a = A, .c = B, .count = 1 };  \
	BLAS_ENTER(handle);                                               \
	return IS_KNOWN ? trsm(handle, &t, alpha) :                       \
	    CUBLAS_STATUS_INVALID_VALUE;                                  \
}
#define TRSM_BATCHED(symbol, index, T, real)                              \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, cublasSideMode_t side,                      \
    cublasFillMode_t uplo, cublasOperation_t trans,                       \
    cublasDiagType_t diag, index m, index n, const T *alpha,              \
    const T *const A[], index lda, T *const B[], index ldb, index count)  \
{                                                                         \
	struct matrices t = { SYSTEM(real), .count = count,               \
	    .as = (const void *const *)A, .cs = (void *const *)B };       \
	BLAS_ENTER(handle);                                               \
	return IS_KNOWN && (!count || (A && B)) ?                         \
	    trsm(handle, &t, alpha) : CUBLAS_STATUS_INVALID_VALUE;        \
}
#define ALL(L, suffix, index, T, real)                                    \
	GEAM(cublas##L##geam##suffix, index, T, real)                     \
	DGMM(cublas##L##dgmm##suffix, index, T, real)                     \
	TRSM(cublas##L##trsm_v2##suffix, index, T, real)                  \
	TRSM_BATCHED(cublas##L##trsmBatched##suffix, index, T, real)

ALL(S, , int, float, EMU_FLOAT)
ALL(D, , int, double, EMU_DOUBLE)
ALL(C, , int, cuComplex, EMU_COMPLEX)
ALL(Z, , int, cuDoubleComplex, EMU_DOUBLE_COMPLEX)
ALL(S, _64, int64_t, float, EMU_FLOAT)
ALL(D, _64, int64_t, double, EMU_DOUBLE)
ALL(C, _64, int64_t, cuComplex, EMU_COMPLEX)
ALL(Z, _64, int64_t, cuDoubleComplex, EMU_DOUBLE_COMPLEX)
