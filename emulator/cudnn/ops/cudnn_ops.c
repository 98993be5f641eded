/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/ops/cudnn_ops.c -- tasks over tensors: how the legacy
 * operations of cuDNN begin and end, and how they access elements. Knows no
 * operation. */
#include "emulator/shared/round.h"
#include "emulator/cudnn/ops/cudnn_ops.h"

#include <string.h>

static bool
is_packed(const struct emu_tensor *t)
{
	int64_t step = 1;

	for (int i = t->dims - 1; i >= 0; i--) {
		if (t->dim[i] != 1 && t->stride[i] != step)
			return false;
		step *= t->dim[i];
	}
	return true;
}

void
emu_op_view(struct emu_op *op, int i, const char *name,
    const struct cudnnTensorStruct *descriptor, const void *data)
{
	struct emu_view *view = &op->view[i];

	*view = (struct emu_view){ .name = name,
		.data = (void *)(uintptr_t)data };
	if (descriptor)
		view->tensor = descriptor->tensor;
	view->packed = is_packed(&view->tensor);
}

bool
emu_op_scalars(struct emu_op *op, const void *alpha, const void *beta,
    cudnnDataType_t type)
{
	if (!alpha || !beta)
		return false;
	op->alpha = emu_dnn_scalar(alpha, type);
	op->beta = emu_dnn_scalar(beta, type);
	return true;
}

bool
emu_op_alike(const struct emu_op *op, int i, int j)
{
	const struct emu_tensor *a = &op->view[i].tensor;
	const struct emu_tensor *b = &op->view[j].tensor;

	return a->type == b->type && emu_tensor_same_shape(a, b);
}

bool
emu_op_collides(const struct emu_op *op, int i, int j)
{
	const struct emu_view *a = &op->view[i], *b = &op->view[j];

	if (a->data != b->data)
		return false;
	for (int k = 0; k < a->tensor.dims; k++)
		if (a->tensor.dim[k] > 1 &&
		    a->tensor.stride[k] != b->tensor.stride[k])
			return true;
	return a->tensor.dims != b->tensor.dims;
}

static cudnnStatus_t
check(const struct emu_op *op)
{
	for (int i = 0; i < EMU_OP_VIEWS; i++) {
		const struct emu_view *view = &op->view[i];

		if (view->name && (!view->data || !view->tensor.dims))
			return CUDNN_STATUS_BAD_PARAM;
		if (view->name && !emu_dnn_is_real(view->tensor.type))
			return CUDNN_STATUS_NOT_SUPPORTED;
	}
	for (int i = 0; i < EMU_OP_VIEWS; i++) {
		const struct emu_view *view = &op->view[i];
		const int status = view->name ? emu_tensor_check(view->data,
		    &view->tensor, view->name) : EMU_OK;

		if (status)
			return emu_dnn_status(status);
	}
	return CUDNN_STATUS_SUCCESS;
}

static void
run(void *arguments)
{
	struct emu_op *op = arguments;
	const unsigned mode = emu_float_mode(EMU_FLOAT_MODE);

	op->touched.bytes = 0; /* a captured task runs several times */
	op->run(op);
	emu_float_mode(mode);
	emu_clock_compute(op->view[0].tensor.type == CUDNN_DATA_DOUBLE ?
	    EMU_FP64 : EMU_FP32, op->operations, op->touched.bytes);
}

cudnnStatus_t
emu_op_submit(cudnnHandle_t handle, const struct emu_op *op, size_t bytes)
{
	const cudnnStatus_t status = check(op);
	void *task;

	if (status)
		return status;
	task = emu_task_new(run, bytes);
	if (task)
		memcpy(task, op, bytes);
	return emu_dnn_submit(handle, task);
}

static int64_t
at(const struct emu_view *view, int64_t n)
{
	return view->packed ? n : emu_tensor_at(&view->tensor, n);
}

double
emu_op_load(struct emu_op *op, int i, int64_t n)
{
	const struct emu_view *view = &op->view[i];

	return emu_tensor_load(&op->touched, view->data, view->tensor.type,
	    at(view, n));
}

void
emu_op_store(struct emu_op *op, int i, int64_t n, double value)
{
	const struct emu_view *view = &op->view[i];

	emu_tensor_store(&op->touched, view->data, view->tensor.type,
	    at(view, n), value);
}

void
emu_op_blend(struct emu_op *op, int i, int64_t n, double value)
{
	value *= op->alpha;
	if (op->beta != 0)
		value += op->beta * emu_op_load(op, i, n);
	emu_op_store(op, i, n, value);
}

int64_t
emu_op_broadcast(const struct emu_op *op, int small, int large, int64_t n)
{
	return emu_tensor_broadcast(&op->view[small].tensor,
	    &op->view[large].tensor, n);
}
