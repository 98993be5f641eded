/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/cublas_grouped.c -- the wrappers of cuBLAS's grouped products. A
 * group is a product of matrices in arrays, with a site of its own, and is
 * recast alone; those that are kept go on as the program made them, neighbours
 * in one original call. No group reads or writes what another one writes
 * (cuBLAS manual), so their order is free. */
#include "shim/gemm/gemm.h"
#include "shim/bind/wrapper.h"

#if CUBLAS_VERSION >= 120500 /* as in entries.def */

/* The arguments of a call: of each group, on the host; arrays of numbers are of
 * int, or of int64_t if `is_wide`. Pointers to the matrices of all groups, one
 * after the other, in a, b and c: on the device. */
struct groups {
	cublasHandle_t           handle;
	enum ac_entry            entry;
	enum ac_type_class       type;
	enum ac_asked            asked;
	bool                     is_wide;
	int64_t                  count;
	const cublasOperation_t *transa, *transb;
	const void              *m, *n, *k, *lda, *ldb, *ldc, *size;
	const float             *alpha, *beta;
	const void *const       *a, *const *b, *const *c;
};

/* How far a call is: the original is to be made of `count` groups from `first`
 * on, whose matrices come behind `skip` others. */
struct walk {
	int64_t  first, count;
	uint64_t skip;
	int64_t  next;      /* the first group that was not looked at */
	uint64_t passed;    /* matrices before that */
	bool     is_asked;  /* it is known why the call must not be taken */
	enum ac_reason objection; /* apart; NONE: it may */
};

static int64_t
number(const struct groups *s, const void *array, int64_t i)
{
	return s->is_wide ? ((const int64_t *)array)[i]
	    : ((const int *)array)[i];
}

/* ---- Whether a call may be taken apart --------------------------------- */

/* Whatever cuBLAS refuses, it is to refuse before anything has run. */
static bool
is_valid(const struct groups *s, int64_t i)
{
	const int64_t m = number(s, s->m, i), n = number(s, s->n, i);
	const int64_t k = number(s, s->k, i);
	const int64_t rows_a = s->transa[i] == CUBLAS_OP_N ? m : k;
	const int64_t rows_b = s->transb[i] == CUBLAS_OP_N ? k : n;
	const int64_t lda = number(s, s->lda, i), ldb = number(s, s->ldb, i);
	const int64_t ldc = number(s, s->ldc, i);

	return (unsigned)s->transa[i] <= CUBLAS_OP_C
	    && (unsigned)s->transb[i] <= CUBLAS_OP_C
	    && (m | n | k | number(s, s->size, i)) >= 0
	    && lda >= 1 && ldb >= 1 && ldc >= 1
	    && lda >= rows_a && ldb >= rows_b && ldc >= m;
}

static bool
are_valid(const struct groups *s)
{
	uint64_t matrices = 0;
	bool all = s->alpha && s->beta && s->lda && s->ldb && s->ldc && s->a
	    && s->b && s->c;

	for (int64_t i = 0; all && i < s->count; i++) {
		all = is_valid(s, i);
		matrices += (uint64_t)number(s, s->size, i);
		all = all && matrices < UINT64_C(1) << 58;
	}
	return all;
}

/* Some programs pass arrays that lie on the host, which cuBLAS may read there.
 * Our kernels cannot. */
static bool
is_on_device(const void *array)
{
	enum { MEMORY_TYPE = 2, TYPE_DEVICE = 2 };
	const struct ac_driver *driver = ac_driver_loaded();
	int asked[] = { MEMORY_TYPE };
	unsigned type = 0;
	void *answers[] = { &type };

	return driver && driver->cuPointerGetAttributes
	    && !driver->cuPointerGetAttributes(1, asked, answers,
	    (uintptr_t)array) && type == TYPE_DEVICE;
}

/* A bit for each function and compute type that has answered SUCCESS. What this
 * cuBLAS lacks for this GPU it is to say before a group is added to its C: the
 * program may go another way then. */
static _Atomic uint32_t served;

