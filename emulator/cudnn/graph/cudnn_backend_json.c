/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend_json.c -- a plan as JSON, in the form of
 * cuDNN 9.19 (schema 4). Of the GPU, only the compute capability is in it. */
#include "emulator/cudnn/graph/cudnn_backend.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text {
	size_t used;
	bool   is_unknown;      /* something has no name here */
	char   at[EMU_JSON];
};

__attribute__((format(printf, 2, 3)))
static void
add(struct text *text, const char *format, ...)
{
	const size_t room = sizeof text->at - text->used;
	va_list values;
	int length;

	va_start(values, format);
	length = vsnprintf(text->at + text->used, room, format, values);
	va_end(values);
	if (length < 0 || (size_t)length >= room)
		text->is_unknown = true;
	else
		text->used += (size_t)length;
}

static void
add_numbers(struct text *text, const char *name, const int64_t *number,
    int count)
{
	add(text, ",\"%s\":[", name);
	for (int i = 0; i < count; i++)
		add(text, "%s%" PRId64, i ? "," : "", number[i]);
	add(text, "]");
}

/* With a point, always. */
static void
add_real(struct text *text, const char *name, double value)
{
	char written[40];

	snprintf(written, sizeof written, "%.15g", value);
	add(text, ",\"%s\":%s%s", name, written,
	    strpbrk(written, ".e") ? "" : ".0");
}

const char *
emu_json_type(cudnnDataType_t type)
{
	switch (type) {
	case CUDNN_DATA_FLOAT:
		return "CUDNN_DATA_FLOAT";
	case CUDNN_DATA_HALF:
		return "CUDNN_DATA_HALF";
	case CUDNN_DATA_BFLOAT16:
		return "CUDNN_DATA_BFLOAT16";
	case CUDNN_DATA_DOUBLE:
		return "CUDNN_DATA_DOUBLE";
	default:
		return NULL;
	}
}

static void
add_type(struct text *text, const char *name, cudnnDataType_t type)
{
	const char *word = emu_json_type(type);

	text->is_unknown |= !word;
	add(text, ",\"%s\":\"%s\"", name, word ? word : "");
}

static void
add_tensor(struct text *text, const struct emu_edge *edge)
{
	if (!edge->tensor.dims)
		return;
	add(text, "%s{\"name\":\"%" PRId64 "\"",
	    text->at[text->used - 1] == '[' ? "" : ",", edge->uid);
	add_type(text, "dataType", edge->tensor.type);
	add_numbers(text, "dim", edge->tensor.dim, edge->tensor.dims);
	add_numbers(text, "stride", edge->tensor.stride, edge->tensor.dims);
	add(text, ",\"isVirtual\":%s,\"isByValue\":false,\"vectCount\":1"
	    ",\"vectDim\":-1,\"ptrAlignment\":%" PRId64
	    ",\"reordering\":\"CUDNN_TENSOR_REORDERING_NONE\"}",
	    edge->is_virtual ? "true" : "false", edge->alignment);
}

const struct emu_json_operation emu_json_operations[] = {
	{ "CONV_FORWARD", "FORWARD", { "X", "W", "Y" } },
	{ "CONV_BWD_DATA", "BACKWARD_DATA", { "dX", "W", "dY" } },
	{ "CONV_BWD_FILTER", "BACKWARD_FILTER", { "X", "dW", "dY" } },
};

static void
add_convolution(struct text *text, const struct emu_graph *graph)
{
	const struct emu_conv *conv = &graph->conv;
	const struct emu_json_operation *names =
	    &emu_json_operations[conv->operation];

	add(text, "{\"operation\":\"CUDNN_BACKEND_OPERATION_CONVOLUTION_%s"
	    "_DESCRIPTOR\",\"mode\":\"%s\"", names->name,
	    conv->mode == CUDNN_CROSS_CORRELATION ? "CUDNN_CROSS_CORRELATION"
	    : "CUDNN_CONVOLUTION");
	add_type(text, "mathPrec", graph->compute);
	add_real(text, "alpha", conv->alpha);
	add_real(text, "beta", conv->beta);
	text->is_unknown |= memcmp(conv->pad, conv->post_pad,
	    (size_t)conv->space * sizeof *conv->pad) != 0;
	add_numbers(text, "pad", conv->pad, conv->space);
	add_numbers(text, "stride", conv->stride, conv->space);
	add_numbers(text, "dilation", conv->dilation, conv->space);
	add(text, ",\"%s\":\"%" PRId64 "\",\"%s\":\"%" PRId64
	    "\",\"%s\":\"%" PRId64 "\"", names->tensor[0], graph->x.uid,
	    names->tensor[1], graph->w.uid, names->tensor[2], graph->y.uid);
	if (conv->w.dim[1] && conv->x.dim[1] != conv->w.dim[1])
		add(text, ",\"groupCount\":%" PRId64,
		    conv->x.dim[1] / conv->w.dim[1]);
	add(text, "}");
}

