/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/recipe_library.c -- let cuBLAS convert: another compute type, the
 * program's own handle, scalars and pointers (doc/rules.md R1). */
#include "shim/gemm/recipe.h"

cublasComputeType_t
ac_library_compute(enum ac_rung rung)
{
	switch (rung) {
	case AC_RUNG_BF16: return CUBLAS_COMPUTE_32F_FAST_16BF;
	case AC_RUNG_FP16: return CUBLAS_COMPUTE_32F_FAST_16F;
	default:           return CUBLAS_COMPUTE_32F_FAST_TF32;
	}
}

static inline enum ac_reason
issue(const struct ac_job *job)
{
	return job->g->backend->issue(job, job->g,
	    ac_library_compute(job->call.candidate->rung), false,
	    job->status_out);
}

__attribute__((cold, noinline))
static enum ac_reason
issue_timed(const struct ac_job *job, struct ac_timing *timing)
{
	const bool timed = ac_timing_begin(timing, job->call.place);
	const enum ac_reason reason = issue(job);

	if (timed)
		ac_timing_end(timing, job->call.place,
		    reason == AC_REASON_NONE && !*job->status_out);
	return reason;
}

enum ac_reason
ac_recipe_library(const struct ac_job *job)
{
	struct ac_timing *timing = job->call.turn->timing;

	return timing && job->call.place ? issue_timed(job, timing)
	    : issue(job);
}
