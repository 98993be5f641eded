/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_dnn_norm.c -- cuDNN's batch normalization on the
 * emulated GPU: values against formulas, gradients against finite differences,
 * statuses. */
#include "test_emu_dnn_ops.h"

static cudnnBatchNormMode_t norm_mode;

static void
normalize(void)
{
	OK(cudnnBatchNormalizationForwardTraining(handle, norm_mode, &one,
	    &zero, x_desc, x, y_desc, y, small_desc, scale, bias, 0.25, mean,
	    variance, 1e-3, NULL, NULL));
}

/* Whether elements i and j are normalized together. */
static bool
are_together(int i, int j)
{
	return norm_mode == CUDNN_BATCHNORM_PER_ACTIVATION ?
	    i % (C * H * W) == j % (C * H * W) :
	    i / (H * W) % C == j / (H * W) % C;
}

/* The parameter of element i. */
static int
parameter(int i)
{
	return norm_mode == CUDNN_BATCHNORM_PER_ACTIVATION ?
	    i % (C * H * W) : i / (H * W) % C;
}

/* Mean and variance of the group of element i. */
static void
measure(int i, double *mean_out, double *variance_out, int *count_out)
{
	double sum = 0, squares = 0;
	int count = 0;

	for (int j = 0; j < COUNT; j++)
		if (are_together(i, j)) {
			sum += xs[j];
			squares += xs[j] * xs[j];
			count++;
		}
	*mean_out = sum / count;
	*variance_out = squares / count - *mean_out * *mean_out;
	*count_out = count;
}

/* Index of element i with channels last. */
static int
last(int i)
{
	return (i / (C * H * W) * H * W + i % (H * W)) * C + i / (H * W) % C;
}

/* The content of dys after setup(). */
static double
old_y(int i)
{
	uint64_t seed = 5;
	double value = 0;

	for (int j = 0; j <= i; j++)
		value = (double)test_random(&seed);
	return value;
}

/* Every element, blended into a y with channels last, by parameters that
 * differ; every running average; and inference with those. */
static void
norms(void **state)
{
	double scales[COUNT], biases[COUNT], means[COUNT], variances[COUNT];
	double saved[2][COUNT];

	for (int mode = 0; mode <= 2; mode++) {
		norm_mode = (cudnnBatchNormMode_t)mode;
		OK(cudnnDeriveBNTensorDescriptor(small_desc, x_desc,
		    norm_mode));
		OK(cudnnSetTensor4dDescriptor(y_desc, CUDNN_TENSOR_NHWC,
		    CUDNN_DATA_DOUBLE, N, C, H, W));
		scatter(scales, COUNT);
		scatter(biases, COUNT);
		put(scale, scales, COUNT);
		put(bias, biases + 1, COUNT - 1);
		put(y, dys, COUNT);
		OK(cudnnBatchNormalizationForwardTraining(handle, norm_mode,
		    &two, &half, x_desc, x, y_desc, y, small_desc, scale,
		    bias, 0.25, mean, variance, 1e-3, dscale, dbias));
		get(ys, y, COUNT);
		get(means, mean, COUNT);
		get(variances, variance, COUNT);
		get(saved[0], dscale, COUNT);
		get(saved[1], dbias, COUNT);
		OK(cudnnBatchNormalizationForwardInference(handle, norm_mode,
		    &one, &zero, x_desc, x, x_desc, dx, small_desc, scale,
		    bias, mean, variance, 1e-3));
		get(dys, dx, COUNT);
		for (int i = 0; i < COUNT; i++) {
			const int p = parameter(i);
			double m, v;
			int count;

			measure(i, &m, &v, &count);
			near(saved[0][p], m, 1e-12);
			near(saved[1][p], 1 / sqrt(v + 1e-3), 1e-9);
			near(means[p], 4 * 0.75 + m * 0.25, 1e-12);
			near(variances[p], 8 * 0.75 + v * 0.25 * count /
			    (count - 1), 1e-12);
			near(dys[i], scales[p] * (xs[i] - means[p]) /
			    sqrt(variances[p] + 1e-3) + biases[p + 1], 1e-12);
			near(ys[last(i)] - old_y(last(i)) / 2, 2 * (scales[p] *
			    (xs[i] - m) / sqrt(v + 1e-3) + biases[p + 1]),
			    1e-9);
		}
		teardown(state);
		setup(state);
	}
}

