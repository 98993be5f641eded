/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_conv.c -- convolutions of the emulated cuDNN:
 * results of every operation, type and geometry against FP64; what they read
 * and write. */
#include "test_emu_conv.h"

#include <math.h>

static cudnnHandle_t handle;

/* ---- a reference that shares nothing with the emulator ----------------- */

struct kind {
	cudnnDataType_t type;
	cudnnMathType_t math;
	int bits;               /* of the inputs' mantissas as computed */
	double rounding;        /* of the output */
};
static const struct kind kinds[] = {
	{ CUDNN_DATA_FLOAT, CUDNN_FMA_MATH, 24, 0x1p-24 },
	{ CUDNN_DATA_FLOAT, CUDNN_DEFAULT_MATH, 11, 0x1p-24 },
	{ CUDNN_DATA_FLOAT, CUDNN_TENSOR_OP_MATH, 11, 0x1p-24 },
	{ CUDNN_DATA_HALF, CUDNN_TENSOR_OP_MATH, 11, 0x1p-11 },
	{ CUDNN_DATA_BFLOAT16, CUDNN_TENSOR_OP_MATH, 8, 0x1p-8 },
	{ CUDNN_DATA_DOUBLE, CUDNN_DEFAULT_MATH, 53, 0x1p-53 },
};

struct shape {
	int space, groups, n, c, k;     /* c and k of one group */
	int in[3], filter[3], pad[3], stride[3], dilation[3];
	cudnnTensorFormat_t format;
	cudnnConvolutionMode_t mode;
};
static const struct shape shapes[] = {
	{ 2, 1, 1, 1, 1, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 1, 1 }, { 1, 1 },
	  CUDNN_TENSOR_NCHW, CUDNN_CROSS_CORRELATION },
	{ 2, 1, 2, 3, 4, { 7, 9 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 },
	  CUDNN_TENSOR_NCHW, CUDNN_CROSS_CORRELATION },
	{ 2, 1, 2, 3, 4, { 7, 9 }, { 3, 2 }, { 1, 0 }, { 2, 3 }, { 1, 1 },
	  CUDNN_TENSOR_NHWC, CUDNN_CROSS_CORRELATION },
	{ 2, 1, 1, 8, 8, { 8, 8 }, { 5, 3 }, { 2, 1 }, { 2, 1 }, { 1, 2 },
	  CUDNN_TENSOR_NCHW, CUDNN_CONVOLUTION },
	{ 2, 3, 2, 2, 4, { 6, 5 }, { 3, 3 }, { 1, 1 }, { 1, 2 }, { 2, 1 },
	  CUDNN_TENSOR_NHWC, CUDNN_CROSS_CORRELATION },
	{ 2, 4, 1, 1, 1, { 6, 6 }, { 3, 3 }, { 0, 1 }, { 1, 1 }, { 1, 1 },
	  CUDNN_TENSOR_NCHW, CUDNN_CONVOLUTION },
	{ 1, 2, 3, 2, 3, { 17 }, { 4 }, { 2 }, { 3 }, { 2 },
	  CUDNN_TENSOR_NCHW, CUDNN_CONVOLUTION },
	{ 3, 1, 1, 2, 3, { 4, 5, 6 }, { 3, 2, 3 }, { 1, 0, 1 }, { 1, 2, 1 },
	  { 2, 1, 2 }, CUDNN_TENSOR_NCHW, CUDNN_CROSS_CORRELATION },
	{ 3, 2, 2, 1, 2, { 4, 3, 4 }, { 2, 2, 2 }, { 0, 1, 0 }, { 1, 1, 2 },
	  { 1, 1, 1 }, CUDNN_TENSOR_NHWC, CUDNN_CONVOLUTION },
};

static int
out_size(const struct shape *s, int i)
{
	if (i >= s->space)
		return 1;
	return (s->in[i] + 2 * s->pad[i] -
	    ((s->filter[i] - 1) * s->dilation[i] + 1)) / s->stride[i] + 1;
}

static int
used(const struct shape *s, const int *of, int i)
{
	return i < s->space ? of[i] : 1;
}

/* Index of (a, b, space) in a dense tensor of `dim`. */
static size_t
where(const struct shape *s, const int *dim, int a, int b, const int *at)
{
	size_t space = 0, size = 1;

	for (int i = 0; i < s->space; i++) {
		space = space * (size_t)dim[2 + i] + (size_t)at[i];
		size *= (size_t)dim[2 + i];
	}
	return s->format == CUDNN_TENSOR_NHWC ?
	    ((size_t)a * size + space) * (size_t)dim[1] + (size_t)b :
	    ((size_t)a * (size_t)dim[1] + (size_t)b) * size + space;
}

