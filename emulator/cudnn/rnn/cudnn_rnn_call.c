/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/rnn/cudnn_rnn_call.c -- cuDNN calls: the passes of recurrent
 * networks, checked and queued. The descriptors say the lengths; devSeqLengths
 * is ignored, as since cuDNN 8.9.1. Contracts are NVIDIA's. */
#include "emulator/cudnn/rnn/cudnn_rnn.h"

#include <string.h>

/* All of a call but the data. */
struct call {
	struct emu_rnn_pass pass;
	cudnnRNNDescriptor_t     rnn;
	cudnnRNNDataDescriptor_t x, y;
	cudnnTensorDescriptor_t  h, c;
	bool   trains;
	size_t weight_bytes, work_bytes, reserve_bytes;
	const void *weights;
	void  *work, *reserve;
};

/* ---- checks ------------------------------------------------------------- */

static cudnnStatus_t
check_sequences(const struct call *call)
{
	const struct cudnnRNNDataStruct *x = call->x, *y = call->y;
	const struct emu_rnn *rnn = &call->pass.rnn;

	if (!x || !y || !x->steps || !y->steps ||
	    x->type != CUDNN_DATA_FLOAT || y->type != CUDNN_DATA_FLOAT ||
	    x->layout != y->layout || x->steps != y->steps ||
	    x->batch != y->batch || x->vector != rnn->input ||
	    y->vector != rnn->directions * rnn->hidden ||
	    memcmp(x->length, y->length, (size_t)x->batch *
	    sizeof *x->length))
		return CUDNN_STATUS_BAD_PARAM;
	if (x->layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED &&
	    !(call->rnn->flags & CUDNN_RNN_PADDED_IO_ENABLED))
		return CUDNN_STATUS_BAD_PARAM;
	return CUDNN_STATUS_SUCCESS;
}

/* Layers x batch x hidden, dense; required only if it is used. */
static bool
is_of_states(const struct call *call, cudnnTensorDescriptor_t descriptor)
{
	const struct emu_rnn *rnn = &call->pass.rnn;
	const struct emu_tensor *t = descriptor ? &descriptor->tensor : NULL;

	return t && t->type == CUDNN_DATA_FLOAT && t->dims == 3 &&
	    t->dim[0] == rnn->layers * rnn->directions &&
	    t->dim[1] == call->x->batch && t->dim[2] == rnn->hidden &&
	    t->stride[2] == 1 && t->stride[1] == rnn->hidden &&
	    t->stride[0] == rnn->hidden * t->dim[1];
}

static cudnnStatus_t
check_states(const struct call *call)
{
	const struct emu_rnn_pass *p = &call->pass;
	const bool needs_h = p->hx || p->hy || p->dhx || p->dhy;
	const bool needs_c = p->rnn.cell == CUDNN_LSTM && (p->cx || p->cy ||
	    p->dcx || p->dcy);

	return (needs_h && !is_of_states(call, call->h)) ||
	    (needs_c && !is_of_states(call, call->c)) ?
	    CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}

/* The dropout rate that applies; dropout is not emulated here. */
static cudnnStatus_t
check_dropout(cudnnHandle_t handle, const struct call *call)
{
	unsigned long long seed;
	float rate = 0;
	void *states;

	if (call->trains && call->rnn->dropout && call->rnn->layers > 1) {
		cudnnGetDropoutDescriptor(call->rnn->dropout, handle, &rate,
		    &states, &seed);
		emu_call_name(call->pass.name);
	}
	return rate > 0 ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
}

static int
check_memory(const struct call *call)
{
	const struct emu_rnn_pass *p = &call->pass;
	const uint64_t states = 4 * (uint64_t)(p->rnn.layers *
	    p->rnn.directions * p->batch * p->rnn.hidden);
	const uint64_t in = 4 * (uint64_t)(p->rows * p->rnn.input);
	const uint64_t out = 4 * (uint64_t)(p->rows * p->rnn.directions *
	    p->rnn.hidden);
	const struct { const char *name; const void *at; uint64_t bytes; }
	    all[] = {
		{ "x", p->x, in }, { "dx", p->dx, in },
		{ "y", p->y, out }, { "dy", p->dy, out },
		{ "hx", p->hx, states }, { "hy", p->hy, states },
		{ "cx", p->cx, states }, { "cy", p->cy, states },
		{ "dhx", p->dhx, states }, { "dhy", p->dhy, states },
		{ "dcx", p->dcx, states }, { "dcy", p->dcy, states },
		{ "weightSpace", call->weights, call->weight_bytes },
		{ "workSpace", call->work, call->work_bytes },
		{ "reserveSpace", call->trains ? call->reserve : NULL,
		    call->reserve_bytes },
	};
	int status = EMU_OK;

	for (size_t i = 0; !status && i < sizeof all / sizeof *all; i++)
		if (all[i].at)
			status = emu_memory_check(all[i].at, all[i].bytes,
			    all[i].name);
	return status;
}

