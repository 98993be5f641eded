/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_descriptors.c -- what a call's descriptors say, as a
 * struct ac_conv, against a cuDNN that is made up. */
#include "shim/conv/descriptors.h"
#include "tests/unit/cases.h"

/* ---- The made-up cuDNN -------------------------------------------------- */

enum { X, Y, W, Z, BIAS, TENSORS };

struct tensor {
	cudnnStatus_t status;
	int type, format, dims, dim[8], stride[8];
};

static struct tensor tensors[TENSORS];
static struct geometry {
	cudnnStatus_t status, math_status, group_status, activation_status;
	int space, pad[6], stride[6], dilation[6], mode, type, math, groups;
	int activation;
} geometry;
static struct ac_provider provider;
static struct ac_conv_call call;
static float alpha, beta;

static cudnnStatus_t
get_tensor(const struct tensor *t, int asked, cudnnDataType_t *type, int *dims,
    int dim[])
{
	*type = (cudnnDataType_t)t->type;
	*dims = t->dims;
	memcpy(dim, t->dim, (size_t)asked * sizeof *dim);
	return t->status;
}

static cudnnStatus_t CUDNNWINAPI
get_tensor_nd(const cudnnTensorDescriptor_t descriptor, int asked,
    cudnnDataType_t *type, int *dims, int dim[], int stride[])
{
	const struct tensor *t = (const void *)descriptor;

	memcpy(stride, t->stride, (size_t)asked * sizeof *stride);
	return get_tensor(t, asked, type, dims, dim);
}

static cudnnStatus_t CUDNNWINAPI
get_filter_nd(const cudnnFilterDescriptor_t descriptor, int asked,
    cudnnDataType_t *type, cudnnTensorFormat_t *format, int *dims, int dim[])
{
	const struct tensor *t = (const void *)descriptor;

	*format = (cudnnTensorFormat_t)t->format;
	return get_tensor(t, asked, type, dims, dim);
}

static cudnnStatus_t CUDNNWINAPI
get_convolution(const cudnnConvolutionDescriptor_t descriptor, int asked,
    int *space, int pad[], int stride[], int dilation[],
    cudnnConvolutionMode_t *mode, cudnnDataType_t *type)
{
	assert_ptr_equal(descriptor, &geometry);
	assert_int_equal(asked, 6);
	*space = geometry.space;
	memcpy(pad, geometry.pad, sizeof geometry.pad);
	memcpy(stride, geometry.stride, sizeof geometry.stride);
	memcpy(dilation, geometry.dilation, sizeof geometry.dilation);
	*mode = (cudnnConvolutionMode_t)geometry.mode;
	*type = (cudnnDataType_t)geometry.type;
	return geometry.status;
}

static cudnnStatus_t CUDNNWINAPI
get_math(cudnnConvolutionDescriptor_t descriptor, cudnnMathType_t *math)
{
	*math = (cudnnMathType_t)geometry.math;
	return geometry.math_status;
}

static cudnnStatus_t CUDNNWINAPI
get_groups(cudnnConvolutionDescriptor_t descriptor, int *groups)
{
	*groups = geometry.groups;
	return geometry.group_status;
}

static cudnnStatus_t CUDNNWINAPI
get_activation(const cudnnActivationDescriptor_t descriptor,
    cudnnActivationMode_t *mode, cudnnNanPropagation_t *nan, double *value)
{
	assert_ptr_equal(descriptor, &geometry.activation);
	*mode = (cudnnActivationMode_t)geometry.activation;
	*nan = CUDNN_NOT_PROPAGATE_NAN;
	*value = 0;
	return geometry.activation_status;
}

/* What is asked about workspace: by which function, with what in turn. */
static struct { int by, questions; size_t bytes; cudnnStatus_t status; } size;

static cudnnStatus_t
answer(int by, const void *first, const void *second, const void *third,
    int algo, size_t *bytes)
{
	const void *const in_turn[][3] = {
		{ call.x_desc, call.w_desc, call.y_desc },
		{ call.w_desc, call.y_desc, call.x_desc },
		{ call.x_desc, call.y_desc, call.w_desc }
	};

	size.by = by;
	size.questions++;
	assert_ptr_equal(first, in_turn[by][0]);
	assert_ptr_equal(second, in_turn[by][1]);
	assert_ptr_equal(third, in_turn[by][2]);
	assert_int_equal(algo, call.algo);
	*bytes = size.bytes;
	return size.status;
}

