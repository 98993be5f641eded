/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/resnet.c -- every layer of ResNet-50, three operations, two
 * layouts, in every math type that cuDNN's older interface has, and by the
 * first plan of the graph interface: times, and errors against FP64. Run with
 * the library preloaded, `default` and `graph` are ours. */
#include "resnet.h"

#include <stdio.h>
#include <string.h>

static const struct way {
	const char *name;
	enum resnet_ways set;
	bool by_graph;
	cudnnMathType_t math;
} ways[] = {
	{ "default", WAYS_DEFAULT, false, CUDNN_DEFAULT_MATH },
	{ "fma", WAYS_MATH, false, CUDNN_FMA_MATH },
	{ "conversion", WAYS_MATH, false,
	  CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION },
	{ "graph", WAYS_GRAPH, true, CUDNN_DEFAULT_MATH },
};
enum { WAYS = sizeof ways / sizeof *ways };

/* The fields that tell rows apart. */
static void
describe(const struct conv *c, const char *way, char text_out[256])
{
	const struct layer *l = &c->layer;
	char name[CONV_TEXT], shape[CONV_TEXT];

	conv_name(l, name);
	conv_shape(c, shape);
	snprintf(text_out, 256, "case=%s\top=%s\tlayout=%s\tway=%s\tshape=%s\t"
	    "times=%d", name, conv_ops[c->op], c->nhwc ? "nhwc" : "nchw", way,
	    shape, l->times);
}

/* What is timed, and what there is to say of it. */
struct timed {
	gpu_call call;
	void    *context;
	char     text[96];
};

static bool
prepare_old(const struct conv *c, cudnnMathType_t math, struct old *old,
    struct timed *t)
{
	old_make(c, math, old);
	/* What is named may be refused as late as in its first call. */
	if (!old_choose(old) || old_run(old))
		return false;
	t->call = old_call;
	t->context = old;
	snprintf(t->text, sizeof t->text, "math=%d\talgorithm=%d\t"
	    "workspace=%zu", (int)old->math, old->algorithm, old->workspace);
	return true;
}

static bool
prepare_graph(const struct conv *c, struct graph_plan *plan, struct timed *t)
{
	if (!graph_plans(c, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, 1, plan))
		return false;
	t->call = graph_call;
	t->context = plan;
	snprintf(t->text, sizeof t->text, "workspace=%lld",
	    (long long)plan->workspace);
	return true;
}

static void
measure_way(const struct conv *c, const struct way *way, const char *label,
    const struct conv_reference *reference)
{
	char name[64], case_text[256], error[32] = "";
	struct gpu_timing t;
	struct graph_plan plan;
	struct timed timed;
	struct old old;
	bool offered;

	snprintf(name, sizeof name, "%s%s%s", way == ways && label ? "" :
	    way->name, way != ways && label ? "-" : "", label ? label : "");
	describe(c, name, case_text);
	conv_poison(c);
	offered = way->by_graph ? prepare_graph(c, &plan, &timed) :
	    prepare_old(c, way->math, &old, &timed);
	if (offered) {
		t = gpu_time(timed.call, timed.context);
		if (reference)
			snprintf(error, sizeof error, "\terror=%.4g",
			    conv_error(c, reference, NULL));
		row("conv", "%s\t%s\tmedian=%.6g\tlow=%.6g\thigh=%.6g\t"
		    "samples=%d\tcalls=%d\ttflops=%.5g%s", case_text,
		    timed.text, t.median, t.low, t.high, t.samples, t.calls,
		    1e-12 * conv_flop(c) / t.median, error);
	} else {
		row("conv", "%s\tnote=not offered", case_text);
	}
	if (way->by_graph)
		graph_release();
	else
		old_free(&old);
}

static void
measure(struct conv *c, const struct resnet_options *options)
{
	struct conv_reference reference;
	char case_text[256];

	if (gpu_is_late()) {
		describe(c, options->label ? options->label : "default",
		    case_text);
		row("left_out", "%s\tnote=out of time", case_text);
		return;
	}
	conv_make(c, false);
	if (options->errors)
		conv_reference(c, &reference);
	for (int i = 0; i < WAYS; i++)
		if (ways[i].set & (options->ways | WAYS_DEFAULT))
			measure_way(c, &ways[i], options->label,
			    options->errors ? &reference : NULL);
	conv_free(c);
}

void
resnet_list(void)
{
	int count;
	const struct layer *layers = layers_get(&count);

	for (int i = 0; i < count; i++) {
		const struct conv c = { .layer = layers[i] };
		const struct layer *l = &layers[i];
		char name[CONV_TEXT];

		conv_name(l, name);
		row("layer", "case=%s\ttimes=%d\tweights=%d\tproducts=%.0f",
		    name, l->times, l->k * l->c * l->rs * l->rs,
		    conv_flop(&c) / 2 / l->n);
	}
}

void
resnet_measure(const struct resnet_options *options)
{
	int count;
	const struct layer *layers = layers_get(&count);

	row("layers", "count=%d", count);
	for (int i = 0; i < count; i++)
		for (int op = 0; op < CONV_OPS; op++)
			for (int nhwc = 0; nhwc < 2; nhwc++) {
				struct conv c = { .layer = layers[i],
					.op = (enum conv_op)op, .nhwc = nhwc };

				measure(&c, options);
			}
}
