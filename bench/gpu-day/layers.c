/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/layers.c -- the convolutions of ResNet-50: their sizes, their
 * operands, and what they should give in FP64. Calls no cuDNN. */
#include "conv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const conv_ops[] = { "fprop", "dgrad", "wgrad" };

/* Version 1.5, as everybody trains it: 3x3 filters have the strides. */
static const struct layer resnet[] = {
	{ 32,    3, 224,   64, 7, 2, 1 },
	{ 32,   64,  56,   64, 1, 1, 1 },
	{ 32,   64,  56,   64, 3, 1, 3 },
	{ 32,   64,  56,  256, 1, 1, 4 },
	{ 32,  256,  56,   64, 1, 1, 2 },
	{ 32,  256,  56,  128, 1, 1, 1 },
	{ 32,  128,  56,  128, 3, 2, 1 },
	{ 32,  128,  28,  512, 1, 1, 4 },
	{ 32,  256,  56,  512, 1, 2, 1 },
	{ 32,  512,  28,  128, 1, 1, 3 },
	{ 32,  128,  28,  128, 3, 1, 3 },
	{ 32,  512,  28,  256, 1, 1, 1 },
	{ 32,  256,  28,  256, 3, 2, 1 },
	{ 32,  256,  14, 1024, 1, 1, 6 },
	{ 32,  512,  28, 1024, 1, 2, 1 },
	{ 32, 1024,  14,  256, 1, 1, 5 },
	{ 32,  256,  14,  256, 3, 1, 5 },
	{ 32, 1024,  14,  512, 1, 1, 1 },
	{ 32,  512,  14,  512, 3, 2, 1 },
	{ 32,  512,   7, 2048, 1, 1, 3 },
	{ 32, 1024,  14, 2048, 1, 2, 1 },
	{ 32, 2048,   7,  512, 1, 1, 2 },
	{ 32,  512,   7,  512, 3, 1, 2 },
}, tiny[] = {
	{  2,    3,  16,   16, 7, 2, 1 },
	{  2,   16,   8,   32, 1, 1, 2 },
	{  2,   16,   8,   16, 3, 2, 1 },
};

const struct layer *
layers_get(int *count_out)
{
	*count_out = gpu.quick ? sizeof tiny / sizeof *tiny :
	    sizeof resnet / sizeof *resnet;
	return gpu.quick ? tiny : resnet;
}

int
conv_y_side(const struct layer *l)
{
	return (l->hw + 2 * (l->rs / 2) - l->rs) / l->stride + 1;
}

void
conv_name(const struct layer *l, char text_out[CONV_TEXT])
{
	char stride[16] = "";

	if (l->stride > 1)
		snprintf(stride, sizeof stride, "/%d", l->stride);
	snprintf(text_out, CONV_TEXT, "%dx%d%s %d-%d @%d", l->rs, l->rs,
	    stride, l->c, l->k, l->hw);
}

void
conv_shape(const struct conv *c, char text_out[CONV_TEXT])
{
	const struct layer *l = &c->layer;

	snprintf(text_out, CONV_TEXT,
	    "n%d c%d %dx%d k%d %dx%d s%d p%d d1 g1 %s", l->n, l->c, l->hw,
	    l->hw, l->k, l->rs, l->rs, l->stride, l->rs / 2,
	    c->nhwc ? "nhwc" : "nchw");
}

double
conv_flop(const struct conv *c)
{
	const struct layer *l = &c->layer;
	const double side = conv_y_side(l);

	return 2.0 * l->n * side * side * l->k * l->c * l->rs * l->rs;
}

enum conv_tensor
conv_output(enum conv_op op)
{
	return op == CONV_FPROP ? CONV_Y : op == CONV_DGRAD ? CONV_X : CONV_W;
}

/* ---- Memory */

void
conv_layout(const struct conv *c, enum conv_tensor t, int size_out[4],
    size_t stride_out[4])
{
	const struct layer *l = &c->layer;
	const int side = t == CONV_X ? l->hw : t == CONV_W ? l->rs :
	    conv_y_side(l);
	const size_t channels = (size_t)(t == CONV_Y ? l->k : l->c);

	size_out[0] = t == CONV_W ? l->k : l->n;
	size_out[1] = (int)channels;
	size_out[2] = size_out[3] = side;
	stride_out[0] = channels * (size_t)(side * side);
	stride_out[1] = c->nhwc ? 1 : (size_t)(side * side);
	stride_out[2] = (size_t)side * (c->nhwc ? channels : 1);
	stride_out[3] = c->nhwc ? channels : 1;
}

static const struct gpu_pool *
pool_of(const struct conv *c, enum conv_tensor t)
{
	return gpu_pool_get(t == CONV_W ? DATA_NORMAL : c->images, t);
}

void
conv_poison(const struct conv *c)
{
	const enum conv_tensor t = conv_output(c->op);

	MUST(cudaMemsetAsync(c->data[t][0], 0xff, c->count[t] * sizeof(float),
	    gpu.stream));
}

