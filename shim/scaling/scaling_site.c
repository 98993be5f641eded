/* SPDX-License-Identifier: Apache-2.0 */
/* shim/scaling/scaling_site.c -- what the policy's seed and update lines say of
 * a call on vectors. Everything but the look-up runs once per site. */
#include "shim/scaling/scaling.h"

#include "api/region.h"
#include "base/mapped.h"
#include "base/text.h"
#include "shim/site/describe.h"
#include "shim/device/handle.h"
#include "shim/site/sites.h"
#include "shim/start/start.h"

#include <string.h>

struct query {
	uint64_t caller, n;
	uint64_t entry;                  /* and device, provider's slot,
	                                  * region */
	/* Does not tell sites apart. */
	const struct ac_scaling_call *call;
};
enum { QUERY_BYTES = offsetof(struct query, call) };

struct site {
	struct ac_table_entry  entry;
	struct query           query;
	struct ac_scaling_site site;
};

static void
describe(const struct query *query, struct ac_description *d)
{
	const struct ac_scaling_call *call = query->call;

	/* None of the operations that are recast. */
	ac_describe_begin(d, AC_OP_COUNT, call->entry, call->caller);
	ac_describe_library(d, call->handle, call->provider);
	ac_describe_end(d, (uint32_t)(query->entry >> 32),
	    ac_handle_find(call->handle)->device);
	d->op.place = d->key.caller;
	ac_op_set(&d->op, AC_Q_N, (double)call->n);
}

static void
decide(const struct query *query, struct ac_scaling_site *site)
{
	struct ac_description d;
	struct ac_text text;

	describe(query, &d);
	memset(site, 0, sizeof *site);
	site->kind = ac_policy_scaling(ac_shim_get()->policy, &d.op, NULL);
	ac_text_init(&text, site->caller, sizeof site->caller);
	ac_text_add(&text, d.key.caller);
}

static struct ac_table_entry *
make(const void *asked, struct ac_table_entry *there)
{
	const struct query *query = asked;
	struct site *site = (struct site *)there;
	struct ac_scaling_site decided;

	decide(query, &decided);
	if (site && !memcmp(&site->site, &decided, sizeof decided))
		return there;
	site = ac_mapped_take(sizeof *site);
	if (!site)
		return NULL;
	site->query = *query;
	site->query.call = NULL;
	site->site = decided;
	return &site->entry;
}

const struct ac_scaling_site *
ac_scaling_site_of(struct ac_scaling_call *call)
{
	enum { BITS = 12 };
	static ac_table_slot slots[1 << BITS];
	static struct ac_sites sites = {
		{ slots, BITS, 1 << (BITS - 1), 0 }, make
	};
	const struct query query = {
		.caller = (uint64_t)(uintptr_t)call->caller,
		.n = (uint64_t)call->n,
		.entry = (uint64_t)call->entry
		    | (uint64_t)ac_region_here() << 32
		    | (uint64_t)(uint8_t)ac_handle_find(call->handle)->device
		    << 8 | (call->provider
		    ? (uint64_t)ac_provider_slot(call->provider) << 16 : 0),
		.call = call
	};
	const struct site *stored = (const struct site *)ac_sites_find(&sites,
	    ac_table_hash(&query, QUERY_BYTES), &query, QUERY_BYTES);
	const struct ac_scaling_site *site = &call->scratch;

	if (stored)
		site = &stored->site;
	else
		decide(&query, &call->scratch);
	return site;
}
