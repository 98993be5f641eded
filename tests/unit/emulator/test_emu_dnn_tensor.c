/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_dnn_tensor.c -- cuDNN's calls on whole tensors
 * on the emulated GPU: bias, two operands, filling, scaling, layouts,
 * reductions, dropout; when they run, and their statuses. */
#include "test_emu_dnn_ops.h"

#include <fenv.h>

/* ---- one operand ------------------------------------------------------- */

/* A bias of one value per channel, and of one per place, with channels last. */
static void
adds(void **state)
{
	double bias_values[C * H * W];

	(void)state;
	scatter(bias_values, C * H * W);
	put(bias, bias_values, C * H * W);
	put(y, dys, COUNT);
	shape(small_desc, CUDNN_DATA_DOUBLE, 1, C, 1, 1);
	OK(cudnnAddTensor(handle, &two, small_desc, bias, &half, y_desc, y));
	get(ys, y, COUNT);
	for (int i = 0; i < COUNT; i++)
		near(ys[i], 2 * bias_values[i / (H * W) % C] + dys[i] / 2,
		    1e-15);
	put(y, dys, COUNT);
	shape(small_desc, CUDNN_DATA_DOUBLE, 1, 1, H, W);
	OK(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NHWC,
	    CUDNN_DATA_DOUBLE, N, C, H, W));
	OK(cudnnAddTensor(handle, &one, small_desc, bias, &one, y_desc, y));
	get(ys, y, COUNT);
	for (int i = 0; i < COUNT; i++)
		near(ys[i], bias_values[i / C % (H * W)] + dys[i], 1e-15);
	shape(small_desc, CUDNN_DATA_DOUBLE, 1, C, 2, 1);
	assert_int_equal(cudnnAddTensor(handle, &one, small_desc, bias, &one,
	    y_desc, y), CUDNN_STATUS_BAD_PARAM);
	shape(small_desc, CUDNN_DATA_FLOAT, 1, C, 1, 1);
	assert_int_equal(cudnnAddTensor(handle, &one, small_desc, bias, &one,
	    y_desc, y), CUDNN_STATUS_BAD_PARAM);
}

/* Results are rounded to the type when stored: 3 + 2^-9 is an FP16 number, and
 * BF16 rounds it to 3. alpha and beta are float. */
static void
types(void **state)
{
	static const struct {
		cudnnDataType_t type;
		uint16_t bits[2], sum;
	} rows[] = {
		{ CUDNN_DATA_HALF, { 0x3c00, 0x4000 }, 0x4200 },
		{ CUDNN_DATA_BFLOAT16, { 0x3f80, 0x4000 }, 0x4040 },
	};
	const float unit = 1, more = 1 + 0x1p-10f;
	const float floats[] = { 1.25f, 2.5f };
	float got;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint16_t *device = test_upload(rows[i].bits, 4), sum;

		shape(small_desc, rows[i].type, 1, 1, 1, 1);
		OK(cudnnAddTensor(handle, &unit, small_desc, device, &more,
		    small_desc, device + 1));
		OK(cudaMemcpy(&sum, device + 1, 2, cudaMemcpyDeviceToHost));
		assert_int_equal(sum, rows[i].sum +
		    (rows[i].type == CUDNN_DATA_HALF));
		OK(cudaFree(device));
	}
	shape(small_desc, CUDNN_DATA_FLOAT, 1, 1, 1, 1);
	OK(cudaMemcpy(y, floats, sizeof floats, cudaMemcpyHostToDevice));
	OK(cudnnAddTensor(handle, &unit, small_desc, y, &unit, small_desc,
	    (float *)y + 1));
	OK(cudaMemcpy(&got, (float *)y + 1, 4, cudaMemcpyDeviceToHost));
	assert_true(got == 3.75f);
}

/* The call returns before the work runs, on the handle's stream. */
static void
later(void **state)
{
	struct test_gate gate;
	cudaStream_t stream;

	(void)state;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudnnSetStream(handle, stream));
	test_gate_close(&gate, stream);
	OK(cudnnScaleTensor(handle, x_desc, x, &two));
	get(ys, x, COUNT);
	assert_true(ys[5] == xs[5]);
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	get(ys, x, COUNT);
	assert_true(ys[5] == 2 * xs[5]);
	OK(cudaStreamDestroy(stream));
}

