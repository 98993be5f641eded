/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/rnn/cudnn_rnn_space.c -- cuDNN calls: the size of a recurrent
 * network's parameters, the place of each, and the space that passes need. The
 * real one needs other sizes when it converts; by how much is our own
 * choice. */
#include "emulator/cudnn/rnn/cudnn_rnn.h"

cudnnStatus_t
emu_rnn_describe(cudnnRNNDescriptor_t d, struct emu_rnn *rnn_out)
{
	static const int gates[] = { [CUDNN_RNN_RELU] = 1,
		[CUDNN_RNN_TANH] = 1, [CUDNN_LSTM] = 4, [CUDNN_GRU] = 3 };

	if (!d || !d->is_set)
		return d ? CUDNN_STATUS_NOT_INITIALIZED :
		    CUDNN_STATUS_BAD_PARAM;
	if (d->type != CUDNN_DATA_FLOAT || d->projection != d->hidden ||
	    d->input_mode != CUDNN_LINEAR_INPUT ||
	    d->algo == CUDNN_RNN_ALGO_PERSIST_DYNAMIC ||
	    ((double)d->input + d->hidden) * d->hidden * d->layers > 0x1p40)
		return CUDNN_STATUS_NOT_SUPPORTED;
	*rnn_out = (struct emu_rnn){ .cell = d->cell, .bias = d->bias,
		.directions = d->direction == CUDNN_BIDIRECTIONAL ? 2 : 1,
		.layers = d->layers, .gates = gates[d->cell],
		.input = d->input, .hidden = d->hidden,
		.converts = d->math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION };
	rnn_out->arithmetic = rnn_out->converts ? EMU_FP16 :
	    emu_conv_arithmetic(emu_context_device(), d->math,
	    CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT);
	return CUDNN_STATUS_SUCCESS;
}

/* ---- parameters: matrices of all layers, then biases -------------------- */

int64_t
emu_rnn_layer_input(const struct emu_rnn *rnn, int layer)
{
	return layer < rnn->directions ? rnn->input :
	    rnn->directions * rnn->hidden;
}

/* Matrices of one pseudo-layer. */
static int64_t
matrices_of(const struct emu_rnn *rnn, int layer)
{
	return rnn->gates * rnn->hidden * (emu_rnn_layer_input(rnn, layer) +
	    rnn->hidden);
}

/* Before the first of a pseudo-layer. */
static int64_t
matrices_before(const struct emu_rnn *rnn, int layer)
{
	const int lowest = layer < rnn->directions ? layer : rnn->directions;

	return lowest * matrices_of(rnn, 0) + (layer - lowest) *
	    matrices_of(rnn, rnn->directions);
}

int64_t
emu_rnn_matrix(const struct emu_rnn *rnn, int layer, int linear)
{
	const int64_t input = emu_rnn_layer_input(rnn, layer);
	const int below = linear < rnn->gates ? linear : rnn->gates;

	return matrices_before(rnn, layer) + rnn->hidden * (below * input +
	    (linear - below) * rnn->hidden);
}

/* Biases of one pseudo-layer. */
static int
biases_of(const struct emu_rnn *rnn)
{
	return rnn->bias == CUDNN_RNN_NO_BIAS ? 0 :
	    rnn->bias == CUDNN_RNN_DOUBLE_BIAS ? 2 * rnn->gates : rnn->gates;
}

int64_t
emu_rnn_bias(const struct emu_rnn *rnn, int layer, int linear)
{
	const bool is_recurrent = linear >= rnn->gates;
	const int layers = rnn->layers * rnn->directions;

	if (rnn->bias == CUDNN_RNN_NO_BIAS || rnn->bias ==
	    (is_recurrent ? CUDNN_RNN_SINGLE_INP_BIAS :
	    CUDNN_RNN_SINGLE_REC_BIAS))
		return -1;
	if (rnn->bias == CUDNN_RNN_SINGLE_REC_BIAS)
		linear -= rnn->gates;
	return matrices_before(rnn, layers) + rnn->hidden *
	    ((int64_t)layer * biases_of(rnn) + linear);
}

int64_t
emu_rnn_parameters(const struct emu_rnn *rnn)
{
	const int layers = rnn->layers * rnn->directions;

	return matrices_before(rnn, layers) + rnn->hidden *
	    (int64_t)layers * biases_of(rnn);
}

