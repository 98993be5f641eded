/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/base/cudnn_descriptor_conv.c -- cuDNN calls: descriptors of
 * convolutions and activations; statuses as in cudnn_descriptor.c. Setting a
 * new geometry leaves math type, groups and reordering, as cuDNN does. */
#include "emulator/cudnn/base/cudnn_descriptor.h"

#include <stdlib.h>

enum { SPACE_MAX = 6 }; /* what cuDNN takes; it computes 3 at most */

cudnnStatus_t
cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *convDesc)
{
	EMU_ENTER(&emu_dnn);
	if (!convDesc)
		return CUDNN_STATUS_BAD_PARAM;
	*convDesc = calloc(1, sizeof **convDesc);
	if (!*convDesc)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	(*convDesc)->groups = 1;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convDesc)
{
	EMU_ENTER(&emu_dnn);
	free(convDesc);
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t
set(cudnnConvolutionDescriptor_t conv, int space, const int *pad,
    const int *stride, const int *dilation, cudnnConvolutionMode_t mode,
    cudnnDataType_t type)
{
	struct cudnnConvolutionStruct new;

	if (!conv || !pad || !stride || !dilation || (unsigned)mode > 1 ||
	    (type > CUDNN_DATA_HALF && type != CUDNN_DATA_INT32))
		return CUDNN_STATUS_BAD_PARAM;
	new = *conv;
	new.space = space;
	new.mode = mode;
	new.compute = type;
	for (int i = 0; i < space; i++) {
		if (pad[i] < 0 || stride[i] < 1 || dilation[i] < 1)
			return CUDNN_STATUS_BAD_PARAM;
		new.pad[i] = pad[i];
		new.stride[i] = stride[i];
		new.dilation[i] = dilation[i];
	}
	*conv = new;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convDesc,
    int pad_h, int pad_w, int u, int v, int dilation_h, int dilation_w,
    cudnnConvolutionMode_t mode, cudnnDataType_t computeType)
{
	EMU_ENTER(&emu_dnn);
	return set(convDesc, 2, (int[]){ pad_h, pad_w }, (int[]){ u, v },
	    (int[]){ dilation_h, dilation_w }, mode, computeType);
}

cudnnStatus_t
cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convDesc,
    int arrayLength, const int padA[], const int filterStrideA[],
    const int dilationA[], cudnnConvolutionMode_t mode,
    cudnnDataType_t computeType)
{
	const cudnnStatus_t bad = emu_dnn_check_dims(arrayLength, 0,
	    SPACE_MAX);

	EMU_ENTER(&emu_dnn);
	return bad ? bad : set(convDesc, arrayLength, padA, filterStrideA,
	    dilationA, mode, computeType);
}

cudnnStatus_t
cudnnGetConvolution2dDescriptor(const cudnnConvolutionDescriptor_t convDesc,
    int *pad_h, int *pad_w, int *u, int *v, int *dilation_h, int *dilation_w,
    cudnnConvolutionMode_t *mode, cudnnDataType_t *computeType)
{
	EMU_ENTER(&emu_dnn);
	if (!convDesc || !pad_h || !pad_w || !u || !v || !dilation_h ||
	    !dilation_w || !mode || !computeType)
		return CUDNN_STATUS_BAD_PARAM;
	*pad_h = (int)convDesc->pad[0];
	*pad_w = (int)convDesc->pad[1];
	*u = (int)convDesc->stride[0];
	*v = (int)convDesc->stride[1];
	*dilation_h = (int)convDesc->dilation[0];
	*dilation_w = (int)convDesc->dilation[1];
	*mode = convDesc->mode;
	*computeType = convDesc->compute;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetConvolutionNdDescriptor(const cudnnConvolutionDescriptor_t convDesc,
    int arrayLengthRequested, int *arrayLength, int padA[], int strideA[],
    int dilationA[], cudnnConvolutionMode_t *mode,
    cudnnDataType_t *computeType)
{
	const cudnnStatus_t bad = emu_dnn_check_dims(arrayLengthRequested, 0,
	    SPACE_MAX);

	EMU_ENTER(&emu_dnn);
	if (bad)
		return bad;
	if (!convDesc || !arrayLength || !padA || !strideA || !dilationA ||
	    !mode || !computeType)
		return CUDNN_STATUS_BAD_PARAM;
	*arrayLength = convDesc->space;
	for (int i = 0; i < arrayLengthRequested && i < convDesc->space; i++) {
		padA[i] = (int)convDesc->pad[i];
		strideA[i] = (int)convDesc->stride[i];
		dilationA[i] = (int)convDesc->dilation[i];
	}
	*mode = convDesc->mode;
	*computeType = convDesc->compute;
	return CUDNN_STATUS_SUCCESS;
}

/* A setting: its values, its field. */
#define SETTING(name, type, field, valid)                                 \
cudnnStatus_t                                                             \
cudnnSetConvolution##name(cudnnConvolutionDescriptor_t convDesc,          \
    type value)                                                           \
{                                                                         \
	EMU_ENTER(&emu_dnn);                                              \
	if (!convDesc || !(valid))                                        \
		return CUDNN_STATUS_BAD_PARAM;                            \
	convDesc->field = value;                                          \
	return CUDNN_STATUS_SUCCESS;                                      \
}                                                                         \
cudnnStatus_t                                                             \
cudnnGetConvolution##name(cudnnConvolutionDescriptor_t convDesc,          \
    type *value)                                                          \
{                                                                         \
	EMU_ENTER(&emu_dnn);                                              \
	if (!convDesc || !value)                                          \
		return CUDNN_STATUS_BAD_PARAM;                            \
	*value = convDesc->field;                                         \
	return CUDNN_STATUS_SUCCESS;                                      \
}
SETTING(MathType, cudnnMathType_t, math, (unsigned)value <= CUDNN_FMA_MATH)
SETTING(GroupCount, int, groups, value > 0)
SETTING(ReorderType, cudnnReorderType_t, reorder,
    (unsigned)value <= CUDNN_NO_REORDER)

