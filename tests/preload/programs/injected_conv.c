/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/injected_conv.c -- one more kind of injected.c: a
 * 3 x 3 convolution by cuDNN's older interface. */
#include "injected.h"

#include <cudnn.h>

#include <math.h>

enum { C = 8, R = 3, H = 8, IMAGES = 2 };

static cudnnHandle_t handle;
static cudnnTensorDescriptor_t x, y;
static cudnnFilterDescriptor_t w;
static cudnnConvolutionDescriptor_t convolution;
static const cudnnConvolutionFwdAlgo_t algo =
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
static void *workspace;
static size_t bytes;

static void
open_dnn(cudaStream_t stream)
{
	NEED(cudnnCreate(&handle));
	NEED(cudnnSetStream(handle, stream));
	NEED(cudnnCreateTensorDescriptor(&x));
	NEED(cudnnCreateTensorDescriptor(&y));
	NEED(cudnnCreateFilterDescriptor(&w));
	NEED(cudnnCreateConvolutionDescriptor(&convolution));
	NEED(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
	    IMAGES, C, H, H));
	NEED(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
	    IMAGES, C, H, H));
	NEED(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW,
	    C, C, R, R));
	NEED(cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1,
	    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	NEED(cudnnGetConvolutionForwardWorkspaceSize(handle, x, w, convolution,
	    y, algo, &bytes));
	NEED(cudaMalloc(&workspace, bytes ? bytes : 1));
}

static int
run(float *a, float *b, float *c)
{
	const float none = 0;

	return (int)cudnnConvolutionForward(handle, &one, x, a, w, b,
	    convolution, algo, workspace, bytes, &none, y, c);
}

static double
result(const float *a, const float *b, size_t at, double *size)
{
	const int col = (int)(at % H), row = (int)(at / H % H);
	const size_t out = at / (H * H) % C, image = at / (C * H * H);
	double sum = 0;

	for (int i = 0; i < C * R * R; i++) {
		const int from_row = row + i / R % R - 1;
		const int from_col = col + i % R - 1, in = i / (R * R);
		double term;

		if (from_row < 0 || from_row >= H || from_col < 0
		    || from_col >= H)
			continue;
		term = (double)a[((image * C + (size_t)in) * H
		    + (size_t)from_row) * H + (size_t)from_col]
		    * b[out * C * R * R + (size_t)i];
		sum += term;
		*size += fabs(term);
	}
	return sum;
}

const struct kind *
injected_kind(void)
{
	static const struct kind kind = {
		"conv", C * R * R, IMAGES * C * H * H, C * C * R * R,
		IMAGES * C * H * H, 0, false, open_dnn, run, result
	};

	return &kind;
}
