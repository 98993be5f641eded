/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_dnn_rnn_calls.c -- calls of recurrent networks
 * on the emulated GPU: the space that they need, their arithmetic, when they
 * run, and what they answer to wrong arguments. */
#include "test_emu.h"

#include <cudnn.h>

/* One layer of HIDDEN units with as many inputs: relu(I x + I h), so that
 * results are the rounded operands. */
enum { HIDDEN = 4, BATCH = 2, STEPS = 2, ROWS = STEPS * BATCH,
	COUNT = ROWS * HIDDEN };

static cudnnHandle_t handle;
static cudnnRNNDescriptor_t rnn;
static cudnnRNNDataDescriptor_t data;
static cudnnTensorDescriptor_t states;
static float *weights, *x, *y, *dx, *dy, *dw;
static char *work, *reserve;
static size_t weight_bytes, work_bytes, reserve_bytes;
static const int length[] = { STEPS, STEPS };

static cudnnStatus_t
set_math(int math)
{
	return cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD,
	    CUDNN_RNN_RELU, CUDNN_RNN_NO_BIAS, CUDNN_UNIDIRECTIONAL,
	    CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
	    (cudnnMathType_t)math, HIDDEN, HIDDEN, HIDDEN, 1, NULL,
	    CUDNN_RNN_PADDED_IO_ENABLED);
}

static cudnnStatus_t
set_data(int layout, int steps, int vector)
{
	return cudnnSetRNNDataDescriptor(data, CUDNN_DATA_FLOAT,
	    (cudnnRNNDataLayout_t)layout, steps, BATCH, vector, length, NULL);
}

static void
size_up(int mode)
{
	OK(cudnnGetRNNTempSpaceSizes(handle, rnn, (cudnnForwardMode_t)mode,
	    data, &work_bytes, &reserve_bytes));
}

static void
fill(float *to, float first, int count)
{
	float values[COUNT];

	for (int i = 0; i < count; i++)
		values[i] = i ? 0 : first;
	OK(cudaMemcpy(to, values, (size_t)count * sizeof *to,
	    cudaMemcpyHostToDevice));
	OK(cudaStreamSynchronize(NULL));
}

static float
first_of(const float *from)
{
	float value;

	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost));
	return value;
}

static int
setup(void **state)
{
	float identity[2 * HIDDEN * HIDDEN] = { 0 };

	(void)state;
	for (int i = 0; i < 2 * HIDDEN; i++)
		identity[i * HIDDEN + i % HIDDEN] = 1;
	OK(cudnnCreate(&handle));
	OK(cudnnCreateRNNDescriptor(&rnn));
	OK(cudnnCreateRNNDataDescriptor(&data));
	OK(cudnnCreateTensorDescriptor(&states));
	OK(set_math(CUDNN_FMA_MATH));
	OK(set_data(0, STEPS, HIDDEN));
	OK(cudnnSetTensorNdDescriptorEx(states, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 3, (int[]){ 1, BATCH, HIDDEN }));
	OK(cudnnGetRNNWeightSpaceSize(handle, rnn, &weight_bytes));
	assert_int_equal(weight_bytes, sizeof identity);
	weights = test_upload(identity, sizeof identity);
	x = test_device(COUNT * sizeof *x);
	y = test_device(COUNT * sizeof *y);
	dx = test_device(COUNT * sizeof *dx);
	dy = test_device(COUNT * sizeof *dy);
	dw = test_device(weight_bytes);
	fill(x, 1, COUNT);
	fill(dy, 1, COUNT);
	OK(set_math(CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION));
	size_up(CUDNN_FWD_MODE_TRAINING);
	work = test_device(4096);
	reserve = test_device(4096);
	assert_true(work_bytes <= 4096 && reserve_bytes <= 4096);
	OK(set_math(CUDNN_FMA_MATH));
	return 0;
}

static int
teardown(void **state)
{
	void *const all[] = { weights, x, y, dx, dy, dw, work, reserve };

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		OK(cudaFree(all[i]));
	OK(cudnnDestroyRNNDescriptor(rnn));
	OK(cudnnDestroyRNNDataDescriptor(data));
	OK(cudnnDestroyTensorDescriptor(states));
	OK(cudnnDestroy(handle));
	return 0;
}

static cudnnStatus_t
forward(void)
{
	return cudnnRNNForward(handle, rnn, CUDNN_FWD_MODE_TRAINING, NULL,
	    data, x, data, y, states, NULL, NULL, states, NULL, NULL,
	    weight_bytes, weights, work_bytes, work, reserve_bytes, reserve);
}

