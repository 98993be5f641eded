/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/conv/cudnn_conv_bias.c -- cuDNN calls: convolution with bias
 * and activation, and the gradient of a bias. Contracts are NVIDIA's. */
#include "emulator/shared/round.h"
#include "emulator/cudnn/base/cudnn_descriptor.h"
#include "emulator/cudnn/ops/cudnn_ops.h"

#include <stdlib.h>

/* ---- y = act(alpha1 conv(x) + alpha2 z + bias) --------------------------- */

struct fused {
	struct emu_conv_call call; /* alpha is alpha1 */
	double alpha2;             /* 0: z is not read */
	struct emu_tensor z, bias;
	const void *z_data, *bias_data;
	bool relu;
	const char *name;
};

/* The output of the convolution itself, in FP32 or FP64, dense. */
static void
finish(const struct fused *f, const struct emu_tensor *raw, const void *data)
{
	const struct emu_tensor *y = &f->call.conv.y;
	struct emu_touched touched = { 0 }, own = { 0 };
	int64_t plane = 1;

	for (int i = 2; i < y->dims; i++)
		plane *= y->dim[i];
	for (int64_t n = 0; n < emu_tensor_elements(y); n++) {
		const int64_t channel = n / plane % y->dim[1];
		double value = f->call.conv.alpha *
		    emu_tensor_load(&own, data, raw->type, n);

		if (f->alpha2 != 0)
			value += f->alpha2 * emu_tensor_load(&touched,
			    f->z_data, f->z.type, emu_tensor_at(&f->z, n));
		value += emu_tensor_load(&touched, f->bias_data,
		    f->bias.type, channel * f->bias.stride[1]);
		if (f->relu && value < 0)
			value = 0;
		emu_tensor_store(&touched, (void *)(uintptr_t)f->call.y,
		    y->type, emu_tensor_at(y, n), value);
	}
	emu_count(EMU_gemm_bytes, touched.bytes);
	emu_clock_compute(EMU_FP32, 0, touched.bytes);
}

static void
run_fused(void *arguments)
{
	const struct fused *f = arguments;
	const struct emu_conv_call *c = &f->call;
	struct emu_conv conv = c->conv;
	const unsigned mode = emu_float_mode(EMU_FLOAT_MODE);
	struct emu_tensor raw;
	void *data;

	emu_call_name(f->name);
	emu_conv_spoil_workspace(c);
	conv.alpha = 1;
	data = emu_conv_run_aside(&conv, (void *)(uintptr_t)c->x,
	    (void *)(uintptr_t)c->w, NULL, &raw);
	if (data)
		finish(f, &raw, data);
	else
		emu_device_poison(EMU_OUT_OF_MEMORY);
	free(data);
	emu_float_mode(mode);
}

static bool
is_bias_of(const struct emu_tensor *bias, const struct emu_tensor *y)
{
	for (int i = 0; i < bias->dims; i++)
		if (bias->dim[i] != (i == 1 ? y->dim[1] : 1))
			return false;
	return bias->dims == y->dims && bias->type == y->type;
}

/* Checks that a plain convolution does not have. */
static cudnnStatus_t
check_fused(const struct fused *f, const struct cudnnActivationStruct *act)
{
	int status = EMU_OK;

	if (!is_bias_of(&f->bias, &f->call.conv.y) || !f->bias_data ||
	    !emu_tensor_same_shape(&f->z, &f->call.conv.y) ||
	    f->z.type != f->call.conv.y.type || !f->z_data)
		return CUDNN_STATUS_BAD_PARAM;
	if (act->mode != CUDNN_ACTIVATION_RELU &&
	    (act->mode != CUDNN_ACTIVATION_IDENTITY || f->call.algorithm !=
	    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM))
		return CUDNN_STATUS_NOT_SUPPORTED;
	if (f->alpha2 != 0)
		status = emu_tensor_check(f->z_data, &f->z, "z");
	if (!status)
		status = emu_tensor_check(f->bias_data, &f->bias, "bias");
	return emu_dnn_status(status);
}

cudnnStatus_t
cudnnConvolutionBiasActivationForward(cudnnHandle_t handle,
    const void *alpha1, const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionFwdAlgo_t algo, void *workSpace,
    size_t workSpaceSizeInBytes, const void *alpha2,
    const cudnnTensorDescriptor_t zDesc, const void *z,
    const cudnnTensorDescriptor_t biasDesc, const void *bias,
    const cudnnActivationDescriptor_t activationDesc,
    const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct fused f = { .call = { .x = x, .w = w, .y = y,
		.workspace = workSpace, .algorithm = (int)algo,
		.workspace_bytes = workSpaceSizeInBytes },
		.z_data = z, .bias_data = bias };
	struct fused *task;
	cudnnStatus_t status;

	DNN_ENTER(handle);
	status = emu_conv_describe(EMU_CONV_FPROP, xDesc, wDesc, convDesc,
	    yDesc, &f.call.conv);
	if (status)
		return status;
	if (!zDesc || !biasDesc || !activationDesc || !alpha1 || !alpha2)
		return CUDNN_STATUS_BAD_PARAM;
	f.z = zDesc->tensor;
	f.bias = biasDesc->tensor;
	f.call.conv.alpha = emu_dnn_scalar(alpha1, f.call.conv.x.type);
	f.alpha2 = emu_dnn_scalar(alpha2, f.call.conv.x.type);
	f.relu = activationDesc->mode == CUDNN_ACTIVATION_RELU;
	f.name = emu_call_current();
	status = emu_conv_check(&f.call);
	if (!status)
		status = check_fused(&f, activationDesc);
	if (status)
		return status;
	task = emu_task_new(run_fused, sizeof *task);
	if (task)
		*task = f;
	return emu_dnn_submit(handle, task);
}

/* ---- db = alpha * sum of dy + beta db ------------------------------------ */

enum { DB, DY }; /* views */

static void
run_gradient(struct emu_op *op)
{
	const struct emu_tensor *dy = &op->view[DY].tensor;
	const int64_t channels = dy->dim[1];
	const int64_t each = emu_tensor_elements(dy) / channels;
	const int64_t plane = each / dy->dim[0];

	for (int64_t c = 0; c < channels; c++) {
		double sum = 0;

		for (int64_t i = 0; i < each; i++)
			sum += emu_op_load(op, DY, (i / plane * channels + c) *
			    plane + i % plane);
		emu_op_blend(op, DB, c, sum);
	}
}

cudnnStatus_t
cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const cudnnTensorDescriptor_t dbDesc, void *db)
{
	struct emu_op op = { .run = run_gradient };

	DNN_ENTER(handle);
	if (!dyDesc || !dbDesc || dyDesc->tensor.dims < 3 ||
	    !is_bias_of(&dbDesc->tensor, &dyDesc->tensor) ||
	    !emu_op_scalars(&op, alpha, beta, dyDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	emu_op_view(&op, DB, "db", dbDesc, db);
	emu_op_view(&op, DY, "dy", dyDesc, dy);
	op.operations = (double)emu_tensor_elements(&dyDesc->tensor);
	return emu_op_submit(handle, &op, sizeof op);
}