#define SIZE(name, by, algo_t, first_t, second_t, third_t) \
static cudnnStatus_t CUDNNWINAPI \
name(cudnnHandle_t handle, const first_t first, const second_t second, \
    const cudnnConvolutionDescriptor_t conv, const third_t third, algo_t algo, \
    size_t *bytes) \
{ \
	assert_ptr_equal(handle, call.handle); \
	assert_ptr_equal(conv, call.conv_desc); \
	return answer(by, first, second, third, (int)algo, bytes); \
}
SIZE(size_forward, 0, cudnnConvolutionFwdAlgo_t, cudnnTensorDescriptor_t,
    cudnnFilterDescriptor_t, cudnnTensorDescriptor_t)
SIZE(size_data, 1, cudnnConvolutionBwdDataAlgo_t, cudnnFilterDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t)
SIZE(size_filter, 2, cudnnConvolutionBwdFilterAlgo_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnFilterDescriptor_t)

/* In place of shim/bind/provider.c: it has all that it will ever have. */
ac_fn
ac_provider_look_up(struct ac_provider *of, enum ac_entry entry)
{
	return NULL;
}

/* ---- A call ------------------------------------------------------------- */

static void
set(int which, int type, int a, int b, int c, int d)
{
	const int dim[] = { a, b, c, d };
	struct tensor *t = &tensors[which];

	memset(t, 0, sizeof *t);
	t->type = type;
	t->dims = 4;
	memcpy(t->dim, dim, sizeof dim);
	for (int i = 3, stride = 1; i >= 0; stride *= dim[i], i--)
		t->stride[i] = stride;
}

#define FUSED ((void *)&geometry.activation)
#define AT(i) ((void *)((uintptr_t)(i) << 20))

/* Two images of 6 channels, 5 x 4, to 8 channels in 2 groups, 3 x 2. */
static int
begin(void **state)
{
	set(X, CUDNN_DATA_FLOAT, 2, 6, 5, 4);
	set(Y, CUDNN_DATA_FLOAT, 2, 8, 3, 3);
	set(W, CUDNN_DATA_FLOAT, 8, 3, 3, 2);
	set(Z, CUDNN_DATA_FLOAT, 2, 8, 3, 3);
	set(BIAS, CUDNN_DATA_FLOAT, 1, 8, 1, 1);
	geometry = (struct geometry){ .space = 2, .pad = { 1, 2 },
		.stride = { 3, 4 }, .dilation = { 5, 6 }, .groups = 2,
		.mode = CUDNN_CONVOLUTION, .type = CUDNN_DATA_FLOAT,
		.math = CUDNN_FMA_MATH, .activation = CUDNN_ACTIVATION_RELU };
#define REAL(symbol, made_up) \
	provider.real[ENTRY_##symbol] = (ac_fn)(made_up)
	REAL(cudnnGetTensorNdDescriptor, get_tensor_nd);
	REAL(cudnnGetFilterNdDescriptor, get_filter_nd);
	REAL(cudnnGetConvolutionNdDescriptor, get_convolution);
	REAL(cudnnGetConvolutionMathType, get_math);
	REAL(cudnnGetConvolutionGroupCount, get_groups);
	REAL(cudnnGetActivationDescriptor, get_activation);
	REAL(cudnnGetConvolutionForwardWorkspaceSize, size_forward);
	REAL(cudnnGetConvolutionBackwardDataWorkspaceSize, size_data);
	REAL(cudnnGetConvolutionBackwardFilterWorkspaceSize, size_filter);
	alpha = 1;
	beta = 0;
	call = (struct ac_conv_call){ .provider = &provider,
		.handle = AT(9), .operation = AC_OP_CONV_FPROP,
		.algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
		.x_desc = (void *)&tensors[X], .y_desc = (void *)&tensors[Y],
		.w_desc = (void *)&tensors[W], .z_desc = (void *)&tensors[Z],
		.bias_desc = (void *)&tensors[BIAS],
		.conv_desc = (void *)&geometry,
		.x = AT(1), .w = AT(2), .y = AT(3), .z = AT(4), .bias = AT(5),
		.alpha = &alpha, .beta = &beta };
	size.by = -1;
	size.questions = 0;
	size.bytes = 100;
	size.status = CUDNN_STATUS_SUCCESS;
	return 0;
}

static bool
read_call(struct ac_conv *conv)
{
	cudnnMathType_t math = CUDNN_DEFAULT_MATH;

	memset(conv, 0xff, sizeof *conv);
	if (!ac_conv_of_call(&call, conv, &math))
		return false;
	assert_int_equal(math, CUDNN_FMA_MATH);
	return true;
}

#define is_read() read_call(&(struct ac_conv){ .space = 0 })

/* ---- What is read ------------------------------------------------------- */

static void
assert_tensor(const struct ac_conv_tensor *t, int64_t uid, int which,
    int64_t alignment)
{
	assert_int_equal(t->uid, uid);
	assert_int_equal(t->dims, 4);
	assert_int_equal(t->type, CUDNN_DATA_FLOAT);
	assert_int_equal(t->alignment, alignment);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(t->dim[i], tensors[which].dim[i]);
		assert_int_equal(t->stride[i], tensors[which].stride[i]);
	}
}

