/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/recipe_verified.c -- cast both operands to 16 bits, multiply those
 * on a lane, hold every line of the product against the originals, and
 * recompute what is off (kernels/verified/verified.h). Or let cuBLAS convert,
 * and do the same with its product. */
#include "shim/gemm/recipe.h"

#include "kernels/recast/recast_symmetric.h"

static cudaDataType
type_of(uint32_t format)
{
	enum { BF16 = 1 << AC_FORMAT_BF16 | 1 << AC_FORMAT_BF16X3
	    | 1 << AC_FORMAT_BF16X6 };

	return BF16 >> format & 1 ? CUDA_R_16BF : CUDA_R_16F;
}

/* The casts, whose K is stored as `k`. */
static inline struct ac_operand
cast_operand(const struct ac_verified *v, int side, int64_t k,
    cudaDataType type)
{
	const struct ac_verified_operand *o = &v->operand[side];

	return (struct ac_operand){
		.data = o->to, .type = type, .ld = o->ld_to,
		.stride = o->ld_to * (o->lines_are_cols ? o->lines : k),
	};
}

/* Of numbers in parts, in chunks of K: all but the first add to what is there,
 * so all go where the product goes without what follows it. */
__attribute__((noinline))
static enum ac_reason
multiply_parts(const struct ac_job *job, const struct ac_verified *v,
    struct ac_gemm *product, cublasStatus_t *status_out)
{
	const int64_t terms = ac_verified_terms(v->format);
	const int64_t all = ac_verified_stored_k(v->k, v->format);
	enum ac_reason reason = AC_REASON_NONE;

	*status_out = CUBLAS_STATUS_SUCCESS;
	for (int64_t k = 0; k < v->k && reason == AC_REASON_NONE
	    && *status_out == CUBLAS_STATUS_SUCCESS;
	    k += product->k / terms) {
		struct ac_operand *x[2] = { &product->a, &product->b };

		for (int i = 0; i < 2; i++) {
			const struct ac_verified_operand *o = &v->operand[i];

			*x[i] = cast_operand(v, i, all, type_of(v->format));
			x[i]->data = o->to + terms * k * (o->lines_are_cols ? 1
			    : o->ld_to);
		}
		product->k = terms * ac_verified_length(v, k);
		if (k > 0)
			product->beta = &v->state->one;
		reason = job->g->backend->issue(job, product,
		    CUBLAS_COMPUTE_32F, true, status_out);
	}
	return reason;
}

/* In C's place cuBLAS converts in the program's own call. Inlined for the sake
 * of calls that are not measured. */
static inline __attribute__((always_inline)) enum ac_reason
multiply(const struct ac_job *job, const struct ac_layout *layout,
    const struct ac_lane_loan *loan, cublasStatus_t *status_out)
{
	const struct ac_verified *v = &layout->v;
	const bool apart = layout->apart;
	const bool casts = v->operand[0].to;
	struct ac_gemm product = *job->g;

	if (casts || apart) {
		product.handle = loan->handle;
		product.alpha = &v->state->alpha;
		product.beta = &v->state->zero;
	}
	if (apart)
		product.c = (struct ac_operand){ v->output.product, CUDA_R_32F,
			v->output.ld, v->output.stride };
	if (casts && v->format > AC_FORMAT_TF32)
		return multiply_parts(job, v, &product, status_out);
	if (casts) {
		const cudaDataType type = type_of(v->format);

		product.a = cast_operand(v, 0, v->k, type);
		product.b = cast_operand(v, 1, v->k, type);
	} else if (product.symmetric) {
		struct ac_operand *x[2] = { &product.a, &product.b };
		const bool is_b = product.symmetric & AC_SYMMETRIC_B;

		x[is_b]->data = v->operand[is_b].from;
		x[is_b]->ld = v->operand[is_b].ld;
	}
	return job->g->backend->issue(job, &product, casts ? CUBLAS_COMPUTE_32F
	    : ac_library_compute(job->call.candidate->rung), apart, status_out);
}

