/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/conv/cudnn_conv_call.c -- cuDNN calls: convolutions of the
 * legacy API, checked and queued. cudnn_conv_run.c computes them on the
 * stream's worker. Contracts are NVIDIA's. */
#include "emulator/cudnn/base/cudnn_descriptor.h"

#include <string.h>

cudnnStatus_t
emu_conv_check(const struct emu_conv_call *c)
{
	const struct emu_conv *conv = &c->conv;
	size_t needed;
	int status;

	if ((unsigned)c->algorithm >=
	    (unsigned)emu_conv_algorithms(conv->operation))
		return CUDNN_STATUS_BAD_PARAM;
	if (!emu_conv_algorithm_fits(conv, c->algorithm))
		return CUDNN_STATUS_NOT_SUPPORTED;
	if (!c->x || !c->w || !c->y)
		return CUDNN_STATUS_BAD_PARAM;
	needed = emu_conv_workspace(conv, c->algorithm);
	if (needed && (!c->workspace || c->workspace_bytes < needed))
		return CUDNN_STATUS_BAD_PARAM;
	status = emu_tensor_check(c->x, &conv->x, conv->operation ==
	    EMU_CONV_DGRAD ? "dx" : "x");
	if (!status)
		status = emu_tensor_check(c->w, &conv->w, conv->operation ==
		    EMU_CONV_WGRAD ? "dw" : "w");
	if (!status)
		status = emu_tensor_check(c->y, &conv->y, conv->operation ==
		    EMU_CONV_FPROP ? "y" : "dy");
	if (!status)
		status = emu_memory_check(c->workspace, needed, "workSpace");
	return emu_dnn_status(status);
}

void
emu_conv_spoil_workspace(const struct emu_conv_call *c)
{
	const size_t bytes = emu_conv_workspace(&c->conv, c->algorithm);

	if (!bytes)
		return;
	emu_announce_write(c->workspace, bytes);
	memset(c->workspace, 0xff, bytes); /* NaN in every format */
}

struct task {
	struct emu_conv_call call;
	const char *name;
};

static void
run(void *arguments)
{
	const struct task *t = arguments;
	const struct emu_conv_call *c = &t->call;
	int status;

	emu_call_name(t->name);
	emu_conv_spoil_workspace(c);
	status = emu_conv_run(&c->conv, (void *)(uintptr_t)c->x,
	    (void *)(uintptr_t)c->w, (void *)(uintptr_t)c->y);
	if (status)
		emu_device_poison(status);
}

cudnnStatus_t
emu_conv_submit(cudnnHandle_t handle, const struct emu_conv_call *call)
{
	const cudnnStatus_t status = emu_conv_check(call);
	struct task *task;

	if (status)
		return status;
	task = emu_task_new(run, sizeof *task);
	if (task) {
		task->call = *call;
		task->name = emu_call_current();
	}
	return emu_dnn_submit(handle, task);
}

/* The same with the scalars, which are read now. */
static cudnnStatus_t
queue(cudnnHandle_t handle, struct emu_conv_call *call, const void *alpha,
    const void *beta)
{
	if (!alpha || !beta)
		return CUDNN_STATUS_BAD_PARAM;
	call->conv.alpha = emu_dnn_scalar(alpha, call->conv.x.type);
	call->conv.beta = emu_dnn_scalar(beta, call->conv.x.type);
	return emu_conv_submit(handle, call);
}

cudnnStatus_t
cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionFwdAlgo_t algo, void *workSpace,
    size_t workSpaceSizeInBytes, const void *beta,
    const cudnnTensorDescriptor_t yDesc, void *y)
{
	struct emu_conv_call call = { .x = x, .w = w, .y = y,
		.workspace = workSpace, .algorithm = (int)algo,
		.workspace_bytes = workSpaceSizeInBytes };
	cudnnStatus_t status;

	DNN_ENTER(handle);
	status = emu_conv_describe(EMU_CONV_FPROP, xDesc, wDesc, convDesc,
	    yDesc, &call.conv);
	return status ? status : queue(handle, &call, alpha, beta);
}

cudnnStatus_t
cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
    const cudnnFilterDescriptor_t wDesc, const void *w,
    const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionBwdDataAlgo_t algo, void *workSpace,
    size_t workSpaceSizeInBytes, const void *beta,
    const cudnnTensorDescriptor_t dxDesc, void *dx)
{
	struct emu_conv_call call = { .x = dx, .w = w, .y = dy,
		.workspace = workSpace, .algorithm = (int)algo,
		.workspace_bytes = workSpaceSizeInBytes };
	cudnnStatus_t status;

	DNN_ENTER(handle);
	status = emu_conv_describe(EMU_CONV_DGRAD, dxDesc, wDesc, convDesc,
	    dyDesc, &call.conv);
	return status ? status : queue(handle, &call, alpha, beta);
}

cudnnStatus_t
cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t xDesc, const void *x,
    const cudnnTensorDescriptor_t dyDesc, const void *dy,
    const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionBwdFilterAlgo_t algo, void *workSpace,
    size_t workSpaceSizeInBytes, const void *beta,
    const cudnnFilterDescriptor_t dwDesc, void *dw)
{
	struct emu_conv_call call = { .x = x, .w = dw, .y = dy,
		.workspace = workSpace, .algorithm = (int)algo,
		.workspace_bytes = workSpaceSizeInBytes };
	cudnnStatus_t status;

	DNN_ENTER(handle);
	status = emu_conv_describe(EMU_CONV_WGRAD, xDesc, dwDesc, convDesc,
	    dyDesc, &call.conv);
	return status ? status : queue(handle, &call, alpha, beta);
}
