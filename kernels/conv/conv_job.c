/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/conv/conv_job.c -- where the sample of a convolution is, as offsets
 * and steps. Pure: it never touches what the tensors hold. For conv_check.c. */
#include "kernels/conv/conv_body.h"

#include <stdlib.h>

enum { SPACE = 3 };

/* Of the output: positions run over `outer` and space, channels over `inner`;
 * both as numbers of a view's dims. */
struct roles {
	const struct ac_conv_view *a, *b, *out;
	int outer, inner;
};

static struct roles
roles_of(const struct ac_conv_check *c)
{
	switch (c->operation) {
	case AC_CONV_DGRAD:
		return (struct roles){ &c->y, &c->w, &c->x, 0, 1 };
	case AC_CONV_WGRAD:
		return (struct roles){ &c->x, &c->y, &c->w, 1, 0 };
	default:
		return (struct roles){ &c->x, &c->w, &c->y, 0, 1 };
	}
}

/* ---- Axes: what the sums run over -------------------------------------- */

static struct ac_conv_axis
axis_of_space(const struct ac_conv_check *c, int d)
{
	const struct roles r = roles_of(c);
	const int64_t tap = c->flip ? -c->w.stride[2 + d] : c->w.stride[2 + d];
	struct ac_conv_axis axis = {
		.a = r.a->stride[2 + d], .b = tap,
		.count = (int32_t)c->w.dim[2 + d], .step = c->dilation[d],
		.div = 1, .limit = (int32_t)r.a->dim[2 + d],
	};

	if (c->operation == AC_CONV_DGRAD) {
		axis.step = -c->dilation[d];
		axis.div = c->stride[d];
	} else if (c->operation == AC_CONV_WGRAD) {
		axis.b = c->y.stride[2 + d];
		axis.count = (int32_t)c->y.dim[2 + d];
		axis.step = c->stride[d];
	}
	return axis;
}

/* Channels of the group, or images. */
static struct ac_conv_axis
axis_of_depth(const struct ac_conv_check *c)
{
	struct ac_conv_axis axis = { .step = 1, .div = 1 };

	switch (c->operation) {
	case AC_CONV_DGRAD:
		axis.a = c->y.stride[1];
		axis.b = c->w.stride[0];
		axis.count = (int32_t)(c->w.dim[0] / c->groups);
		break;
	case AC_CONV_WGRAD:
		axis.a = c->x.stride[0];
		axis.b = c->y.stride[0];
		axis.count = (int32_t)c->x.dim[0];
		break;
	default:
		axis.a = c->x.stride[1];
		axis.b = c->w.stride[1];
		axis.count = (int32_t)c->w.dim[1];
	}
	axis.limit = axis.count;
	return axis;
}

/* Lanes take neighbouring terms: these should be neighbours in memory. */
static int64_t
distance(const struct ac_conv_axis *axis)
{
	const int64_t a = llabs(axis->a), b = llabs(axis->b);

	return a < b ? a : b;
}

/* place_out[d] is where the axis of space d ended up. */
static void
make_axes(const struct ac_conv_check *c, struct ac_conv_job *job,
    int place_out[SPACE])
{
	int from[AC_CONV_AXES], at;

	job->terms = c->alpha != 0;
	for (int i = 0; i < AC_CONV_AXES; i++) {
		/* Innermost space first: it wins where all are alike. */
		const int d = SPACE - 1 - i;
		struct ac_conv_axis axis = d < 0 ? axis_of_depth(c)
		    : axis_of_space(c, d);

		job->terms *= axis.count;
		axis.count += !axis.count; /* is divided by */
		for (at = i; at > 0 && distance(&job->axis[at - 1])
		    > distance(&axis); at--) {
			job->axis[at] = job->axis[at - 1];
			from[at] = from[at - 1];
		}
		job->axis[at] = axis;
		from[at] = d;
	}
	for (int i = 0; i < AC_CONV_AXES; i++)
		if (from[i] >= 0)
			place_out[from[i]] = i;
}

/* ---- Lines: which outputs ---------------------------------------------- */

static uint64_t
mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* One of each of `most` parts of `count`, or all. */
static int64_t
draw(uint64_t seed, int side, int64_t i, int64_t count, int64_t most)
{
	const int64_t parts = count < most ? count : most;
	const int64_t first = i * count / parts;
	const int64_t width = (i + 1) * count / parts - first;
	const uint64_t random = mix(mix(seed)
	    + (uint64_t)(side * most + i + 1));

	return first + (int64_t)(random % (uint64_t)width);
}

/* Position number `at`, the last dim of space running fastest. */
static struct ac_conv_line
position_of(const struct ac_conv_check *c, const int place[SPACE], int64_t at)
{
	const struct roles r = roles_of(c);
	struct ac_conv_line line = {0};

	for (int d = SPACE - 1; d >= 0; d--) {
		const int64_t dim = r.out->dim[2 + d], o = at % dim;
		const int64_t last = c->w.dim[2 + d] - 1;
		int64_t base = o * c->stride[d] - c->pad[d];

		at /= dim;
		line.out += o * r.out->stride[2 + d];
		line.z += o * c->z.stride[2 + d];
		if (c->operation == AC_CONV_DGRAD)
			base = o + c->pad[d];
		else if (c->operation == AC_CONV_WGRAD)
			base = (c->flip ? last - o : o) * c->dilation[d]
			    - c->pad[d];
		line.base[place[d]] = (int32_t)base;
		if (c->flip && c->operation != AC_CONV_WGRAD)
			line.b += last * c->w.stride[2 + d];
	}
	line.a = at * r.a->stride[r.outer];
	line.out += at * r.out->stride[r.outer];
	line.z += at * c->z.stride[r.outer];
	return line;
}

