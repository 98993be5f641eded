/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend_answer.c -- attributes of the graph
 * interface that are found out when they are asked for: heuristic results,
 * notes and knobs of engines, sizes. */
#include "emulator/cudnn/graph/cudnn_backend.h"

#include <stddef.h>
#include <string.h>

enum { KNOB_MOST = 3 };

static cudnnStatus_t
set_number(struct emu_body *body, int name, int type, int64_t number)
{
	const int small = (int)number;

	return emu_body_set(body, name, type, 1, emu_attribute_bytes(type) ==
	    sizeof number ? (const void *)&number : &small);
}

static cudnnStatus_t
set_child(struct emu_body *body, int name, struct emu_body *child)
{
	return child ? emu_body_set(body, name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
	    1, &child) : CUDNN_STATUS_SUCCESS;
}

/* A knob's type and value, or type and range; NULL: no memory. */
static struct emu_body *
make_knob(int descriptor, int knob, int value)
{
	struct emu_body *body = emu_body_new(descriptor);
	cudnnStatus_t status;

	if (!body)
		return NULL;
	if (descriptor == CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR) {
		status = set_number(body, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
		    CUDNN_TYPE_KNOB_TYPE, knob);
		if (!status)
			status = set_number(body,
			    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE,
			    CUDNN_TYPE_INT64, value);
	} else {
		status = set_number(body, CUDNN_ATTR_KNOB_INFO_TYPE,
		    CUDNN_TYPE_KNOB_TYPE, knob);
		for (int name = CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE;
		    !status && name <= CUDNN_ATTR_KNOB_INFO_STRIDE; name++)
			status = set_number(body, name, CUDNN_TYPE_INT64,
			    name == CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE
			    ? KNOB_MOST
			    : name == CUDNN_ATTR_KNOB_INFO_STRIDE);
	}
	body->is_final = true;
	if (status) {
		emu_body_drop(body);
		return NULL;
	}
	return body;
}

static cudnnStatus_t
add_knobs(struct emu_body *config, const struct emu_engine *engine,
    const struct emu_choice *choice)
{
	struct emu_body *knobs[2] = { NULL, NULL };
	cudnnStatus_t status =
	    CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;

	if (!engine->knobs)
		return CUDNN_STATUS_SUCCESS;
	for (int i = 0; i < engine->knobs; i++)
		knobs[i] = make_knob(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
		    engine->knob[i], choice->value[i]);
	if (knobs[0] && knobs[1])
		status = emu_body_set(config,
		    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
		    CUDNN_TYPE_BACKEND_DESCRIPTOR, engine->knobs, knobs);
	emu_body_drop(knobs[0]);
	emu_body_drop(knobs[1]);
	return status;
}

/* One result of the heuristics, in the program's descriptor. */
static cudnnStatus_t
give_choice(const struct emu_body *heuristic, const struct emu_choice *choice,
    cudnnBackendDescriptor_t descriptor)
{
	struct emu_body *engine = emu_body_new(
	    CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	struct emu_body *config = emu_body_new(
	    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	const struct emu_graph *graph;
	const struct emu_engine *found;
	cudnnStatus_t status =
	    CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;

	if (engine && config)
		status = set_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
		    emu_body_child(heuristic,
		    CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH));
	if (!status)
		status = set_child(engine, CUDNN_ATTR_ENGINE_DEVICEPROP,
		    emu_body_child(heuristic,
		    CUDNN_ATTR_ENGINEHEUR_DEVICEPROP));
	if (!status)
		status = set_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
		    CUDNN_TYPE_INT64, choice->index);
	if (!status) {
		engine->is_final = true;
		found = emu_engine_of(engine, &graph, &status);
		if (found)
			status = add_knobs(config, found, choice);
	}
	if (!status)
		status = set_child(config, CUDNN_ATTR_ENGINECFG_ENGINE,
		    engine);
	if (!status) {
		config->is_final = true;
		status = emu_backend_give(descriptor, config);
	}
	emu_body_drop(engine);
	emu_body_drop(config);
	return status;
}

