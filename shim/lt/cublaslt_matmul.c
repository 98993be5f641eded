/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/cublaslt_matmul.c -- the wrapper of cublasLtMatmul(), and the site of
 * a call. The original call is made with the program's own arguments, in
 * sight. */
#include "shim/lt/call.h"

#include "base/mapped.h"
#include "shim/bind/marker.h"

/* ---- The site ----------------------------------------------------------- */

static const struct ac_site *
site_of(const struct ac_lt_asked *call, cublasLtHandle_t handle,
    const struct ac_lt_content *content, const struct ac_lt_product *p,
    struct ac_site *scratch)
{
	const uint64_t form = (ac_form_of(ENTRY_cublasLtMatmul, p->transa,
	    p->transb, p->type, p->asked)
	    | (uint64_t)p->epilogue << AC_EPILOGUE_SHIFT)
	    | call->mark | (uint64_t)(uint8_t)call->device << 32;
	const struct ac_site_query query = {
		(uint64_t)(uintptr_t)call->caller, form,
		ac_site_pair((uint64_t)p->m, (uint64_t)p->n),
		ac_site_pair((uint64_t)p->k, (uint64_t)p->batch)
	};
	const struct ac_site_call asked = {
		(cublasHandle_t)handle, call->caller, p->m, p->n, p->k,
		p->batch, form, p->epilogue != AC_EPILOGUE_OTHER ? NULL
		    : content->unsupported
		    ? ac_lt_unsupported_name(content->unsupported)
		    : ac_lt_other_name(content)
	};
	const bool fits = AC_SITE_FITS(p->m) && AC_SITE_FITS(p->n)
	    && AC_SITE_FITS(p->k) && AC_SITE_FITS(p->batch);
	const struct ac_site *site = fits ? ac_site_find(&query) : NULL;

	return site ? site : ac_site_add(&asked, fits ? &query : NULL, scratch);
}

/* What was remembered may be of an older generation. */
__attribute__((cold, noinline))
static const struct ac_lt_decided *
find_decided(const struct ac_lt_asked *asked, cublasLtHandle_t handle,
    struct ac_lt_known *known, struct ac_lt_scratch *scratch)
{
	struct stored {
		struct ac_lt_decided decided;
		struct ac_lt_last last;
	} *stored;
	struct ac_lt_decided *decided = &scratch->decided;

	decided->content = known->content;
	decided->product = ac_lt_product_of(&known->content);
	decided->device = (int)asked->device;
	decided->version = known->version;
	decided->last = NULL;
	ac_lt_decided_prepare(decided);
	decided->known = known;
	decided->site = site_of(asked, handle, &decided->content,
	    &decided->product, &scratch->site);
	if (decided->site == &scratch->site || known == &scratch->known)
		return decided;
	stored = ac_mapped_take(sizeof *stored);
	if (!stored)
		return decided;
	stored->decided = *decided;
	stored->decided.last = &stored->last;
	atomic_store_explicit(&known->site, &stored->decided,
	    memory_order_release);
	return &stored->decided;
}

static const struct ac_lt_decided *
decided_in(const struct ac_lt_asked *asked, cublasLtHandle_t handle,
    struct ac_lt_known *known, struct ac_lt_scratch *scratch)
{
	const struct ac_lt_decided *decided = known ? atomic_load_explicit(
	    &known->site, memory_order_acquire) : NULL;

	return !known || (decided && ac_site_is_current(decided->site))
	    ? decided : find_decided(asked, handle, known, scratch);
}

/* What is known at once of calls that say the same from the same place: their
 * site, if nothing was unloaded since it was decided, so that they reach the
 * same library. NULL: find_known(). */
static inline const struct ac_lt_decided *
recall(const struct ac_lt_asked *asked)
{
	const struct ac_lt_known *known = ac_lt_find_fast(asked);
	const struct ac_lt_decided *decided = known ? atomic_load_explicit(
	    &known->site, memory_order_acquire) : NULL;

	return decided && ac_site_is_current(decided->site) ? decided : NULL;
}

/* The same of any call. With a handle that we did not see made, cublasLt may
 * read no descriptor. */
__attribute__((cold, noinline))
static const struct ac_lt_decided *
find_known(const struct ac_lt_asked *asked, cublasLtHandle_t handle,
    struct ac_lt_scratch *scratch)
{
	/* NULL, too, if a descriptor is: then cublasLt reads no other. */
	return asked->provider && ac_handle_find(handle)->provider
	    ? decided_in(asked, handle, ac_lt_find(asked, &scratch->known),
	    scratch)
	    : NULL;
}

