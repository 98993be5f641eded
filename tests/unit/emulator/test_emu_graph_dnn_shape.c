/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_graph_dnn_shape.c -- cuDNN's emulated graph
 * interface: geometries in one to three dimensions that the older interface
 * cannot say, too, against a naive sum; scales, and an epilogue in FP64. */
#include "tests/unit/emulator/test_emu_graph_dnn.h"

#include <math.h>

enum { MOST = 4096 };

struct geometry {
	int     space;
	int64_t n, groups, c, k;        /* c, k: of one group */
	int64_t in[3], filter[3], pre[3], post[3], stride[3], dilation[3];
	cudnnConvolutionMode_t mode;
};
static const struct geometry geometries[] = {
	{ 1, 2, 1, 3, 2, { 11 }, { 3 }, { 2 }, { 0 }, { 2 }, { 3 },
	  CUDNN_CROSS_CORRELATION },
	{ 2, 1, 1, 2, 3, { 6, 5 }, { 3, 2 }, { 0, 2 }, { 1, 0 }, { 1, 2 },
	  { 2, 1 }, CUDNN_CROSS_CORRELATION },
	{ 2, 2, 3, 2, 2, { 5, 7 }, { 2, 3 }, { 1, 0 }, { 2, 3 }, { 2, 1 },
	  { 1, 2 }, CUDNN_CONVOLUTION },
	{ 2, 1, 4, 1, 1, { 4, 4 }, { 3, 3 }, { 0, 0 }, { 2, 2 }, { 1, 1 },
	  { 1, 1 }, CUDNN_CROSS_CORRELATION },
	{ 3, 1, 2, 1, 2, { 3, 4, 5 }, { 2, 3, 2 }, { 1, 0, 0 }, { 0, 1, 2 },
	  { 1, 2, 1 }, { 2, 1, 2 }, CUDNN_CONVOLUTION },
};

static int64_t
used(int64_t size)
{
	return size ? size : 1;
}

static int64_t
out_size(const struct geometry *g, int i)
{
	if (i >= g->space)
		return 1;
	return (g->in[i] + g->pre[i] + g->post[i] - (g->filter[i] - 1) *
	    g->dilation[i] - 1) / g->stride[i] + 1;
}

/* One tensor: sizes, what is in it, where it is, what should be in it. */
struct side {
	int64_t dim[5], count;
	double  values[MOST], sums[MOST];
	void   *device;
};
static struct side sides[3]; /* x, w, y */

static void
fill(struct side *s, const struct geometry *g, cudnnDataType_t type,
    int64_t first, int64_t second, const int64_t *space, uint64_t *seed)
{
	float single[MOST];

	memset(s, 0, sizeof *s);
	s->dim[0] = first;
	s->dim[1] = second;
	s->count = first * second;
	for (int i = 0; i < g->space; i++) {
		s->dim[2 + i] = space[i];
		s->count *= space[i];
	}
	assert_true(s->count <= MOST);
	for (int64_t i = 0; i < s->count; i++) {
		single[i] = test_random(seed);
		s->values[i] = (double)single[i];
	}
	s->device = type == CUDNN_DATA_DOUBLE ?
	    test_upload(s->values, (size_t)s->count * sizeof *s->values) :
	    test_upload(single, (size_t)s->count * sizeof *single);
}

/* What multiplies at this output and this tap: x[i0], w[i1], y[i2]. */
static void
add(enum dnn_op op, int64_t x, int64_t w, int64_t y)
{
	const int64_t at[3] = { x, w, y };
	const int to = op == DNN_FPROP ? 2 : op == DNN_DGRAD ? 0 : 1;
	double product = 1;

	for (int i = 0; i < 3; i++)
		if (i != to)
			product *= sides[i].values[at[i]];
	sides[to].sums[at[to]] += product;
}

/* All of one filter plane on one plane of x and of y, by their numbers. */
static void
reference_planes(const struct geometry *g, enum dnn_op op, int64_t x,
    int64_t w, int64_t y)
{
	const int64_t o0 = out_size(g, 0), o1 = out_size(g, 1);
	const int64_t o2 = out_size(g, 2), f0 = used(g->filter[0]);
	const int64_t f1 = used(g->filter[1]), f2 = used(g->filter[2]);

	for (int64_t o = 0; o < o0 * o1 * o2; o++)
	for (int64_t f = 0; f < f0 * f1 * f2; f++) {
		const int64_t to[3] = { o / (o1 * o2), o / o2 % o1, o % o2 };
		const int64_t by[3] = { f / (f1 * f2), f / f2 % f1, f % f2 };
		int64_t from = 0;
		bool inside = true;

		for (int i = 0; i < g->space; i++) {
			const int64_t tap = g->mode == CUDNN_CONVOLUTION ?
			    g->filter[i] - 1 - by[i] : by[i];
			const int64_t at = to[i] * g->stride[i] - g->pre[i] +
			    tap * g->dilation[i];

			inside = inside && at >= 0 && at < g->in[i];
			from = from * g->in[i] + at;
		}
		if (inside)
			add(op, x * (sides[0].count / sides[0].dim[0] /
			    sides[0].dim[1]) + from, w * f0 * f1 * f2 + f,
			    y * o0 * o1 * o2 + o);
	}
}

