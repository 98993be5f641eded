/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/gemm.c -- whether this very product may be recast, and the ways
 * that its conductor (shim/trial/conduct.h) has to do that. */
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

/* A and B as they are stored. */
struct stored {
	int64_t rows_a, cols_a, rows_b, cols_b;
};

static struct stored
stored(const struct ac_gemm *g)
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;

	return (struct stored){
		.rows_a = ta ? g->k : g->m, .cols_a = ta ? g->m : g->k,
		.rows_b = tb ? g->n : g->k, .cols_b = tb ? g->k : g->n
	};
}

/* Whether `cols` columns of each of `batch` matrices have less than 2^62 bytes
 * from the first to the last. A negative stride counts as more. */
static bool
is_addressable(const struct ac_gemm *g, const struct ac_operand *operand,
    int64_t cols)
{
	uint64_t matrix, rest;

	return !__builtin_mul_overflow((uint64_t)cols, (uint64_t)operand->ld,
		&matrix)
	    && !__builtin_mul_overflow((uint64_t)g->batch,
		(uint64_t)operand->stride, &rest)
	    && matrix < UINT64_C(1) << 58 && rest < UINT64_C(1) << 58;
}

/* Mostly one look at all numbers will do: the product of any two of them is
 * below 2^58 if each is below 2^29. M is no more than C's leading dimension. */
static bool
are_addressable(const struct ac_gemm *g, const struct stored *s)
{
	const uint64_t all = (uint64_t)(g->n | g->k | g->batch)
	    | (uint64_t)(g->a.ld | g->b.ld | g->c.ld)
	    | (uint64_t)(g->a.stride | g->b.stride | g->c.stride);

	return all < UINT64_C(1) << 29
	    || (is_addressable(g, &g->a, s->cols_a)
	    && is_addressable(g, &g->b, s->cols_b)
	    && is_addressable(g, &g->c, g->n));
}

/* Null pointers get the provider's own answer. */
static bool
has_addresses(const struct ac_gemm *g)
{
	return g->alpha && g->beta && g->a.data && g->b.data && g->c.data
	    && are_aligned(g);
}

/* So do wrong leading dimensions, unknown transposes and what no device holds.
 * A negative stride is legal but rare: kept. */
static bool
is_well_formed(const struct ac_gemm *g)
{
	const struct stored s = stored(g);

	return (unsigned)g->transa <= CUBLAS_OP_C
	    && (unsigned)g->transb <= CUBLAS_OP_C
	    && g->a.ld >= s.rows_a && g->b.ld >= s.rows_b
	    && g->c.ld >= g->m && are_addressable(g, &s);
}

/* The same of what only cublasLt has: a try reads it before the library has had
 * a say. */
static bool
is_tail_well_formed(const struct ac_gemm *g)
{
	const struct ac_recast_added *added = &g->tail->added;
	const struct ac_recast_epilogue *e = &g->tail->epilogue;
	const uintptr_t aux = e->activation == AC_ACTIVATION_DRELU ? 0
	    : (uintptr_t)e->aux;

	return (!added->ld || added->ld >= g->m)
	    && (!e->aux || e->aux_ld >= g->m)
	    && (added->stride | e->bias_stride | e->aux_stride) >= 0
	    && (((uintptr_t)added->from | (uintptr_t)e->bias | aux)
	    & (sizeof(float) - 1)) == 0;
}

/* Of an operand of `rows` rows whose bytes lie among C's: whether elements are
 * shared. Blocked factorisations multiply parts of a matrix into another part:
 * those are rectangles of one parent matrix, and if C begins below the
 * operand's last row there, and ends in that column, they do not meet. */
static bool
shares_elements(const struct ac_gemm *g, const struct ac_operand *operand,
    int64_t rows)
{
	const int64_t bytes = (int64_t)element_bytes(operand), ld = g->c.ld;
	const int64_t distance = (int64_t)((uintptr_t)g->c.data
	    - (uintptr_t)operand->data);
	int64_t row;

	if (g->batch != 1 || operand->ld != ld || distance % bytes)
		return true;
	row = distance / bytes % ld;
	if (row < 0)
		row += ld;
	return row < rows || row + g->m > ld;
}

