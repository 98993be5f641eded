/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/ops/cudnn_pool.c -- cuDNN calls: pooling and its gradient, in
 * one to six dimensions of space. The gradient of a maximum goes to the first
 * element that has it. Contracts are NVIDIA's. */
#include "emulator/cudnn/ops/cudnn_ops.h"

#include <math.h>
#include <stdlib.h>

enum { X, Y, DX, DY };
enum { SPACE = CUDNN_DIM_MAX - 2 };

struct cudnnPoolingStruct {
	cudnnPoolingMode_t      mode;
	cudnnNanPropagation_t   nan;
	int space;                      /* 0: not set */
	int window[SPACE], pad[SPACE], stride[SPACE];
};

struct pooling {
	struct emu_op op;
	struct cudnnPoolingStruct with;
	int64_t volume;                 /* of the window */
};

/* ---- descriptors ------------------------------------------------------- */

DNN_LIFE(Pooling)

static cudnnStatus_t
set(struct cudnnPoolingStruct *p, cudnnPoolingMode_t mode,
    cudnnNanPropagation_t nan, int space, const int *window, const int *pad,
    const int *stride)
{
	struct cudnnPoolingStruct new = { mode, nan, space, { 0 }, { 0 },
		{ 0 } };

	if (!p || (unsigned)mode > CUDNN_POOLING_MAX_DETERMINISTIC ||
	    (unsigned)nan > CUDNN_PROPAGATE_NAN || space < 1)
		return CUDNN_STATUS_BAD_PARAM;
	if (space > SPACE)
		return CUDNN_STATUS_NOT_SUPPORTED;
	for (int i = 0; i < space; i++) {
		if (window[i] < 1 || stride[i] < 1)
			return CUDNN_STATUS_BAD_PARAM;
		new.window[i] = window[i];
		new.pad[i] = pad[i];
		new.stride[i] = stride[i];
	}
	*p = new;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t poolingDesc,
    cudnnPoolingMode_t mode, cudnnNanPropagation_t maxpoolingNanOpt,
    int windowHeight, int windowWidth, int verticalPadding,
    int horizontalPadding, int verticalStride, int horizontalStride)
{
	const int window[] = { windowHeight, windowWidth };
	const int pad[] = { verticalPadding, horizontalPadding };
	const int stride[] = { verticalStride, horizontalStride };

	EMU_ENTER(&emu_dnn);
	return set(poolingDesc, mode, maxpoolingNanOpt, 2, window, pad,
	    stride);
}

cudnnStatus_t
cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t poolingDesc,
    const cudnnPoolingMode_t mode,
    const cudnnNanPropagation_t maxpoolingNanOpt, int nbDims,
    const int windowDimA[], const int paddingA[], const int strideA[])
{
	EMU_ENTER(&emu_dnn);
	if (!windowDimA || !paddingA || !strideA)
		return CUDNN_STATUS_BAD_PARAM;
	return set(poolingDesc, mode, maxpoolingNanOpt, nbDims, windowDimA,
	    paddingA, strideA);
}