void
conv_make(struct conv *c, bool halves)
{
	static void *workspace;

	if (!workspace)
		workspace = gpu_alloc(CONV_WORKSPACE);
	c->workspace = workspace;
	memset(c->data, 0, sizeof c->data);
	for (unsigned t = 0; t < CONV_TENSORS; t++) {
		int size[4];
		size_t stride[4];

		conv_layout(c, t, size, stride);
		c->count[t] = (size_t)size[0] * stride[0];
		if (t == conv_output(c->op)) {
			c->data[t][0] = gpu_alloc(c->count[t] * sizeof(float));
			conv_poison(c);
			continue;
		}
		c->data[t][0] = gpu_fill(pool_of(c, t), STORE_FP32,
		    c->count[t]);
		if (halves)
			c->data[t][1] = gpu_fill(pool_of(c, t), STORE_FP16,
			    c->count[t]);
	}
}

void
conv_free(struct conv *c)
{
	for (int t = 0; t < CONV_TENSORS; t++)
		for (int half = 0; half < 2; half++)
			if (c->data[t][half])
				gpu_free(c->data[t][half]);
}

/* ---- The reference */

/* A tensor as the host knows it. */
struct values {
	const struct gpu_pool *pool;
	int    size[4];
	size_t stride[4];
};

static struct values
values_of(const struct conv *c, enum conv_tensor t)
{
	struct values v = { .pool = pool_of(c, t) };

	conv_layout(c, t, v.size, v.stride);
	return v;
}

/* 0 beyond the image. */
static double
at(const struct values *v, int a, int b, int y, int x)
{
	if (y < 0 || y >= v->size[2] || x < 0 || x >= v->size[3])
		return 0;
	return v->pool->values[((size_t)a * v->stride[0] +
	    (size_t)b * v->stride[1] + (size_t)y * v->stride[2] +
	    (size_t)x * v->stride[3]) % v->pool->count];
}

/* The coordinates of element `index`. */
static void
place_of(const struct values *v, size_t index, int place[4])
{
	for (int i = 0; i < 4; i++)
		place[i] = (int)(index / v->stride[i] % (size_t)v->size[i]);
}

static double
forward_at(const struct layer *l, const struct values *x,
    const struct values *w, const int to[4])
{
	const int pad = l->rs / 2;
	double sum = 0;

	for (int c = 0; c < l->c; c++)
		for (int r = 0; r < l->rs; r++)
			for (int s = 0; s < l->rs; s++)
				sum += at(x, to[0], c,
				    to[2] * l->stride - pad + r,
				    to[3] * l->stride - pad + s) *
				    at(w, to[1], c, r, s);
	return sum;
}

static double
data_at(const struct layer *l, const struct values *w, const struct values *y,
    const int to[4])
{
	const int pad = l->rs / 2;
	double sum = 0;

	for (int r = 0; r < l->rs; r++)
		for (int s = 0; s < l->rs; s++) {
			const int p = to[2] + pad - r, q = to[3] + pad - s;

			if (p < 0 || q < 0 || p % l->stride || q % l->stride)
				continue;
			for (int k = 0; k < l->k; k++)
				sum += at(y, to[0], k, p / l->stride,
				    q / l->stride) * at(w, k, to[1], r, s);
		}
	return sum;
}

static double
filter_at(const struct layer *l, const struct values *x,
    const struct values *y, const int to[4])
{
	const int pad = l->rs / 2;
	double sum = 0;

	for (int n = 0; n < l->n; n++)
		for (int p = 0; p < y->size[2]; p++)
			for (int q = 0; q < y->size[3]; q++)
				sum += at(x, n, to[1],
				    p * l->stride - pad + to[2],
				    q * l->stride - pad + to[3]) *
				    at(y, n, to[0], p, q);
	return sum;
}

void
conv_reference(const struct conv *c, struct conv_reference *out)
{
	/* An output of the last sums a whole batch. */
	static const int samples[] = { [CONV_FPROP] = CONV_SAMPLES,
		[CONV_DGRAD] = CONV_SAMPLES, [CONV_WGRAD] = CONV_SAMPLES / 4 };
	const struct values x = values_of(c, CONV_X), w = values_of(c, CONV_W),
	    y = values_of(c, CONV_Y);
	const enum conv_tensor t = conv_output(c->op);
	const struct values *to = t == CONV_X ? &x : t == CONV_W ? &w : &y;

	out->count = samples[c->op];
	for (int i = 0; i < out->count; i++) {
		/* The first, the last, and between them by a prime. */
		const size_t index = i == 1 ? c->count[t] - 1 :
		    (size_t)i * 2654435761u % c->count[t];
		int place[4];

		place_of(to, index, place);
		out->at[i] = index;
		out->value[i] = c->op == CONV_FPROP ?
		    forward_at(&c->layer, &x, &w, place) :
		    c->op == CONV_DGRAD ? data_at(&c->layer, &w, &y, place) :
		    filter_at(&c->layer, &x, &y, place);
	}
}

double
conv_error(const struct conv *c, const struct conv_reference *r,
    const struct gpu_pool *before)
{
	const float *output = c->data[conv_output(c->op)][0];
	double off = 0, norm = 0;

	MUST(cudaStreamSynchronize(gpu.stream));
	for (int i = 0; i < r->count; i++) {
		double right = r->value[i];
		float found;

		if (before)
			right += before->values[r->at[i] % before->count];
		MUST(cudaMemcpy(&found, output + r->at[i], sizeof found,
		    cudaMemcpyDeviceToHost));
		off += (found - right) * (found - right);
		norm += right * right;
	}
	return isfinite(off) ? sqrt(off / norm) : INFINITY;
}
