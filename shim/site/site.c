/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site/site.c -- the table of sites. Everything but the look-up runs once
 * per site. */
#include "shim/site/site.h"

#include "base/log.h"
#include "base/mapped.h"
#include "shim/site/describe.h"
#include "shim/site/sites.h"
#include "shim/device/device.h"
#include "shim/device/handle.h"
#include "shim/start/start.h"

#include <stdatomic.h>

enum { SITE_LIMIT = 100000 };   /* doc/design.md D4 */

ac_table_slot ac_site_slots[1 << AC_SITE_BITS];

/* ---- What identifies a call -------------------------------------------- */

/* cuBLAS's name for it is too new for some headers we build with. */
enum { COMPUTE_32F_EMULATED_16BFX9 = 78 };

enum ac_asked
ac_asked_by_compute(int compute)
{
	switch (compute) {
	case CUBLAS_COMPUTE_32F_FAST_TF32:  return AC_ASKED_TF32;
	case CUBLAS_COMPUTE_32F_FAST_16F:   return AC_ASKED_FAST16F;
	case CUBLAS_COMPUTE_32F_FAST_16BF:  return AC_ASKED_FAST16BF;
	case CUBLAS_COMPUTE_32F_PEDANTIC:   return AC_ASKED_PEDANTIC;
	case COMPUTE_32F_EMULATED_16BFX9:   return AC_ASKED_EMULATED;
	default:                            return AC_ASKED_UNSAID;
	}
}

enum ac_type_class
ac_type_class_of(cudaDataType a, cudaDataType b, cudaDataType c, int compute)
{
	const bool in_fp32 = compute == CUBLAS_COMPUTE_32F
	    || ac_asked_by_compute(compute) != AC_ASKED_UNSAID;

	if (a != b)
		return AC_TYPE_OTHER;
	switch ((int)a) {
	case CUDA_R_32F:
		return c == CUDA_R_32F && in_fp32 ? AC_TYPE_F32 : AC_TYPE_OTHER;
	case CUDA_C_32F:
		return c == CUDA_C_32F && in_fp32 ? AC_TYPE_C32 : AC_TYPE_OTHER;
	case CUDA_R_16F:  return AC_TYPE_F16;
	case CUDA_R_16BF: return AC_TYPE_BF16;
	case CUDA_R_64F:  return AC_TYPE_F64;
	default:          return AC_TYPE_OTHER;
	}
}

/* By the low four bits of a cublasMath_t; above them are flags such as
 * CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION. 4 is BF16x9 emulation, 8
 * concerns FP64 only; the others are newer than we are: hands off. */
const uint8_t ac_asked_by_mode[16] = {
	AC_ASKED_FP32,     AC_ASKED_FAST16F,  AC_ASKED_PEDANTIC,
	AC_ASKED_TF32,     AC_ASKED_EMULATED, AC_ASKED_EMULATED,
	AC_ASKED_EMULATED, AC_ASKED_EMULATED, AC_ASKED_FP32,
	AC_ASKED_EMULATED, AC_ASKED_EMULATED, AC_ASKED_EMULATED,
	AC_ASKED_EMULATED, AC_ASKED_EMULATED, AC_ASKED_EMULATED,
	AC_ASKED_EMULATED
};
_Static_assert(ENTRY_COUNT <= 256, "an entry fits in a form");
_Static_assert(CUBLAS_DEFAULT_MATH == 0 && CUBLAS_TENSOR_OP_MATH == 1
    && CUBLAS_PEDANTIC_MATH == 2 && CUBLAS_TF32_TENSOR_OP_MATH == 3,
    "ac_asked_by_mode is in the order of cublasMath_t");

/* ---- Deciding ---------------------------------------------------------- */

/* What no policy can judge: is there a recipe, and a provider for it, and
 * would it change anything? */
static void
judge_feasibility(struct ac_site *site, const struct ac_call *call)
{
	enum ac_reason reason = AC_REASON_NONE;

	if (site->decision.rung == AC_RUNG_KEEP)
		return;
	if (!site->binding.provider
	    || !ac_provider_is_complete(site->binding.provider))
		reason = AC_REASON_UNSUPPORTED;
	else if (site->decision.rung == AC_RUNG_TF32 &&
	    call->asked == AC_ASKED_TF32)
		reason = AC_REASON_NO_PROFIT; /* it runs on TF32 already */
	else if (site->decision.guard == AC_GUARD_OFF
	    && site->decision.is_doubtful)
		reason = AC_REASON_NO_PROFIT; /* and nobody is to try */
	if (reason != AC_REASON_NONE)
		ac_decision_keep(&site->decision, reason);
}

static void
decide(struct ac_site *site, const struct ac_site_call *asked)
{
	const struct ac_call unpacked = ac_call_of(asked), *call = &unpacked;
	struct ac_description d;

	site->binding = ac_provider_bind(call->entry, call->caller,
	    call->via);
	ac_describe(call, site->binding.provider, &d);
	ac_policy_decide(ac_shim_get()->policy, &d.op, &site->decision);
	judge_feasibility(site, call);
	site->state = NULL;
	site->record = ac_describe_decided(&d, &site->decision);
	site->solver = d.solver;
	site->is_slower_apart = site->decision.apart_seconds > 0;
	site->is_plain = site->decision.rung == AC_RUNG_KEEP && !site->solver
	    && !(ac_shim_wants_ranges() && call->type == AC_TYPE_F32
	    && ac_entries[call->entry].rewritable);
}

