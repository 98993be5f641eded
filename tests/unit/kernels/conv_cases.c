/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/conv_cases.c -- convolutions in ordinary memory, computed
 * by the definition: every product of an input, a tap and an output, once. */
#include "tests/unit/kernels/conv_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t
conv_any(uint64_t *seed, uint32_t count)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % count;
}

struct conv_case
conv_case_random(uint64_t *seed)
{
	struct conv_case c = {
		.operation = (enum ac_conv_operation)conv_any(seed, 3),
		.layout = (enum conv_layout)conv_any(seed, CONV_LAYOUTS),
		.flip = conv_any(seed, 2), .bias = conv_any(seed, 2),
		.relu = conv_any(seed, 2),
		.n = 1 + (int)conv_any(seed, 3),
		.groups = conv_any(seed, 2) ? 1 : 1 + (int)conv_any(seed, 5),
		.depth = 1 + (int)conv_any(seed, conv_any(seed, 3) ? 9 : 40),
		.features = 1 + (int)conv_any(seed, 20),
		.alpha = conv_any(seed, 6) ? 1.5f : 0,
		.alpha2 = conv_any(seed, 2) ? -0.5f : 0,
	};
	const int space = 1 + (int)conv_any(seed, 3);

	for (int d = 0; d < 3; d++) {
		const bool used = d >= 3 - space;

		c.taps[d] = used ? 1 + (int)conv_any(seed, 3) : 1;
		c.stride[d] = used ? 1 + (int)conv_any(seed, 3) : 1;
		c.dilation[d] = used ? 1 + (int)conv_any(seed, 2) : 1;
		c.pad[d] = used ? (int)conv_any(seed, 3) : 0;
		c.size[d] = used ? (c.taps[d] - 1) * c.dilation[d] + 1
		    + (int)conv_any(seed, 7) : 1;
	}
	return c;
}

/* Strides from the fastest dim to the slowest; the memory's size. */
static size_t
lay_out(enum conv_layout layout, struct ac_conv_view *view)
{
	static const int orders[CONV_LAYOUTS][5] = {
		{ 4, 3, 2, 1, 0 }, { 1, 4, 3, 2, 0 }, { 3, 1, 0, 4, 2 }
	};
	int64_t stride = layout == CONV_GAPS ? 2 : 1;

	for (int i = 0; i < 5; i++) {
		const int axis = orders[layout][i];

		view->stride[axis] = stride;
		stride *= view->dim[axis];
		if (layout == CONV_GAPS && i % 2)
			stride += 3;
	}
	return (size_t)stride;
}

static int64_t
offset_of(const struct ac_conv_view *view, int64_t first, int64_t second,
    const int space[3])
{
	int64_t offset = first * view->stride[0] + second * view->stride[1];

	for (int d = 0; d < 3; d++)
		offset += space[d] * view->stride[2 + d];
	return offset;
}

/* Whether there is a next one: dims as those of a view, in order. */
static bool
next(const int64_t *dims, int count, int *at)
{
	for (int i = count - 1; i >= 0; i--) {
		if (++at[i] < dims[i])
			return true;
		at[i] = 0;
	}
	return false;
}

/* All products of output feature `k` and channel `depth` of its group: at[] is
 * the image, y's space, the taps. */
static void
add_products(struct conv_data *data, int64_t k, int64_t depth, double *sums)
{
	const struct ac_conv_check *c = &data->check;
	const int64_t dims[7] = { c->y.dim[0], c->y.dim[2], c->y.dim[3],
		c->y.dim[4], c->w.dim[2], c->w.dim[3], c->w.dim[4] };
	const int64_t channel = k / (c->w.dim[0] / c->groups) * c->w.dim[1]
	    + depth;
	int at[7] = {0}, from[3], tap[3];

	do {
		int64_t x, w, y;
		bool inside = true;

		for (int d = 0; d < 3; d++) {
			from[d] = at[1 + d] * c->stride[d] - c->pad[d]
			    + at[4 + d] * c->dilation[d];
			tap[d] = c->flip ? (int)dims[4 + d] - 1 - at[4 + d]
			    : at[4 + d];
			inside &= from[d] >= 0 && from[d] < c->x.dim[2 + d];
		}
		if (!inside)
			continue;
		x = offset_of(&c->x, at[0], channel, from);
		w = offset_of(&c->w, k, depth, tap);
		y = offset_of(&c->y, at[0], k, at + 1);
		data->products++;
		if (c->operation == AC_CONV_FPROP)
			sums[y] += (double)c->x.data[x] * (double)c->w.data[w];
		else if (c->operation == AC_CONV_DGRAD)
			sums[x] += (double)c->y.data[y] * (double)c->w.data[w];
		else
			sums[w] += (double)c->x.data[x] * (double)c->y.data[y];
	} while (next(dims, 7, at));
}