cudnnStatus_t
cudnnGetPoolingNdDescriptor(const cudnnPoolingDescriptor_t poolingDesc,
    int nbDimsRequested, cudnnPoolingMode_t *mode,
    cudnnNanPropagation_t *maxpoolingNanOpt, int *nbDims, int windowDimA[],
    int paddingA[], int strideA[])
{
	const struct cudnnPoolingStruct *p = poolingDesc;

	EMU_ENTER(&emu_dnn);
	if (!p || !mode || !maxpoolingNanOpt || !nbDims || !windowDimA ||
	    !paddingA || !strideA)
		return CUDNN_STATUS_BAD_PARAM;
	if (nbDimsRequested > SPACE)
		return CUDNN_STATUS_NOT_SUPPORTED;
	*mode = p->mode;
	*maxpoolingNanOpt = p->nan;
	*nbDims = p->space;
	for (int i = 0; i < nbDimsRequested && i < p->space; i++) {
		windowDimA[i] = p->window[i];
		paddingA[i] = p->pad[i];
		strideA[i] = p->stride[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

/* ---- shapes ------------------------------------------------------------ */

/* The output shape of pooling `in`; false if it would be empty. */
static bool
shape(const struct cudnnPoolingStruct *p, const struct emu_tensor *in,
    int64_t *dim_out)
{
	if (!p->space || in->dims != p->space + 2)
		return false;
	for (int i = 0; i < in->dims; i++)
		dim_out[i] = in->dim[i];
	for (int i = 0; i < p->space; i++) {
		const int64_t slack = in->dim[i + 2] + INT64_C(2) * p->pad[i] -
		    p->window[i];

		if (slack < 0)
			return false;
		dim_out[i + 2] = 1 + slack / p->stride[i];
	}
	return true;
}

cudnnStatus_t
cudnnGetPoolingNdForwardOutputDim(const cudnnPoolingDescriptor_t poolingDesc,
    const cudnnTensorDescriptor_t inputTensorDesc, int nbDims,
    int outputTensorDimA[])
{
	int64_t dim[CUDNN_DIM_MAX];

	EMU_ENTER(&emu_dnn);
	if (!poolingDesc || !inputTensorDesc || !outputTensorDimA ||
	    nbDims != inputTensorDesc->tensor.dims ||
	    !shape(poolingDesc, &inputTensorDesc->tensor, dim))
		return CUDNN_STATUS_BAD_PARAM;
	for (int i = 0; i < nbDims; i++)
		outputTensorDimA[i] = (int)dim[i];
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetPooling2dForwardOutputDim(const cudnnPoolingDescriptor_t poolingDesc,
    const cudnnTensorDescriptor_t inputTensorDesc, int *n, int *c, int *h,
    int *w)
{
	int64_t dim[CUDNN_DIM_MAX];

	EMU_ENTER(&emu_dnn);
	if (!poolingDesc || !inputTensorDesc || !n || !c || !h || !w ||
	    poolingDesc->space != 2 ||
	    !shape(poolingDesc, &inputTensorDesc->tensor, dim))
		return CUDNN_STATUS_BAD_PARAM;
	*n = (int)dim[0];
	*c = (int)dim[1];
	*h = (int)dim[2];
	*w = (int)dim[3];
	return CUDNN_STATUS_SUCCESS;
}

/* ---- arithmetic: one window at a time ---------------------------------- */

/* The element of x at place `k` of the window of output `n`; -1: padding. */
static int64_t
input_of(const struct pooling *p, int64_t n, int64_t k)
{
	const struct emu_tensor *x = &p->op.view[X].tensor;
	const struct emu_tensor *y = &p->op.view[Y].tensor;
	int64_t at = 0, step = 1;

	for (int i = p->with.space - 1; i >= 0; i--) {
		const int64_t place = n % y->dim[i + 2] * p->with.stride[i] -
		    p->with.pad[i] + k % p->with.window[i];

		if (place < 0 || place >= x->dim[i + 2])
			return -1;
		at += place * step;
		step *= x->dim[i + 2];
		n /= y->dim[i + 2];
		k /= p->with.window[i];
	}
	return at + n * step;
}

struct window {
	int64_t most_at;         /* element of x; -1: none */
	int64_t inside;          /* how many there are */
	double most, sum;
};

static struct window
look(struct pooling *p, int64_t n)
{
	const bool propagate = p->with.nan == CUDNN_PROPAGATE_NAN;
	struct window w = { -1, 0, -(double)INFINITY, 0 };

	for (int64_t k = 0; k < p->volume; k++) {
		const int64_t at = input_of(p, n, k);
		double x;

		if (at < 0)
			continue;
		x = emu_op_load(&p->op, X, at);
		w.inside++;
		w.sum += x;
		if (x > w.most || (w.most_at < 0 && !isnan(x)) ||
		    (propagate && isnan(x) && !isnan(w.most))) {
			w.most = x;
			w.most_at = at;
		}
	}
	return w;
}

static bool
takes_most(const struct pooling *p)
{
	return p->with.mode == CUDNN_POOLING_MAX ||
	    p->with.mode == CUDNN_POOLING_MAX_DETERMINISTIC;
}

static double
divisor(const struct pooling *p, int64_t inside)
{
	return (double)(p->with.mode ==
	    CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? p->volume :
	    inside ? inside : 1);
}

static void
run_forward(struct emu_op *op)
{
	struct pooling *p = (struct pooling *)op;
	const int64_t count = emu_tensor_elements(&op->view[Y].tensor);

	for (int64_t n = 0; n < count; n++) {
		const struct window w = look(p, n);

		emu_op_blend(op, Y, n, takes_most(p) ? w.most :
		    w.sum / divisor(p, w.inside));
	}
}

/* Adds the gradient of output `n` to the elements of its window. */
static void
hand_back(struct pooling *p, int64_t n, double *dx)
{
	const double dy = emu_op_load(&p->op, DY, n);
	const struct window w = look(p, n);

	if (takes_most(p)) {
		if (w.most_at >= 0)
			dx[w.most_at] += dy;
		return;
	}
	for (int64_t k = 0; k < p->volume; k++) {
		const int64_t at = input_of(p, n, k);

		if (at >= 0)
			dx[at] += dy / divisor(p, w.inside);
	}
}

static void
run_backward(struct emu_op *op)
{
	struct pooling *p = (struct pooling *)op;
	const int64_t outputs = emu_tensor_elements(&op->view[Y].tensor);
	const int64_t inputs = emu_tensor_elements(&op->view[X].tensor);
	double *dx = calloc((size_t)inputs, sizeof *dx);

	if (!dx) {
		emu_complain("out of host memory: the gradient is not there");
		return;
	}
	for (int64_t n = 0; n < outputs; n++)
		hand_back(p, n, dx);
	for (int64_t n = 0; n < inputs; n++)
		emu_op_blend(op, DX, n, dx[n]);
	free(dx);
}

static cudnnStatus_t
submit(cudnnHandle_t handle, struct pooling *p)
{
	const struct emu_tensor *x = &p->op.view[X].tensor;
	const struct emu_tensor *y = &p->op.view[Y].tensor;
	struct emu_tensor want = *x;

	if (!shape(&p->with, x, want.dim) ||
	    !emu_tensor_same_shape(&want, y) || x->type != y->type)
		return CUDNN_STATUS_BAD_PARAM;
	p->volume = 1;
	for (int i = 0; i < p->with.space; i++)
		p->volume *= p->with.window[i];
	p->op.operations = (double)emu_tensor_elements(y) * (double)p->volume;
	return emu_op_submit(handle, &p->op, sizeof *p);
}

cudnnStatus_t
cudnnPoolingForward(cudnnHandle_t handle,
    const cudnnPoolingDescriptor_t poolingDesc, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct pooling p = { .op = { .run = run_forward } };

	DNN_ENTER(handle);
	if (!poolingDesc || !xDesc || !yDesc || !emu_op_scalars(&p.op, alpha,
	    beta, xDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	p.with = *poolingDesc;
	emu_op_view(&p.op, X, "x", xDesc, x);
	emu_op_view(&p.op, Y, "y", yDesc, y);
	return submit(handle, &p);
}

cudnnStatus_t
cudnnPoolingBackward(cudnnHandle_t handle,
    const cudnnPoolingDescriptor_t poolingDesc, const void *alpha,
    const cudnnTensorDescriptor_t yDesc, const void *y,
    const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnTensorDescriptor_t xDesc, const void *x, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx)
{
	struct pooling p = { .op = { .run = run_backward } };

	DNN_ENTER(handle);
	if (!poolingDesc || !yDesc || !dyDesc || !xDesc || !dxDesc ||
	    !emu_op_scalars(&p.op, alpha, beta, xDesc->tensor.type))
		return CUDNN_STATUS_BAD_PARAM;
	p.with = *poolingDesc;
	emu_op_view(&p.op, X, "x", xDesc, x);
	emu_op_view(&p.op, Y, "y", yDesc, y);
	emu_op_view(&p.op, DX, "dx", dxDesc, dx);
	emu_op_view(&p.op, DY, "dy", dyDesc, dy);
	if (!emu_op_alike(&p.op, X, DX) || !emu_op_alike(&p.op, Y, DY))
		return CUDNN_STATUS_BAD_PARAM;
	return submit(handle, &p);
}
