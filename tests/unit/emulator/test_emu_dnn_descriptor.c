/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_dnn_descriptor.c -- the emulated cuDNN's
 * descriptors of tensors, filters and convolutions: what they store and what
 * they refuse, with the statuses of cuDNN 9.19; versions and names of
 * statuses. */
#include "test_emu_conv.h"

#include <limits.h>

#define REFUSED(call) assert_int_equal((call), CUDNN_STATUS_BAD_PARAM)
#define UNSUPPORTED(call) assert_int_equal((call), CUDNN_STATUS_NOT_SUPPORTED)

static void
tensors(void **state)
{
	static const int dim[9] = { 2, 3, 4, 5, 6, 1, 1, 1, 1 };
	static const int nhwc[] = { 360, 1, 90, 18, 3 };
	static const struct {
		int dim[4], stride[4];
		cudnnStatus_t status;
	} strided[] = { /* of a dimension of 1 the stride does not matter */
		{ { 2, 2, 3, 4 }, { 0, 12, 4, 1 }, CUDNN_STATUS_BAD_PARAM },
		{ { 1, 2, 3, 4 }, { 0, 12, 4, 1 }, CUDNN_STATUS_SUCCESS },
		{ { 1, 1, 1, 1 }, { -1, 0, -1, 0 }, CUDNN_STATUS_SUCCESS },
		{ { 2, 1, 1, 1 }, { -1, 1, 1, 1 }, /* not in the emulator */
		  CUDNN_STATUS_NOT_SUPPORTED },
		{ { 3, 1, 1, 1 }, { INT_MAX / 2, 1, 1, 1 },
		  CUDNN_STATUS_SUCCESS },
		{ { 3, 1, 1, 1 }, { INT_MAX / 2 + 1, 1, 1, 1 },
		  CUDNN_STATUS_NOT_SUPPORTED },
	};
	struct test_conv d = test_conv_new();
	int got[8], stride[8], dims = -1;
	cudnnDataType_t type;
	size_t bytes;

	(void)state;
	OK(cudnnGetTensorSizeInBytes(d.x, &bytes));
	assert_int_equal(bytes, 0);
	REFUSED(cudnnSetTensor4dDescriptor(NULL, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 1, 1, 1, 1));
	REFUSED(cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 1, 0, 1, 1));
	REFUSED(cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_INT64, 1, 1, 1, 1));
	UNSUPPORTED(cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 1 << 15, 1 << 16, 1, 1));
	REFUSED(cudnnSetTensorNdDescriptor(d.x, CUDNN_DATA_FLOAT, 1, dim,
	    dim));
	UNSUPPORTED(cudnnSetTensorNdDescriptor(d.x, CUDNN_DATA_FLOAT, 9, dim,
	    dim));
	OK(cudnnSetTensor4dDescriptorEx(d.x, CUDNN_DATA_FLOAT, 2, 3, 4, 5, 1,
	    1, 1, 1));
	OK(cudnnGetTensorSizeInBytes(d.x, &bytes));
	assert_int_equal(bytes, 44);
	for (size_t i = 0; i < sizeof strided / sizeof *strided; i++)
		assert_int_equal(cudnnSetTensorNdDescriptor(d.x,
		    CUDNN_DATA_FLOAT, 4, strided[i].dim, strided[i].stride),
		    strided[i].status);
	REFUSED(cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW_VECT_C,
	    CUDNN_DATA_FLOAT, 1, 4, 1, 1));
	OK(cudnnSetTensorNdDescriptorEx(d.x, CUDNN_TENSOR_NHWC,
	    CUDNN_DATA_FLOAT, 5, dim));
	OK(cudnnGetTensorNdDescriptor(d.x, 8, &type, &dims, got, stride));
	assert_int_equal(dims, 5);
	assert_memory_equal(got, dim, sizeof nhwc);
	assert_memory_equal(stride, nhwc, sizeof nhwc);
	got[1] = -1;
	OK(cudnnGetTensorNdDescriptor(d.x, 1, &type, &dims, got, stride));
	assert_int_equal(got[1], -1);
	test_conv_drop(&d);
}