/* Bytes of each operand's matrices, from the first to the last. */
struct extents {
	uint64_t a, b, c;
};

static struct extents
extents(const struct ac_gemm *g)
{
	const struct stored s = stored(g);

	return (struct extents){
		ac_layout_extent(&g->a, s.rows_a, s.cols_a, g->batch),
		ac_layout_extent(&g->b, s.rows_b, s.cols_b, g->batch),
		ac_layout_extent(&g->c, g->m, g->n, g->batch)
	};
}

static bool
output_overlaps(const struct ac_gemm *g, const struct extents *x)
{
	const uintptr_t a = (uintptr_t)g->a.data, b = (uintptr_t)g->b.data;
	const uintptr_t c = (uintptr_t)g->c.data;

	return (a < c + x->c && c < a + x->a
	    && shares_elements(g, &g->a, stored(g).rows_a))
	    || (b < c + x->c && c < b + x->b
	    && shares_elements(g, &g->b, stored(g).rows_b));
}

/* Whether `bytes` from `start` on lie among C's. */
static bool
lies_in_output(const struct ac_gemm *g, const struct extents *x,
    const void *start, uint64_t bytes)
{
	const uintptr_t from = (uintptr_t)start, c = (uintptr_t)g->c.data;

	return start && from < c + x->c && c < from + bytes;
}

/* A sample reads what the library has read once it wrote C: C itself may be
 * what beta scales, entry by entry. */
static bool
tail_overlaps(const struct ac_gemm *g, const struct extents *x)
{
	const struct ac_recast_added *added = &g->tail->added;
	const struct ac_recast_epilogue *e = &g->tail->epilogue;
	const uint64_t rest = (uint64_t)(g->batch - 1), m = (uint64_t)g->m;
	const uint64_t cols = (uint64_t)(g->n - 1);
	const uint64_t unit = e->activation == AC_ACTIVATION_DRELU ? 1 : 32;

	return lies_in_output(g, x, added->from, (cols * (uint64_t)added->ld + m
	    + rest * (uint64_t)added->stride) * sizeof(float))
	    || lies_in_output(g, x, e->bias, (rest * (uint64_t)e->bias_stride
		+ m) * sizeof(float))
	    || lies_in_output(g, x, e->aux, (cols * (uint64_t)e->aux_ld + m
		+ rest * (uint64_t)e->aux_stride) * unit / 8);
}

/* Why this very call cannot be recast whatever its site does. Nothing of ours
 * may touch a handle of another version of cuBLAS, or one that we did not see
 * created. What is in arrays only the device sees; those may not overlap
 * (cuBLAS manual). */
static enum ac_reason
objection(const struct ac_gemm *g, const struct ac_handle *handle,
    const struct ac_provider *provider, const struct ac_layout_known *known)
{
	struct extents x;

	if (!provider || !handle->provider
	    || (g->door->has_handles && handle->provider != provider))
		return AC_REASON_UNSUPPORTED;
	if (!known && !is_positive(g))
		return AC_REASON_TOO_SMALL;
	if (!has_addresses(g) || (!known && !is_well_formed(g))
	    || (g->tail && !is_tail_well_formed(g)))
		return AC_REASON_UNSUPPORTED;
	if (g->in_arrays)
		return AC_REASON_NONE;
	x = known ? (struct extents){ known->extent[0], known->extent[1],
	    known->extent[2] } : extents(g);
	return output_overlaps(g, &x) || (g->tail && tail_overlaps(g, &x))
	    ? AC_REASON_OVERLAP : AC_REASON_NONE;
}

/* ---- The ways of a product --------------------------------------------- */

static enum ac_reason
find_stream(const struct ac_conduct *call, ac_cu_stream *stream_out)
{
	const struct ac_job *job = (const struct ac_job *)call;

	return job->g->door->find_stream(job->g, job->site->binding.provider,
	    stream_out);
}

