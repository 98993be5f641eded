/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_dnn_ops.c -- cuDNN's activations, pooling and
 * softmax on the emulated GPU: values against formulas and plain loops,
 * gradients against finite differences, statuses. */
#include "test_emu_dnn_ops.h"

/* ---- activations ------------------------------------------------------- */

static void
activate(void)
{
	OK(cudnnActivationForward(handle, activation, &one, x_desc, x, &zero,
	    y_desc, y));
}

static double
formula(int mode, double at, double coefficient)
{
	switch (mode) {
	case CUDNN_ACTIVATION_SIGMOID:
		return 1 / (1 + exp(-at));
	case CUDNN_ACTIVATION_RELU:
		return fmax(at, 0);
	case CUDNN_ACTIVATION_TANH:
		return tanh(at);
	case CUDNN_ACTIVATION_CLIPPED_RELU:
		return fmin(fmax(at, 0), coefficient);
	case CUDNN_ACTIVATION_ELU:
		return at > 0 ? at : coefficient * (exp(at) - 1);
	case CUDNN_ACTIVATION_SWISH:
		return at / (1 + exp(-at));
	default:
		return at;
	}
}

static void
activations(void **state)
{
	const double coefficient = 0.7;

	(void)state;
	for (int mode = 0; mode <= (int)CUDNN_ACTIVATION_SWISH; mode++) {
		OK(cudnnSetActivationDescriptor(activation,
		    (cudnnActivationMode_t)mode, CUDNN_PROPAGATE_NAN,
		    coefficient));
		activate();
		get(ys, y, COUNT);
		for (int i = 0; i < COUNT; i++)
			near(ys[i], formula(mode, xs[i], coefficient), 1e-12);
		OK(cudnnActivationBackward(handle, activation, &one, y_desc,
		    y, y_desc, dy, x_desc, x, &zero, x_desc, dx));
		differentiate(x, dx, COUNT, COUNT, activate);
	}
}

/* output = alpha * f(x) + beta * output; in place; NaN by either setting. */
static void
blending(void **state)
{
	double values[COUNT];

	(void)state;
	OK(cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_RELU,
	    CUDNN_PROPAGATE_NAN, 0));
	put(y, dys, COUNT);
	OK(cudnnActivationForward(handle, activation, &two, x_desc, x, &half,
	    y_desc, y));
	get(ys, y, COUNT);
	for (int i = 0; i < COUNT; i++)
		near(ys[i], 2 * fmax(xs[i], 0) + dys[i] / 2, 1e-15);
	memcpy(values, xs, sizeof values);
	values[3] = (double)NAN;
	put(x, values, COUNT);
	OK(cudnnActivationForward(handle, activation, &one, x_desc, x, &zero,
	    x_desc, x));
	get(ys, x, COUNT);
	assert_true(isnan(ys[3]));
	near(ys[4], fmax(xs[4], 0), 0);
	OK(cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_RELU,
	    CUDNN_NOT_PROPAGATE_NAN, 0));
	activate();
	get(ys, y, COUNT);
	assert_true(ys[3] == 0);
}

/* ---- pooling ----------------------------------------------------------- */

static int pooled; /* elements of y */

static void
pool(void)
{
	OK(cudnnPoolingForward(handle, pooling, &one, x_desc, x, &zero,
	    y_desc, y));
}

/* One output of a 3 x 2 window with strides 2 and 1 and padding 1 and 1. */
static double
pool_at(int mode, int channel, int row, int column)
{
	double most = -1e9, sum = 0;
	int inside = 0;

	for (int h = row * 2 - 1; h < row * 2 + 2; h++)
		for (int w = column - 1; w < column + 1; w++) {
			double at;

			if (h < 0 || h >= H || w < 0 || w >= W)
				continue;
			at = xs[(channel * H + h) * W + w];
			most = fmax(most, at);
			sum += at;
			inside++;
		}
	return mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? sum / 6 :
	    mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING ?
	    sum / inside : most;
}

