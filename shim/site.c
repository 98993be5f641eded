/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site.c -- the table of sites, and how a call is described to the
 * policy. Everything here but the look-up runs once per site. */
#include "shim/site.h"

#include "base/mapped.h"
#include "base/elf.h"
#include "base/text.h"
#include "shim/device.h"
#include "shim/solver.h"
#include "shim/start.h"

#include <stdatomic.h>
#include <string.h>

enum {
	SITE_SLOTS = 1 << 18,   /* power of two */
	SITE_LIMIT = 100000,    /* policy-language.md, "Sites" */
	PROBES = 64
};

static _Atomic(struct ac_site *) table[SITE_SLOTS];
static _Atomic uint32_t site_count;
static _Atomic uint32_t current_generation;

void
ac_site_forget_decisions(void)
{
	atomic_fetch_add_explicit(&current_generation, 1, memory_order_release);
}

/* ---- What identifies a call -------------------------------------------- */

enum type_class { TYPE_F32, TYPE_F16, TYPE_BF16, TYPE_F64, TYPE_OTHER };

static const char *const type_names[] = { "f32", "f16", "bf16", "f64", "other" };
static const char *const asked_names[] = {
	"fp32", "tf32", "fast16f", "fast16bf", "pedantic", "emulated"
};

/* The compute types whose accumulator is FP32; 0 for functions without one
 * (cublasSgemm and its kin), which compute in FP32. */
static bool
accumulates_fp32(int compute)
{
	switch (compute) {
	case 0:
	case CUBLAS_COMPUTE_32F:
	case CUBLAS_COMPUTE_32F_PEDANTIC:
	case CUBLAS_COMPUTE_32F_FAST_16F:
	case CUBLAS_COMPUTE_32F_FAST_16BF:
	case CUBLAS_COMPUTE_32F_FAST_TF32:
	case AC_COMPUTE_32F_EMULATED_16BFX9:
		return true;
	default:
		return false;
	}
}

static enum type_class
type_of(const struct ac_gemm *g)
{
	if (g->a.type != g->b.type)
		return TYPE_OTHER;
	switch ((int)g->a.type) {
	case CUDA_R_32F:
		return g->c.type == CUDA_R_32F && accumulates_fp32(g->compute)
		    ? TYPE_F32 : TYPE_OTHER;
	case CUDA_R_16F:  return TYPE_F16;
	case CUDA_R_16BF: return TYPE_BF16;
	case CUDA_R_64F:  return TYPE_F64;
	default:          return TYPE_OTHER;
	}
}

static struct ac_site_query
query_of(const struct ac_gemm *g, enum ac_asked asked, int device)
{
	return (struct ac_site_query){ {
		(uint64_t)(uintptr_t)g->caller,
		(uint64_t)g->m, (uint64_t)g->n, (uint64_t)g->k,
		(uint64_t)g->batch,
		(uint64_t)g->entry | (uint64_t)(g->transa & 3) << 16
		    | (uint64_t)(g->transb & 3) << 18
		    | (uint64_t)asked << 20 | (uint64_t)type_of(g) << 24
		    | (uint64_t)(uint8_t)device << 32,
	} };
}

static inline bool
is_same(const struct ac_site_query *a, const struct ac_site_query *b)
{
	uint64_t difference = 0;

	for (int i = 0; i < 6; i++)
		difference |= a->word[i] ^ b->word[i];
	return !difference;
}

static inline uint32_t
slot_of(const struct ac_site_query *query)
{
	uint64_t mix = query->word[0];

	for (int i = 1; i < 6; i++)
		mix = (mix ^ query->word[i]) * UINT64_C(0x9E3779B97F4A7C15);
	return (uint32_t)(mix >> 40) & (SITE_SLOTS - 1);
}

/* ---- Describing and deciding ------------------------------------------- */

static char
letter_of(cublasOperation_t op)
{
	switch (op) {
	case CUBLAS_OP_N: return 'N';
	case CUBLAS_OP_T: return 'T';
	case CUBLAS_OP_C: return 'C';
	default:          return '?';
	}
}

struct description {
	struct ac_op op;
	struct ac_site_key key;
	char ta[2], tb[2], library[32], site[12];
	char module[40];         /* base name of the calling module */
	uint32_t id;
	bool is_solver;
};

