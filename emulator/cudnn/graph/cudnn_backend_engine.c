/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend_engine.c -- the engines of the graph
 * interface: which there are for a graph on a device, what is noted of them,
 * which of them the heuristics name.
 *
 * As in cuDNN 9.19 (measured without a GPU): engines that convert FP32 tensors
 * to FP16 exist under the indices that the heuristics name for the graph's
 * FP16 twin, and are named for no FP32 graph; a device of compute capability
 * 10 has none that a twin would name; neither has conv + relu alone.
 *
 * Not measured: on a GPU that is there, cuDNN may have engines of that
 * architecture alone, and name many settings of one before all others. So 69
 * is before the engines that convert. */
#include "emulator/cudnn/graph/cudnn_backend.h"

#include <stdlib.h>
#include <string.h>

#define NOTE(x) CUDNN_NUMERICAL_NOTE_##x
#define KNOBS .knobs = 2, .knob = { CUDNN_KNOB_TYPE_TILE_SIZE,            \
	CUDNN_KNOB_TYPE_IDX_MODE }

/* One row per engine and the type of graph it is for. */
static const struct row {
	struct emu_engine engine;
	cudnnDataType_t   type;
	int               least, most; /* compute capability */
} rows[] = {
	{ { .index = 0, .arithmetic = EMU_FP32, .notes = 1,
	    .note = { NOTE(STRICT_NAN_PROP) } }, CUDNN_DATA_FLOAT, 0, 999 },
	{ { .index = 1, .arithmetic = EMU_FP32 }, CUDNN_DATA_FLOAT, 0, 999 },
	{ { .index = 4, .arithmetic = EMU_FP32, .notes = 1,
	    .note = { NOTE(WINOGRAD) } }, CUDNN_DATA_FLOAT, 0, 999 },
	{ { .index = 5, .arithmetic = EMU_FP32, .notes = 1,
	    .note = { NOTE(NONDETERMINISTIC) } }, CUDNN_DATA_FLOAT, 0, 999 },
	{ { .index = 67, .arithmetic = EMU_TF32, .notes = 1,
	    .note = { NOTE(TENSOR_CORE) }, KNOBS }, CUDNN_DATA_FLOAT, 80,
	    999 },
	{ { .index = 62, .arithmetic = EMU_FP16, .round_output = true,
	    .notes = 2, .note = { NOTE(TENSOR_CORE),
	    NOTE(DOWN_CONVERT_INPUTS) }, KNOBS }, CUDNN_DATA_FLOAT, 75, 99 },
	{ { .index = 45, .arithmetic = EMU_FP16, .round_output = true,
	    .notes = 2, .note = { NOTE(TENSOR_CORE),
	    NOTE(DOWN_CONVERT_INPUTS) }, KNOBS }, CUDNN_DATA_FLOAT, 75, 99 },
	{ { .index = 63, .arithmetic = EMU_FP16, .round_output = true,
	    .notes = 3, .note = { NOTE(TENSOR_CORE), NOTE(DOWN_CONVERT_INPUTS),
	    NOTE(REDUCED_PRECISION_REDUCTION) }, KNOBS }, CUDNN_DATA_FLOAT,
	    75, 99 },
	{ { .index = 64, .arithmetic = EMU_FP16, .round_output = true,
	    .notes = 3, .note = { NOTE(TENSOR_CORE), NOTE(DOWN_CONVERT_INPUTS),
	    NOTE(NONDETERMINISTIC) }, KNOBS }, CUDNN_DATA_FLOAT, 75, 99 },
	{ { .index = 62, .arithmetic = EMU_FP16, .notes = 1,
	    .note = { NOTE(TENSOR_CORE) }, KNOBS }, CUDNN_DATA_HALF, 75, 99 },
	{ { .index = 45, .arithmetic = EMU_FP16, .notes = 1,
	    .note = { NOTE(TENSOR_CORE) }, KNOBS }, CUDNN_DATA_HALF, 75, 99 },
	{ { .index = 63, .arithmetic = EMU_FP16, .notes = 2,
	    .note = { NOTE(TENSOR_CORE), NOTE(REDUCED_PRECISION_REDUCTION) },
	    KNOBS }, CUDNN_DATA_HALF, 75, 99 },
	{ { .index = 64, .arithmetic = EMU_FP16, .notes = 2,
	    .note = { NOTE(TENSOR_CORE), NOTE(NONDETERMINISTIC) }, KNOBS },
	    CUDNN_DATA_HALF, 75, 99 },
	{ { .index = 69, .arithmetic = EMU_FP16, .notes = 1,
	    .note = { NOTE(TENSOR_CORE) }, KNOBS }, CUDNN_DATA_HALF, 90, 99 },
	{ { .index = 70, .arithmetic = EMU_FP16, .notes = 1,
	    .note = { NOTE(TENSOR_CORE) }, KNOBS }, CUDNN_DATA_HALF, 100,
	    999 },
	{ { .index = 1, .arithmetic = EMU_FP32 }, CUDNN_DATA_HALF, 0, 999 },
	{ { .index = 62, .arithmetic = EMU_BF16, .notes = 1,
	    .note = { NOTE(TENSOR_CORE) }, KNOBS }, CUDNN_DATA_BFLOAT16, 80,
	    999 },
	{ { .index = 0, .arithmetic = EMU_FP64 }, CUDNN_DATA_DOUBLE, 0, 999 },
};