static void
fills(void **state)
{
	const double value = 7;

	(void)state;
	OK(cudnnSetTensor(handle, y_desc, y, &value));
	OK(cudnnScaleTensor(handle, y_desc, y, &half));
	get(ys, y, COUNT);
	for (int i = 0; i < COUNT; i++)
		assert_true(ys[i] == 3.5);
	assert_int_equal(cudnnSetTensor(handle, y_desc, y, NULL),
	    CUDNN_STATUS_BAD_PARAM);
	assert_int_equal(cudnnScaleTensor(handle, y_desc, NULL, &half),
	    CUDNN_STATUS_BAD_PARAM);
}

/* From channels first to channels last. */
static void
transforms(void **state)
{
	(void)state;
	OK(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NHWC,
	    CUDNN_DATA_DOUBLE, N, C, H, W));
	OK(cudnnTransformTensor(handle, &two, x_desc, x, &zero, y_desc, y));
	get(ys, y, COUNT);
	for (int i = 0; i < COUNT; i++) {
		const int n = i / (C * H * W), c = i / (H * W) % C;

		near(ys[(n * H * W + i % (H * W)) * C + c], 2 * xs[i], 0);
	}
	assert_int_equal(cudnnTransformTensor(handle, &one, x_desc, x, &zero,
	    y_desc, x), CUDNN_STATUS_BAD_PARAM); /* not in place */
	/* Unless all elements stay where they are. */
	shape(x_desc, CUDNN_DATA_DOUBLE, N, C, 1, 1);
	OK(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NHWC,
	    CUDNN_DATA_DOUBLE, N, C, 1, 1));
	OK(cudnnTransformTensor(handle, &two, x_desc, x, &zero, y_desc, x));
	get(ys, x, N * C);
	for (int i = 0; i < N * C; i++)
		near(ys[i], 2 * xs[i], 0);
}

/* Holes are skipped, and keep their values. */
static void
holes(void **state)
{
	(void)state;
	OK(cudnnSetTensor4dDescriptorEx(x_desc, CUDNN_DATA_DOUBLE, 2, 1, 2, 3,
	    20, 1, 7, 2));
	OK(cudnnSetTensor4dDescriptorEx(y_desc, CUDNN_DATA_DOUBLE, 2, 1, 2, 3,
	    9, 9, 1, 3));
	put(y, dys, COUNT);
	OK(cudnnTransformTensor(handle, &two, x_desc, x, &half, y_desc, y));
	get(ys, y, COUNT);
	for (int n = 0; n < 2; n++)
		for (int h = 0; h < 2; h++)
			for (int w = 0; w < 3; w++) {
				const int to = n * 9 + h + w * 3;

				near(ys[to], 2 * xs[n * 20 + h * 7 + w * 2] +
				    dys[to] / 2, 1e-15);
				ys[to] = dys[to];
			}
	assert_memory_equal(ys, dys, sizeof ys);
}

/* ---- two operands ------------------------------------------------------ */

static double
combined(int op, double a, double b)
{
	switch (op) {
	case CUDNN_OP_TENSOR_ADD:
		return a + b;
	case CUDNN_OP_TENSOR_MUL:
		return a * b;
	case CUDNN_OP_TENSOR_MIN:
		return fmin(a, b);
	case CUDNN_OP_TENSOR_MAX:
		return fmax(a, b);
	case CUDNN_OP_TENSOR_SQRT:
		return sqrt(a);
	default:
		return 1 - a;
	}
}

