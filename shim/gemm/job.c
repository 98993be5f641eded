/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/job.c -- what every recipe does for its call: scalars, a lane, and
 * what it is judged by. */
#include "shim/gemm/recipe.h"

/* A scalar on the device that is of C, too, is gone once the product is there:
 * what is made apart or mended reads it later than cuBLAS does. */
__attribute__((noinline))
static bool
lies_in_output(const struct ac_job *job, const float *scalar)
{
	uint64_t extent[3];

	ac_layout_extents(job->g, extent);
	return !job->g->in_arrays && (uintptr_t)scalar
	    - (uintptr_t)job->g->c.data < extent[2];
}

/* With alpha 0 the product is not wanted: reading A and B could only harm. */
void
ac_job_read(struct ac_job *job)
{
	const struct ac_gemm *g = job->g;
	cublasPointerMode_t mode;
	const bool is_known = g->backend->pointer_mode(g,
	    job->site->binding.provider, &mode);

	job->unfit = is_known ? AC_REASON_NONE : AC_REASON_REFUSED;
	if (!is_known || mode == CUBLAS_POINTER_MODE_DEVICE) {
		job->alpha = (struct ac_cast_scalar){ .device = g->alpha };
		job->beta = (struct ac_cast_scalar){ .device = g->beta };
		if (lies_in_output(job, job->alpha.device)
		    || lies_in_output(job, job->beta.device))
			job->unfit = AC_REASON_OVERLAP;
		return;
	}
	job->alpha = (struct ac_cast_scalar){
		.value = *(const float *)g->alpha };
	job->beta = (struct ac_cast_scalar){ .value = *(const float *)g->beta };
	if (__builtin_expect(job->alpha.value == 0, 0))
		job->unfit = AC_REASON_TOO_SMALL;
}

/* Whether the product goes next to C: it adds to C, or may, or is followed by
 * something, or is of matrices in arrays. */
static bool
is_apart(const struct ac_job *job)
{
	const struct ac_gemm *g = job->g;

	return g->in_arrays || (g->tail && g->tail->follows)
	    || ac_job_adds(job);
}

static bool
casts_of(const struct ac_job *job)
{
	return job->call.candidate->tactic == AC_TACTIC_CAST;
}

static const uint8_t format_of[AC_RUNG_COUNT] = {
	[AC_RUNG_TF32] = AC_FORMAT_TF32, [AC_RUNG_FP16] = AC_FORMAT_FP16,
	[AC_RUNG_BF16] = AC_FORMAT_BF16, [AC_RUNG_FP16X2] = AC_FORMAT_FP16X2,
	[AC_RUNG_FP16X3] = AC_FORMAT_FP16X3,
	[AC_RUNG_BF16X3] = AC_FORMAT_BF16X3,
	[AC_RUNG_BF16X6] = AC_FORMAT_BF16X6
};

/* Mostly a cast of one term, or none, as before. */
static bool
lay_out(const struct ac_job *job, struct ac_layout *layout_out)
{
	const struct ac_candidate *candidate = job->call.candidate;
	const bool apart = is_apart(job), casts = casts_of(job);

	if (!job->known || job->known->tactic != candidate->tactic
	    || candidate->chunk
	    || !ac_layout_again(job->known, job->g, apart, layout_out))
		return ac_layout_make(job->g, casts
		    ? (enum ac_format)format_of[candidate->rung]
		    : AC_FORMAT_TF32, candidate->chunk, apart, layout_out);
	if (casts)
		layout_out->v.format = format_of[candidate->rung];
	return true;
}

enum ac_reason
ac_job_borrow(const struct ac_job *job, struct ac_layout *layout,
    struct ac_lane_loan *loan_out)
{
	const bool wants_handle = job->g->backend->has_handles
	    && (casts_of(job) || is_apart(job));
	struct ac_lane_request request = {
		.provider = job->owner,
		.program = job->g->handle,
		.device = job->call.device, .wants_handle = wants_handle,
		.limit_bytes = job->site->decision.workspace_bytes,
	};

	if (job->unfit != AC_REASON_NONE)
		return job->unfit;
	if (!lay_out(job, layout))
		return AC_REASON_UNSUPPORTED;
	layout->v.alpha = job->alpha;
	layout->v.output.beta = job->beta;
	request.zero_bytes = layout->zero_bytes;
	request.buffer_bytes = layout->buffer_bytes;
	if (wants_handle && PROVIDER(request.provider, cublasGetMathMode)(
	    job->g->handle, &request.math_mode))
		return AC_REASON_REFUSED;
	return ac_lane_borrow(&request, job->call.place, loan_out);
}

/* Under guard=off, and where a capture found no ledger, the host does not read
 * what the call finds. */
void
ac_job_bind(const struct ac_job *job, const struct ac_lane_loan *loan,
    struct ac_layout *layout)
{
	const struct ac_ledger *ledger = job->call.turn->ledger;
	struct ac_verified *v = &layout->v;

	ac_layout_bind(layout, loan);
	v->tol = job->site->decision.guard != AC_GUARD_OFF
	    ? (float)job->call.candidate->tol : 0;
	if (ledger) {
		v->record = ledger->record;
		v->post = ledger->post;
		v->cancelled = ledger->cancelled;
		v->heeds_cancelled = ledger->heeds_cancelled;
	}
}
