/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/cublas_syrk.c -- the wrappers of C = alpha op(A) op(B)^T + beta C,
 * of which one triangle is written; B is A but for syrkx. The block between the
 * two halves of the diagonal is a product like any other, with a site of its
 * own, and is recast. Each half is an update again: it is halved while that
 * pays, else the original is made of it. */
#include "shim/gemm/gemm.h"
#include "shim/bind/wrapper.h"
#include "shim/device/handle.h"

/* A call, or a part of one. */
struct update {
	cublasHandle_t    handle;
	enum ac_entry     entry;
	cublasFillMode_t  uplo;
	cublasOperation_t trans;
	int64_t           n, k, lda, ldb, ldc;
	const float      *alpha, *beta; /* host or device */
	const float      *a, *b;
	float            *c;
	/* By NVIDIA's own prototype. */
	cublasStatus_t  (*original)(const struct update *u, ac_fn next);
};

/* Shorter diagonals are not halved: below that a kernel has one tile of it.
 * Halves begin at a tile. */
enum { TILE = 64, SHORTEST = 2 * TILE };

static int64_t
half_of(int64_t n)
{
	return n >= SHORTEST ? (n / 2 + TILE / 2) / TILE * TILE : n / 2;
}

/* Where lines of op() begin, of A or of B. */
static const float *
lines_from(const struct update *u, const float *matrix, int64_t ld,
    int64_t line)
{
	return matrix + (u->trans == CUBLAS_OP_N ? line : line * ld);
}

/* `rows` lines of op(A) from `row` on with `cols` of op(B) from `col` on. */
static struct ac_gemm
block(const struct update *u, int64_t row, int64_t rows, int64_t col,
    int64_t cols)
{
	const bool plain = u->trans == CUBLAS_OP_N;

	return (struct ac_gemm){
		.backend = &ac_cublas_backend, .handle = u->handle,
		.transa = plain ? CUBLAS_OP_N : CUBLAS_OP_T,
		.transb = plain ? CUBLAS_OP_T : CUBLAS_OP_N,
		.m = rows, .n = cols, .k = u->k, .batch = 1,
		.alpha = u->alpha, .beta = u->beta,
		.a = { lines_from(u, u->a, u->lda, row), CUDA_R_32F, u->lda,
			0 },
		.b = { lines_from(u, u->b, u->ldb, col), CUDA_R_32F, u->ldb,
			0 },
		.c = { u->c + row + col * u->ldc, CUDA_R_32F, u->ldc, 0 }
	};
}

static struct ac_gemm
between_halves(const struct update *u)
{
	const int64_t half = half_of(u->n), rest = u->n - half;

	return u->uplo == CUBLAS_FILL_MODE_LOWER
	    ? block(u, half, rest, 0, half) : block(u, 0, half, half, rest);
}

/* That of the block between the halves. */
static const struct ac_site *
site_of(const struct update *u, const struct ac_wrapped *call,
    struct ac_site *scratch)
{
	const bool plain = u->trans == CUBLAS_OP_N;
	const bool lower = u->uplo == CUBLAS_FILL_MODE_LOWER;
	const int64_t half = half_of(u->n), rest = u->n - half;
	const int64_t m = lower ? rest : half, n = lower ? half : rest;

	return AC_SITE_OF(u->handle, call->caller, call->via, m, n, u->k, 1,
	    ac_form_of(u->entry, plain ? CUBLAS_OP_N : CUBLAS_OP_T,
	    plain ? CUBLAS_OP_T : CUBLAS_OP_N, AC_TYPE_F32, AC_ASKED_UNSAID),
	    scratch);
}

static struct update
part(const struct update *u, int64_t from, int64_t n)
{
	struct update p = *u;

	p.n = n;
	p.a = lines_from(u, u->a, u->lda, from);
	p.b = lines_from(u, u->b, u->ldb, from);
	p.c = u->c + from + from * u->ldc;
	return p;
}

/* Whatever cuBLAS refuses, it is to refuse before anything has run; and no
 * part may write what another one reads. */