static void
describe_caller(struct description *d, const void *caller)
{
	const struct ac_shim *shim = ac_shim_get();
	struct ac_elf_object module;
	struct ac_text text;
	const char *name = shim->program;

	ac_text_init(&text, d->module, sizeof d->module);
	if (!ac_elf_object_at(caller, &module)) {
		ac_text_add(&text, "?");
		ac_text_init(&text, d->key.caller, sizeof d->key.caller);
		ac_text_add(&text, "?");
		return;
	}
	if (*module.path) {
		const char *slash = strrchr(module.path, '/');

		name = slash ? slash + 1 : module.path;
	}
	ac_text_add(&text, name);
	ac_text_init(&text, d->key.caller, sizeof d->key.caller);
	ac_text_addf(&text, "%s+%zx", d->module,
	    (size_t)((uintptr_t)caller - module.base));
	d->is_solver = ac_solver_is(module.base);
}

/* "cublas-13.1", from the provider the call is bound to. */
static void
describe_library(struct description *d, const struct ac_gemm *g,
    struct ac_provider *provider)
{
	struct ac_text text;
	int version;

	ac_text_init(&text, d->library, sizeof d->library);
	__typeof__(&cublasGetVersion_v2) get_version =
	    provider ? PROVIDER(provider, cublasGetVersion_v2) : NULL;
	if (!get_version || get_version(g->handle, &version))
		return;
	/* 13.1.0 is 130100 since CUDA 10.1; before, 8.0 was 8000. */
	ac_text_addf(&text, "cublas-%d.%d", version / 10000, version / 100 % 100);
}

static void
describe_key(struct ac_site_key *key, const struct ac_gemm *g,
    enum ac_asked asked)
{
	struct ac_text text;

	key->operation = g->operation;
	key->ta = letter_of(g->transa);
	key->tb = letter_of(g->transb);
	key->m = g->m;
	key->n = g->n;
	key->k = g->k;
	key->batch = g->batch;
	ac_text_init(&text, key->symbol, sizeof key->symbol);
	ac_text_add(&text, ac_entries[g->entry].symbol);
	ac_text_init(&text, key->type, sizeof key->type);
	ac_text_add(&text, type_names[type_of(g)]);
	ac_text_init(&text, key->asked, sizeof key->asked);
	ac_text_add(&text, ac_shim_get()->environment_opted_out ? "opted-out"
	    : asked_names[asked]);
}

static void
describe(struct description *d, const struct ac_gemm *g, enum ac_asked asked,
    int device, struct ac_provider *provider)
{
	const struct ac_shim *shim = ac_shim_get();
	const struct ac_device *gpu = ac_device_get(device);
	struct ac_text text;

	memset(d, 0, sizeof *d);
	describe_key(&d->key, g, asked);
	describe_caller(d, g->caller);
	describe_library(d, g, provider);
	d->key.solver = d->is_solver ? 'y' : 'n';
	d->ta[0] = d->key.ta;
	d->tb[0] = d->key.tb;
	d->id = ac_text_hash(AC_TEXT_HASH_START, &d->key, sizeof d->key);
	ac_text_init(&text, d->site, sizeof d->site);
	ac_text_addf(&text, "%08x", d->id);

	d->op.operation = g->operation;
	d->op.fact[AC_FACT_TA] = d->ta;
	d->op.fact[AC_FACT_TB] = d->tb;
	d->op.fact[AC_FACT_TYPE] = d->key.type;
	d->op.fact[AC_FACT_ASKED] = d->key.asked;
	d->op.fact[AC_FACT_FN] = d->key.symbol;
	d->op.fact[AC_FACT_CALLER] = d->module;
	d->op.fact[AC_FACT_PROGRAM] = shim->program;
	d->op.fact[AC_FACT_SITE] = d->site;
	d->op.fact[AC_FACT_LIB] = *d->library ? d->library : NULL;
	d->op.fact[AC_FACT_SOLVER] = d->is_solver ? "yes" : "no";
	ac_op_set_product(&d->op, g->m, g->n, g->k, g->batch);
	if (gpu) {
		d->op.fact[AC_FACT_GPU] = gpu->name;
		ac_op_set(&d->op, AC_Q_SM, gpu->sm);
		ac_op_set(&d->op, AC_Q_DEVICE, device);
		ac_report_machine(gpu->name, gpu->sm, d->library, gpu->emulated);
	}
}