static uint32_t
bit_of(const struct groups *s)
{
	return UINT32_C(1) << (8 * (s->entry - ENTRY_cublasSgemmGroupedBatched)
	    + s->asked);
}

/* cuBLAS takes scalars on the host only. */
static bool
is_fit(const struct groups *s, struct ac_provider *provider)
{
	cublasPointerMode_t mode;

	return are_valid(s) && provider
	    && ac_handle_find(s->handle)->provider == provider
	    && ac_provider_is_complete(provider)
	    && !PROVIDER(provider, cublasGetPointerMode_v2)(s->handle, &mode)
	    && mode == CUBLAS_POINTER_MODE_HOST
	    && is_on_device(s->a) && is_on_device(s->b) && is_on_device(s->c);
}

static enum ac_reason
objection(const struct groups *s, struct ac_provider *provider)
{
	return !is_fit(s, provider) ? AC_REASON_UNSUPPORTED
	    : atomic_load(&served) & bit_of(s) ? AC_REASON_NONE
	    : AC_REASON_OWN;
}

/* ---- One group after the other ------------------------------------------ */

static struct ac_gemm
product_of(const struct groups *s, int64_t i, uint64_t skip)
{
	return (struct ac_gemm){
		.backend = &ac_cublas_backend, .handle = s->handle,
		.transa = s->transa[i], .transb = s->transb[i],
		.m = number(s, s->m, i), .n = number(s, s->n, i),
		.k = number(s, s->k, i), .batch = number(s, s->size, i),
		.alpha = &s->alpha[i], .beta = &s->beta[i],
		.a = { s->a + skip, CUDA_R_32F, number(s, s->lda, i), 0 },
		.b = { s->b + skip, CUDA_R_32F, number(s, s->ldb, i), 0 },
		.c = { s->c + skip, CUDA_R_32F, number(s, s->ldc, i), 0 },
		.in_arrays = true
	};
}

/* Whether the call cannot be taken apart for a group with that decision; before
 * it has been served, one is looked at only. */
static bool
is_kept(const struct groups *s, const struct ac_wrapped *call, struct walk *w,
    const struct ac_decision *decision)
{
	if (!w->is_asked)
		w->objection = objection(s, call->binding.provider);
	w->is_asked = true;
	return w->objection != AC_REASON_NONE
	    && !(w->objection == AC_REASON_OWN && (decision->learns
	    || decision->rung == AC_RUNG_KEEP));
}

/* Whether group `i` was recast; *status_out is the answer then. Nobody times
 * its original, which may be a part of a call. */
static bool
recast(const struct groups *s, const struct ac_wrapped *call, struct walk *w,
    int64_t i, cublasStatus_t *status_out)
{
	struct ac_site scratch;
	struct ac_kept none;
	struct ac_gemm g;
	const struct ac_site *site = AC_SITE_OF(s->handle, call->caller,
	    call->via, number(s, s->m, i), number(s, s->n, i),
	    number(s, s->k, i), number(s, s->size, i), ac_form_of(s->entry,
	    s->transa[i], s->transb[i], s->type, s->asked), &scratch);

	if (site->is_plain || is_kept(s, call, w, &site->decision)) {
		ac_report_count(site->record, site->decision.rung
		    == AC_RUNG_KEEP ? site->decision.reason : w->objection);
		return false;
	}
	g = product_of(s, i, w->passed);
	return ac_gemm_recast(&g, site, &none, status_out) == AC_OUTCOME_DONE;
}

/* Behind the original of the last run, recast groups up to the end of another
 * run of kept ones. Whether the original is then to be made of that: of all, if
 * no group was recast. */
static bool
advance(const struct groups *s, const struct ac_wrapped *call, struct walk *w,
    cublasStatus_t *status)
{
	if (w->count && *status == CUBLAS_STATUS_SUCCESS)
		atomic_fetch_or(&served, bit_of(s));
	w->first = w->next;
	w->skip = w->passed;
	while (w->next < s->count && *status == CUBLAS_STATUS_SUCCESS) {
		const int64_t i = w->next++;
		const bool done = recast(s, call, w, i, status);

		w->passed += (uint64_t)number(s, s->size, i);
		w->count = i - w->first;
		if (done && w->count)
			return *status == CUBLAS_STATUS_SUCCESS;
		if (done) {
			w->first = w->next;
			w->skip = w->passed;
		}
	}
	w->count = s->count - w->first;
	return *status == CUBLAS_STATUS_SUCCESS && w->count;
}