static void
reference(const struct geometry *g, enum dnn_op op)
{
	for (int64_t n = 0; n < g->n; n++)
		for (int64_t k = 0; k < g->groups * g->k; k++)
			for (int64_t c = 0; c < g->c; c++)
				reference_planes(g, op, n * g->groups * g->c +
				    k / g->k * g->c + c, k * g->c + c,
				    n * g->groups * g->k + k);
}

/* ---- the graph ---------------------------------------------------------- */

static descriptor
tensor(int64_t id, cudnnDataType_t type, const struct side *s, int dims,
    bool is_virtual)
{
	int64_t stride[5], step = 1;

	for (int i = dims - 1; i >= 0; i--) {
		stride[i] = step;
		step *= s->dim[i];
	}
	return dnn_tensor_of(id, type, dims, s->dim, stride, is_virtual);
}

static descriptor
convolution(const struct geometry *g, cudnnDataType_t type)
{
	const descriptor d = dnn_geometry(g->space, g->pre, g->post, g->stride,
	    g->dilation, g->mode, type);

	OK(cudnnBackendFinalize(d));
	return d;
}

/* Run it with this engine; every tensor's pointer is in sides[]. */
static void
run(descriptor graph, cudnnHandle_t handle, int64_t index)
{
	const int64_t ids[3] = { DNN_X, DNN_W, DNN_Y };
	void *pointers[3] = { sides[0].device, sides[1].device,
		sides[2].device };

	OK(cudnnBackendExecute(handle, dnn_plan(graph, NULL, index),
	    dnn_pack(3, ids, pointers, NULL)));
	OK(cudaDeviceSynchronize());
}

/* What came out against what should have. */
static void
check(const struct side *result, bool wide, double alpha)
{
	double doubles[MOST];
	float singles[MOST];

	OK(cudaMemcpy(wide ? (void *)doubles : singles, result->device,
	    (size_t)result->count * (wide ? sizeof *doubles : sizeof *singles),
	    cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < result->count; i++) {
		const double want = alpha * result->sums[i];
		const double got = wide ? doubles[i] : (double)singles[i];

		if (!(fabs(got - want) <= (wide ? 0x1p-44 : 0x1p-16)))
			fail_msg("at %d: got %.17g, want %.17g", (int)i, got,
			    want);
	}
}

/* In FP32, or FP64 with an identity behind it. */
static void
run_case(const struct geometry *g, enum dnn_op op, cudnnDataType_t type,
    double alpha)
{
	const bool wide = type == CUDNN_DATA_DOUBLE;
	const int64_t out[3] = { out_size(g, 0), out_size(g, 1),
		out_size(g, 2) };
	const int to = op == DNN_FPROP ? 2 : op == DNN_DGRAD ? 0 : 1;
	static const int64_t ids[3] = { DNN_X, DNN_W, DNN_Y };
	const double zero = 0;
	descriptor tensors[3], ops[2];
	cudnnHandle_t handle;
	uint64_t seed = 11, plain;

	OK(cudnnCreate(&handle));
	fill(&sides[0], g, type, g->n, g->groups * g->c, g->in, &seed);
	fill(&sides[1], g, type, g->groups * g->k, g->c, g->filter, &seed);
	fill(&sides[2], g, type, g->n, g->groups * g->k, out, &seed);
	for (int i = 0; i < 3; i++)
		tensors[i] = tensor(wide && i == to ? 'v' : ids[i], type,
		    &sides[i], g->space + 2, wide && i == to);
	ops[0] = dnn_conv_scaled(op, tensors[0], tensors[1], tensors[2],
	    convolution(g, type), CUDNN_TYPE_DOUBLE, &alpha, &zero);
	if (wide)
		ops[1] = dnn_pointwise(CUDNN_POINTWISE_IDENTITY, tensors[to],
		    NULL, tensor(ids[to], type, &sides[to], g->space + 2,
		    false));
	plain = emuCounter("convolutions_plain");
	run(dnn_graph_of(1 + wide, ops, handle), handle, wide ? 0 : 1);
	assert_int_equal(emuCounter("convolutions_plain") - plain,
	    TEST_WITH_TSAN || wide);
	reference(g, op);
	check(&sides[to], wide, alpha);
	for (int i = 0; i < 3; i++)
		OK(cudaFree(sides[i].device));
	OK(cudnnDestroy(handle));
	dnn_release(NULL);
}

static void
geometries_of_every_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
		for (int op = 0; op < 3; op++)
			run_case(&geometries[i], (enum dnn_op)op,
			    CUDNN_DATA_FLOAT, op == 1 ? -0.75 : 1);
}

/* Nothing of it passes through FP32. */
static void
fp64_stays_fp64_behind_the_convolution(void **state)
{
	(void)state;
	for (int op = 0; op < 3; op++)
		run_case(&geometries[2], (enum dnn_op)op, CUDNN_DATA_DOUBLE,
		    1.0 / 3);
}

#define TEST(name) cmocka_unit_test_teardown(name, dnn_release)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(geometries_of_every_kind),
		TEST(fp64_stays_fp64_behind_the_convolution),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