static void
pools(void **state)
{
	int n, c, h, w;

	(void)state;
	for (int mode = 0; mode <= (int)CUDNN_POOLING_MAX_DETERMINISTIC;
	    mode++) {
		OK(cudnnSetPooling2dDescriptor(pooling,
		    (cudnnPoolingMode_t)mode, CUDNN_PROPAGATE_NAN, 3, 2, 1, 1,
		    2, 1));
		OK(cudnnGetPooling2dForwardOutputDim(pooling, x_desc, &n, &c,
		    &h, &w));
		assert_true(n == N && c == C && h == 3 && w == 5);
		shape(y_desc, CUDNN_DATA_DOUBLE, n, c, h, w);
		pooled = n * c * h * w;
		pool();
		get(ys, y, pooled);
		for (int i = 0; i < pooled; i++)
			near(ys[i], pool_at(mode, i / (h * w), i / w % h,
			    i % w), 1e-14);
		OK(cudnnPoolingBackward(handle, pooling, &one, y_desc, y,
		    y_desc, dy, x_desc, x, &zero, x_desc, dx));
		differentiate(x, dx, COUNT, pooled, pool);
	}
}

/* Volumes, one of them with channels last. */
static void
volumes(void **state)
{
	const int window[] = { 2, 3, 2 }, pad[] = { 0, 1, 0 };
	const int stride[] = { 1, 2, 2 }, dims[] = { 1, 3, 2, 5, 4 };
	const int last[] = { 120, 1, 60, 12, 3 };
	int want[5], strides[5];

	(void)state;
	OK(cudnnSetPoolingNdDescriptor(pooling, CUDNN_POOLING_MAX,
	    CUDNN_NOT_PROPAGATE_NAN, 3, window, pad, stride));
	OK(cudnnSetTensorNdDescriptor(x_desc, CUDNN_DATA_DOUBLE, 5, dims,
	    last));
	OK(cudnnGetPoolingNdForwardOutputDim(pooling, x_desc, 5, want));
	assert_true(want[1] == 3 && want[2] == 1 && want[3] == 3 &&
	    want[4] == 2);
	for (int i = 4, step = 1; i >= 0; step *= want[i--])
		strides[i] = step;
	OK(cudnnSetTensorNdDescriptor(y_desc, CUDNN_DATA_DOUBLE, 5, want,
	    strides));
	pool();
	get(ys, y, 18);
	for (int c = 0; c < 3; c++) { /* the first window of a channel */
		double most = -1e9;

		for (int d = 0; d < 2; d++)
			for (int h = 0; h < 2; h++)
				for (int w = 0; w < 2; w++)
					most = fmax(most, xs[c + d * 60 +
					    h * 12 + w * 3]);
		near(ys[c * 6], most, 0);
	}
	OK(cudnnPoolingBackward(handle, pooling, &one, y_desc, y, y_desc, dy,
	    x_desc, x, &zero, x_desc, dx));
	differentiate(x, dx, COUNT, 18, pool);
}

/* Of equal elements the first gets the gradient; a NaN is the maximum, or does
 * not count, by the setting. */
static void
ties(void **state)
{
	const double equal[] = { 1, 3, 3, 3 };
	const double odd[] = { 1, (double)NAN, 3, 2 };

	(void)state;
	shape(x_desc, CUDNN_DATA_DOUBLE, 1, 1, 1, 4);
	shape(y_desc, CUDNN_DATA_DOUBLE, 1, 1, 1, 1);
	for (int nan = 0; nan < 2; nan++) {
		OK(cudnnSetPooling2dDescriptor(pooling, CUDNN_POOLING_MAX,
		    (cudnnNanPropagation_t)nan, 1, 4, 0, 0, 1, 1));
		put(x, equal, 4);
		pool();
		OK(cudnnPoolingBackward(handle, pooling, &one, y_desc, y,
		    y_desc, dy, x_desc, x, &zero, x_desc, dx));
		get(ys, dx, 4);
		assert_true(ys[0] == 0 && ys[1] == dys[0] && ys[2] == 0);
		put(x, odd, 4);
		pool();
		get(ys, y, 1);
		assert_true(nan ? isnan(ys[0]) : ys[0] == 3);
	}
}

/* ---- softmax ----------------------------------------------------------- */

static cudnnSoftmaxAlgorithm_t algorithm;
static cudnnSoftmaxMode_t softmax_mode;

static void
soften(void)
{
	OK(cudnnSoftmaxForward(handle, algorithm, softmax_mode, &one, x_desc,
	    x, &zero, y_desc, y));
}

/* Softmax of element i from the exponentials of its group. */
static double
soft_at(int i)
{
	double sum = 0;

	for (int j = 0; j < COUNT; j++)
		if (i / (C * H * W) == j / (C * H * W) && (softmax_mode ==
		    CUDNN_SOFTMAX_MODE_INSTANCE || i % (H * W) ==
		    j % (H * W)))
			sum += exp(xs[j]);
	return algorithm == CUDNN_SOFTMAX_LOG ? xs[i] - log(sum) :
	    exp(xs[i]) / sum;
}

