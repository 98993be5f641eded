/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_conv_run.c -- a convolution that oneDNN refuses:
 * emulator/cudnn/conv/cudnn_conv_run.c computes it another way, and counts
 * that. oneDNN is a stub here; the real one has refused nothing so far. */
#include "tests/unit/emulator/test_emu.h"

#include "emulator/cudnn/conv/cudnn_conv.h"

static int asked;

bool
emu_conv_onednn(const struct emu_dense *dense, float *x, float *w, float *y)
{
	(void)dense;
	(void)w;
	(void)y;
	x[0] = -99; /* it may change its copies before it gives up */
	asked++;
	return false;
}

static struct emu_tensor
tensor(cudnnDataType_t type, int64_t channels, int64_t height, int64_t width)
{
	struct emu_tensor t = { .type = type, .dims = 4,
		.dim = { 1, channels, height, width } };

	emu_tensor_lay_out(&t, CUDNN_TENSOR_NCHW);
	return t;
}

/* 2 x 2 by 1 x 2, with padding of one before and two after each row. */
static struct emu_conv
convolution(cudnnDataType_t type, enum emu_rate arithmetic)
{
	return (struct emu_conv){
		.operation = EMU_CONV_FPROP, .space = 2,
		.x = tensor(type, 1, 2, 2), .w = tensor(type, 1, 1, 2),
		.y = tensor(type, 1, 2, 4), .pad = { 0, 1 },
		.post_pad = { 0, 2 }, .stride = { 1, 1 },
		.dilation = { 1, 1 }, .mode = CUDNN_CROSS_CORRELATION,
		.alpha = 2, .arithmetic = arithmetic
	};
}

/* The plain loop computes it, from the original inputs, counted once. */
static void
refused(void **state)
{
	const struct emu_conv conv = convolution(CUDNN_DATA_FLOAT, EMU_FP32);
	float x[] = { 1, 2, 3, 4 }, w[] = { 10, 1 }, y[8];
	const float want[] = { 2, 24, 40, 0, 6, 68, 80, 0 };

	(void)state;
	emuCountersReset();
	assert_true(emu_conv_is_valid(&conv));
	assert_int_equal(emu_conv_run(&conv, x, w, y), EMU_OK);
	assert_memory_equal(y, want, sizeof want);
	assert_int_equal(asked, !TEST_WITH_TSAN);
	assert_int_equal(emuCounter("convolutions_plain"), 1);
	assert_int_equal(emuCounter("gemm_bytes"), sizeof x + sizeof w +
	    sizeof y);
}

/* An intermediate result, for an epilogue, is dense FP32 or FP64, and only the
 * inputs are device memory. */
static void
aside(void **state)
{
	struct emu_conv conv = convolution(CUDNN_DATA_HALF, EMU_FP16);
	uint16_t x[] = { 0x7bff, 0, 0x3c00, 0 }, w[] = { 0x4000, 0 };
	struct emu_tensor tensor;
	float *data;

	(void)state;
	conv.round_output = true;
	emu_tensor_lay_out(&conv.y, CUDNN_TENSOR_NHWC);
	emuCountersReset();
	data = emu_conv_run_aside(&conv, x, w, NULL, &tensor);
	assert_non_null(data);
	assert_int_equal(tensor.type, CUDNN_DATA_FLOAT);
	assert_int_equal(tensor.stride[2], 4);
	assert_true(data[1] == 4 * 65504.0f); /* it would be infinite in FP16 */
	assert_true(data[5] == 4);
	assert_int_equal(emuCounter("gemm_bytes"), sizeof x + sizeof w);
	free(data);
}

static void
fp64_is_not_for_it(void **state)
{
	const struct emu_conv conv = convolution(CUDNN_DATA_DOUBLE, EMU_FP64);
	double x[] = { 1, 2, 3, 1 + 0x1p-40 }, w[] = { 1, 1 }, y[8];

	(void)state;
	emuCountersReset();
	asked = 0;
	assert_int_equal(emu_conv_run(&conv, x, w, y), EMU_OK);
	assert_true(y[5] == 8 + 0x1p-39);
	assert_int_equal(asked, 0);
	assert_int_equal(emuCounter("convolutions_plain"), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(aside),
		cmocka_unit_test(fp64_is_not_for_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (emu_device_up())
		return 3;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
