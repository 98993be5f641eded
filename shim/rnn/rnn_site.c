/* SPDX-License-Identifier: Apache-2.0 */
/* shim/rnn/rnn_site.c -- the table of recurrent networks, and what the policy
 * is told of one. Everything but the look-up runs once per site. */
#include "shim/rnn/rnn_site.h"

#include "base/mapped.h"
#include "base/text.h"
#include "shim/site/describe.h"
#include "shim/device/device.h"
#include "shim/site/site.h"
#include "shim/start/start.h"

#include <cudnn.h>

#include <stdatomic.h>

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
 * but that cuDNN does convert if it may (doc/design.md D8). */
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

	ac_describe_begin(d, AC_OP_RNN, ENTRY_cudnnSetRNNDescriptor_v8,
	    (const void *)(uintptr_t)query->caller);
	ac_describe_dnn(d, (struct ac_provider *)(uintptr_t)query->provider);
	ac_describe_asked(d, type_of(query),
	    asked_for(query, gpu ? gpu->sm : 0));
	describe_shape(&d->key, query);
	ac_describe_end(d, query->region, query->device);
}

/* ---- Deciding ---------------------------------------------------------- */

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
	/* No math type gives TF32 back that the driver does not. */
	return decision->rung == AC_RUNG_TF32
	    && ac_shim_get()->environment_opted_out ? AC_REASON_OPTED_OUT
	    : AC_REASON_NONE;
}

static void
decide(struct ac_rnn_site *site)
{
	struct ac_decision *decision = &site->decision;
	enum ac_reason reason = AC_REASON_NONE;
	struct ac_description d;

	describe(&site->query, &d);
	ac_policy_decide(ac_shim_get()->policy, &d.op, decision);
	if (decision->reason == AC_REASON_UNSUPPORTED
	    && site->query.device < 0)
		ac_decision_keep(decision, AC_REASON_NO_CONTEXT);
	if (decision->rung != AC_RUNG_KEEP)
		reason = objection(&site->query, decision);
	if (reason != AC_REASON_NONE)
		ac_decision_keep(decision, reason);
	site->record = ac_describe_decided(&d, decision);
}

/* See shim/site/sites.h. */
static struct ac_table_entry *
make(const void *query, struct ac_table_entry *there)
{
	const struct ac_rnn_site *was = (const struct ac_rnn_site *)there;
	struct ac_rnn_site anew = { .query = *(const struct ac_rnn_query *)query
	}, *site;

	decide(&anew);
	if (was && was->record == anew.record)
		return there;
	site = ac_mapped_take(sizeof *site);
	if (!site)
		return NULL;
	*site = anew;
	return &site->entry;
}

const struct ac_rnn_site *
ac_rnn_site_of(const struct ac_rnn_query *query)
{
	enum { BITS = 12 };
	static ac_table_slot slots[1 << BITS];
	static struct ac_sites sites = {
		{ slots, BITS, 1 << (BITS - 1), 0 }, make
	};

	_Static_assert(offsetof(struct ac_rnn_site, query)
	    == sizeof(struct ac_table_entry) && sizeof *query % 8 == 0,
	    "the query is the key");
	return (const struct ac_rnn_site *)ac_sites_find(&sites,
	    ac_table_hash(query, sizeof *query), query, sizeof *query);
}
