/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_dnn_ops.h -- what the tests of cuDNN's legacy
 * operations share: descriptors, tensors of doubles, and finite differences. */
#ifndef AC_TEST_EMU_DNN_OPS_H
#define AC_TEST_EMU_DNN_OPS_H

#include "test_emu.h"

#include <cudnn.h>
#include <math.h>

enum { N = 2, C = 3, H = 5, W = 4, COUNT = N * C * H * W };

static cudnnHandle_t handle;
static cudnnTensorDescriptor_t x_desc, y_desc, small_desc;
static cudnnActivationDescriptor_t activation;
static cudnnPoolingDescriptor_t pooling;
static double xs[COUNT], ys[COUNT], dys[COUNT];
static double *x, *y, *dx, *dy; /* in device memory, COUNT each */
static double *scale, *bias, *mean, *variance, *dscale, *dbias;
static const double one = 1, zero = 0, two = 2, half = 0.5;

static inline double *
room(int count, double value)
{
	double values[COUNT];

	for (int i = 0; i < count; i++)
		values[i] = value;
	return test_upload(values, (size_t)count * sizeof *values);
}

static inline void
put(double *to, const double *from, int count)
{
	OK(cudaMemcpy(to, from, (size_t)count * sizeof *to,
	    cudaMemcpyHostToDevice));
}

static inline void
get(double *to, const double *from, int count)
{
	OK(cudaMemcpy(to, from, (size_t)count * sizeof *to,
	    cudaMemcpyDeviceToHost));
}

static inline void
near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.17g, want %.17g", got, want);
}

static inline void
shape(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int n, int c,
    int h, int w)
{
	OK(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, type, n, c, h,
	    w));
}

/* No two values are closer than 0.03, so that a finite difference changes no
 * maximum and crosses no kink. */
static inline void
scatter(double *values, int count)
{
	for (int i = 0; i < count; i++)
		values[i] = 0.033 * (i * 37 % 121 - 60) + 0.0113;
}

static inline int
setup(void **state)
{
	uint64_t seed = 5;

	(void)state;
	OK(cudnnCreate(&handle));
	OK(cudnnCreateTensorDescriptor(&x_desc));
	OK(cudnnCreateTensorDescriptor(&y_desc));
	OK(cudnnCreateTensorDescriptor(&small_desc));
	OK(cudnnCreateActivationDescriptor(&activation));
	OK(cudnnCreatePoolingDescriptor(&pooling));
	scatter(xs, COUNT);
	for (int i = 0; i < COUNT; i++)
		dys[i] = (double)test_random(&seed);
	shape(x_desc, CUDNN_DATA_DOUBLE, N, C, H, W);
	shape(y_desc, CUDNN_DATA_DOUBLE, N, C, H, W);
	x = test_upload(xs, sizeof xs);
	dy = test_upload(dys, sizeof dys);
	y = room(COUNT, (double)NAN); /* beta = 0: not read */
	dx = room(COUNT, (double)NAN);
	scale = room(COUNT, 1.5);
	bias = room(COUNT, -0.25);
	mean = room(COUNT, 4);
	variance = room(COUNT, 8);
	dscale = room(COUNT, (double)NAN);
	dbias = room(COUNT, (double)NAN);
	return 0;
}

static inline int
teardown(void **state)
{
	double *const all[] = { x, y, dx, dy, scale, bias, mean, variance,
		dscale, dbias };

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		OK(cudaFree(all[i]));
	OK(cudnnDestroyTensorDescriptor(x_desc));
	OK(cudnnDestroyTensorDescriptor(y_desc));
	OK(cudnnDestroyTensorDescriptor(small_desc));
	OK(cudnnDestroyActivationDescriptor(activation));
	OK(cudnnDestroyPoolingDescriptor(pooling));
	OK(cudnnDestroy(handle));
	return 0;
}

/* The result of `forward` on `values` at `in`, weighted by dys. */
static inline double
loss(double *in, const double *values, int inputs, int outputs,
    void (*forward)(void))
{
	double sum = 0;

	put(in, values, inputs);
	forward();
	get(ys, y, outputs);
	for (int i = 0; i < outputs; i++)
		sum += ys[i] * dys[i];
	return sum;
}

/* The derivative of loss() by every element of `in`, compared with
 * `gradient`. */
static inline void
differentiate(double *in, const double *gradient, int inputs, int outputs,
    void (*forward)(void))
{
	const double step = 1e-5;
	double values[COUNT], got[COUNT];

	get(values, in, inputs);
	get(got, gradient, inputs);
	for (int i = 0; i < inputs; i++) {
		const double here = values[i];
		double up, down;

		values[i] = here + step;
		up = loss(in, values, inputs, outputs, forward);
		values[i] = here - step;
		down = loss(in, values, inputs, outputs, forward);
		values[i] = here;
		near(got[i], (up - down) / (2 * step), 1e-7);
	}
	put(in, values, inputs);
}

#endif
