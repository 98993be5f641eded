/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/plan.c -- plans, by their kinds (shim/lt/plan.h). A plan never
 * changes: any number of threads run it together. The addresses of a bias and
 * of a second matrix are part of an operation, and change from call to call:
 * each run that has them sets them in a copy of its own. */
#include "shim/lt/plan.h"

#include "base/mapped.h"
#include "base/table.h"
#include "shim/lt/pairs.h"

#include <stddef.h>
#include <string.h>

enum {
	BITS = 12,
	WORDS = 64,         /* of a descriptor of ours */
	MOST_FAILURES = 64  /* of heuristics, that are put down to chance */
};

enum { HERE, GONE }; /* generations of an entry: its library was unloaded */

/* Ours to hold, so that nothing is allocated; with room for what newer
 * libraries put there. */
union descriptor {
	cublasLtMatmulDescOpaque_t       operation;
	cublasLtMatrixLayoutOpaque_t     layout;
	cublasLtMatmulPreferenceOpaque_t preference;
	uint64_t                         words[WORDS];
};

struct ac_lt_plan {
	struct ac_table_entry entry;
	struct ac_lt_plan_key     kind;
	bool                  is_refused;  /* cublasLt has no algorithm */
	/* Where an operation has the addresses, in words; 0: unknown. */
	unsigned              bias_at, aux_at;
	union descriptor      operation;   /* without addresses */
	union descriptor      a, b, c, d;
	cublasLtMatmulAlgo_t  algorithm;
};

static ac_table_slot slots[1 << BITS];
static struct ac_table plans = { slots, BITS, 1 << (BITS - 1), 0 };

/* ---- Making ------------------------------------------------------------- */

#define SET(function, descriptor, attribute, value) \
	(!PROVIDER(provider, function)((descriptor), (attribute), &(value), \
	    sizeof(value)))

static bool
make_layout(const struct ac_lt_plan_key *kind, int32_t type, int64_t rows,
    int64_t cols, const struct ac_lt_stored *x, union descriptor *out)
{
	struct ac_provider *provider = kind->provider;

	return !PROVIDER(provider, cublasLtMatrixLayoutInit_internal)(
	    &out->layout, sizeof *out, (cudaDataType)type, (uint64_t)rows,
	    (uint64_t)cols, x->ld)
	    && (kind->batch == 1 || (SET(cublasLtMatrixLayoutSetAttribute,
		&out->layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, kind->batch)
	    && SET(cublasLtMatrixLayoutSetAttribute, &out->layout,
		CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, x->stride)));
}

static bool
make_layouts(struct ac_lt_plan *plan)
{
	const struct ac_lt_plan_key *kind = &plan->kind;
	const bool ta = kind->transa != CUBLAS_OP_N;
	const bool tb = kind->transb != CUBLAS_OP_N;

	return make_layout(kind, kind->type, ta ? kind->k : kind->m,
	    ta ? kind->m : kind->k, &kind->a, &plan->a)
	    && make_layout(kind, kind->type, tb ? kind->n : kind->k,
		tb ? kind->k : kind->n, &kind->b, &plan->b)
	    && make_layout(kind, CUDA_R_32F, kind->m, kind->n, &kind->c,
		&plan->c)
	    && make_layout(kind, CUDA_R_32F, kind->m, kind->n, &kind->d,
		&plan->d);
}

static bool
set_aux(const struct ac_lt_plan_key *kind, cublasLtMatmulDesc_t descriptor)
{
	struct ac_provider *provider = kind->provider;

	return SET(cublasLtMatmulDescSetAttribute, descriptor,
	    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, kind->aux_ld)
	    && (kind->batch == 1 || SET(cublasLtMatmulDescSetAttribute,
		descriptor, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE,
		kind->aux_stride));
}

/* Whether an epilogue reads or writes a vector that the operation names. */
static bool
has_bias(const struct ac_lt_epilogue *does)
{
	return does->adds_bias || does->sums_output;
}