/* A kept call is not read in full, except where something unsupported is the
 * reason. */
static inline bool
is_kept(const struct ac_lt_decided *decided)
{
	return decided->site->is_plain && !decided->content.unsupported;
}

static const struct ac_lt_decided *
confirm(const struct ac_lt_asked *asked, cublasLtHandle_t handle,
    const struct ac_lt_decided *decided, struct ac_lt_scratch *scratch)
{
	struct ac_lt_known *all = ac_lt_verify(asked, decided->known,
	    &scratch->known);

	return all == decided->known ? decided
	    : decided_in(asked, handle, all, scratch);
}

/* ---- The wrapper -------------------------------------------------------- */

/* A call that is not recalled, or that may not be kept. Binds it. */
__attribute__((noinline))
static enum ac_outcome
conduct(const struct ac_lt_arguments *x, int device,
    const struct ac_lt_decided *decided, struct ac_wrapped *call,
    struct ac_kept *kept_out, cublasStatus_t *status_out)
{
	struct ac_lt_scratch scratch;
	struct ac_lt_asked asked = {
		.caller = call->caller, .mark = call->via, .device = device,
		.desc = x->operation, .a = x->a_layout, .b = x->b_layout,
		.c = x->c_layout, .d = x->d_layout
	};

	if (decided)
		call->binding = decided->site->binding;
	else
		*call = ac_wrapper_bound(*call, ENTRY_cublasLtMatmul);
	asked.provider = call->binding.provider;
	if (!decided)
		decided = find_known(&asked, x->handle, &scratch);
	if (decided && !is_kept(decided))
		decided = confirm(&asked, x->handle, decided, &scratch);
	if (decided && !decided->site->is_plain)
		return ac_lt_recast(x, &asked, decided, kept_out, status_out);
	if (decided)
		ac_report_count_decided(decided->site->record);
	else
		ac_marker_count(ENTRY_cublasLtMatmul);
	return AC_OUTCOME_KEPT;
}

AC_WRAPPER(AC_NO_ARRAY cublasStatus_t CUBLASWINAPI, cublasLtMatmul)(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void *alpha,
    const void *A, cublasLtMatrixLayout_t a_layout, const void *B,
    cublasLtMatrixLayout_t b_layout, const void *beta, const void *C,
    cublasLtMatrixLayout_t c_layout, void *D, cublasLtMatrixLayout_t d_layout,
    const cublasLtMatmulAlgo_t *algorithm, void *workspace,
    size_t workspace_bytes, cudaStream_t stream)
{
	struct ac_wrapped call = ac_wrapper_enter(__builtin_return_address(0));
	enum ac_outcome outcome = AC_OUTCOME_KEPT;
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct ac_kept kept;

	if (__builtin_expect(call.outermost, 1)) {
		const struct ac_handle *known = ac_handle_find(handle);
		const struct ac_lt_asked asked = {
			.caller = call.caller, .mark = call.via,
			.device = known->device, .desc = operation,
			.a = a_layout, .b = b_layout, .c = c_layout,
			.d = d_layout
		};
		const struct ac_lt_decided *decided = known->provider
		    ? recall(&asked) : NULL;

		if (__builtin_expect(decided && is_kept(decided), 1)) {
			call.binding = decided->site->binding;
			ac_report_count_decided(decided->site->record);
		} else {
			/* Copies: the above need not be in memory. */
			const struct ac_lt_arguments x = {
				handle, operation, alpha, A, a_layout, B,
				b_layout, beta, C, c_layout, D, d_layout,
				algorithm, workspace, workspace_bytes, stream
			};
			struct ac_wrapped copy = call;

			outcome = conduct(&x, known->device, decided, &copy,
			    &kept, &status);
			call.binding = copy.binding;
		}
	} else {
		call = ac_wrapper_bound(call, ENTRY_cublasLtMatmul);
	}
	if (outcome != AC_OUTCOME_DONE)
		status = ORIGINAL(call, cublasLtMatmul)(handle, operation,
		    alpha, A, a_layout, B, b_layout, beta, C, c_layout, D,
		    d_layout, algorithm, workspace, workspace_bytes, stream);
	if (__builtin_expect(outcome == AC_OUTCOME_TIMED, 0))
		ac_kept_end(&kept);
	ac_wrapper_leave(&call);
	return status;
}
