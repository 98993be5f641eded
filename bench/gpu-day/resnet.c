/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/resnet.c -- every layer of ResNet-50, three operations, two
 * layouts, in every math type that cuDNN's older interface has: times, and
 * errors against FP64. Run with the library preloaded, `default` is ours. */
#include "resnet.h"

#include <stdio.h>
#include <string.h>

static const struct way {
	const char *name;
	cudnnMathType_t math;
} ways[] = {
	{ "default", CUDNN_DEFAULT_MATH },
	{ "fma", CUDNN_FMA_MATH },
	{ "conversion", CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION },
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

static void
measure_way(struct conv *c, const struct way *way, const char *label,
    const struct conv_reference *reference)
{
	char case_text[256], error[32] = "";
	struct gpu_timing t;
	struct old old;

	describe(c, way == ways && label ? label : way->name, case_text);
	old_make(c, way->math, &old);
	conv_poison(c);
	/* What is named may be refused as late as here. */
	if (!old_choose(&old) || old_run(&old)) {
		row("conv", "%s\tnote=not offered", case_text);
		old_free(&old);
		return;
	}
	t = gpu_time(old_call, &old);
	if (reference)
		snprintf(error, sizeof error, "\terror=%.4g",
		    conv_error(c, reference, NULL));
	row("conv", "%s\tmath=%d\talgorithm=%d\tworkspace=%zu\tmedian=%.6g\t"
	    "low=%.6g\thigh=%.6g\tsamples=%d\tcalls=%d\ttflops=%.5g%s",
	    case_text, (int)old.math, old.algorithm, old.workspace, t.median,
	    t.low, t.high, t.samples, t.calls,
	    1e-12 * conv_flop(c) / t.median, error);
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
	for (int i = 0; i < (options->all ? WAYS : 1); i++)
		measure_way(c, &ways[i], options->label,
		    options->errors ? &reference : NULL);
	conv_free(c);
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