static void
add_step(struct text *text, const struct emu_pointwise *step, int64_t in)
{
	const bool adds = step->mode == CUDNN_POINTWISE_ADD;

	text->is_unknown |= !adds && (step->mode != CUDNN_POINTWISE_RELU_FWD
	    || step->lower != 0 || step->upper < 1e308 || step->slope != 0);
	add(text, ",{\"operation\":\"CUDNN_BACKEND_OPERATION_POINTWISE_"
	    "DESCRIPTOR\",\"pointwiseMode\":\"CUDNN_POINTWISE_%s\"",
	    adds ? "ADD" : "RELU_FWD");
	add_type(text, "mathPrec", CUDNN_DATA_FLOAT);
	if (!adds)
		add(text, ",\"upperClip\":1.7976931348623157e308"
		    ",\"lowerClip\":0.0,\"lowerClipSlope\":0.0");
	add_real(text, "alpha1", step->alpha1);
	add_real(text, "alpha2", step->alpha2);
	add(text, ",\"X\":\"%" PRId64 "\",\"Y\":\"%" PRId64 "\"", in,
	    step->out.uid);
	if (adds)
		add(text, ",\"B\":\"%" PRId64 "\"", step->other.uid);
	add(text, "}");
}

static void
add_graph(struct text *text, const struct emu_graph *graph)
{
	int64_t in = (graph->conv.operation == EMU_CONV_FPROP ? graph->y :
	    graph->conv.operation == EMU_CONV_DGRAD ? graph->x
	    : graph->w).uid;

	add(text, "\"operationGraph\":{\"finalizeMode\":\"%s\",\"tensors\":[",
	    graph->steps ? "CONV_ADD_BIAS_ACT"
	    : emu_json_operations[graph->conv.operation].mode);
	add_tensor(text, &graph->x);
	add_tensor(text, &graph->w);
	add_tensor(text, &graph->y);
	for (int i = 0; i < graph->steps; i++) {
		add_tensor(text, &graph->step[i].other);
		add_tensor(text, &graph->step[i].out);
	}
	add(text, "],\"nodes\":[");
	add_convolution(text, graph);
	for (int i = 0; i < graph->steps; i++) {
		add_step(text, &graph->step[i], in);
		in = graph->step[i].out.uid;
	}
	add(text, "]}");
}

static void
add_engine(struct text *text, const struct emu_body *config,
    const struct emu_engine *engine, int capability)
{
	const struct emu_value *knobs = emu_body_find(config,
	    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);

	add(text, ",\"GPUProfile\":{\"deviceVer\":%d},\"engine\":"
	    "{\"engineId\":%d,\"smVersion\":%d,\"knobChoices\":{",
	    capability * 10, engine->index, capability * 10);
	for (int64_t i = 0; knobs && i < knobs->count; i++)
		add(text, "%s\"%s\":%" PRId64, i ? "," : "", emu_body_number(
		    knobs->at.body[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, 0)
		    == CUDNN_KNOB_TYPE_TILE_SIZE ? "CUDNN_KNOB_TYPE_TILE_SIZE"
		    : "CUDNN_KNOB_TYPE_IDX_MODE", emu_body_number(
		    knobs->at.body[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 0));
	add(text, "}}}");
}

/* What was made from a text is that text; else one is written. */
static cudnnStatus_t
plan_text(const struct emu_body *plan, struct text *text)
{
	const struct emu_body *config = emu_body_child(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
	const struct emu_body *body = emu_body_child(config,
	    CUDNN_ATTR_ENGINECFG_ENGINE);
	const struct emu_engine *engine;
	const struct emu_graph *graph;
	cudnnStatus_t status;
	bool has_tf32;
	int capability;

	engine = emu_engine_of(body, &graph, &status);
	if (!engine || !emu_engine_device(emu_body_child(body,
	    CUDNN_ATTR_ENGINE_DEVICEPROP), emu_body_child(body,
	    CUDNN_ATTR_ENGINE_OPERATION_GRAPH), &capability, &has_tf32))
		return status;
	text->used = 0;
	text->is_unknown = false;
	add(text, "{\"cudnnVersion\":%zu,\"schemaVersion\":4,",
	    cudnnGetVersion());
	add_graph(text, graph);
	add_engine(text, config, engine, capability);
	return text->is_unknown ? CUDNN_STATUS_NOT_SUPPORTED
	    : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
emu_json_get(const struct emu_body *plan, int64_t requested,
    int64_t *count_out, void *values)
{
	const struct emu_value *stored = emu_body_find(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
	cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
	const char *from;
	int64_t length;
	struct text text;

	if (!stored)
		status = plan_text(plan, &text);
	if (status)
		return status;
	from = stored ? (const char *)stored->at.bytes : text.at;
	length = stored ? stored->count : (int64_t)text.used;
	if (values && requested < length)
		return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
	if (values)
		memcpy(values, from, (size_t)length);
	if (count_out)
		*count_out = length;
	return CUDNN_STATUS_SUCCESS;
}
