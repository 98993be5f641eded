/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/conv_old.c -- one convolution by cuDNN's older interface, all
 * three operations, with the algorithm that its heuristics name first. */
#include "conv.h"

enum { RESULTS = 16 };

static cudnnTensorDescriptor_t
tensor(const struct conv *c, int channels, int side)
{
	cudnnTensorDescriptor_t d;

	MUST(dnn.cudnnCreateTensorDescriptor(&d));
	MUST(dnn.cudnnSetTensor4dDescriptor(d, c->nhwc ? CUDNN_TENSOR_NHWC :
	    CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, c->layer.n, channels, side,
	    side));
	return d;
}

void
old_make(const struct conv *c, cudnnMathType_t math, struct old *o)
{
	const struct layer *l = &c->layer;
	const int pad = l->rs / 2;

	*o = (struct old){ .conv = c, .math = math };
	o->x = tensor(c, l->c, l->hw);
	o->y = tensor(c, l->k, conv_y_side(l));
	MUST(dnn.cudnnCreateFilterDescriptor(&o->w));
	MUST(dnn.cudnnSetFilter4dDescriptor(o->w, CUDNN_DATA_FLOAT, c->nhwc ?
	    CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, l->k, l->c, l->rs, l->rs));
	MUST(dnn.cudnnCreateConvolutionDescriptor(&o->descriptor));
	MUST(dnn.cudnnSetConvolution2dDescriptor(o->descriptor, pad, pad,
	    l->stride, l->stride, 1, 1, CUDNN_CROSS_CORRELATION,
	    CUDNN_DATA_FLOAT));
	MUST(dnn.cudnnSetConvolutionMathType(o->descriptor, math));
}

void
old_free(struct old *o)
{
	MUST(dnn.cudnnDestroyTensorDescriptor(o->x));
	MUST(dnn.cudnnDestroyTensorDescriptor(o->y));
	MUST(dnn.cudnnDestroyFilterDescriptor(o->w));
	MUST(dnn.cudnnDestroyConvolutionDescriptor(o->descriptor));
}

/* Each operation's results have a type of their own. */
#define CHOOSE(o, function, type, a, b, c) do { \
	type results[RESULTS]; \
	int count = 0; \
	if (dnn.function(dnn.handle, (a), (b), (o)->descriptor, (c), RESULTS, \
	    &count, results)) \
		return false; \
	for (int i = 0; i < count; i++) { \
		if (results[i].status || results[i].memory > CONV_WORKSPACE || \
		    ((o)->math != CUDNN_DEFAULT_MATH && \
		    results[i].mathType != (o)->math)) \
			continue; \
		(o)->algorithm = (int)results[i].algo; \
		(o)->workspace = results[i].memory; \
		(o)->math = results[i].mathType; \
		return true; \
	} \
	return false; \
} while (0)

static bool
choose(struct old *o)
{
	switch (o->conv->op) {
	case CONV_FPROP:
		CHOOSE(o, cudnnGetConvolutionForwardAlgorithm_v7,
		    cudnnConvolutionFwdAlgoPerf_t, o->x, o->w, o->y);
	case CONV_DGRAD:
		CHOOSE(o, cudnnGetConvolutionBackwardDataAlgorithm_v7,
		    cudnnConvolutionBwdDataAlgoPerf_t, o->w, o->y, o->x);
	default:
		CHOOSE(o, cudnnGetConvolutionBackwardFilterAlgorithm_v7,
		    cudnnConvolutionBwdFilterAlgoPerf_t, o->x, o->y, o->w);
	}
}

bool
old_choose(struct old *o)
{
	if (!choose(o))
		return false;
	MUST(dnn.cudnnSetConvolutionMathType(o->descriptor, o->math));
	return true;
}

int
old_run(const struct old *o)
{
	void *const x = o->conv->data[CONV_X][0];
	void *const w = o->conv->data[CONV_W][0];
	void *const y = o->conv->data[CONV_Y][0];
	const float one = 1;

	switch (o->conv->op) {
	case CONV_FPROP:
		return (int)dnn.cudnnConvolutionForward(dnn.handle, &one, o->x,
		    x, o->w, w, o->descriptor,
		    (cudnnConvolutionFwdAlgo_t)o->algorithm, o->conv->workspace,
		    CONV_WORKSPACE, &o->beta, o->y, y);
	case CONV_DGRAD:
		return (int)dnn.cudnnConvolutionBackwardData(dnn.handle, &one,
		    o->w, w, o->y, y, o->descriptor,
		    (cudnnConvolutionBwdDataAlgo_t)o->algorithm,
		    o->conv->workspace, CONV_WORKSPACE, &o->beta, o->x, x);
	default:
		return (int)dnn.cudnnConvolutionBackwardFilter(dnn.handle, &one,
		    o->x, x, o->y, y, o->descriptor,
		    (cudnnConvolutionBwdFilterAlgo_t)o->algorithm,
		    o->conv->workspace, CONV_WORKSPACE, &o->beta, o->w, w);
	}
}

void
old_call(void *old)
{
	gpu_must(old_run(old), "a convolution of the older interface");
}