static bool
make_operation(const struct ac_lt_plan_key *kind, union descriptor *out)
{
	const struct ac_lt_epilogue *does = &ac_lt_epilogues[kind->epilogue];
	const int32_t transa = kind->transa, transb = kind->transb;
	struct ac_provider *provider = kind->provider;
	const cublasLtMatmulDesc_t descriptor = &out->operation;

	return !PROVIDER(provider, cublasLtMatmulDescInit_internal)(descriptor,
	    sizeof *out, (cublasComputeType_t)kind->compute, CUDA_R_32F)
	    && SET(cublasLtMatmulDescSetAttribute, descriptor,
		CUBLASLT_MATMUL_DESC_POINTER_MODE, kind->pointer_mode)
	    && SET(cublasLtMatmulDescSetAttribute, descriptor,
		CUBLASLT_MATMUL_DESC_TRANSA, transa)
	    && SET(cublasLtMatmulDescSetAttribute, descriptor,
		CUBLASLT_MATMUL_DESC_TRANSB, transb)
	    && SET(cublasLtMatmulDescSetAttribute, descriptor,
		CUBLASLT_MATMUL_DESC_EPILOGUE, does->value)
	    && (!kind->sm_count_target || SET(cublasLtMatmulDescSetAttribute,
		descriptor, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET,
		kind->sm_count_target))
	    && (!has_bias(does) || kind->batch == 1
	    || SET(cublasLtMatmulDescSetAttribute, descriptor,
		CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, kind->bias_stride))
	    && (does->aux == AC_LT_AUX_NO || set_aux(kind, descriptor));
}

/* Which word the library makes the address, if no other changes; 0: it does
 * otherwise. False: it refuses. */
static bool
find_address(const struct ac_lt_plan *plan,
    cublasLtMatmulDescAttributes_t attribute, unsigned *at_out)
{
	static const uint64_t addresses[2] = {
		UINT64_C(0x0123456789abcd00), UINT64_C(0xfedcba9876543200)
	};
	struct ac_provider *provider = plan->kind.provider;
	const uint64_t *plain = plan->operation.words;
	unsigned at = 0;

	for (unsigned i = 0; i < 2; i++) {
		union descriptor set = plan->operation;
		unsigned first = 0;

		if (!SET(cublasLtMatmulDescSetAttribute, &set.operation,
		    attribute, addresses[i]))
			return false;
		while (first < WORDS && set.words[first] == plain[first])
			first++;
		if (first == WORDS || set.words[first] != addresses[i]
		    || (i && at != first)
		    || memcmp(&set.words[first + 1], &plain[first + 1],
			(WORDS - 1 - first) * sizeof *plain))
			return true;
		at = first;
	}
	*at_out = at;
	return true;
}

static bool
find_addresses(struct ac_lt_plan *plan, const struct ac_lt_epilogue *does)
{
	return (!has_bias(does) || find_address(plan,
	    CUBLASLT_MATMUL_DESC_BIAS_POINTER, &plan->bias_at))
	    && (does->aux == AC_LT_AUX_NO || find_address(plan,
		CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &plan->aux_at));
}

static bool
set_address(struct ac_provider *provider, union descriptor *copy,
    cublasLtMatmulDescAttributes_t attribute, unsigned at, const void *address)
{
	if (at)
		copy->words[at] = (uint64_t)(uintptr_t)address;
	return at || SET(cublasLtMatmulDescSetAttribute, &copy->operation,
	    attribute, address);
}

/* The plan's operation with the addresses of this run: itself if it has none,
 * else *copy; NULL: the library refuses them. A descriptor is plain bytes: what
 * needs no destroying owns nothing. */
static union descriptor *
aim(struct ac_lt_plan *plan, const struct ac_lt_run *run,
    union descriptor *copy)
{
	const struct ac_lt_epilogue *does =
	    &ac_lt_epilogues[plan->kind.epilogue];
	struct ac_provider *provider = plan->kind.provider;

