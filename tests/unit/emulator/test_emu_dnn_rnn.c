/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_dnn_rnn.c -- recurrent networks on the emulated
 * GPU: the forward pass against loops in FP64, gradients against their finite
 * differences, and what conversion to FP16 rounds. */
#include "test_emu.h"

#include <cudnn.h>

#include <math.h>

enum { STEPS = 4, BATCH = 3, INPUT = 3, HIDDEN = 4, LAYERS = 2, SIDES = 2,
	ROWS = STEPS * BATCH, STATES = LAYERS * SIDES * BATCH * HIDDEN,
	OUT = ROWS * SIDES * HIDDEN, MOST = 1024 };

struct net {
	int cell, bias, sides, layers, layout;
	int math;
	const int *length;
};

static const int packed[] = { 4, 3, 1 }, ragged[] = { 2, 4, 0 },
	whole[] = { 4, 4, 4 };
static cudnnHandle_t handle;

/* ---- the network, in FP64 ------------------------------------------------ */

/* All inputs of a pass, and its outputs. */
struct numbers {
	double parameters[MOST], x[ROWS * INPUT], hx[STATES], cx[STATES];
	double y[OUT], hy[STATES], cy[STATES];
};

static int64_t matrix_at[LAYERS * SIDES][8], bias_at[LAYERS * SIDES][8];
static int64_t parameter_count;

#define sigma(x) (1 / (1 + exp(-(x))))

static int
gates_of(const struct net *n)
{
	return n->cell == CUDNN_LSTM ? 4 : n->cell == CUDNN_GRU ? 3 : 1;
}

static int
row_of(const struct net *n, int t, int b)
{
	int row = b;

	if (n->layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED)
		return b * STEPS + t;
	if (n->layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED)
		return t * BATCH + b;
	for (int earlier = 0; earlier < t; earlier++)
		for (int other = 0; other < BATCH; other++)
			row += n->length[other] > earlier;
	return row;
}

static double
linear(const struct numbers *v, int layer, int which, int row,
    const double *in, int count)
{
	const int64_t bias = bias_at[layer][which];
	double sum = bias < 0 ? 0 : v->parameters[bias + row];

	for (int k = 0; k < count; k++)
		sum += v->parameters[matrix_at[layer][which] + row * count + k]
		    * in[k];
	return sum;
}

static void
one_step(const struct net *n, const struct numbers *v, int layer,
    const double *in, int width, double *h, double *c)
{
	double before[HIDDEN];

	memcpy(before, h, sizeof before);
	for (int j = 0; j < HIDDEN; j++) {
		const int gates = gates_of(n);
		double a[4], r[4];

		for (int g = 0; g < gates; g++) {
			a[g] = linear(v, layer, g, j, in, width);
			r[g] = linear(v, layer, gates + g, j, before, HIDDEN);
		}
		if (n->cell == CUDNN_LSTM) {
			c[j] = sigma(a[1] + r[1]) * c[j] +
			    sigma(a[0] + r[0]) * tanh(a[2] + r[2]);
			h[j] = sigma(a[3] + r[3]) * tanh(c[j]);
		} else if (n->cell == CUDNN_GRU) {
			const double z = sigma(a[1] + r[1]);

			h[j] = (1 - z) * tanh(a[2] + sigma(a[0] + r[0]) * r[2])
			    + z * before[j];
		} else {
			h[j] = n->cell == CUDNN_RNN_TANH ? tanh(a[0] + r[0]) :
			    fmax(a[0] + r[0], 0);
		}
	}
}

/* One direction of one layer: from rows of `in` to columns of `out`, both
 * indexed by step and sequence. */