/* The epilogue, and the output. */
static void
finish(struct conv_data *data, const double *sums)
{
	const struct ac_conv_check *c = &data->check;
	const struct ac_conv_view *out = data->output;
	const int channel = c->operation == AC_CONV_WGRAD ? 0 : 1;
	int at[5] = {0};

	if (!out->dim[0])
		return;
	do {
		const int64_t i = offset_of(out, at[0], at[1], at + 2);
		double exact = c->alpha != 0 ? (double)c->alpha * sums[i] : 0;

		if (c->z.data)
			exact += (double)c->alpha2 * (double)c->z.data[
			    offset_of(&c->z, at[0], at[1], at + 2)];
		if (c->bias)
			exact += (double)c->bias[at[channel]];
		if (c->relu && exact < 0)
			exact = 0;
		data->exact[i] = exact;
		data->out[i] = (float)exact;
	} while (next(out->dim, 5, at));
}

void
conv_data_compute(struct conv_data *data)
{
	const struct ac_conv_check *c = &data->check;
	double *sums = calloc(data->out_count, sizeof *sums);

	data->products = 0;
	for (int64_t k = 0; k < c->w.dim[0] && c->y.dim[0]; k++)
		for (int64_t depth = 0; depth < c->w.dim[1]; depth++)
			add_products(data, k, depth, sums);
	finish(data, sums);
	free(sums);
}

/* Of many magnitudes: their sums depend on the order. */
static float
any_value(uint64_t *seed)
{
	const int whole = (int)conv_any(seed, 1 << 24) - (1 << 23);

	return ldexpf((float)whole, -23 - (int)conv_any(seed, 12));
}

static void
make_memory(struct conv_data *data, int i, struct ac_conv_view *view,
    enum conv_layout layout, uint64_t *seed)
{
	int at[5] = {0};

	data->count[i] = lay_out(layout, view);
	data->memory[i] = malloc((data->count[i] + 1) * sizeof(float));
	for (size_t e = 0; e < data->count[i]; e++)
		data->memory[i][e] = NAN;
	do {
		if (view->dim[0])
			data->memory[i][offset_of(view, at[0], at[1], at + 2)]
			    = any_value(seed);
	} while (next(view->dim, 5, at));
	view->data = data->memory[i];
}

static void
set_shapes(const struct conv_case *c, struct ac_conv_check *check)
{
	check->x.dim[0] = check->y.dim[0] = c->n;
	check->x.dim[1] = c->groups * c->depth;
	check->w.dim[0] = check->y.dim[1] = c->groups * c->features;
	check->w.dim[1] = c->depth;
	for (int d = 0; d < 3; d++) {
		check->x.dim[2 + d] = c->size[d];
		check->w.dim[2 + d] = c->taps[d];
		check->y.dim[2 + d] = (c->size[d] + 2 * c->pad[d]
		    - (c->taps[d] - 1) * c->dilation[d] - 1) / c->stride[d] + 1;
		check->pad[d] = c->pad[d];
		check->stride[d] = c->stride[d];
		check->dilation[d] = c->dilation[d];
	}
}

void
conv_data_make(const struct conv_case *c, uint64_t seed,
    struct conv_data *data_out)
{
	struct ac_conv_check *check = &data_out->check;
	const int role = c->operation == AC_CONV_FPROP ? 2
	    : c->operation == AC_CONV_DGRAD ? 0 : 1;
	struct ac_conv_view *views[] = { &check->x, &check->w, &check->y };

	memset(data_out, 0, sizeof *data_out);
	check->operation = c->operation;
	check->flip = c->flip;
	check->groups = (uint32_t)c->groups;
	check->alpha = c->alpha;
	check->alpha2 = c->alpha2;
	check->relu = c->relu;
	check->seed = seed;
	check->scratch = data_out->scratch;
	check->post = &data_out->post;
	check->number = seed + 1;
	set_shapes(c, check);
	for (int i = 0; i < 3; i++)
		make_memory(data_out, i, views[i], c->layout, &seed);
	data_out->output = views[role];
	data_out->out = data_out->memory[role];
	data_out->out_count = data_out->count[role];
	if (c->alpha2 != 0) {
		check->z = *views[role];
		make_memory(data_out, 3, &check->z, (enum conv_layout)
		    ((c->layout + 1) % CONV_LAYOUTS), &seed);
	}
	if (c->bias) {
		data_out->bias = malloc(views[role]->dim[role != 1]
		    * sizeof(float));
		for (int64_t i = 0; i < views[role]->dim[role != 1]; i++)
			data_out->bias[i] = (float)conv_any(&seed, 9) / 8;
		check->bias = data_out->bias;
	}
	data_out->exact = malloc(data_out->out_count * sizeof(double));
	for (size_t i = 0; i < data_out->out_count; i++)
		data_out->exact[i] = (double)NAN;
	conv_data_compute(data_out);
}

void
conv_data_free(struct conv_data *data)
{
	for (int i = 0; i < 4; i++)
		free(data->memory[i]);
	free(data->exact);
	free(data->bias);
}