static struct ac_conv_line
channel_of(const struct ac_conv_check *c, int64_t at)
{
	const struct roles r = roles_of(c);
	const int64_t depth = c->w.dim[1], features = c->w.dim[0] / c->groups;
	const int64_t group = at / (c->operation == AC_CONV_DGRAD ? depth
	    : features);
	struct ac_conv_line line = {
		.a = group * depth * c->x.stride[1],
		.b = at * c->w.stride[0],
		.out = at * r.out->stride[r.inner],
		.z = at * c->z.stride[r.inner],
		.bias = at,
	};

	if (c->operation == AC_CONV_DGRAD) {
		line.a = group * features * c->y.stride[1];
		line.b = group * features * c->w.stride[0]
		    + at % depth * c->w.stride[1];
	} else if (c->operation == AC_CONV_WGRAD) {
		line.b = at * c->y.stride[1];
	}
	return line;
}

static void
make_lines(const struct ac_conv_check *c, const int place[SPACE],
    struct ac_conv_job *job)
{
	const struct roles r = roles_of(c);
	int64_t count[2] = { r.out->dim[r.outer], r.out->dim[r.inner] };

	for (int d = 0; d < SPACE; d++)
		count[0] *= r.out->dim[2 + d];
	if (count[0] <= 0 || count[1] <= 0)
		return; /* an empty output */
	for (int side = 0; side < 2; side++) {
		job->count[side] = count[side] < AC_CONV_SIDE
		    ? (uint32_t)count[side] : AC_CONV_SIDE;
		for (uint32_t i = 0; i < job->count[side]; i++) {
			const int64_t at = draw(c->seed, side, i, count[side],
			    AC_CONV_SIDE);

			job->line[side][i] = side ? channel_of(c, at)
			    : position_of(c, place, at);
		}
	}
}

/* ---- The whole output -------------------------------------------------- */

/* `axis` of the output, into its place by stride. */
static void
add_scan_axis(const struct ac_conv_view *out, int axis, struct ac_conv_job *job)
{
	uint32_t at = job->scan_axes++;

	for (; at > 0 && job->scan_stride[at - 1]
	    > out->stride[axis]; at--) {
		job->scan_dim[at] = job->scan_dim[at - 1];
		job->scan_stride[at] = job->scan_stride[at - 1];
	}
	job->scan_dim[at] = out->dim[axis];
	job->scan_stride[at] = out->stride[axis];
}

static void
make_scan(const struct ac_conv_view *out, struct ac_conv_job *job)
{
	uint32_t last = 0;

	job->scan_count = 1;
	for (int axis = 0; axis < 5; axis++) {
		job->scan_count *= out->dim[axis];
		if (out->dim[axis] != 1)
			add_scan_axis(out, axis, job);
	}
	if (!job->scan_axes) /* one output */
		add_scan_axis(out, 0, job);
	for (uint32_t i = 1; i < job->scan_axes; i++) {
		if (job->scan_stride[i] == job->scan_dim[last]
		    * job->scan_stride[last]) {
			job->scan_dim[last] *= job->scan_dim[i];
			continue;
		}
		last++;
		job->scan_dim[last] = job->scan_dim[i];
		job->scan_stride[last] = job->scan_stride[i];
	}
	job->scan_axes = last + 1;
}

/* ---- What tells data apart --------------------------------------------- */

/* Elements all over operand number `operand`. */
static void
make_probes(const struct ac_conv_view *view, int operand,
    struct ac_conv_job *job)
{
	int64_t count = job->terms != 0;

	for (int axis = 0; axis < 5; axis++)
		count *= view->dim[axis];
	job->probes[operand] = count < AC_CONV_PROBES ? (uint32_t)count
	    : AC_CONV_PROBES;
	for (uint32_t i = 0; i < job->probes[operand]; i++) {
		int64_t at = draw(0, operand, i, count, AC_CONV_PROBES);

		for (int axis = 4; axis >= 0; axis--) {
			job->probe[operand][i] += at % view->dim[axis]
			    * view->stride[axis];
			at /= view->dim[axis];
		}
	}
}

void
ac_conv_job_make(const struct ac_conv_check *check, struct ac_conv_job *job_out)
{
	const struct roles r = roles_of(check);
	struct ac_conv_job job = {
		.a = r.a->data, .b = r.b->data, .out = r.out->data,
		.z = check->alpha2 != 0 ? check->z.data : NULL,
		.bias = check->bias, .relu = check->relu,
		.alpha = check->alpha, .alpha2 = check->alpha2,
		.scratch = (struct ac_conv_scratch *)(void *)check->scratch,
		.post = check->post, .number = check->number,
	};
	int place[SPACE];

	make_axes(check, &job, place);
	make_lines(check, place, &job);
	make_scan(r.out, &job);
	make_probes(r.a, 0, &job);
	make_probes(r.b, 1, &job);
	*job_out = job;
}
