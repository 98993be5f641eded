/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/steps_conv.c -- the door to cuDNN: a 3 x 3 convolution
 * of 32 channels by its older interface. */
#include "steps.h"

#include <cudnn.h>

enum { C = 32, R = 3, H = 12, N = 2 };
#define DNN(call) client_check((int)(call), "cuDNN", #call)

static cudnnHandle_t handle;
static cudnnTensorDescriptor_t x, y;
static cudnnFilterDescriptor_t w;
static cudnnConvolutionDescriptor_t convolution;
static void *workspace;
static size_t bytes;

static void
follow(cudaStream_t stream)
{
	DNN(cudnnSetStream(handle, stream));
}

static void
open_dnn(cudaStream_t stream)
{
	DNN(cudnnCreate(&handle));
	follow(stream);
	DNN(cudnnCreateTensorDescriptor(&x));
	DNN(cudnnCreateTensorDescriptor(&y));
	DNN(cudnnCreateFilterDescriptor(&w));
	DNN(cudnnCreateConvolutionDescriptor(&convolution));
	DNN(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
	    N, C, H, H));
	DNN(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
	    N, C, H, H));
	DNN(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW,
	    C, C, R, R));
	DNN(cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1,
	    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	DNN(cudnnGetConvolutionForwardWorkspaceSize(handle, x, w, convolution,
	    y, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, &bytes));
	CUDA(cudaMalloc(&workspace, bytes ? bytes : 1));
}

static void
run(const struct layer *layer)
{
	DNN(cudnnConvolutionForward(handle, &one, x, layer->a, w, layer->b,
	    convolution, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
	    workspace, bytes, &zero, y, layer->c));
}

/* The second half of the channels repeats the first, with filters that take
 * nearly all of it away again. */
static void
cancel(float *a, float *b)
{
	enum { HALF_X = C / 2 * H * H, HALF_W = C / 2 * R * R };

	for (int i = 0; i < N; i++)
		for (int j = 0; j < HALF_X; j++)
			a[(2 * i + 1) * HALF_X + j] = a[2 * i * HALF_X + j];
	for (int k = 0; k < C; k++)
		for (int j = 0; j < HALF_W; j++)
			b[(2 * k + 1) * HALF_W + j] = 1e-4f
			    * b[(2 * k + 1) * HALF_W + j]
			    - b[2 * k * HALF_W + j];
}

const struct door *
steps_door(void)
{
	static const struct door door = {
		"conv", N * C * H * H, C * C * R * R, N * C * H * H, 200,
		open_dnn, follow, run, cancel
	};

	return &door;
}
