/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/cudnn_backend.c -- the five calls by which plans of cuDNN's graph
 * interface are built. What the program makes is noted (shim/graph/shadow.h);
 * asked for engines of an FP32 convolution that the policy recasts, the
 * heuristics name those that down-convert first (shim/conv/engine.h). Nothing
 * of how plans are run can be sampled, so policy/decide/ asks for guard=off. */
#include "shim/conv/conv_site.h"
#include "shim/conv/engine.h"
#include "shim/conv/engine_calls.h"
#include "shim/graph/shadow.h"

#include "api/region.h"
#include "shim/device/device.h"
#include "shim/graph/executed.h"
#include "shim/device/handle.h"
#include "shim/start/start.h"
#include "shim/bind/wrapper.h"

/* A call of GetAttribute, and who serves it. */
struct question {
	cudnnBackendDescriptor_t descriptor;
	cudnnBackendAttributeName_t name;
	cudnnBackendAttributeType_t type;
	int64_t requested, *count;
	void *values;
	struct ac_wrapped call;
};

/* Without an array it is only about how many there are. */
static bool
is_count_only(const struct question *question)
{
	return !question->values || question->requested < 1;
}

static cudnnStatus_t
pass_on(const struct question *question)
{
	return ORIGINAL(question->call, cudnnBackendGetAttribute)(
	    question->descriptor, question->name, question->type,
	    question->requested, question->count, question->values);
}

/* ---- The heuristics ------------------------------------------------------ */

/* A handle that is no more is on no device: then nothing is recast. */
static void
set_device(const struct ac_shadow_question *asked, struct ac_conv_query *query)
{
	const cudnnHandle_t handle = asked->has_properties
	    ? asked->properties_handle : asked->handle;

	query->device = -1;
	if (asked->has_properties && asked->sm)
		query->sm = asked->sm;
	else if (handle)
		query->device = ac_handle_find(handle)->device;
	else if (asked->has_properties)
		query->device = (int)asked->ordinal;
	else
		query->device = ac_device_current();
}

static const struct ac_conv_site *
site_of(const struct question *question,
    const struct ac_shadow_question *asked)
{
	struct ac_conv_query query = {
		.caller = (uintptr_t)question->call.caller,
		.entry = ENTRY_cudnnBackendGetAttribute,
		.math = CUDNN_DEFAULT_MATH,
		.region = ac_region_here(),
		.provider = (uintptr_t)question->call.binding.provider,
		.conv = *asked->conv
	};

	query.conv.x.uid = query.conv.w.uid = query.conv.y.uid = 0;
	for (unsigned i = 0; i < AC_CONV_STEPS; i++) {
		query.conv.step[i].other.uid = 0;
		query.conv.step[i].out.uid = 0;
	}
	set_device(asked, &query);
	return ac_conv_site_of(&query);
}

static enum ac_reason
objection(const struct ac_conv_site *site,
    const struct ac_shadow_question *asked)
{
	if (site->decision.rung == AC_RUNG_KEEP)
		return site->decision.reason;
	if (ac_shim_get()->environment_opted_out
	    && site->decision.respects_opt_out)
		return AC_REASON_OPTED_OUT;
	if (site->decision.rung != AC_RUNG_FP16)
		return AC_REASON_UNSUPPORTED;
	return ac_conv_objection(asked->conv);
}

/* Fill the program's own first descriptors. Returns how many are filled. */
static int64_t
fill(const struct question *question, const struct ac_shadow_question *asked,
    const struct ac_engine_device *device, cudnnBackendDescriptor_t graph,
    const struct ac_engines *engines)
{
	cudnnBackendDescriptor_t const *config = question->values;
	int64_t i;

	for (i = 0; i < (int64_t)engines->count && i < question->requested;
	     i++) {
		if (!config[i] || !ac_engine_configure(device, graph,
		    &engines->engine[i], config[i]))
			break;
		ac_shadow_inject(asked->graph, engines->engine[i].index,
		    config[i]);
	}
	return i;
}

