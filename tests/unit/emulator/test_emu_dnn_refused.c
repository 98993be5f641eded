/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_dnn_refused.c -- what cuDNN's legacy operations
 * refuse on the emulated GPU: shapes and types that do not fit, sizes,
 * memory. */
#include "test_emu_dnn_ops.h"

#define BAD(call) assert_int_equal((call), CUDNN_STATUS_BAD_PARAM)
#define UNSUPPORTED(call) assert_int_equal((call), CUDNN_STATUS_NOT_SUPPORTED)
#define FAILED(call) assert_int_equal((call), CUDNN_STATUS_EXECUTION_FAILED)

static void
activations(void **state)
{
	(void)state;
	OK(cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_RELU,
	    CUDNN_PROPAGATE_NAN, 0));
#define FORWARD(to, at) cudnnActivationForward(handle, activation, &one,      \
	x_desc, x, &zero, to, at)
#define BACKWARD(of_y, of_dy, at_dy, of_dx, at_dx) cudnnActivationBackward(   \
	handle, activation, &one, of_y, y, of_dy, at_dy, x_desc, x, &zero,    \
	of_dx, at_dx)
	OK(FORWARD(y_desc, y));
	OK(BACKWARD(y_desc, y_desc, dy, x_desc, dx));
	shape(small_desc, CUDNN_DATA_FLOAT, N, C, H, W);
	BAD(FORWARD(small_desc, y)); /* another type */
	BAD(BACKWARD(small_desc, y_desc, dy, x_desc, dx));
	BAD(BACKWARD(y_desc, small_desc, dy, x_desc, dx));
	BAD(BACKWARD(y_desc, y_desc, dy, small_desc, dx));
	shape(small_desc, CUDNN_DATA_DOUBLE, N, C, W, H);
	BAD(FORWARD(small_desc, y)); /* another shape */
	OK(cudnnSetTensor4dDescriptor(small_desc, CUDNN_TENSOR_NHWC,
	    CUDNN_DATA_DOUBLE, N, C, H, W));
	OK(FORWARD(small_desc, y));
	BAD(FORWARD(small_desc, x)); /* elements would change places */
	OK(BACKWARD(y_desc, small_desc, dy, x_desc, dx));
	BAD(BACKWARD(y_desc, small_desc, dy, x_desc, dy));
	FAILED(FORWARD(y_desc, ys)); /* the host's */
	BAD(FORWARD(y_desc, NULL));
	shape(x_desc, CUDNN_DATA_DOUBLE, 1, 1, 1, 1);
	shape(y_desc, CUDNN_DATA_DOUBLE, 1, 1, 1, 1);
	FAILED(FORWARD(y_desc, (char *)y + 4)); /* between two elements */
	OK(FORWARD(y_desc, (char *)y + 8));
}

static void
norms(void **state)
{
	const cudnnBatchNormMode_t mode = CUDNN_BATCHNORM_SPATIAL;
	const int dims[6] = { 2, 3, 2, 2, 1, 1 },
		  flat[6] = { 1, 3, 1, 1, 1, 1 };
	size_t bytes;

	(void)state;
	OK(cudnnDeriveBNTensorDescriptor(small_desc, x_desc, mode));
#define TRAIN(how, epsilon) cudnnBatchNormalizationForwardTraining(handle,    \
	how, &one, &zero, x_desc, x, y_desc, y, small_desc, scale, bias, 1,   \
	mean, variance, epsilon, NULL, NULL)
