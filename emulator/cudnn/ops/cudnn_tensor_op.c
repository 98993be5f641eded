/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/ops/cudnn_tensor_op.c -- cuDNN calls on whole tensors, element
 * by element: adding a bias, two operands, filling, scaling, changing the
 * layout. Contracts are NVIDIA's. */
#include "emulator/cudnn/ops/cudnn_ops.h"

#include <math.h>
#include <stdlib.h>

enum { C, A, B }; /* C is the result */

struct cudnnOpTensorStruct {
	cudnnOpTensorOp_t     op;
	cudnnDataType_t       compute;
	cudnnNanPropagation_t nan;
};

struct two {
	struct emu_op op;
	struct cudnnOpTensorStruct with;
	double of_a, of_b;
};

/* ---- one operand ------------------------------------------------------- */

static void
run_add(struct emu_op *op)
{
	const int64_t count = emu_tensor_elements(&op->view[C].tensor);

	for (int64_t i = 0; i < count; i++)
		emu_op_blend(op, C, i, emu_op_load(op, A,
		    emu_op_broadcast(op, A, C, i)));
}

/* C = alpha * A + beta * C; `spread`: A may have dimensions of 1. */
static cudnnStatus_t
add(cudnnHandle_t handle, struct emu_op *op, bool spread)
{
	const struct emu_tensor *a = &op->view[A].tensor;
	const struct emu_tensor *c = &op->view[C].tensor;

	if (!emu_tensor_broadcasts(a, c) || (!spread &&
	    !emu_tensor_same_shape(a, c)) || (spread && a->type != c->type))
		return CUDNN_STATUS_BAD_PARAM;
	op->operations = 2 * (double)emu_tensor_elements(c);
	return emu_op_submit(handle, op, sizeof *op);
}