CASE_WITH(test_plain, begin, NULL)
{
	struct ac_conv conv;

	call.w = (char *)AT(2) + 4;
	call.y = (char *)AT(3) + 24;
	alpha = 0.5f;
	beta = 2;
	assert_true(read_call(&conv));
	assert_tensor(&conv.x, AC_CONV_X, X, 16);
	assert_tensor(&conv.w, AC_CONV_W, W, 4);
	assert_tensor(&conv.y, AC_CONV_Y, Y, 8);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(conv.pad[i], 1 + i);
		assert_int_equal(conv.post_pad[i], 1 + i);
		assert_int_equal(conv.stride[i], 3 + i);
		assert_int_equal(conv.dilation[i], 5 + i);
	}
	assert_int_equal(conv.operation, AC_OP_CONV_FPROP);
	assert_int_equal(conv.space, 2);
	assert_int_equal(conv.mode, CUDNN_CONVOLUTION);
	assert_int_equal(conv.type, CUDNN_DATA_FLOAT);
	assert_int_equal(conv.steps, 0);
	assert_true(conv.scalars.alpha == 0.5 && conv.scalars.beta == 2);
	assert_true(conv.adds && conv.scales);
	alpha = 1;
	beta = 0;
	assert_true(read_call(&conv));
	assert_true(!conv.adds && !conv.scales);
	/* A question about sizes has neither scalars nor data. */
	call.alpha = call.beta = NULL;
	call.x = call.w = call.y = NULL;
	assert_true(read_call(&conv));
	assert_true(conv.scalars.alpha == 1 && conv.scalars.beta == 0);
	assert_int_equal(conv.x.alignment, 16);
}

CASE_WITH(test_filter_orders, begin, NULL)
{
	const int64_t nchw[] = { 18, 6, 2, 1 }, nhwc[] = { 18, 1, 6, 3 };
	struct ac_conv conv;

	assert_true(read_call(&conv));
	assert_memory_equal(conv.w.stride, nchw, sizeof nchw);
	tensors[W].format = CUDNN_TENSOR_NHWC;
	assert_true(read_call(&conv));
	assert_memory_equal(conv.w.stride, nhwc, sizeof nhwc);
	tensors[W].format = CUDNN_TENSOR_NCHW_VECT_C;
	assert_false(is_read());
}

/* ---- What is not -------------------------------------------------------- */

/* One number of the made-up cuDNN that makes the call unreadable. */
CASE_WITH(test_refused, begin, NULL)
{
	const struct { int *at, is; } rows[] = {
		{ (int *)&tensors[X].status, 1 },
		{ (int *)&tensors[Y].status, 1 },
		{ (int *)&tensors[W].status, 1 },
		{ &tensors[X].dims, 2 }, { &tensors[X].dims, 5 },
		{ &tensors[X].dims, 6 }, { &tensors[Y].dims, 3 },
		{ &tensors[W].dims, 3 }, { &tensors[W].dims, 5 },
		{ (int *)&geometry.status, 1 },
		{ (int *)&geometry.math_status, 1 },
		{ (int *)&geometry.group_status, 1 },
		{ &geometry.space, 0 }, { &geometry.space, 3 },
		{ &geometry.space, 4 }, { &geometry.groups, 0 },
		{ &geometry.groups, 1 }, { &geometry.groups, -2 },
		{ &tensors[W].dim[0], 7 }, { &tensors[W].dim[1], 6 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		begin(state);
		assert_true(is_read());
		*rows[i].at = rows[i].is;
		if (is_read())
			fail_msg("row %zu", i);
	}
}

CASE_WITH(test_dimensions, begin, NULL)
{
	for (int dims = 2; dims <= 6; dims++) {
		for (int i = 0; i < 3; i++) {
			tensors[i].dims = dims;
			for (int j = 4; j < 8; j++)
				tensors[i].dim[j] = tensors[i].stride[j] = 1;
		}
		geometry.space = dims - 2;
		assert_int_equal(is_read(), dims >= 3 && dims <= 5);
	}
}

/* Missing descriptors, and functions that this cuDNN does not have. */
CASE_WITH(test_missing, begin, NULL)
{
	static const enum ac_entry needed[] = {
		ENTRY_cudnnGetTensorNdDescriptor,
		ENTRY_cudnnGetFilterNdDescriptor,
		ENTRY_cudnnGetConvolutionNdDescriptor,
		ENTRY_cudnnGetConvolutionMathType,
		ENTRY_cudnnGetConvolutionGroupCount,
		ENTRY_cudnnGetActivationDescriptor
	};

	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		begin(state);
		call.activation = FUSED;
		assert_true(is_read());
		provider.real[needed[i]] = (ac_fn)0;
		assert_false(is_read());
	}
	for (int i = 0; i < 3; i++) {
		begin(state);
		*(i == 0 ? (void **)&call.x_desc : i == 1
		    ? (void **)&call.w_desc : (void **)&call.conv_desc) = NULL;
		assert_false(is_read());
	}
}