static void
one_layer(const struct net *n, struct numbers *v, int layer, int width,
    const double *in, double *out)
{
	for (int b = 0; b < BATCH; b++) {
		double *h = v->hy + (layer * BATCH + b) * HIDDEN;
		double *c = v->cy + (layer * BATCH + b) * HIDDEN;
		const int length = n->length[b], side = layer % n->sides;

		memcpy(h, v->hx + (layer * BATCH + b) * HIDDEN,
		    HIDDEN * sizeof *h);
		memcpy(c, v->cx + (layer * BATCH + b) * HIDDEN,
		    HIDDEN * sizeof *c);
		for (int i = 0; i < length; i++) {
			const int at = (side ? length - 1 - i : i) * BATCH + b;

			one_step(n, v, layer, in + at * width, width, h, c);
			memcpy(out + (at * n->sides + side) * HIDDEN, h,
			    HIDDEN * sizeof *h);
		}
	}
}

static void
reference(const struct net *n, struct numbers *v)
{
	static double rows[2][OUT];
	const double *in = rows[0];
	double *out = rows[1];
	int width = INPUT;

	for (int b = 0; b < BATCH; b++)
		for (int t = 0; t < n->length[b]; t++)
			memcpy(rows[0] + (t * BATCH + b) * INPUT, v->x +
			    row_of(n, t, b) * INPUT, INPUT * sizeof *v->x);
	for (int level = 0; level < n->layers; level++) {
		for (int side = 0; side < n->sides; side++)
			one_layer(n, v, level * n->sides + side, width, in,
			    out);
		width = n->sides * HIDDEN;
		in = out;
		out = rows[level % 2];
	}
	for (int b = 0; b < BATCH; b++)
		for (int t = 0; t < n->length[b]; t++)
			memcpy(v->y + row_of(n, t, b) * width, in +
			    (t * BATCH + b) * width, (size_t)width *
			    sizeof *in);
}

/* ---- the same by cuDNN --------------------------------------------------- */

struct device {
	cudnnRNNDescriptor_t rnn;
	cudnnRNNDataDescriptor_t x_desc, y_desc;
	cudnnTensorDescriptor_t h_desc;
	float *parameters, *x, *hx, *cx, *y, *hy, *cy;
	float *dparameters, *dx, *dhx, *dcx, *dy, *dhy, *dcy;
	void *work, *reserve;
	size_t work_bytes, reserve_bytes, weight_bytes;
};

static float *
upload(const double *from, int count)
{
	float values[MOST];

	for (int i = 0; i < count; i++)
		values[i] = from ? (float)from[i] : 1;
	return test_upload(values, (size_t)count * sizeof *values);
}

static void
download(double *to, const float *from, int count)
{
	float values[MOST];

	OK(cudaMemcpy(values, from, (size_t)count * sizeof *values,
	    cudaMemcpyDeviceToHost));
	for (int i = 0; i < count; i++)
		to[i] = (double)values[i];
}

static void
describe(const struct net *n, struct device *d)
{
	float fill = 7;

	OK(cudnnCreateRNNDescriptor(&d->rnn));
	OK(cudnnCreateRNNDataDescriptor(&d->x_desc));
	OK(cudnnCreateRNNDataDescriptor(&d->y_desc));
	OK(cudnnCreateTensorDescriptor(&d->h_desc));
	OK(cudnnSetRNNDescriptor_v8(d->rnn, CUDNN_RNN_ALGO_STANDARD,
	    (cudnnRNNMode_t)n->cell, (cudnnRNNBiasMode_t)n->bias,
	    n->sides == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
	    CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
	    (cudnnMathType_t)n->math, INPUT, HIDDEN, HIDDEN, n->layers, NULL,
	    CUDNN_RNN_PADDED_IO_ENABLED));
	OK(cudnnSetRNNDataDescriptor(d->x_desc, CUDNN_DATA_FLOAT,
	    (cudnnRNNDataLayout_t)n->layout, STEPS, BATCH, INPUT, n->length,
	    NULL));
	OK(cudnnSetRNNDataDescriptor(d->y_desc, CUDNN_DATA_FLOAT,
	    (cudnnRNNDataLayout_t)n->layout, STEPS, BATCH, n->sides * HIDDEN,
	    n->length, &fill));
	OK(cudnnSetTensorNdDescriptorEx(d->h_desc, CUDNN_TENSOR_NCHW,
	    CUDNN_DATA_FLOAT, 3, (int[]){ n->layers * n->sides, BATCH,
	    HIDDEN }));
}

