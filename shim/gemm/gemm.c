/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/gemm.c -- the conductor of every product that may be recast: may
 * this very call be, whose turn is it, which recipe runs it, what is
 * counted. */
#include "shim/gemm/gemm.h"

#include "shim/device/handle.h"
#include "shim/trial/pair.h"
#include "shim/gemm/ranges.h"
#include "shim/gemm/recipe.h"
#include "shim/bind/solver.h"
#include "shim/start/start.h"

/* ---- What only this very call can tell --------------------------------- */

static bool
is_positive(const struct ac_gemm *g)
{
	return g->m > 0 && g->n > 0 && g->k > 0 && g->batch > 0;
}

static size_t
element_bytes(const struct ac_operand *operand)
{
	return (operand->type == CUDA_C_32F ? 2 : 1) * sizeof(float);
}

static bool
are_aligned(const struct ac_gemm *g)
{
	const size_t unit = g->in_arrays ? sizeof(void *) : sizeof(float);

	return (((uintptr_t)g->a.data | (uintptr_t)g->b.data
	    | (uintptr_t)g->c.data) & (unit - 1)) == 0;
}

/* Whether `cols` columns of each of `batch` matrices have less than 2^62 bytes
 * from the first to the last. */
static bool
is_addressable(const struct ac_gemm *g, const struct ac_operand *operand,
    int64_t cols)
{
	uint64_t matrix, rest;

	return operand->stride >= 0
	    && !__builtin_mul_overflow((uint64_t)cols,
	        (uint64_t)operand->ld, &matrix)
	    && !__builtin_mul_overflow((uint64_t)g->batch,
	        (uint64_t)operand->stride, &rest)
	    && matrix < UINT64_C(1) << 58 && rest < UINT64_C(1) << 58;
}

/* Mostly one look at all numbers will do: the product of any two of them is
 * below 2^58 if each is below 2^29. */
static bool
are_addressable(const struct ac_gemm *g, int64_t cols_a, int64_t cols_b)
{
	const uint64_t all = (uint64_t)(g->m | g->n | g->k | g->batch)
	    | (uint64_t)(g->a.ld | g->b.ld | g->c.ld)
	    | (uint64_t)(g->a.stride | g->b.stride | g->c.stride);

	return all < UINT64_C(1) << 29
	    || (is_addressable(g, &g->a, cols_a)
	    && is_addressable(g, &g->b, cols_b)
	    && is_addressable(g, &g->c, g->n));
}

/* Wrong leading dimensions, null pointers, unknown transposes and what no
 * device holds get the provider's own answer. A negative stride is legal but
 * rare: kept. */
static bool
is_well_formed(const struct ac_gemm *g)
{
	const int64_t rows_a = g->transa == CUBLAS_OP_N ? g->m : g->k;
	const int64_t rows_b = g->transb == CUBLAS_OP_N ? g->k : g->n;

	return g->alpha && g->beta && g->a.data && g->b.data && g->c.data
	    && (unsigned)g->transa <= CUBLAS_OP_C
	    && (unsigned)g->transb <= CUBLAS_OP_C
	    && g->a.ld >= rows_a && g->b.ld >= rows_b && g->c.ld >= g->m
	    && are_aligned(g)
	    && are_addressable(g, g->m + g->k - rows_a,
	        g->k + g->n - rows_b);
}

/* Past the last byte of an operand's matrices; all three have one type. */
static uintptr_t
end_of(const struct ac_operand *operand, int64_t rows, int64_t cols,
    int64_t batch, size_t bytes)
{
	const uint64_t elements = (uint64_t)(cols - 1) * (uint64_t)operand->ld +
	    (uint64_t)rows + (uint64_t)(batch - 1) * (uint64_t)operand->stride;

	return (uintptr_t)operand->data + elements * bytes;
}

/* C and a `rows` x `cols` operand as rectangles of one parent matrix, C's
 * corner `distance` elements from the operand's: blocked factorisations
 * multiply parts of a matrix into another part, and those do not meet. */
