/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_stored.c -- what is read from a plan's JSON: texts of
 * cuDNN 9.19, and what is near them but another. */
#include "shim/graph/stored.h"
#include "tests/unit/cases.h"

#include <cudnn.h>

#define HEAD "{\"cudnnVersion\":91900,\"schemaVersion\":4,\"operationGraph\":"
#define TENSOR(name, dim, stride, is_virtual) "{\"name\":\"" name "\"," \
	"\"dataType\":\"CUDNN_DATA_FLOAT\",\"dim\":[" dim "],\"stride\":[" \
	stride "],\"isVirtual\":" is_virtual ",\"isByValue\":false," \
	"\"vectCount\":1,\"vectDim\":-1,\"ptrAlignment\":16," \
	"\"reordering\":\"CUDNN_TENSOR_REORDERING_NONE\"}"
#define W TENSOR("119", "256,256,3,3", "2304,9,3,1", "false")
#define X TENSOR("120", "32,256,28,28", "200704,784,28,1", "false")
#define Y TENSOR("121", "32,256,28,28", "200704,784,28,1", "false")
#define CONV(kind, x, w, y) "{\"operation\":" \
	"\"CUDNN_BACKEND_OPERATION_CONVOLUTION_" kind "_DESCRIPTOR\"," \
	"\"mode\":\"CUDNN_CROSS_CORRELATION\",\"mathPrec\":" \
	"\"CUDNN_DATA_FLOAT\",\"alpha\":1.0,\"beta\":0.0,\"pad\":[1,1]," \
	"\"stride\":[1,1],\"dilation\":[1,1]," x "," w "," y "}"
#define STEP(mode, clips, tensors) "{\"operation\":" \
	"\"CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR\",\"pointwiseMode\":" \
	"\"CUDNN_POINTWISE_" mode "\"," \
	"\"mathPrec\":\"CUDNN_DATA_FLOAT\"," clips \
	"\"alpha1\":1.0,\"alpha2\":1.0," tensors "}"
#define CLIPS "\"upperClip\":1.7976931348623157e308,\"lowerClip\":0.0," \
	"\"lowerClipSlope\":0.0,"
#define TAIL "]},\"GPUProfile\":{\"warpSize\":32,\"deviceName\":" \
	"\"NVIDIA H100 80GB HBM3\"},\"engine\":{\"engineId\":67," \
	"\"smVersion\":900,\"knobChoices\":{\"CUDNN_KNOB_TYPE_TILE_SIZE\":9}}}"
#define ONE(mode, conv) HEAD "{\"finalizeMode\":\"" mode "\",\"tensors\":[" \
	W "," X "," Y "],\"nodes\":[" conv TAIL

static const char fprop[] = ONE("CONV_FORWARD", CONV("FORWARD",
	"\"X\":\"120\"", "\"W\":\"119\"", "\"Y\":\"121\""));
static const char dgrad[] = ONE("CONV_BWD_DATA", CONV("BACKWARD_DATA",
	"\"dX\":\"120\"", "\"W\":\"119\"", "\"dY\":\"121\""));
static const char wgrad[] = ONE("CONV_BWD_FILTER", CONV("BACKWARD_FILTER",
	"\"X\":\"120\"", "\"dW\":\"119\"", "\"dY\":\"121\""));
static const char fused[] = HEAD "{\"finalizeMode\":\"CONV_ADD_BIAS_ACT\","
	"\"tensors\":[" TENSOR("98", "1,256,1,1", "256,1,1,1", "false") ","
	TENSOR("99", "32,256,28,28", "200704,784,28,1", "true") ","
	TENSOR("100", "32,256,28,28", "200704,784,28,1", "true") ","
	W "," X "," Y "],\"nodes\":[" CONV("FORWARD", "\"X\":\"120\"",
	"\"W\":\"119\"", "\"Y\":\"99\"") ","
	STEP("ADD", "", "\"X\":\"99\",\"Y\":\"100\",\"B\":\"98\"") ","
	STEP("RELU_FWD", CLIPS, "\"X\":\"100\",\"Y\":\"121\"") TAIL;