static cudnnStatus_t
backward_data(void)
{
	return cudnnRNNBackwardData_v8(handle, rnn, NULL, data, y, dy, data,
	    dx, states, NULL, NULL, NULL, states, NULL, NULL, NULL,
	    weight_bytes, weights, work_bytes, work, reserve_bytes, reserve);
}

static cudnnStatus_t
backward_weights(cudnnWgradMode_t mode)
{
	return cudnnRNNBackwardWeights_v8(handle, rnn, mode, NULL, data, x,
	    states, NULL, data, y, weight_bytes, dw, work_bytes, work,
	    reserve_bytes, reserve);
}

/* ---- arithmetic -------------------------------------------------------- */

/* How each math type rounds an operand: more than 11 bits, less than FP16's
 * smallest, more than its largest. On a GPU that has TF32. */
static void
arithmetic(void **state)
{
	static const float in[] = { 1 + 0x1p-12f, 0x1p-26f, 0x1p17f };
	static const float want[4][3] = {
		{ 1, 0x1p-26f, 0x1p17f }, { 1, 0x1p-26f, 0x1p17f },
		{ 1, 0, (float)INFINITY },
		{ 1 + 0x1p-12f, 0x1p-26f, 0x1p17f }
	};

	(void)state;
	for (int math = 0; math < 4; math++) {
		OK(set_math(math));
		size_up(CUDNN_FWD_MODE_TRAINING);
		for (int i = 0; i < 3; i++) {
			fill(x, in[i], COUNT);
			fill(dy, 1, COUNT);
			OK(forward());
			assert_true(first_of(y) == want[math][i]);
			/* And in the backward pass, for a gradient. */
			fill(x, 1, COUNT);
			fill(dy, in[i], COUNT);
			fill(dw, 0, COUNT);
			OK(forward());
			OK(backward_data());
			OK(backward_weights(CUDNN_WGRAD_MODE_ADD));
			assert_true(first_of(dx) == want[math][i]);
			assert_true(first_of(dw) == want[math][i]);
		}
	}
}

/* Conversion changes sizes, and nothing else does. */
static void
sizes(void **state)
{
	size_t want[2][2] = { { 0 } }, weights_of[4];

	(void)state;
	for (int math = 0; math < 4; math++) {
		OK(set_math(math));
		OK(cudnnGetRNNWeightSpaceSize(handle, rnn, &weights_of[math]));
		assert_int_equal(weights_of[math], weight_bytes);
		for (int mode = 0; mode < 2; mode++) {
			size_up(mode);
			assert_int_equal(reserve_bytes > 0, mode);
			if (!math) {
				want[mode][0] = work_bytes;
				want[mode][1] = reserve_bytes;
			}
			assert_int_equal(work_bytes == want[mode][0],
			    math != 2);
			assert_int_equal(reserve_bytes == want[mode][1],
			    math != 2 || !mode);
		}
	}
}

/* ---- when it runs ------------------------------------------------------ */

static void
later(void **state)
{
	struct test_gate gate;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	(void)state;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudnnSetStream(handle, stream));
	size_up(CUDNN_FWD_MODE_TRAINING);
	fill(x, 3, COUNT);
	fill(y, 7, COUNT);
	test_gate_close(&gate, stream);
	OK(forward());
	OK(set_data(0, STEPS, HIDDEN)); /* is the program's again */
	assert_true(*(volatile float *)y == 7);
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	assert_true(first_of(y) == 3);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(forward());
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 2; i++) {
		fill(x, (float)i, COUNT);
		fill(y, 7, COUNT);
		OK(cudaGraphLaunch(exec, stream));
		OK(cudaStreamSynchronize(stream));
		assert_true(first_of(y) == (float)i);
	}
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudnnSetStream(handle, NULL));
	OK(cudaStreamDestroy(stream));
}

/* ---- statuses ---------------------------------------------------------- */

#define REFUSED(status, call) assert_int_equal(call, CUDNN_STATUS_##status)

static void
all_refused(cudnnStatus_t status)
{
	assert_int_equal(forward(), status);
	assert_int_equal(backward_data(), status);
	assert_int_equal(backward_weights(CUDNN_WGRAD_MODE_ADD), status);
}