/* What no policy can judge: is there a recipe, and a provider for it, and
 * would it change anything? */
static void
judge_feasibility(struct ac_site *site, const struct ac_gemm *g,
    enum ac_asked asked)
{
	enum ac_reason reason = AC_REASON_NONE;

	if (site->decision.rung == AC_RUNG_KEEP)
		return;
	if (!g->rewritable)
		reason = AC_REASON_NOT_BUILT;
	else if (!site->binding.provider
	    || !ac_provider_is_complete(site->binding.provider))
		reason = AC_REASON_UNSUPPORTED;
	else if (site->decision.rung == AC_RUNG_TF32 && asked == AC_ASKED_TF32)
		reason = AC_REASON_NO_PROFIT; /* it runs on TF32 already */
	if (reason != AC_REASON_NONE) {
		site->decision.rung = AC_RUNG_KEEP;
		site->decision.tactic = AC_TACTIC_NONE;
		site->decision.reason = reason;
	}
}

static void
decide(struct ac_site *site, const struct ac_gemm *g, enum ac_asked asked,
    int device)
{
	const struct ac_shim *shim = ac_shim_get();
	struct description d;
	bool is_overflow = false;

	site->generation = atomic_load_explicit(&current_generation,
	    memory_order_acquire);
	site->binding = ac_provider_bind(g->entry, g->caller);
	describe(&d, g, asked, device, site->binding.provider);
	ac_policy_decide(shim->policy, &d.op, &site->decision);
	judge_feasibility(site, g, asked);
	site->record = ac_report_site(&d.key, &site->decision,
	    ac_policy_site_name(shim->policy, d.id), &is_overflow);
	if (is_overflow) {
		site->decision.rung = AC_RUNG_KEEP;
		site->decision.tactic = AC_TACTIC_NONE;
		site->decision.reason = AC_REASON_NO_RULE;
	}
}

/* ---- The table --------------------------------------------------------- */

static __attribute__((noinline)) const struct ac_site *
add(const struct ac_gemm *g, enum ac_asked asked, int device,
    const struct ac_site_query *query, struct ac_site *scratch)
{
	const uint32_t start = slot_of(query);
	struct ac_site *site = NULL;

	if (atomic_load_explicit(&site_count, memory_order_relaxed) < SITE_LIMIT)
		site = ac_mapped_take(sizeof *site);
	if (!site)
		site = scratch;
	site->query = *query;
	decide(site, g, asked, device);
	if (site == scratch || !site->binding.provider)
		return site;
	for (uint32_t i = 0; i < PROBES; i++) {
		_Atomic(struct ac_site *) *slot =
		    &table[(start + i) & (SITE_SLOTS - 1)];
		struct ac_site *there = atomic_load_explicit(slot,
		    memory_order_acquire);

		/* An empty slot, or our own site of an older generation. */
		if (there && !is_same(&there->query, query))
			continue;
		if (!atomic_compare_exchange_strong_explicit(slot, &there, site,
		    memory_order_acq_rel, memory_order_acquire))
			continue;
		if (!there)
			atomic_fetch_add_explicit(&site_count, 1,
			    memory_order_relaxed);
		break;
	}
	return site;
}

const struct ac_site *
ac_site_find(const struct ac_gemm *g, enum ac_asked asked, int device,
    struct ac_site *scratch)
{
	const struct ac_site_query query = query_of(g, asked, device);
	const uint32_t start = slot_of(&query);
	const uint32_t generation = atomic_load_explicit(&current_generation,
	    memory_order_acquire);

	for (uint32_t i = 0; i < PROBES; i++) {
		const struct ac_site *site = atomic_load_explicit(
		    &table[(start + i) & (SITE_SLOTS - 1)],
		    memory_order_acquire);

		if (!site)
			break;
		if (is_same(&site->query, &query)) {
			if (site->generation == generation)
				return site;
			break;
		}
	}
	return add(g, asked, device, &query, scratch);
}
