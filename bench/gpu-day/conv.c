/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/conv.c -- forward convolutions by cuDNN: is ALLOW_CONVERSION
 * faster than TF32 (a5), and does FP16 in, FP32 out run at full speed (n7)? */
#include "conv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct dnn dnn;

static struct layer layers[] = {
	{ .name = "3x3 256-256 @14", .n = 256, .c = 256, .hw = 14, .k = 256,
	  .rs = 3 },
	{ .name = "3x3 64-64 @56", .n = 256, .c = 64, .hw = 56, .k = 64,
	  .rs = 3 },
	{ .name = "1x1 256-1024 @14", .n = 256, .c = 256, .hw = 14, .k = 1024,
	  .rs = 1 },
	{ .name = "1x1 1024-256 @14", .n = 256, .c = 1024, .hw = 14, .k = 256,
	  .rs = 1 },
};
enum { LAYERS = sizeof layers / sizeof *layers, RESULTS = 16 };

/* Why not, or NULL. */
static const char *
look_up(void)
{
	char soname[32];
	void *library, *found;

	if (dlsym(RTLD_DEFAULT, "emuTwinRegister"))
		return "the emulated GPU has no cuDNN";
	snprintf(soname, sizeof soname, "libcudnn.so.%d", CUDNN_MAJOR);
	library = dlopen(soname, RTLD_NOW);
	if (!library)
		return "no cuDNN";
#define LOOK_UP(name) \
	if (!(found = dlsym(library, #name))) \
		return "libcudnn lacks " #name; \
	memcpy(&dnn.name, &found, sizeof found);
	CUDNN_FUNCTIONS(LOOK_UP)
	return NULL;
}

static void
layer_make(struct layer *l)
{
	const size_t x = (size_t)l->n * (size_t)(l->c * l->hw * l->hw);
	const size_t w = (size_t)l->k * (size_t)(l->c * l->rs * l->rs);
	const size_t y = (size_t)l->n * (size_t)(l->k * l->hw * l->hw);

	for (int half = 0; half < 2; half++) {
		const enum gpu_store store = half ? STORE_FP16 : STORE_FP32;

		l->x[half] = gpu_fill(gpu_pool_get(DATA_NORMAL, 0), store, x);
		l->w[half] = gpu_fill(gpu_pool_get(DATA_NORMAL, 1), store, w);
	}
	l->y = gpu_alloc(y * sizeof(float));
	l->workspace = gpu_alloc(CONV_WORKSPACE);
}

static void
layer_free(struct layer *l)
{
	for (int half = 0; half < 2; half++) {
		gpu_free(l->x[half]);
		gpu_free(l->w[half]);
	}
	gpu_free(l->y);
	gpu_free(l->workspace);
}

/* ---- The old interface: a math type per convolution */

struct old {
	const struct layer *layer;
	cudnnTensorDescriptor_t x, y;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t conv;
	cudnnConvolutionFwdAlgo_t algo;
};

static void
call(void *context)
{
	const struct old *o = context;
	const float one = 1, zero = 0;

	MUST(dnn.cudnnConvolutionForward(dnn.handle, &one, o->x,
	    o->layer->x[0], o->w, o->layer->w[0], o->conv, o->algo,
	    o->layer->workspace, CONV_WORKSPACE, &zero, o->y, o->layer->y));
}

static void
old_make(const struct layer *l, cudnnMathType_t math, struct old *o)
{
	o->layer = l;
	MUST(dnn.cudnnCreateTensorDescriptor(&o->x));
	MUST(dnn.cudnnSetTensor4dDescriptor(o->x, CUDNN_TENSOR_NHWC,
	    CUDNN_DATA_FLOAT, l->n, l->c, l->hw, l->hw));
	MUST(dnn.cudnnCreateTensorDescriptor(&o->y));
	MUST(dnn.cudnnSetTensor4dDescriptor(o->y, CUDNN_TENSOR_NHWC,
	    CUDNN_DATA_FLOAT, l->n, l->k, l->hw, l->hw));
	MUST(dnn.cudnnCreateFilterDescriptor(&o->w));
	MUST(dnn.cudnnSetFilter4dDescriptor(o->w, CUDNN_DATA_FLOAT,
	    CUDNN_TENSOR_NHWC, l->k, l->c, l->rs, l->rs));
	MUST(dnn.cudnnCreateConvolutionDescriptor(&o->conv));
	MUST(dnn.cudnnSetConvolution2dDescriptor(o->conv, l->rs / 2,
	    l->rs / 2, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
	    CUDNN_DATA_FLOAT));
	MUST(dnn.cudnnSetConvolutionMathType(o->conv, math));
}

/* The fastest algorithm that does run in this math type; 0: there is none. */
static double
old_seconds(const struct layer *l, cudnnMathType_t math)
{
	cudnnConvolutionFwdAlgoPerf_t results[RESULTS];
	struct old old;
	int count = 0;

	old_make(l, math, &old);
	if (dnn.cudnnFindConvolutionForwardAlgorithm(dnn.handle, old.x, old.w,
	    old.conv, old.y, RESULTS, &count, results))
		return 0;
	for (int i = 0; i < count; i++) {
		if (results[i].status || results[i].memory > CONV_WORKSPACE ||
		    results[i].mathType != math)
			continue;
		old.algo = results[i].algo;
		return gpu_time(call, &old).median;
	}
	return 0;
}

static void
say(const char *id, const struct layer *l, const char *what, double seconds,
    double other, const char *verdict)
{
	char part[96];

	snprintf(part, sizeof part, "%s, %s", l->name, what);
	if (seconds > 0)
		row_item(id, part, seconds, "s", verdict, "%.4g of TF32's time",
		    seconds / other);
	else
		row_unanswered(id, part, "not offered");
}

static void
measure(struct layer *l)
{
	double fp32, tf32, conversion, wide, narrow;

	layer_make(l);
	fp32 = old_seconds(l, CUDNN_FMA_MATH);
	tf32 = old_seconds(l, CUDNN_DEFAULT_MATH);
	conversion = old_seconds(l, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION);
	say("a5", l, "FP32", fp32, tf32, "-");
	say("a5", l, "TF32", tf32, tf32, "-");
	say("a5", l, "ALLOW_CONVERSION", conversion, tf32,
	    conversion < 0.97 * tf32 ? "faster than TF32" :
	    "not faster than TF32");
	wide = graph_seconds(l, CUDNN_DATA_HALF, CUDNN_DATA_FLOAT);
	narrow = graph_seconds(l, CUDNN_DATA_HALF, CUDNN_DATA_HALF);
	say("n7", l, "graph, FP32", graph_seconds(l, CUDNN_DATA_FLOAT,
	    CUDNN_DATA_FLOAT), tf32, "-");
	say("n7", l, "graph, FP16 in and out", narrow, tf32, "-");
	say("n7", l, "graph, FP16 in, FP32 out", wide, tf32,
	    !(narrow > 0) ? "-" : wide < 1.25 * narrow ? "full speed" :
	    "slower than FP16 out");
	layer_free(l);
}

static void
take(int option, const char *value)
{
	(void)option, (void)value;
}

int
main(int argc, char **argv)
{
	const char *missing;

	(void)gpu_start(argc, argv, "", take);
	missing = look_up();
	if (missing) {
		row_unanswered("n7", "-", missing);
		row_unanswered("a5", "-", missing);
		return 0;
	}
	MUST(dnn.cudnnCreate(&dnn.handle));
	MUST(dnn.cudnnSetStream(dnn.handle, gpu.stream));
	row("library", "name=cuDNN\tversion=%zu", dnn.cudnnGetVersion());
	for (int i = 0; i < LAYERS; i++)
		if (!gpu_is_late())
			measure(&layers[i]);
	return 0;
}
