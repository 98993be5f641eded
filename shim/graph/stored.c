/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/stored.c -- reads a convolution from a plan's JSON
 * (shim/graph/stored.h). No general reader: cuDNN accepts fields that it does
 * not know and keeps both of two with one name, so that only what has the very
 * form that it writes means what it says. */
#include "shim/graph/stored.h"

#include <cudnn.h>
#include <float.h>
#include <string.h>

enum { TENSORS = 3 + 2 * AC_CONV_STEPS, DIGITS = 15 };

struct text {
	const char *at;
	bool is_strange;
};

struct tensors {
	unsigned count;
	struct ac_conv_tensor of[TENSORS];
};

/* ---- Words and numbers --------------------------------------------------- */

static bool
accept(struct text *text, const char *word)
{
	const size_t length = strlen(word);

	if (text->is_strange || strncmp(text->at, word, length) != 0)
		return false;
	text->at += length;
	return true;
}

static void
expect(struct text *text, const char *word)
{
	text->is_strange |= !accept(text, word);
}

/* Digits behind one another, appended to `number`: how many. */
static unsigned
digits(struct text *text, int64_t *number)
{
	unsigned count = 0;

	while (!text->is_strange && *text->at >= '0' && *text->at <= '9') {
		if (*number >= INT64_C(1000000000000000)) {
			text->is_strange = true;
			return 0;
		}
		*number = *number * 10 + (*text->at++ - '0');
		count++;
	}
	text->is_strange |= !count;
	return count;
}

static int64_t
integer(struct text *text, const char *before)
{
	int64_t number = 0;
	bool is_negative;

	expect(text, before);
	is_negative = accept(text, "-");
	digits(text, &number);
	return is_negative ? -number : number;
}

/* Of so few digits that the quotient of two exact numbers is what was written.
 * It must fit a float, which is what we set. */
static double
real(struct text *text, const char *before)
{
	double value, unit = 1;
	int64_t number = 0;
	bool is_negative;
	unsigned count;

	expect(text, before);
	is_negative = accept(text, "-");
	digits(text, &number);
	expect(text, ".");
	count = digits(text, &number);
	text->is_strange |= count > DIGITS
	    || number >= INT64_C(1000000000000000);
	for (unsigned i = 0; i < count && !text->is_strange; i++)
		unit *= 10;
	value = (double)number / unit;
	text->is_strange |= (double)(float)value != value;
	return is_negative ? -value : value;
}

/* An array of up to `room` numbers: how many. */
static int32_t
numbers(struct text *text, const char *before, int64_t *to, int32_t room)
{
	int32_t count = 0;

	expect(text, before);
	do {
		if (text->is_strange || count == room) {
			text->is_strange = true;
			return 0;
		}
		to[count++] = integer(text, "");
	} while (accept(text, ","));
	expect(text, "]");
	return count;
}

static int32_t
type(struct text *text, const char *before)
{
	static const struct { const char *name; cudnnDataType_t type; } rows[] =
	{
		{ "\"CUDNN_DATA_FLOAT\"", CUDNN_DATA_FLOAT },
		{ "\"CUDNN_DATA_HALF\"", CUDNN_DATA_HALF },
		{ "\"CUDNN_DATA_BFLOAT16\"", CUDNN_DATA_BFLOAT16 },
		{ "\"CUDNN_DATA_DOUBLE\"", CUDNN_DATA_DOUBLE },
	};

	expect(text, before);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (accept(text, rows[i].name))
			return (int32_t)rows[i].type;
	text->is_strange = true;
	return 0;
}

/* ---- Tensors ------------------------------------------------------------- */

