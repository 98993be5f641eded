/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/ops/cudnn_softmax.c -- cuDNN calls: softmax and its gradient.
 * Contracts are NVIDIA's. */
#include "emulator/cudnn/ops/cudnn_ops.h"

#include <math.h>

enum { IN, OUT, DY }; /* x, y; or y, dx, and dy */

struct softmax {
	struct emu_op op;
	cudnnSoftmaxAlgorithm_t algorithm;
	int64_t outer, along, inner; /* dimensions: `along` is summed over */
};

/* FP32 exponentials overflow where the device's overflow. */
static double
exponential(const struct softmax *s, double x)
{
	return s->op.view[IN].tensor.type == CUDNN_DATA_DOUBLE ? exp(x) :
	    (double)expf((float)x);
}

static void
forward_one(struct softmax *s, int64_t first)
{
	const bool fast = s->algorithm == CUDNN_SOFTMAX_FAST;
	double most = fast ? 0 : -(double)INFINITY, sum = 0;

	for (int64_t i = 0; !fast && i < s->along; i++)
		most = fmax(most, emu_op_load(&s->op, IN,
		    first + i * s->inner));
	for (int64_t i = 0; i < s->along; i++)
		sum += exponential(s, emu_op_load(&s->op, IN,
		    first + i * s->inner) - most);
	for (int64_t i = 0; i < s->along; i++) {
		const int64_t n = first + i * s->inner;
		const double x = emu_op_load(&s->op, IN, n) - most;

		emu_op_blend(&s->op, OUT, n, s->algorithm ==
		    CUDNN_SOFTMAX_LOG ? x - log(sum) :
		    exponential(s, x) / sum);
	}
}

static void
backward_one(struct softmax *s, int64_t first)
{
	const bool logarithmic = s->algorithm == CUDNN_SOFTMAX_LOG;
	double sum = 0;

	for (int64_t i = 0; i < s->along; i++) {
		const int64_t n = first + i * s->inner;

		sum += emu_op_load(&s->op, DY, n) * (logarithmic ? 1 :
		    emu_op_load(&s->op, IN, n));
	}
	for (int64_t i = 0; i < s->along; i++) {
		const int64_t n = first + i * s->inner;
		const double y = emu_op_load(&s->op, IN, n);
		const double dy = emu_op_load(&s->op, DY, n);

		emu_op_blend(&s->op, OUT, n, logarithmic ?
		    dy - exponential(s, y) * sum : y * (dy - sum));
	}
}

static void
run(struct emu_op *op)
{
	struct softmax *s = (struct softmax *)op;

	for (int64_t i = 0; i < s->outer; i++)
		for (int64_t j = 0; j < s->inner; j++) {
			const int64_t first = i * s->along * s->inner + j;

			if (op->view[DY].name)
				backward_one(s, first);
			else
				forward_one(s, first);
		}
}

static cudnnStatus_t
submit(cudnnHandle_t handle, struct softmax *s, cudnnSoftmaxMode_t mode)
{
	const struct emu_tensor *t = &s->op.view[IN].tensor;
	const int64_t count = emu_tensor_elements(t);

	if ((unsigned)s->algorithm > CUDNN_SOFTMAX_LOG ||
	    (unsigned)mode > CUDNN_SOFTMAX_MODE_CHANNEL || t->dims < 2 ||
	    !emu_op_alike(&s->op, IN, OUT) || emu_op_collides(&s->op, IN, OUT))
		return CUDNN_STATUS_BAD_PARAM;
	if (s->op.view[DY].name && (!emu_op_alike(&s->op, IN, DY) ||
	    emu_op_collides(&s->op, DY, OUT)))
		return CUDNN_STATUS_BAD_PARAM;
	s->outer = t->dim[0];
	s->along = count / t->dim[0];
	s->inner = 1;
	if (mode == CUDNN_SOFTMAX_MODE_CHANNEL) {
		s->inner = s->along / t->dim[1];
		s->along = t->dim[1];
	}
	s->op.operations = (double)count * 4;
	return emu_op_submit(handle, &s->op, sizeof *s);
}

cudnnStatus_t
cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
    cudnnSoftmaxMode_t mode, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct softmax s = { .op = { .run = run }, .algorithm = algo };

	DNN_ENTER(handle);
	if (!xDesc || !yDesc || !emu_op_scalars(&s.op, alpha, beta,
	    xDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	emu_op_view(&s.op, IN, "x", xDesc, x);
	emu_op_view(&s.op, OUT, "y", yDesc, y);
	return submit(handle, &s, mode);
}

cudnnStatus_t
cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
    cudnnSoftmaxMode_t mode, const void *alpha,
    const cudnnTensorDescriptor_t yDesc, const void *y,
    const cudnnTensorDescriptor_t dyDesc, const void *dy, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx)
{
	struct softmax s = { .op = { .run = run }, .algorithm = algo };

	DNN_ENTER(handle);
	if (!yDesc || !dyDesc || !dxDesc || !emu_op_scalars(&s.op, alpha,
	    beta, yDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	emu_op_view(&s.op, IN, "y", yDesc, y);
	emu_op_view(&s.op, OUT, "dx", dxDesc, dx);
	emu_op_view(&s.op, DY, "dy", dyDesc, dy);
	return submit(handle, &s, mode);
}