/* The places of parameters, which the loops above use. */
static void
locate(const struct net *n, const struct device *d)
{
	cudnnTensorDescriptor_t matrix, bias;
	char *at[2];

	OK(cudnnCreateTensorDescriptor(&matrix));
	OK(cudnnCreateTensorDescriptor(&bias));
	for (int layer = 0; layer < n->layers * n->sides; layer++)
		for (int g = 0; g < 2 * gates_of(n); g++) {
			int dims, dim[3], stride[3];
			cudnnDataType_t type;

			OK(cudnnGetRNNWeightParams(handle, d->rnn, layer,
			    d->weight_bytes, d->parameters, g, matrix,
			    (void **)&at[0], bias, (void **)&at[1]));
			OK(cudnnGetTensorNdDescriptor(matrix, 3, &type, &dims,
			    dim, stride));
			assert_int_equal(dims, 3);
			assert_int_equal(dim[1], HIDDEN);
			assert_int_equal(dim[2], g >= gates_of(n) ? HIDDEN :
			    layer < n->sides ? INPUT : n->sides * HIDDEN);
			matrix_at[layer][g] = (at[0] - (char *)d->parameters) /
			    4;
			bias_at[layer][g] = at[1] ? (at[1] -
			    (char *)d->parameters) / 4 : -1;
			OK(cudnnGetTensorNdDescriptor(bias, 3, &type, &dims,
			    dim, stride));
			assert_int_equal(dims, at[1] ? 3 : 0);
		}
	OK(cudnnDestroyTensorDescriptor(matrix));
	OK(cudnnDestroyTensorDescriptor(bias));
}

static void
make(const struct net *n, struct device *d, struct numbers *v)
{
	uint64_t seed = 11;
	double *const parts[] = { v->parameters, v->x, v->hx, v->cx };
	const int counts[] = { MOST, ROWS * INPUT, STATES, STATES };

	memset(d, 0, sizeof *d);
	describe(n, d);
	OK(cudnnGetRNNWeightSpaceSize(handle, d->rnn, &d->weight_bytes));
	parameter_count = (int64_t)(d->weight_bytes / 4);
	assert_true(parameter_count <= MOST);
	/* The sum of a row is less than 1: errors do not grow from step to
	 * step. */
	for (int part = 0; part < 4; part++)
		for (int i = 0; i < counts[part]; i++)
			parts[part][i] = (double)(float)(test_random(&seed) *
			    (part ? 1 : 0.2f));
	d->parameters = upload(v->parameters, (int)parameter_count);
	d->dparameters = upload(NULL, (int)parameter_count);
	d->x = upload(v->x, ROWS * INPUT);
	d->dx = upload(NULL, ROWS * INPUT);
	d->hx = upload(v->hx, STATES);
	d->cx = upload(v->cx, STATES);
	d->y = upload(NULL, OUT);
	d->hy = upload(NULL, STATES);
	d->cy = upload(NULL, STATES);
	d->dhx = upload(NULL, STATES);
	d->dcx = upload(NULL, STATES);
	OK(cudnnGetRNNTempSpaceSizes(handle, d->rnn, CUDNN_FWD_MODE_TRAINING,
	    d->x_desc, &d->work_bytes, &d->reserve_bytes));
	d->work = test_device(d->work_bytes);
	d->reserve = test_device(d->reserve_bytes);
	locate(n, d);
}

static void
drop(struct device *d)
{
	void *const all[] = { d->parameters, d->x, d->hx, d->cx, d->y, d->hy,
		d->cy, d->dparameters, d->dx, d->dhx, d->dcx, d->dy, d->dhy,
		d->dcy, d->work, d->reserve };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		OK(cudaFree(all[i]));
	OK(cudnnDestroyRNNDescriptor(d->rnn));
	OK(cudnnDestroyRNNDataDescriptor(d->x_desc));
	OK(cudnnDestroyRNNDataDescriptor(d->y_desc));
	OK(cudnnDestroyTensorDescriptor(d->h_desc));
}

