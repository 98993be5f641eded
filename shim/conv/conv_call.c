/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_call.c -- whether this very convolution of the older interface
 * may be recast. */
#include "shim/conv/conv_call.h"

#include "api/region.h"
#include "shim/bind/marker.h"
#include "shim/device/handle.h"

#include <stddef.h>
#include <string.h>

/* ---- What only this very call can tell --------------------------------- */

static bool
is_fit(const struct ac_conv_call *call, struct ac_conv_site *site)
{
	return ac_handle_find(call->handle)->provider == call->provider
	    && call->x && call->w && call->y && call->alpha
	    && *call->alpha != 0 && ac_conv_is_good(call, &site->own_bytes);
}

/* ---- Entry points ------------------------------------------------------ */

bool
ac_conv_query_of(const struct ac_conv_call *call, struct ac_conv_query *query)
{
	cudnnMathType_t math = CUDNN_DEFAULT_MATH;

	memset(query, 0, offsetof(struct ac_conv_query, conv));
	query->uids = ac_conv_roles;
	if (!call->provider || !call->handle
	    || !ac_conv_of_call(call, &query->conv, &math))
		return false;
	query->caller = call->caller;
	query->entry = call->entry;
	query->device = ac_handle_find(call->handle)->device;
	query->math = (int32_t)math;
	query->algo = call->algo;
	query->region = ac_region_here();
	query->provider = call->provider;
	return true;
}

/* NULL unless a step reads it. */
static const void *
z_of(const struct ac_conv_call *call, const struct ac_conv *conv)
{
	for (int32_t i = 0; i < conv->steps; i++)
		if (conv->step[i].other.uid == AC_CONV_Z)
			return call->z;
	return NULL;
}

static enum ac_outcome
recast(const struct ac_conv_call *call, const struct ac_conv *conv,
    struct ac_conv_site *site, struct ac_kept *kept_out)
{
	const struct ac_conv_run run = {
		.handle = call->handle, .workspace = call->workspace,
		.bytes = call->bytes, .data = { { call->x, call->w, call->y,
		z_of(call, conv), call->bias } }
	};

	if (is_fit(call, site))
		return ac_conv_conduct(&run, conv, site, kept_out);
	ac_report_count(site->record, AC_REASON_UNSUPPORTED);
	return AC_OUTCOME_KEPT;
}

enum ac_outcome
ac_conv_recast(const struct ac_conv_call *call, struct ac_kept *kept_out)
{
	struct ac_conv_query query;
	struct ac_conv_site *site = ac_conv_query_of(call, &query)
	    ? ac_conv_site_of(&query) : NULL;
	/* Of no kind that a site describes, or of one site too many. */
	if (!site) {
		ac_marker_count(call->entry);
		return AC_OUTCOME_KEPT;
	}
	if (site->decision.rung == AC_RUNG_KEEP) {
		ac_report_count_decided(site->record);
		return AC_OUTCOME_KEPT;
	}
	return recast(call, &query.conv, site, kept_out);
}
