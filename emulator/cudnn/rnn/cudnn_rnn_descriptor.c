/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/rnn/cudnn_rnn_descriptor.c -- cuDNN calls: descriptors of
 * recurrent networks and of their sequences. They refuse what cuDNN 9.19
 * refuses, with the same status. */
#include "emulator/cudnn/rnn/cudnn_rnn.h"

#include <stdlib.h>
#include <string.h>

/* ---- networks ----------------------------------------------------------- */

DNN_LIFE(RNN)

/* Which data types go with which math precision. */
static bool
go_together(cudnnDataType_t type, cudnnDataType_t precision)
{
	if (precision == CUDNN_DATA_FLOAT)
		return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_HALF ||
		    type == CUDNN_DATA_BFLOAT16;
	return type == precision && (type == CUDNN_DATA_DOUBLE ||
	    type == CUDNN_DATA_HALF);
}

static cudnnStatus_t
check(const struct cudnnRNNStruct *d)
{
	if ((unsigned)d->algo >= CUDNN_RNN_ALGO_COUNT ||
	    (unsigned)d->cell > CUDNN_GRU ||
	    (unsigned)d->bias > CUDNN_RNN_SINGLE_REC_BIAS ||
	    (unsigned)d->direction > CUDNN_BIDIRECTIONAL ||
	    (unsigned)d->input_mode > CUDNN_SKIP_INPUT ||
	    (unsigned)d->math > CUDNN_FMA_MATH || d->input < 1 ||
	    d->hidden < 1 || d->projection < 1 || d->layers < 1 ||
	    d->flags & ~CUDNN_RNN_PADDED_IO_ENABLED)
		return CUDNN_STATUS_BAD_PARAM;
	if (!go_together(d->type, d->precision) ||
	    d->projection > d->hidden ||
	    (d->projection < d->hidden && (d->cell != CUDNN_LSTM ||
	    d->algo != CUDNN_RNN_ALGO_STANDARD)))
		return CUDNN_STATUS_NOT_SUPPORTED;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNAlgo_t algo,
    cudnnRNNMode_t cellMode, cudnnRNNBiasMode_t biasMode,
    cudnnDirectionMode_t dirMode, cudnnRNNInputMode_t inputMode,
    cudnnDataType_t dataType, cudnnDataType_t mathPrec,
    cudnnMathType_t mathType, int32_t inputSize, int32_t hiddenSize,
    int32_t projSize, int32_t numLayers, cudnnDropoutDescriptor_t dropoutDesc,
    uint32_t auxFlags)
{
	const struct cudnnRNNStruct wanted = {
		true, algo, cellMode, biasMode, dirMode, inputMode, dataType,
		mathPrec, mathType, inputSize, hiddenSize, projSize, numLayers,
		dropoutDesc, auxFlags
	};
	cudnnStatus_t status;

	EMU_ENTER(&emu_dnn);
	status = rnnDesc ? check(&wanted) : CUDNN_STATUS_BAD_PARAM;
	if (!status)
		*rnnDesc = wanted;
	return status;
}

/* NULL: the caller does not want the value. */
#define TELL(out, value)                                                  \
	do {                                                              \
		if (out)                                                  \
			*(out) = (value);                                 \
	} while (0)

cudnnStatus_t
cudnnGetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNAlgo_t *algo,
    cudnnRNNMode_t *cellMode, cudnnRNNBiasMode_t *biasMode,
    cudnnDirectionMode_t *dirMode, cudnnRNNInputMode_t *inputMode,
    cudnnDataType_t *dataType, cudnnDataType_t *mathPrec,
    cudnnMathType_t *mathType, int32_t *inputSize, int32_t *hiddenSize,
    int32_t *projSize, int32_t *numLayers,
    cudnnDropoutDescriptor_t *dropoutDesc, uint32_t *auxFlags)
{
	EMU_ENTER(&emu_dnn);
	if (!rnnDesc)
		return CUDNN_STATUS_BAD_PARAM;
	if (!rnnDesc->is_set)
		return CUDNN_STATUS_NOT_INITIALIZED;
	TELL(algo, rnnDesc->algo);
	TELL(cellMode, rnnDesc->cell);
	TELL(biasMode, rnnDesc->bias);
	TELL(dirMode, rnnDesc->direction);
	TELL(inputMode, rnnDesc->input_mode);
	TELL(dataType, rnnDesc->type);
	TELL(mathPrec, rnnDesc->precision);
	TELL(mathType, rnnDesc->math);
	TELL(inputSize, rnnDesc->input);
	TELL(hiddenSize, rnnDesc->hidden);
	TELL(projSize, rnnDesc->projection);
	TELL(numLayers, rnnDesc->layers);
	TELL(dropoutDesc, rnnDesc->dropout);
	TELL(auxFlags, rnnDesc->flags);
	return CUDNN_STATUS_SUCCESS;
}