static void
norm_gradients(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) { /* either mode, saved or not */
		double *const saved = i / 2 ? mean : NULL;
		double *const inverse = i / 2 ? variance : NULL;
		int parameters;

		norm_mode = (cudnnBatchNormMode_t)(i % 2);
		parameters = i % 2 ? C : C * H * W;
		OK(cudnnDeriveBNTensorDescriptor(small_desc, x_desc,
		    norm_mode));
		OK(cudnnBatchNormalizationForwardTraining(handle, norm_mode,
		    &one, &zero, x_desc, x, y_desc, y, small_desc, scale,
		    bias, 1, NULL, NULL, 1e-3, saved, inverse));
		OK(cudnnBatchNormalizationBackward(handle, norm_mode, &one,
		    &zero, &one, &zero, x_desc, x, y_desc, dy, x_desc, dx,
		    small_desc, scale, dscale, dbias, 1e-3, saved, inverse));
		differentiate(x, dx, COUNT, COUNT, normalize);
		differentiate(scale, dscale, parameters, COUNT, normalize);
		differentiate(bias, dbias, parameters, COUNT, normalize);
	}
}

/* Gradients are blended into the old values, those of parameters with their own
 * scalars. */
static void
norm_gradients_blend(void **state)
{
	double plain[3][COUNT], blended[3][COUNT];
	double *const results[3] = { dx, dscale, dbias };

	(void)state;
	norm_mode = CUDNN_BATCHNORM_SPATIAL;
	OK(cudnnDeriveBNTensorDescriptor(small_desc, x_desc, norm_mode));
	OK(cudnnBatchNormalizationBackward(handle, norm_mode, &one, &zero,
	    &one, &zero, x_desc, x, y_desc, dy, x_desc, dx, small_desc, scale,
	    dscale, dbias, 1e-3, NULL, NULL));
	for (int i = 0; i < 3; i++) {
		get(plain[i], results[i], i ? C : COUNT);
		put(results[i], xs, i ? C : COUNT);
	}
	OK(cudnnBatchNormalizationBackward(handle, norm_mode, &two, &half,
	    &half, &two, x_desc, x, y_desc, dy, x_desc, dx, small_desc, scale,
	    dscale, dbias, 1e-3, NULL, NULL));
	for (int i = 0; i < 3; i++) {
		get(blended[i], results[i], i ? C : COUNT);
		for (int j = 0; j < (i ? C : COUNT); j++)
			near(blended[i][j], i ? plain[i][j] / 2 + 2 * xs[j] :
			    2 * plain[i][j] + xs[j] / 2, 1e-12);
	}
}

/* FP16 tensors have FP32 parameters. */
static void
norm_of_halves(void **state)
{
	const uint16_t in[] = { 0x3c00, 0x4200 }; /* 1, 3 */
	const float parameters[] = { 2, 1 }, unit = 1, none = 0;
	uint16_t *device = test_upload(in, sizeof in), out[2];
	float *floats = test_upload(parameters, sizeof parameters);

	(void)state;
	shape(x_desc, CUDNN_DATA_HALF, 2, 1, 1, 1);
	OK(cudnnDeriveBNTensorDescriptor(small_desc, x_desc,
	    CUDNN_BATCHNORM_SPATIAL));
	OK(cudnnBatchNormalizationForwardTraining(handle,
	    CUDNN_BATCHNORM_SPATIAL, &unit, &none, x_desc, device, x_desc,
	    device, small_desc, floats, floats + 1, 1, NULL, NULL, 1e-5, NULL,
	    NULL));
	OK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
	assert_int_equal(out[0], 0xbc00); /* -1: 2 * -1 + 1, nearly */
	assert_int_equal(out[1], 0x4200);
	shape(small_desc, CUDNN_DATA_HALF, 1, 1, 1, 1);
	assert_int_equal(cudnnBatchNormalizationForwardTraining(handle,
	    CUDNN_BATCHNORM_SPATIAL, &unit, &none, x_desc, device, x_desc,
	    device, small_desc, floats, floats + 1, 1, NULL, NULL, 1e-5, NULL,
	    NULL), CUDNN_STATUS_BAD_PARAM);
	OK(cudaFree(device));
	OK(cudaFree(floats));
}