	if (!has_bias(does) && does->aux == AC_LT_AUX_NO)
		return &plan->operation;
	*copy = plan->operation;
	return (!has_bias(does) || set_address(provider, copy,
	    CUBLASLT_MATMUL_DESC_BIAS_POINTER, plan->bias_at, run->bias))
	    && (does->aux == AC_LT_AUX_NO || set_address(provider, copy,
		CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, plan->aux_at,
		run->aux)) ? copy : NULL;
}

/* The first algorithm for this kind, of those that need no more than the
 * program's workspace and these alignments; or what is wrong. */
static cublasStatus_t
ask(struct ac_lt_plan *plan, const struct ac_lt_run *run,
    cublasLtMatmulAlgo_t *algorithm_out)
{
	static const cublasLtMatmulPreferenceAttributes_t alignments[4] = {
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES
	};
	struct ac_provider *provider = plan->kind.provider;
	const uint64_t workspace = plan->kind.workspace_bytes;
	union descriptor preference, copy;
	union descriptor *const o = aim(plan, run, &copy);
	cublasLtMatmulHeuristicResult_t result;
	cublasStatus_t status;
	int found = 0;
	bool good;

	good = o && !PROVIDER(provider, cublasLtMatmulPreferenceInit_internal)(
	    &preference.preference, sizeof preference)
	    && SET(cublasLtMatmulPreferenceSetAttribute, &preference.preference,
	    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace);
	for (unsigned i = 0; good && i < 4; i++) {
		const uint32_t bytes = 1u << plan->kind.alignment[i];

		good = SET(cublasLtMatmulPreferenceSetAttribute,
		    &preference.preference, alignments[i], bytes);
	}
	if (!good)
		return CUBLAS_STATUS_INVALID_VALUE;
	memset(&result, 0, sizeof result);
	status = PROVIDER(provider, cublasLtMatmulAlgoGetHeuristic)(
	    run->handle, &o->operation, &plan->a.layout,
	    &plan->b.layout, &plan->c.layout,
	    &plan->d.layout, &preference.preference, 1, &result, &found);
	if (status)
		return status;
	if (found != 1 || result.workspaceSize > workspace)
		return CUBLAS_STATUS_NOT_SUPPORTED;
	*algorithm_out = result.algo;
	return result.state;
}

/* Whether the same question may have another answer later: cublasLt was out of
 * memory, say. It is not asked for ever. */
static bool
is_by_chance(cublasStatus_t status)
{
	static _Atomic unsigned failures;

	switch (status) {
	case CUBLAS_STATUS_SUCCESS:
	case CUBLAS_STATUS_NOT_SUPPORTED:
	case CUBLAS_STATUS_INVALID_VALUE:
	case CUBLAS_STATUS_ARCH_MISMATCH:
		return false;
	default:
		return atomic_load(&failures) < MOST_FAILURES
		    && atomic_fetch_add(&failures, 1) < MOST_FAILURES;
	}
}

/* What the heuristics load or allocate must not disturb another thread's
 * capture. NULL: there is no memory for it, or not the time to ask. */
static struct ac_lt_plan *
make(const struct ac_lt_plan_key *kind, const struct ac_lt_run *run,
    uint64_t hash)
{
	struct ac_lt_plan *plan = ac_mapped_take(sizeof *plan);
	cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE;
	int mode;

	if (!plan || !ac_scratch_relax(run->driver, &mode))
		return NULL;
	plan->entry.hash = hash;
	plan->kind = *kind;
	if (make_layouts(plan) && make_operation(kind, &plan->operation)
	    && find_addresses(plan, &ac_lt_epilogues[kind->epilogue]))
		status = ask(plan, run, &plan->algorithm);
	ac_scratch_restore(run->driver, mode);
	plan->is_refused = status != CUBLAS_STATUS_SUCCESS;
	return is_by_chance(status) ? NULL : plan;
}

/* ---- Finding ------------------------------------------------------------ */