/* What the heuristics name, best first; what a device or a graph lacks is left
 * out. Mode B sees the first two of each type the other way round. */
static const struct named {
	cudnnDataType_t type;
	bool is_fallback;
	struct emu_choice choice;
} named[] = {
	{ CUDNN_DATA_FLOAT, false, { 67, { 2, 1 } } },
	{ CUDNN_DATA_FLOAT, false, { 67, { 0, 0 } } },
	{ CUDNN_DATA_FLOAT, false, { 1, { 0, 0 } } },
	{ CUDNN_DATA_FLOAT, false, { 4, { 0, 0 } } },
	{ CUDNN_DATA_FLOAT, false, { 5, { 0, 0 } } },
	{ CUDNN_DATA_FLOAT, true, { 1, { 0, 0 } } },
	{ CUDNN_DATA_FLOAT, true, { 0, { 0, 0 } } },
	{ CUDNN_DATA_HALF, false, { 69, { 0, 0 } } },
	{ CUDNN_DATA_HALF, false, { 69, { 0, 1 } } },
	{ CUDNN_DATA_HALF, false, { 69, { 0, 2 } } },
	{ CUDNN_DATA_HALF, false, { 69, { 1, 0 } } },
	{ CUDNN_DATA_HALF, false, { 69, { 1, 1 } } },
	{ CUDNN_DATA_HALF, false, { 69, { 1, 2 } } },
	{ CUDNN_DATA_HALF, false, { 69, { 2, 0 } } },
	{ CUDNN_DATA_HALF, false, { 69, { 2, 1 } } },
	{ CUDNN_DATA_HALF, false, { 62, { 3, 1 } } },
	{ CUDNN_DATA_HALF, false, { 45, { 1, 0 } } },
	{ CUDNN_DATA_HALF, false, { 63, { 2, 0 } } },
	{ CUDNN_DATA_HALF, false, { 64, { 2, 1 } } },
	{ CUDNN_DATA_HALF, false, { 70, { 1, 1 } } },
	{ CUDNN_DATA_HALF, false, { 1, { 0, 0 } } },
	{ CUDNN_DATA_HALF, true, { 1, { 0, 0 } } },
	{ CUDNN_DATA_BFLOAT16, false, { 62, { 1, 1 } } },
	{ CUDNN_DATA_DOUBLE, false, { 0, { 0, 0 } } },
	{ CUDNN_DATA_DOUBLE, true, { 0, { 0, 0 } } },
};

/* "deviceVer": 900 is 9.0. */
static int
read_capability(const struct emu_value *json)
{
	static const char key[] = "\"deviceVer\"";
	const char *at = memmem(json->at.bytes, (size_t)json->count, key,
	    sizeof key - 1);
	const char *end = (const char *)json->at.bytes + json->count;
	int number = 0;

	if (!at)
		return 0;
	for (at += sizeof key - 1; at < end && (*at == ' ' || *at == ':');)
		at++;
	for (; at < end && *at >= '0' && *at <= '9' && number < 10000; at++)
		number = number * 10 + (*at - '0');
	return number / 10;
}

static bool
device_of(cudnnHandle_t handle, int64_t id, int *capability_out,
    bool *has_tf32_out)
{
	const struct emu_model *model;
	int device = (int)id;

	if (handle ? emu_dnn_check(handle) : (cudnnStatus_t)emu_device_enter())
		return false;
	if (handle)
		device = handle->base.device;
	else if (id < 0)
		device = emu_context_device();
	if (!emu_device_exists(device))
		return false;
	model = emu_device_model(device);
	*capability_out = model->major * 10 + model->minor;
	*has_tf32_out = emu_device_has_tf32(device);
	return true;
}

static cudnnHandle_t
handle_of(const struct emu_body *body, int name)
{
	const struct emu_value *value = body ? emu_body_find(body, name)
	    : NULL;

	return value ? value->at.pointer[0] : NULL;
}

bool
emu_engine_device(const struct emu_body *properties,
    const struct emu_body *graph, int *capability_out, bool *has_tf32_out)
{
	const struct emu_value *json = properties ? emu_body_find(properties,
	    CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION) : NULL;

	if (json) {
		*capability_out = read_capability(json);
		*has_tf32_out = *capability_out >= 80;
		return *capability_out > 0;
	}
	if (properties)
		return device_of(handle_of(properties,
		    CUDNN_ATTR_DEVICEPROP_HANDLE),
		    emu_body_number(properties,
		    CUDNN_ATTR_DEVICEPROP_DEVICE_ID, -1), capability_out,
		    has_tf32_out);
	return device_of(handle_of(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE),
	    -1, capability_out, has_tf32_out);
}

