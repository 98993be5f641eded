/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_conv_refused.c -- convolutions that the emulated
 * cuDNN refuses: geometries, types, algorithms, memory; also of the fused call,
 * whose arithmetic is tested here as well. Nothing of them is queued. */
#include "test_emu_conv.h"

static cudnnHandle_t handle;
static const float one = 1, zero = 0;
static float *memory;           /* device memory, ROOM bytes */
static char  *workspace;
enum { ROOM = 1 << 16 };

/* A forward convolution, two-dimensional unless `space` says otherwise. */
struct row {
	int x[5], w[5], y[5], pad, stride, groups, space;
	cudnnDataType_t types[3], compute;
	int algorithm;
	cudnnStatus_t status;
};

static cudnnStatus_t
forward(const struct row *r)
{
	struct test_conv d = test_conv_new();
	const int space = r->space ? r->space : 2;
	const int pad[3] = { r->pad, r->pad, r->pad };
	const int stride[3] = { r->stride + 1, r->stride + 1, r->stride + 1 };
	const int dilation[3] = { 1, 1, 1 };
	cudnnStatus_t status;

	OK(cudnnSetTensorNdDescriptorEx(d.x, CUDNN_TENSOR_NCHW, r->types[0],
	    space + 2, r->x));
	OK(cudnnSetFilterNdDescriptor(d.w, r->types[1], CUDNN_TENSOR_NCHW,
	    space + 2, r->w));
	OK(cudnnSetTensorNdDescriptorEx(d.y, CUDNN_TENSOR_NCHW, r->types[2],
	    space + 2, r->y));
	OK(cudnnSetConvolutionNdDescriptor(d.conv, space, pad, stride,
	    dilation, CUDNN_CROSS_CORRELATION, r->compute));
	OK(cudnnSetConvolutionGroupCount(d.conv, r->groups + 1));
	status = cudnnConvolutionForward(handle, &one, d.x, memory, d.w,
	    memory, d.conv, (cudnnConvolutionFwdAlgo_t)r->algorithm, workspace,
	    ROOM, &zero, d.y, memory + 1024);
	test_conv_drop(&d);
	return status;
}

