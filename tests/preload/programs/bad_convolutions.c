/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/bad_convolutions.c -- calls of cuDNN's older
 * convolution interface that are wrong in one way each, behind a good one of
 * the same kind: prints for each its status, and whether the output was
 * touched. WORD=VALUE... as for convolving. */
#include "conv_problem.h"

#define FIELDS(row) \
	row(handle) row(alpha) row(beta) row(x_desc) row(w_desc) row(y_desc) \
	row(conv) row(x) row(w) row(y) row(workspace) row(z_desc) row(z) \
	row(bias_desc) row(bias) row(activation)

/* What a call is made with. */
struct call {
	cudnnHandle_t handle;
	const float *alpha, *beta;
	cudnnTensorDescriptor_t x_desc, y_desc, z_desc, bias_desc;
	cudnnFilterDescriptor_t w_desc;
	cudnnConvolutionDescriptor_t conv;
	cudnnActivationDescriptor_t activation;
	float *x, *w, *y, *z, *bias;
	void *workspace;
	size_t bytes;
	int algorithm;
};

static struct {
	cudnnTensorDescriptor_t unset, wide, shallow, half, doubles, flat;
	cudnnFilterDescriptor_t unset_filter, deep_filter, half_filter;
	cudnnConvolutionDescriptor_t unset_conv, volume, grouped, doubles_conv;
	cudnnActivationDescriptor_t unset_activation;
	cudnnHandle_t destroyed;
	float *host, nan, infinite;
} wrong;

/* ---- Ways to be wrong ---------------------------------------------------- */

#define NONE(field) static void no_##field(struct call *c) { c->field = NULL; }
FIELDS(NONE)
#define WAY(name, field, value) \
	static void name(struct call *c) { c->field = value; }
WAY(handle_destroyed, handle, wrong.destroyed)
WAY(x_unset, x_desc, wrong.unset)
WAY(y_unset, y_desc, wrong.unset)
WAY(w_unset, w_desc, wrong.unset_filter)
WAY(conv_unset, conv, wrong.unset_conv)
WAY(activation_unset, activation, wrong.unset_activation)
WAY(x_wide, x_desc, wrong.wide)
WAY(y_wide, y_desc, wrong.wide)
WAY(x_shallow, x_desc, wrong.shallow)
WAY(y_shallow, y_desc, wrong.shallow)
WAY(w_deep, w_desc, wrong.deep_filter)
WAY(x_half, x_desc, wrong.half)
WAY(y_half, y_desc, wrong.half)
WAY(x_doubles, x_desc, wrong.doubles)
WAY(w_half, w_desc, wrong.half_filter)
WAY(x_flat, x_desc, wrong.flat)
WAY(conv_volume, conv, wrong.volume)
WAY(conv_grouped, conv, wrong.grouped)
WAY(conv_doubles, conv, wrong.doubles_conv)
WAY(bias_wide, bias_desc, wrong.wide)
WAY(z_half, z_desc, wrong.half)
WAY(algorithm_99, algorithm, 99)
WAY(algorithm_negative, algorithm, -1)
WAY(no_bytes, bytes, 0)
WAY(x_on_host, x, wrong.host)
WAY(w_on_host, w, wrong.host)
WAY(y_on_host, y, wrong.host)
WAY(alpha_nan, alpha, &wrong.nan)
WAY(beta_nan, beta, &wrong.nan)
WAY(beta_infinite, beta, &wrong.infinite)

static void
x_odd(struct call *c)
{
	c->x = (float *)(void *)((char *)c->x + 2);
}

static const struct {
	const char *name;
	void (*spoil)(struct call *);
} ways[] = {
#define ROW(name) { #name, name },
#define NO_ROW(name) { "no " #name, no_##name },
	FIELDS(NO_ROW)
	ROW(handle_destroyed) ROW(x_unset) ROW(y_unset) ROW(w_unset)
	ROW(conv_unset) ROW(activation_unset) ROW(x_wide) ROW(y_wide)
	ROW(x_shallow) ROW(y_shallow) ROW(w_deep) ROW(x_half) ROW(y_half)
	ROW(x_doubles) ROW(w_half) ROW(x_flat) ROW(conv_volume)
	ROW(conv_grouped) ROW(conv_doubles) ROW(bias_wide) ROW(z_half)
	ROW(algorithm_99) ROW(algorithm_negative) ROW(no_bytes) ROW(x_on_host)
	ROW(w_on_host) ROW(y_on_host) ROW(alpha_nan) ROW(beta_nan)
	ROW(beta_infinite) ROW(x_odd)
};

static cudnnTensorDescriptor_t
descriptor(cudnnDataType_t type, int dims, int n, int c, int h, int w)
{
	const int dim[5] = { n, c, h, w, 1 };
	cudnnTensorDescriptor_t made;

	MUST(cudnnCreateTensorDescriptor(&made));
	MUST(cudnnSetTensorNdDescriptorEx(made, CUDNN_TENSOR_NCHW, type, dims,
	    dim));
	return made;
}

static cudnnFilterDescriptor_t
filter(cudnnDataType_t type, int k, int c, int r)
{
	cudnnFilterDescriptor_t made;

	MUST(cudnnCreateFilterDescriptor(&made));
	MUST(cudnnSetFilter4dDescriptor(made, type, CUDNN_TENSOR_NCHW, k, c, r,
	    r));
	return made;
}