static void
forward(const struct device *d, cudnnForwardMode_t mode)
{
	size_t work_bytes, reserve_bytes;
	void *work;

	OK(cudnnGetRNNTempSpaceSizes(handle, d->rnn, mode, d->x_desc,
	    &work_bytes, &reserve_bytes));
	work = test_device(work_bytes);
	OK(cudnnRNNForward(handle, d->rnn, mode, NULL, d->x_desc, d->x,
	    d->y_desc, d->y, d->h_desc, d->hx, d->hy, d->h_desc, d->cx, d->cy,
	    d->weight_bytes, d->parameters, work_bytes, work, reserve_bytes,
	    reserve_bytes ? d->reserve : NULL));
	OK(cudaDeviceSynchronize());
	OK(cudaFree(work));
}

/* ---- forward ------------------------------------------------------------- */

/* Nearly every pair of the settings. */
static const struct net nets[] = {
	{ CUDNN_RNN_RELU, CUDNN_RNN_DOUBLE_BIAS, 1, 1, 0, 3, whole },
	{ CUDNN_RNN_RELU, CUDNN_RNN_NO_BIAS, 2, 2, 1, 3, packed },
	{ CUDNN_RNN_TANH, CUDNN_RNN_SINGLE_INP_BIAS, 2, 2, 2, 3, ragged },
	{ CUDNN_RNN_TANH, CUDNN_RNN_SINGLE_REC_BIAS, 1, 2, 1, 3, packed },
	{ CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, 1, 1, 0, 3, whole },
	{ CUDNN_LSTM, CUDNN_RNN_SINGLE_REC_BIAS, 2, 2, 0, 3, ragged },
	{ CUDNN_LSTM, CUDNN_RNN_NO_BIAS, 2, 1, 1, 3, packed },
	{ CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, 2, 2, 2, 3, ragged },
	{ CUDNN_GRU, CUDNN_RNN_DOUBLE_BIAS, 1, 2, 0, 3, ragged },
	{ CUDNN_GRU, CUDNN_RNN_SINGLE_INP_BIAS, 2, 1, 2, 3, whole },
	{ CUDNN_GRU, CUDNN_RNN_SINGLE_REC_BIAS, 1, 1, 1, 3, packed },
	{ CUDNN_GRU, CUDNN_RNN_NO_BIAS, 2, 2, 0, 3, ragged },
};
enum { NETS = sizeof nets / sizeof *nets };

/* The longest path has LAYERS * STEPS steps. Each adds about 16 terms of at
 * most 1, with an error of half an ulp of the sum for each, on each of two
 * sides; then come a few functions, none steeper than 1, and the LSTM's cell of
 * up to 5. */
static const double unit = 0x1p-24;
#define STEPWISE (LAYERS * STEPS * 2 * (16 + 5) * 2)

static void
near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.9g, want %.9g, within %.3g", got, want,
		    tolerance);
}

static void
compare(const float *device, const double *want, int count, double tolerance)
{
	double got[MOST];

	download(got, device, count);
	for (int i = 0; i < count; i++)
		near(got[i], want[i], tolerance);
}

/* Both modes; the padding behind short sequences is filled in. */
static void
forwards(void **state)
{
	static struct numbers v;
	struct device d;

	(void)state;
	for (int i = 0; i < NETS; i++) {
		const struct net *n = &nets[i];
		const int states = n->layers * n->sides * BATCH * HIDDEN;

		make(n, &d, &v);
		for (int k = 0; k < OUT; k++)
			v.y[k] = n->layout == 1 || k >= ROWS * n->sides *
			    HIDDEN ? 1 : 7;
		reference(n, &v);
		for (int mode = 0; mode < 2; mode++) {
			forward(&d, (cudnnForwardMode_t)mode);
			compare(d.y, v.y, OUT, STEPWISE * unit);
			compare(d.hy, v.hy, states, STEPWISE * unit);
			if (n->cell == CUDNN_LSTM)
				compare(d.cy, v.cy, states, STEPWISE * unit);
			OK(cudaMemset(d.hy, 0, STATES * sizeof *d.hy));
		}
		drop(&d);
	}
}

