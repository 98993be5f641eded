/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/ops/cudnn_reduce.c -- cuDNN calls: reductions over the
 * dimensions that the result lacks. They need no workspace but ask for some, as
 * the real ones do; indices are 32 bits. Contracts are NVIDIA's. */
#include "emulator/cudnn/ops/cudnn_ops.h"

#include <math.h>
#include <stdlib.h>

enum { C, A }; /* C is the result */

struct cudnnReduceTensorStruct {
	cudnnReduceTensorOp_t      op;
	cudnnDataType_t            compute;
	cudnnNanPropagation_t      nan;
	cudnnReduceTensorIndices_t indices;
	cudnnIndicesType_t         index_type;
};

struct reduction {
	struct emu_op op;
	struct cudnnReduceTensorStruct with;
	uint32_t *indices;  /* NULL: the caller wants none */
};

DNN_LIFE(ReduceTensor)

cudnnStatus_t
cudnnSetReduceTensorDescriptor(cudnnReduceTensorDescriptor_t reduceTensorDesc,
    cudnnReduceTensorOp_t reduceTensorOp,
    cudnnDataType_t reduceTensorCompType,
    cudnnNanPropagation_t reduceTensorNanOpt,
    cudnnReduceTensorIndices_t reduceTensorIndices,
    cudnnIndicesType_t reduceTensorIndicesType)
{
	EMU_ENTER(&emu_dnn);
	if (!reduceTensorDesc ||
	    (unsigned)reduceTensorOp > CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS ||
	    (unsigned)reduceTensorCompType > CUDNN_DATA_HALF ||
	    (unsigned)reduceTensorNanOpt > CUDNN_PROPAGATE_NAN ||
	    (unsigned)reduceTensorIndices >
	    CUDNN_REDUCE_TENSOR_FLATTENED_INDICES ||
	    (unsigned)reduceTensorIndicesType > CUDNN_8BIT_INDICES)
		return CUDNN_STATUS_BAD_PARAM;
	*reduceTensorDesc = (struct cudnnReduceTensorStruct){ reduceTensorOp,
		reduceTensorCompType, reduceTensorNanOpt, reduceTensorIndices,
		reduceTensorIndicesType };
	return CUDNN_STATUS_SUCCESS;
}

/* ---- arithmetic -------------------------------------------------------- */

/* The value of an element of the result before the first input. */
static double
start(cudnnReduceTensorOp_t op)
{
	switch (op) {
	case CUDNN_REDUCE_TENSOR_MUL:
	case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
		return 1;
	case CUDNN_REDUCE_TENSOR_MIN:
		return (double)INFINITY;
	case CUDNN_REDUCE_TENSOR_MAX:
		return -(double)INFINITY;
	default:
		return 0;
	}
}

/* Whether `x` replaces `best`, in operations where one element wins. */
static bool
wins(const struct cudnnReduceTensorStruct *with, double x, double best)
{
	if (isnan(x) || isnan(best))
		return with->nan == CUDNN_PROPAGATE_NAN && isnan(x) &&
		    !isnan(best);
	return with->op == CUDNN_REDUCE_TENSOR_MIN ? x < best : x > best;
}

static bool
has_winner(cudnnReduceTensorOp_t op)
{
	return op == CUDNN_REDUCE_TENSOR_MIN || op == CUDNN_REDUCE_TENSOR_MAX ||
	    op == CUDNN_REDUCE_TENSOR_AMAX;
}

static double
take_in(cudnnReduceTensorOp_t op, double so_far, double x)
{
	switch (op) {
	case CUDNN_REDUCE_TENSOR_MUL:
		return so_far * x;
	case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
		return x != 0 ? so_far * x : so_far;
	case CUDNN_REDUCE_TENSOR_NORM1:
		return so_far + fabs(x);
	case CUDNN_REDUCE_TENSOR_NORM2:
		return so_far + x * x;
	default:
		return so_far + x;
	}
}

/* The elements of A that are reduced into one of C, in order; also their number
 * within the reduced dimensions, which is the index that is returned. */
static void
accumulate(struct reduction *r, double *sums, uint32_t *winners)
{
	struct emu_op *op = &r->op;
	const cudnnReduceTensorOp_t kind = r->with.op;
	const struct emu_tensor *a = &op->view[A].tensor;
	const struct emu_tensor *c = &op->view[C].tensor;
	const int64_t count = emu_tensor_elements(a);

	for (int64_t i = 0; i < count; i++) {
		const int64_t to = emu_op_broadcast(op, C, A, i);
		double x = emu_op_load(op, A, i);
		int64_t rest = i, step = 1, index = 0;

		if (!has_winner(kind)) {
			sums[to] = take_in(kind, sums[to], x);
			continue;
		}
		if (kind == CUDNN_REDUCE_TENSOR_AMAX)
			x = fabs(x);
		if (!wins(&r->with, x, sums[to]))
			continue;
		sums[to] = x;
		for (int k = a->dims - 1; k >= 0; k--) {
			if (c->dim[k] == 1) {
				index += rest % a->dim[k] * step;
				step *= a->dim[k];
			}
			rest /= a->dim[k];
		}
		winners[to] = (uint32_t)index;
	}
}

