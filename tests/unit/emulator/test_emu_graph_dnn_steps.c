/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_graph_dnn_steps.c -- cuDNN's emulated graph
 * interface: what pointwise operations are set to, and tensors between them
 * that are in memory. The convolution in front multiplies by one. */
#include "tests/unit/emulator/test_emu_graph_dnn.h"

#include <fenv.h>

enum { SIDE = 2, ALL = SIDE * SIDE };
enum { DNN_MIDDLE = 'm' };

static const int64_t dims[4] = { 1, 1, SIDE, SIDE }, one[4] = { 1, 1, 1, 1 };

static descriptor
tensor(int64_t id, bool is_virtual)
{
	return dnn_tensor(id, CUDNN_DATA_FLOAT, id == DNN_W ? one : dims, false,
	    is_virtual);
}

static descriptor
multiply_by_one(descriptor out)
{
	const struct dnn_wish wish = { .type = CUDNN_DATA_FLOAT };

	return dnn_conv_op(&wish, tensor(DNN_X, false), tensor(DNN_W, false),
	    out);
}

/* out = 2 z - conv, the convolution's output being the second input. */
static descriptor
scaled_add(descriptor in, descriptor out)
{
	const descriptor p = dnn_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	const descriptor op = dnn_new(
	    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	const float alpha1 = 2;
	const double alpha2 = -1;

	OK(cudnnBackendFinalize(p)); /* ADD, in FP32 */
	dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p);
	dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensor(DNN_Z, false));
	dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, in);
	dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, out);
	dnn_set(op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, CUDNN_TYPE_FLOAT, 1,
	    &alpha1);
	dnn_set(op, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, CUDNN_TYPE_DOUBLE,
	    1, &alpha2);
	OK(cudnnBackendFinalize(op));
	return op;
}

/* Between -1 and 3; below that it falls by a quarter. */
static descriptor
clipped_relu(descriptor in, descriptor out)
{
	const descriptor p = dnn_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	const descriptor op = dnn_new(
	    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_RELU_FWD;
	const double lower = -1, slope = 0.25;
	const float upper = 3;

	dnn_set(p, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1,
	    &mode);
	dnn_set(p, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, 1,
	    &lower);
	dnn_set(p, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_FLOAT, 1,
	    &upper);
	dnn_set(p, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE,
	    CUDNN_TYPE_DOUBLE, 1, &slope);
	OK(cudnnBackendFinalize(p));
	dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p);
	dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, in);
	dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, out);
	OK(cudnnBackendFinalize(op));
	return op;
}

/* Run the graph with this engine on x, z; what came out is in `out`, and
 * between the operations in `middle`. */