/* The extended calls give the same where they only normalize. */
static void
extended(void **state)
{
	double plain[COUNT], gradient[COUNT];
	const cudnnBatchNormOps_t only = CUDNN_BATCHNORM_OPS_BN;
	size_t bytes = 1;

	(void)state;
	norm_mode = CUDNN_BATCHNORM_SPATIAL;
	OK(cudnnDeriveBNTensorDescriptor(small_desc, x_desc, norm_mode));
	normalize();
	get(plain, y, COUNT);
	OK(cudnnBatchNormalizationBackward(handle, norm_mode, &one, &zero,
	    &one, &zero, x_desc, x, y_desc, dy, x_desc, dx, small_desc, scale,
	    dscale, dbias, 1e-3, NULL, NULL));
	get(gradient, dx, COUNT);
	put(y, dys, COUNT);
	put(dx, dys, COUNT);
	OK(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(handle,
	    norm_mode, only, x_desc, NULL, y_desc, small_desc, NULL, &bytes));
	assert_int_equal(bytes, 0);
	OK(cudnnGetBatchNormalizationBackwardExWorkspaceSize(handle,
	    norm_mode, only, x_desc, NULL, y_desc, NULL, x_desc, small_desc,
	    NULL, &bytes));
	assert_int_equal(bytes, 0);
	OK(cudnnBatchNormalizationForwardTrainingEx(handle, norm_mode, only,
	    &one, &zero, x_desc, x, NULL, NULL, y_desc, y, small_desc, scale,
	    bias, 1, mean, variance, 1e-3, NULL, NULL, NULL, NULL, 0, NULL,
	    0));
	get(ys, y, COUNT);
	assert_memory_equal(ys, plain, sizeof plain);
	OK(cudnnBatchNormalizationBackwardEx(handle, norm_mode, only, &one,
	    &zero, &one, &zero, x_desc, x, NULL, NULL, y_desc, dy, NULL, NULL,
	    x_desc, dx, small_desc, scale, bias, dscale, dbias, 1e-3, NULL,
	    NULL, NULL, NULL, 0, NULL, 0));
	get(ys, dx, COUNT);
	assert_memory_equal(ys, gradient, sizeof gradient);
	assert_int_equal(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
	    handle, norm_mode, CUDNN_BATCHNORM_OPS_BN_ACTIVATION, activation,
	    x_desc, &bytes), CUDNN_STATUS_NOT_SUPPORTED);
}

static void
statuses(void **state)
{
	(void)state;
	OK(cudnnDeriveBNTensorDescriptor(small_desc, x_desc,
	    CUDNN_BATCHNORM_SPATIAL));
	assert_int_equal(cudnnBatchNormalizationForwardTraining(handle,
	    CUDNN_BATCHNORM_PER_ACTIVATION, &one, &zero, x_desc, x, y_desc, y,
	    small_desc, scale, bias, 1, NULL, NULL, 1e-3, NULL, NULL),
	    CUDNN_STATUS_BAD_PARAM);
	assert_int_equal(cudnnBatchNormalizationForwardTraining(handle,
	    CUDNN_BATCHNORM_SPATIAL, &one, &zero, x_desc, x, y_desc, y,
	    small_desc, scale, bias, 1, mean, NULL, 1e-3, NULL, NULL),
	    CUDNN_STATUS_BAD_PARAM); /* one of a pair */
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(norms), TEST(norm_gradients), TEST(norm_gradients_blend),
		TEST(norm_of_halves), TEST(extended),
		TEST(statuses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
