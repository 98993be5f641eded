/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/recipe.h -- the ways to run a product in lower precision.
 *
 * A recipe returns AC_REASON_NONE when it ran: the job's *status_out is then
 * cuBLAS's answer. Any other reason means that what the original call reads is
 * untouched, and that this is to be made (doc/rules.md R6). None waits. */
#ifndef AC_SHIM_RECIPE_H
#define AC_SHIM_RECIPE_H

#include "shim/gemm/gemm.h"
#include "shim/device/lane.h"
#include "shim/gemm/layout.h"
#include "shim/site/site.h"

/* One product on its way. */
struct ac_job {
	struct ac_conduct         call;
	const struct ac_gemm  *g;
	const struct ac_site  *site;
	const struct ac_layout_known *known; /* NULL: nothing */
	struct ac_provider    *owner;      /* of the program's handle */
	cublasStatus_t        *status_out; /* the answer of a call that ran */
	/* With a place; else not read. */
	struct ac_cast_scalar  alpha, beta;
	enum ac_reason         unfit;      /* why they forbid a recast */
};

/* The same call with another compute type, on the program's own handle. */
enum ac_reason ac_recipe_library(const struct ac_job *job);

/* Cast both operands, then a 16-bit product on a lane of our own, verified and
 * mended behind it. Where the library converts, the operands are only looked
 * at, and its product is verified and mended. */
enum ac_reason ac_recipe_verified(const struct ac_job *job);

/* The same into scratch, on a turn LEARN: nothing is mended, nothing of the
 * program's is written. */
enum ac_reason ac_recipe_learn(const struct ac_job *job);

/* ---- What they share ---------------------------------------------------- */

/* Read the call's scalars for kernels: a host one now, as cuBLAS would; a
 * device one, or one of unknown mode, when the kernel runs, behind whatever
 * writes it. Before a lane is borrowed: should the program's pointer be bad and
 * its signal handler jump away, none is lost. */
void ac_job_read(struct ac_job *job);

/* Whether it adds to C, or may: of one that was read. */
static inline bool
ac_job_adds(const struct ac_job *job)
{
	return job->beta.value != 0 || job->beta.device;
}

/* Lay the call out as ac_layout_make() does, give the layout the scalars, and
 * borrow a lane for it, with a handle unless the library writes C itself. */
enum ac_reason ac_job_borrow(const struct ac_job *job,
    struct ac_layout *layout_out, struct ac_lane_loan *loan_out);

/* Let `layout` point into what was lent, and to where the call's results go.
 * Set what it is judged by. */
void ac_job_bind(const struct ac_job *job, const struct ac_lane_loan *loan,
    struct ac_layout *layout);

/* The compute type that lets cuBLAS convert FP32 operands for `rung`. */
cublasComputeType_t ac_library_compute(enum ac_rung rung);

#endif