/* One operand: dimensions, values as stored, the sums expected in it. */
struct operand {
	int dim[5];
	size_t count;
	double *values, *sums, *sizes;
	void *device;
};

struct operands {
	struct operand x, w, y;
};

static double
rounded(const struct kind *kind, double x)
{
	return test_nearest(x, kind->bits);
}

static void
add(double *sums, double *sizes, double a, double b)
{
	*sums += a * b;
	*sizes += fabs(a * b);
}

/* The numbers that one multiplication by a filter element uses. */
static void
reference_one(const struct shape *s, const struct kind *kind, int operation,
    struct operands *o, int n, int k, int c, const int *f, const int *at)
{
	int from[3], tap[3];
	size_t x, w, y;

	for (int i = 0; i < s->space; i++) {
		tap[i] = s->mode == CUDNN_CONVOLUTION ?
		    s->filter[i] - 1 - f[i] : f[i];
		from[i] = at[i] * s->stride[i] - s->pad[i] +
		    f[i] * s->dilation[i];
		if (from[i] < 0 || from[i] >= s->in[i])
			return;
	}
	x = where(s, o->x.dim, n, k / s->k * s->c + c, from);
	w = where(s, o->w.dim, k, c, tap);
	y = where(s, o->y.dim, n, k, at);
	if (operation == 0)
		add(&o->y.sums[y], &o->y.sizes[y],
		    rounded(kind, o->x.values[x]),
		    rounded(kind, o->w.values[w]));
	else if (operation == 1)
		add(&o->x.sums[x], &o->x.sizes[x],
		    rounded(kind, o->y.values[y]),
		    rounded(kind, o->w.values[w]));
	else
		add(&o->w.sums[w], &o->w.sizes[w],
		    rounded(kind, o->x.values[x]),
		    rounded(kind, o->y.values[y]));
}

static void
reference(const struct shape *s, const struct kind *kind, int operation,
    struct operands *o)
{
	int f[3], at[3];

	for (int n = 0; n < s->n; n++)
	for (int k = 0; k < s->groups * s->k; k++)
	for (int c = 0; c < s->c; c++)
	for (f[0] = 0; f[0] < used(s, s->filter, 0); f[0]++)
	for (f[1] = 0; f[1] < used(s, s->filter, 1); f[1]++)
	for (f[2] = 0; f[2] < used(s, s->filter, 2); f[2]++)
	for (at[0] = 0; at[0] < out_size(s, 0); at[0]++)
	for (at[1] = 0; at[1] < out_size(s, 1); at[1]++)
	for (at[2] = 0; at[2] < out_size(s, 2); at[2]++)
		reference_one(s, kind, operation, o, n, k, c, f, at);
}

/* ---- one case ---------------------------------------------------------- */

static void
fill(struct operand *o, const struct shape *s, const struct kind *kind,
    int a, int b, const int *space, uint64_t *seed)
{
	o->dim[0] = a;
	o->dim[1] = b;
	o->count = (size_t)a * (size_t)b;
	for (int i = 0; i < s->space; i++) {
		o->dim[2 + i] = space[i];
		o->count *= (size_t)space[i];
	}
	o->values = malloc(o->count * sizeof *o->values);
	o->sums = calloc(o->count, sizeof *o->sums);
	o->sizes = calloc(o->count, sizeof *o->sizes);
	for (size_t i = 0; i < o->count; i++)
		o->values[i] = (double)test_random(seed);
	o->device = test_put(o->values, o->count, kind->type);
}

static void
drop(struct operand *o)
{
	OK(cudaFree(o->device));
	free(o->values);
	free(o->sums);
	free(o->sizes);
}