/* ---- the output's shape -------------------------------------------------- */

static cudnnStatus_t
output(const struct cudnnConvolutionStruct *conv,
    const struct cudnnTensorStruct *x, const struct cudnnFilterStruct *w,
    int dims, int *out)
{
	int size[CUDNN_DIM_MAX];

	if (!conv || !x || !w || !out || x->tensor.dims != w->tensor.dims ||
	    x->tensor.dims != conv->space + 2 || dims > x->tensor.dims ||
	    x->tensor.dim[1] != w->tensor.dim[1] * conv->groups)
		return CUDNN_STATUS_BAD_PARAM;
	size[0] = (int)x->tensor.dim[0];
	size[1] = (int)w->tensor.dim[0];
	for (int i = 0; i < conv->space; i++) {
		const int64_t room = x->tensor.dim[2 + i] + 2 * conv->pad[i] -
		    ((w->tensor.dim[2 + i] - 1) * conv->dilation[i] + 1);

		if (room < 0)
			return CUDNN_STATUS_BAD_PARAM;
		size[2 + i] = (int)(room / conv->stride[i] + 1);
	}
	for (int i = 0; i < dims; i++)
		out[i] = size[i];
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetConvolution2dForwardOutputDim(
    const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t inputTensorDesc,
    const cudnnFilterDescriptor_t filterDesc, int *n, int *c, int *h, int *w)
{
	int size[4];
	cudnnStatus_t status;

	EMU_ENTER(&emu_dnn);
	status = output(convDesc, inputTensorDesc, filterDesc, 4, size);
	if (status || !n || !c || !h || !w)
		return CUDNN_STATUS_BAD_PARAM;
	*n = size[0];
	*c = size[1];
	*h = size[2];
	*w = size[3];
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetConvolutionNdForwardOutputDim(
    const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t inputTensorDesc,
    const cudnnFilterDescriptor_t filterDesc, int nbDims,
    int tensorOuputDimA[])
{
	EMU_ENTER(&emu_dnn);
	return output(convDesc, inputTensorDesc, filterDesc, nbDims,
	    tensorOuputDimA);
}

/* ---- activations --------------------------------------------------------- */

DNN_LIFE(Activation)

cudnnStatus_t
cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activationDesc,
    cudnnActivationMode_t mode, cudnnNanPropagation_t reluNanOpt, double coef)
{
	EMU_ENTER(&emu_dnn);
	if (!activationDesc || (unsigned)mode > CUDNN_ACTIVATION_SWISH ||
	    (unsigned)reluNanOpt > CUDNN_PROPAGATE_NAN)
		return CUDNN_STATUS_BAD_PARAM;
	activationDesc->mode = mode;
	activationDesc->nan = reluNanOpt;
	activationDesc->coefficient = coef;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetActivationDescriptor(const cudnnActivationDescriptor_t activationDesc,
    cudnnActivationMode_t *mode, cudnnNanPropagation_t *reluNanOpt,
    double *coef)
{
	EMU_ENTER(&emu_dnn);
	if (!activationDesc || !mode || !reluNanOpt || !coef)
		return CUDNN_STATUS_BAD_PARAM;
	*mode = activationDesc->mode;
	*reluNanOpt = activationDesc->nan;
	*coef = activationDesc->coefficient;
	return CUDNN_STATUS_SUCCESS;
}
