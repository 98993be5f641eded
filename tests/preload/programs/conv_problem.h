/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/conv_problem.h -- one convolution of cuDNN's older
 * interface, as the words WORD=VALUE say. A call that fails ends the
 * program. */
#ifndef TESTS_PRELOAD_PROGRAMS_CONV_PROBLEM_H
#define TESTS_PRELOAD_PROGRAMS_CONV_PROBLEM_H

#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) must((int)(call), #call)

static struct { const char *word; double value; } words[] = {
	{ "op", 0 },        /* 0 forward, 1 data, 2 filter, 3 fused */
	{ "n", 2 }, { "c", 32 }, { "k", 32 }, { "h", 14 }, { "r", 3 },
	{ "pad", 1 }, { "stride", 1 }, { "dilation", 1 }, { "groups", 1 },
	{ "nhwc", 0 }, { "space", 2 }, { "flip", 0 },
	{ "alpha", 1 }, { "beta", 0 }, { "math", 0 }, { "scale", 1 },
	{ "calls", 4 }, { "workspace", 1 }, { "alias", 0 }, { "relu", 1 },
	{ "handles", 1 },   /* one after the other */
	{ "threads", 1 }, { "offset", 0 },
	{ "capture", 0 },   /* 1: once more, into a graph; 2: another one */
	{ "shared", 0 },    /* one handle and one output, under a lock */
	{ "streams", 1 },   /* of one handle, each with an output of its own */
	{ "meanwhile", 0 },    /* in a thread, while this one records a graph */
	{ "before", 0 },    /* what was in the output is printed first */
	{ "fork", 0 },      /* 1: before the first call; 2: after the last; 3:
	                     * the child calls once more, and prints that */
	{ "algo", 1 },      /* of cuDNN; 0 needs no workspace */
	{ "small", 0 },     /* z is said to be a bias */
	{ "bytes", 0 },     /* of workspace: so often asked for, and printed */
	{ "leave", 0 },     /* so many calls are on their way at the end */
	{ "rise", 0 },      /* of alpha, from call to call */
	{ "warm", 0 },      /* the first three calls have data of their own */
	{ "crooked", 0 },   /* bytes from its memory to the workspace */
	{ "cancel", 0 },    /* forward: terms cancel to this part of them */
	{ "dump", 0 },      /* the last output is printed */
	{ "took", 0 },      /* only what all calls take is printed, in us */
};
enum { WORDS = sizeof words / sizeof *words };
#define FORWARD_ALGO (cudnnConvolutionFwdAlgo_t)whole("algo")
#define DATA_ALGO (cudnnConvolutionBwdDataAlgo_t)whole("algo")
#define FILTER_ALGO (cudnnConvolutionBwdFilterAlgo_t)whole("algo")

static inline double *
find(const char *name)
{
	for (int i = 0; i < WORDS; i++)
		if (!strcmp(words[i].word, name))
			return &words[i].value;
	abort();
}

static inline double
word(const char *name)
{
	return *find(name);
}

static inline int
whole(const char *name)
{
	return (int)word(name);
}

/* The words of a command line; 0: one of them is none. */
static inline int
parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *is = strchr(argv[i], '=');
		int at = 0;

		while (at < WORDS && is && (strncmp(words[at].word, argv[i],
		    (size_t)(is - argv[i])) || words[at].word[is - argv[i]]))
			at++;
		if (!is || at == WORDS)
			return 0;
		words[at].value = atof(is + 1);
	}
	return 1;
}

static inline void
must(int status, const char *call)
{
	if (status) {
		printf("%s: %d\n", call, status);
		exit(1);
	}
}

struct buffer {
	float *device, *host;
	size_t count;
};

static inline struct buffer
buffer(size_t count, float scale, unsigned seed)
{
	const size_t offset = (size_t)whole("offset");
	struct buffer b = { NULL, malloc(count * sizeof(float)), count };

	for (size_t i = 0; i < count; i++) {
		seed = seed * 1664525 + 1013904223;
		b.host[i] = scale * ((float)(seed >> 8) / (1 << 24) - 0.5f);
	}
	MUST(cudaMalloc((void **)&b.device, (count + offset) * sizeof(float)));
	b.device += offset;
	MUST(cudaMemcpy(b.device, b.host, count * sizeof(float),
	    cudaMemcpyHostToDevice));
	return b;
}

