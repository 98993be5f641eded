/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/base/cudnn_descriptor.c -- cuDNN calls: descriptors of tensors
 * and filters. They refuse what cuDNN 9.19 refuses, with the same status; where
 * that one crashes, they return a bad parameter. */
#include "emulator/cudnn/base/cudnn_descriptor.h"

#include <limits.h>
#include <stdlib.h>

DNN_LIFE(Tensor)
DNN_LIFE(Filter)

cudnnStatus_t
emu_dnn_check_dims(int dims, int least, int most)
{
	return dims < least ? CUDNN_STATUS_BAD_PARAM :
	    dims > most ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
}

/* Vectors of elements, and types that only graphs have. */
static cudnnStatus_t
check_type(cudnnDataType_t type)
{
	if ((unsigned)type > CUDNN_DATA_BFLOAT16)
		return CUDNN_STATUS_BAD_PARAM;
	return emu_dnn_bytes(type) ? CUDNN_STATUS_SUCCESS :
	    CUDNN_STATUS_NOT_SUPPORTED;
}

/* Strides NULL: `order` means dense strides. Neither the elements nor the
 * places from the first to the last of them reach 2^31. The stride of a
 * dimension of 1 does not matter. */
static cudnnStatus_t
set(cudnnDataType_t type, int dims, const int *dim, const int *stride,
    cudnnTensorFormat_t order, struct emu_tensor *out)
{
	struct emu_tensor t = { .type = type, .dims = dims };
	cudnnStatus_t status = check_type(type);
	double elements = 1, places = 1;

	if (!dim || (unsigned)order > CUDNN_TENSOR_NCHW_VECT_C)
		return CUDNN_STATUS_BAD_PARAM;
	for (int i = 0; i < dims; i++) {
		if (dim[i] < 1 || (stride && dim[i] > 1 && !stride[i]))
			return CUDNN_STATUS_BAD_PARAM;
		if (stride && dim[i] > 1 && stride[i] < 0)
			status = status ? status : CUDNN_STATUS_NOT_SUPPORTED;
		t.dim[i] = dim[i];
		t.stride[i] = stride ? stride[i] : 0;
		elements *= dim[i];
		places += (dim[i] - 1.0) * (double)t.stride[i];
	}
	if (!status && order == CUDNN_TENSOR_NCHW_VECT_C)
		status = CUDNN_STATUS_BAD_PARAM; /* not a vector's type */
	if (!status && (elements > INT_MAX || places > INT_MAX))
		status = CUDNN_STATUS_NOT_SUPPORTED;
	if (status)
		return status;
	if (!stride)
		emu_tensor_lay_out(&t, order);
	*out = t;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- tensors ------------------------------------------------------------ */

cudnnStatus_t
cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensorDesc,
    cudnnTensorFormat_t format, cudnnDataType_t dataType, int n, int c,
    int h, int w)
{
	EMU_ENTER(&emu_dnn);
	return tensorDesc ? set(dataType, 4, (int[]){ n, c, h, w }, NULL,
	    format, &tensorDesc->tensor) : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t
cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
    cudnnDataType_t dataType, int n, int c, int h, int w, int nStride,
    int cStride, int hStride, int wStride)
{
	EMU_ENTER(&emu_dnn);
	return tensorDesc ? set(dataType, 4, (int[]){ n, c, h, w },
	    (int[]){ nStride, cStride, hStride, wStride }, CUDNN_TENSOR_NCHW,
	    &tensorDesc->tensor) : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t
cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc,
    cudnnDataType_t dataType, int nbDims, const int dimA[],
    const int strideA[])
{
	const cudnnStatus_t bad = emu_dnn_check_dims(nbDims, 2, CUDNN_DIM_MAX);

	EMU_ENTER(&emu_dnn);
	if (!tensorDesc || !strideA)
		return CUDNN_STATUS_BAD_PARAM;
	return bad ? bad : set(dataType, nbDims, dimA, strideA,
	    CUDNN_TENSOR_NCHW, &tensorDesc->tensor);
}

cudnnStatus_t
cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
    cudnnTensorFormat_t format, cudnnDataType_t dataType, int nbDims,
    const int dimA[])
{
	const cudnnStatus_t bad = emu_dnn_check_dims(nbDims, 2, CUDNN_DIM_MAX);

	EMU_ENTER(&emu_dnn);
	if (!tensorDesc)
		return CUDNN_STATUS_BAD_PARAM;
	return bad ? bad : set(dataType, nbDims, dimA, NULL, format,
	    &tensorDesc->tensor);
}

