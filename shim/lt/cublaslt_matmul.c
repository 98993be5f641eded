/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/cublaslt_matmul.c -- the wrapper of cublasLtMatmul(), and the site of
 * a call. The original call is made with the program's own arguments, in
 * sight. */
#include "shim/lt/call.h"

#include "base/mapped.h"
#include "shim/bind/marker.h"

/* ---- The site ----------------------------------------------------------- */

static const struct ac_site *
site_of(const struct ac_lt_arguments *x, const struct ac_wrapped *call,
    const struct ac_lt_content *content, const struct ac_lt_product *p,
    int device, struct ac_site *scratch)
{
	const uint64_t form = (ac_form_of(ENTRY_cublasLtMatmul, p->transa,
	    p->transb, p->type, p->asked)
	    | (uint64_t)p->epilogue << AC_EPILOGUE_SHIFT)
	    | call->via | (uint64_t)(uint8_t)device << 32;
	const struct ac_site_query query = {
		(uint64_t)(uintptr_t)call->caller,
		ac_site_pair((uint64_t)p->m, (uint64_t)p->n),
		ac_site_pair((uint64_t)p->k, (uint64_t)p->batch), form
	};
	const struct ac_site_call asked = {
		(cublasHandle_t)x->handle, call->caller, p->m, p->n, p->k,
		p->batch, form, p->epilogue != AC_EPILOGUE_OTHER ? NULL
		    : content->odd ? ac_lt_odd_name(content->odd)
		    : ac_lt_other_name(content)
	};
	const bool fits = AC_SITE_FITS(p->m) && AC_SITE_FITS(p->n)
	    && AC_SITE_FITS(p->k) && AC_SITE_FITS(p->batch);
	const struct ac_site *site = fits ? ac_site_find(&query) : NULL;

	return site ? site : ac_site_add(&asked, fits ? &query : NULL, scratch);
}

static struct ac_lt_asked
asked_of(const struct ac_lt_arguments *x, const struct ac_wrapped *call,
    int device)
{
	return (struct ac_lt_asked){
		.provider = call->binding.provider, .caller = call->caller,
		.mark = call->via, .device = device, .desc = x->operation,
		.a = x->a_layout, .b = x->b_layout, .c = x->c_layout,
		.d = x->d_layout
	};
}

/* What was remembered may be of an older generation. */
static const struct ac_lt_use *
find_use(const struct ac_lt_arguments *x, const struct ac_wrapped *call,
    int device, struct ac_lt_known *known, struct ac_lt_scratch *scratch)
{
	struct ac_lt_use *use = &scratch->use, *stored;

	use->content = known->content;
	use->product = ac_lt_product_of(&known->content);
	use->device = device;
	use->site = site_of(x, call, &use->content, &use->product,
	    use->device, &scratch->site);
	if (use->site == &scratch->site || known == &scratch->known)
		return use;
	stored = ac_mapped_take(sizeof *stored);
	if (!stored)
		return use;
	*stored = *use;
	atomic_store_explicit(&known->site,
	    stored, memory_order_release);
	return stored;
}

static const struct ac_lt_use *
use_in(const struct ac_lt_arguments *x, const struct ac_wrapped *call,
    int device, struct ac_lt_known *known, struct ac_lt_scratch *scratch)
{
	const struct ac_lt_use *use = known ? atomic_load_explicit(
	    &known->site, memory_order_acquire) : NULL;

	return !known || (use && ac_site_is_current(use->site)) ? use
	    : find_use(x, call, device, known, scratch);
}

/* A call that is kept need not be known in all that a recast depends on. */
static const struct ac_lt_use *
use_of(const struct ac_lt_arguments *x, const struct ac_wrapped *call,
    int device, struct ac_lt_scratch *scratch)
{
	const struct ac_lt_asked asked = asked_of(x, call, device);
	struct ac_lt_known *known = ac_lt_know(&asked, &scratch->known), *all;
	const struct ac_lt_use *use = use_in(x, call, device, known, scratch);

	if (!use || use->site->is_plain)
		return use;
	all = ac_lt_confirm(&asked, known, &scratch->known);
	return all == known ? use : use_in(x, call, device, all, scratch);
}

/* ---- The wrapper -------------------------------------------------------- */

/* Without these cublasLt reads none of the others. With a handle that we did
 * not see made, it may not read them either. */
static bool
is_readable(const struct ac_lt_arguments *x, const struct ac_wrapped *call,
    const struct ac_handle *handle)
{
	return call->binding.provider && handle->provider && x->operation
	    && x->a_layout && x->b_layout && x->d_layout;
}

static enum ac_outcome
recast(const struct ac_lt_arguments *x, const struct ac_wrapped *call,
    struct ac_kept *kept_out, cublasStatus_t *status_out)
{
	const struct ac_handle *handle = ac_handle_find(x->handle);
	struct ac_lt_scratch scratch;
	const struct ac_lt_use *use = is_readable(x, call, handle)
	    ? use_of(x, call, handle->device, &scratch) : NULL;

	if (!use)
		ac_marker_count(ENTRY_cublasLtMatmul);
	else if (use->site->is_plain)
		ac_report_count_decided(use->site->record);
	else
		return ac_lt_recast(x, use, call, kept_out, status_out);
	return AC_OUTCOME_KEPT;
}

AC_WRAPPER(cublasStatus_t CUBLASWINAPI, cublasLtMatmul)(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void *alpha,
    const void *A, cublasLtMatrixLayout_t a_layout, const void *B,
    cublasLtMatrixLayout_t b_layout, const void *beta, const void *C,
    cublasLtMatrixLayout_t c_layout, void *D, cublasLtMatrixLayout_t d_layout,
    const cublasLtMatmulAlgo_t *algorithm, void *workspace,
    size_t workspace_bytes, cudaStream_t stream)
{
	const struct ac_wrapped call = AC_ENTER(cublasLtMatmul);
	enum ac_outcome outcome = AC_OUTCOME_KEPT;
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	struct ac_kept kept;

	if (call.outermost) {
		const struct ac_lt_arguments x = {
			handle, operation, alpha, A, a_layout, B, b_layout,
			beta, C, c_layout, D, d_layout, algorithm, workspace,
			workspace_bytes, stream
		};

		outcome = recast(&x, &call, &kept, &status);
	}
	if (outcome != AC_OUTCOME_DONE)
		status = ORIGINAL(call, cublasLtMatmul)(handle, operation,
		    alpha, A, a_layout, B, b_layout, beta, C, c_layout, D,
		    d_layout, algorithm, workspace, workspace_bytes, stream);
	if (outcome == AC_OUTCOME_TIMED)
		ac_kept_end(&kept);
	ac_wrapper_leave(&call);
	return status;
}