#define F CUDNN_DATA_FLOAT
#define H CUDNN_DATA_HALF
#define B CUDNN_DATA_BFLOAT16
#define I CUDNN_DATA_INT8
#define D CUDNN_DATA_DOUBLE
static const struct row rows[] = {
	/* stride and groups: one less than the value */
	{ { 2, 4, 5, 5 }, { 6, 4, 3, 3 }, { 2, 6, 3, 3 }, .pad = 0 },
	{ { 2, 4, 5, 5 }, { 6, 4, 3, 3 }, { 1, 6, 3, 3 },
	  .status = CUDNN_STATUS_BAD_PARAM }, /* another batch */
	{ { 2, 4, 5, 5 }, { 6, 4, 3, 3 }, { 2, 5, 3, 3 },
	  .status = CUDNN_STATUS_BAD_PARAM }, /* other channels */
	{ { 2, 4, 5, 5 }, { 6, 4, 3, 3 }, { 2, 6, 3, 4 },
	  .status = CUDNN_STATUS_BAD_PARAM },
	{ { 2, 4, 5, 5 }, { 6, 2, 3, 3 }, { 2, 6, 3, 3 },
	  .status = CUDNN_STATUS_BAD_PARAM }, /* two groups, not asked for */
	{ { 2, 4, 5, 5 }, { 6, 2, 3, 3 }, { 2, 6, 3, 3 }, .groups = 1 },
	{ { 2, 4, 5, 5 }, { 5, 2, 3, 3 }, { 2, 5, 3, 3 }, .groups = 1,
	  .status = CUDNN_STATUS_BAD_PARAM }, /* five for two groups */
	{ { 1, 1, 2, 2 }, { 1, 1, 3, 3 }, { 1, 1, 1, 1 }, .stride = 1,
	  .status = CUDNN_STATUS_BAD_PARAM }, /* larger than the image */
	{ { 1, 1, 2, 2 }, { 1, 1, 3, 3 }, { 1, 1, 2, 2 }, .pad = 1 },
	{ { 1, 1, 2, 2 }, { 1, 1, 1, 1 }, { 1, 1, 2, 2 },
	  .types = { F, H, F }, .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 1, 1, 2, 2 }, { 1, 1, 1, 1 }, { 1, 1, 2, 2 },
	  .types = { H, H, F }, .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 1, 1, 2, 2 }, { 1, 1, 1, 1 }, { 1, 1, 2, 2 },
	  .types = { H, H, H }, .compute = H },
	{ { 1, 1, 2, 2 }, { 1, 1, 1, 1 }, { 1, 1, 2, 2 },
	  .types = { H, H, H }, .compute = D,
	  .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 1, 1, 2, 2 }, { 1, 1, 1, 1 }, { 1, 1, 2, 2 }, .compute = H,
	  .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 1, 1, 2, 2 }, { 1, 1, 1, 1 }, { 1, 1, 2, 2 },
	  .types = { D, D, D }, .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 1, 1, 2, 2 }, { 1, 1, 1, 1 }, { 1, 1, 2, 2 },
	  .types = { B, B, B } },
	{ { 1, 1, 2, 2 }, { 1, 1, 1, 1 }, { 1, 1, 2, 2 },
	  .types = { B, B, B }, .compute = H,
	  .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 1, 1, 2, 2 }, { 1, 1, 1, 1 }, { 1, 1, 2, 2 },
	  .types = { I, I, I }, .status = CUDNN_STATUS_NOT_SUPPORTED },
	/* Winograd: only 3 x 3 */
	{ { 2, 4, 5, 5 }, { 6, 4, 3, 3 }, { 2, 6, 3, 3 }, .algorithm = 7 },
	{ { 2, 4, 5, 5 }, { 6, 4, 3, 3 }, { 2, 6, 2, 2 }, .algorithm = 7,
	  .stride = 1, .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 2, 4, 5, 5 }, { 6, 4, 1, 3 }, { 2, 6, 5, 3 }, .algorithm = 7,
	  .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 2, 4, 5, 5 }, { 6, 2, 3, 3 }, { 2, 6, 3, 3 }, .algorithm = 7,
	  .groups = 1, .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 1, 1, 3, 3, 3 }, { 1, 1, 3, 3, 3 }, { 1, 1, 1, 1, 1 }, .space = 3,
	  .algorithm = 7, .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 1, 1, 3, 3, 3 }, { 1, 1, 3, 3, 3 }, { 1, 1, 1, 1, 1 }, .space = 3,
	  .algorithm = 2, .status = CUDNN_STATUS_NOT_SUPPORTED },
	{ { 2, 4, 5, 5 }, { 6, 4, 3, 3 }, { 2, 6, 3, 3 }, .algorithm = 4,
	  .status = CUDNN_STATUS_NOT_SUPPORTED }, /* FFT */
	{ { 2, 4, 5, 5 }, { 6, 4, 3, 3 }, { 2, 6, 3, 3 }, .algorithm = 8,
	  .status = CUDNN_STATUS_BAD_PARAM },
	{ { 2, 4, 5, 5 }, { 6, 4, 3, 3 }, { 2, 6, 3, 3 }, .algorithm = -1,
	  .status = CUDNN_STATUS_BAD_PARAM },
};

static void
refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const uint64_t launches = emuCounter("launches");
		const cudnnStatus_t status = forward(&rows[i]);

		if (status != rows[i].status)
			fail_msg("row %d: got %d, want %d", (int)i, status,
			    rows[i].status);
		assert_int_equal(emuCounter("launches"), launches + !status);
	}
}

/* Descriptors that are not set, or that have more dimensions than any
 * kernel. */
