/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/plan.c -- plans by address (shim/graph/plan.h). */
#include "shim/graph/plan.h"

#include "shim/conv/engine.h"
#include "shim/conv/builder.h"
#include "shim/device/place.h"
#include "shim/graph/shadow.h"
#include "shim/graph/stored.h"
#include "shim/start/start.h"

#include <string.h>

enum { BITS = 16, TEXT = 8192 };
static _Atomic(struct ac_addressed *) rows[1 << BITS];
const struct ac_by_address ac_plans = { rows, BITS,
	sizeof(struct ac_plan) };

/* ---- Roles --------------------------------------------------------------- */

/* A sum with a tensor like y, one with a bias, in any order, then ReLU: what
 * the sample can compute again. *roles: those found, by bit. */
static bool
read_step(struct ac_conv *conv, int32_t i, struct ac_conv_uids *uids,
    unsigned *roles)
{
	struct ac_conv_step *step = &conv->step[i];
	const bool is_last = i + 1 == conv->steps;
	int64_t role = AC_CONV_Z;

	if (conv->scalars.alpha1[i] != 1 || step->is_clipped
	    || !ac_conv_is_like(&step->out, &conv->y, false)
	    || (step->out.is_virtual != 0) == is_last)
		return false;
	if (step->mode == CUDNN_POINTWISE_RELU_FWD)
		return is_last;
	if (ac_conv_is_like(&step->other, &conv->y, true)
	    && step->other.stride[1] == 1 && conv->scalars.alpha2[i] == 1
	    && !(*roles >> AC_CONV_BIAS & 1))
		role = AC_CONV_BIAS;
	if (step->mode != CUDNN_POINTWISE_ADD || step->other.is_virtual
	    || *roles >> role & 1 || (role == AC_CONV_Z
	    && !ac_conv_is_like(&step->other, &conv->y, false)))
		return false;
	*roles |= 1u << role;
	uids->of[role - 1] = step->other.uid;
	step->other.uid = role;
	conv->scales |= conv->scalars.alpha2[i] != 1;
	return true;
}

/* Give the tensors their roles for unique ids. */
static void
assign_roles(struct ac_conv *conv, struct ac_conv_uids *uids)
{
	const struct ac_conv_tensor *last = conv->steps
	    ? &conv->step[conv->steps - 1].out : &conv->y;
	unsigned roles = 0;

	*uids = (struct ac_conv_uids){ { conv->x.uid, conv->w.uid,
		last->uid } };
	conv->scales = conv->scalars.alpha != 1;
	if (conv->x.is_virtual || conv->w.is_virtual
	    || (conv->y.is_virtual != 0) != (conv->steps > 0)
	    || (conv->steps && conv->operation != AC_OP_CONV_FPROP))
		conv->has_more = 1;
	for (int32_t i = 0; i < conv->steps; i++)
		if (!read_step(conv, i, uids, &roles))
			conv->has_more = 1;
	conv->x.uid = AC_CONV_X;
	conv->w.uid = AC_CONV_W;
	conv->y.uid = conv->steps ? AC_CONV_VIRTUAL : AC_CONV_Y;
	for (int32_t i = 0; i < conv->steps; i++)
		conv->step[i].out.uid = i + 1 == conv->steps ? AC_CONV_Y
		    : AC_CONV_VIRTUAL + 1 + i;
}

/* ---- Plans --------------------------------------------------------------- */

static bool
is_capturing(struct ac_provider *provider, cudnnHandle_t handle)
{
	__typeof__(&cudnnGetStream) get_stream = PROVIDER(provider,
	    cudnnGetStream);
	struct ac_place place;
	cudaStream_t stream;

	return !handle || !get_stream || get_stream(handle, &stream)
	    || ac_place_on(stream, ac_handle_find(handle)->device, &place)
	    != AC_REASON_NONE || place.capture;
}

/* A program that refuses TF32 takes an engine without Tensor Cores though
 * cuDNN names one with them first: PyTorch's allow_tf32=False does just that.
 * Inside a capture, which no question may disturb, what is not known is a
 * refusal. */
static void
read_engine(cudnnBackendDescriptor_t descriptor, struct ac_provider *provider,
    cudnnHandle_t handle, struct ac_plan *plan)
{
	bool on_tensor_cores = false;
	struct ac_engine engine;

	if (!ac_engine_of_plan(provider, descriptor, &engine,
	    &on_tensor_cores))
		memset(&engine, 0, sizeof engine);
	plan->content = ac_table_hash(&engine, sizeof engine) | 1;
	if (!on_tensor_cores && (is_capturing(provider, handle)
	    || ac_engine_is_first_on_tensor_cores(provider, descriptor)))
		plan->query.math = CUDNN_FMA_MATH;
}

/* Of a plan that was loaded from JSON, cuDNN has the text. One that is longer
 * than it writes of such a graph is not read. */
static bool
read_stored(cudnnBackendDescriptor_t descriptor, struct ac_provider *provider,
    struct ac_conv *conv, cudnnHandle_t *handle)
{
	struct ac_builder builder = { .provider = provider };
	char text[TEXT];
	int64_t length;

	if (!ac_shadow_is_stored(descriptor, handle))
		return false;
	length = ac_builder_get(&builder, descriptor,
	    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
	    TEXT - 1, text);
	if (length <= 0 || length >= TEXT)
		return false;
	text[length] = '\0';
	return ac_stored_read(text, conv);
}

void
ac_plan_add(cudnnBackendDescriptor_t descriptor, struct ac_provider *provider)
{
	struct ac_builder builder = { .provider = provider };
	struct ac_plan *plan;
	cudnnHandle_t handle;
	struct ac_conv conv;
	int64_t bytes = 0;

	if (!provider || (!ac_shadow_plan(descriptor, &conv, &handle)
	    && !read_stored(descriptor, provider, &conv, &handle)))
		return;
	plan = ac_by_address_take(&ac_plans, descriptor);
	if (!plan)
		return;
	memset(&plan->query, 0, sizeof plan->query);
	atomic_store_explicit(&plan->site, NULL, memory_order_relaxed);
	plan->query.entry = ENTRY_cudnnBackendExecute;
	plan->query.provider = provider;
	plan->query.math = CUDNN_DEFAULT_MATH;
	plan->query.conv = conv;
	assign_roles(&plan->query.conv, &plan->query.uids);
	ac_builder_get(&builder, descriptor,
	    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
	    &bytes);
	plan->bytes = bytes > 0 ? (size_t)bytes : 0;
	if (!ac_policy_is_off(ac_shim_get()->policy)
	    && ac_conv_objection(&plan->query.conv) == AC_REASON_NONE)
		read_engine(descriptor, provider, handle, plan);
	ac_by_address_set(&plan->note, descriptor);
}

void
ac_plan_drop(cudnnBackendDescriptor_t descriptor)
{
	struct ac_plan *plan = ac_plan_find(descriptor);

	if (plan)
		ac_by_address_set(&plan->note, NULL);
}

struct ac_conv_site *
ac_plan_find_site(struct ac_plan *plan, const void *caller, int32_t device)
{
	struct ac_conv_query query = plan->query;
	struct ac_conv_site *site;

	query.caller = caller;
	query.region = ac_region_here();
	query.device = device;
	site = ac_conv_site_of(&query);
	atomic_store_explicit(&plan->site, site, memory_order_release);
	return site;
}
