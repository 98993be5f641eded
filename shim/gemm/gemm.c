/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/gemm.c -- the ways that the conductor of a product
 * (shim/trial/conduct.h) has to recast it. */
#include "shim/gemm/gemm.h"

#include "shim/device/handle.h"
#include "shim/gemm/recipe.h"
#include "shim/bind/solver.h"
#include "shim/start/start.h"

/* ---- The ways of a product --------------------------------------------- */

static enum ac_reason
find_stream(const struct ac_conduct *call, ac_cu_stream *stream_out)
{
	const struct ac_job *job = (const struct ac_job *)call;

	return job->g->backend->find_stream(job->g, job->site->binding.provider,
	    stream_out);
}

/* Of a C apart, or of one whose extent is not known. */
__attribute__((noinline))
static void
touch_any(const struct ac_job *job, const void *c, enum ac_chain_kind kind)
{
	const struct ac_gemm_tail *tail = job->g->tail;
	uint64_t extent[3];

	if (tail && tail->added && kind == AC_CHAIN_ADDS) {
		ac_origin_touches(job->call.origin, tail->added,
		    ac_gemm_added_bytes(job->g), AC_CHAIN_READS);
		kind = AC_CHAIN_WRITES;
	}
	ac_layout_extents(job->g, extent);
	ac_origin_touches(job->call.origin, c, extent[2], kind);
}

/* An array of Cs mostly holds the same ones when it is met again. */
static void
touch(const struct ac_job *job)
{
	const struct ac_gemm *g = job->g;
	const void *c = g->in_arrays ? NULL : g->c.data;
	const enum ac_chain_kind kind = ac_job_adds(job) ? AC_CHAIN_ADDS
	    : AC_CHAIN_WRITES;

	if (!job->known || (g->tail && g->tail->added))
		touch_any(job, c, kind);
	else
		ac_origin_touches(job->call.origin, c, job->known->extent[2],
		    kind);
}

static void
prepare(struct ac_conduct *call)
{
	struct ac_job *job = (struct ac_job *)call;

	/* What the first calls of a place write, later ones may add to. */
	if (!call->place && call->turn->kind == AC_TURN_KEEP
	    && call->turn->reason != AC_REASON_OWN)
		return;
	ac_job_read(job);
	if (call->origin)
		touch(job);
}

/* A conversion by the library that failed halfway gives way to the original,
 * where that can still be made: beta is 0, or scales a C apart. Of a complex
 * beta only a part was read. */
static enum ac_reason
convert(struct ac_job *job)
{
	const enum ac_reason reason = ac_recipe_library(job);

	if (reason != AC_REASON_NONE
	    || *job->status_out == CUBLAS_STATUS_SUCCESS
	    || (job->g->tail && job->g->tail->added))
		return reason == AC_REASON_NONE
		    && *job->status_out != CUBLAS_STATUS_SUCCESS
		    ? AC_REASON_REFUSED : reason;
	if (!job->call.place)
		ac_job_read(job);
	return !job->beta.device && job->beta.value == 0
	    && job->g->c.type == CUDA_R_32F ? AC_REASON_REFUSED
	    : AC_REASON_NONE;
}

/* A library cannot read half a matrix: by the copy, though this call is not
 * verified, and has no ledger. */
__attribute__((cold, noinline))
static enum ac_reason
convert_symmetric(struct ac_job *job)
{
	struct ac_turn *turn = job->call.turn;
	struct ac_turn unverified = { .timing = turn->timing };
	enum ac_reason reason;

	job->call.turn = &unverified;
	reason = ac_recipe_verified(job);
	job->call.turn = turn;
	return reason;
}

static enum ac_reason
recast(struct ac_conduct *call)
{
	struct ac_job *job = (struct ac_job *)call;

	return call->candidate->tactic == AC_TACTIC_CAST
	    || call->turn->is_verified ? ac_recipe_verified(job)
	    : job->g->symmetric ? convert_symmetric(job) : convert(job);
}

static enum ac_reason
learn(struct ac_conduct *call)
{
	return ac_recipe_learn((struct ac_job *)call);
}

static uint64_t
pair_of(const struct ac_gemm *g)
{
	return g->in_arrays || g->c.type != CUDA_R_32F ? 0
	    : ((uint64_t)(uintptr_t)g->a.data
	    ^ ((uint64_t)(uintptr_t)g->b.data << 32
	    | (uint64_t)(uintptr_t)g->b.data >> 32)) | 1;
}