CASE(test_convolutions)
{
	static const struct { const char *text; int operation; } rows[] = {
		{ fprop, AC_OP_CONV_FPROP }, { dgrad, AC_OP_CONV_DGRAD },
		{ wgrad, AC_OP_CONV_WGRAD },
	};
	static const int64_t w_stride[] = { 2304, 9, 3, 1 };
	struct ac_conv conv;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_true(ac_stored_read(rows[i].text, &conv));
		assert_int_equal(conv.operation, rows[i].operation);
		assert_int_equal(conv.x.uid, 120);
		assert_int_equal(conv.w.uid, 119);
		assert_int_equal(conv.y.uid, 121);
		assert_int_equal(conv.x.dim[1], 256);
		assert_int_equal(conv.x.alignment, 16);
		assert_memory_equal(conv.w.stride, w_stride, sizeof w_stride);
		assert_int_equal(conv.space, 2);
		assert_int_equal(conv.post_pad[1], 1);
		assert_int_equal(conv.type, CUDNN_DATA_FLOAT);
		assert_true(conv.scalars.alpha == 1);
		assert_int_equal(conv.steps + conv.has_more + conv.adds, 0);
	}
}

CASE(test_steps)
{
	struct ac_conv conv;

	assert_true(ac_stored_read(fused, &conv));
	assert_int_equal(conv.has_more, 0);
	assert_int_equal(conv.steps, 2);
	assert_int_equal(conv.step[0].mode, CUDNN_POINTWISE_ADD);
	assert_int_equal(conv.step[0].other.uid, 98);
	assert_int_equal(conv.step[0].out.is_virtual, 1);
	assert_int_equal(conv.step[1].mode, CUDNN_POINTWISE_RELU_FWD);
	assert_int_equal(conv.step[1].is_clipped, 0);
	assert_int_equal(conv.step[1].out.uid, 121);
}

/* `text` with `new` in place of `old`: what is read of it. */
enum { KEPT, MORE, READ };
static int
read_with(const char *text, const char *old, const char *new,
    struct ac_conv *conv)
{
	const char *at = strstr(text, old);
	char *changed = malloc(strlen(text) + strlen(new) + 1);
	int is;

	assert_non_null(at);
	assert_non_null(changed);
	sprintf(changed, "%.*s%s%s", (int)(at - text), text, new,
	    at + strlen(old));
	is = !ac_stored_read(changed, conv) ? KEPT : conv->has_more ? MORE
	    : READ;
	free(changed);
	return is;
}

CASE(test_numbers)
{
	struct ac_conv conv;

	assert_int_equal(read_with(fprop, "\"alpha\":1.0", "\"alpha\":-2.5",
	    &conv), READ);
	assert_true(conv.scalars.alpha == -2.5);
	assert_int_equal(read_with(fprop, "\"beta\":0.0", "\"beta\":0.5",
	    &conv), READ);
	assert_int_equal(conv.adds, 1);
	/* Not a float, too many digits, an exponent. */
	assert_int_equal(read_with(fprop, "\"alpha\":1.0", "\"alpha\":0.1",
	    &conv), KEPT);
	assert_int_equal(read_with(fprop, "\"alpha\":1.0",
	    "\"alpha\":1.0000000000000000", &conv), KEPT);
	assert_int_equal(read_with(fprop, "\"alpha\":1.0", "\"alpha\":1.0e2",
	    &conv), KEPT);
	assert_int_equal(read_with(fprop, "\"dim\":[256,",
	    "\"dim\":[99999999999999999999,", &conv), KEPT);
}

