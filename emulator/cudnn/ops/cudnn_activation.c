/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/ops/cudnn_activation.c -- cuDNN calls: activations of tensors,
 * and their gradients. A gradient is computed from y where y suffices, so that
 * y may have overwritten x. Contracts are NVIDIA's. */
#include "emulator/cudnn/ops/cudnn_ops.h"

#include <math.h>

enum { X, Y, DX, DY };

struct activation {
	struct emu_op op;
	struct cudnnActivationStruct with;
};

static double
value_of(const struct cudnnActivationStruct *with, double x)
{
	const bool drop = isnan(x) && with->nan == CUDNN_NOT_PROPAGATE_NAN;

	switch (with->mode) {
	case CUDNN_ACTIVATION_SIGMOID:
		return 1 / (1 + exp(-x));
	case CUDNN_ACTIVATION_TANH:
		return tanh(x);
	case CUDNN_ACTIVATION_RELU:
		return drop || x < 0 ? 0 : x;
	case CUDNN_ACTIVATION_CLIPPED_RELU:
		return drop || x < 0 ? 0 : x > with->coefficient ?
		    with->coefficient : x;
	case CUDNN_ACTIVATION_ELU:
		return x < 0 ? with->coefficient * expm1(x) : x;
	case CUDNN_ACTIVATION_SWISH:
		return x / (1 + exp(-x));
	default:
		return x;
	}
}

/* dy/dx at `x`, where the activation is `y`. */
static double
slope(const struct cudnnActivationStruct *with, double x, double y)
{
	double s;

	switch (with->mode) {
	case CUDNN_ACTIVATION_SIGMOID:
		return y * (1 - y);
	case CUDNN_ACTIVATION_TANH:
		return 1 - y * y;
	case CUDNN_ACTIVATION_RELU:
		return y > 0;
	case CUDNN_ACTIVATION_CLIPPED_RELU:
		return y > 0 && y < with->coefficient;
	case CUDNN_ACTIVATION_ELU:
		return y < 0 ? y + with->coefficient : 1;
	case CUDNN_ACTIVATION_SWISH:
		s = 1 / (1 + exp(-x));
		return s + x * s * (1 - s);
	default:
		return 1;
	}
}

static void
run_forward(struct emu_op *op)
{
	const struct activation *a = (const struct activation *)op;
	const int64_t count = emu_tensor_elements(&op->view[X].tensor);

	for (int64_t i = 0; i < count; i++)
		emu_op_blend(op, Y, i, value_of(&a->with, emu_op_load(op, X,
		    i)));
}

static void
run_backward(struct emu_op *op)
{
	const struct activation *a = (const struct activation *)op;
	const int64_t count = emu_tensor_elements(&op->view[X].tensor);

	for (int64_t i = 0; i < count; i++) {
		const double x = emu_op_load(op, X, i);
		const double y = emu_op_load(op, Y, i);

		emu_op_blend(op, DX, i, emu_op_load(op, DY, i) *
		    slope(&a->with, x, y));
	}
}

cudnnStatus_t
cudnnActivationForward(cudnnHandle_t handle,
    cudnnActivationDescriptor_t activationDesc, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct activation a = { .op = { .run = run_forward } };

	DNN_ENTER(handle);
	if (!activationDesc || !xDesc || !yDesc ||
	    !emu_op_scalars(&a.op, alpha, beta, xDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	a.with = *activationDesc;
	emu_op_view(&a.op, X, "x", xDesc, x);
	emu_op_view(&a.op, Y, "y", yDesc, y);
	if (!emu_op_alike(&a.op, X, Y) || emu_op_collides(&a.op, X, Y))
		return CUDNN_STATUS_BAD_PARAM;
	a.op.operations = (double)emu_tensor_elements(&xDesc->tensor);
	return emu_op_submit(handle, &a.op, sizeof a);
}

cudnnStatus_t
cudnnActivationBackward(cudnnHandle_t handle,
    cudnnActivationDescriptor_t activationDesc, const void *alpha,
    const cudnnTensorDescriptor_t yDesc, const void *y,
    const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx)
{
	struct activation a = { .op = { .run = run_backward } };

	DNN_ENTER(handle);
	if (!activationDesc || !yDesc || !dyDesc || !xDesc || !dxDesc ||
	    !emu_op_scalars(&a.op, alpha, beta, xDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	a.with = *activationDesc;
	emu_op_view(&a.op, X, "x", xDesc, x);
	emu_op_view(&a.op, Y, "y", yDesc, y);
	emu_op_view(&a.op, DX, "dx", dxDesc, dx);
	emu_op_view(&a.op, DY, "dy", dyDesc, dy);
	if (!emu_op_alike(&a.op, X, Y) || !emu_op_alike(&a.op, X, DX) ||
	    !emu_op_alike(&a.op, X, DY) || emu_op_collides(&a.op, DY, DX))
		return CUDNN_STATUS_BAD_PARAM;
	a.op.operations = (double)emu_tensor_elements(&xDesc->tensor) * 2;
	return emu_op_submit(handle, &a.op, sizeof a);
}
