/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/probe.c -- what a convolution does at the limits of each math
 * type: values of 1e5, which FP16 does not hold (c1), beta=1 (c2), capture into
 * a graph (c3). Run with the library preloaded, `default` is ours. */
#include "resnet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Between those of FP32, 1e-7 or so, and of ten bits, 3e-4. */
static const double rounded = 2e-5, wrong = 1e-2;

struct probe {
	struct conv conv;
	struct old  old;
	struct conv_reference reference;
	char part[96];
};

static bool
probe_make(struct probe *p, const struct layer *l, enum conv_op op,
    enum gpu_data images, const struct way *way, const char *label)
{
	memset(p, 0, sizeof *p);
	p->conv = (struct conv){ .layer = *l, .op = op, .nhwc = true,
		.images = images };
	snprintf(p->part, sizeof p->part, "%s, %s", conv_ops[op],
	    way == ways && label ? label : way->name);
	conv_make(&p->conv, false);
	conv_reference(&p->conv, &p->reference);
	old_make(&p->conv, way->math, &p->old);
	return old_choose(&p->old);
}

static void
probe_free(struct probe *p)
{
	old_free(&p->old);
	conv_free(&p->conv);
}

static const char *
verdict(double error)
{
	return !isfinite(error) ? "FP16: inf or NaN" :
	    error > wrong ? "wrong" : error > rounded ? "finite, ten bits" :
	    "finite, FP32";
}

/* Calls enough for ours to have left its probation. */
static int
run(const struct probe *p)
{
	int status = 0;

	for (int i = 0; i <= gpu.warm && !status; i++)
		status = old_run(&p->old);
	return status;
}

static void
answer(const char *id, const struct probe *p, const struct gpu_pool *before,
    const char *note)
{
	const double error = conv_error(&p->conv, &p->reference, before);

	row_item(id, p->part, isfinite(error) ? error : -1, "error",
	    verdict(error), "algorithm %d, math type %d%s", p->old.algorithm,
	    (int)p->old.math, note);
}

static void
large(struct probe *p)
{
	const int status = run(p);

	if (status)
		row_item("c1", p->part, status, "status", "refused", "-");
	else
		answer("c1", p, NULL, "; -1: not finite");
}

/* One call: each adds to what the one before left. */
static void
added(struct probe *p)
{
	const enum conv_tensor t = conv_output(p->conv.op);
	const struct gpu_pool *before = gpu_pool_get(DATA_UNIT, 3);
	int status;

	p->old.beta = 1;
	for (int i = 0; i <= gpu.warm; i++) {
		gpu_free(p->conv.data[t][0]);
		p->conv.data[t][0] = gpu_fill(before, STORE_FP32,
		    p->conv.count[t]);
		status = old_run(&p->old);
		if (status) {
			row_item("c2", p->part, status, "status", "refused",
			    "-");
			return;
		}
	}
	answer("c2", p, before, "");
}

static uint64_t
bits_of(const struct conv *c)
{
	const enum conv_tensor t = conv_output(c->op);
	const size_t bytes = c->count[t] * sizeof(float);
	unsigned char *host = malloc(bytes);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	gpu_must(!host, "malloc");
	MUST(cudaStreamSynchronize(gpu.stream));
	MUST(cudaMemcpy(host, c->data[t][0], bytes, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ host[i]) * UINT64_C(0x100000001b3);
	free(host);
	return hash;
}

/* How the call fared, then the capture; the graph, or NULL. */
static cudaGraphExec_t
captured(const struct old *o, int *status_out)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;
	int ended;

	MUST(cudaStreamBeginCapture(gpu.stream,
	    cudaStreamCaptureModeThreadLocal));
	*status_out = old_run(o);
	ended = (int)cudaStreamEndCapture(gpu.stream, &graph);
	if (!*status_out)
		*status_out = ended;
	if (!*status_out)
		*status_out = (int)cudaGraphInstantiate(&exec, graph, 0);
	(void)cudaGetLastError();
	return *status_out ? NULL : exec;
}

static void
replayed(struct probe *p)
{
	uint64_t direct, replay;
	cudaGraphExec_t exec;
	int status = run(p);

	if (status) {
		row_item("c3", p->part, status, "status", "refused", "-");
		return;
	}
	direct = bits_of(&p->conv);
	exec = captured(&p->old, &status);
	if (!exec) {
		row_item("c3", p->part, status, "status", "cannot be captured",
		    "-");
		return;
	}
	conv_poison(&p->conv);
	MUST(cudaGraphLaunch(exec, gpu.stream));
	replay = bits_of(&p->conv);
	answer("c3", p, NULL, direct == replay ? "; the bits of a direct call" :
	    "; other bits than a direct call");
	MUST(cudaGraphExecDestroy(exec));
}

void
probe_measure(const char *label)
{
	static const struct {
		const char *id;
		enum gpu_data images;
		void (*ask)(struct probe *p);
	} questions[] = {
		{ "c1", DATA_LARGE, large },
		{ "c2", DATA_NORMAL, added },
		{ "c3", DATA_NORMAL, replayed },
	};
	const struct layer layer = gpu.quick ?
	    (struct layer){ 2, 32, 14, 32, 3, 1, 1 } :
	    (struct layer){ 32, 128, 28, 128, 3, 1, 1 };
	struct probe p;

	for (int q = 0; q < 3; q++)
		for (int op = 0; op < CONV_OPS; op++)
			for (int i = 0; i < (label ? 1 : WAYS); i++) {
				if (probe_make(&p, &layer, (enum conv_op)op,
				    questions[q].images, &ways[i], label))
					questions[q].ask(&p);
				else
					row_unanswered(questions[q].id, p.part,
					    "not offered");
				probe_free(&p);
			}
}
