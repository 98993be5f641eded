/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_site.c -- sites of convolutions, and what the policy sees
 * of one. Everything but the look-up runs once per site. */
#include "shim/conv/conv_site.h"

#include "api/region.h"
#include "base/mapped.h"
#include "base/text.h"
#include "shim/site/describe.h"
#include "shim/device/device.h"
#include "shim/device/handle.h"
#include "shim/site/site.h"
#include "shim/start/start.h"

#include <cudnn.h>

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* Of a query: all that tells two sites apart where nothing was read. */
enum { UNREAD_BYTES = offsetof(struct ac_conv_query, algo) };

static bool
is_unread(const struct ac_conv_query *query)
{
	return query->math == AC_CONV_UNREAD;
}

/* The bytes of a query that tell two sites apart. Unused steps and scalars do
 * not. */
static size_t
key_bytes(const struct ac_conv_query *query)
{
	_Static_assert(offsetof(struct ac_conv_query, conv.step) % 8 == 0
	    && sizeof *query->conv.step % 8 == 0, "whole words");
	return offsetof(struct ac_conv_query, conv.step)
	    + (size_t)query->conv.steps * sizeof *query->conv.step;
}

/* ---- What the policy sees ------------------------------------------------ */

static bool
is_channels_last(const struct ac_conv *conv)
{
	int64_t space = 1;

	for (int i = 0; i < conv->space; i++)
		space *= conv->x.dim[2 + i];
	/* Of a single point it is both: then by default. */
	return conv->x.dim[1] > 1 && conv->x.stride[1] == 1 && space > 1;
}

static void
size_up(const struct ac_conv *conv, struct ac_conv_sizes *sizes)
{
	memset(sizes, 0, sizeof *sizes);
	sizes->n = conv->x.dim[0];
	sizes->cin = conv->x.dim[1];
	sizes->cout = conv->w.dim[0];
	sizes->groups = conv->w.dim[1] > 0 ? sizes->cin / conv->w.dim[1] : 1;
	sizes->spatial = (unsigned)conv->space;
	for (int i = 0; i < conv->space; i++) {
		sizes->image[i] = conv->x.dim[2 + i];
		sizes->out[i] = conv->y.dim[2 + i];
		sizes->filter[i] = (uint16_t)conv->w.dim[2 + i];
		sizes->stride[i] = (uint16_t)conv->stride[i];
		sizes->dilation[i] = (uint16_t)conv->dilation[i];
	}
}

/* What the arithmetic of the program's own call may be: cuDNN takes TF32 for
 * anything but FMA_MATH, where there is TF32 (doc/design.md D6). */
static const char *
asked_for(const struct ac_conv_query *query, int sm)
{
	if (ac_shim_get()->environment_opted_out
	    || query->math == CUDNN_FMA_MATH)
		return "opted-out";
	return sm >= 80 ? "tf32" : "fp32";
}

static void
add_extents(struct ac_text *text, const int64_t *extent, int count)
{
	for (int i = 0; i < count; i++)
		ac_text_addf(text, i ? "x%lld" : "%lld", (long long)extent[i]);
}

/* Once, where it is the same for all of space. */
static void
add_step(struct ac_text *text, const char *name, const int64_t *extent,
    int count)
{
	bool same = true;

	for (int i = 1; i < count; i++)
		same &= extent[i] == extent[0];
	ac_text_add(text, name);
	add_extents(text, extent, same ? 1 : count);
}

static void
describe_shape(struct ac_site_key *key, const struct ac_conv *conv,
    const struct ac_conv_sizes *sizes)
{
	struct ac_text text = AC_TEXT_IN(key->shape);

	ac_text_addf(&text, "n%lld c%lld ", (long long)sizes->n,
	    (long long)sizes->cin);
	add_extents(&text, sizes->image, conv->space);
	ac_text_addf(&text, " k%lld ", (long long)sizes->cout);
	add_extents(&text, conv->w.dim + 2, conv->space);
	add_step(&text, " s", conv->stride, conv->space);
	add_step(&text, " p", conv->pad, conv->space);
	add_step(&text, " d", conv->dilation, conv->space);
	ac_text_addf(&text, " g%lld %s", (long long)sizes->groups,
	    is_channels_last(conv) ? "nhwc" : "nchw");
	/* What has no room tells sites apart all the same. */
	if (text.truncated) {
		struct {
			struct ac_conv_sizes sizes;
			bool is_channels_last;
		} all;

		memset(&all, 0, sizeof all);
		all.sizes = *sizes;
		all.is_channels_last = is_channels_last(conv);
		ac_text_init(&text, key->shape + sizeof key->shape - 10, 10);
		ac_text_addf(&text, "#%08x", ac_text_hash(AC_TEXT_HASH_START,
		    &all, sizeof all));
	}
}