static bool
rectangles_meet(const struct ac_gemm *g, int64_t rows, int64_t cols,
    int64_t distance)
{
	const int64_t ld = g->c.ld;
	int64_t row = distance % ld, col = distance / ld;

	if (row < 0) {
		row += ld;
		col--;
	}
	/* The part of C past the parent's last row lies in the next column. */
	return (row < rows && col < cols && col + g->n > 0)
	    || (row + g->m > ld && col + 1 < cols && col + 1 + g->n > 0);
}

/* Of an operand whose bytes lie among C's: whether elements are shared. */
static bool
shares_elements(const struct ac_gemm *g, const struct ac_operand *operand,
    int64_t rows, int64_t cols)
{
	const uintptr_t c = (uintptr_t)g->c.data, x = (uintptr_t)operand->data;

	if (g->batch == 1 && operand->ld == g->c.ld
	    && !((c - x) % element_bytes(operand)))
		return rectangles_meet(g, rows, cols, (int64_t)(c - x)
		    / (int64_t)element_bytes(operand));
	return true;
}

static bool
output_overlaps(const struct ac_gemm *g)
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	const int64_t rows_a = ta ? g->k : g->m, cols_a = ta ? g->m : g->k;
	const int64_t rows_b = tb ? g->n : g->k, cols_b = tb ? g->k : g->n;
	const size_t bytes = element_bytes(&g->c);
	const uintptr_t c = (uintptr_t)g->c.data;
	const uintptr_t c_end = end_of(&g->c, g->m, g->n, g->batch, bytes);

	return ((uintptr_t)g->a.data < c_end
	    && c < end_of(&g->a, rows_a, cols_a, g->batch, bytes)
	    && shares_elements(g, &g->a, rows_a, cols_a))
	    || ((uintptr_t)g->b.data < c_end
	    && c < end_of(&g->b, rows_b, cols_b, g->batch, bytes)
	    && shares_elements(g, &g->b, rows_b, cols_b));
}

/* A handle of another version of cuBLAS, or one we did not see created, is
 * the program's affair: no companion of ours may touch it. */
static bool
is_of_provider(const struct ac_gemm *g, const struct ac_provider *provider)
{
	const struct ac_handle *handle = ac_handle_find(g->handle);

	return provider && handle->provider == provider;
}

/* Why this very call cannot be recast whatever its site does. What is in arrays
 * only the device sees; those may not overlap (cuBLAS manual). */
static enum ac_reason
objection(const struct ac_gemm *g, const struct ac_site *site)
{
	if (!is_of_provider(g, site->binding.provider))
		return AC_REASON_UNSUPPORTED;
	if (!is_positive(g))
		return AC_REASON_TOO_SMALL;
	if (!is_well_formed(g))
		return AC_REASON_UNSUPPORTED;
	if (!g->in_arrays && output_overlaps(g))
		return AC_REASON_OVERLAP;
	return AC_REASON_NONE;
}

/* ---- Turns -------------------------------------------------------------- */

/* Another thread may have changed the site's rung since the place was found
 * not to matter. */
static enum ac_reason
run_candidate(const struct ac_job *job, cublasStatus_t *status_out)
{
	if (!job->place && (job->turn->kind == AC_TURN_STRICT
	    || job->candidate->tactic == AC_TACTIC_CAST))
		return AC_REASON_PROBATION;
	if (job->turn->kind == AC_TURN_STRICT)
		return ac_recipe_strict(job, status_out);
	return job->candidate->tactic == AC_TACTIC_CAST
	    ? ac_recipe_cast(job, status_out)
	    : ac_recipe_library(job, status_out);
}

static enum ac_outcome
take_turn(struct ac_job *job, struct ac_kept *kept_out,
    cublasStatus_t *status_out)
{
	struct ac_turn *turn = job->turn;
	struct ac_site_record *record = job->site->record;
	enum ac_reason reason;

	if (turn->kind == AC_TURN_KEEP)
		return ac_outcome_keep(turn, job->trial, record, job->place,
		    kept_out);
	if (turn->kind == AC_TURN_TRY)
		return ac_outcome_original(turn, ac_recipe_try(job), record,
		    job->place, kept_out);
	if (job->trial)
		record = ac_trial_record(job->trial, turn->candidate);
	job->candidate = &job->site->decision.candidate[turn->candidate];
	reason = run_candidate(job, status_out);
	if (reason == AC_REASON_NONE) {
		ac_outcome_count(&job->site->decision, job->candidate->rung,
		    record, job->place);
		return AC_OUTCOME_DONE;
	}
	ac_report_count(record, reason);
	return AC_OUTCOME_KEPT;
}