static void
run_by(int64_t index, int64_t count, const descriptor *operations,
    const float *x, const float *z, float *middle, float *out)
{
	const float filter = 1;
	const int64_t ids[5] = { DNN_X, DNN_W, DNN_Z, DNN_MIDDLE, DNN_OUT };
	void *pointers[5] = { test_upload(x, ALL * sizeof *x),
		test_upload(&filter, sizeof filter),
		test_upload(z, ALL * sizeof *z),
		test_device(ALL * sizeof *middle),
		test_device(ALL * sizeof *out) };
	void *workspace = test_device(4096);
	cudnnHandle_t handle;

	OK(cudnnCreate(&handle));
	OK(cudnnBackendExecute(handle, dnn_plan(dnn_graph_of(count,
	    operations, handle), NULL, index), dnn_pack(5, ids, pointers,
	    index == 1 ? NULL : workspace))); /* 1 needs none */
	OK(cudaMemcpy(middle, pointers[3], ALL * sizeof *middle,
	    cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(out, pointers[4], ALL * sizeof *out,
	    cudaMemcpyDeviceToHost));
	OK(cudnnDestroy(handle));
	for (int i = 0; i < 5; i++)
		OK(cudaFree(pointers[i]));
	OK(cudaFree(workspace));
}

static void
run(int64_t count, const descriptor *operations, const float *x,
    const float *z, float *middle, float *out)
{
	run_by(1, count, operations, x, z, middle, out);
}

static const float x[ALL] = { 1, -8, 2, -1 }, z[ALL] = { 2, -1, -2, 4 };
static const float sums[ALL] = { 3, 6, -6, 9 };         /* 2 z - x */
static const float clipped[ALL] = { 3, 3, -2.25f, 3 };  /* of that */

static void
scales_and_clips(void **state)
{
	const descriptor y = tensor(DNN_Y, true), middle = tensor(DNN_MIDDLE,
	    true);
	/* In whatever order. */
	const descriptor operations[3] = {
		clipped_relu(middle, tensor(DNN_OUT, false)),
		multiply_by_one(y), scaled_add(y, middle) };
	float between[ALL], out[ALL];

	(void)state;
	run(3, operations, x, z, between, out);
	assert_memory_equal(out, clipped, sizeof out);
}

static void
what_is_not_virtual_is_written(void **state)
{
	const descriptor y = tensor(DNN_Y, true), middle = tensor(DNN_MIDDLE,
	    false);
	const descriptor operations[3] = { multiply_by_one(y),
		scaled_add(y, middle),
		clipped_relu(middle, tensor(DNN_OUT, false)) };
	float between[ALL], out[ALL];

	(void)state;
	run(3, operations, x, z, between, out);
	assert_memory_equal(between, sums, sizeof between);
	assert_memory_equal(out, clipped, sizeof out);
}

/* An engine that converts rounds what it writes, nothing between: 131008 would
 * be infinite. */
static void
what_is_virtual_is_not_rounded(void **state)
{
	const float large[ALL] = { 65504 }, other[ALL] = { 50000 };
	const float two = 2, zero = 0;
	const descriptor y = tensor(DNN_Y, true);
	const descriptor operations[2] = { dnn_conv_scaled(DNN_FPROP,
		tensor(DNN_X, false), tensor(DNN_W, false), y,
		dnn_convolution(0), CUDNN_TYPE_FLOAT, &two, &zero),
		scaled_add(y, tensor(DNN_OUT, false)) };
	float between[ALL], out[ALL];

	(void)state;
	run_by(62, 2, operations, large, other, between, out);
	assert_true(out[0] == 2 * 50000 - 131008);
}

/* The convolution's own output, too. */
static void
what_the_convolution_gives_is_written(void **state)
{
	const descriptor middle = tensor(DNN_MIDDLE, false);
	const descriptor operations[2] = { multiply_by_one(middle),
		scaled_add(middle, tensor(DNN_OUT, false)) };
	float between[ALL], out[ALL];

	(void)state;
	run(2, operations, x, z, between, out);
	assert_memory_equal(between, x, sizeof between);
	assert_memory_equal(out, sums, sizeof out);
}

/* With the program's FPU rounding up from the start: 2^-29 + 1 in FP32. */
static int
upward(void)
{
	const float minus[ALL] = { -1, -1, -1, -1 };
	const float small[ALL] = { 0x1p-30f, 0x1p-30f, 0x1p-30f, 0x1p-30f };
	const descriptor y = tensor(DNN_Y, true);
	descriptor operations[2];
	float between[ALL], out[ALL];

	fesetround(FE_UPWARD);
	operations[0] = multiply_by_one(y);
	operations[1] = scaled_add(y, tensor(DNN_OUT, false));
	run(2, operations, minus, small, between, out);
	dnn_release(NULL);
	return out[0] == 1 ? 0 : 1;
}

static void
the_programs_rounding_stays_out_of_it(void **state)
{
	char text[4096];
	const int status = test_again("upward", NULL, NULL, text, sizeof text);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, dnn_release)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(scales_and_clips),
		TEST(what_is_not_virtual_is_written),
		TEST(what_is_virtual_is_not_rounded),
		TEST(what_the_convolution_gives_is_written),
		TEST(the_programs_rounding_stays_out_of_it),
	};

	(void)argv;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (argc > 1)
		return upward();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