static cudnnConvolutionDescriptor_t
convolution(int space, int groups, cudnnDataType_t type)
{
	const int pads[3] = { 1, 1, 1 };
	cudnnConvolutionDescriptor_t made;

	MUST(cudnnCreateConvolutionDescriptor(&made));
	MUST(cudnnSetConvolutionNdDescriptor(made, space, pads, pads, pads,
	    CUDNN_CROSS_CORRELATION, type));
	MUST(cudnnSetConvolutionGroupCount(made, groups));
	return made;
}

static void
make_wrong(void)
{
	const int n = whole("n"), c = whole("c"), h = whole("h");

	MUST(cudnnCreateTensorDescriptor(&wrong.unset));
	MUST(cudnnCreateFilterDescriptor(&wrong.unset_filter));
	MUST(cudnnCreateConvolutionDescriptor(&wrong.unset_conv));
	MUST(cudnnCreateActivationDescriptor(&wrong.unset_activation));
	wrong.wide = descriptor(CUDNN_DATA_FLOAT, 4, n, c, h, h + 1);
	wrong.shallow = descriptor(CUDNN_DATA_FLOAT, 4, n, c - 1, h, h);
	wrong.half = descriptor(CUDNN_DATA_HALF, 4, n, c, h, h);
	wrong.doubles = descriptor(CUDNN_DATA_DOUBLE, 4, n, c, h, h);
	wrong.flat = descriptor(CUDNN_DATA_FLOAT, 5, n, c, h, h);
	wrong.deep_filter = filter(CUDNN_DATA_FLOAT, whole("k"), c + 1,
	    whole("r"));
	wrong.half_filter = filter(CUDNN_DATA_HALF, whole("k"), c, whole("r"));
	wrong.volume = convolution(3, 1, CUDNN_DATA_FLOAT);
	wrong.grouped = convolution(2, 2, CUDNN_DATA_FLOAT);
	wrong.doubles_conv = convolution(2, 1, CUDNN_DATA_DOUBLE);
	wrong.host = calloc(1 << 20, sizeof(float));
	wrong.nan = NAN;
	wrong.infinite = INFINITY;
	MUST(cudnnCreate(&wrong.destroyed));
	MUST(cudnnDestroy(wrong.destroyed));
}

/* ---- Calls --------------------------------------------------------------- */

static int
make_call(const struct call *c)
{
	switch (whole("op")) {
	case 1:
		return (int)cudnnConvolutionBackwardData(c->handle, c->alpha,
		    c->w_desc, c->w, c->y_desc, c->y, c->conv,
		    (cudnnConvolutionBwdDataAlgo_t)c->algorithm, c->workspace,
		    c->bytes, c->beta, c->x_desc, c->x);
	case 2:
		return (int)cudnnConvolutionBackwardFilter(c->handle, c->alpha,
		    c->x_desc, c->x, c->y_desc, c->y, c->conv,
		    (cudnnConvolutionBwdFilterAlgo_t)c->algorithm,
		    c->workspace, c->bytes, c->beta, c->w_desc, c->w);
	case 3:
		return (int)cudnnConvolutionBiasActivationForward(c->handle,
		    c->alpha, c->x_desc, c->x, c->w_desc, c->w, c->conv,
		    (cudnnConvolutionFwdAlgo_t)c->algorithm, c->workspace,
		    c->bytes, c->beta, c->z_desc, c->z, c->bias_desc, c->bias,
		    c->activation, c->y_desc, c->y);
	default:
		return (int)cudnnConvolutionForward(c->handle, c->alpha,
		    c->x_desc, c->x, c->w_desc, c->w, c->conv,
		    (cudnnConvolutionFwdAlgo_t)c->algorithm, c->workspace,
		    c->bytes, c->beta, c->y_desc, c->y);
	}
}

int
main(int argc, char **argv)
{
	static const float one = 1, zero = 0;
	struct problem p = { .bytes = 0 };
	struct call good;
	cudnnHandle_t handle;

	if (!parse(argc, argv))
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	MUST(cudnnCreate(&handle));
	make(&p, handle);
	make_wrong();
	good = (struct call){ handle, &one, &zero, p.x, p.y, p.y, p.bias_desc,
		p.w, p.conv, p.activation, p.xs.device, p.ws.device,
		p.ys.device, p.zs.device, p.bias.device, p.workspace, p.bytes,
		whole("op") == 1 ? (int)DATA_ALGO : whole("op") == 2
		? (int)FILTER_ALGO : (int)FORWARD_ALGO };
	for (int i = 0; i < 3; i++)
		MUST(make_call(&good));
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct call bad = good;
		uint64_t before;
		int status;

		MUST(cudaDeviceSynchronize());
		before = hash(output(&p));
		ways[i].spoil(&bad);
		status = make_call(&bad);
		MUST(cudaDeviceSynchronize());
		printf("%s: %d %d\n", ways[i].name, status,
		    hash(output(&p)) != before);
		MUST(make_call(&good));
	}
	MUST(cudaDeviceSynchronize());
	return 0;
}