/* ---- Wrappers ---------------------------------------------------------- */

#define GROUPS(index) \
	cublasHandle_t handle, const cublasOperation_t transa[], \
	const cublasOperation_t transb[], const index m[], const index n[], \
	const index k[]

/* From the first group of a run on; the program's own array where that is the
 * first of all, which may be NULL. */
#define AT(array) (w.first ? (array) + w.first : (array))
#define FROM(array) (w.first ? (array) + w.skip : (array))
#define SCALARS(array) (w.first ? (const float *)(array) + w.first \
	: (const float *)(array))

#define GROUPED_PARAMS(index) GROUPS(index), const float alpha[], \
	const float *const A[], const index lda[], \
	const float *const B[], const index ldb[], const float beta[], \
	float *const C[], const index ldc[], index groups, const index size[]
#define GROUPED_ARGS(index) handle, AT(transa), AT(transb), AT(m), \
	AT(n), AT(k), SCALARS(alpha), FROM(A), AT(lda), FROM(B), \
	AT(ldb), SCALARS(beta), FROM(C), AT(ldc), (index)w.count, \
	AT(size)
#define GROUPED_FORM .type = AC_TYPE_F32, .asked = AC_ASKED_UNSAID

#define GROUPED_EX_PARAMS(index) GROUPS(index), const void *alpha, \
	const void *const A[], cudaDataType type_a, const index lda[], \
	const void *const B[], cudaDataType type_b, const index ldb[], \
	const void *beta, void *const C[], cudaDataType type_c, \
	const index ldc[], index groups, const index size[], \
	cublasComputeType_t compute
#define GROUPED_EX_ARGS(index) handle, AT(transa), AT(transb), \
	AT(m), AT(n), AT(k), SCALARS(alpha), FROM(A), type_a, \
	AT(lda), FROM(B), type_b, AT(ldb), SCALARS(beta), FROM(C), \
	type_c, AT(ldc), (index)w.count, AT(size), compute
#define GROUPED_EX_FORM \
	.type = ac_type_class_of(type_a, type_b, type_c, (int)compute), \
	.asked = ac_asked_by_compute((int)compute)

/* The arrays are read only when they are all there, and there is a handle:
 * without one cuBLAS reads none of them. */
#define GROUPED_PRODUCT(shape, symbol, index)                                 \
AC_WRAPPER(cublasStatus_t CUBLASWINAPI, symbol)(shape##_PARAMS(index))        \
{                                                                             \
	const struct ac_wrapped call = AC_ENTER(symbol);                      \
	const struct groups s = {                                             \
		handle, ENTRY_##symbol, shape##_FORM,                         \
		.is_wide = sizeof(index) == sizeof(int64_t), .count = groups, \
		.transa = transa, .transb = transb, .m = m, .n = n, .k = k,   \
		.lda = lda, .ldb = ldb, .ldc = ldc, .size = size,             \
		.alpha = alpha, .beta = beta, .a = (const void *const *)A,    \
		.b = (const void *const *)B, .c = (const void *const *)C      \
	};                                                                    \
	const bool is_read = call.outermost && handle && transa && transb     \
	    && m && n && k && size && groups > 0;                             \
	struct walk w = { .count = is_read ? 0 : groups };                    \
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;                        \
	if (!is_read)                                                         \
		status = ORIGINAL(call, symbol)(shape##_ARGS(index));         \
	while (is_read && advance(&s, &call, &w, &status))                    \
		status = ORIGINAL(call, symbol)(shape##_ARGS(index));         \
	ac_wrapper_leave(&call);                                              \
	return status;                                                        \
}

#define GEMM(shape, symbol, index)
#define TRIANGLE(shape, symbol, index)
#define GROUP GROUPED_PRODUCT
#include "shim/bind/entries.def"
#endif
