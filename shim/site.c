/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site.c -- the table of sites, and how a call is described to the
 * policy. Everything here but the look-up runs once per site. */
#include "shim/site.h"

#include "base/mapped.h"
#include "base/elf.h"
#include "base/text.h"
#include "shim/device.h"
#include "shim/handle.h"
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

static const char *const type_names[] = { "f32", "f16", "bf16", "f64", "other" };
static const char *const asked_names[] = {
	"fp32", "fp32", "tf32", "fast16f", "fast16bf", "pedantic", "emulated"
};

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
	case CUDA_R_16F:  return AC_TYPE_F16;
	case CUDA_R_16BF: return AC_TYPE_BF16;
	case CUDA_R_64F:  return AC_TYPE_F64;
	default:          return AC_TYPE_OTHER;
	}
}

/* By the low four bits of a cublasMath_t; above them are flags such as
 * CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION. 4 is BF16x9 emulation, 8
 * concerns FP64 only; the others are newer than we are: hands off. */
static const uint8_t asked_by_mode[16] = {
	AC_ASKED_FP32,     AC_ASKED_FAST16F,  AC_ASKED_PEDANTIC,
	AC_ASKED_TF32,     AC_ASKED_EMULATED, AC_ASKED_EMULATED,
	AC_ASKED_EMULATED, AC_ASKED_EMULATED, AC_ASKED_FP32,
	AC_ASKED_EMULATED, AC_ASKED_EMULATED, AC_ASKED_EMULATED,
	AC_ASKED_EMULATED, AC_ASKED_EMULATED, AC_ASKED_EMULATED,
	AC_ASKED_EMULATED
};
_Static_assert(CUBLAS_DEFAULT_MATH == 0 && CUBLAS_TENSOR_OP_MATH == 1
    && CUBLAS_PEDANTIC_MATH == 2 && CUBLAS_TF32_TENSOR_OP_MATH == 3,
    "asked_by_mode is in the order of cublasMath_t");

/* The compute type of a call narrows what the handle's math mode allows; a
 * pedantic handle stays pedantic, whatever the call says. */
static inline uint64_t
with_asked(uint64_t form, cublasHandle_t handle, const struct ac_handle *known)
{
	const uint64_t field = UINT64_C(0xf) << 20;
	cublasMath_t mode = CUBLAS_DEFAULT_MATH;
	uint64_t by_mode;

	if (known->get_math_mode)
		known->get_math_mode(handle, &mode);
	by_mode = asked_by_mode[(unsigned)mode & 0xf];
	if (!(form & field))
		return form | by_mode << 20;
	if (by_mode == AC_ASKED_PEDANTIC)
		return (form & ~field) | by_mode << 20;
	return form;
}

/* The call, taken apart again for those who describe it. */
struct call {
	cublasHandle_t handle;
	const void *caller;
	int64_t m, n, k, batch;
	enum ac_entry entry;
	cublasOperation_t transa, transb;
	enum ac_asked asked;
	enum ac_type_class type;
	int device;
};

static struct call
call_of(const struct ac_site_query *query, cublasHandle_t handle)
{
	const uint64_t form = query->word[5];

	return (struct call){
		.handle = handle,
		.caller = (const void *)(uintptr_t)query->word[0],
		.m = (int64_t)query->word[1], .n = (int64_t)query->word[2],
		.k = (int64_t)query->word[3], .batch = (int64_t)query->word[4],
		.entry = (enum ac_entry)(form & 0xffff),
		.transa = (cublasOperation_t)(form >> 16 & 3),
		.transb = (cublasOperation_t)(form >> 18 & 3),
		.asked = (enum ac_asked)(form >> 20 & 0xf),
		.type = (enum ac_type_class)(form >> 24 & 0xf),
		.device = (int)(int8_t)(form >> 32),
	};
}