#define GRADIENT() cudnnBatchNormalizationBackward(handle, mode, &one, &zero, \
	&one, &zero, x_desc, x, x_desc, dy, y_desc, dx, small_desc, scale,    \
	dscale, dbias, 1e-3, NULL, NULL)
	OK(TRAIN(mode, 1e-3));
	OK(GRADIENT());
	BAD(TRAIN(mode, -1e-3));
	BAD(TRAIN((cudnnBatchNormMode_t)3, 1e-3));
	shape(y_desc, CUDNN_DATA_DOUBLE, N, C, W, H);
	BAD(TRAIN(mode, 1e-3));
	BAD(GRADIENT());
	for (int n = 3; n <= 6; n++) { /* four and five dimensions */
		OK(cudnnSetTensorNdDescriptorEx(x_desc, CUDNN_TENSOR_NCHW,
		    CUDNN_DATA_DOUBLE, n, dims));
		OK(cudnnSetTensorNdDescriptorEx(y_desc, CUDNN_TENSOR_NCHW,
		    CUDNN_DATA_DOUBLE, n, dims));
		OK(cudnnSetTensorNdDescriptorEx(small_desc, CUDNN_TENSOR_NCHW,
		    CUDNN_DATA_DOUBLE, n, flat));
		assert_int_equal(TRAIN(mode, 1e-3), n == 4 || n == 5 ? 0 :
		    CUDNN_STATUS_BAD_PARAM);
	}
	BAD(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle,
	    (cudnnBatchNormMode_t)3, CUDNN_BATCHNORM_OPS_BN, activation,
	    x_desc, &bytes));
	BAD(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle,
	    mode, CUDNN_BATCHNORM_OPS_BN, activation, NULL, &bytes));
	BAD(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle,
	    mode, CUDNN_BATCHNORM_OPS_BN, activation, x_desc, NULL));
}

/* A running average with factor 1 forgets its old value, even NaN. */
static void
first_average(void **state)
{
	double got[C];

	(void)state;
	OK(cudnnDeriveBNTensorDescriptor(small_desc, x_desc,
	    CUDNN_BATCHNORM_SPATIAL));
	OK(cudaMemset(mean, 0xff, sizeof got));
	OK(TRAIN(CUDNN_BATCHNORM_SPATIAL, 1e-3));
	get(got, mean, C);
	for (int i = 0; i < C; i++)
		assert_true(isfinite(got[i]));
}

static cudnnStatus_t
pool_with(int mode, int window, int stride)
{
	return cudnnSetPooling2dDescriptor(pooling, (cudnnPoolingMode_t)mode,
	    CUDNN_PROPAGATE_NAN, window, window, 0, 0, stride, stride);
}

static void
pools(void **state)
{
	const int ones[7] = { 1, 1, 1, 1, 1, 1, 1 }, none[7] = { 0 };
	int n, c, h, w, dims[5];

	(void)state;
	BAD(pool_with(4, 2, 1));
	BAD(pool_with(0, 2, 0));
	BAD(pool_with(0, 0, 1));
	UNSUPPORTED(cudnnSetPoolingNdDescriptor(pooling, CUDNN_POOLING_MAX,
	    CUDNN_PROPAGATE_NAN, 7, ones, none, ones));
	OK(pool_with(0, 5, 1));
	BAD(cudnnGetPooling2dForwardOutputDim(pooling, x_desc, &n, &c, &h,
	    &w)); /* wider than the image */
	OK(pool_with(0, 2, 2));
	OK(cudnnGetPooling2dForwardOutputDim(pooling, x_desc, &n, &c, &h, &w));
	assert_true(h == 2 && w == 2); /* the last row is left over */
	BAD(cudnnGetPoolingNdForwardOutputDim(pooling, x_desc, 5, dims));
#define POOL() cudnnPoolingForward(handle, pooling, &one, x_desc, x, &zero,   \
	y_desc, y)