/* Beta is read where the place is known only. */
static void
prepare(struct ac_conduct *call)
{
	struct ac_job *job = (struct ac_job *)call;
	const struct ac_gemm_tail *tail = job->g->tail;
	bool adds = true;

	if (call->place) {
		ac_job_read(job);
		adds = job->beta.device || job->beta.value != 0;
	}
	if (!call->trial)
		return;
	if (tail && tail->added.from) {
		if (adds)
			ac_trial_reads(call->trial, tail->added.from);
		adds = false;
	}
	/* An array of Cs mostly holds the same ones when it is met again. */
	ac_trial_writes(call->trial, job->g->c.data, adds);
	if (job->g->in_arrays)
		ac_trial_writes(call->trial, NULL, adds);
}

/* Whether what C holds is nothing to the original call, as far as the host can
 * see: beta is 0, or scales a C apart. */
static bool
is_repeatable(struct ac_job *job)
{
	if (job->g->tail && job->g->tail->added.from)
		return true;
	if (!job->call.place)
		ac_job_read(job);
	return !job->beta.device && job->beta.value == 0;
}

/* A recipe that failed halfway gives way to the original, where that can still
 * be made. */
static enum ac_reason
unless_failed(struct ac_job *job, enum ac_reason reason)
{
	return reason == AC_REASON_NONE
	    && *job->status_out != CUBLAS_STATUS_SUCCESS && is_repeatable(job)
	    ? AC_REASON_REFUSED : reason;
}

static enum ac_reason
recast(struct ac_conduct *call)
{
	struct ac_job *job = (struct ac_job *)call;

	return unless_failed(job, call->candidate->tactic == AC_TACTIC_CAST
	    ? ac_recipe_cast(job) : ac_recipe_library(job));
}

static enum ac_reason
strict(struct ac_conduct *call)
{
	return unless_failed((struct ac_job *)call, ac_recipe_strict(call));
}

#define WAYS(place) { \
	.needs_place = (place), .find_stream = find_stream, \
	.prepare = prepare, .recast = recast, .strict = strict, \
	.try_all = ac_recipe_try \
}

/* What arrays of addresses hold may change without their being moved: they
 * have no key. */
static enum ac_outcome
conduct(const struct ac_gemm *g, const struct ac_site *site,
    const struct ac_handle *handle, const struct ac_layout_known *known,
    struct ac_kept *kept_out, cublasStatus_t *status_out)
{
	static const struct ac_ways both[2] = {
		WAYS(false), WAYS(true)
	};
	const struct ac_ways *ways = &both[g->door->needs_place];
	struct ac_job job; /* what is not set is not read without a place */

	job.call = (struct ac_conduct){
		.decision = &site->decision, .record = site->record,
		.trial = site->state ? ac_site_trial(site) : NULL,
		.operands = g->in_arrays ? 0
		    : ac_pair_key(g->a.data, g->b.data),
		.device = handle->device
	};
	job.g = g;
	job.site = site;
	job.known = known;
	job.owner = handle->provider;
	job.status_out = status_out;
	if (g->tail && site->state)
		job.call.is_unsteady = !ac_steady_meets(&site->state->steady,
		    g->tail->algorithm);
	return ac_conduct(&job.call, ways, kept_out);
}

enum ac_outcome
ac_gemm_recast(const struct ac_gemm *g, const struct ac_site *site,
    struct ac_kept *kept_out, cublasStatus_t *status_out)
{
	const struct ac_handle *handle = ac_handle_find(g->handle);
	const struct ac_layout_known *known = ac_layout_recall(g, site);
	const enum ac_reason reason = objection(g, handle,
	    site->binding.provider, known);

	if (site->solver)
		ac_solver_multiplied(site->solver);
	if (reason == AC_REASON_NONE && ac_shim_wants_ranges())
		ac_ranges_count(g, site);
	if (!known && reason == AC_REASON_NONE && site->state)
		ac_layout_remember(g, site);
	if (reason == AC_REASON_NONE && site->decision.rung != AC_RUNG_KEEP)
		return conduct(g, site, handle, known, kept_out, status_out);
	if (site->decision.rung == AC_RUNG_KEEP)
		ac_report_count_decided(site->record);
	else
		ac_report_count(site->record, reason);
	return AC_OUTCOME_KEPT;
}