static void
pairs(void **state)
{
	cudnnOpTensorDescriptor_t op;

	(void)state;
	OK(cudnnCreateOpTensorDescriptor(&op));
	for (int i = 0; i < COUNT; i++)
		xs[i] = fabs(xs[i]);
	put(x, xs, COUNT);
	shape(small_desc, CUDNN_DATA_DOUBLE, N, 1, 1, W);
	for (int kind = 0; kind <= (int)CUDNN_OP_TENSOR_NOT; kind++) {
		OK(cudnnSetOpTensorDescriptor(op, (cudnnOpTensorOp_t)kind,
		    CUDNN_DATA_DOUBLE, CUDNN_PROPAGATE_NAN));
		put(y, dys, COUNT);
		OK(cudnnOpTensor(handle, op, &two, x_desc, x, &half,
		    small_desc, dy, &two, y_desc, y));
		get(ys, y, COUNT);
		for (int i = 0; i < COUNT; i++)
			near(ys[i], combined(kind, 2 * xs[i],
			    dys[i / (C * H * W) * W + i % W] / 2) +
			    2 * dys[i], 1e-14);
	}
	assert_int_equal(cudnnSetOpTensorDescriptor(op, CUDNN_OP_TENSOR_ADD,
	    CUDNN_DATA_INT8, CUDNN_PROPAGATE_NAN), CUDNN_STATUS_BAD_PARAM);
	assert_int_equal(cudnnOpTensor(handle, op, &one, small_desc, x, &one,
	    x_desc, dy, &zero, y_desc, y), CUDNN_STATUS_BAD_PARAM);
	OK(cudnnDestroyOpTensorDescriptor(op));
}

/* ---- reductions -------------------------------------------------------- */

/* Over n and w, for one c and h; the index of the winner. */
static double
reduced(int kind, int c, int h, unsigned *index_out)
{
	double sum = 0, product = 1, most = -1e9, least = 1e9, absolute = 0;
	double squares = 0, largest = 0;

	for (int i = 0; i < N * W; i++) {
		const double at = xs[(i / W * C + c) * H * W + h * W + i % W];

		if ((kind == CUDNN_REDUCE_TENSOR_MIN && at < least) ||
		    (kind == CUDNN_REDUCE_TENSOR_MAX && at > most) ||
		    (kind == CUDNN_REDUCE_TENSOR_AMAX && fabs(at) > largest))
			*index_out = (unsigned)i;
		sum += at;
		product *= at;
		absolute += fabs(at);
		squares += at * at;
		most = fmax(most, at);
		least = fmin(least, at);
		largest = fmax(largest, fabs(at));
	}
	{
		const double all[] = { sum, product, least, most, largest,
			sum / (N * W), absolute, sqrt(squares), product };

		return all[kind];
	}
}

static void
reduces(void **state)
{
	cudnnReduceTensorDescriptor_t op;
	unsigned *indices, got[C * H];
	size_t room_bytes, index_bytes;

	(void)state;
	OK(cudnnCreateReduceTensorDescriptor(&op));
	shape(small_desc, CUDNN_DATA_DOUBLE, 1, C, H, 1);
	indices = test_device(sizeof got);
	for (int kind = 0; kind <= (int)CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS;
	    kind++) {
		const bool wins = kind >= CUDNN_REDUCE_TENSOR_MIN &&
		    kind <= CUDNN_REDUCE_TENSOR_AMAX;

		OK(cudnnSetReduceTensorDescriptor(op,
		    (cudnnReduceTensorOp_t)kind, CUDNN_DATA_DOUBLE,
		    CUDNN_PROPAGATE_NAN,
		    CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
		    CUDNN_32BIT_INDICES));
		OK(cudnnGetReductionWorkspaceSize(handle, op, x_desc,
		    small_desc, &room_bytes));
		OK(cudnnGetReductionIndicesSize(handle, op, x_desc,
		    small_desc, &index_bytes));
		assert_int_equal(index_bytes, wins ? sizeof got : 0);
		assert_true(room_bytes <= sizeof xs);
		put(y, dys, COUNT);
		OK(cudnnReduceTensor(handle, op, indices, index_bytes, dx,
		    room_bytes, &two, x_desc, x, &half, small_desc, y));
		get(ys, y, C * H);
		OK(cudaMemcpy(got, indices, sizeof got,
		    cudaMemcpyDeviceToHost));
		for (int i = 0; i < C * H; i++) {
			unsigned index = 0;

			near(ys[i], 2 * reduced(kind, i / H, i % H, &index) +
			    dys[i] / 2, 1e-12);
			if (wins)
				assert_int_equal(got[i], index);
		}
	}
	assert_int_equal(cudnnReduceTensor(handle, op, NULL, 0, dx,
	    room_bytes - 1, &one, x_desc, x, &zero, small_desc, y),
	    CUDNN_STATUS_BAD_PARAM);
	shape(small_desc, CUDNN_DATA_DOUBLE, 1, C, 2, 1);
	assert_int_equal(cudnnReduceTensor(handle, op, NULL, 0, dx,
	    sizeof xs, &one, x_desc, x, &zero, small_desc, y),
	    CUDNN_STATUS_BAD_PARAM);
	OK(cudnnDestroyReduceTensorDescriptor(op));
	OK(cudaFree(indices));
}

