/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/recipe_cast.c -- cast both operands to 16 bits and multiply those,
 * on a lane (doc/rules.md R1, R2, R3). FP16 operands are scaled by powers of
 * two that alpha undoes; BF16 has FP32's range and needs none. */
#include "shim/gemm/recipe.h"

bool
ac_cast_queue(const struct ac_job *job, struct ac_layout *layout)
{
	const struct ac_place *place = job->call.place;
	struct ac_recast *r = &layout->recast;
	const bool fp16 = job->call.candidate->rung == AC_RUNG_FP16;

	r->format = fp16 ? AC_FORMAT_FP16 : AC_FORMAT_BF16;
	r->scaled = fp16 && job->site->decision.scaled;
	return r->history
	    && !ac_recast_cast(place->kernels, r, place->stream)
	    && !ac_recast_settle(place->kernels, r, place->stream);
}

static struct ac_operand
cast_operand(const struct ac_recast_operand *o, cudaDataType type)
{
	return (struct ac_operand){
		.data = o->to, .type = type, .ld = o->ld_to,
		.stride = o->batch > 1 ? o->ld_to * o->cols_to : 0,
	};
}

enum ac_reason
ac_cast_multiply(const struct ac_job *job, const struct ac_layout *layout,
    const struct ac_lane_loan *loan, cublasStatus_t *status_out)
{
	const struct ac_gemm *g = job->g;
	const struct ac_recast *r = &layout->recast;
	const cudaDataType type = r->format == AC_FORMAT_FP16 ? CUDA_R_16F
	    : CUDA_R_16BF;
	struct ac_gemm product = *g;

	product.handle = loan->handle;
	product.k = layout->k_padded;
	product.alpha = &r->state->alpha;
	product.beta = &r->state->beta;
	product.a = cast_operand(&r->operand[0], type);
	product.b = cast_operand(&r->operand[1], type);
	if (r->output.result) {
		product.beta = &r->state->zero;
		product.c = (struct ac_operand){ r->output.result, CUDA_R_32F,
			g->m, g->m * g->n };
	}
	return g->door->issue(job, &product, CUBLAS_COMPUTE_32F,
	    r->output.result != NULL, status_out);
}

/* The last launch. It has failed for good once the product is in C. */
static enum ac_reason
finish(const struct ac_layout *layout, const struct ac_place *place,
    cublasStatus_t *status)
{
	if (!ac_recast_finish(place->kernels, &layout->recast, place->stream))
		return AC_REASON_NONE;
	if (layout->recast.output.result)
		return AC_REASON_REFUSED;
	*status = CUBLAS_STATUS_EXECUTION_FAILED;
	return AC_REASON_NONE;
}

static enum ac_reason
run(const struct ac_job *job, struct ac_layout *layout,
    const struct ac_lane_loan *loan)
{
	cublasStatus_t status;
	enum ac_reason reason;

	if (!ac_cast_queue(job, layout))
		return AC_REASON_REFUSED;
	reason = ac_cast_multiply(job, layout, loan, &status);
	if (reason == AC_REASON_NONE)
		reason = finish(layout, job->call.place, &status);
	if (reason == AC_REASON_NONE)
		*job->status_out = status;
	return reason;
}

enum ac_reason
ac_recipe_cast(const struct ac_job *job)
{
	struct ac_turn *turn = job->call.turn;
	struct ac_timing *timing = turn->timing;
	struct ac_lane_loan loan;
	struct ac_layout layout;
	enum ac_reason reason;
	bool timed, clean;

	reason = ac_job_borrow(job, true, false, &layout, &loan);
	if (reason != AC_REASON_NONE)
		return reason;
	timed = timing && ac_timing_begin(timing, job->call.place);
	ac_job_bind(job, &loan, turn->sampled || turn->posts_if_bad
	    ? &turn->slot : NULL, &layout);
	layout.recast.output.write_through = layout.recast.output.result !=
	    NULL;
	reason = run(job, &layout, &loan);
	clean = reason == AC_REASON_NONE
	    && *job->status_out == CUBLAS_STATUS_SUCCESS;
	if (timed)
		ac_timing_end(timing, job->call.place, clean);
	ac_lane_return(&loan, clean);
	if (clean && turn->sampled)
		ac_trial_sampled(job->call.trial, turn);
	return reason;
}
