/* SPDX-License-Identifier: Apache-2.0 */
/* shim/rnn_site.c -- the table of recurrent networks, and what the policy is
 * told of one. Everything but the look-up runs once per site. */
#include "shim/rnn_site.h"

#include "base/mapped.h"
#include "base/text.h"
#include "shim/describe.h"
#include "shim/device.h"
#include "shim/site.h"
#include "shim/start.h"

#include <cudnn.h>

#include <stdatomic.h>
#include <string.h>

enum { SLOTS = 1 << 12, PROBES = 64, LIMIT = SLOTS / 2 };

/* Open addressing, published by compare-and-swap, never emptied. */
static _Atomic(struct ac_rnn_site *) table[SLOTS];
static _Atomic unsigned site_count;

static uint64_t
hash_of(const struct ac_rnn_query *query)
{
	uint64_t hash = UINT64_C(0x9E3779B97F4A7C15), word;

	_Static_assert(sizeof *query % sizeof word == 0, "whole words");
	for (size_t i = 0; i < sizeof *query; i += sizeof word) {
		memcpy(&word, (const char *)query + i, sizeof word);
		hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
		hash ^= hash >> 32;
	}
	return hash;
}

/* ---- What the policy is told -------------------------------------------- */

static const char *
type_of(const struct ac_rnn_query *query)
{
	if (query->type == CUDNN_DATA_FLOAT
	    && query->precision == CUDNN_DATA_FLOAT)
		return "f32";
	switch (query->type) {
	case CUDNN_DATA_HALF:
		return "f16";
	case CUDNN_DATA_BFLOAT16:
		return "bf16";
	case CUDNN_DATA_DOUBLE:
		return "f64";
	default:
		return "other";
	}
}

/* What the arithmetic may be as the program asks for it: as of convolutions,
 * but that cuDNN does convert if it may (cudnn.md, section 6). */
static const char *
asked_for(const struct ac_rnn_query *query, int sm)
{
	if (ac_shim_get()->environment_opted_out
	    || query->math == CUDNN_FMA_MATH)
		return "opted-out";
	if (query->math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION)
		return "fast16f";
	return sm >= 80 ? "tf32" : "fp32";
}

static void
describe_shape(struct ac_site_key *key, const struct ac_rnn_query *query)
{
	static const char *const cells[] = { "relu", "tanh", "lstm", "gru" };
	struct ac_text text;

	ac_text_init(&text, key->shape, sizeof key->shape);
	ac_text_addf(&text, "%s i%d h%d", query->cell >= 0 && query->cell < 4
	    ? cells[query->cell] : "?", (int)query->input, (int)query->hidden);
	if (query->projection != query->hidden)
		ac_text_addf(&text, " p%d", (int)query->projection);
	ac_text_addf(&text, " l%d", (int)query->layers);
	if (query->direction == CUDNN_BIDIRECTIONAL)
		ac_text_add(&text, " bi");
}

static void
describe(const struct ac_rnn_query *query, struct ac_description *d)
{
	const struct ac_device *gpu = ac_device_get(query->device);
	struct ac_text text;

	memset(d, 0, sizeof *d);
	d->key.operation = AC_OP_RNN;
	ac_text_init(&text, d->key.symbol, sizeof d->key.symbol);
	ac_text_add(&text, ac_entries[ENTRY_cudnnSetRNNDescriptor_v8].symbol);
	ac_text_init(&text, d->key.type, sizeof d->key.type);
	ac_text_add(&text, type_of(query));
	ac_text_init(&text, d->key.asked, sizeof d->key.asked);
	ac_text_add(&text, asked_for(query, gpu ? gpu->sm : 0));
	ac_describe_caller(d, (const void *)(uintptr_t)query->caller);
	ac_describe_dnn(d, (struct ac_provider *)(uintptr_t)query->provider);
	describe_shape(&d->key, query);
	d->key.solver = d->is_solver ? 'y' : 'n';
	ac_describe_facts(d);
	if (!gpu)
		return;
	d->op.fact[AC_FACT_GPU] = gpu->name;
	ac_op_set(&d->op, AC_Q_SM, gpu->sm);
	ac_op_set(&d->op, AC_Q_DEVICE, query->device);
	d->op.rates = ac_device_rates(query->device, d->library);
	ac_report_machine(gpu->name, gpu->sm, d->library, gpu->emulated);
}

/* ---- Deciding ------------------------------------------------------------- */

/* What a math type can still make of it: TF32 is what cuDNN takes by itself
 * unless the program forbids it, or asks for FP16 anyway. */
