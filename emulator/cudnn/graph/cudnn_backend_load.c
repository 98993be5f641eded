/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend_load.c -- a plan made from its JSON. Only
 * what cudnn_backend_json.c writes is read, in that order; cuDNN itself takes
 * spaces and fields that it does not know, too. What the text describes is made
 * of descriptors' bodies, which check it as they check a program's. */
#include "emulator/cudnn/graph/cudnn_backend.h"
#include "emulator/cudnn/graph/cudnn_backend_text.h"

#include <stdlib.h>
#include <string.h>

enum { BODIES = 64, DIMS = EMU_TEXT_NUMBERS };
#define SET(load, body, name, type, count, values) \
	set(load, body, CUDNN_ATTR_##name, CUDNN_TYPE_##type, count, values)
#define TENSOR(load, body, name, before) \
	set_tensor(load, body, CUDNN_ATTR_##name, before)

#define TEXT (&load->text)

struct load {
	struct emu_text text;
	int  count;
	struct emu_body *made[BODIES];
};

static cudnnDataType_t
type(struct load *load, const char *before)
{
	emu_text_expect(TEXT, before);
	for (int i = 0; i < 16; i++) {
		const char *word = emu_json_type((cudnnDataType_t)i);

		if (word && emu_text_accept(TEXT, word)) {
			emu_text_expect(TEXT, "\"");
			return (cudnnDataType_t)i;
		}
	}
	load->text.is_bad = true;
	return CUDNN_DATA_FLOAT;
}

/* ---- Bodies -------------------------------------------------------------- */

/* NULL: there is no room, or something was bad. */
static struct emu_body *
make(struct load *load, int descriptor)
{
	struct emu_body *body = load->text.is_bad || load->count == BODIES
	    ? NULL : emu_body_new(descriptor);

	if (body)
		load->made[load->count++] = body;
	load->text.is_bad |= !body;
	return body;
}

static void
set(struct load *load, struct emu_body *body, int name, int kind,
    int64_t count, const void *values)
{
	if (!load->text.is_bad && emu_body_set(body, name, kind, count, values))
		load->text.is_bad = true;
}

static struct emu_body *
finish(struct load *load, struct emu_body *body)
{
	if (load->text.is_bad || emu_body_finalize(body)) {
		load->text.is_bad = true;
		return NULL;
	}
	body->is_final = true;
	return body;
}

static void
load_tensor(struct load *load)
{
	struct emu_body *body = make(load, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	int64_t number[DIMS], count;
	cudnnDataType_t kind;
	bool is_virtual;

	number[0] = emu_text_integer(TEXT, "{\"name\":\"");
	SET(load, body, TENSOR_UNIQUE_ID, INT64, 1, number);
	kind = type(load, "\",\"dataType\":\"");
	SET(load, body, TENSOR_DATA_TYPE, DATA_TYPE, 1, &kind);
	count = emu_text_numbers(TEXT, ",\"dim\":[", number);
	SET(load, body, TENSOR_DIMENSIONS, INT64, count, number);
	count = emu_text_numbers(TEXT, ",\"stride\":[", number);
	SET(load, body, TENSOR_STRIDES, INT64, count, number);
	emu_text_expect(TEXT, ",\"isVirtual\":");
	is_virtual = emu_text_accept(TEXT, "true");
	if (!is_virtual)
		emu_text_expect(TEXT, "false");
	SET(load, body, TENSOR_IS_VIRTUAL, BOOLEAN, 1, &is_virtual);
	number[0] = emu_text_integer(TEXT, ",\"isByValue\":false"
	    ",\"vectCount\":1,\"vectDim\":-1,\"ptrAlignment\":");
	SET(load, body, TENSOR_BYTE_ALIGNMENT, INT64, 1, number);
	emu_text_expect(TEXT,
	    ",\"reordering\":\"CUDNN_TENSOR_REORDERING_NONE\"}");
	finish(load, body);
}

static void
set_tensor(struct load *load, struct emu_body *body, int name,
    const char *before)
{
	const int64_t uid = emu_text_integer(TEXT, before);

	emu_text_expect(TEXT, "\"");
	for (int i = 0; i < load->count; i++)
		if (load->made[i]->type == CUDNN_BACKEND_TENSOR_DESCRIPTOR
		    && emu_body_number(load->made[i],
			CUDNN_ATTR_TENSOR_UNIQUE_ID, -1) == uid) {
			set(load, body, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
			    &load->made[i]);
			return;
		}
	load->text.is_bad = true;
}

static struct emu_body *
load_descriptor(struct load *load, double scalar[2])
{
	struct emu_body *body = make(load,
	    CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
	cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
	int64_t number[DIMS], count;
	cudnnDataType_t kind;

	if (!emu_text_accept(TEXT, "\",\"mode\":\"CUDNN_CROSS_CORRELATION\"")) {
		emu_text_expect(TEXT, "\",\"mode\":\"CUDNN_CONVOLUTION\"");
		mode = CUDNN_CONVOLUTION;
	}
	SET(load, body, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, 1, &mode);
	kind = type(load, ",\"mathPrec\":\"");
	SET(load, body, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, &kind);
	scalar[0] = emu_text_real(TEXT, ",\"alpha\":");
	scalar[1] = emu_text_real(TEXT, ",\"beta\":");
	count = emu_text_numbers(TEXT, ",\"pad\":[", number);
	SET(load, body, CONVOLUTION_SPATIAL_DIMS, INT64, 1, &count);
	SET(load, body, CONVOLUTION_PRE_PADDINGS, INT64, count, number);
	SET(load, body, CONVOLUTION_POST_PADDINGS, INT64, count, number);
	count = emu_text_numbers(TEXT, ",\"stride\":[", number);
	SET(load, body, CONVOLUTION_FILTER_STRIDES, INT64, count, number);
	count = emu_text_numbers(TEXT, ",\"dilation\":[", number);
	SET(load, body, CONVOLUTION_DILATIONS, INT64, count, number);
	return finish(load, body);
}

/* As emu_json_operations. */
static const struct {
	int type, descriptor, alpha, beta, tensor[3];
} rows[] = {
#define ROW(t, a, x, w, y) {                                              \
	CUDNN_BACKEND_OPERATION_CONVOLUTION_##t##_DESCRIPTOR,             \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_CONV_DESC,                 \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_ALPHA,                     \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_BETA,                      \
	{ CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_##x,                     \
	  CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_##w,                     \
	  CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_##y } }
	ROW(FORWARD, FORWARD, X, W, Y),
	ROW(BACKWARD_DATA, BWD_DATA, DX, W, DY),
	ROW(BACKWARD_FILTER, BWD_FILTER, X, DW, DY),
#undef ROW
};

static struct emu_body *
load_convolution(struct load *load)
{
	struct emu_body *body, *how;
	double scalar[2];
	int row = 0;

	emu_text_expect(TEXT,
	    "{\"operation\":\"CUDNN_BACKEND_OPERATION_CONVOLUTION_");
	while (row < 2 && !emu_text_accept(TEXT, emu_json_operations[row].name))
		row++;
	if (row == 2)
		emu_text_expect(TEXT, emu_json_operations[row].name);
	emu_text_expect(TEXT, "_DESCRIPTOR");
	how = load_descriptor(load, scalar);
	body = make(load, rows[row].type);
	set(load, body, rows[row].descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
	    &how);
	set(load, body, rows[row].alpha, CUDNN_TYPE_DOUBLE, 1, &scalar[0]);
	set(load, body, rows[row].beta, CUDNN_TYPE_DOUBLE, 1, &scalar[1]);
	for (int i = 0; i < 3; i++) {
		emu_text_expect(TEXT, ",\"");
		emu_text_expect(TEXT, emu_json_operations[row].tensor[i]);
		set_tensor(load, body, rows[row].tensor[i], "\":\"");
	}
	if (emu_text_accept(TEXT, ",\"groupCount\":"))
		load->text.is_bad |= emu_text_integer(TEXT, "") < 2;
	emu_text_expect(TEXT, "}");
	return finish(load, body);
}

static struct emu_body *
load_step(struct load *load)
{
	struct emu_body *how = make(load, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	struct emu_body *body = make(load,
	    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
	double scalar[2];

	emu_text_expect(TEXT, "{\"operation\":\"CUDNN_BACKEND_OPERATION_"
	    "POINTWISE_DESCRIPTOR\",\"pointwiseMode\":\"CUDNN_POINTWISE_");
	if (!emu_text_accept(TEXT, "ADD\"")) {
		emu_text_expect(TEXT, "RELU_FWD\"");
		mode = CUDNN_POINTWISE_RELU_FWD;
	}
	emu_text_expect(TEXT, ",\"mathPrec\":\"CUDNN_DATA_FLOAT\"");
	if (mode == CUDNN_POINTWISE_RELU_FWD)
		emu_text_expect(TEXT, ",\"upperClip\":1.7976931348623157e308"
		    ",\"lowerClip\":0.0,\"lowerClipSlope\":0.0");
	scalar[0] = emu_text_real(TEXT, ",\"alpha1\":");
	scalar[1] = emu_text_real(TEXT, ",\"alpha2\":");
	SET(load, how, POINTWISE_MODE, POINTWISE_MODE, 1, &mode);
	how = finish(load, how);
	SET(load, body, OPERATION_POINTWISE_PW_DESCRIPTOR, BACKEND_DESCRIPTOR,
	    1, &how);
	SET(load, body, OPERATION_POINTWISE_ALPHA1, DOUBLE, 1, &scalar[0]);
	SET(load, body, OPERATION_POINTWISE_ALPHA2, DOUBLE, 1, &scalar[1]);
	TENSOR(load, body, OPERATION_POINTWISE_XDESC, ",\"X\":\"");
	TENSOR(load, body, OPERATION_POINTWISE_YDESC, ",\"Y\":\"");
	if (mode == CUDNN_POINTWISE_ADD)
		TENSOR(load, body, OPERATION_POINTWISE_BDESC, ",\"B\":\"");
	emu_text_expect(TEXT, "}");
	return finish(load, body);
}

/* ---- The plan ------------------------------------------------------------ */

static struct emu_body *
load_graph(struct load *load, const struct emu_body *plan)
{
	const struct emu_value *handle = emu_body_find(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
	struct emu_body *operation[1 + EMU_GRAPH_STEPS], *body;
	int count = 0;

	emu_text_expect(TEXT, "\"operationGraph\":{\"finalizeMode\":\"");
	if (!emu_text_accept(TEXT, "CONV_ADD_BIAS_ACT"))
		for (int i = 0; i < 3 && !emu_text_accept(TEXT,
		    emu_json_operations[i].mode); i++)
			load->text.is_bad |= i == 2;
	emu_text_expect(TEXT, "\",\"tensors\":[");
	do
		load_tensor(load);
	while (emu_text_accept(TEXT, ","));
	emu_text_expect(TEXT, "],\"nodes\":[");
	operation[count++] = load_convolution(load);
	while (count <= EMU_GRAPH_STEPS && emu_text_accept(TEXT, ","))
		operation[count++] = load_step(load);
	emu_text_expect(TEXT, "]}");
	body = make(load, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	SET(load, body, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, count,
	    operation);
	if (handle)
		SET(load, body, OPERATIONGRAPH_HANDLE, HANDLE, 1,
		    handle->at.bytes);
	return finish(load, body);
}

static struct emu_body *
load_engine(struct load *load, const struct emu_body *plan,
    struct emu_body *graph)
{
	struct emu_body *body = make(load, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	struct emu_body *device = emu_body_child(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
	int64_t index;

	SET(load, body, ENGINE_OPERATION_GRAPH, BACKEND_DESCRIPTOR, 1, &graph);
	if (device)
		SET(load, body, ENGINE_DEVICEPROP, BACKEND_DESCRIPTOR, 1,
		    &device);
	emu_text_integer(TEXT, ",\"GPUProfile\":{\"deviceVer\":");
	index = emu_text_integer(TEXT, "},\"engine\":{\"engineId\":");
	emu_text_integer(TEXT, ",\"smVersion\":");
	SET(load, body, ENGINE_GLOBAL_INDEX, INT64, 1, &index);
	return finish(load, body);
}

static struct emu_body *
load_config(struct load *load, struct emu_body *engine)
{
	struct emu_body *body = make(load, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	struct emu_body *knob[2] = { NULL, NULL };
	int count = 0;

	SET(load, body, ENGINECFG_ENGINE, BACKEND_DESCRIPTOR, 1, &engine);
	emu_text_expect(TEXT, ",\"knobChoices\":{");
	while (count < 2 && emu_text_accept(TEXT,
	    count ? "," : "\"CUDNN_KNOB")) {
		const int32_t kind = count ? CUDNN_KNOB_TYPE_IDX_MODE
		    : CUDNN_KNOB_TYPE_TILE_SIZE;
		const int64_t value = emu_text_integer(TEXT, count
		    ? "\"CUDNN_KNOB_TYPE_IDX_MODE\":" : "_TYPE_TILE_SIZE\":");

		knob[count] = make(load, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
		SET(load, knob[count], KNOB_CHOICE_KNOB_TYPE, KNOB_TYPE, 1,
		    &kind);
		SET(load, knob[count], KNOB_CHOICE_KNOB_VALUE, INT64, 1,
		    &value);
		finish(load, knob[count++]);
	}
	emu_text_expect(TEXT, "}}}");
	if (count)
		SET(load, body, ENGINECFG_KNOB_CHOICES, BACKEND_DESCRIPTOR,
		    count, knob);
	return finish(load, body);
}

static cudnnStatus_t
load_plan(struct load *load, struct emu_body *plan)
{
	const int64_t version = emu_text_integer(TEXT, "{\"cudnnVersion\":");
	const int64_t schema = emu_text_integer(TEXT, ",\"schemaVersion\":");
	struct emu_body *config;

	emu_text_expect(TEXT, ",");
	if (load->text.is_bad)
		return CUDNN_STATUS_BAD_PARAM;
	if (schema != 4)
		return CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH;
	if (version != (int64_t)cudnnGetVersion())
		return CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH;
	config = load_config(load, load_engine(load, plan, load_graph(load,
	    plan)));
	load->text.is_bad |= *load->text.at != '\0';
	SET(load, plan, EXECUTION_PLAN_ENGINE_CONFIG, BACKEND_DESCRIPTOR, 1,
	    &config);
	return load->text.is_bad ? CUDNN_STATUS_BAD_PARAM
	    : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
emu_json_load(struct emu_body *plan)
{
	const struct emu_value *stored = emu_body_find(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
	struct load load = { .count = 0 };
	cudnnStatus_t status;
	char *text;

	if (stored->count >= EMU_JSON)
		return CUDNN_STATUS_BAD_PARAM;
	text = calloc(1, EMU_JSON);
	if (!text)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	memcpy(text, stored->at.bytes, (size_t)stored->count);
	load.text.at = text;
	status = load_plan(&load, plan);
	while (load.count)
		emu_body_drop(load.made[--load.count]);
	free(text);
	return status;
}