static bool
is_here(const struct ac_table_entry *entry)
{
	return entry && atomic_load_explicit(&entry->generation,
	    memory_order_relaxed) == HERE;
}

/* Two threads may both make one: the first that is stored counts, the other is
 * lost. */
static struct ac_lt_plan *
find(const struct ac_lt_plan_key *kind, const struct ac_lt_run *run,
    bool may_make)
{
	const uint64_t hash = ac_table_hash(kind, sizeof *kind);

	for (;;) {
		struct ac_table_entry *there;
		ac_table_slot *slot = ac_table_find(&plans, hash, kind,
		    sizeof *kind, &there);
		struct ac_lt_plan *made;

		if (is_here(there))
			return (struct ac_lt_plan *)there;
		if (!slot || !may_make)
			return NULL;
		made = make(kind, run, hash);
		if (!made || ac_table_put(&plans, slot, there, &made->entry))
			return made;
	}
}

void
ac_lt_plan_abandon(const struct ac_provider *provider)
{
	for (unsigned i = 0; i < 1 << BITS; i++) {
		struct ac_lt_plan *plan =
		    (struct ac_lt_plan *)ac_table_at(&slots[i]);

		if (plan && plan->kind.provider == provider)
			atomic_store(&plan->entry.generation, GONE);
	}
}

/* ---- Running ------------------------------------------------------------ */

static enum ac_reason
run_by(struct ac_lt_plan *plan, const struct ac_lt_run *run,
    cublasStatus_t *status_out)
{
	const struct ac_lt_plan_key *kind = &plan->kind;
	union descriptor copy;
	union descriptor *o = plan->is_refused ? NULL : aim(plan, run, &copy);
	cublasStatus_t status;

	if (!o)
		return AC_REASON_REFUSED;
	status = PROVIDER(kind->provider, cublasLtMatmul)(run->handle,
	    &o->operation, run->alpha, run->a, &plan->a.layout,
	    run->b, &plan->b.layout, run->beta, run->c,
	    &plan->c.layout, run->d, &plan->d.layout,
	    &plan->algorithm, run->workspace, kind->workspace_bytes,
	    (cudaStream_t)run->stream);
	if (status && ac_gemm_is_refusal(status))
		return AC_REASON_REFUSED;
	*status_out = status;
	return AC_REASON_NONE;
}

/* In all that may change from call to call. */
static bool
is_alike(const struct ac_lt_plan_key *x, const struct ac_lt_plan_key *y)
{
	_Static_assert(offsetof(struct ac_lt_plan_key, transa) == 112,
	    "seven pairs");
	return ac_lt_is_none(ac_lt_xor(x, y, 0) | ac_lt_xor(x, y, 1)
	    | ac_lt_xor(x, y, 2) | ac_lt_xor(x, y, 3) | ac_lt_xor(x, y, 4)
	    | ac_lt_xor(x, y, 5) | ac_lt_xor(x, y, 6));
}

bool
ac_lt_plan_again(const struct ac_lt_plan_key *kind, const struct ac_lt_run *run,
    ac_lt_plan_hint *hint, enum ac_reason *reason_out,
    cublasStatus_t *status_out)
{
	struct ac_lt_plan *plan = hint ? atomic_load_explicit(hint,
	    memory_order_acquire) : NULL;

	if (!plan || !is_here(&plan->entry)
	    || !is_alike(&plan->kind, kind))
		return false;
	*reason_out = run_by(plan, run, status_out);
	return true;
}

enum ac_reason
ac_lt_plan_run(const struct ac_lt_plan_key *kind, const struct ac_lt_run *run,
    bool may_make, ac_lt_plan_hint *hint, cublasStatus_t *status_out)
{
	struct ac_lt_plan *plan = find(kind, run, may_make);

	if (hint)
		atomic_store_explicit(hint, plan, memory_order_release);
	if (!plan)
		return may_make ? AC_REASON_OUT_OF_MEMORY : AC_REASON_CAPTURE;
	return run_by(plan, run, status_out);
}