cudnnStatus_t
cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    size_t *weightSpaceSize)
{
	struct emu_rnn rnn;
	cudnnStatus_t status;

	DNN_ENTER(handle);
	if (!weightSpaceSize)
		return CUDNN_STATUS_BAD_PARAM;
	status = emu_rnn_describe(rnnDesc, &rnn);
	if (!status)
		*weightSpaceSize = (size_t)emu_rnn_parameters(&rnn) *
		    sizeof(float);
	return status;
}

/* A tensor of 1 x rows x columns at `at`; or none: no dimensions, NULL. */
static void
tell(cudnnTensorDescriptor_t descriptor, void **address, const void *space,
    int64_t at, int64_t rows, int64_t columns)
{
	descriptor->tensor = (struct emu_tensor){ .type = CUDNN_DATA_FLOAT,
		.dims = 3, .dim = { 1, rows, columns },
		.stride = { rows * columns, columns, 1 } };
	if (at < 0)
		descriptor->tensor.dims = 0;
	*address = at < 0 || !space ? NULL :
	    (float *)(uintptr_t)space + at;
}

cudnnStatus_t
cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    int32_t pseudoLayer, size_t weightSpaceSize, const void *weightSpace,
    int32_t linLayerID, cudnnTensorDescriptor_t mDesc, void **mAddr,
    cudnnTensorDescriptor_t bDesc, void **bAddr)
{
	struct emu_rnn rnn;
	cudnnStatus_t status;

	DNN_ENTER(handle);
	status = emu_rnn_describe(rnnDesc, &rnn);
	if (status)
		return status;
	if (!mDesc || !mAddr || !bDesc || !bAddr || pseudoLayer < 0 ||
	    pseudoLayer >= rnn.layers * rnn.directions || linLayerID < 0 ||
	    linLayerID >= 2 * rnn.gates ||
	    weightSpaceSize < (size_t)emu_rnn_parameters(&rnn) * sizeof(float))
		return CUDNN_STATUS_BAD_PARAM;
	tell(mDesc, mAddr, weightSpace,
	    emu_rnn_matrix(&rnn, pseudoLayer, linLayerID), rnn.hidden,
	    linLayerID < rnn.gates ? emu_rnn_layer_input(&rnn, pseudoLayer) :
	    rnn.hidden);
	tell(bDesc, bAddr, weightSpace,
	    emu_rnn_bias(&rnn, pseudoLayer, linLayerID), rnn.hidden, 1);
	return CUDNN_STATUS_SUCCESS;
}

/* ---- what passes need --------------------------------------------------- */

/* Elements of the tape. */
static int64_t
tape(const struct emu_rnn *rnn, int64_t steps, int64_t batch)
{
	return rnn->layers * rnn->directions * steps * batch * rnn->hidden *
	    (EMU_RNN_GATES + 2 * rnn->gates);
}

/* Inference keeps its tape in the workspace, training in the reserve space.
 * FP16 copies are made of parameters and of the layers' inputs. */
size_t
emu_rnn_workspace(const struct emu_rnn *rnn, int64_t steps, int64_t batch,
    bool trains)
{
	const int64_t floats = trains ? 2 * steps * batch * rnn->directions *
	    rnn->hidden : tape(rnn, steps, batch);

	return (size_t)(4 * floats +
	    (rnn->converts ? 2 * emu_rnn_parameters(rnn) : 0));
}

size_t
emu_rnn_reserve(const struct emu_rnn *rnn, int64_t steps, int64_t batch,
    bool trains)
{
	const int64_t read = rnn->input + rnn->layers * rnn->directions *
	    rnn->hidden;

	return !trains ? 0 : (size_t)(4 * tape(rnn, steps, batch) +
	    (rnn->converts ? 2 * steps * batch * read : 0));
}

cudnnStatus_t
cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnForwardMode_t fwdMode, cudnnRNNDataDescriptor_t xDesc,
    size_t *workSpaceSize, size_t *reserveSpaceSize)
{
	const bool trains = fwdMode == CUDNN_FWD_MODE_TRAINING;
	struct emu_rnn rnn;
	cudnnStatus_t status;

	DNN_ENTER(handle);
	status = emu_rnn_describe(rnnDesc, &rnn);
	if (status)
		return status;
	if (!xDesc || !xDesc->steps || !workSpaceSize || !reserveSpaceSize ||
	    (unsigned)fwdMode > CUDNN_FWD_MODE_TRAINING)
		return CUDNN_STATUS_BAD_PARAM;
	*workSpaceSize = emu_rnn_workspace(&rnn, xDesc->steps, xDesc->batch,
	    trains);
	*reserveSpaceSize = emu_rnn_reserve(&rnn, xDesc->steps, xDesc->batch,
	    trains);
	return CUDNN_STATUS_SUCCESS;
}