CASE(test_strangers)
{
	static const struct { const char *text, *old, *new; int is; } rows[] = {
		{ fprop, ":4,", ":5,", KEPT },
		{ fprop, ":4,", ":40,", KEPT },
		{ fprop, "CONV_FORWARD", "CONV_BWD_DATA", KEPT },
		{ fprop, "\"alpha\":1.0,", "\"alpha\":1.0,\"alpha\":2.0,",
		  KEPT },
		{ fprop, "\"alpha\":1.0,", "\"alpha\":1.0,\"new\":0,", KEPT },
		{ fprop, "\"alpha\":1.0,", "", KEPT },
		{ fprop, "\"pad\":[1,1]",
		  "\"pad_upper\":[2,2],\"pad_lower\":[1,1]", KEPT },
		{ fprop, "\"pad\":[1,1]", "\"pad\":[1,1,1]", KEPT },
		{ fprop, "\"pad\":[1,1]", "\"pad\":[]", KEPT },
		{ fprop, "\"name\":\"120\"", "\"name\":\"121\"", KEPT },
		{ fprop, "\"name\":\"120\"", "\"name\":\"x\"", KEPT },
		{ fprop, "\"X\":\"120\"", "\"X\":\"12\"", KEPT },
		{ fprop, "\"isByValue\":false", "\"isByValue\":true", KEPT },
		{ fprop, "\"vectCount\":1", "\"vectCount\":4", KEPT },
		{ fprop, "\"dim\":[256,256,3,3]", "\"dim\":[256,256,3]", KEPT },
		{ fprop, "\"dim\":[256,256,3,3]", "\"dim\":[256,128,3,3]",
		  KEPT }, /* groups that are not named */
		{ fprop, "\"Y\":\"121\"}", "\"Y\":\"121\",\"groupCount\":2}",
		  KEPT },
		{ fprop, "\"Y\":\"121\"}", "\"Y\":\"121\",\"groupCount\":1}",
		  READ },
		{ fprop, "{\"operation", " {\"operation", KEPT },
		{ fprop, TAIL, "", MORE },
		{ fprop, ",\"engine\"", ",\"operationGraph\":0,\"engine\"",
		  MORE },
		{ fprop, ",\"engine\"", ",\"schemaVersion\":5,\"engine\"",
		  MORE },
		{ fprop, ",\"engine\"",
		  ",\"operation\\u0047raph\":0,\"engine\"", MORE },
		{ fprop, "]},\"GPUProfile\"", "],\"more\":1},\"GPUProfile\"",
		  MORE },
		{ fused, "POINTWISE_ADD", "POINTWISE_MUL", MORE },
		{ fused, "RELU_FWD", "GELU_FWD", MORE },
		{ fused, "\"lowerClip\":0.0", "\"lowerClip\":0.5", MORE },
		{ fused, "\"X\":\"99\"", "\"X\":\"100\"", MORE },
		{ fused, "\"B\":\"98\"", "\"B\":\"99\"", MORE },
	};
	struct ac_conv conv;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (read_with(rows[i].text, rows[i].old, rows[i].new, &conv)
		    != rows[i].is)
			fail_msg("row %zu: %s", i, rows[i].new);
}

/* Under AddressSanitizer: no byte beyond the end is read, wherever it is. */
CASE(test_hostile)
{
	enum { LONG = 10 << 20 };
	static const char *const before[] = { "", HEAD "{\"finalizeMode\":"
		"\"CONV_FORWARD\",\"tensors\":[", "{\"cudnnVersion\":" };
	struct ac_conv conv;
	char *text;

	for (size_t length = 0; length < sizeof fused; length++) {
		text = malloc(length + 1);
		assert_non_null(text);
		memcpy(text, fused, length);
		text[length] = '\0';
		if (ac_stored_read(text, &conv) && !conv.has_more)
			assert_true(fused + length
			    > strstr(fused, "GPUProfile"));
		free(text);
	}
	for (size_t i = 0; i < 3; i++) {
		text = malloc(LONG + 1);
		assert_non_null(text);
		memset(text, i == 2 ? '9' : '[', LONG);
		memcpy(text, before[i], strlen(before[i]));
		text[LONG] = '\0';
		assert_false(ac_stored_read(text, &conv));
		free(text);
	}
}

CASES_RUN(NULL, NULL)