/* Fills in the call; checks that nothing is missing. */
static cudnnStatus_t
describe(cudnnHandle_t handle, struct call *call)
{
	struct emu_rnn_pass *p = &call->pass;
	cudnnStatus_t status = emu_rnn_describe(call->rnn, &p->rnn);

	if (!status)
		status = check_sequences(call);
	if (!status)
		status = check_states(call);
	if (!status)
		status = check_dropout(handle, call);
	if (status)
		return status;
	p->steps = call->x->steps;
	p->batch = call->x->batch;
	p->layout = call->x->layout;
	p->fills = call->y->fills;
	p->fill = (float)call->y->fill;
	p->rows = p->steps * p->batch;
	if (p->layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) {
		p->rows = 0;
		for (int64_t b = 0; b < p->batch; b++)
			p->rows += call->x->length[b];
	}
	if (!call->weights || call->weight_bytes <
	    4 * (size_t)emu_rnn_parameters(&p->rnn) || !call->work ||
	    call->work_bytes < emu_rnn_workspace(&p->rnn, p->steps, p->batch,
	    call->trains))
		return CUDNN_STATUS_BAD_PARAM;
	if (call->trains && (!call->reserve || call->reserve_bytes <
	    emu_rnn_reserve(&p->rnn, p->steps, p->batch, true)))
		return CUDNN_STATUS_BAD_PARAM;
	return emu_dnn_status(check_memory(call));
}

/* ---- queueing ----------------------------------------------------------- */

/* The pass's lengths and rows follow it in memory. */
struct task {
	struct emu_rnn_pass pass;
	int64_t numbers[];
};

static void
run(void *arguments)
{
	struct emu_rnn_pass *p = &((struct task *)arguments)->pass;
	double rows = 0;

	emu_call_name(p->name);
	p->run(p);
	for (int64_t b = 0; b < p->batch; b++)
		rows += p->length[b];
	emu_clock_compute(p->rnn.arithmetic, 2 * rows *
	    (double)emu_rnn_parameters(&p->rnn), 4 * (uint64_t)
	    (emu_rnn_parameters(&p->rnn) + p->rows * (p->rnn.input +
	    p->rnn.directions * p->rnn.hidden)));
}

static void
lay_out(struct task *task, const int *length)
{
	struct emu_rnn_pass *p = &task->pass;
	int *lengths = (int *)(task->numbers + p->steps);
	int64_t row = 0;

	for (int64_t b = 0; b < p->batch; b++)
		lengths[b] = length[b];
	for (int64_t t = 0; t < p->steps; t++) {
		task->numbers[t] = row;
		for (int64_t b = 0; b < p->batch; b++)
			row += length[b] > t;
	}
	p->first = task->numbers;
	p->length = lengths;
}

static cudnnStatus_t
submit(cudnnHandle_t handle, struct call *call)
{
	struct emu_rnn_pass *p = &call->pass;
	cudnnStatus_t status;
	struct task *task;

	p->name = emu_call_current();
	status = describe(handle, call);
	if (status)
		return status;
	p->tape = call->trains ? call->reserve : call->work;
	p->between[0] = call->work;
	p->between[1] = (float *)call->work + p->steps * p->batch *
	    p->rnn.directions * p->rnn.hidden;
	task = emu_task_new(run, sizeof *task + (size_t)p->steps *
	    sizeof *task->numbers + (size_t)p->batch * sizeof(int));
	if (task) {
		task->pass = *p;
		lay_out(task, call->x->length);
	}
	return emu_dnn_submit(handle, task);
}