#define UNPOOL(of_dy, of_dx) cudnnPoolingBackward(handle, pooling, &one,      \
	y_desc, y, of_dy, dy, x_desc, x, &zero, of_dx, dx)
	shape(y_desc, CUDNN_DATA_DOUBLE, N, C, 2, 2);
	OK(POOL());
	OK(UNPOOL(y_desc, x_desc));
	BAD(UNPOOL(x_desc, x_desc));
	BAD(UNPOOL(y_desc, y_desc));
	shape(y_desc, CUDNN_DATA_FLOAT, N, C, 2, 2);
	BAD(POOL());
	for (int space = 1; space <= 3; space += 2) { /* x has two */
		OK(cudnnSetPoolingNdDescriptor(pooling, CUDNN_POOLING_MAX,
		    CUDNN_PROPAGATE_NAN, space, ones, ones, ones));
		BAD(cudnnGetPoolingNdForwardOutputDim(pooling, x_desc, 4,
		    dims));
	}
	OK(cudnnSetTensorNdDescriptorEx(x_desc, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_DOUBLE, 5, ones));
	BAD(cudnnGetPooling2dForwardOutputDim(pooling, x_desc, &n, &c, &h,
	    &w));
	OK(cudnnGetPoolingNdForwardOutputDim(pooling, x_desc, 5, dims));
}

/* Minus infinity can be a maximum like any other. */
static void
pool_of_nothing_finite(void **state)
{
	const double infinite[4] = { -INFINITY, -INFINITY, -INFINITY,
		-INFINITY };
	double got[4];

	(void)state;
	shape(x_desc, CUDNN_DATA_DOUBLE, 1, 1, 2, 2);
	shape(y_desc, CUDNN_DATA_DOUBLE, 1, 1, 1, 1);
	OK(pool_with(0, 2, 1));
	put(x, infinite, 4);
	OK(POOL());
	OK(UNPOOL(y_desc, x_desc));
	get(got, dx, 4);
	assert_true(got[0] == dys[0] && got[1] == 0);
	get(got, y, 1);
	assert_true(isinf(got[0]) && got[0] < 0);
}

static void
reductions(void **state)
{
	cudnnReduceTensorDescriptor_t op;
	unsigned *indices = test_device(4), host = 7;
	size_t bytes;

	(void)state;
	OK(cudnnCreateReduceTensorDescriptor(&op));
	shape(small_desc, CUDNN_DATA_DOUBLE, 1, 1, 1, 1);
#define ASK(type, which) OK(cudnnSetReduceTensorDescriptor(op,                \
	CUDNN_REDUCE_TENSOR_MAX, type, CUDNN_PROPAGATE_NAN, which,            \
	CUDNN_32BIT_INDICES))
#define REDUCE(to, index_bytes, room) cudnnReduceTensor(handle, op, to,       \
	index_bytes, room, 8, &one, x_desc, x, &zero, small_desc, y)
	ASK(CUDNN_DATA_FLOAT, CUDNN_REDUCE_TENSOR_NO_INDICES);
	OK(cudnnGetReductionWorkspaceSize(handle, op, x_desc, small_desc,
	    &bytes));
	assert_int_equal(bytes, 4);
	ASK(CUDNN_DATA_DOUBLE, CUDNN_REDUCE_TENSOR_FLATTENED_INDICES);
	OK(cudnnGetReductionWorkspaceSize(handle, op, x_desc, small_desc,
	    &bytes));
	assert_int_equal(bytes, 8);
	OK(REDUCE(indices, 4, dx));
	BAD(REDUCE(indices, 3, dx));
	FAILED(REDUCE(&host, 4, dx));
	FAILED(REDUCE(indices, 4, ys));
	ASK(CUDNN_DATA_DOUBLE, CUDNN_REDUCE_TENSOR_NO_INDICES);
	OK(cudaMemset(indices, 0x55, 4));
	OK(REDUCE(indices, 4, dx)); /* not asked for, not written */
	OK(cudaMemcpy(&host, indices, 4, cudaMemcpyDeviceToHost));
	assert_int_equal(host, 0x55555555);
	OK(REDUCE(NULL, 0, dx));
	OK(cudnnDestroyReduceTensorDescriptor(op));
	OK(cudaFree(indices));
}