cudnnStatus_t
cudnnAddTensor(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t aDesc, const void *A_, const void *beta,
    const cudnnTensorDescriptor_t cDesc, void *C_)
{
	struct emu_op op = { .run = run_add };

	DNN_ENTER(handle);
	if (!aDesc || !cDesc || !emu_op_scalars(&op, alpha, beta,
	    cDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	emu_op_view(&op, A, "A", aDesc, A_);
	emu_op_view(&op, C, "C", cDesc, C_);
	return add(handle, &op, true);
}

cudnnStatus_t
cudnnTransformTensor(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct emu_op op = { .run = run_add };

	DNN_ENTER(handle);
	if (!xDesc || !yDesc || !emu_op_scalars(&op, alpha, beta,
	    xDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	emu_op_view(&op, A, "x", xDesc, x);
	emu_op_view(&op, C, "y", yDesc, y);
	if (emu_op_collides(&op, A, C))
		return CUDNN_STATUS_BAD_PARAM;
	return add(handle, &op, false);
}

/* ---- no operand: C = alpha, or alpha * C ------------------------------- */

static void
run_fill(struct emu_op *op)
{
	const int64_t count = emu_tensor_elements(&op->view[C].tensor);

	for (int64_t i = 0; i < count; i++)
		emu_op_store(op, C, i, op->alpha);
}

static void
run_scale(struct emu_op *op)
{
	const int64_t count = emu_tensor_elements(&op->view[C].tensor);

	for (int64_t i = 0; i < count; i++)
		emu_op_store(op, C, i, op->alpha * emu_op_load(op, C, i));
}

/* `value` has y's type. */
cudnnStatus_t
cudnnSetTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc,
    void *y, const void *valuePtr)
{
	struct emu_op op = { .run = run_fill };
	struct emu_touched nothing = { 0 };

	DNN_ENTER(handle);
	if (!yDesc || !valuePtr)
		return CUDNN_STATUS_BAD_PARAM;
	if (!emu_dnn_is_real(yDesc->tensor.type))
		return CUDNN_STATUS_NOT_SUPPORTED;
	op.alpha = emu_tensor_load(&nothing, valuePtr, yDesc->tensor.type, 0);
	emu_op_view(&op, C, "y", yDesc, y);
	return emu_op_submit(handle, &op, sizeof op);
}

cudnnStatus_t
cudnnScaleTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc,
    void *y, const void *alpha)
{
	struct emu_op op = { .run = run_scale };

	DNN_ENTER(handle);
	if (!yDesc || !emu_op_scalars(&op, alpha, alpha, yDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	emu_op_view(&op, C, "y", yDesc, y);
	op.operations = (double)emu_tensor_elements(&yDesc->tensor);
	return emu_op_submit(handle, &op, sizeof op);
}

/* ---- two operands ------------------------------------------------------ */

DNN_LIFE(OpTensor)

cudnnStatus_t
cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc,
    cudnnOpTensorOp_t opTensorOp, cudnnDataType_t opTensorCompType,
    cudnnNanPropagation_t opTensorNanOpt)
{
	EMU_ENTER(&emu_dnn);
	if (!opTensorDesc || (unsigned)opTensorOp > CUDNN_OP_TENSOR_NOT ||
	    (unsigned)opTensorNanOpt > CUDNN_PROPAGATE_NAN ||
	    ((unsigned)opTensorCompType > CUDNN_DATA_HALF &&
	    opTensorCompType != CUDNN_DATA_BFLOAT16))
		return CUDNN_STATUS_BAD_PARAM;
	*opTensorDesc = (struct cudnnOpTensorStruct){ opTensorOp,
		opTensorCompType, opTensorNanOpt };
	return CUDNN_STATUS_SUCCESS;
}

/* The lesser or greater; a NaN wins if NaNs are propagated, else it loses. */
static double
extreme(const struct cudnnOpTensorStruct *with, double a, double b)
{
	if (with->nan == CUDNN_PROPAGATE_NAN && (isnan(a) || isnan(b)))
		return (double)NAN;
	return with->op == CUDNN_OP_TENSOR_MIN ? fmin(a, b) : fmax(a, b);
}

static double
combine(const struct two *t, double a, double b)
{
	switch (t->with.op) {
	case CUDNN_OP_TENSOR_ADD:
		return a + b;
	case CUDNN_OP_TENSOR_MUL:
		return a * b;
	case CUDNN_OP_TENSOR_SQRT:
		return sqrt(a);
	case CUDNN_OP_TENSOR_NOT:
		return 1 - a;
	default:
		return extreme(&t->with, a, b);
	}
}

static bool
has_b(const struct two *t)
{
	return t->with.op != CUDNN_OP_TENSOR_SQRT &&
	    t->with.op != CUDNN_OP_TENSOR_NOT;
}

static void
run_two(struct emu_op *op)
{
	const struct two *t = (const struct two *)op;
	const int64_t count = emu_tensor_elements(&op->view[C].tensor);

	for (int64_t i = 0; i < count; i++) {
		const double a = t->of_a * emu_op_load(op, A, i);
		const double b = has_b(t) ? t->of_b * emu_op_load(op, B,
		    emu_op_broadcast(op, B, C, i)) : 0;
		const double old = op->beta != 0 ? op->beta *
		    emu_op_load(op, C, i) : 0;

		emu_op_store(op, C, i, combine(t, a, b) + old);
	}
}

cudnnStatus_t
cudnnOpTensor(cudnnHandle_t handle,
    const cudnnOpTensorDescriptor_t opTensorDesc, const void *alpha1,
    const cudnnTensorDescriptor_t aDesc, const void *A_, const void *alpha2,
    const cudnnTensorDescriptor_t bDesc, const void *B_, const void *beta,
    const cudnnTensorDescriptor_t cDesc, void *C_)
{
	struct two t = { .op = { .run = run_two } };

	DNN_ENTER(handle);
	if (!opTensorDesc || !aDesc || !cDesc || !alpha1 ||
	    !emu_op_scalars(&t.op, alpha1, beta, opTensorDesc->compute))
		return CUDNN_STATUS_BAD_PARAM;
	t.with = *opTensorDesc;
	t.of_a = t.op.alpha;
	emu_op_view(&t.op, A, "A", aDesc, A_);
	emu_op_view(&t.op, C, "C", cDesc, C_);
	if (!emu_tensor_same_shape(&aDesc->tensor, &cDesc->tensor) ||
	    emu_op_collides(&t.op, A, C))
		return CUDNN_STATUS_BAD_PARAM;
	if (has_b(&t)) {
		if (!bDesc || !alpha2 || !emu_tensor_broadcasts(
		    &bDesc->tensor, &cDesc->tensor))
			return CUDNN_STATUS_BAD_PARAM;
		t.of_b = emu_dnn_scalar(alpha2, t.with.compute);
		emu_op_view(&t.op, B, "B", bDesc, B_);
	}
	t.op.operations = 3 * (double)emu_tensor_elements(&cDesc->tensor);
	return emu_op_submit(handle, &t.op, sizeof t);
}