/* ---- What is fused ------------------------------------------------------ */

CASE_WITH(test_fused, begin, NULL)
{
	struct ac_conv conv;

	call.activation = FUSED;
	beta = 0.5f;
	assert_true(read_call(&conv));
	assert_int_equal(conv.steps, 3);
	assert_int_equal(conv.y.uid, AC_CONV_VIRTUAL);
	assert_true(conv.y.is_virtual && conv.scales && !conv.adds);
	assert_true(conv.scalars.beta == 0);
	assert_int_equal(conv.step[0].mode, CUDNN_POINTWISE_ADD);
	assert_tensor(&conv.step[0].other, AC_CONV_Z, Z, 16);
	assert_int_equal(conv.step[0].out.uid, AC_CONV_VIRTUAL + 1);
	assert_int_equal(conv.step[0].out.is_virtual, 1);
	assert_int_equal(conv.step[1].mode, CUDNN_POINTWISE_ADD);
	assert_int_equal(conv.step[1].other.uid, AC_CONV_BIAS);
	assert_int_equal(conv.step[1].out.uid, AC_CONV_VIRTUAL + 2);
	assert_int_equal(conv.step[2].mode, CUDNN_POINTWISE_RELU_FWD);
	assert_int_equal(conv.step[2].out.uid, AC_CONV_Y);
	assert_int_equal(conv.step[2].out.is_virtual, 0);
	for (int i = 0; i < 3; i++) {
		assert_true(conv.scalars.alpha1[i] == 1);
		assert_true(conv.scalars.alpha2[i] == (i ? 1 : 0.5));
	}
}

CASE_WITH(test_fused_without, begin, NULL)
{
	struct ac_conv conv;

	call.activation = FUSED;
	assert_true(read_call(&conv));
	assert_int_equal(conv.steps, 2);
	assert_int_equal(conv.step[0].other.uid, AC_CONV_BIAS);
	assert_int_equal(conv.step[1].mode, CUDNN_POINTWISE_RELU_FWD);
	assert_false(conv.scales);
	geometry.activation = CUDNN_ACTIVATION_IDENTITY;
	assert_true(read_call(&conv));
	assert_int_equal(conv.steps, 1);
	assert_int_equal(conv.step[0].out.uid, AC_CONV_Y);
	call.algo = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
	assert_false(is_read());
	geometry.activation = CUDNN_ACTIVATION_RELU;
	assert_true(is_read());
	alpha = 2;
	assert_true(read_call(&conv));
	assert_true(conv.scales);
	alpha = beta = 1;
	assert_true(read_call(&conv));
	assert_false(conv.scales);
	/* z of another type is added, and the objection is another file's. */
	tensors[Z].type = CUDNN_DATA_HALF;
	assert_true(is_read());
	beta = 0;
	assert_false(is_read());
}

CASE_WITH(test_fused_refused, begin, NULL)
{
	const struct { int *at, is; } rows[] = {
		{ (int *)&geometry.activation_status, 1 },
		{ &geometry.activation, CUDNN_ACTIVATION_TANH },
		{ (int *)&tensors[Z].status, 1 },
		{ (int *)&tensors[BIAS].status, 1 },
		{ &tensors[Z].dim[0], 1 }, { &tensors[Z].dim[1], 1 },
		{ &tensors[Z].dim[3], 1 }, { &tensors[Z].dims, 3 },
		{ &tensors[BIAS].dim[0], 2 }, { &tensors[BIAS].dim[1], 1 },
		{ &tensors[BIAS].dim[2], 3 }, { &tensors[BIAS].dims, 5 },
		{ &tensors[BIAS].stride[1], 2 },
	};

	for (int adds = 0; adds < 2; adds++)
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			begin(state);
			call.activation = FUSED;
			beta = (float)adds;
			assert_true(is_read());
			*rows[i].at = rows[i].is;
			if (is_read())
				fail_msg("row %zu", i);
		}
}

