/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/ops/cudnn_dropout.c -- cuDNN calls: dropout. The states are a
 * counter in device memory, which each forward pass advances; the random number
 * of an element depends on the seed, the counter and its place. The reserve
 * space has a bit for each element that was kept. Contracts are NVIDIA's. */
#include "emulator/cudnn/ops/cudnn_ops.h"

#include <stdlib.h>

enum { X, Y };
enum { STATES_BYTES = 256 }; /* the first 8 are used */

struct cudnnDropoutStruct {
	float    dropout;
	uint64_t seed, *states;         /* in device memory; NULL: none */
};

struct dropout {
	struct emu_op op;
	struct cudnnDropoutStruct with;
	unsigned char *reserve;
};

DNN_LIFE(Dropout)

cudnnStatus_t
cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t *sizeInBytes)
{
	DNN_ENTER(handle);
	if (!sizeInBytes)
		return CUDNN_STATUS_BAD_PARAM;
	*sizeInBytes = STATES_BYTES;
	return CUDNN_STATUS_SUCCESS;
}

/* A bit for each element, in words of 32. */
static size_t
reserve_bytes(const struct emu_tensor *t)
{
	return ((size_t)emu_tensor_elements(t) + 31) / 32 * 4;
}

cudnnStatus_t
cudnnDropoutGetReserveSpaceSize(cudnnTensorDescriptor_t xdesc,
    size_t *sizeInBytes)
{
	EMU_ENTER(&emu_dnn);
	if (!xdesc || !sizeInBytes)
		return CUDNN_STATUS_BAD_PARAM;
	*sizeInBytes = reserve_bytes(&xdesc->tensor);
	return CUDNN_STATUS_SUCCESS;
}

/* ---- states ------------------------------------------------------------ */

struct start {
	uint64_t *states;
};

static void
run_start(void *arguments)
{
	*((const struct start *)arguments)->states = 0;
}

static cudnnStatus_t
set(struct cudnnDropoutStruct *d, float dropout, void *states, size_t bytes,
    unsigned long long seed)
{
	if (!d || !(dropout >= 0) || dropout > 1)
		return CUDNN_STATUS_BAD_PARAM;
	if (states && bytes < STATES_BYTES)
		return CUDNN_STATUS_BAD_PARAM;
	if (states && emu_memory_check(states, STATES_BYTES, "states"))
		return CUDNN_STATUS_EXECUTION_FAILED;
	*d = (struct cudnnDropoutStruct){ dropout, seed, states };
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
    cudnnHandle_t handle, float dropout, void *states,
    size_t stateSizeInBytes, unsigned long long seed)
{
	cudnnStatus_t status;
	struct start *task;

	DNN_ENTER(handle);
	status = set(dropoutDesc, dropout, states, stateSizeInBytes, seed);
	if (status || !states)
		return status;
	task = emu_task_new(run_start, sizeof *task);
	if (task)
		task->states = states;
	return emu_dnn_submit(handle, task);
}

/* The same, but the counter continues from its value. */
cudnnStatus_t
cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
    cudnnHandle_t handle, float dropout, void *states,
    size_t stateSizeInBytes, unsigned long long seed)
{
	DNN_ENTER(handle);
	return set(dropoutDesc, dropout, states, stateSizeInBytes, seed);
}

cudnnStatus_t
cudnnGetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc,
    cudnnHandle_t handle, float *dropout, void **states,
    unsigned long long *seed)
{
	DNN_ENTER(handle);
	if (!dropoutDesc || !dropout || !states || !seed)
		return CUDNN_STATUS_BAD_PARAM;
	*dropout = dropoutDesc->dropout;
	*states = dropoutDesc->states;
	*seed = dropoutDesc->seed;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- the passes -------------------------------------------------------- */

/* From 0 to just below 1 (splitmix64). */
static double
draw(uint64_t seed, uint64_t turn, int64_t element)
{
	uint64_t z = seed + (turn << 40) + (uint64_t)element;

	z = (z + 1) * 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* The elements that are kept, scaled so that the expectation is x. */
static double
scaled(const struct dropout *d, int64_t i, double x)
{
	return d->reserve[i / 8] >> i % 8 & 1 ? x / (1 -
	    (double)d->with.dropout) : 0;
}

static void
run_forward(struct emu_op *op)
{
	struct dropout *d = (struct dropout *)op;
	const int64_t count = emu_tensor_elements(&op->view[X].tensor);
	const uint64_t turn = d->with.states ? (*d->with.states)++ : 0;

	for (int64_t i = 0; i < count; i++) {
		const unsigned bit = 1u << i % 8;
		const bool stays = draw(d->with.seed, turn, i) >=
		    (double)d->with.dropout;

		d->reserve[i / 8] = (unsigned char)((d->reserve[i / 8] &
		    ~bit) | (stays ? bit : 0));
		emu_op_store(op, Y, i, scaled(d, i, emu_op_load(op, X, i)));
	}
}

static void
run_backward(struct emu_op *op)
{
	const struct dropout *d = (const struct dropout *)op;
	const int64_t count = emu_tensor_elements(&op->view[X].tensor);

	for (int64_t i = 0; i < count; i++)
		emu_op_store(op, Y, i, scaled(d, i, emu_op_load(op, X, i)));
}

static cudnnStatus_t
submit(cudnnHandle_t handle, struct dropout *d,
    const struct cudnnDropoutStruct *with, void *reserve, size_t bytes)
{
	const struct emu_tensor *x = &d->op.view[X].tensor;

	if (!with || !x->dims || !emu_op_alike(&d->op, X, Y) ||
	    emu_op_collides(&d->op, X, Y) || bytes < reserve_bytes(x))
		return CUDNN_STATUS_BAD_PARAM;
	if (emu_memory_check(reserve, reserve_bytes(x), "reserveSpace"))
		return CUDNN_STATUS_EXECUTION_FAILED;
	d->with = *with;
	d->reserve = reserve;
	d->op.operations = (double)emu_tensor_elements(x);
	return emu_op_submit(handle, &d->op, sizeof *d);
}

cudnnStatus_t
cudnnDropoutForward(cudnnHandle_t handle,
    const cudnnDropoutDescriptor_t dropoutDesc,
    const cudnnTensorDescriptor_t xdesc, const void *x,
    const cudnnTensorDescriptor_t ydesc, void *y, void *reserveSpace,
    size_t reserveSpaceSizeInBytes)
{
	struct dropout d = { .op = { .run = run_forward } };

	DNN_ENTER(handle);
	emu_op_view(&d.op, X, "x", xdesc, x);
	emu_op_view(&d.op, Y, "y", ydesc, y);
	return submit(handle, &d, dropoutDesc, reserveSpace,
	    reserveSpaceSizeInBytes);
}

cudnnStatus_t
cudnnDropoutBackward(cudnnHandle_t handle,
    const cudnnDropoutDescriptor_t dropoutDesc,
    const cudnnTensorDescriptor_t dydesc, const void *dy,
    const cudnnTensorDescriptor_t dxdesc, void *dx, void *reserveSpace,
    size_t reserveSpaceSizeInBytes)
{
	struct dropout d = { .op = { .run = run_backward } };

	DNN_ENTER(handle);
	emu_op_view(&d.op, X, "dy", dydesc, dy);
	emu_op_view(&d.op, Y, "dx", dxdesc, dx);
	return submit(handle, &d, dropoutDesc, reserveSpace,
	    reserveSpaceSizeInBytes);
}