static void
half_described(void **state)
{
	const int dim[6] = { 1, 1, 1, 1, 1, 1 }, none[4] = { 0 };
	struct test_conv d = test_conv_new();
	size_t bytes;

	(void)state;
	assert_int_equal(cudnnGetConvolutionForwardWorkspaceSize(handle, d.x,
	    d.w, d.conv, d.y, (cudnnConvolutionFwdAlgo_t)1, &bytes),
	    CUDNN_STATUS_BAD_PARAM);
	OK(cudnnSetTensorNdDescriptorEx(d.x, CUDNN_TENSOR_NCHW, F, 6, dim));
	OK(cudnnSetTensorNdDescriptorEx(d.y, CUDNN_TENSOR_NCHW, F, 6, dim));
	OK(cudnnSetFilterNdDescriptor(d.w, F, CUDNN_TENSOR_NCHW, 6, dim));
	assert_int_equal(cudnnGetConvolutionForwardWorkspaceSize(handle, d.x,
	    d.w, d.conv, d.y, (cudnnConvolutionFwdAlgo_t)1, &bytes),
	    CUDNN_STATUS_BAD_PARAM);
	OK(cudnnSetConvolutionNdDescriptor(d.conv, 4, none, dim, dim,
	    CUDNN_CONVOLUTION, F));
	assert_int_equal(cudnnGetConvolutionForwardWorkspaceSize(handle, d.x,
	    d.w, d.conv, d.y, (cudnnConvolutionFwdAlgo_t)1, &bytes),
	    CUDNN_STATUS_NOT_SUPPORTED);
	test_conv_drop(&d);
}

static void
missing_memory(void **state)
{
	struct test_conv d = test_conv_new();
	char host[ROOM];

	(void)state;
	test_conv_small(&d, 1, 1, 2, 2);
	for (int which = 0; which < 3; which++)
		assert_int_equal(test_conv_run_in(handle, &d, 0, 1,
		    which == 0 ? NULL : memory, which == 1 ? NULL : memory, 0,
		    which == 2 ? NULL : memory, workspace, ROOM),
		    CUDNN_STATUS_BAD_PARAM);
	assert_int_equal(test_conv_run_in(handle, &d, 0, 1, memory, memory, 0,
	    memory, host, ROOM), CUDNN_STATUS_EXECUTION_FAILED);
	test_conv_drop(&d);
}

/* ---- with bias and activation ------------------------------------------- */

/* The variations of y = act(conv(x) + z + bias), 1 x 2 x 2 x 2. */
struct fusion {
	int channels, height;           /* of bias, z; 0: the correct one */
	cudnnDataType_t type;           /* of z */
	cudnnActivationMode_t mode;
	int algorithm;                  /* 0: IMPLICIT_PRECOMP_GEMM */
	bool host_z, host_bias;
	cudnnStatus_t status;
};

/* y is channels last, z is stored column by column. */
static cudnnStatus_t
fuse(const struct fusion *f, float *host)
{
	struct test_conv d = test_conv_new();
	cudnnTensorDescriptor_t z, bias;
	cudnnActivationDescriptor_t act;
	cudnnStatus_t status;

	OK(cudnnCreateTensorDescriptor(&z));
	OK(cudnnCreateTensorDescriptor(&bias));
	OK(cudnnCreateActivationDescriptor(&act));
	test_conv_small(&d, 1, 2, 2, 2);
	OK(cudnnSetTensor4dDescriptor(d.y, CUDNN_TENSOR_NHWC, F, 1, 2, 2, 2));
	OK(cudnnSetTensor4dDescriptorEx(z, f->type, 1, 2, f->height ?
	    f->height : 2, 2, 8, 4, 1, 2));
	OK(cudnnSetTensor4dDescriptor(bias, CUDNN_TENSOR_NCHW, F, 1,
	    f->channels ? f->channels : 2, 1, 1));
	OK(cudnnSetActivationDescriptor(act, f->mode, CUDNN_NOT_PROPAGATE_NAN,
	    0));
	status = cudnnConvolutionBiasActivationForward(handle, &one, d.x,
	    memory, d.w, memory + 4, d.conv, (cudnnConvolutionFwdAlgo_t)
	    (f->algorithm ? f->algorithm - 1 : 1), workspace, ROOM, &one, z,
	    f->host_z ? host : memory + 8, bias, f->host_bias ? host :
	    memory + 16, act, d.y, memory + 32);
	OK(cudnnDestroyTensorDescriptor(z));
	OK(cudnnDestroyTensorDescriptor(bias));
	OK(cudnnDestroyActivationDescriptor(act));
	test_conv_drop(&d);
	return status;
}