/* ---- sequences ---------------------------------------------------------- */

enum { LAST_TYPE = 21 }; /* that cuDNN 9.19 knows */

cudnnStatus_t
cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t *rnnDataDesc)
{
	EMU_ENTER(&emu_dnn);
	if (!rnnDataDesc)
		return CUDNN_STATUS_BAD_PARAM;
	*rnnDataDesc = calloc(1, sizeof **rnnDataDesc);
	return *rnnDataDesc ? CUDNN_STATUS_SUCCESS :
	    CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
}

cudnnStatus_t
cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc)
{
	EMU_ENTER(&emu_dnn);
	if (rnnDataDesc)
		free(rnnDataDesc->length);
	free(rnnDataDesc);
	return CUDNN_STATUS_SUCCESS;
}

/* Packed sequences are sorted, none is empty, and the first is the longest. */
static bool
are_lengths(const int *length, int batch, int steps, bool packed)
{
	if (packed && length[0] != steps)
		return false;
	for (int i = 0; i < batch; i++)
		if (length[i] < packed || length[i] > steps || (packed && i &&
		    length[i] > length[i - 1]))
			return false;
	return true;
}

static double
read_fill(const void *from, cudnnDataType_t type)
{
	struct emu_touched touched = { 0 };

	return from ? emu_tensor_load(&touched, from, type, 0) : 0;
}

cudnnStatus_t
cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc,
    cudnnDataType_t dataType, cudnnRNNDataLayout_t layout, int maxSeqLength,
    int batchSize, int vectorSize, const int seqLengthArray[],
    void *paddingFill)
{
	const bool is_known = dataType == CUDNN_DATA_FLOAT ||
	    dataType == CUDNN_DATA_DOUBLE || dataType == CUDNN_DATA_HALF ||
	    dataType == CUDNN_DATA_BFLOAT16;
	int *length;

	EMU_ENTER(&emu_dnn);
	if (!rnnDataDesc || !seqLengthArray || maxSeqLength < 1 ||
	    batchSize < 1 || vectorSize < 1 ||
	    (unsigned)layout > CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED ||
	    (unsigned)dataType > LAST_TYPE ||
	    !are_lengths(seqLengthArray, batchSize, maxSeqLength,
	    layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED))
		return CUDNN_STATUS_BAD_PARAM;
	if (!is_known)
		return CUDNN_STATUS_NOT_SUPPORTED;
	length = malloc((size_t)batchSize * sizeof *length);
	if (!length)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	memcpy(length, seqLengthArray, (size_t)batchSize * sizeof *length);
	free(rnnDataDesc->length);
	*rnnDataDesc = (struct cudnnRNNDataStruct){ dataType, layout,
		maxSeqLength, batchSize, vectorSize, length,
		paddingFill != NULL, read_fill(paddingFill, dataType) };
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc,
    cudnnDataType_t *dataType, cudnnRNNDataLayout_t *layout,
    int *maxSeqLength, int *batchSize, int *vectorSize,
    int arrayLengthRequested, int seqLengthArray[], void *paddingFill)
{
	const struct cudnnRNNDataStruct *d = rnnDataDesc;
	struct emu_touched touched = { 0 };

	EMU_ENTER(&emu_dnn);
	if (!d || !dataType || !layout || !maxSeqLength || !batchSize ||
	    !vectorSize || !paddingFill || arrayLengthRequested < 0 ||
	    (arrayLengthRequested && !seqLengthArray))
		return CUDNN_STATUS_BAD_PARAM;
	*dataType = d->type;
	*layout = d->layout;
	*maxSeqLength = d->steps;
	*batchSize = d->batch;
	*vectorSize = d->vector;
	for (int i = 0; i < arrayLengthRequested; i++)
		seqLengthArray[i] = i < d->batch ? d->length[i] : 0;
	if (d->fills)
		emu_tensor_store(&touched, paddingFill, d->type, 0, d->fill);
	return CUDNN_STATUS_SUCCESS;
}