/* ---- the calls ---------------------------------------------------------- */

cudnnStatus_t
cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnForwardMode_t fwdMode, const int32_t devSeqLengths[],
    cudnnRNNDataDescriptor_t xDesc, const void *x,
    cudnnRNNDataDescriptor_t yDesc, void *y, cudnnTensorDescriptor_t hDesc,
    const void *hx, void *hy, cudnnTensorDescriptor_t cDesc, const void *cx,
    void *cy, size_t weightSpaceSize, const void *weightSpace,
    size_t workSpaceSize, void *workSpace, size_t reserveSpaceSize,
    void *reserveSpace)
{
	struct call call = {
		.pass = { .run = emu_rnn_forward, .x = x, .y = y, .hx = hx,
		    .hy = hy, .cx = cx, .cy = cy, .parameters = weightSpace },
		.rnn = rnnDesc, .x = xDesc, .y = yDesc, .h = hDesc, .c = cDesc,
		.trains = fwdMode == CUDNN_FWD_MODE_TRAINING,
		.weights = weightSpace, .weight_bytes = weightSpaceSize,
		.work = workSpace, .work_bytes = workSpaceSize,
		.reserve = reserveSpace, .reserve_bytes = reserveSpaceSize
	};

	DNN_ENTER(handle);
	(void)devSeqLengths;
	if (!x || !y || (unsigned)fwdMode > CUDNN_FWD_MODE_TRAINING)
		return CUDNN_STATUS_BAD_PARAM;
	return submit(handle, &call);
}

cudnnStatus_t
cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    const int32_t devSeqLengths[], cudnnRNNDataDescriptor_t yDesc,
    const void *y, const void *dy, cudnnRNNDataDescriptor_t xDesc, void *dx,
    cudnnTensorDescriptor_t hDesc, const void *hx, const void *dhy, void *dhx,
    cudnnTensorDescriptor_t cDesc, const void *cx, const void *dcy, void *dcx,
    size_t weightSpaceSize, const void *weightSpace, size_t workSpaceSize,
    void *workSpace, size_t reserveSpaceSize, void *reserveSpace)
{
	struct call call = {
		.pass = { .run = emu_rnn_backward_data, .dx = dx, .dy = dy,
		    .hx = hx, .dhy = dhy, .dhx = dhx, .cx = cx, .dcy = dcy,
		    .dcx = dcx, .parameters = weightSpace },
		.rnn = rnnDesc, .x = xDesc, .y = yDesc, .h = hDesc, .c = cDesc,
		.trains = true, .weights = weightSpace,
		.weight_bytes = weightSpaceSize, .work = workSpace,
		.work_bytes = workSpaceSize, .reserve = reserveSpace,
		.reserve_bytes = reserveSpaceSize
	};

	DNN_ENTER(handle);
	(void)devSeqLengths;
	if (!y || !dy || !dx)
		return CUDNN_STATUS_BAD_PARAM;
	return submit(handle, &call);
}

/* Adds to the old values: the real one has no other mode. */
cudnnStatus_t
cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnWgradMode_t addGrad, const int32_t devSeqLengths[],
    cudnnRNNDataDescriptor_t xDesc, const void *x,
    cudnnTensorDescriptor_t hDesc, const void *hx,
    cudnnRNNDataDescriptor_t yDesc, const void *y, size_t weightSpaceSize,
    void *dweightSpace, size_t workSpaceSize, void *workSpace,
    size_t reserveSpaceSize, void *reserveSpace)
{
	struct call call = {
		.pass = { .run = emu_rnn_backward_weights, .x = x, .hx = hx,
		    .dparameters = dweightSpace },
		.rnn = rnnDesc, .x = xDesc, .y = yDesc, .h = hDesc,
		.trains = true, .weights = dweightSpace,
		.weight_bytes = weightSpaceSize, .work = workSpace,
		.work_bytes = workSpaceSize, .reserve = reserveSpace,
		.reserve_bytes = reserveSpaceSize
	};

	DNN_ENTER(handle);
	(void)devSeqLengths;
	if (!x || !y)
		return CUDNN_STATUS_BAD_PARAM;
	if (addGrad != CUDNN_WGRAD_MODE_ADD)
		return CUDNN_STATUS_NOT_SUPPORTED;
	return submit(handle, &call);
}