/* What a stored site remembers; one without is never recast under a guard. */
static struct ac_site_state *
make_state(const struct ac_site *site, const struct ac_site_call *call)
{
	const uint64_t place[2] = { (uint64_t)(uintptr_t)call->caller,
		call->form };
	struct ac_site_state *state;

	if (site->is_plain)
		return NULL;
	state = ac_mapped_take(sizeof *state);
	if (!state || site->decision.rung == AC_RUNG_KEEP)
		return state;
	if (site->decision.guard != AC_GUARD_OFF)
		state->origin = ac_origin_of(place, &site->decision, 0);
	return state;
}

__attribute__((cold, noinline))
static struct ac_variants *
make_variants(const struct ac_site *site, enum ac_alike calls)
{
	const bool may_time = ac_operation_is_timed(site->record->key.operation)
	    && ac_device_may_time((int8_t)(site->query.form >> 32));
	struct ac_variants *there = NULL, *made = ac_variants_make(
	    &site->decision, site->record, may_time,
	    calls == AC_ALIKE_ADD ? site->decision.apart_seconds : 0);

	/* Another thread may have been first. */
	return atomic_compare_exchange_strong(&site->state->variants[calls],
	    &there, made) ? made : there;
}

struct ac_variants *
ac_site_variants(const struct ac_site *site, enum ac_alike calls)
{
	struct ac_variants *variants = atomic_load_explicit(
	    &site->state->variants[calls], memory_order_acquire);

	return variants || !site->state->origin ? variants
	    : make_variants(site, calls);
}

void
ac_site_note_autotune(const struct ac_site *site)
{
	static _Atomic(struct ac_marker_record *) marker;
	struct ac_marker_record *known = atomic_load(&marker), *none = NULL;

	if (!site->decision.reproducible || site->decision.learns)
		return;
	if (!known) {
		known = ac_report_marker(
		    "CUBLAS_GEMM_AUTOTUNE despite reproducible=on");
		if (atomic_compare_exchange_strong(&marker, &none, known))
			ac_log(AC_LOG_WARNING, "reproducible=on: the program "
			    "calls %s with CUBLAS_GEMM_AUTOTUNE, so cuBLAS may "
			    "choose other bits in each run; autocast keeps "
			    "such calls as they are", site->record->key.symbol);
	}
	ac_report_count_marker(known);
}

/* ---- The table --------------------------------------------------------- */

/* What is asked of ac_sites_find(). */
struct wanted {
	struct ac_site_query       query;
	const struct ac_site_call *call;
	struct ac_site            *decided;    /* both set by make() */
	bool                      *is_decided;
};

static bool
is_decided_alike(const struct ac_site *site, const struct ac_site *other)
{
	return site->record == other->record && site->solver == other->solver
	    && site->binding.provider == other->binding.provider;
}

/* See shim/site/sites.h. Without a provider there may be one at the next call.
 * A library that came back may be mapped elsewhere, as chance has it: what is
 * known of the site's calls stays, or their bits would hang on that. */
static struct ac_table_entry *
make(const void *asked, struct ac_table_entry *there)
{
	const struct wanted *wanted = asked;
	const struct ac_site *was = (const struct ac_site *)there;
	struct ac_site *decided = wanted->decided, *site;
	bool is_again;

	decide(decided, wanted->call);
	*wanted->is_decided = true;
	if (!decided->binding.provider)
		return NULL;
	is_again = was && is_decided_alike(was, decided);
	if (is_again && was->binding.next == decided->binding.next)
		return there;
	site = ac_mapped_take(sizeof *site);
	if (!site)
		return NULL;
	*site = is_again ? *was : *decided;
	site->binding = decided->binding;
	site->query = wanted->query;
	if (!is_again)
		site->state = make_state(site, wanted->call);
	return &site->entry;
}

static struct ac_sites sites = {
	{ ac_site_slots, AC_SITE_BITS, SITE_LIMIT, 0 }, make
};

const struct ac_site *
ac_site_search(uint64_t caller, uint64_t mn, uint64_t kb, uint64_t form)
{
	const struct ac_site_query query = { caller, form, mn, kb };
	const struct ac_site *site = (const struct ac_site *)ac_table_get(
	    &sites.table, ac_site_hash(&query), &query, sizeof query);

	return site && ac_site_is_current(site) ? site : NULL;
}

const struct ac_site *
ac_site_add(const struct ac_site_call *call, const struct ac_site_query *query,
    struct ac_site *scratch)
{
	const struct ac_table_entry *site = NULL;
	bool is_decided = false;

	if (query) {
		const struct wanted wanted = { *query, call, scratch,
			&is_decided };

		site = ac_sites_find(&sites, ac_site_hash(query), &wanted,
		    sizeof *query);
	}
	if (site)
		return (const struct ac_site *)site;
	if (!is_decided)
		decide(scratch, call);
	return scratch;
}
