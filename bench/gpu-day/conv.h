/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/conv.h -- convolutions by cuDNN, whose functions are looked up
 * at run time: it may be absent. NHWC; as many filters as `k`. */
#ifndef AC_BENCH_CONV_H
#define AC_BENCH_CONV_H

#include "gpu.h"

#include <cudnn.h>

#define CUDNN_FUNCTIONS(F) \
	F(cudnnCreate) F(cudnnSetStream) F(cudnnGetVersion) \
	F(cudnnCreateTensorDescriptor) F(cudnnSetTensor4dDescriptor) \
	F(cudnnCreateFilterDescriptor) F(cudnnSetFilter4dDescriptor) \
	F(cudnnCreateConvolutionDescriptor) \
	F(cudnnSetConvolution2dDescriptor) F(cudnnSetConvolutionMathType) \
	F(cudnnFindConvolutionForwardAlgorithm) F(cudnnConvolutionForward) \
	F(cudnnBackendCreateDescriptor) F(cudnnBackendDestroyDescriptor) \
	F(cudnnBackendSetAttribute) F(cudnnBackendGetAttribute) \
	F(cudnnBackendFinalize) F(cudnnBackendExecute)

struct dnn {
	cudnnHandle_t handle;
#define CUDNN_MEMBER(name) __typeof__(&name) name;
	CUDNN_FUNCTIONS(CUDNN_MEMBER)
};
extern struct dnn dnn;

enum { CONV_WORKSPACE = 512 << 20 };

struct layer {
	const char *name;
	int n, c, hw, k, rs;         /* padded so that the image keeps its size */
	void *x[2], *w[2];           /* as FP32, as FP16 */
	void *y, *workspace;
};

/* Seconds of the fastest of the first plans that the graph interface offers
 * for these types, FP32 computation; 0 if it offers none. */
double graph_seconds(const struct layer *layer, cudnnDataType_t in,
    cudnnDataType_t out);

#endif
