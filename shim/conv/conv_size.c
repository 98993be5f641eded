/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_size.c -- how much workspace plans need, for programs that ask
 * before there are any (conv-workspace=advertise): measured once, by making
 * one. */
#include "shim/conv/conv_plan.h"

#include "base/mapped.h"
#include "shim/device/place.h"
#include "shim/site/sites.h"
#include "shim/start/start.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* Whatever differs in no byte before `handle` needs as much. */
struct need_query {
	uint64_t       provider;
	int32_t        device;
	uint32_t       rung;
	struct ac_conv conv;
	cudnnHandle_t  handle;          /* to ask on */
};

struct need {
	struct ac_table_entry entry;
	struct need_query     query;
	_Atomic size_t        bytes;
};

static struct ac_table_entry *
make(const void *from, struct ac_table_entry *there)
{
	const struct need_query *query = from;
	struct need *need = there ? (struct need *)there
	    : ac_mapped_take(sizeof *need);

	if (!need)
		return NULL;
	if (!there)
		need->query = *query;
	atomic_store(&need->bytes, ac_conv_plan_measure(
	    (struct ac_provider *)(uintptr_t)query->provider, query->handle,
	    &query->conv, (enum ac_rung)query->rung));
	return &need->entry;
}

static size_t
need_of(const struct ac_conv_query *of, cudnnHandle_t handle,
    enum ac_rung rung)
{
	enum { BITS = 12, KEY = offsetof(struct need_query, handle) };
	static ac_table_slot slots[1 << BITS];
	static struct ac_sites needs = {
		{ slots, BITS, 1 << (BITS - 1), 0 }, make
	};
	struct need_query query;
	const struct need *need;

	memset(&query, 0, sizeof query);
	query.provider = of->provider;
	query.device = of->device;
	query.rung = (uint32_t)rung;
	query.conv = of->conv;
	query.handle = handle;
	need = (const struct need *)ac_sites_find(&needs,
	    ac_table_hash(&query, KEY), &query, KEY);
	return need ? atomic_load(&need->bytes) : ac_conv_plan_measure(
	    (struct ac_provider *)(uintptr_t)of->provider, handle, &of->conv,
	    rung);
}

size_t
ac_conv_advertise(const struct ac_conv_call *call)
{
	__typeof__(&cudnnGetStream) get_stream = call->provider
	    ? PROVIDER(call->provider, cudnnGetStream) : NULL;
	struct ac_conv_query query;
	struct ac_decision decision;
	struct ac_place place;
	cudaStream_t stream;
	size_t most = 0;

	if (ac_policy_is_off(ac_shim_policy()) ||
	    !ac_conv_query_of(call, &query))
		return 0;
	ac_conv_site_ask(&query, &decision);
	if (decision.rung == AC_RUNG_KEEP || !decision.advertises_workspace
	    || !get_stream || get_stream(call->handle, &stream)
	    || ac_place_on(stream, query.device, &place) != AC_REASON_NONE
	    || place.capture)
		return 0;
	for (unsigned i = 0; i < decision.candidate_count; i++) {
		const size_t bytes = need_of(&query, call->handle,
		    decision.candidate[i].rung);

		if (bytes > most)
			most = bytes;
	}
	return most;
}