static void
fusions(void **state)
{
	static const struct fusion list[] = {
		{ .mode = CUDNN_ACTIVATION_RELU },
		{ .mode = CUDNN_ACTIVATION_IDENTITY },
		{ .mode = CUDNN_ACTIVATION_RELU, .algorithm = 1 },
		{ .mode = CUDNN_ACTIVATION_IDENTITY, .algorithm = 1,
		  .status = CUDNN_STATUS_NOT_SUPPORTED },
		{ .mode = CUDNN_ACTIVATION_TANH,
		  .status = CUDNN_STATUS_NOT_SUPPORTED },
		{ .mode = CUDNN_ACTIVATION_RELU, .channels = 1,
		  .status = CUDNN_STATUS_BAD_PARAM },
		{ .mode = CUDNN_ACTIVATION_RELU, .height = 1,
		  .status = CUDNN_STATUS_BAD_PARAM },
		{ .mode = CUDNN_ACTIVATION_RELU, .type = H,
		  .status = CUDNN_STATUS_BAD_PARAM },
		{ .mode = CUDNN_ACTIVATION_RELU, .host_z = true,
		  .status = CUDNN_STATUS_EXECUTION_FAILED },
		{ .mode = CUDNN_ACTIVATION_RELU, .host_bias = true,
		  .status = CUDNN_STATUS_EXECUTION_FAILED },
	};
	float values[40] = { 1, 2, 3, 4, /* w */ 2, -1, [8] = /* z */ 10, 20,
		30, 40, 1, 2, 3, 4, /* bias */ 100, -4 }, got[8], last;
	const float sums[8] = { 112, -4, 134, -3, 126, -5, 148, -4 };

	(void)state;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		OK(cudaMemcpy(memory, values, sizeof values,
		    cudaMemcpyHostToDevice));
		OK(cudaMemset(workspace, 0, ROOM));
		assert_int_equal(fuse(&list[i], values), list[i].status);
		if (list[i].status)
			continue;
		OK(cudaMemcpy(got, memory + 32, sizeof got,
		    cudaMemcpyDeviceToHost));
		for (int j = 0; j < 8; j++)
			assert_true(got[j] == (list[i].mode ==
			    CUDNN_ACTIVATION_RELU ? fmaxf(sums[j], 0) :
			    sums[j]));
		OK(cudaMemcpy(&last, workspace, 4, cudaMemcpyDeviceToHost));
		assert_int_equal(isnan(last) != 0, !list[i].algorithm);
	}
}

/* BF16 on a device without it. */
static int
without_bf16(void)
{
	const struct row row = { { 1, 1, 2, 2 }, { 1, 1, 1, 1 },
		{ 1, 1, 2, 2 }, .types = { B, B, B } };

	return forward(&row) == CUDNN_STATUS_NOT_SUPPORTED ? 0 : 1;
}

static void
older_devices(void **state)
{
	char text[4096];
	const int status = test_again("t4", "AUTOCAST_EMU_MODEL", "t4", text,
	    sizeof text);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
		cmocka_unit_test(half_described),
		cmocka_unit_test(missing_memory),
		cmocka_unit_test(fusions),
		cmocka_unit_test(older_devices),
	};
	int failed;

	(void)argv;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cudnnCreate(&handle))
		return 3;
	memory = test_device(ROOM);
	workspace = test_device(ROOM);
	OK(cudaMemset(memory, 0, ROOM));
	failed = argc > 1 ? without_bf16() :
	    cmocka_run_group_tests(tests, NULL, NULL);
	cudaFree(memory);
	cudaFree(workspace);
	cudnnDestroy(handle);
	return failed;
}