static void
operands(void **state)
{
	const int five[5] = { N, C, H, W, 1 };
	const int8_t integer = 3; /* of which one byte is read at most */
	cudnnOpTensorDescriptor_t op;

	(void)state;
	OK(cudnnCreateOpTensorDescriptor(&op));
	shape(small_desc, CUDNN_DATA_DOUBLE, 1, C, 1, 1);
	BAD(cudnnTransformTensor(handle, &one, small_desc, bias, &zero, y_desc,
	    y)); /* nothing is repeated */
	OK(cudnnSetTensorNdDescriptorEx(y_desc, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_DOUBLE, 5, five));
	BAD(cudnnAddTensor(handle, &one, small_desc, bias, &zero, y_desc, y));
	shape(y_desc, CUDNN_DATA_DOUBLE, N, C, H, W);
#define TWO(of_b, of_c, at_c) cudnnOpTensor(handle, op, &one, x_desc, x,      \
	&one, of_b, dy, &zero, of_c, at_c)
	OK(cudnnSetOpTensorDescriptor(op, CUDNN_OP_TENSOR_MIN,
	    CUDNN_DATA_DOUBLE, CUDNN_PROPAGATE_NAN));
	OK(TWO(small_desc, y_desc, y));
	shape(small_desc, CUDNN_DATA_DOUBLE, 1, C, 2, 1);
	BAD(TWO(small_desc, y_desc, y));
	BAD(TWO(NULL, y_desc, y));
	OK(cudnnSetTensor4dDescriptor(small_desc, CUDNN_TENSOR_NHWC,
	    CUDNN_DATA_DOUBLE, N, C, H, W));
	OK(TWO(x_desc, small_desc, y));
	BAD(TWO(x_desc, small_desc, x));
	shape(small_desc, CUDNN_DATA_INT8, 1, 1, 1, 1);
	UNSUPPORTED(cudnnSetTensor(handle, small_desc, y, &integer));
	OK(cudnnDestroyOpTensorDescriptor(op));
}

/* NaN wins if NaNs are propagated, else it loses. */
static void
least_of_nan(void **state)
{
	const double values[2] = { NAN, 1 };
	cudnnOpTensorDescriptor_t op;
	double got[2];

	(void)state;
	OK(cudnnCreateOpTensorDescriptor(&op));
	shape(x_desc, CUDNN_DATA_DOUBLE, 1, 1, 1, 2);
	shape(y_desc, CUDNN_DATA_DOUBLE, 1, 1, 1, 2);
	put(x, values, 2);
	put(dy, &two, 1);
	for (int nan = 0; nan < 2; nan++) {
		OK(cudnnSetOpTensorDescriptor(op, CUDNN_OP_TENSOR_MIN,
		    CUDNN_DATA_DOUBLE, (cudnnNanPropagation_t)nan));
		OK(TWO(x_desc, y_desc, y));
		get(got, y, 2);
		assert_true(nan ? isnan(got[0]) : got[0] == 2);
		assert_true(got[1] == fmin(1, dys[1]));
	}
	OK(cudnnDestroyOpTensorDescriptor(op));
}

static void
softmaxes(void **state)
{
	(void)state;
#define SOFTEN(how, to, at) cudnnSoftmaxForward(handle,                       \
	(cudnnSoftmaxAlgorithm_t)(how), CUDNN_SOFTMAX_MODE_CHANNEL, &one,     \
	x_desc, x, &zero, to, at)
	OK(SOFTEN(2, y_desc, y));
	BAD(SOFTEN(3, y_desc, y));
	OK(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NHWC,
	    CUDNN_DATA_DOUBLE, N, C, H, W));
	OK(SOFTEN(2, y_desc, y));
	BAD(SOFTEN(2, y_desc, x));
}

static void
dropouts(void **state)
{
	cudnnDropoutDescriptor_t op;
	double first[COUNT];
	size_t bytes, reserve_bytes;
	void *states, *reserve;

	(void)state;
	OK(cudnnCreateDropoutDescriptor(&op));
	OK(cudnnDropoutGetStatesSize(handle, &bytes));
	OK(cudnnDropoutGetReserveSpaceSize(x_desc, &reserve_bytes));
	states = test_device(bytes);
	reserve = test_device(reserve_bytes);
#define SET(share, at, size, seed) cudnnSetDropoutDescriptor(op, handle,      \
	share, at, size, seed)