/* Zeros are left out in that mode; NaN wins or loses; elements are found and
 * counted in the order of dimensions, whatever the layout. */
static void
reduces_odd_numbers(void **state)
{
	static const struct {
		cudnnReduceTensorOp_t op;
		cudnnNanPropagation_t nan;
		double values[4], want;
		unsigned index;
	} rows[] = {
		{ CUDNN_REDUCE_TENSOR_MUL, 0, { 2, 0, 3, 5 }, 0, 0 },
		{ CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS, 0, { 2, 0, 3, 5 }, 30, 0 },
		{ CUDNN_REDUCE_TENSOR_MAX, 0, { 2, NAN, 5, 3 }, 5, 1 },
		{ CUDNN_REDUCE_TENSOR_MAX, 1, { 2, 7, NAN, 5 }, NAN, 1 },
		{ CUDNN_REDUCE_TENSOR_MIN, 0, { 2, 1, NAN, 1 }, 1, 2 },
		{ CUDNN_REDUCE_TENSOR_MIN, 1, { NAN, 1, 2, 3 }, NAN, 0 },
		{ CUDNN_REDUCE_TENSOR_AMAX, 0, { 2, 1, NAN, -4 }, 4, 3 },
		{ CUDNN_REDUCE_TENSOR_AMAX, 1, { 2, NAN, 1, -4 }, NAN, 2 },
		{ CUDNN_REDUCE_TENSOR_MAX, 1, { NAN, 7, NAN, 5 }, NAN, 0 },
		{ CUDNN_REDUCE_TENSOR_MAX, 0, { -2, -7, -5, -3 }, -2, 0 },
		{ CUDNN_REDUCE_TENSOR_MIN, 0, { INFINITY, INFINITY, INFINITY,
		  INFINITY }, INFINITY, 0 },
		{ CUDNN_REDUCE_TENSOR_ADD, 0, { 1, INFINITY, 2, 3 }, INFINITY,
		  0 },
	};
	cudnnReduceTensorDescriptor_t op;
	unsigned *indices = test_device(4), index;
	double got;

	(void)state;
	OK(cudnnCreateReduceTensorDescriptor(&op));
	/* 1 x 1 x 2 x 2, column by column. */
	OK(cudnnSetTensor4dDescriptorEx(x_desc, CUDNN_DATA_DOUBLE, 1, 1, 2, 2,
	    4, 4, 1, 2));
	shape(small_desc, CUDNN_DATA_DOUBLE, 1, 1, 1, 1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const bool wins = rows[i].op >= CUDNN_REDUCE_TENSOR_MIN &&
		    rows[i].op <= CUDNN_REDUCE_TENSOR_AMAX;

		OK(cudnnSetReduceTensorDescriptor(op, rows[i].op,
		    CUDNN_DATA_DOUBLE, rows[i].nan,
		    CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
		    CUDNN_32BIT_INDICES));
		put(x, rows[i].values, 4);
		OK(cudnnReduceTensor(handle, op, indices, 4, dx, 8, &one,
		    x_desc, x, &zero, small_desc, y));
		get(&got, y, 1);
		OK(cudaMemcpy(&index, indices, 4, cudaMemcpyDeviceToHost));
		assert_true(isnan(rows[i].want) ? isnan(got) :
		    got == rows[i].want);
		if (wins)
			assert_int_equal(index, rows[i].index);
	}
	OK(cudnnSetReduceTensorDescriptor(op, CUDNN_REDUCE_TENSOR_MAX,
	    CUDNN_DATA_DOUBLE, CUDNN_PROPAGATE_NAN,
	    CUDNN_REDUCE_TENSOR_FLATTENED_INDICES, CUDNN_64BIT_INDICES));
	assert_int_equal(cudnnReduceTensor(handle, op, indices, 4, dx, 8, &one,
	    x_desc, x, &zero, small_desc, y), CUDNN_STATUS_NOT_SUPPORTED);
	OK(cudnnDestroyReduceTensorDescriptor(op));
	OK(cudaFree(indices));
}