static inline bool
is_same(const struct ac_site_query *a, const struct ac_site_query *b)
{
	return !((a->word[0] ^ b->word[0]) | (a->word[1] ^ b->word[1])
	    | (a->word[2] ^ b->word[2]) | (a->word[3] ^ b->word[3])
	    | (a->word[4] ^ b->word[4]) | (a->word[5] ^ b->word[5]));
}

/* Two lanes of multiply and rotate, so that equal small sizes in different
 * places fall apart; the top bits are the best mixed. */
static inline uint32_t
slot_of(const struct ac_site_query *query)
{
	const uint64_t first = UINT64_C(0x9E3779B97F4A7C15);
	const uint64_t second = UINT64_C(0xC2B2AE3D27D4EB4F);
	uint64_t a = (query->word[0] ^ query->word[1] << 32 ^ query->word[2])
	    * first;
	uint64_t b = (query->word[3] ^ query->word[4] << 32 ^ query->word[5])
	    * second;

	return (uint32_t)(((a ^ a >> 29) + b) * first >> 40) & (SITE_SLOTS - 1);
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
describe_library(struct description *d, cublasHandle_t handle,
    struct ac_provider *provider)
{
	struct ac_text text;
	int version;

	ac_text_init(&text, d->library, sizeof d->library);
	__typeof__(&cublasGetVersion_v2) get_version =
	    provider ? PROVIDER(provider, cublasGetVersion_v2) : NULL;
	if (!get_version || get_version(handle, &version))
		return;
	/* 13.1.0 is 130100 since CUDA 10.1; before, 8.0 was 8000. */
	ac_text_addf(&text, "cublas-%d.%d", version / 10000, version / 100 % 100);
}

static void
describe_key(struct ac_site_key *key, const struct call *call)
{
	struct ac_text text;

	key->operation = (uint32_t)ac_entries[call->entry].operation;
	key->ta = letter_of(call->transa);
	key->tb = letter_of(call->transb);
	key->m = call->m;
	key->n = call->n;
	key->k = call->k;
	key->batch = call->batch;
	ac_text_init(&text, key->symbol, sizeof key->symbol);
	ac_text_add(&text, ac_entries[call->entry].symbol);
	ac_text_init(&text, key->type, sizeof key->type);
	ac_text_add(&text, type_names[call->type]);
	ac_text_init(&text, key->asked, sizeof key->asked);
	ac_text_add(&text, ac_shim_get()->environment_opted_out ? "opted-out"
	    : asked_names[call->asked]);
}

static void
describe(struct description *d, const struct call *call,
    struct ac_provider *provider)
{
	const struct ac_shim *shim = ac_shim_get();
	const struct ac_device *gpu = ac_device_get(call->device);
	struct ac_text text;

	memset(d, 0, sizeof *d);
	describe_key(&d->key, call);
	describe_caller(d, call->caller);
	describe_library(d, call->handle, provider);
	d->key.solver = d->is_solver ? 'y' : 'n';
	d->ta[0] = d->key.ta;
	d->tb[0] = d->key.tb;
	d->id = ac_text_hash(AC_TEXT_HASH_START, &d->key, sizeof d->key);
	ac_text_init(&text, d->site, sizeof d->site);
	ac_text_addf(&text, "%08x", d->id);

	d->op.operation = (enum ac_operation)d->key.operation;
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
	ac_op_set_product(&d->op, call->m, call->n, call->k, call->batch);
	if (gpu) {
		d->op.fact[AC_FACT_GPU] = gpu->name;
		ac_op_set(&d->op, AC_Q_SM, gpu->sm);
		ac_op_set(&d->op, AC_Q_DEVICE, call->device);
		ac_report_machine(gpu->name, gpu->sm, d->library, gpu->emulated);
	}
}

/* What no policy can judge: is there a recipe, and a provider for it, and
 * would it change anything? */
static void
judge_feasibility(struct ac_site *site, const struct call *call)
{
	enum ac_reason reason = AC_REASON_NONE;

	if (site->decision.rung == AC_RUNG_KEEP)
		return;
	if (!ac_entries[call->entry].rewritable)
		reason = AC_REASON_NOT_BUILT;
	else if (!site->binding.provider
	    || !ac_provider_is_complete(site->binding.provider))
		reason = AC_REASON_UNSUPPORTED;
	else if (site->decision.rung == AC_RUNG_TF32 && call->asked == AC_ASKED_TF32)
		reason = AC_REASON_NO_PROFIT; /* it runs on TF32 already */
	if (reason != AC_REASON_NONE) {
		site->decision.rung = AC_RUNG_KEEP;
		site->decision.tactic = AC_TACTIC_NONE;
		site->decision.reason = reason;
	}
}

static void
decide(struct ac_site *site, const struct call *call)
{
	const struct ac_shim *shim = ac_shim_get();
	struct description d;
	bool is_overflow = false;

	site->generation = atomic_load_explicit(&current_generation,
	    memory_order_acquire);
	site->binding = ac_provider_bind(call->entry, call->caller);
	describe(&d, call, site->binding.provider);
	ac_policy_decide(shim->policy, &d.op, &site->decision);
	judge_feasibility(site, call);
	site->record = ac_report_site(&d.key, &site->decision,
	    ac_policy_site_name(shim->policy, d.id), &is_overflow);
	if (is_overflow) {
		site->decision.rung = AC_RUNG_KEEP;
		site->decision.tactic = AC_TACTIC_NONE;
		site->decision.reason = AC_REASON_NO_RULE;
	}
}

/* ---- The table --------------------------------------------------------- */

static void
publish(struct ac_site *site)
{
	const uint32_t start = slot_of(&site->query);

	for (uint32_t i = 0; i < PROBES; i++) {
		_Atomic(struct ac_site *) *slot =
		    &table[(start + i) & (SITE_SLOTS - 1)];
		struct ac_site *there = atomic_load_explicit(slot,
		    memory_order_acquire);

		/* An empty slot, or this very site of an older generation. */
		if (there && !is_same(&there->query, &site->query))
			continue;
		if (!atomic_compare_exchange_strong_explicit(slot, &there, site,
		    memory_order_acq_rel, memory_order_acquire))
			continue;
		if (!there)
			atomic_fetch_add_explicit(&site_count, 1,
			    memory_order_relaxed);
		return;
	}
}

static __attribute__((noinline)) const struct ac_site *
add(cublasHandle_t handle, struct ac_site *scratch)
{
	const struct call call = call_of(&scratch->query, handle);
	struct ac_site *site = NULL;

	if (atomic_load_explicit(&site_count, memory_order_relaxed) < SITE_LIMIT)
		site = ac_mapped_take(sizeof *site);
	if (!site)
		site = scratch;
	site->query = scratch->query;
	decide(site, &call);
	/* Without a provider there may be one at the next call. */
	if (site != scratch && site->binding.provider)
		publish(site);
	return site;
}

const struct ac_site *
ac_site_find(cublasHandle_t handle, struct ac_site *scratch)
{
	static const struct ac_handle unknown = { .device = -1 };
	struct ac_site_query *query = &scratch->query;
	const struct ac_handle *known = ac_handle_find(handle);
	uint32_t slot;

	if (!known)
		known = &unknown;
	query->word[5] = with_asked(query->word[5], handle, known)
	    | (uint64_t)(uint8_t)known->device << 32;
	slot = slot_of(query);
	for (uint32_t i = 0; i < PROBES; i++) {
		const struct ac_site *site = atomic_load_explicit(
		    &table[(slot + i) & (SITE_SLOTS - 1)],
		    memory_order_acquire);

		if (!site)
			break;
		if (is_same(&site->query, query)) {
			if (site->generation == atomic_load_explicit(
			    &current_generation, memory_order_acquire))
				return site;
			break;
		}
	}
	return add(handle, scratch);
}