static void
run(struct emu_op *op)
{
	struct reduction *r = (struct reduction *)op;
	const int64_t results = emu_tensor_elements(&op->view[C].tensor);
	const double each = (double)emu_tensor_elements(&op->view[A].tensor) /
	    (double)results;
	double *sums = malloc((size_t)results * sizeof *sums);
	uint32_t *winners = calloc((size_t)results, sizeof *winners);

	if (!sums || !winners) {
		emu_complain("out of host memory: the result is not there");
		goto out;
	}
	for (int64_t i = 0; i < results; i++)
		sums[i] = start(r->with.op);
	accumulate(r, sums, winners);
	for (int64_t i = 0; i < results; i++) {
		emu_op_blend(op, C, i, r->with.op == CUDNN_REDUCE_TENSOR_AVG ?
		    sums[i] / each : r->with.op ==
		    CUDNN_REDUCE_TENSOR_NORM2 ? sqrt(sums[i]) : sums[i]);
		if (r->indices)
			r->indices[i] = winners[i];
	}
out:
	free(sums);
	free(winners);
}

/* ---- calls ------------------------------------------------------------- */

/* Bytes of the indices of the winners, if the caller asks for them. */
static size_t
index_bytes(const struct cudnnReduceTensorStruct *r,
    const struct cudnnTensorStruct *c)
{
	return has_winner(r->op) && r->indices ==
	    CUDNN_REDUCE_TENSOR_FLATTENED_INDICES ? sizeof(uint32_t) *
	    (size_t)emu_tensor_elements(&c->tensor) : 0;
}

/* Bytes of the result in the type of the arithmetic. */
static size_t
workspace_bytes(const struct cudnnReduceTensorStruct *r,
    const struct cudnnTensorStruct *c)
{
	return (size_t)emu_tensor_elements(&c->tensor) *
	    (r->compute == CUDNN_DATA_DOUBLE ? 8 : 4);
}

static bool
fits(const struct cudnnReduceTensorStruct *r,
    const struct cudnnTensorStruct *a, const struct cudnnTensorStruct *c)
{
	return r && a && c && a->tensor.dims &&
	    emu_tensor_broadcasts(&c->tensor, &a->tensor);
}

#define SIZE(what, bytes)                                                 \
cudnnStatus_t                                                             \
cudnnGetReduction##what##Size(cudnnHandle_t handle,                       \
    const cudnnReduceTensorDescriptor_t reduceTensorDesc,                 \
    const cudnnTensorDescriptor_t aDesc,                                  \
    const cudnnTensorDescriptor_t cDesc, size_t *sizeInBytes)             \
{                                                                         \
	DNN_ENTER(handle);                                                \
	if (!fits(reduceTensorDesc, aDesc, cDesc) || !sizeInBytes)        \
		return CUDNN_STATUS_BAD_PARAM;                            \
	*sizeInBytes = bytes(reduceTensorDesc, cDesc);                    \
	return CUDNN_STATUS_SUCCESS;                                      \
}
SIZE(Indices, index_bytes)
SIZE(Workspace, workspace_bytes)

cudnnStatus_t
cudnnReduceTensor(cudnnHandle_t handle,
    const cudnnReduceTensorDescriptor_t reduceTensorDesc, void *indices,
    size_t indicesSizeInBytes, void *workspace,
    size_t workspaceSizeInBytes, const void *alpha,
    const cudnnTensorDescriptor_t aDesc, const void *A_, const void *beta,
    const cudnnTensorDescriptor_t cDesc, void *C_)
{
	struct reduction r = { .op = { .run = run } };
	size_t wanted, room;
	int status;

	DNN_ENTER(handle);
	if (!fits(reduceTensorDesc, aDesc, cDesc) || !emu_op_scalars(&r.op,
	    alpha, beta, reduceTensorDesc->compute))
		return CUDNN_STATUS_BAD_PARAM;
	r.with = *reduceTensorDesc;
	wanted = index_bytes(&r.with, cDesc);
	room = workspace_bytes(&r.with, cDesc);
	if (workspaceSizeInBytes < room || indicesSizeInBytes < wanted)
		return CUDNN_STATUS_BAD_PARAM;
	if (wanted && r.with.index_type != CUDNN_32BIT_INDICES)
		return CUDNN_STATUS_NOT_SUPPORTED;
	status = emu_memory_check(workspace, room, "workspace");
	if (!status)
		status = emu_memory_check(indices, wanted, "indices");
	if (status)
		return emu_dnn_status(status);
	r.indices = wanted ? indices : NULL;
	emu_op_view(&r.op, A, "A", aDesc, A_);
	emu_op_view(&r.op, C, "C", cDesc, C_);
	r.op.operations = (double)emu_tensor_elements(&aDesc->tensor);
	return emu_op_submit(handle, &r.op, sizeof r);
}
