/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/stub/stub_cudnn.c -- a libcudnn that computes nothing, and
 * whose getters all describe one convolution: what remains of a call's cost is
 * the interposer's. */
#include <cudnn.h>

#define STUB __attribute__((visibility("default"))) cudnnStatus_t

static int made;

STUB
cudnnCreate(cudnnHandle_t *handle)
{
	*handle = (cudnnHandle_t)(void *)&made;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- 1 image, 8 channels in and out, 4 x 4, 3 x 3 ----------------------- */

STUB
cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t descriptor, int asked,
    cudnnDataType_t *type, int *dims, int dim[], int stride[])
{
	(void)descriptor, (void)asked;
	*type = CUDNN_DATA_FLOAT;
	*dims = 4;
	dim[0] = 1, dim[1] = 8, dim[2] = dim[3] = 4;
	stride[0] = 128, stride[1] = 16, stride[2] = 4, stride[3] = 1;
	return CUDNN_STATUS_SUCCESS;
}

STUB
cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t descriptor, int asked,
    cudnnDataType_t *type, cudnnTensorFormat_t *format, int *dims, int dim[])
{
	(void)descriptor, (void)asked;
	*type = CUDNN_DATA_FLOAT;
	*format = CUDNN_TENSOR_NCHW;
	*dims = 4;
	dim[0] = dim[1] = 8, dim[2] = dim[3] = 3;
	return CUDNN_STATUS_SUCCESS;
}

STUB
cudnnGetConvolutionNdDescriptor(const cudnnConvolutionDescriptor_t descriptor,
    int asked, int *space, int pad[], int stride[], int dilation[],
    cudnnConvolutionMode_t *mode, cudnnDataType_t *type)
{
	(void)descriptor, (void)asked;
	*space = 2;
	for (int i = 0; i < 2; i++)
		pad[i] = stride[i] = dilation[i] = 1;
	*mode = CUDNN_CROSS_CORRELATION;
	*type = CUDNN_DATA_FLOAT;
	return CUDNN_STATUS_SUCCESS;
}

STUB
cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t descriptor,
    cudnnMathType_t *math)
{
	(void)descriptor;
	*math = CUDNN_DEFAULT_MATH;
	return CUDNN_STATUS_SUCCESS;
}

STUB
cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t descriptor,
    int *groups)
{
	(void)descriptor;
	*groups = 1;
	return CUDNN_STATUS_SUCCESS;
}

STUB
cudnnGetActivationDescriptor(const cudnnActivationDescriptor_t descriptor,
    cudnnActivationMode_t *mode, cudnnNanPropagation_t *nan, double *value)
{
	(void)descriptor;
	*mode = CUDNN_ACTIVATION_RELU;
	*nan = CUDNN_NOT_PROPAGATE_NAN;
	*value = 0;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- The calls ---------------------------------------------------------- */

#define ANSWER { return handle && x && w && y ? CUDNN_STATUS_SUCCESS \
    : CUDNN_STATUS_BAD_PARAM; }

STUB
cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t x_desc, const void *x,
    const cudnnFilterDescriptor_t w_desc, const void *w,
    const cudnnConvolutionDescriptor_t conv, cudnnConvolutionFwdAlgo_t algo,
    void *workspace, size_t bytes, const void *beta,
    const cudnnTensorDescriptor_t y_desc, void *y)
ANSWER

STUB
cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
    const cudnnFilterDescriptor_t w_desc, const void *w,
    const cudnnTensorDescriptor_t y_desc, const void *y,
    const cudnnConvolutionDescriptor_t conv,
    cudnnConvolutionBwdDataAlgo_t algo, void *workspace, size_t bytes,
    const void *beta, const cudnnTensorDescriptor_t x_desc, void *x)
ANSWER

STUB
cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t x_desc, const void *x,
    const cudnnTensorDescriptor_t y_desc, const void *y,
    const cudnnConvolutionDescriptor_t conv,
    cudnnConvolutionBwdFilterAlgo_t algo, void *workspace, size_t bytes,
    const void *beta, const cudnnFilterDescriptor_t w_desc, void *w)
ANSWER

STUB
cudnnConvolutionBiasActivationForward(cudnnHandle_t handle, const void *alpha,
    const cudnnTensorDescriptor_t x_desc, const void *x,
    const cudnnFilterDescriptor_t w_desc, const void *w,
    const cudnnConvolutionDescriptor_t conv, cudnnConvolutionFwdAlgo_t algo,
    void *workspace, size_t bytes, const void *alpha2,
    const cudnnTensorDescriptor_t z_desc, const void *z,
    const cudnnTensorDescriptor_t bias_desc, const void *bias,
    const cudnnActivationDescriptor_t activation,
    const cudnnTensorDescriptor_t y_desc, void *y)
ANSWER

/* ---- Graphs: descriptors without anything in them ------------------------ */

STUB
cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
    cudnnBackendDescriptor_t *descriptor)
{
	static char at[64][64];
	static unsigned next;

	/* Packs come and go, at the address that malloc() would give again. */
	*descriptor = type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR
	    ? (void *)at[0] : (void *)at[1 + next++ % 63];
	return CUDNN_STATUS_SUCCESS;
}

STUB
cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, const void *values)
{
	(void)descriptor, (void)name, (void)type, (void)count, (void)values;
	return CUDNN_STATUS_SUCCESS;
}

/* One TENSOR_CORE note; one of whatever else is asked for. */
STUB
cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t asked, int64_t *count, void *values)
{
	(void)descriptor, (void)name, (void)asked;
	*count = 1;
	if (type == CUDNN_TYPE_INT64)
		*(int64_t *)values = 0;
	else if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR)
		*(int32_t *)values = CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
	return CUDNN_STATUS_SUCCESS;
}

STUB
cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
	(void)descriptor;
	return CUDNN_STATUS_SUCCESS;
}

STUB
cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
	(void)descriptor;
	return CUDNN_STATUS_SUCCESS;
}

STUB
cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
    cudnnBackendDescriptor_t pack)
{
	return handle && plan && pack ? CUDNN_STATUS_SUCCESS
	    : CUDNN_STATUS_BAD_PARAM;
}

__attribute__((visibility("default"))) size_t
cudnnGetVersion(void)
{
	return CUDNN_VERSION;
}

__attribute__((visibility("default"))) void
cudnnGetLastErrorString(char *message, size_t most)
{
	if (most)
		*message = 0;
}