static void
softmaxes(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++) {
		algorithm = (cudnnSoftmaxAlgorithm_t)(i / 2);
		softmax_mode = (cudnnSoftmaxMode_t)(i % 2);
		soften();
		get(ys, y, COUNT);
		for (int j = 0; j < COUNT; j++)
			near(ys[j], soft_at(j), 1e-12);
		OK(cudnnSoftmaxBackward(handle, algorithm, softmax_mode, &one,
		    y_desc, y, y_desc, dy, &zero, x_desc, dx));
		differentiate(x, dx, COUNT, COUNT, soften);
	}
}

/* The fast algorithm has no guard against overflow and underflow, the accurate
 * one has. */
static void
overflow(void **state)
{
	const float large[] = { 100, 99, -200, -201 }, unit = 1, none = 0;
	float got[2], *device = test_upload(large, sizeof large);

	(void)state;
	shape(x_desc, CUDNN_DATA_FLOAT, 1, 2, 1, 1);
	for (int i = 0; i < 4; i++) {
		OK(cudnnSoftmaxForward(handle,
		    (cudnnSoftmaxAlgorithm_t)(i % 2),
		    CUDNN_SOFTMAX_MODE_CHANNEL, &unit, x_desc,
		    device + i / 2 * 2, &none, x_desc, (float *)y));
		OK(cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost));
		if (i % 2 == CUDNN_SOFTMAX_FAST)
			assert_true(isnan(got[0]));
		else
			near((double)got[0], 1 / (1 + exp(-1)), 1e-7);
	}
	OK(cudaFree(device));
}

/* ---- statuses ---------------------------------------------------------- */

static void
statuses(void **state)
{
	int n, c, h, w, all[6];
	cudnnPoolingMode_t mode;
	cudnnNanPropagation_t nan;

	(void)state;
	assert_int_equal(cudnnSetPooling2dDescriptor(pooling,
	    CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 0, 2, 0, 0, 1, 1),
	    CUDNN_STATUS_BAD_PARAM);
	assert_int_equal(cudnnGetPooling2dForwardOutputDim(pooling, x_desc,
	    &n, &c, &h, &w), CUDNN_STATUS_BAD_PARAM); /* not set */
	assert_int_equal(cudnnGetPoolingNdDescriptor(pooling, 7, &mode, &nan,
	    &n, all, all, all), CUDNN_STATUS_NOT_SUPPORTED);
	OK(cudnnGetPoolingNdDescriptor(pooling, 6, &mode, &nan, &n, all, all,
	    all));
	OK(cudnnSetPooling2dDescriptor(pooling, CUDNN_POOLING_MAX,
	    CUDNN_PROPAGATE_NAN, 2, 2, 0, 0, 2, 2));
	assert_int_equal(cudnnPoolingForward(handle, pooling, &one, x_desc, x,
	    &zero, y_desc, y), CUDNN_STATUS_BAD_PARAM); /* y is too large */
	assert_int_equal(cudnnActivationForward(handle, activation, NULL,
	    x_desc, x, &zero, y_desc, y), CUDNN_STATUS_BAD_PARAM);
	assert_int_equal(cudnnActivationForward(handle, activation, &one,
	    x_desc, NULL, &zero, y_desc, y), CUDNN_STATUS_BAD_PARAM);
	assert_int_equal(cudnnActivationForward(handle, activation, &one,
	    small_desc, x, &zero, small_desc, y), CUDNN_STATUS_BAD_PARAM);
	shape(small_desc, CUDNN_DATA_INT32, N, C, H, W);
	assert_int_equal(cudnnActivationForward(handle, activation, &one,
	    small_desc, x, &zero, small_desc, y), CUDNN_STATUS_NOT_SUPPORTED);
	assert_int_equal(cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_FAST,
	    CUDNN_SOFTMAX_MODE_CHANNEL, &one, x_desc, xs, &zero, y_desc, y),
	    CUDNN_STATUS_EXECUTION_FAILED); /* not device memory */
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(activations), TEST(blending), TEST(pools), TEST(volumes),
		TEST(ties), TEST(softmaxes), TEST(overflow), TEST(statuses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