static void
filters(void **state)
{
	static const int dim[9] = { 2, 3, 4, 5, 6, 1, 1, 1, 1 };
	struct test_conv d = test_conv_new();
	int got[8], dims = -1;
	cudnnTensorFormat_t format;
	cudnnDataType_t type;
	size_t bytes;

	(void)state;
	REFUSED(cudnnSetFilterNdDescriptor(d.w, CUDNN_DATA_FLOAT,
	    CUDNN_TENSOR_NCHW, 2, dim));
	UNSUPPORTED(cudnnSetFilterNdDescriptor(d.w, CUDNN_DATA_FLOAT,
	    CUDNN_TENSOR_NCHW, 9, dim));
	REFUSED(cudnnSetFilterNdDescriptor(d.w, CUDNN_DATA_INT32,
	    CUDNN_TENSOR_NCHW, 4, dim));
	OK(cudnnSetFilterNdDescriptor(d.w, CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC,
	    4, dim));
	REFUSED(cudnnGetFilterNdDescriptor(d.w, 0, &type, &format, &dims,
	    got));
	UNSUPPORTED(cudnnGetFilterNdDescriptor(d.w, 9, &type, &format, &dims,
	    got));
	OK(cudnnGetFilterNdDescriptor(d.w, 8, &type, &format, &dims, got));
	assert_int_equal(format, CUDNN_TENSOR_NHWC);
	assert_int_equal(type, CUDNN_DATA_HALF);
	assert_int_equal(dims, 4);
	assert_memory_equal(got, dim, 4 * sizeof *dim);
	OK(cudnnGetFilterSizeInBytes(d.w, &bytes));
	assert_int_equal(bytes, 240);
	test_conv_drop(&d);
}

/* A new geometry leaves math type and groups alone; the getter takes up to 6
 * dimensions. */