/* Products of a sum of `count`; see numbers() of test_emu_gemm.c. */
static void
check_output(struct operand *o, const struct kind *kind, double alpha,
    double beta, int count)
{
	const double unit = kind->type == CUDNN_DATA_DOUBLE ? 0x1p-52 :
	    0x1p-23;
	double *got = test_get(o->device, o->count, kind->type);

	for (size_t i = 0; i < o->count; i++) {
		const double old = beta == 0 ? 0 : beta * o->values[i];
		const double want = alpha * o->sums[i] + old;
		const double tolerance = (count / 4.0 + 4) * unit *
		    fabs(alpha) * o->sizes[i] + 2 * unit *
		    (fabs(alpha * o->sums[i]) + fabs(old)) +
		    kind->rounding * fabs(want) + 0x1p-25 *
		    (kind->type == CUDNN_DATA_HALF);

		if (!(fabs(got[i] - want) <= tolerance))
			fail_msg("at %zu: got %.9g, want %.9g within %.3g", i,
			    got[i], want, tolerance);
	}
	free(got);
}

static void
describe(const struct shape *s, const struct kind *kind,
    const struct operands *o, struct test_conv *d)
{
	OK(cudnnSetTensorNdDescriptorEx(d->x, s->format, kind->type,
	    s->space + 2, o->x.dim));
	OK(cudnnSetFilterNdDescriptor(d->w, kind->type, s->format,
	    s->space + 2, o->w.dim));
	OK(cudnnSetTensorNdDescriptorEx(d->y, s->format, kind->type,
	    s->space + 2, o->y.dim));
	OK(cudnnSetConvolutionNdDescriptor(d->conv, s->space, s->pad,
	    s->stride, s->dilation, s->mode, kind->type ==
	    CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT));
	OK(cudnnSetConvolutionMathType(d->conv, kind->math));
	OK(cudnnSetConvolutionGroupCount(d->conv, s->groups));
}

static void
run_case(const struct shape *s, const struct kind *kind, int operation,
    double alpha, double beta)
{
	const int out[3] = { out_size(s, 0), out_size(s, 1), out_size(s, 2) };
	struct operands o = { .x = { .dim = { 0 } } };
	struct test_conv d = test_conv_new();
	struct operand *output = operation == 0 ? &o.y :
	    operation == 1 ? &o.x : &o.w;
	const uint64_t plain = emuCounter("convolutions_plain");
	uint64_t seed = 7;

	fill(&o.x, s, kind, s->n, s->groups * s->c, s->in, &seed);
	fill(&o.w, s, kind, s->groups * s->k, s->c, s->filter, &seed);
	fill(&o.y, s, kind, s->n, s->groups * s->k, out, &seed);
	if (beta == 0) /* not read: NaN would show */
		OK(cudaMemset(output->device, 0xff, output->count *
		    test_width(kind->type)));
	describe(s, kind, &o, &d);
	OK(test_conv_run(handle, &d, operation, alpha, o.x.device,
	    o.w.device, beta, o.y.device));
	assert_int_equal(emuCounter("convolutions_plain") - plain,
	    TEST_WITH_TSAN || kind->type == CUDNN_DATA_DOUBLE);
	reference(s, kind, operation, &o);
	check_output(output, kind, alpha, beta, (int)(operation == 2 ?
	    o.y.count / (size_t)o.y.dim[1] : o.w.count));
	test_conv_drop(&d);
	drop(&o.x);
	drop(&o.w);
	drop(&o.y);
}

/* ---- tests -------------------------------------------------------------- */

/* Forward and both gradients, in every type and math mode, with groups,
 * dilation, strides, 1 to 3 dimensions, both orders of a filter and both
 * layouts; beta 0 does not read the output. oneDNN computes them, except for
 * FP64. */
static void
numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
	for (size_t t = 0; t < sizeof kinds / sizeof *kinds; t++)
	for (int operation = 0; operation < 3; operation++) {
		run_case(&shapes[i], &kinds[t], operation, 1, 0);
		run_case(&shapes[i], &kinds[t], operation, -0.75, 0.5);
	}
}

/* x times w, of one number each. */
static float
one_by_one(cudnnMathType_t math, float value)
{
	struct test_conv d = test_conv_new();
	float *x = test_upload(&value, 4), *y = test_device(4), result;

	test_conv_small(&d, 1, 1, 1, 1);
	OK(cudnnSetConvolutionMathType(d.conv, math));
	OK(test_conv_run(handle, &d, 0, 1, x, x, 0, y));
	OK(cudaMemcpy(&result, y, 4, cudaMemcpyDeviceToHost));
	OK(cudaFree(x));
	OK(cudaFree(y));
	test_conv_drop(&d);
	return result;
}

