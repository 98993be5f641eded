/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_conv.h -- descriptors of a convolution, and
 * running it with a workspace, for the tests of convolutions. */
#ifndef AC_TEST_EMU_CONV_H
#define AC_TEST_EMU_CONV_H

#include "test_emu.h"

#include <cudnn.h>

#include <math.h>

struct test_conv {
	cudnnTensorDescriptor_t x, y;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t conv;
};

static inline struct test_conv
test_conv_new(void)
{
	struct test_conv d;

	OK(cudnnCreateTensorDescriptor(&d.x));
	OK(cudnnCreateTensorDescriptor(&d.y));
	OK(cudnnCreateFilterDescriptor(&d.w));
	OK(cudnnCreateConvolutionDescriptor(&d.conv));
	return d;
}

static inline void
test_conv_drop(struct test_conv *d)
{
	OK(cudnnDestroyTensorDescriptor(d->x));
	OK(cudnnDestroyTensorDescriptor(d->y));
	OK(cudnnDestroyFilterDescriptor(d->w));
	OK(cudnnDestroyConvolutionDescriptor(d->conv));
}

/* FP32 without padding: 1 x c x size x size by k filters of 1 x 1. */
static inline void
test_conv_small(struct test_conv *d, int c, int k, int height, int width)
{
	OK(cudnnSetTensor4dDescriptor(d->x, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 1, c, height, width));
	OK(cudnnSetFilter4dDescriptor(d->w, CUDNN_DATA_FLOAT,
	    CUDNN_TENSOR_NCHW, k, c, 1, 1));
	OK(cudnnSetTensor4dDescriptor(d->y, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 1, k, height, width));
	OK(cudnnSetConvolution2dDescriptor(d->conv, 0, 0, 1, 1, 1, 1,
	    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
}

/* Algorithm 1 of every operation: 0 forward, 1 of data, 2 of the filter. */
static inline size_t
test_conv_workspace(cudnnHandle_t handle, const struct test_conv *d,
    int operation)
{
	size_t bytes = 0;

	if (operation == 0)
		OK(cudnnGetConvolutionForwardWorkspaceSize(handle, d->x, d->w,
		    d->conv, d->y, (cudnnConvolutionFwdAlgo_t)1, &bytes));
	else if (operation == 1)
		OK(cudnnGetConvolutionBackwardDataWorkspaceSize(handle, d->w,
		    d->y, d->conv, d->x, (cudnnConvolutionBwdDataAlgo_t)1,
		    &bytes));
	else
		OK(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle,
		    d->x, d->y, d->conv, d->w,
		    (cudnnConvolutionBwdFilterAlgo_t)1, &bytes));
	assert_true(bytes > 0);
	return bytes;
}

static inline cudnnStatus_t
test_conv_run_in(cudnnHandle_t handle, const struct test_conv *d,
    int operation, double alpha, void *x, void *w, double beta, void *y,
    void *workspace, size_t bytes)
{
	cudnnDataType_t type;
	int dims, dim[5], stride[5];
	const float single[] = { (float)alpha, (float)beta };
	const double wide[] = { alpha, beta };
	const void *a = &single[0], *b = &single[1];

	OK(cudnnGetTensorNdDescriptor(d->x, 5, &type, &dims, dim, stride));
	if (type == CUDNN_DATA_DOUBLE) {
		a = &wide[0];
		b = &wide[1];
	}
	if (operation == 0)
		return cudnnConvolutionForward(handle, a, d->x, x, d->w, w,
		    d->conv, (cudnnConvolutionFwdAlgo_t)1, workspace, bytes,
		    b, d->y, y);
	if (operation == 1)
		return cudnnConvolutionBackwardData(handle, a, d->w, w, d->y,
		    y, d->conv, (cudnnConvolutionBwdDataAlgo_t)1, workspace,
		    bytes, b, d->x, x);
	return cudnnConvolutionBackwardFilter(handle, a, d->x, x, d->y, y,
	    d->conv, (cudnnConvolutionBwdFilterAlgo_t)1, workspace, bytes, b,
	    d->w, w);
}

static inline cudnnStatus_t
test_conv_run(cudnnHandle_t handle, const struct test_conv *d, int operation,
    double alpha, void *x, void *w, double beta, void *y)
{
	const size_t bytes = test_conv_workspace(handle, d, operation);
	void *workspace = test_device(bytes);
	const cudnnStatus_t status = test_conv_run_in(handle, d, operation,
	    alpha, x, w, beta, y, workspace, bytes);

	OK(cudaFree(workspace));
	return status;
}

/* With bias and ReLU. */
static inline cudnnStatus_t
test_conv_fused(cudnnHandle_t handle, const struct test_conv *d, float alpha1,
    void *x, void *w, float alpha2, void *z, void *bias, void *y)
{
	const size_t bytes = test_conv_workspace(handle, d, 0);
	void *workspace = test_device(bytes);
	cudnnTensorDescriptor_t bias_desc;
	cudnnActivationDescriptor_t act;
	cudnnDataType_t type;
	cudnnStatus_t status;
	int dims, dim[5], stride[5];

	OK(cudnnCreateTensorDescriptor(&bias_desc));
	OK(cudnnCreateActivationDescriptor(&act));
	OK(cudnnGetTensorNdDescriptor(d->y, 5, &type, &dims, dim, stride));
	OK(cudnnSetTensor4dDescriptor(bias_desc, CUDNN_TENSOR_NCHW, type, 1,
	    dim[1], 1, 1));
	OK(cudnnSetActivationDescriptor(act, CUDNN_ACTIVATION_RELU,
	    CUDNN_NOT_PROPAGATE_NAN, 0));
	status = cudnnConvolutionBiasActivationForward(handle, &alpha1, d->x,
	    x, d->w, w, d->conv,
	    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, workspace,
	    bytes, &alpha2, d->y, z, bias_desc, bias, act, d->y, y);
	OK(cudaFree(workspace));
	OK(cudnnDestroyTensorDescriptor(bias_desc));
	OK(cudnnDestroyActivationDescriptor(act));
	return status;
}

/* ---- numbers of any type ------------------------------------------------ */

/* x to `bits` significant bits, ties to even, down to FP16's smallest number
 * for 11 bits; smaller ones do not occur. */
static inline double
test_nearest(double x, int bits)
{
	int exponent;
	double unit;

	if (x == 0 || bits >= 53)
		return x;
	frexp(x, &exponent);
	unit = ldexp(1, exponent - bits);
	return nearbyint(x / unit) * unit;
}

static inline size_t
test_width(cudnnDataType_t type)
{
	return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 :
	    2;
}

/* FP16, normal or zero, like the test's own numbers. */
static inline uint16_t
test_to_half(double x)
{
	int exponent;
	const double fraction = frexp(fabs(x), &exponent);
	const uint32_t sign = x < 0 ? 0x8000 : 0;

	if (exponent < -13)
		return (uint16_t)(sign | (uint32_t)nearbyint(ldexp(fabs(x),
		    24)));
	return (uint16_t)(sign + (uint32_t)((exponent + 14) << 10) +
	    (uint32_t)nearbyint(ldexp(fraction - 0.5, 11)));
}

static inline double
test_from_half(uint16_t x)
{
	const int exponent = x >> 10 & 31, mantissa = x & 1023;
	const double value = exponent == 31 ? (mantissa ? NAN : INFINITY) :
	    exponent ? ldexp(1024 + mantissa, exponent - 25) :
	    ldexp(mantissa, -24);

	return x & 0x8000 ? -value : value;
}

/* Device memory with these numbers; `values` is set to what is stored. */
static inline void *
test_put(double *values, size_t count, cudnnDataType_t type)
{
	const size_t width = test_width(type);
	char *stored = malloc(count * width);
	void *device;

	for (size_t i = 0; i < count; i++) {
		const float single = (float)test_nearest(values[i],
		    type == CUDNN_DATA_BFLOAT16 ? 8 : 24);
		const uint16_t half = test_to_half(values[i]);

		if (type == CUDNN_DATA_DOUBLE) {
			memcpy(stored + i * width, &values[i], width);
		} else if (type == CUDNN_DATA_FLOAT) {
			memcpy(stored + i * width, &single, width);
			values[i] = (double)single;
		} else if (type == CUDNN_DATA_HALF) {
			memcpy(stored + i * width, &half, width);
			values[i] = test_from_half(half);
		} else { /* the upper half, on a little-endian machine */
			memcpy(stored + i * width,
			    (const char *)&single + 2, width);
			values[i] = (double)single;
		}
	}
	device = test_upload(stored, count * width);
	free(stored);
	return device;
}

/* The caller's to free. */
static inline double *
test_get(void *device, size_t count, cudnnDataType_t type)
{
	const size_t width = test_width(type);
	char *stored = malloc(count * width);
	double *values = malloc(count * sizeof *values);

	OK(cudaMemcpy(stored, device, count * width, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < count; i++) {
		const char *from = stored + i * width;
		float single = 0;
		uint16_t half;

		if (type == CUDNN_DATA_DOUBLE) {
			memcpy(&values[i], from, width);
		} else if (type == CUDNN_DATA_HALF) {
			memcpy(&half, from, width);
			values[i] = test_from_half(half);
		} else {
			memcpy((char *)&single + 4 - width, from, width);
			values[i] = (double)single;
		}
	}
	free(stored);
	return values;
}

#endif