/* All tensors in memory of one type: that one, else -1. */
static int
type_of(const struct emu_graph *g)
{
	const struct emu_edge *edges[EMU_GRAPH_TENSORS] = { &g->x, &g->w,
		&g->y };
	int count = 3, type = -1;

	if (!g->is_convolution)
		return -1;
	for (int i = 0; i < g->steps; i++) {
		edges[count++] = &g->step[i].out;
		if (g->step[i].other.tensor.dims)
			edges[count++] = &g->step[i].other;
	}
	for (int i = 0; i < count; i++) {
		if (edges[i]->is_virtual)
			continue;
		if (type >= 0 && type != (int)edges[i]->tensor.type)
			return -1;
		type = (int)edges[i]->tensor.type;
	}
	return type == CUDNN_DATA_DOUBLE ||
	    g->compute == CUDNN_DATA_FLOAT ? type : -1;
}

/* conv, or conv[+add]+bias[+relu]: what ready-made FP16 kernels fuse. */
static bool
is_ready_made(const struct emu_graph *g)
{
	for (int i = 0; i < g->steps; i++)
		if (g->step[i].mode != CUDNN_POINTWISE_ADD &&
		    (g->step[i].mode != CUDNN_POINTWISE_RELU_FWD || !i ||
		    i + 1 < g->steps))
			return false;
	return true;
}

static bool
converts(const struct emu_engine *engine)
{
	for (int i = 0; i < engine->notes; i++)
		if (engine->note[i] == NOTE(DOWN_CONVERT_INPUTS))
			return true;
	return false;
}

const struct emu_engine *
emu_engine_find(const struct emu_graph *graph, int capability, bool has_tf32,
    int64_t index, cudnnStatus_t *status_out)
{
	const int type = type_of(graph);

	*status_out = CUDNN_STATUS_NOT_SUPPORTED;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct emu_engine *e = &rows[i].engine;

		if (e->index != index || (int)rows[i].type != type ||
		    (converts(e) && !is_ready_made(graph)))
			continue;
		if (capability < rows[i].least || capability > rows[i].most ||
		    (e->arithmetic == EMU_TF32 && !has_tf32)) {
			*status_out = CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH;
			return NULL;
		}
		*status_out = CUDNN_STATUS_SUCCESS;
		return e;
	}
	return NULL;
}

int
emu_engine_choose(const struct emu_graph *graph, int capability, bool has_tf32,
    cudnnBackendHeurMode_t mode, struct emu_choice choices[EMU_CHOICES])
{
	const int type = type_of(graph);
	cudnnStatus_t status;
	int count = 0;

	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		if ((int)named[i].type == type && named[i].is_fallback ==
		    (mode == CUDNN_HEUR_MODE_FALLBACK) &&
		    emu_engine_find(graph, capability, has_tf32,
		    named[i].choice.index, &status))
			choices[count++] = named[i].choice;
	if (mode == CUDNN_HEUR_MODE_B && count > 1 &&
	    type != CUDNN_DATA_DOUBLE) {
		const struct emu_choice first = choices[0];

		choices[0] = choices[1];
		choices[1] = first;
	}
	return count;
}

/* Copies of the tensors in another type or layout, as measured. */
int64_t
emu_engine_workspace(const struct emu_engine *engine,
    const struct emu_graph *g)
{
	enum { TAIL = 16, NHWC = 1 << 20 };
	const int64_t elements = emu_tensor_elements(&g->conv.x) +
	    emu_tensor_elements(&g->conv.w) + emu_tensor_elements(&g->conv.y);

	if (converts(engine))
		return elements * 2 + TAIL;
	if (engine->arithmetic == EMU_TF32)
		return emu_graph_is_nhwc(g) ? NHWC : elements * 4 + TAIL;
	if (engine->notes && engine->note[0] == NOTE(WINOGRAD))
		return emu_tensor_elements(&g->conv.w) * 16;
	if (engine->notes && engine->note[0] == NOTE(NONDETERMINISTIC))
		return emu_tensor_elements(emu_conv_output(&g->conv)) * 4;
	if (engine->knobs && !emu_graph_is_nhwc(g))
		return elements * 2 + TAIL;
	return 0;
}

const struct emu_engine *
emu_engine_of(const struct emu_body *engine, const struct emu_graph **graph_out,
    cudnnStatus_t *status_out)
{
	const struct emu_body *graph = emu_body_child(engine,
	    CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
	int capability;
	bool has_tf32;

	*graph_out = graph->graph;
	if (!emu_engine_device(emu_body_child(engine,
	    CUDNN_ATTR_ENGINE_DEVICEPROP), graph, &capability, &has_tf32)) {
		*status_out = CUDNN_STATUS_NOT_INITIALIZED;
		return NULL;
	}
	return emu_engine_find(graph->graph, capability, has_tf32,
	    emu_body_number(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1),
	    status_out);
}