static void
convolutions(void **state)
{
	struct test_conv d = test_conv_new();
	int pad[8], stride[8], dilation[8], length, groups, size[4];
	const int zero[8] = { 0 }, one[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	cudnnConvolutionMode_t mode;
	cudnnDataType_t type;
	cudnnMathType_t math;

	(void)state;
	REFUSED(cudnnSetConvolution2dDescriptor(d.conv, -1, 0, 1, 1, 1, 1,
	    CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT));
	REFUSED(cudnnSetConvolution2dDescriptor(d.conv, 0, 0, 0, 1, 1, 1,
	    CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT));
	REFUSED(cudnnSetConvolution2dDescriptor(d.conv, 0, 0, 1, 1, 1, 0,
	    CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT));
	REFUSED(cudnnSetConvolution2dDescriptor(d.conv, 0, 0, 1, 1, 1, 1,
	    CUDNN_CONVOLUTION, CUDNN_DATA_BFLOAT16));
	UNSUPPORTED(cudnnSetConvolutionNdDescriptor(d.conv, 7, zero, one, one,
	    CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT));
	REFUSED(cudnnSetConvolutionGroupCount(d.conv, 0));
	REFUSED(cudnnSetConvolutionMathType(d.conv, (cudnnMathType_t)4));
	OK(cudnnSetConvolutionGroupCount(d.conv, 2));
	OK(cudnnSetConvolutionMathType(d.conv, CUDNN_FMA_MATH));
	OK(cudnnSetConvolution2dDescriptor(d.conv, 1, 2, 3, 4, 5, 6,
	    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	OK(cudnnGetConvolutionGroupCount(d.conv, &groups));
	OK(cudnnGetConvolutionMathType(d.conv, &math));
	assert_int_equal(groups, 2);
	assert_int_equal(math, CUDNN_FMA_MATH);
	UNSUPPORTED(cudnnGetConvolutionNdDescriptor(d.conv, 7, &length, pad,
	    stride, dilation, &mode, &type));
	OK(cudnnGetConvolutionNdDescriptor(d.conv, 6, &length, pad, stride,
	    dilation, &mode, &type));
	assert_int_equal(length, 2);
	assert_memory_equal(pad, ((int[]){ 1, 2 }), sizeof(int[2]));
	assert_memory_equal(stride, ((int[]){ 3, 4 }), sizeof(int[2]));
	assert_memory_equal(dilation, ((int[]){ 5, 6 }), sizeof(int[2]));
	OK(cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 2, 4, 18, 29));
	OK(cudnnSetFilter4dDescriptor(d.w, CUDNN_DATA_FLOAT,
	    CUDNN_TENSOR_NCHW, 6, 2, 3, 3));
	OK(cudnnGetConvolutionNdForwardOutputDim(d.conv, d.x, d.w, 4, size));
	assert_memory_equal(size, ((int[]){ 2, 6, 4, 6 }), sizeof size);
	REFUSED(cudnnGetConvolutionNdForwardOutputDim(d.conv, d.x, d.w, 5,
	    size));
	OK(cudnnSetConvolutionGroupCount(d.conv, 1));
	REFUSED(cudnnGetConvolutionNdForwardOutputDim(d.conv, d.x, d.w, 4,
	    size));
	test_conv_drop(&d);
}

/* What was set in two dimensions reads the same in two dimensions. */
static void
two_dimensions(void **state)
{
	struct test_conv d = test_conv_new();
	cudnnConvolutionMode_t mode;
	cudnnReorderType_t reorder;
	cudnnTensorFormat_t format;
	cudnnDataType_t type;
	int got[4], stride[4];

	(void)state;
	OK(cudnnSetConvolution2dDescriptor(d.conv, 1, 2, 3, 4, 5, 6,
	    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	OK(cudnnGetConvolution2dDescriptor(d.conv, &got[0], &got[1],
	    &stride[0], &stride[1], &got[2], &got[3], &mode, &type));
	assert_memory_equal(got, ((int[]){ 1, 2, 5, 6 }), sizeof got);
	assert_memory_equal(stride, ((int[]){ 3, 4 }), sizeof(int[2]));
	assert_int_equal(mode, CUDNN_CROSS_CORRELATION);
	OK(cudnnSetConvolutionReorderType(d.conv, CUDNN_NO_REORDER));
	OK(cudnnGetConvolutionReorderType(d.conv, &reorder));
	assert_int_equal(reorder, CUDNN_NO_REORDER);
	REFUSED(cudnnSetConvolutionReorderType(d.conv, (cudnnReorderType_t)2));
	OK(cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_HALF, 2, 4, 18, 29));
	OK(cudnnGetTensor4dDescriptor(d.x, &type, &got[0], &got[1], &got[2],
	    &got[3], &stride[0], &stride[1], &stride[2], &stride[3]));
	assert_int_equal(type, CUDNN_DATA_HALF);
	assert_memory_equal(got, ((int[]){ 2, 4, 18, 29 }), sizeof got);
	assert_memory_equal(stride, ((int[]){ 4 * 18 * 29, 18 * 29, 29, 1 }),
	    sizeof stride);
	OK(cudnnSetFilter4dDescriptor(d.w, CUDNN_DATA_FLOAT,
	    CUDNN_TENSOR_NHWC, 6, 2, 3, 5));
	OK(cudnnGetFilter4dDescriptor(d.w, &type, &format, &got[0], &got[1],
	    &got[2], &got[3]));
	assert_int_equal(format, CUDNN_TENSOR_NHWC);
	assert_memory_equal(got, ((int[]){ 6, 2, 3, 5 }), sizeof got);
	test_conv_drop(&d);
}

/* The filter must fit into the image, and all must have the same number of
 * dimensions. */
static void
outputs(void **state)
{
	const int dim[5] = { 1, 1, 3, 3, 3 }, pad[3] = { 0 };
	const int ones[3] = { 1, 1, 1 };
	struct test_conv d = test_conv_new();
	int size[5];

	(void)state;
	for (int filter = 4; filter <= 5; filter++)
	for (int space = 1; space <= 3; space++) {
		OK(cudnnSetTensorNdDescriptorEx(d.x, CUDNN_TENSOR_NCHW,
		    CUDNN_DATA_FLOAT, 4, dim));
		OK(cudnnSetFilterNdDescriptor(d.w, CUDNN_DATA_FLOAT,
		    CUDNN_TENSOR_NCHW, filter, dim));
		OK(cudnnSetConvolutionNdDescriptor(d.conv, space, pad, ones,
		    ones, CUDNN_CONVOLUTION, CUDNN_DATA_FLOAT));
		assert_int_equal(cudnnGetConvolutionNdForwardOutputDim(d.conv,
		    d.x, d.w, 4, size), filter == 4 && space == 2 ? 0 :
		    CUDNN_STATUS_BAD_PARAM);
	}
	test_conv_small(&d, 1, 1, 2, 2);
	OK(cudnnSetFilter4dDescriptor(d.w, CUDNN_DATA_FLOAT,
	    CUDNN_TENSOR_NCHW, 1, 1, 3, 2));
	REFUSED(cudnnGetConvolutionNdForwardOutputDim(d.conv, d.x, d.w, 4,
	    size));
	test_conv_drop(&d);
}

static void
versions(void **state)
{
	char text[4] = "abc";
	int value;

	(void)state;
	assert_string_equal(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM),
	    "CUDNN_STATUS_BAD_PARAM");
	assert_string_equal(cudnnGetErrorString((cudnnStatus_t)99999),
	    "CUDNN_UNKNOWN_STATUS");
	assert_int_equal(cudnnGetVersion(), CUDNN_VERSION);
	assert_int_equal(cudnnGetCudartVersion(), CUDART_VERSION);
	OK(cudnnAdvVersionCheck());
	OK(cudnnCnnVersionCheck());
	OK(cudnnGraphVersionCheck());
	OK(cudnnOpsVersionCheck());
	OK(cudnnGetProperty(MINOR_VERSION, &value));
	assert_int_equal(value, CUDNN_MINOR);
	REFUSED(cudnnGetProperty((libraryPropertyType)3, &value));
	cudnnGetLastErrorString(text, 0);
	assert_string_equal(text, "abc");
	cudnnGetLastErrorString(text, sizeof text);
	assert_string_equal(text, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensors),
		cmocka_unit_test(filters),
		cmocka_unit_test(convolutions),
		cmocka_unit_test(two_dimensions),
		cmocka_unit_test(outputs),
		cmocka_unit_test(versions),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