/* ---- dropout ----------------------------------------------------------- */

static int
dropped(const double *values)
{
	int zeros = 0;

	for (int i = 0; i < COUNT; i++)
		zeros += values[i] == 0;
	return zeros;
}

/* Kept elements are scaled, and pass the gradient; the next pass draws other
 * elements, the same seed draws the same. */
static void
dropouts(void **state)
{
	cudnnDropoutDescriptor_t op;
	double first[COUNT], back[COUNT];
	size_t state_bytes, bytes;
	unsigned long long seed;
	unsigned char *reserve;
	void *states, *kept;
	float share;

	(void)state;
	OK(cudnnCreateDropoutDescriptor(&op));
	OK(cudnnDropoutGetStatesSize(handle, &state_bytes));
	OK(cudnnDropoutGetReserveSpaceSize(x_desc, &bytes));
	assert_int_equal(bytes, 16); /* the real library's size, for 120 */
	states = test_device(state_bytes);
	reserve = test_device(bytes);
	for (int run = 0; run < 3; run++) {
		if (run == 1) /* the counter goes on */
			OK(cudnnRestoreDropoutDescriptor(op, handle, 0.25f,
			    states, state_bytes, 11));
		else
			OK(cudnnSetDropoutDescriptor(op, handle, 0.25f,
			    states, state_bytes, 11));
		OK(cudnnDropoutForward(handle, op, x_desc, x, y_desc, y,
		    reserve, bytes));
		get(ys, y, COUNT);
		assert_true(dropped(ys) > COUNT / 8 &&
		    dropped(ys) < COUNT * 3 / 8);
		if (run)
			assert_int_equal(!memcmp(first, ys, sizeof ys),
			    run == 2);
		else
			memcpy(first, ys, sizeof ys);
		OK(cudnnDropoutBackward(handle, op, y_desc, dy, x_desc, dx,
		    reserve, bytes));
		get(back, dx, COUNT);
		for (int i = 0; i < COUNT; i++) {
			near(ys[i], ys[i] != 0 ? xs[i] / 0.75 : 0, 1e-14);
			near(back[i], ys[i] != 0 ? dys[i] / 0.75 : 0, 1e-14);
		}
	}
	OK(cudnnGetDropoutDescriptor(op, handle, &share, &kept, &seed));
	assert_true(share == 0.25f && kept == states && seed == 11);
	assert_int_equal(cudnnDropoutForward(handle, op, x_desc, x, y_desc, y,
	    reserve, bytes - 1), CUDNN_STATUS_BAD_PARAM);
	assert_int_equal(cudnnSetDropoutDescriptor(op, handle, 1.5f, states,
	    state_bytes, 1), CUDNN_STATUS_BAD_PARAM);
	OK(cudnnDestroyDropoutDescriptor(op));
	OK(cudaFree(states));
	OK(cudaFree(reserve));
}

/* ---- the FPU ------------------------------------------------------------ */

/* With the program's FPU rounding up from the start: 1 + 2^-30 in FP32. */
static int
upward(void)
{
	const float values[] = { 1, 0x1p-30f }, unit = 1;
	float *device, got = 0;

	fesetround(FE_UPWARD);
	OK(cudnnCreate(&handle));
	device = test_upload(values, sizeof values);
	OK(cudnnCreateTensorDescriptor(&small_desc));
	shape(small_desc, CUDNN_DATA_FLOAT, 1, 1, 1, 1);
	OK(cudnnAddTensor(handle, &unit, small_desc, device + 1, &unit,
	    small_desc, device));
	OK(cudaMemcpy(&got, device, 4, cudaMemcpyDeviceToHost));
	OK(cudaFree(device));
	OK(cudnnDestroyTensorDescriptor(small_desc));
	OK(cudnnDestroy(handle));
	return got == 1 ? 0 : 1;
}

/* The program's rounding mode does not reach the device. */
static void
modes(void **state)
{
	char text[4096];
	const int status = test_again("upward", NULL, NULL, text, sizeof text);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(adds), TEST(types), TEST(later), TEST(fills),
		TEST(transforms), TEST(holes), TEST(pairs), TEST(reduces),
		TEST(reduces_odd_numbers), TEST(dropouts), TEST(modes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	(void)argv;
	if (argc > 1)
		return upward();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