/* ---- gradients ----------------------------------------------------------- */

static double weight_y[OUT], weight_h[STATES], weight_c[STATES];

static double
loss(const struct net *n, struct numbers *v)
{
	double sum = 0;

	reference(n, v);
	for (int b = 0; b < BATCH; b++)
		for (int t = 0; t < n->length[b]; t++)
			for (int j = 0; j < n->sides * HIDDEN; j++) {
				const int at = row_of(n, t, b) * n->sides *
				    HIDDEN + j;

				sum += v->y[at] * weight_y[at];
			}
	for (int i = 0; i < n->layers * n->sides * BATCH * HIDDEN; i++)
		sum += v->hy[i] * weight_h[i] + (n->cell == CUDNN_LSTM ?
		    v->cy[i] * weight_c[i] : 0);
	return sum;
}

/* Each of `count` gradients on the device, against the difference of the loss,
 * plus the old value. The bound is that of the forward pass, but a gradient is
 * a sum over all rows: ROWS * SIDES * HIDDEN terms. The difference in FP64 is
 * exact to 1e-9. */
static void
differentiate(const struct net *n, struct numbers *v, double *values,
    const float *device, int count, double there)
{
	const double step = 1e-5;
	double got[MOST];

	download(got, device, count);
	for (int i = 0; i < count; i++) {
		const double value = values[i];
		double up;

		values[i] = value + step;
		up = loss(n, v);
		values[i] = value - step;
		near(got[i], there + (up - loss(n, v)) / (2 * step),
		    OUT * STEPWISE * unit / 4);
		values[i] = value;
	}
}

static void
backward(const struct device *d)
{
	OK(cudnnRNNBackwardData_v8(handle, d->rnn, NULL, d->y_desc, d->y,
	    d->dy, d->x_desc, d->dx, d->h_desc, d->hx, d->dhy, d->dhx,
	    d->h_desc, d->cx, d->dcy, d->dcx, d->weight_bytes, d->parameters,
	    d->work_bytes, d->work, d->reserve_bytes, d->reserve));
	OK(cudnnRNNBackwardWeights_v8(handle, d->rnn, CUDNN_WGRAD_MODE_ADD,
	    NULL, d->x_desc, d->x, d->h_desc, d->hx, d->y_desc, d->y,
	    d->weight_bytes, d->dparameters, d->work_bytes, d->work,
	    d->reserve_bytes, d->reserve));
	OK(cudaDeviceSynchronize());
}

static void
gradients(void **state)
{
	static struct numbers v;
	uint64_t seed = 23;
	struct device d;

	(void)state;
	for (int i = 0; i < OUT; i++)
		weight_y[i] = (double)test_random(&seed);
	for (int i = 0; i < STATES; i++) {
		weight_h[i] = (double)test_random(&seed);
		weight_c[i] = (double)test_random(&seed);
	}
	for (int i = 0; i < NETS; i++) {
		const struct net *n = &nets[i];
		const int states = n->layers * n->sides * BATCH * HIDDEN;
		const int rows = n->layout == 1 ? 8 : ROWS;

		make(n, &d, &v);
		d.dy = upload(weight_y, OUT);
		d.dhy = upload(weight_h, STATES);
		d.dcy = upload(weight_c, STATES);
		forward(&d, CUDNN_FWD_MODE_TRAINING);
		backward(&d);
		differentiate(n, &v, v.x, d.dx, rows * INPUT, 0);
		differentiate(n, &v, v.hx, d.dhx, states, 0);
		if (n->cell == CUDNN_LSTM)
			differentiate(n, &v, v.cx, d.dcx, states, 0);
		differentiate(n, &v, v.parameters, d.dparameters,
		    (int)parameter_count, 1);
		drop(&d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forwards), cmocka_unit_test(gradients),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cudnnCreate(&handle))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cudnnDestroy(handle);
	return failed;
}