static const enum ac_operation operations[] = { AC_OP_CONV_FPROP,
	AC_OP_CONV_DGRAD, AC_OP_CONV_WGRAD };

/* ---- Memory ------------------------------------------------------------- */

CASE_WITH(test_extent, begin, NULL)
{
	struct ac_conv conv;

	assert_true(read_call(&conv));
	assert_int_equal(ac_conv_extent(&conv.x), 4 * 2 * 6 * 5 * 4);
	conv.x.stride[0] = 1000;
	assert_int_equal(ac_conv_extent(&conv.x), 4 * (1000 + 6 * 5 * 4));
}

#define overlaps(conv) ac_conv_overlaps(&(struct ac_conv_data){ { call.x, \
	call.w, call.y, call.z, call.bias } }, conv)

/* The output of each operation moves along each input, byte by byte: the last
 * place where they meet, and the first where they do not. */
CASE_WITH(test_overlaps, begin, NULL)
{
	const void **const all[] = { &call.y, &call.x, &call.w };
	struct ac_conv conv;

	assert_true(read_call(&conv));
	for (int op = 0; op < 3; op++)
		for (int other = 0; other < 3; other++) {
			const struct ac_conv_tensor *const of[] = { &conv.y,
				&conv.x, &conv.w };
			const uint64_t in = ac_conv_extent(of[other]);
			const uint64_t out = ac_conv_extent(of[op]);
			char *at;

			if (op == other)
				continue;
			begin(state);
			conv.operation = (int32_t)operations[op];
			assert_false(overlaps(&conv));
			at = (char *)(uintptr_t)*all[other];
			*all[op] = at + in - 1;
			assert_true(overlaps(&conv));
			*all[op] = at + in;
			assert_false(overlaps(&conv));
			*all[op] = at - out + 1;
			assert_true(overlaps(&conv));
			*all[op] = at - out;
			assert_false(overlaps(&conv));
			*all[op] = (char *)8; /* near what is not there */
			*all[other] = NULL;
			assert_false(overlaps(&conv));
		}
}

CASE_WITH(test_fused_overlaps, begin, NULL)
{
	struct ac_conv conv;

	call.activation = FUSED;
	beta = 1;
	assert_true(read_call(&conv));
	assert_false(overlaps(&conv));
	call.y = call.z;
	assert_true(overlaps(&conv));
	call.y = (const char *)call.bias + 31;
	assert_true(overlaps(&conv));
	call.y = (const char *)call.bias + 32;
	assert_false(overlaps(&conv));
	/* z is not read. */
	beta = 0;
	call.y = call.z;
	assert_true(read_call(&conv));
	assert_false(overlaps(&conv));
}

/* ---- Its own algorithm -------------------------------------------------- */

CASE_WITH(test_is_good, begin, NULL)
{
	_Atomic int64_t known;

	for (int op = 0; op < 3; op++) {
		begin(state);
		call.operation = operations[op];
		call.algo = 3;
		call.bytes = 100;
		call.workspace = AT(8);
		known = -1;
		assert_true(ac_conv_is_good(&call, &known));
		assert_int_equal(size.by, op);
		assert_int_equal(known, 100);
		call.bytes = 99;
		assert_false(ac_conv_is_good(&call, &known));
		call.bytes = 100;
		call.workspace = NULL;
		assert_false(ac_conv_is_good(&call, &known));
		assert_int_equal(size.questions, 1);
	}
	known = -1;
	size.bytes = call.bytes = 0;
	assert_true(ac_conv_is_good(&call, &known));
	known = -1;
	size.status = CUDNN_STATUS_NOT_SUPPORTED;
	call.bytes = SIZE_MAX / 4;
	call.workspace = AT(8);
	assert_false(ac_conv_is_good(&call, &known));
	assert_false(ac_conv_is_good(&call, &known));
	assert_int_equal(size.questions, 3);
	known = -1;
	provider.real[ENTRY_cudnnGetConvolutionBackwardFilterWorkspaceSize] =
	    (ac_fn)0;
	assert_false(ac_conv_is_good(&call, &known));
}

CASES_RUN(NULL, NULL)