static void
read_tensor(struct text *text, struct tensors *tensors)
{
	struct ac_conv_tensor *tensor = &tensors->of[tensors->count];

	if (tensors->count == TENSORS) {
		text->is_strange = true;
		return;
	}
	tensor->uid = integer(text, "{\"name\":\"");
	tensor->type = type(text, "\",\"dataType\":");
	tensor->dims = numbers(text, ",\"dim\":[", tensor->dim, AC_CONV_DIMS);
	text->is_strange |= tensor->dims < 3 || tensor->dims != numbers(text,
	    ",\"stride\":[", tensor->stride, AC_CONV_DIMS);
	expect(text, ",\"isVirtual\":");
	tensor->is_virtual = accept(text, "true");
	if (!tensor->is_virtual)
		expect(text, "false");
	tensor->alignment = integer(text, ",\"isByValue\":false"
	    ",\"vectCount\":1,\"vectDim\":-1,\"ptrAlignment\":");
	expect(text, ",\"reordering\":\"CUDNN_TENSOR_REORDERING_NONE\"}");
	for (unsigned i = 0; i < tensors->count; i++)
		text->is_strange |= tensors->of[i].uid == tensor->uid;
	tensors->count++;
}

/* A node's tensor, by name. */
static void
find(struct text *text, const char *before, const struct tensors *tensors,
    struct ac_conv_tensor *tensor)
{
	const int64_t uid = integer(text, before);

	expect(text, "\"");
	for (unsigned i = 0; i < tensors->count; i++)
		if (tensors->of[i].uid == uid) {
			*tensor = tensors->of[i];
			return;
		}
	text->is_strange = true;
}

/* ---- Operations ---------------------------------------------------------- */

static const struct operation {
	enum ac_operation operation;
	const char mode[18], name[16], x[8], w[8], y[8];
} operations[] = {
	{ AC_OP_CONV_FPROP, "CONV_FORWARD", "FORWARD", ",\"X\":\"",
	  ",\"W\":\"", ",\"Y\":\"" },
	{ AC_OP_CONV_FPROP, "CONV_ADD_BIAS_ACT", "FORWARD", ",\"X\":\"",
	  ",\"W\":\"", ",\"Y\":\"" },
	{ AC_OP_CONV_DGRAD, "CONV_BWD_DATA", "BACKWARD_DATA", ",\"dX\":\"",
	  ",\"W\":\"", ",\"dY\":\"" },
	{ AC_OP_CONV_WGRAD, "CONV_BWD_FILTER", "BACKWARD_FILTER",
	  ",\"X\":\"", ",\"dW\":\"", ",\"dY\":\"" },
};

static void
read_space(struct text *text, struct ac_conv *conv)
{
	conv->space = numbers(text, ",\"pad\":[", conv->pad, AC_CONV_SPACE);
	memcpy(conv->post_pad, conv->pad, sizeof conv->pad);
	text->is_strange |= conv->space != numbers(text, ",\"stride\":[",
	    conv->stride, AC_CONV_SPACE) || conv->space != numbers(text,
	    ",\"dilation\":[", conv->dilation, AC_CONV_SPACE);
}

static void
read_convolution(struct text *text, const struct operation *operation,
    const struct tensors *tensors, struct ac_conv *conv)
{
	expect(text, "{\"operation\":\"CUDNN_BACKEND_OPERATION_CONVOLUTION_");
	expect(text, operation->name);
	expect(text, "_DESCRIPTOR\",\"mode\":\"");
	conv->operation = (int32_t)operation->operation;
	conv->mode = accept(text, "CUDNN_CROSS_CORRELATION\"")
	    ? CUDNN_CROSS_CORRELATION : CUDNN_CONVOLUTION;
	if (conv->mode == CUDNN_CONVOLUTION)
		expect(text, "CUDNN_CONVOLUTION\"");
	conv->type = type(text, ",\"mathPrec\":");
	conv->scalars.alpha = real(text, ",\"alpha\":");
	conv->scalars.beta = real(text, ",\"beta\":");
	conv->adds = conv->scalars.beta != 0;
	conv->scalar_type = CUDNN_DATA_FLOAT;
	read_space(text, conv);
	find(text, operation->x, tensors, &conv->x);
	find(text, operation->w, tensors, &conv->w);
	find(text, operation->y, tensors, &conv->y);
	if (accept(text, ",\"groupCount\":"))
		text->is_strange |= integer(text, "") * conv->w.dim[1]
		    != conv->x.dim[1];
	else
		text->is_strange |= conv->w.dim[1] != conv->x.dim[1];
	expect(text, "}");
}

