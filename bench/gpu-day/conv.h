/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/conv.h -- convolutions by cuDNN, whose functions are looked up
 * at run time: it may be absent. Square images and filters, padded by half of
 * the filter; packed tensors, NCHW or NHWC, the filter alike. */
#ifndef AC_BENCH_CONV_H
#define AC_BENCH_CONV_H

#include "gpu.h"

#include <cudnn.h>

#define CUDNN_FUNCTIONS(F) \
	F(cudnnCreate) F(cudnnSetStream) F(cudnnGetVersion) \
	F(cudnnCreateTensorDescriptor) F(cudnnDestroyTensorDescriptor) \
	F(cudnnSetTensor4dDescriptor) \
	F(cudnnCreateFilterDescriptor) F(cudnnDestroyFilterDescriptor) \
	F(cudnnSetFilter4dDescriptor) \
	F(cudnnCreateConvolutionDescriptor) \
	F(cudnnDestroyConvolutionDescriptor) \
	F(cudnnSetConvolution2dDescriptor) F(cudnnSetConvolutionMathType) \
	F(cudnnGetConvolutionForwardAlgorithm_v7) \
	F(cudnnGetConvolutionBackwardDataAlgorithm_v7) \
	F(cudnnGetConvolutionBackwardFilterAlgorithm_v7) \
	F(cudnnFindConvolutionForwardAlgorithm) F(cudnnConvolutionForward) \
	F(cudnnConvolutionBackwardData) F(cudnnConvolutionBackwardFilter) \
	F(cudnnBackendCreateDescriptor) F(cudnnBackendDestroyDescriptor) \
	F(cudnnBackendSetAttribute) F(cudnnBackendGetAttribute) \
	F(cudnnBackendFinalize) F(cudnnBackendExecute)

struct dnn {
	cudnnHandle_t handle;
#define CUDNN_MEMBER(name) __typeof__(&name) name;
	CUDNN_FUNCTIONS(CUDNN_MEMBER)
};
extern struct dnn dnn;

/* ---- What is convolved (layers.c) */
enum conv_tensor { CONV_X, CONV_W, CONV_Y, CONV_TENSORS };
enum conv_op { CONV_FPROP, CONV_DGRAD, CONV_WGRAD, CONV_OPS };
extern const char *const conv_ops[CONV_OPS];

struct layer {
	int n, c, hw, k, rs, stride;
	int times;                   /* in one pass through the network */
};
/* The distinct convolutions of ResNet-50, in its order, 224 x 224 in batches of
 * 32; with -q a few tiny ones of the same kinds. */
const struct layer *layers_get(int *count_out);

/* A convolution in device memory. */
struct conv {
	struct layer  layer;
	enum conv_op  op;
	bool          nhwc;
	enum gpu_data images;        /* of X, or of Y where that is read */
	size_t count[CONV_TENSORS];
	void  *data[CONV_TENSORS][2]; /* as FP32, as FP16 or NULL */
	void  *workspace;            /* CONV_WORKSPACE bytes; one for all */
};
enum { CONV_WORKSPACE = 512 << 20, CONV_TEXT = 64 };

/* Fill in `count`, and allocate: what is read holds random values, what is
 * written holds NaNs. `halves`: as FP16, too. */
void conv_make(struct conv *c, bool halves);
void conv_free(struct conv *c);
enum conv_tensor conv_output(enum conv_op op);
void conv_poison(const struct conv *c);
double conv_flop(const struct conv *c);
/* N, C, H, W of a tensor and their strides; of the filter K, C, R, S. */
void conv_layout(const struct conv *c, enum conv_tensor t, int size_out[4],
    size_t stride_out[4]);
/* "3x3/2 128-128 @56", and as the library's report has it. */
void conv_name(const struct layer *l, char text_out[CONV_TEXT]);
void conv_shape(const struct conv *c, char text_out[CONV_TEXT]);
int conv_y_side(const struct layer *l);

/* What the output should be in FP64, at places spread over it. */
enum conv_samples { CONV_SAMPLES = 256 };
struct conv_reference {
	int    count;
	size_t at[CONV_SAMPLES];
	double value[CONV_SAMPLES];
};
void conv_reference(const struct conv *c, struct conv_reference *out);
/* Relative, in the Frobenius norm of the samples; an inf or a NaN among them
 * gives infinity. `before`: what beta=1 adds to, or NULL. */
double conv_error(const struct conv *c, const struct conv_reference *r,
    const struct gpu_pool *before);

/* ---- The old interface: a math type per convolution (conv_old.c) */
struct old {
	const struct conv *conv;
	cudnnTensorDescriptor_t x, y;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t descriptor;
	cudnnMathType_t math;
	int    algorithm;
	size_t workspace;
	float  beta;
};
void old_make(const struct conv *c, cudnnMathType_t math, struct old *o);
void old_free(struct old *o);
/* The first algorithm that the heuristics name and the workspace suffices for:
 * the default's in whatever math they say, others in their own. False: none. */
bool old_choose(struct old *o);
int old_run(const struct old *o);  /* its status */
void old_call(void *old);          /* gpu_call: ends the program if it fails */

/* ---- The graph interface (graph.c) */
struct graph_plan {
	cudnnBackendDescriptor_t plan, pack;
	int64_t workspace;
};
/* The first plans, at most `room`, that the heuristics name for these types of
 * what is read and of what is written, that run. Returns how many. */
int graph_plans(const struct conv *c, cudnnDataType_t in, cudnnDataType_t out,
    int room, struct graph_plan *plans_out);
void graph_call(void *plan);       /* gpu_call: ends the program if it fails */
void graph_release(void);          /* all plans that there are */
/* Seconds of the fastest of the first plans; 0 if there are none. */
double graph_seconds(const struct conv *c, cudnnDataType_t in,
    cudnnDataType_t out);
/* cuDNN's properties of device 0, as JSON; NULL if it has none. malloc()ed. */
char *graph_device(void);

#endif