/* What the descriptors say. */
static void
describe_numbers(const struct ac_conv_query *query, int sm,
    struct ac_description *d)
{
	const struct ac_conv *conv = &query->conv;
	struct ac_conv_sizes sizes;

	size_up(conv, &sizes);
	ac_describe_asked(d, ac_conv_objection(conv) == AC_REASON_TYPE
	    ? "other" : "f32", asked_for(query, sm));
	describe_shape(&d->key, conv, &sizes);
	d->op.operation = conv->operation;
	ac_op_set_conv(&d->op, &sizes);
	d->key.m = (int64_t)d->op.quantity[AC_Q_M];
	d->key.n = (int64_t)d->op.quantity[AC_Q_N];
	d->key.k = (int64_t)d->op.quantity[AC_Q_K];
	d->key.batch = (int64_t)d->op.quantity[AC_Q_BATCH];
	d->op.fact[AC_FACT_LAYOUT] = is_channels_last(conv) ? "nhwc" : "nchw";
	d->op.fact[AC_FACT_EPILOGUE] = conv->steps ? "fused" : "none";
}

static void
describe(const struct ac_conv_query *query, struct ac_description *d)
{
	const struct ac_device *gpu = ac_device_get(query->device);

	ac_describe_begin(d, query->conv.operation,
	    (enum ac_entry)query->entry, query->caller);
	ac_describe_dnn(d, query->provider);
	if (is_unread(query)) {
		ac_describe_asked(d, "-", "-");
		memcpy(d->key.shape, AC_SHAPE_UNREAD, sizeof AC_SHAPE_UNREAD);
	} else {
		describe_numbers(query, gpu ? gpu->sm : 0, d);
	}
	ac_describe_end(d, query->region, query->device);
}

/* ---- Deciding ---------------------------------------------------------- */

/* Nothing makes cuDNN take TF32 where the environment forbids it. */
static void
leave_fp16(struct ac_decision *d)
{
	unsigned count = 0;

	for (unsigned i = 0; i < d->candidate_count; i++)
		if (d->candidate[i].rung == AC_RUNG_FP16)
			d->candidate[count++] = d->candidate[i];
	if (!count || (!d->judges_profit && d->rung != AC_RUNG_FP16)) {
		ac_decision_keep(d, AC_REASON_OPTED_OUT);
		return;
	}
	d->candidate_count = count;
	d->rung = d->candidate[0].rung;
	d->tactic = d->candidate[0].tactic;
	d->tol = d->candidate[0].tol;
}

static void
judge(const struct ac_conv_query *query, struct ac_description *description,
    struct ac_decision *decision)
{
	enum ac_reason reason;

	describe(query, description);
	ac_policy_decide(ac_shim_get()->policy, &description->op, decision);
	if (decision->rung == AC_RUNG_KEEP)
		return;
	reason = ac_conv_objection(&query->conv);
	if (reason != AC_REASON_NONE)
		ac_decision_keep(decision, reason);
	else if (ac_shim_get()->environment_opted_out)
		leave_fp16(decision);
}

void
ac_conv_site_ask(const struct ac_conv_query *query,
    struct ac_decision *decision_out)
{
	struct ac_description description;

	judge(query, &description, decision_out);
}

static void
decide(struct ac_conv_site *site)
{
	struct ac_description d;

	judge(&site->query, &d, &site->decision);
	site->record = ac_describe_decided(&d, &site->decision);
}