cudnnStatus_t
cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensorDesc,
    cudnnDataType_t *dataType, int *n, int *c, int *h, int *w, int *nStride,
    int *cStride, int *hStride, int *wStride)
{
	int *const dim[] = { n, c, h, w };
	int *const stride[] = { nStride, cStride, hStride, wStride };

	EMU_ENTER(&emu_dnn);
	if (!tensorDesc || !dataType)
		return CUDNN_STATUS_BAD_PARAM;
	for (int i = 0; i < 4; i++)
		if (!dim[i] || !stride[i])
			return CUDNN_STATUS_BAD_PARAM;
	*dataType = tensorDesc->tensor.type;
	for (int i = 0; i < 4; i++) {
		*dim[i] = (int)tensorDesc->tensor.dim[i];
		*stride[i] = (int)tensorDesc->tensor.stride[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensorDesc,
    int nbDimsRequested, cudnnDataType_t *dataType, int *nbDims, int dimA[],
    int strideA[])
{
	EMU_ENTER(&emu_dnn);
	if (!tensorDesc || !dataType || !nbDims || !dimA || !strideA)
		return CUDNN_STATUS_BAD_PARAM;
	*dataType = tensorDesc->tensor.type;
	*nbDims = tensorDesc->tensor.dims;
	for (int i = 0; i < nbDimsRequested && i < *nbDims; i++) {
		dimA[i] = (int)tensorDesc->tensor.dim[i];
		strideA[i] = (int)tensorDesc->tensor.stride[i];
	}
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t tensorDesc,
    size_t *size)
{
	EMU_ENTER(&emu_dnn);
	if (!tensorDesc || !size)
		return CUDNN_STATUS_BAD_PARAM;
	*size = emu_tensor_extent(&tensorDesc->tensor);
	return CUDNN_STATUS_SUCCESS;
}

/* ---- filters ------------------------------------------------------------ */

static cudnnStatus_t
set_filter(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
    cudnnTensorFormat_t format, int dims, const int *dim)
{
	cudnnStatus_t status = emu_dnn_check_dims(dims, 3, CUDNN_DIM_MAX);

	if (!filter || type == CUDNN_DATA_INT32)
		return CUDNN_STATUS_BAD_PARAM;
	if (!status)
		status = set(type, dims, dim, NULL, format, &filter->tensor);
	if (!status)
		filter->format = format;
	return status;
}

cudnnStatus_t
cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filterDesc,
    cudnnDataType_t dataType, cudnnTensorFormat_t format, int k, int c,
    int h, int w)
{
	EMU_ENTER(&emu_dnn);
	return set_filter(filterDesc, dataType, format, 4,
	    (int[]){ k, c, h, w });
}

cudnnStatus_t
cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filterDesc,
    cudnnDataType_t dataType, cudnnTensorFormat_t format, int nbDims,
    const int filterDimA[])
{
	EMU_ENTER(&emu_dnn);
	return set_filter(filterDesc, dataType, format, nbDims, filterDimA);
}

static cudnnStatus_t
get_filter(const struct cudnnFilterStruct *filter, int requested,
    cudnnDataType_t *type, cudnnTensorFormat_t *format, int *dims, int *dim)
{
	const cudnnStatus_t status = emu_dnn_check_dims(requested, 1,
	    CUDNN_DIM_MAX);

	if (!filter || !type || !format || !dims || !dim || status)
		return status ? status : CUDNN_STATUS_BAD_PARAM;
	*type = filter->tensor.type;
	*format = filter->format;
	*dims = filter->tensor.dims;
	for (int i = 0; i < requested && i < *dims; i++)
		dim[i] = (int)filter->tensor.dim[i];
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t filterDesc,
    cudnnDataType_t *dataType, cudnnTensorFormat_t *format, int *k, int *c,
    int *h, int *w)
{
	int dim[4] = { 0 }, dims;
	cudnnStatus_t status;

	EMU_ENTER(&emu_dnn);
	status = get_filter(filterDesc, 4, dataType, format, &dims, dim);
	if (status || !k || !c || !h || !w)
		return CUDNN_STATUS_BAD_PARAM;
	*k = dim[0];
	*c = dim[1];
	*h = dim[2];
	*w = dim[3];
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t filterDesc,
    int nbDimsRequested, cudnnDataType_t *dataType,
    cudnnTensorFormat_t *format, int *nbDims, int filterDimA[])
{
	EMU_ENTER(&emu_dnn);
	return get_filter(filterDesc, nbDimsRequested, dataType, format,
	    nbDims, filterDimA);
}

cudnnStatus_t
cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t filterDesc,
    size_t *size)
{
	EMU_ENTER(&emu_dnn);
	if (!filterDesc || !size)
		return CUDNN_STATUS_BAD_PARAM;
	*size = emu_tensor_extent(&filterDesc->tensor);
	return CUDNN_STATUS_SUCCESS;
}