/* Of what hash() fetched. */
static inline void
print_sums(const struct buffer *b)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < b->count; i++) {
		const double term = (double)(i % 7 + 1) * (double)b->host[i];

		sum += term;
		squares += term * term;
	}
	printf(" %.9g %.9g\n", sum, sqrt(squares));
}

static inline uint64_t
hash(struct buffer *b)
{
	uint64_t h = 1469598103934665603u;

	MUST(cudaMemcpy(b->host, b->device, b->count * sizeof(float),
	    cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < b->count; i++) {
		uint32_t bits;

		memcpy(&bits, &b->host[i], sizeof bits);
		h = (h ^ bits) * 1099511628211u;
	}
	return h;
}

/* ---- One problem ------------------------------------------------------- */

struct problem {
	cudnnTensorDescriptor_t x, y, bias_desc;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t conv;
	cudnnActivationDescriptor_t activation;
	struct buffer xs, ws, ys, zs, bias;
	void *workspace;
	size_t bytes;
	int y_dim[5];
	float alpha;
};

static inline void
tensor(cudnnTensorDescriptor_t *descriptor, const int *dim, size_t *count_out)
{
	MUST(cudnnCreateTensorDescriptor(descriptor));
	MUST(cudnnSetTensorNdDescriptorEx(*descriptor, word("nhwc")
	    ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
	    whole("space") + 2, dim));
	*count_out = 1;
	for (int i = 0; i < whole("space") + 2; i++)
		*count_out *= (size_t)dim[i];
}

static inline void
describe_convolution(struct problem *p)
{
	int pad[3], stride[3], dilation[3];

	for (int i = 0; i < 3; i++) {
		pad[i] = whole("pad");
		stride[i] = whole("stride");
		dilation[i] = whole("dilation");
	}
	MUST(cudnnSetConvolutionNdDescriptor(p->conv, whole("space"), pad,
	    stride, dilation, word("flip") ? CUDNN_CONVOLUTION
	    : CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	MUST(cudnnSetConvolutionGroupCount(p->conv, whole("groups")));
	MUST(cudnnSetConvolutionMathType(p->conv,
	    (cudnnMathType_t)whole("math")));
}

static inline void
describe(struct problem *p, size_t count[3])
{
	const int h = whole("h"), r = whole("r"), c = whole("c");
	const int x[5] = { whole("n"), c, h, h, h };
	const int w[5] = { whole("k"), c / whole("groups"), r, r, r };
	const int one[5] = { 1, whole("k"), 1, 1, 1 };
	const int space = whole("space");
	size_t unused;

	MUST(cudnnCreateFilterDescriptor(&p->w));
	MUST(cudnnCreateConvolutionDescriptor(&p->conv));
	MUST(cudnnCreateActivationDescriptor(&p->activation));
	tensor(&p->x, x, &count[0]);
	tensor(&p->bias_desc, one, &unused);
	MUST(cudnnSetFilterNdDescriptor(p->w, CUDNN_DATA_FLOAT, word("nhwc")
	    ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, space + 2, w));
	describe_convolution(p);
	MUST(cudnnSetActivationDescriptor(p->activation, word("relu")
	    ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY,
	    CUDNN_PROPAGATE_NAN, 0));
	MUST(cudnnGetConvolutionNdForwardOutputDim(p->conv, p->x, p->w,
	    space + 2, p->y_dim));
	tensor(&p->y, p->y_dim, &count[2]);
	count[1] = (size_t)w[0] * (size_t)w[1];
	for (int i = 0; i < space; i++)
		count[1] *= (size_t)r;
}

/* Pairs of channels that are nearly equal, by filters that take one of them
 * from the other. */
static inline void
cancel(struct problem *p)
{
	const size_t channels = (size_t)(whole("c") / whole("groups"));
	const size_t taps = p->ws.count / ((size_t)whole("k") * channels);

	for (size_t i = 0; i < p->xs.count; i++)
		p->xs.host[i] = 1 + (float)word("cancel") * p->xs.host[i];
	for (size_t i = 0; i < p->ws.count; i++)
		if (i / taps % channels % 2)
			p->ws.host[i] = -p->ws.host[i - taps];
	MUST(cudaMemcpy(p->xs.device, p->xs.host, p->xs.count * sizeof(float),
	    cudaMemcpyHostToDevice));
	MUST(cudaMemcpy(p->ws.device, p->ws.host, p->ws.count * sizeof(float),
	    cudaMemcpyHostToDevice));
}

static inline cudnnStatus_t
ask(struct problem *p, cudnnHandle_t handle)
{
	if (whole("op") == 1)
		return cudnnGetConvolutionBackwardDataWorkspaceSize(handle,
		    p->w, p->y, p->conv, p->x, DATA_ALGO, &p->bytes);
	if (whole("op") == 2)
		return cudnnGetConvolutionBackwardFilterWorkspaceSize(handle,
		    p->x, p->y, p->conv, p->w, FILTER_ALGO, &p->bytes);
	return cudnnGetConvolutionForwardWorkspaceSize(handle, p->x,
		    p->w, p->conv, p->y, FORWARD_ALGO, &p->bytes);
}

static inline void
make(struct problem *p, cudnnHandle_t handle)
{
	const float scale = (float)word("scale");
	cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
	size_t count[3];

	describe(p, count);
	p->xs = buffer(count[0], scale, 1);
	p->ws = buffer(count[1], 1, 2);
	p->ys = buffer(count[2], scale, 3);
	p->zs = buffer(count[2], scale, 4);
	p->bias = buffer((size_t)whole("k"), 1, 5);
	if (word("cancel"))
		cancel(p);
	for (int i = 0; i < 1 || i < whole("bytes"); i++)
		status = ask(p, handle);
	/* Whoever tries an algorithm that there is not brings enough. */
	if (status)
		p->bytes = 1 << 24;
	if (word("bytes"))
		printf("%zu bytes\n", p->bytes);
	if (word("workspace") > 1)
		p->bytes = (size_t)word("workspace");
	p->alpha = (float)word("alpha");
	MUST(cudaMalloc(&p->workspace, p->bytes + 1 + (size_t)word("crooked")));
	p->workspace = (char *)p->workspace + (size_t)word("crooked");
}

static inline struct buffer *
output(struct problem *p)
{
	return whole("op") == 1 ? &p->xs : whole("op") == 2 ? &p->ws : &p->ys;
}

/* What moves under the filter, times a power of two; not to be fetched
 * before. */
static inline void
scale_input(struct problem *p, float factor)
{
	struct buffer *b = whole("op") == 1 ? &p->ys : &p->xs;

	for (size_t i = 0; i < b->count; i++)
		b->host[i] *= factor;
	MUST(cudaMemcpy(b->device, b->host, b->count * sizeof(float),
	    cudaMemcpyHostToDevice));
}

static inline cudnnStatus_t
convolve(const struct problem *p, cudnnHandle_t handle)
{
	const float alpha = p->alpha, beta = (float)word("beta");

	switch (whole("op")) {
	case 1:
		return cudnnConvolutionBackwardData(handle, &alpha, p->w,
		    p->ws.device, p->y, p->ys.device, p->conv, DATA_ALGO,
		    p->workspace, p->bytes, &beta, p->x, p->xs.device);
	case 2:
		return cudnnConvolutionBackwardFilter(handle, &alpha, p->x,
		    p->xs.device, p->y, p->ys.device, p->conv, FILTER_ALGO,
		    p->workspace, p->bytes, &beta, p->w, p->ws.device);
	case 3:
		return cudnnConvolutionBiasActivationForward(handle, &alpha,
		    p->x, p->xs.device, p->w, p->ws.device, p->conv,
		    FORWARD_ALGO, p->workspace, p->bytes, &beta,
		    word("small") ? p->bias_desc : p->y,
		    word("alias") ? p->ys.device : p->zs.device, p->bias_desc,
		    p->bias.device, p->activation, p->y, p->ys.device);
	default:
		return cudnnConvolutionForward(handle, &alpha, p->x,
		    p->xs.device, p->w, p->ws.device, p->conv, FORWARD_ALGO,
		    p->workspace, p->bytes, &beta, p->y, word("alias")
		    ? p->xs.device : p->ys.device);
	}
}

#endif