/* Only FMA_MATH keeps FP32 on a device that has TF32. */
static void
tf32(void **state)
{
	const float x = 1 + 0x1p-12f;

	(void)state;
	assert_true(one_by_one(CUDNN_FMA_MATH, x) == x * x);
	assert_true(one_by_one(CUDNN_DEFAULT_MATH, x) == 1);
	assert_true(one_by_one(CUDNN_TENSOR_OP_MATH, x) == 1);
	assert_true(one_by_one(CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, x) ==
	    1);
}

/* act(alpha1 conv(x) + alpha2 z + bias), z in place of y or elsewhere; alpha2 0
 * does not read it. */
static void
fused(void **state)
{
	static const struct { float alpha1, alpha2; bool elsewhere; } rows[] = {
		{ 1, 0.5f, false }, { 1, 0.5f, true }, { -2, 0, false },
		{ 0.25f, 0, true }, { 2, -1, true },
	};
	const float x[] = { 1, -2, 3, -4 }, w[] = { 2, 1 };
	const float z[] = { 1, 1, 1, 1, -8, 8, 1, 1 }, bias[] = { 3, -1 };

	(void)state;
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
		struct test_conv d = test_conv_new();
		float *device[] = { test_upload(x, sizeof x),
			test_upload(w, sizeof w), test_upload(z, sizeof z),
			test_upload(bias, sizeof bias),
			test_device(sizeof z) }, got[8];
		float *y = device[rows[r].elsewhere ? 4 : 2];

		if (rows[r].alpha2 == 0) /* NaN */
			OK(cudaMemset(device[2], 0xff, sizeof z));
		test_conv_small(&d, 1, 2, 2, 2);
		OK(test_conv_fused(handle, &d, rows[r].alpha1, device[0],
		    device[1], rows[r].alpha2, device[2], device[3], y));
		OK(cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost));
		for (int i = 0; i < 8; i++)
			assert_true(got[i] == fmaxf(rows[r].alpha1 * x[i % 4] *
			    w[i / 4] + rows[r].alpha2 * z[i] + bias[i / 4],
			    0));
		for (int i = 0; i < 5; i++)
			OK(cudaFree(device[i]));
		test_conv_drop(&d);
	}
}

/* The sum over images and space, in either layout; beta 0 does not read. */
static void
bias_gradient(void **state)
{
	static const struct { cudnnTensorFormat_t layout; float beta, want[2]; }
	rows[] = {
		{ CUDNN_TENSOR_NCHW, 0.5f, { 2 * (1 + 2 + 5 + 6) + 2,
		  2 * (3 + 4 + 7 + 8) - 2 } },
		{ CUDNN_TENSOR_NHWC, 0, { 2 * (1 + 3 + 5 + 7),
		  2 * (2 + 4 + 6 + 8) } },
	};
	const float dy[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, alpha = 2;
	const float old[] = { 4, -4 };
	struct test_conv d = test_conv_new();
	float *in = test_upload(dy, sizeof dy), *out = test_device(8), db[2];

	(void)state;
	OK(cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 1, 2, 1, 1));
	for (int i = 0; i < 2; i++) {
		OK(cudnnSetTensor4dDescriptor(d.y, rows[i].layout,
		    CUDNN_DATA_FLOAT, 2, 2, 1, 2));
		OK(cudaMemcpy(out, old, sizeof old, cudaMemcpyHostToDevice));
		if (rows[i].beta == 0)
			OK(cudaMemset(out, 0xff, sizeof old));
		OK(cudnnConvolutionBackwardBias(handle, &alpha, d.y, in,
		    &rows[i].beta, d.x, out));
		OK(cudaMemcpy(db, out, sizeof db, cudaMemcpyDeviceToHost));
		assert_memory_equal(db, rows[i].want, sizeof db);
	}
	OK(cudnnSetTensor4dDescriptor(d.y, CUDNN_TENSOR_NCHW, CUDNN_DATA_INT8,
	    2, 2, 1, 2));
	OK(cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW, CUDNN_DATA_INT8,
	    1, 2, 1, 1));
	assert_int_equal(cudnnConvolutionBackwardBias(handle, &alpha, d.y, in,
	    &rows[0].beta, d.x, out), CUDNN_STATUS_NOT_SUPPORTED);
	OK(cudaFree(in));
	OK(cudaFree(out));
	test_conv_drop(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(tf32),
		cmocka_unit_test(fused),
		cmocka_unit_test(bias_gradient),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cudnnCreate(&handle))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cudnnDestroy(handle);
	return failed;
}