static cudnnStatus_t
get_results(const struct emu_body *heuristic, int64_t requested,
    int64_t *count_out, cudnnBackendDescriptor_t *descriptors)
{
	const struct emu_body *graph = emu_body_child(heuristic,
	    CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
	struct emu_choice choices[EMU_CHOICES];
	cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
	int capability, count;
	bool has_tf32;

	if (!emu_engine_device(emu_body_child(heuristic,
	    CUDNN_ATTR_ENGINEHEUR_DEVICEPROP), graph, &capability, &has_tf32))
		return CUDNN_STATUS_NOT_INITIALIZED;
	count = emu_engine_choose(graph->graph, capability, has_tf32,
	    (cudnnBackendHeurMode_t)emu_body_number(heuristic,
	    CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_INSTANT), choices);
	if (descriptors && requested < count)
		count = (int)requested;
	for (int i = 0; descriptors && i < count && !status; i++)
		status = give_choice(heuristic, &choices[i], descriptors[i]);
	if (!status && count_out)
		*count_out = count;
	return status;
}

static cudnnStatus_t
get_notes(const struct emu_engine *engine, int64_t requested,
    int64_t *count_out, void *values)
{
	int64_t count = engine->notes;

	/* A request for none is a question how many. */
	if (values && requested && requested < count)
		count = requested;
	if (values && requested)
		memcpy(values, engine->note, (size_t)count * sizeof(int));
	if (count_out)
		*count_out = count;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t
get_knobs(const struct emu_engine *engine, int64_t requested,
    int64_t *count_out, cudnnBackendDescriptor_t *descriptors)
{
	int64_t count = engine->knobs;

	if (descriptors && requested < count)
		count = requested;
	for (int64_t i = 0; descriptors && i < count; i++) {
		struct emu_body *info = make_knob(
		    CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR, engine->knob[i], 0);
		cudnnStatus_t status =
		    CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;

		if (info)
			status = emu_backend_give(descriptors[i], info);
		emu_body_drop(info);
		if (status)
			return status;
	}
	if (count_out)
		*count_out = count;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t
get_number(int64_t number, int64_t requested, int64_t *count_out,
    void *values)
{
	if (values && requested > 0)
		memcpy(values, &number, sizeof number);
	if (count_out)
		*count_out = 1;
	return CUDNN_STATUS_SUCCESS;
}

/* The ENGINE that a body is about. */
static const struct emu_body *
engine_body(const struct emu_body *body)
{
	if (body->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
		body = emu_body_child(body,
		    CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
	if (body->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
		body = emu_body_child(body, CUDNN_ATTR_ENGINECFG_ENGINE);
	return body;
}

int
emu_engine_get(const struct emu_body *body, int name, int64_t requested,
    int64_t *count_out, void *values)
{
	const struct emu_engine *engine;
	const struct emu_graph *graph;
	cudnnStatus_t status;

	switch (name) {
	case CUDNN_ATTR_ENGINEHEUR_RESULTS:
		return (int)get_results(body, requested, count_out, values);
	case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
		return (int)get_number(EMU_ENGINES, requested, count_out,
		    values);
	case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
		return (int)emu_json_get(body, requested, count_out, values);
	case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
	case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
	case CUDNN_ATTR_ENGINE_KNOB_INFO:
	case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
	case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
		break;
	default:
		return -1;
	}
	engine = emu_engine_of(engine_body(body), &graph, &status);
	if (!engine)
		return (int)status;
	switch (name) {
	case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
		return (int)get_notes(engine, requested, count_out, values);
	case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
		if (count_out)
			*count_out = 0;
		return CUDNN_STATUS_SUCCESS;
	case CUDNN_ATTR_ENGINE_KNOB_INFO:
		return (int)get_knobs(engine, requested, count_out, values);
	default:
		return (int)get_number(emu_engine_workspace(engine, graph),
		    requested, count_out, values);
	}
}