/* Whose times this call's are like. */
static enum ac_alike
alike(const struct ac_gemm *g, const struct ac_site *site)
{
	struct ac_job job;

	if (!site->is_slower_apart)
		return AC_ALIKE_ALL;
	job.g = g;
	job.site = site;
	ac_job_read(&job);
	return ac_job_adds(&job) ? AC_ALIKE_ADD : AC_ALIKE_WRITE;
}

__attribute__((noinline))
static struct ac_variants *
find_variants(const struct ac_gemm *g, const struct ac_site *site)
{
	return ac_site_variants(site, alike(g, site));
}

static struct ac_variants *
variants_of(const struct ac_gemm *g, const struct ac_site *site)
{
	struct ac_variants *all = atomic_load_explicit(
	    &site->state->variants[AC_ALIKE_ALL], memory_order_acquire);

	return all || !site->state->origin ? all : find_variants(g, site);
}

static enum ac_outcome
conduct(const struct ac_gemm *g, const struct ac_site *site,
    const struct ac_handle *handle, const struct ac_layout_known *known,
    struct ac_kept *kept_out, cublasStatus_t *status_out)
{
	static const struct ac_ways ways = {
		.find_stream = find_stream, .prepare = prepare,
		.recast = recast, .learn = learn
	};
	struct ac_job job; /* what is not set is not read without a place */

	job.call.variants = site->state ? variants_of(g, site) : NULL;
	if (__builtin_expect(job.call.variants != NULL, 1)) {
		job.call.origin = site->state->origin;
		job.call.pair = job.call.variants->converted ? pair_of(g) : 0;
	} else {
		job.call.origin = NULL;
		job.call.pair = 0;
	}
	job.call.decision = &site->decision;
	job.call.record = site->record;
	job.call.device = handle->device;
	job.call.is_unsteady = false;
	job.call.needs_place = g->backend->needs_place | g->symmetric;
	job.call.place = NULL;
	job.g = g;
	job.site = site;
	job.known = known;
	job.owner = handle->provider;
	job.status_out = status_out;
	if (g->tail && site->state)
		job.call.is_unsteady = !ac_steady_meets(&site->state->steady,
		    g->tail->algorithm);
	return ac_conduct(&job.call, &ways, kept_out);
}

/* Without a guard no call is timed: what is predicted decides whether one that
 * adds to C gains. */
static bool
may_lose(const struct ac_site *site)
{
	const struct ac_decision *d = &site->decision;

	return site->is_slower_apart && d->guard == AC_GUARD_OFF
	    && d->tactic == AC_TACTIC_CAST && d->candidate[0].seconds
	    + d->apart_seconds > d->keep_seconds;
}

/* Of 100,000 sizes that are met once nothing is remembered; nor of a site's
 * calls with A on either side, or of one that has to look at each call. */
static bool
comes_again(const struct ac_gemm *g, const struct ac_site *site)
{
	const struct ac_site_state *state = site->state;
	bool has_variants = false;

	if (!state || g->symmetric || may_lose(site))
		return false;
	for (int i = 0; i < AC_ALIKE_COUNT; i++)
		has_variants |= atomic_load_explicit(&state->variants[i],
		    memory_order_relaxed) != NULL;
	return site->decision.rung == AC_RUNG_KEEP || !state->origin
	    || has_variants;
}

/* What is not known: remember it. Whether the call is kept after all. */
__attribute__((cold, noinline))
static bool
meet(const struct ac_gemm *g, const struct ac_site *site)
{
	if (comes_again(g, site))
		ac_layout_remember(g, site);
	return may_lose(site) && alike(g, site) == AC_ALIKE_ADD;
}

enum ac_outcome
ac_gemm_recast(const struct ac_gemm *g, const struct ac_site *site,
    struct ac_kept *kept_out, cublasStatus_t *status_out)
{
	const struct ac_handle *handle = ac_handle_find(g->handle);
	const struct ac_layout_known *known = ac_layout_recall(g, site);
	enum ac_reason reason = ac_gemm_objection(g, handle,
	    site->binding.provider, known);

	if (site->solver)
		ac_solver_multiplied(site->solver);
	if (reason == AC_REASON_NONE && ac_shim_wants_ranges()
	    && !g->symmetric)
		ac_ranges_count(g, site);
	if (!known && reason == AC_REASON_NONE && meet(g, site))
		reason = AC_REASON_NO_PROFIT;
	if (reason == AC_REASON_NONE && site->decision.rung != AC_RUNG_KEEP)
		return conduct(g, site, handle, known, kept_out, status_out);
	if (site->decision.rung == AC_RUNG_KEEP)
		ac_report_count_decided(site->record);
	else
		ac_report_count(site->record, reason);
	return AC_OUTCOME_KEPT;
}
