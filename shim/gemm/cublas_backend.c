/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/cublas_backend.c -- how a recast product goes through cuBLAS: by
 * cublasGemmEx() or cublasGemmStridedBatchedEx(). */
#include "shim/gemm/recipe.h"

#include <limits.h>

bool
ac_gemm_is_refusal(cublasStatus_t status)
{
	switch (status) {
	case CUBLAS_STATUS_NOT_SUPPORTED:
	case CUBLAS_STATUS_INVALID_VALUE:
	case CUBLAS_STATUS_ARCH_MISMATCH:
	case CUBLAS_STATUS_ALLOC_FAILED:
	case CUBLAS_STATUS_NOT_INITIALIZED:
		return true;
	default:
		return false;
	}
}

static bool
fits_int(const struct ac_gemm *p)
{
	return ((uint64_t)(p->m | p->n | p->k | p->batch)
	    | (uint64_t)(p->a.ld | p->b.ld | p->c.ld)) <= INT_MAX;
}

/* One argument list for the int and the int64_t form of each function. */
#define ISSUE_SINGLE(function, index) \
	(function)(p->handle, p->transa, p->transb, (index)p->m, (index)p->n, \
	    (index)p->k, p->alpha, p->a.data, p->a.type, (index)p->a.ld, \
	    p->b.data, p->b.type, (index)p->b.ld, p->beta, c, p->c.type, \
	    (index)p->c.ld, compute, CUBLAS_GEMM_DEFAULT)
#define ISSUE_STRIDED(function, index) \
	(function)(p->handle, p->transa, p->transb, (index)p->m, (index)p->n, \
	    (index)p->k, p->alpha, p->a.data, p->a.type, (index)p->a.ld, \
	    p->a.stride, p->b.data, p->b.type, (index)p->b.ld, p->b.stride, \
	    p->beta, c, p->c.type, (index)p->c.ld, p->c.stride, \
	    (index)p->batch, compute, CUBLAS_GEMM_DEFAULT)

__attribute__((cold, noinline))
static enum ac_reason
issue_wide(struct ac_provider *provider, const struct ac_gemm *p,
    cublasComputeType_t compute, cublasStatus_t *status_out)
{
#if CUBLAS_VERSION >= 120000
	__typeof__(&cublasGemmEx_64) single =
	    PROVIDER(provider, cublasGemmEx_64);
	__typeof__(&cublasGemmStridedBatchedEx_64) batched =
	    PROVIDER(provider, cublasGemmStridedBatchedEx_64);
	void *const c = (void *)(uintptr_t)p->c.data;

	if (!single || !batched)
		return AC_REASON_UNSUPPORTED;
	*status_out = p->batch > 1 ? ISSUE_STRIDED(batched, int64_t)
	    : ISSUE_SINGLE(single, int64_t);
	return AC_REASON_NONE;
#else
	(void)provider, (void)p, (void)compute, (void)status_out;
	return AC_REASON_UNSUPPORTED;
#endif
}

/* In the form whose indices are wide enough. */
static enum ac_reason
issue(const struct ac_job *job, const struct ac_gemm *p,
    cublasComputeType_t compute, bool apart, cublasStatus_t *status_out)
{
	struct ac_provider *provider = job->site->binding.provider;
	void *const c = (void *)(uintptr_t)p->c.data;
	cublasStatus_t status;
	enum ac_reason reason = AC_REASON_NONE;

	(void)apart; /* a product is all that cuBLAS does */
	if (!fits_int(p))
		reason = issue_wide(provider, p, compute, &status);
	else if (p->batch > 1)
		status = ISSUE_STRIDED(FOUND(provider,
		    cublasGemmStridedBatchedEx), int);
	else
		status = ISSUE_SINGLE(FOUND(provider, cublasGemmEx), int);
	if (reason != AC_REASON_NONE)
		return reason;
	if (__builtin_expect(status, 0) && ac_gemm_is_refusal(status))
		return AC_REASON_REFUSED;
	*status_out = status;
	return AC_REASON_NONE;
}

static enum ac_reason
find_stream(const struct ac_gemm *program, struct ac_provider *provider,
    ac_cu_stream *stream_out)
{
	if (FOUND(provider, cublasGetStream_v2)(program->handle, stream_out))
		return AC_REASON_REFUSED;
	return AC_REASON_NONE;
}

static bool
pointer_mode(const struct ac_gemm *program, struct ac_provider *provider,
    cublasPointerMode_t *mode_out)
{
	return !FOUND(provider, cublasGetPointerMode_v2)(program->handle,
	    mode_out);
}

const struct ac_gemm_backend ac_cublas_backend = {
	.has_handles = true, .find_stream = find_stream,
	.pointer_mode = pointer_mode, .issue = issue
};