/* Write a matrix of which a triangle is stored whole, as the operand. */
__attribute__((cold, noinline))
static bool
complete(const struct ac_job *job, struct ac_layout *layout)
{
	const bool is_b = job->g->symmetric & AC_SYMMETRIC_B;
	const struct ac_operand *stored = is_b ? &job->g->b : &job->g->a;
	struct ac_verified_operand *whole = &layout->v.operand[is_b];
	const struct ac_recast_symmetric s = {
		.from = stored->data, .to = layout->symmetric,
		.n = job->g->k, .ld = stored->ld, .ld_to = whole->ld,
		.is_lower = job->g->symmetric & AC_SYMMETRIC_LOWER
	};

	whole->from = s.to;
	return !ac_recast_symmetric(job->call.place->kernels, &s,
	    job->call.place->stream);
}

/* Until mend is queued nothing is spoilt: apart, C and D are as they were; in
 * C's place beta is 0, so that the original writes all of it once more. */
static enum ac_reason
run(const struct ac_job *job, struct ac_layout *layout,
    const struct ac_lane_loan *loan, cublasStatus_t *status_out)
{
	const struct ac_kernels *kernels = job->call.place->kernels;
	const ac_cu_stream stream = job->call.place->stream;
	const struct ac_verified *v = &layout->v;
	enum ac_reason reason;

	if ((job->g->symmetric && !complete(job, layout))
	    || ac_verified_probe(kernels, v, stream)
	    || ac_verified_cast(kernels, v, stream))
		return AC_REASON_REFUSED;
	reason = multiply(job, layout, loan, status_out);
	if (reason != AC_REASON_NONE)
		return reason;
	if (*status_out || ac_verified_verify(kernels, v, stream)
	    || ac_verified_mend(kernels, v, stream))
		return AC_REASON_REFUSED;
	return AC_REASON_NONE;
}

enum ac_reason
ac_recipe_verified(const struct ac_job *job)
{
	struct ac_timing *timing = job->call.turn->timing;
	const struct ac_place *place = job->call.place;
	struct ac_lane_loan loan;
	struct ac_layout layout;
	cublasStatus_t status;
	enum ac_reason reason;
	bool timed;

	reason = ac_job_borrow(job, &layout, &loan);
	if (reason != AC_REASON_NONE)
		return reason;
	timed = timing && ac_timing_begin(timing, place);
	ac_job_bind(job, &loan, &layout);
	reason = run(job, &layout, &loan, &status);
	if (timed)
		ac_timing_end(timing, place, reason == AC_REASON_NONE);
	ac_lane_return(&loan, reason == AC_REASON_NONE);
	if (reason == AC_REASON_NONE)
		*job->status_out = status;
	return reason;
}

/* ---- Measured only ------------------------------------------------------- */

/* A cast is timed as it will run, but for its mending. What a library converts
 * is seldom looked at when it serves: the product alone. */
static enum ac_reason
measure(const struct ac_job *job, struct ac_layout *layout,
    const struct ac_lane_loan *loan)
{
	const struct ac_place *place = job->call.place;
	const struct ac_verified *v = &layout->v;
	const bool casts = job->call.candidate->tactic == AC_TACTIC_CAST;
	struct ac_timing *timing = job->call.turn->timing;
	bool timed = timing && casts && ac_timing_begin(timing, place), done;
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

	done = (!job->g->symmetric || complete(job, layout))
	    && !ac_verified_probe(place->kernels, v, place->stream)
	    && !ac_verified_cast(place->kernels, v, place->stream);
	if (done && timing && !casts)
		timed = ac_timing_begin(timing, place);
	done = done && multiply(job, layout, loan, &status) == AC_REASON_NONE
	    && !status;
	if (timed && !casts)
		ac_timing_end(timing, place, done);
	done = done && !ac_verified_verify(place->kernels, v, place->stream);
	if (timed && casts)
		ac_timing_end(timing, place, done);
	return done ? AC_REASON_NONE : AC_REASON_REFUSED;
}

/* What adds to C goes next to it. Any error counts, of every line. */
__attribute__((cold, noinline))
enum ac_reason
ac_recipe_learn(const struct ac_job *job)
{
	struct ac_job apart = *job;
	struct ac_lane_loan loan;
	struct ac_layout layout;
	enum ac_reason reason;

	apart.beta = (struct ac_cast_scalar){ .value = 1 };
	reason = ac_job_borrow(&apart, &layout, &loan);
	if (reason != AC_REASON_NONE)
		return reason;
	ac_job_bind(job, &loan, &layout);
	layout.v.output.beta = job->beta;
	layout.v.tol = 1e6f;
	reason = measure(job, &layout, &loan);
	ac_lane_return(&loan, reason == AC_REASON_NONE);
	return reason;
}
