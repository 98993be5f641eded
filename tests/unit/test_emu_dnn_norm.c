/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_emu_dnn_norm.c -- cuDNN's batch normalization on the
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

/* Mean and variance of what is normalized together with element 0. */
static void
together(double *mean_out, double *variance_out)
{
	const bool spatial = norm_mode != CUDNN_BATCHNORM_PER_ACTIVATION;
	const int count = spatial ? N * H * W : N;
	double sum = 0, squares = 0;

	for (int n = 0; n < N; n++)
		for (int i = 0; i < (spatial ? H * W : 1); i++) {
			sum += xs[n * C * H * W + i];
			squares += xs[n * C * H * W + i] *
			    xs[n * C * H * W + i];
		}
	*mean_out = sum / count;
	*variance_out = squares / count - *mean_out * *mean_out;
}

static void
norms(void **state)
{
	for (int mode = 0; mode <= 2; mode++) {
		const double count = mode ? N * H * W : N;
		double m, v, got[2];

		norm_mode = (cudnnBatchNormMode_t)mode;
		OK(cudnnDeriveBNTensorDescriptor(small_desc, x_desc,
		    norm_mode));
		together(&m, &v);
		normalize();
		get(ys, y, COUNT);
		near(ys[0], 1.5 * (xs[0] - m) / sqrt(v + 1e-3) - 0.25, 1e-10);
		get(got, mean, 1);
		near(got[0], 4 * 0.75 + m * 0.25, 1e-12);
		get(got, variance, 1);
		near(got[0], 8 * 0.75 + v * 0.25 * count / (count - 1),
		    1e-12);
		OK(cudnnBatchNormalizationForwardInference(handle, norm_mode,
		    &one, &zero, x_desc, x, y_desc, y, small_desc, scale,
		    bias, mean, variance, 1e-3));
		get(got + 1, y, 1);
		near(got[1], 1.5 * (xs[0] - 4 * 0.75 - m * 0.25) /
		    sqrt(got[0] + 1e-3) - 0.25, 1e-12);
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

/* The extended calls do the same where they only normalize. */
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
		TEST(norms), TEST(norm_gradients), TEST(extended),
		TEST(statuses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