#define DROP(at) cudnnDropoutForward(handle, op, x_desc, x, y_desc, y, at,    \
	reserve_bytes)
	BAD(SET(-0.5f, states, bytes, 1));
	BAD(SET(NAN, states, bytes, 1));
	BAD(SET(0.5f, states, bytes - 1, 1));
	FAILED(SET(0.5f, first, bytes, 1));
	for (unsigned seed = 1; seed < 3; seed++) {
		OK(SET(0.5f, states, bytes, seed));
		OK(DROP(reserve));
		get(ys, y, COUNT);
		if (seed == 1)
			memcpy(first, ys, sizeof first);
	}
	assert_int_not_equal(memcmp(first, ys, sizeof first), 0);
	FAILED(DROP(first));
	OK(cudnnDestroyDropoutDescriptor(op));
	OK(cudaFree(states));
	OK(cudaFree(reserve));
}

/* The next handle reuses a destroyed one's memory; a capture goes on only if no
 * handle is made or destroyed meanwhile. */
static void
handles(void **state)
{
	static char nothing[4096];
	const uint64_t syncs = emuCounter("syncs");
	cudnnHandle_t other, next;
	cudaStream_t stream;
	cudaGraph_t graph;

	(void)state;
	BAD(cudnnSetStream(handle, (cudaStream_t)(void *)nothing));
	OK(cudnnCreate(&other));
	OK(cudnnDestroy(other));
	assert_true(emuCounter("syncs") > syncs); /* it waited */
	OK(cudnnCreate(&next));
	assert_ptr_equal(next, other);
	OK(cudaStreamCreate(&stream));
	for (int destroy = 0; destroy < 2; destroy++) {
		OK(cudaStreamBeginCapture(stream,
		    cudaStreamCaptureModeGlobal));
		assert_int_equal(destroy ? cudnnDestroy(next) :
		    cudnnCreate(&other), destroy ?
		    CUDNN_STATUS_EXECUTION_FAILED :
		    CUDNN_STATUS_NOT_INITIALIZED);
		assert_int_not_equal(cudaStreamEndCapture(stream, &graph), 0);
		cudaGetLastError();
	}
	OK(cudnnDestroy(next)); /* it still was a handle */
	assert_int_equal(cudnnDestroy(next), CUDNN_STATUS_NOT_INITIALIZED);
	OK(cudaStreamDestroy(stream));
}

/* The status of work by a handle of device 1 on device 0, and by one whose
 * context is gone. */
static int
elsewhere(void)
{
	cudnnStatus_t status;

	OK(cudaSetDevice(1));
	setup(NULL);
	OK(cudaSetDevice(0));
	status = cudnnScaleTensor(handle, x_desc, room(COUNT, 1), &two);
	if (status != CUDNN_STATUS_EXECUTION_FAILED)
		return 1;
	OK(cudaSetDevice(1));
	OK(cudnnScaleTensor(handle, x_desc, x, &two));
	OK(cudaDeviceReset());
	status = cudnnScaleTensor(handle, x_desc, room(COUNT, 1), &two);
	return status == CUDNN_STATUS_EXECUTION_FAILED ? 0 : 2;
}

static void
other_devices(void **state)
{
	char text[4096];
	const int status = test_again("elsewhere", "AUTOCAST_EMU_MODEL",
	    "h100,h100", text, sizeof text);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_non_null(strstr(text, "no peer access"));
	assert_non_null(strstr(text, "context is gone"));
}

int
main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(activations), TEST(norms), TEST(first_average),
		TEST(pools), TEST(pool_of_nothing_finite), TEST(reductions),
		TEST(operands), TEST(least_of_nan), TEST(softmaxes),
		TEST(dropouts), TEST(handles), TEST(other_devices),
	};

	(void)argv;
	if (argc > 1)
		return elsewhere();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