/* What cuDNN has to say goes behind the first `filled`. */
static cudnnStatus_t
add_native(const struct question *question, int64_t filled)
{
	struct question rest = *question;
	cudnnStatus_t status;
	int64_t more = 0;

	rest.requested -= filled;
	rest.values = (cudnnBackendDescriptor_t *)question->values + filled;
	rest.count = &more;
	status = rest.requested ? pass_on(&rest) : CUDNN_STATUS_SUCCESS;
	if (status == CUDNN_STATUS_SUCCESS && question->count)
		*question->count = filled + more;
	return status;
}

/* *reason_out: AC_REASON_NONE if engines of ours are among the answers. */
static cudnnStatus_t
inject(const struct question *question, const struct ac_shadow_question *asked,
    int device, enum ac_reason *reason_out)
{
	struct ac_making making = {
		.provider = question->call.binding.provider
	};
	struct ac_engines engines = { .count = 0 };
	struct ac_engine_question about = {
		.device = { making.provider, asked->handle, NULL },
		.conv = asked->conv, .rung = AC_RUNG_FP16,
		.mode = asked->mode,
		.sm_count = asked->sm_count,
		.key = device < 0 ? asked->properties_key | UINT64_C(1) << 63
		    : ac_engine_key(device)
	};
	cudnnBackendDescriptor_t graph;
	cudnnStatus_t status;
	int64_t filled = 0;

	/* As cuDNN has them: the program's own may be destroyed. */
	graph = ac_making_new(&making, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	ac_making_get(&making, question->descriptor,
	    CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
	if (asked->has_properties) {
		about.device.properties = ac_making_new(&making,
		    CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
		ac_making_get(&making, question->descriptor,
		    CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
		    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &about.device.properties);
	}
	if (!making.is_refused)
		ac_engine_find(&about, graph, &engines);
	if (is_count_only(question)) {
		status = pass_on(question);
		/* None may mean that it does not answer such questions. */
		if (status == CUDNN_STATUS_SUCCESS && question->count
		    && *question->count > 0)
			*question->count += engines.count;
	} else {
		filled = fill(question, asked, &about.device, graph, &engines);
		status = filled ? add_native(question, filled)
		    : pass_on(question);
	}
	ac_making_end(&making, NULL);
	*reason_out = filled ? AC_REASON_NONE : AC_REASON_UNSUPPORTED;
	return status;
}

static bool
is_of_heuristics(cudnnBackendHeurMode_t mode)
{
	return mode == CUDNN_HEUR_MODE_A || mode == CUDNN_HEUR_MODE_B
	    || mode == CUDNN_HEUR_MODE_INSTANT;
}

/* Whichever of them the program makes plans of, those count when they run: for
 * the site of a question to heuristics, if there was one. */
static void
follow(const struct question *question, const struct ac_shadow_question *asked,
    const struct ac_conv_site *site, enum ac_reason reason)
{
	cudnnBackendDescriptor_t const *config = question->values;

	for (int64_t i = 0; question->count && i < *question->count
	    && i < question->requested; i++)
		if (config[i])
			ac_shadow_answer(asked->graph, config[i]);
	if (site)
		ac_shadow_count_for(asked->graph, site->record, reason);
	if (site && reason == AC_REASON_NONE)
		ac_shim_notice(&site->decision, AC_RUNG_FP16);
}

static cudnnStatus_t
ask_heuristics(const struct question *question)
{
	const struct ac_conv_site *site = NULL;
	struct ac_shadow_question asked;
	enum ac_reason reason;
	cudnnStatus_t status;

	if (question->type != CUDNN_TYPE_BACKEND_DESCRIPTOR
	    || !ac_shadow_ask(question->descriptor, &asked))
		return pass_on(question);
	if (is_of_heuristics(asked.mode))
		site = site_of(question, &asked);
	reason = site ? objection(site, &asked) : AC_REASON_NO_RULE;
	if (reason == AC_REASON_NONE)
		status = inject(question, &asked, site->query.device, &reason);
	else
		status = pass_on(question);
	if (!is_count_only(question) && status == CUDNN_STATUS_SUCCESS)
		follow(question, &asked, site, reason);
	ac_shadow_let_go(asked.graph);
	return status;
}

/* ---- Notes --------------------------------------------------------------- */

/* Programs that drop engines which down-convert asked for no other precision
 * than FP32: the user did, by the policy. Whether it is asked how many notes
 * there are, or which, it is one less. */
static cudnnStatus_t
ask_notes(const struct question *question)
{
	cudnnBackendNumericalNote_t notes[64], *to = question->values;
	struct question all = *question;
	int64_t count = 0, kept = 0;

	all.requested = 64;
	all.count = &count;
	all.values = notes;
	if (question->type != CUDNN_TYPE_NUMERICAL_NOTE || !question->count
	    || question->requested < 0
	    || !ac_shadow_is_injected(question->descriptor)
	    || pass_on(&all) != CUDNN_STATUS_SUCCESS || count > 64)
		return pass_on(question);
	for (int64_t i = 0; i < count; i++)
		if (notes[i] != CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)
			notes[kept++] = notes[i];
	for (int64_t i = 0; !is_count_only(question) && i < kept
	    && i < question->requested; i++)
		to[i] = notes[i];
	*question->count = kept;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- Wrappers ------------------------------------------------------------ */

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendCreateDescriptor)(
    cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *descriptor)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendCreateDescriptor);
	const cudnnStatus_t status = ORIGINAL(call,
	    cudnnBackendCreateDescriptor)(type, descriptor);

	/* The address may have been one's that went behind our back. */
	if (call.outermost && status == CUDNN_STATUS_SUCCESS) {
		ac_executed_drop(*descriptor);
		ac_shadow_create(*descriptor, type);
	}
	ac_wrapper_leave(&call);
	return status;
}

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendSetAttribute)(
    cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendSetAttribute);
	const cudnnStatus_t status = ORIGINAL(call, cudnnBackendSetAttribute)(
	    descriptor, name, type, count, values);

	if (call.outermost && status == CUDNN_STATUS_SUCCESS)
		ac_shadow_set(descriptor, name, type, count, values);
	ac_wrapper_leave(&call);
	return status;
}

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendFinalize)(
    cudnnBackendDescriptor_t descriptor)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendFinalize);
	const cudnnStatus_t status = ORIGINAL(call, cudnnBackendFinalize)(
	    descriptor);
	struct ac_site_record *record;
	enum ac_reason reason;

	if (call.outermost && status == CUDNN_STATUS_SUCCESS) {
		ac_shadow_finalize(descriptor);
		if (ac_shadow_plan(descriptor, &record, &reason))
			ac_executed_add(descriptor, record, reason);
	}
	ac_wrapper_leave(&call);
	return status;
}

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendDestroyDescriptor)(
    cudnnBackendDescriptor_t descriptor)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendDestroyDescriptor);
	cudnnStatus_t status;

	if (call.outermost) {
		ac_executed_drop(descriptor);
		ac_shadow_destroy(descriptor);
	}
	status = ORIGINAL(call, cudnnBackendDestroyDescriptor)(descriptor);
	ac_wrapper_leave(&call);
	return status;
}

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendGetAttribute)(
    cudnnBackendDescriptor_t const descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t requested, int64_t *count, void *values)
{
	const struct question question = {
		descriptor, name, type, requested, count, values,
		AC_ENTER(cudnnBackendGetAttribute)
	};
	const struct ac_wrapped *call = &question.call;
	const bool is_watched = call->outermost && call->binding.provider;
	cudnnStatus_t status;

	if (is_watched && name == CUDNN_ATTR_ENGINEHEUR_RESULTS)
		status = ask_heuristics(&question);
	else if (is_watched && name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE)
		status = ask_notes(&question);
	else
		status = pass_on(&question);
	if (is_watched && name == CUDNN_ATTR_ENGINECFG_ENGINE
	    && status == CUDNN_STATUS_SUCCESS && values && requested > 0)
		ac_shadow_read(descriptor,
		    *(cudnnBackendDescriptor_t *)values);
	ac_wrapper_leave(call);
	return status;
}