/* See shim/site/sites.h. */
static struct ac_table_entry *
make(const void *asked, struct ac_table_entry *there)
{
	const struct ac_conv_site *was = (const struct ac_conv_site *)there;
	const struct ac_conv_query *query = asked;
	struct ac_conv_site fresh = { .record = NULL }, *site;
	struct ac_site_record *record;

	if (is_unread(query)) {
		memcpy(&fresh.query, query, UNREAD_BYTES);
		fresh.query.conv.operation = query->conv.operation;
	} else {
		fresh.query = *query;
	}
	decide(&fresh);
	record = fresh.record;
	if (was && was->record == record)
		return there;
	site = ac_mapped_take(sizeof *site);
	if (!site)
		return NULL;
	atomic_store_explicit(&fresh.own_bytes, -1, memory_order_relaxed);
	*site = fresh;
	if (fresh.decision.rung != AC_RUNG_KEEP
	    && fresh.decision.guard != AC_GUARD_OFF)
		site->trial.variants = ac_variants_make(&site->decision,
		    record, ac_device_may_time(query->device), 0);
	return &site->entry;
}

static const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);

static uint64_t
hash_of_caller(const struct ac_conv_query *query)
{
	return ((uintptr_t)query->caller * odd + ((uint64_t)query->region << 32
	    ^ (uint32_t)query->device)) * odd;
}

/* Of the numbers that sites differ in by the dozen: extents, and the strides of
 * parts of larger tensors. To hash a whole query takes ten times as long as the
 * rest of the look-up. */
static uint64_t
hash_of(const struct ac_conv_query *query)
{
	const struct ac_conv *conv = &query->conv;
	uint64_t hash = hash_of_caller(query) ^ (uint32_t)query->algo;

	for (int i = 0; i < AC_CONV_DIMS; i++) {
		hash = (hash ^ (uint64_t)conv->x.dim[i]
		    ^ (uint64_t)conv->x.stride[i] << 24) * odd;
		hash = (hash ^ (uint64_t)conv->y.dim[i]
		    ^ (uint64_t)conv->y.stride[i] << 24) * odd;
	}
	hash = (hash ^ (uint64_t)conv->w.dim[0]) * odd;
	return (hash ^ (uint64_t)conv->w.dim[2]) * odd;
}

/* The look at its first slot is most of what a kept call costs. */
static inline __attribute__((always_inline)) struct ac_conv_site *
look_up(const struct ac_conv_query *query, uint64_t hash, size_t bytes)
{
	enum { BITS = 14 };
	static ac_table_slot slots[1 << BITS];
	static struct ac_sites sites = {
		{ slots, BITS, 1 << (BITS - 1), 0 }, make
	};
	struct ac_table_entry *first = ac_table_at(&slots[hash >> (64 - BITS)]);

	_Static_assert(offsetof(struct ac_conv_site, query)
	    == sizeof(struct ac_table_entry), "the query is the key");
	if (first && atomic_load_explicit(&first->generation,
	    memory_order_relaxed) == atomic_load_explicit(
	    &ac_binding_generation, memory_order_acquire)
	    && !memcmp(first + 1, query, bytes))
		return (struct ac_conv_site *)first;
	return (struct ac_conv_site *)ac_sites_find(&sites, hash, query, bytes);
}

struct ac_conv_site *
ac_conv_site_of(const struct ac_conv_query *query)
{
	return look_up(query, hash_of(query), key_bytes(query));
}

bool
ac_conv_is_kept(enum ac_entry entry, const void *caller,
    struct ac_provider *provider, cudnnHandle_t handle,
    enum ac_operation operation)
{
	struct ac_conv_query query;
	struct ac_conv_site *site;

	if (!provider || !ac_policy_is_off(ac_shim_get()->policy))
		return false;
	query.caller = caller;
	query.provider = provider;
	query.entry = entry;
	query.device = ac_handle_find(handle)->device;
	query.region = ac_region_here();
	query.math = AC_CONV_UNREAD;
	query.conv.operation = (int32_t)operation;
	site = look_up(&query, hash_of_caller(&query), UNREAD_BYTES);
	if (site)
		ac_report_count_decided(site->record);
	return site;
}

bool
ac_conv_site_admits(struct ac_conv_site *site, const struct ac_conv *conv)
{
	enum { NONE, BEING_SET, SET };
	struct ac_conv_scalars *scalars = &site->query.conv.scalars;
	uint32_t state = atomic_load_explicit(&site->scalars,
	    memory_order_acquire);

	if (conv->scales && state == NONE
	    && atomic_compare_exchange_strong_explicit(&site->scalars, &state,
	    BEING_SET, memory_order_acquire, memory_order_acquire)) {
		*scalars = conv->scalars;
		state = SET;
		atomic_store_explicit(&site->scalars, state,
		    memory_order_release);
	}
	return !conv->scales
	    || (state == SET && ac_conv_has_scalars(conv, scalars));
}