/* A sum, which may have what came before on either side, or ReLU. */
static void
read_step(struct text *text, const struct tensors *tensors,
    struct ac_conv *conv)
{
	const int64_t in = ac_conv_last_output(conv)->uid;
	struct ac_conv_step *step = &conv->step[conv->steps];
	double *alpha1 = &conv->scalars.alpha1[conv->steps];
	double *alpha2 = &conv->scalars.alpha2[conv->steps];
	struct ac_conv_tensor x = { .uid = 0 };
	bool adds;

	expect(text, "{\"operation\":\"CUDNN_BACKEND_OPERATION_POINTWISE_"
	    "DESCRIPTOR\",\"pointwiseMode\":\"CUDNN_POINTWISE_");
	adds = accept(text, "ADD\"");
	if (!adds)
		expect(text, "RELU_FWD\"");
	step->mode = adds ? CUDNN_POINTWISE_ADD : CUDNN_POINTWISE_RELU_FWD;
	step->type = type(text, ",\"mathPrec\":");
	if (!adds)
		expect(text, ",\"upperClip\":1.7976931348623157e308,"
		    "\"lowerClip\":0.0,\"lowerClipSlope\":0.0");
	*alpha1 = real(text, ",\"alpha1\":");
	*alpha2 = real(text, ",\"alpha2\":");
	find(text, ",\"X\":\"", tensors, &x);
	find(text, ",\"Y\":\"", tensors, &step->out);
	if (adds)
		find(text, ",\"B\":\"", tensors, &step->other);
	expect(text, "}");
	text->is_strange |= (x.uid == in) == (adds && step->other.uid == in);
	if (x.uid != in) {
		const double first = *alpha1;

		step->other = x;
		*alpha1 = *alpha2;
		*alpha2 = first;
	}
	conv->steps++;
}

/* Behind the graph: of the GPU and the engine, which cuDNN tells itself. There
 * is no second graph. */
static void
read_rest(struct text *text)
{
	expect(text, "]},\"GPUProfile\":{");
	text->is_strange |= strchr(text->at, '\\')
	    || strstr(text->at, "\"operationGraph\"")
	    || strstr(text->at, "\"schemaVersion\"");
}

bool
ac_stored_read(const char *from, struct ac_conv *conv_out)
{
	struct text text = { from, false };
	struct tensors tensors;
	size_t row = 0;

	memset(conv_out, 0, sizeof *conv_out);
	memset(&tensors, 0, sizeof tensors);
	integer(&text, "{\"cudnnVersion\":");
	expect(&text, ",\"schemaVersion\":4,\"operationGraph\":"
	    "{\"finalizeMode\":\"");
	while (row < sizeof operations / sizeof *operations
	    && !accept(&text, operations[row].mode))
		row++;
	if (row == sizeof operations / sizeof *operations)
		return false;
	expect(&text, "\",\"tensors\":[");
	do
		read_tensor(&text, &tensors);
	while (accept(&text, ","));
	expect(&text, "],\"nodes\":[");
	read_convolution(&text, &operations[row], &tensors, conv_out);
	if (text.is_strange) {
		memset(conv_out, 0, sizeof *conv_out);
		return false;
	}
	while (conv_out->steps < AC_CONV_STEPS && accept(&text, ","))
		read_step(&text, &tensors, conv_out);
	read_rest(&text);
	if (text.is_strange) {
		memset(conv_out->step, 0, sizeof conv_out->step);
		conv_out->steps = 0;
		conv_out->has_more = 1;
	}
	return true;
}
