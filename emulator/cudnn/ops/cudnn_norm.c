/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/ops/cudnn_norm.c -- cuDNN calls: batch normalization, per
 * activation and spatial, and its gradients. Contracts are NVIDIA's. */
#include "emulator/cudnn/ops/cudnn_ops.h"

#include <math.h>

enum { X, Y, SCALE, BIAS, MEAN, VARIANCE, SAVED_MEAN, SAVED_INVERSE };
enum { DX = BIAS, DSCALE = MEAN, DBIAS = VARIANCE, DY = Y }; /* backward */

struct norm {
	struct emu_op op;
	double epsilon, factor;         /* of the running averages */
	double of_gradient, of_old;     /* blending parameters' gradients */
	int64_t outer, channels, inner; /* one of `channels` at a time */
};

cudnnStatus_t
cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derivedBnDesc,
    const cudnnTensorDescriptor_t xDesc, cudnnBatchNormMode_t mode)
{
	struct emu_tensor t;

	EMU_ENTER(&emu_dnn);
	if (!derivedBnDesc || !xDesc || xDesc->tensor.dims < 2 ||
	    (unsigned)mode > CUDNN_BATCHNORM_SPATIAL_PERSISTENT)
		return CUDNN_STATUS_BAD_PARAM;
	t = xDesc->tensor;
	if (t.type == CUDNN_DATA_HALF || t.type == CUDNN_DATA_BFLOAT16 ||
	    t.type == CUDNN_DATA_INT8)
		t.type = CUDNN_DATA_FLOAT;
	for (int i = 0; i < t.dims; i++)
		if (i == 0 || (i > 1 && mode !=
		    CUDNN_BATCHNORM_PER_ACTIVATION))
			t.dim[i] = 1;
	emu_tensor_lay_out(&t, CUDNN_TENSOR_NCHW);
	derivedBnDesc->tensor = t;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- one channel, or one activation ------------------------------------ */

static int64_t
per_channel(const struct norm *b)
{
	return b->outer * b->inner;
}

/* Index of element `i` of `channel`. */
static int64_t
place(const struct norm *b, int64_t channel, int64_t i)
{
	return (i / b->inner * b->channels + channel) * b->inner +
	    i % b->inner;
}

/* Mean, and the mean square of the distance from it. */
static double
measure(struct norm *b, int64_t channel, double *mean_out)
{
	const int64_t count = per_channel(b);
	double sum = 0, squares = 0;

	for (int64_t i = 0; i < count; i++)
		sum += emu_op_load(&b->op, X, place(b, channel, i));
	*mean_out = sum / (double)count;
	for (int64_t i = 0; i < count; i++) {
		const double off = emu_op_load(&b->op, X, place(b, channel,
		    i)) - *mean_out;

		squares += off * off;
	}
	return squares / (double)count;
}

static void
apply(struct norm *b, int64_t channel, double mean, double inverse)
{
	const double scale = emu_op_load(&b->op, SCALE, channel);
	const double bias = emu_op_load(&b->op, BIAS, channel);

	for (int64_t i = 0; i < per_channel(b); i++) {
		const int64_t n = place(b, channel, i);

		emu_op_blend(&b->op, Y, n, scale * inverse *
		    (emu_op_load(&b->op, X, n) - mean) + bias);
	}
}

/* Update a running average; with factor 1 the old value is not read. */
static void
average(struct norm *b, int view, int64_t channel, double value)
{
	const double old = b->factor != 1 ? emu_op_load(&b->op, view,
	    channel) * (1 - b->factor) : 0;

	emu_op_store(&b->op, view, channel, value * b->factor + old);
}

static void
run_training(struct emu_op *op)
{
	struct norm *b = (struct norm *)op;
	const double count = (double)per_channel(b);

	for (int64_t c = 0; c < b->channels; c++) {
		double mean, inverse;
		const double variance = measure(b, c, &mean);

		inverse = 1 / sqrt(variance + b->epsilon);
		apply(b, c, mean, inverse);
		if (op->view[MEAN].name) {
			average(b, MEAN, c, mean);
			average(b, VARIANCE, c, count > 1 ? variance *
			    count / (count - 1) : variance);
		}
		if (op->view[SAVED_MEAN].name) {
			emu_op_store(op, SAVED_MEAN, c, mean);
			emu_op_store(op, SAVED_INVERSE, c, inverse);
		}
	}
}

static void
run_inference(struct emu_op *op)
{
	struct norm *b = (struct norm *)op;

	for (int64_t c = 0; c < b->channels; c++)
		apply(b, c, emu_op_load(op, MEAN, c), 1 / sqrt(
		    emu_op_load(op, VARIANCE, c) + b->epsilon));
}

static void
blend_gradient(struct norm *b, int view, int64_t channel, double value)
{
	value *= b->of_gradient;
	if (b->of_old != 0)
		value += b->of_old * emu_op_load(&b->op, view, channel);
	emu_op_store(&b->op, view, channel, value);
}

static void
backward_one(struct norm *b, int64_t channel, double mean, double inverse)
{
	const int64_t count = per_channel(b);
	const double scale = emu_op_load(&b->op, SCALE, channel);
	double sum = 0, along = 0;

	for (int64_t i = 0; i < count; i++) {
		const int64_t n = place(b, channel, i);
		const double dy = emu_op_load(&b->op, DY, n);

		sum += dy;
		along += dy * (emu_op_load(&b->op, X, n) - mean) * inverse;
	}
	for (int64_t i = 0; i < count; i++) {
		const int64_t n = place(b, channel, i);
		const double x = (emu_op_load(&b->op, X, n) - mean) * inverse;

		emu_op_blend(&b->op, DX, n, scale * inverse *
		    (emu_op_load(&b->op, DY, n) - (sum + x * along) /
		    (double)count));
	}
	blend_gradient(b, DSCALE, channel, along);
	blend_gradient(b, DBIAS, channel, sum);
}

static void
run_backward(struct emu_op *op)
{
	struct norm *b = (struct norm *)op;

	for (int64_t c = 0; c < b->channels; c++) {
		double mean, inverse;

		if (op->view[SAVED_MEAN].name) {
			mean = emu_op_load(op, SAVED_MEAN, c);
			inverse = emu_op_load(op, SAVED_INVERSE, c);
		} else {
			inverse = measure(b, c, &mean);
			inverse = 1 / sqrt(inverse + b->epsilon);
		}
		backward_one(b, c, mean, inverse);
	}
}

/* ---- calls ------------------------------------------------------------- */

/* What both forward calls share; false: a pointer is NULL. */
static bool
view_forward(struct norm *b, const void *alpha, const void *beta,
    cudnnTensorDescriptor_t x_desc, const void *x,
    cudnnTensorDescriptor_t y_desc, void *y, cudnnTensorDescriptor_t shared,
    const void *scale, const void *bias)
{
	if (!x_desc || !y_desc || !shared || !emu_op_scalars(&b->op, alpha,
	    beta, x_desc->tensor.type))
		return false;
	emu_op_view(&b->op, X, "x", x_desc, x);
	emu_op_view(&b->op, Y, "y", y_desc, y);
	emu_op_view(&b->op, SCALE, "bnScale", shared, scale);
	emu_op_view(&b->op, BIAS, "bnBias", shared, bias);
	return true;
}

static cudnnStatus_t
submit(cudnnHandle_t handle, struct norm *b, cudnnBatchNormMode_t mode)
{
	const struct emu_tensor *x = &b->op.view[X].tensor;
	struct emu_tensor want = *x;
	const bool spatial = mode != CUDNN_BATCHNORM_PER_ACTIVATION;

	if ((unsigned)mode > CUDNN_BATCHNORM_SPATIAL_PERSISTENT ||
	    x->dims < 4 || x->dims > 5 || !emu_op_alike(&b->op, X, Y) ||
	    !(b->epsilon >= CUDNN_BN_MIN_EPSILON))
		return CUDNN_STATUS_BAD_PARAM;
	want.dim[0] = 1;
	for (int i = 2; spatial && i < x->dims; i++)
		want.dim[i] = 1;
	if (!emu_tensor_same_shape(&want, &b->op.view[SCALE].tensor) ||
	    b->op.view[SCALE].tensor.type != (x->type == CUDNN_DATA_DOUBLE ?
	    CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT))
		return CUDNN_STATUS_BAD_PARAM;
	b->outer = x->dim[0];
	b->channels = emu_tensor_elements(&want);
	b->inner = emu_tensor_elements(x) / b->outer / b->channels;
	b->op.operations = 8 * (double)emu_tensor_elements(x);
	return emu_op_submit(handle, &b->op, sizeof *b);
}

cudnnStatus_t
cudnnBatchNormalizationForwardInference(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t yDesc, void *y,
    const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
    const void *bnScale, const void *bnBias, const void *estimatedMean,
    const void *estimatedVariance, double epsilon)
{
	const cudnnTensorDescriptor_t shared = bnScaleBiasMeanVarDesc;
	struct norm b = { .op = { .run = run_inference },
		.epsilon = epsilon };

	DNN_ENTER(handle);
	if (!view_forward(&b, alpha, beta, xDesc, x, yDesc, y, shared, bnScale,
	    bnBias))
		return CUDNN_STATUS_BAD_PARAM;
	emu_op_view(&b.op, MEAN, "estimatedMean", shared, estimatedMean);
	emu_op_view(&b.op, VARIANCE, "estimatedVariance", shared,
	    estimatedVariance);
	return submit(handle, &b, mode);
}

/* Two results that may be left out together. */
static void
pair(struct emu_op *op, int view, const char *first, const char *second,
    const struct cudnnTensorStruct *descriptor, const void *a, const void *b)
{
	if (!a && !b)
		return;
	emu_op_view(op, view, first, descriptor, a);
	emu_op_view(op, view + 1, second, descriptor, b);
}

cudnnStatus_t
cudnnBatchNormalizationForwardTraining(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t yDesc, void *y,
    const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc,
    const void *bnScale, const void *bnBias,
    double exponentialAverageFactor, void *resultRunningMean,
    void *resultRunningVariance, double epsilon, void *resultSaveMean,
    void *resultSaveInvVariance)
{
	const cudnnTensorDescriptor_t shared = bnScaleBiasMeanVarDesc;
	struct norm b = { .op = { .run = run_training }, .epsilon = epsilon,
		.factor = exponentialAverageFactor };

	DNN_ENTER(handle);
	if (!view_forward(&b, alpha, beta, xDesc, x, yDesc, y, shared, bnScale,
	    bnBias))
		return CUDNN_STATUS_BAD_PARAM;
	pair(&b.op, MEAN, "resultRunningMean", "resultRunningVariance",
	    shared, resultRunningMean, resultRunningVariance);
	pair(&b.op, SAVED_MEAN, "resultSaveMean", "resultSaveInvVariance",
	    shared, resultSaveMean, resultSaveInvVariance);
	return submit(handle, &b, mode);
}

cudnnStatus_t
cudnnBatchNormalizationBackward(cudnnHandle_t handle,
    cudnnBatchNormMode_t mode, const void *alphaDataDiff,
    const void *betaDataDiff, const void *alphaParamDiff,
    const void *betaParamDiff, const cudnnTensorDescriptor_t xDesc,
    const void *x, const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnTensorDescriptor_t dxDesc, void *dx,
    const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void *bnScale,
    void *dBnScaleResult, void *dBnBiasResult, double epsilon,
    const void *savedMean, const void *savedInvVariance)
{
	const cudnnTensorDescriptor_t shared = dBnScaleBiasDesc;
	struct norm b = { .op = { .run = run_backward }, .epsilon = epsilon };

	DNN_ENTER(handle);
	if (!xDesc || !dyDesc || !dxDesc || !shared || !alphaParamDiff ||
	    !betaParamDiff || !emu_op_scalars(&b.op, alphaDataDiff,
	    betaDataDiff, xDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	b.of_gradient = emu_dnn_scalar(alphaParamDiff, xDesc->tensor.type);
	b.of_old = emu_dnn_scalar(betaParamDiff, xDesc->tensor.type);
	emu_op_view(&b.op, X, "x", xDesc, x);
	emu_op_view(&b.op, DY, "dy", dyDesc, dy);
	emu_op_view(&b.op, DX, "dx", dxDesc, dx);
	emu_op_view(&b.op, SCALE, "bnScale", shared, bnScale);
	emu_op_view(&b.op, DSCALE, "dBnScaleResult", shared, dBnScaleResult);
	emu_op_view(&b.op, DBIAS, "dBnBiasResult", shared, dBnBiasResult);
	pair(&b.op, SAVED_MEAN, "savedMean", "savedInvVariance", shared,
	    savedMean, savedInvVariance);
	if (!emu_op_alike(&b.op, X, DX))
		return CUDNN_STATUS_BAD_PARAM;
	return submit(handle, &b, mode);
}