static enum ac_reason
objection(const struct update *u, struct ac_provider *provider)
{
	struct ac_gemm whole;

	if ((unsigned)u->trans > CUBLAS_OP_C
	    || (unsigned)u->uplo > CUBLAS_FILL_MODE_UPPER)
		return AC_REASON_UNSUPPORTED;
	if (u->n < SHORTEST)
		return AC_REASON_TOO_SMALL;
	if (!u->a || !u->b || !u->c)
		return AC_REASON_UNSUPPORTED;
	whole = block(u, 0, u->n, 0, u->n);
	return ac_gemm_objection(&whole, ac_handle_find(u->handle), provider,
	    NULL);
}

/* Whether the block between the halves was recast. */
static bool
recast(const struct update *u, const struct ac_wrapped *call, bool is_whole,
    cublasStatus_t *status_out)
{
	struct ac_site scratch;
	const struct ac_site *site = site_of(u, call, &scratch);
	const enum ac_reason reason = site->is_plain || !is_whole
	    ? AC_REASON_NONE : objection(u, call->binding.provider);
	struct ac_kept none; /* nobody times a part of a call */
	struct ac_gemm g;

	if (!site->is_plain && reason == AC_REASON_NONE) {
		g = between_halves(u);
		return ac_gemm_recast(&g, site, &none, status_out)
		    == AC_OUTCOME_DONE;
	}
	if (site->decision.rung == AC_RUNG_KEEP)
		ac_report_count_decided(site->record);
	else
		ac_report_count(site->record, reason);
	return false;
}

/* By halves while the block between them is recast. */
static cublasStatus_t
update(const struct update *u, const struct ac_wrapped *call, bool is_whole)
{
	const int64_t half = half_of(u->n);
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct update p;

	if (!call->outermost || (!is_whole && u->n < SHORTEST)
	    || !recast(u, call, is_whole, &status))
		return u->original(u, call->binding.next);
	if (status == CUBLAS_STATUS_SUCCESS) {
		p = part(u, 0, half);
		status = update(&p, call, false);
	}
	if (status == CUBLAS_STATUS_SUCCESS) {
		p = part(u, half, u->n - half);
		status = update(&p, call, false);
	}
	return status;
}

/* ---- Wrappers ---------------------------------------------------------- */

#define HEAD(index) \
	cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, \
	index n, index k, const float *alpha, const float *A, index lda
#define TAIL(index) const float *beta, float *C, index ldc

#define SYRK_PARAMS(index) HEAD(index), TAIL(index)
#define SYRK_B .b = A, .ldb = lda
#define SYRK_ORIGINAL_B(index)
#define SYRKX_PARAMS(index) HEAD(index), const float *B, index ldb, \
	TAIL(index)
#define SYRKX_B .b = B, .ldb = ldb
#define SYRKX_ORIGINAL_B(index) u->b, (index)u->ldb,

#define TRIANGLE(shape, symbol, index)                                        \
static cublasStatus_t                                                         \
original_##symbol(const struct update *u, ac_fn next)                         \
{                                                                             \
	return ((__typeof__(&symbol))next)(u->handle, u->uplo, u->trans,      \
	    (index)u->n, (index)u->k, u->alpha, u->a, (index)u->lda,          \
	    shape##_ORIGINAL_B(index) u->beta, u->c, (index)u->ldc);          \
}                                                                             \
AC_WRAPPER(cublasStatus_t CUBLASWINAPI, symbol)(shape##_PARAMS(index))        \
{                                                                             \
	const struct ac_wrapped call = AC_ENTER(symbol);                      \
	const struct update u = {                                             \
		.handle = handle, .entry = ENTRY_##symbol, .uplo = uplo,      \
		.trans = trans, .n = n, .k = k, .alpha = alpha, .beta = beta, \
		.a = A, .lda = lda, shape##_B, .c = C, .ldc = ldc,            \
		.original = original_##symbol                                 \
	};                                                                    \
	const cublasStatus_t status = update(&u, &call, true);                \
	ac_wrapper_leave(&call);                                              \
	return status;                                                        \
}

#define GEMM(shape, symbol, index)
#define GROUP(shape, symbol, index)
#include "shim/bind/entries.def"