static void
leave_math_types(struct ac_decision *d, const char *asked)
{
	const unsigned types = !strcmp(asked, "fast16f") ? 0
	    : 1u << AC_RUNG_FP16
	    | (strcmp(asked, "tf32") ? 1u << AC_RUNG_TF32 : 0);
	unsigned count = 0;

	for (unsigned i = 0; i < d->candidate_count; i++)
		if (types >> d->candidate[i].rung & 1)
			d->candidate[count++] = d->candidate[i];
	if (!count || (!d->judges_profit && !(types >> d->rung & 1))) {
		ac_decision_keep(d, AC_REASON_NO_PROFIT);
		return;
	}
	d->candidate_count = count;
	d->rung = d->candidate[0].rung;
	d->tactic = d->candidate[0].tactic;
	d->tol = d->candidate[0].tol;
}

/* Before 9, cuDNN has other calls that set and tell the math type of a
 * descriptor (cudnnSetRNNMatrixMathType, cudnnGetRNNMatrixMathType), through
 * which a program would see ours. */
static bool
has_other_doors(struct ac_provider *provider)
{
	__typeof__(&cudnnGetVersion) get_version =
	    PROVIDER(provider, cudnnGetVersion);
	const size_t version = get_version ? get_version() : 0;

	return version && version < 90000;
}

/* What stands in the way of a decision to recast. */
static enum ac_reason
objection(const struct ac_rnn_query *query, const struct ac_decision *decision)
{
	if (has_other_doors((struct ac_provider *)(uintptr_t)query->provider))
		return AC_REASON_UNSUPPORTED;
	/* Nothing inside a network can be sampled. */
	if (decision->guard != AC_GUARD_OFF)
		return AC_REASON_GUARD;
	/* No math type gives TF32 back that the driver does not. */
	return decision->rung == AC_RUNG_TF32
	    && ac_shim_get()->environment_opted_out ? AC_REASON_OPTED_OUT
	    : AC_REASON_NONE;
}

static void
decide(struct ac_rnn_site *site)
{
	const struct ac_shim *shim = ac_shim_get();
	struct ac_decision *decision = &site->decision;
	enum ac_reason reason = AC_REASON_NONE;
	struct ac_description d;
	bool is_overflow = false;

	atomic_store_explicit(&site->generation, atomic_load_explicit(
	    &ac_site_generation, memory_order_acquire), memory_order_relaxed);
	describe(&site->query, &d);
	ac_policy_decide(shim->policy, &d.op, decision);
	if (decision->reason == AC_REASON_UNSUPPORTED
	    && site->query.device < 0)
		ac_decision_keep(decision, AC_REASON_NO_CONTEXT);
	if (decision->rung != AC_RUNG_KEEP)
		leave_math_types(decision, d.key.asked);
	if (decision->rung != AC_RUNG_KEEP)
		reason = objection(&site->query, decision);
	if (reason != AC_REASON_NONE)
		ac_decision_keep(decision, reason);
	site->record = ac_report_site(&d.key, decision,
	    ac_policy_site_name(shim->policy, d.id), &is_overflow);
	if (is_overflow)
		ac_decision_keep(decision, AC_REASON_NO_RULE);
}

/* A site of `query` in the place of `there` (NULL: of nothing), or `there` if
 * it is decided as before, which the record stands for. */
static struct ac_rnn_site *
make(const struct ac_rnn_query *query, uint64_t hash,
    struct ac_rnn_site *there)
{
	struct ac_rnn_site anew = { .query = *query, .hash = hash }, *site;

	if (!there && atomic_load_explicit(&site_count, memory_order_relaxed)
	    >= LIMIT)
		return NULL;
	decide(&anew);
	if (there && there->record == anew.record) {
		atomic_store_explicit(&there->generation, atomic_load_explicit(
		    &anew.generation, memory_order_relaxed),
		    memory_order_relaxed);
		return there;
	}
	site = ac_mapped_take(sizeof *site);
	if (site)
		*site = anew;
	return site;
}

static bool
is_current(const struct ac_rnn_site *site)
{
	return atomic_load_explicit(&site->generation, memory_order_relaxed)
	    == atomic_load_explicit(&ac_site_generation, memory_order_acquire);
}

const struct ac_rnn_site *
ac_rnn_site_of(const struct ac_rnn_query *query)
{
	const uint64_t hash = hash_of(query);
	unsigned i = 0;

	while (i < PROBES) {
		_Atomic(struct ac_rnn_site *) *slot =
		    &table[(hash + i) & (SLOTS - 1)];
		struct ac_rnn_site *there = atomic_load_explicit(slot,
		    memory_order_acquire), *was = there, *made;

		if (there && (there->hash != hash
		    || memcmp(&there->query, query, sizeof *query))) {
			i++;
			continue;
		}
		if (there && is_current(there))
			return there;
		made = make(query, hash, there);
		if (!made || made == there)
			return made;
		/* Another thread may have been first: look again. */
		if (!atomic_compare_exchange_strong_explicit(slot, &was, made,
		    memory_order_acq_rel, memory_order_acquire))
			continue;
		if (!there)
			atomic_fetch_add_explicit(&site_count, 1,
			    memory_order_relaxed);
		return made;
	}
	return NULL;
}