/* Where the call runs, if that matters. For a candidate that can do without,
 * what stands in the way only means that it goes unsampled. */
static enum ac_reason
find_place(const struct ac_job *job, struct ac_place *place_out)
{
	return ac_place_find(job->site->binding.provider, job->g->handle,
	    ac_handle_find(job->g->handle)->device, place_out);
}

/* What arrays of addresses hold may change without their being moved. */
static uint64_t
operands_of(const struct ac_gemm *g)
{
	return g->in_arrays ? 0 : ac_pair_key(g->a.data, g->b.data);
}

/* Beta is read where the place is known only. */
static void
take_part(struct ac_job *job, struct ac_trial *trial)
{
	const bool adds = !job->place || job->beta.device
	    || job->beta.value != 0;

	job->trial = job->place ? ac_trial_of(trial, job->place) : trial;
	if (job->trial != trial)
		ac_trial_meet(job->trial, operands_of(job->g), job->turn);
	/* An array of Cs mostly holds the same ones when it is met again. */
	ac_trial_writes(job->trial, job->g->c.data, adds);
	if (job->g->in_arrays)
		ac_trial_writes(job->trial, NULL, adds);
	ac_trial_turn(job->trial, job->place, job->turn);
}

/* A site that is not stored has nothing to remember a trial by. */
static enum ac_outcome
conduct(const struct ac_gemm *g, const struct ac_site *site,
    struct ac_kept *kept_out, cublasStatus_t *status_out)
{
	struct ac_trial *trial = site->state ? ac_site_trial(site) : NULL;
	const bool casts = site->decision.tactic == AC_TACTIC_CAST;
	struct ac_turn turn = { .kind = AC_TURN_RECAST };
	struct ac_job job = { .g = g, .site = site, .turn = &turn };
	struct ac_place place;
	enum ac_outcome outcome;
	enum ac_reason reason = AC_REASON_NONE;
	bool wanted = casts;

	if (trial) {
		ac_trial_meet(trial, operands_of(g), &turn);
		wanted = ac_trial_wants_place(trial, &turn, false);
	}
	if (!trial && site->decision.guard != AC_GUARD_OFF)
		reason = AC_REASON_PROBATION;
	else if (wanted)
		reason = find_place(&job, &place);
	if (reason != AC_REASON_NONE && (casts || !trial)) {
		ac_report_count(site->record, reason);
		return AC_OUTCOME_KEPT;
	}
	job.place = wanted && reason == AC_REASON_NONE ? &place : NULL;
	if (job.place)
		ac_job_read(&job);
	if (trial) {
		take_part(&job, trial);
		if (turn.kind == AC_TURN_KEEP && reason != AC_REASON_NONE)
			turn.reason = reason;
	}
	outcome = take_turn(&job, kept_out, status_out);
	if (trial)
		ac_trial_turn_over(job.trial, &turn);
	return outcome;
}

enum ac_outcome
ac_gemm_recast(const struct ac_gemm *g, const struct ac_site *site,
    struct ac_kept *kept_out, cublasStatus_t *status_out)
{
	const enum ac_reason reason = objection(g, site);

	if (site->solver)
		ac_solver_multiplied(site->solver);
	if (reason == AC_REASON_NONE && ac_shim_wants_ranges())
		ac_ranges_count(g, site);
	if (reason == AC_REASON_NONE && site->decision.rung != AC_RUNG_KEEP)
		return conduct(g, site, kept_out, status_out);
	if (site->decision.rung == AC_RUNG_KEEP)
		ac_report_count_decided(site->record);
	else
		ac_report_count(site->record, reason);
	return AC_OUTCOME_KEPT;
}