/* Each argument is wrong once. */
static void
wrong(void **state)
{
	struct { void **pointer; size_t *size; } must[] = {
		{ (void **)&x, NULL }, { (void **)&y, NULL },
		{ (void **)&weights, NULL }, { (void **)&work, NULL },
		{ (void **)&reserve, NULL }, { NULL, &work_bytes },
		{ NULL, &reserve_bytes }, { NULL, &weight_bytes },
	};

	(void)state;
	size_up(CUDNN_FWD_MODE_TRAINING);
	for (size_t i = 0; i < sizeof must / sizeof *must; i++) {
		void *was = must[i].pointer ? *must[i].pointer : NULL;

		if (must[i].pointer)
			*must[i].pointer = NULL;
		else
			--*must[i].size;
		REFUSED(BAD_PARAM, forward());
		if (must[i].pointer)
			*must[i].pointer = was;
		else
			++*must[i].size;
	}
	OK(set_data(0, STEPS, HIDDEN + 1));
	all_refused(CUDNN_STATUS_BAD_PARAM);
	OK(set_data(0, STEPS, HIDDEN));
	OK(cudnnSetTensorNdDescriptorEx(states, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 3, (int[]){ 2, BATCH, HIDDEN }));
	REFUSED(BAD_PARAM, cudnnRNNForward(handle, rnn,
	    CUDNN_FWD_MODE_TRAINING, NULL, data, x, data, y, states, dx, NULL,
	    states, NULL, NULL, weight_bytes, weights, work_bytes, work,
	    reserve_bytes, reserve));
	REFUSED(NOT_SUPPORTED, backward_weights(CUDNN_WGRAD_MODE_SET));
	x += 1 << 20;
	REFUSED(EXECUTION_FAILED, forward());
	x -= 1 << 20;
	OK(forward());
}

/* Networks that can be set up, but are not emulated, or only for packed
 * sequences. */
static void
foreign(void **state)
{
	static const struct {
		int algo, cell, input_mode, type, projection;
		unsigned flags;
		cudnnStatus_t sizes, passes;
	} rows[] = {
		{ 0, 0, 0, 0, HIDDEN, 1, 0, 0 },
		{ 2, 0, 0, 0, HIDDEN, 1, 3000, 3000 },
		{ 0, 2, 0, 0, HIDDEN - 1, 1, 3000, 3000 },
		{ 0, 0, 1, 0, HIDDEN, 1, 3000, 3000 },
		{ 0, 0, 0, 2, HIDDEN, 1, 3000, 3000 },
		{ 0, 0, 0, 0, HIDDEN, 0, 0, 2000 },
	};

	(void)state;
	size_up(CUDNN_FWD_MODE_TRAINING);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t bytes = 77;

		OK(cudnnSetRNNDescriptor_v8(rnn, (cudnnRNNAlgo_t)rows[i].algo,
		    (cudnnRNNMode_t)rows[i].cell, CUDNN_RNN_NO_BIAS,
		    CUDNN_UNIDIRECTIONAL,
		    (cudnnRNNInputMode_t)rows[i].input_mode,
		    (cudnnDataType_t)rows[i].type, CUDNN_DATA_FLOAT,
		    CUDNN_DEFAULT_MATH, HIDDEN, HIDDEN, rows[i].projection, 1,
		    NULL, rows[i].flags));
		assert_int_equal(cudnnGetRNNWeightSpaceSize(handle, rnn,
		    &bytes), rows[i].sizes);
		assert_int_equal(bytes == 77, rows[i].sizes != 0);
		assert_int_equal(cudnnGetRNNTempSpaceSizes(handle, rnn,
		    CUDNN_FWD_MODE_INFERENCE, data, &bytes, &bytes),
		    rows[i].sizes);
		all_refused(rows[i].passes);
	}
	OK(set_data(CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, STEPS, HIDDEN));
	OK(forward());
	OK(cudnnDestroyRNNDescriptor(rnn));
	OK(cudnnCreateRNNDescriptor(&rnn));
	all_refused(CUDNN_STATUS_NOT_INITIALIZED);
}

/* Dropout between layers, which is not emulated; with rate 0 the network
 * runs. */
static void
dropout(void **state)
{
	cudnnDropoutDescriptor_t between;
	float *more;

	(void)state;
	OK(cudnnCreateDropoutDescriptor(&between));
	for (int rate = 0; rate < 2; rate++) {
		OK(cudnnSetDropoutDescriptor(between, handle, (float)rate / 2,
		    NULL, 0, 1));
		OK(cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD,
		    CUDNN_RNN_TANH, CUDNN_RNN_NO_BIAS, CUDNN_UNIDIRECTIONAL,
		    CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
		    CUDNN_FMA_MATH, HIDDEN, HIDDEN, HIDDEN, 2, between,
		    CUDNN_RNN_PADDED_IO_ENABLED));
		OK(cudnnGetRNNWeightSpaceSize(handle, rnn, &weight_bytes));
		size_up(CUDNN_FWD_MODE_TRAINING);
		more = weights;
		weights = test_device(weight_bytes);
		assert_int_equal(forward(), rate ?
		    CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS);
		OK(cudaDeviceSynchronize());
		OK(cudaFree(weights));
		weights = more;
	}
	OK(cudnnDestroyDropoutDescriptor(between));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(arithmetic), TEST(sizes), TEST(later), TEST(wrong),
		TEST(foreign), TEST(dropout),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
