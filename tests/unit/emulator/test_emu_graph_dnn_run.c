/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_graph_dnn_run.c -- plans of cuDNN's emulated
 * graph interface: what they compute, against a naive sum; when; what of the
 * program's memory they need. */
#include "tests/unit/emulator/test_emu_graph_dnn.h"

#include <math.h>

enum { MOST = 4096 }; /* elements of a tensor here */

/* A graph, its engine, its data on both sides. */
struct world {
	struct dnn_wish wish;
	cudnnHandle_t handle;
	int64_t out;                    /* rows of y */
	size_t  count[3];               /* x, w, y */
	float   host[3][MOST], z[MOST], b[MOST], result[MOST];
	float  *device[3], *dz, *db, *dout;
	void   *workspace;
	int64_t bytes;
	descriptor plan;
};

static struct world world;

static void
make_plan(struct world *w, int64_t index)
{
	const descriptor config = dnn_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	descriptor engine;

	OK(dnn_engine(dnn_graph(&w->wish, w->handle), NULL, index, &engine));
	dnn_put(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
	OK(cudnnBackendFinalize(config));
	w->plan = dnn_new(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	dnn_put(w->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	dnn_set(w->plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &w->handle);
	OK(cudnnBackendFinalize(w->plan));
	w->bytes = dnn_number(w->plan,
	    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
}

static struct world *
start(const struct dnn_wish *wish, int64_t index)
{
	struct world *w = &world;
	const struct dnn_shape *s = &wish->shape;
	uint64_t random = 7;

	memset(w, 0, sizeof *w);
	w->wish = *wish;
	w->out = s->hw + 2 * s->pad - s->rs + 1;
	w->count[0] = (size_t)(s->n * s->c * s->hw * s->hw);
	w->count[1] = (size_t)(s->k * s->c * s->rs * s->rs);
	w->count[2] = (size_t)(s->n * s->k * w->out * w->out);
	for (int t = 0; t < 3; t++) {
		assert_true(w->count[t] <= MOST);
		for (size_t i = 0; i < w->count[t]; i++)
			w->host[t][i] = test_random(&random);
		w->device[t] = test_upload(w->host[t], w->count[t] *
		    sizeof(float));
	}
	for (size_t i = 0; i < w->count[2]; i++)
		w->z[i] = test_random(&random);
	for (int64_t i = 0; i < s->k; i++)
		w->b[i] = test_random(&random);
	w->dz = test_upload(w->z, w->count[2] * sizeof(float));
	w->db = test_upload(w->b, (size_t)s->k * sizeof(float));
	w->dout = test_device(w->count[2] * sizeof(float));
	OK(cudnnCreate(&w->handle));
	make_plan(w, index);
	if (w->bytes)
		w->workspace = test_device((size_t)w->bytes);
	return w;
}

static void
finish(struct world *w)
{
	OK(cudaDeviceSynchronize());
	for (int t = 0; t < 3; t++)
		OK(cudaFree(w->device[t]));
	OK(cudaFree(w->dz));
	OK(cudaFree(w->db));
	OK(cudaFree(w->dout));
	OK(cudaFree(w->workspace));
	OK(cudnnDestroy(w->handle));
}

static descriptor
pack(const struct world *w, void *workspace)
{
	const int64_t ids[6] = { DNN_OUT, DNN_X, DNN_W, DNN_Y, DNN_Z, DNN_B };
	void *pointers[6] = { w->dout, w->device[0], w->device[1],
		w->device[2], w->dz, w->db };

	return dnn_pack(6, ids, pointers, workspace);
}

static cudnnStatus_t
execute(const struct world *w)
{
	return cudnnBackendExecute(w->handle, w->plan, pack(w, w->workspace));
}

/* The result: of the convolution's own output, or the epilogue's. */
static const float *
fetch(struct world *w)
{
	const bool fused = w->wish.add || w->wish.bias || w->wish.activation;
	const int which = w->wish.op == DNN_FPROP ? 2 :
	    w->wish.op == DNN_DGRAD ? 0 : 1;

	OK(cudaMemcpy(w->result, fused ? w->dout : w->device[which],
	    w->count[which] * sizeof(float), cudaMemcpyDeviceToHost));
	return w->result;
}

/* Where n, c, y, x lie. */
static size_t
at(const struct dnn_shape *s, int64_t channels, int64_t side, int64_t n,
    int64_t c, int64_t y, int64_t x)
{
	return (size_t)(s->nhwc ? ((n * side + y) * side + x) * channels + c
	    : ((n * channels + c) * side + y) * side + x);
}

/* Add every product up where it belongs, in FP64; `inputs` rounds. */
static void
reference(const struct world *w, float (*inputs)(float x), double *sums)
{
	const struct dnn_shape *s = &w->wish.shape;
	const int64_t o = w->out;

	for (int64_t n = 0; n < s->n; n++)
	for (int64_t k = 0; k < s->k; k++)
	for (int64_t p = 0; p < o * o; p++)
	for (int64_t c = 0; c < s->c; c++)
	for (int64_t f = 0; f < s->rs * s->rs; f++) {
		const int64_t y = p / o + f / s->rs - s->pad;
		const int64_t x = p % o + f % s->rs - s->pad;
		size_t i[3];

		if (y < 0 || x < 0 || y >= s->hw || x >= s->hw)
			continue;
		i[0] = at(s, s->c, s->hw, n, c, y, x);
		i[1] = at(s, s->c, s->rs, k, c, f / s->rs, f % s->rs);
		i[2] = at(s, s->k, o, n, k, p / o, p % o);
		if (w->wish.op == DNN_FPROP)
			sums[i[2]] += (double)inputs(w->host[0][i[0]]) *
			    (double)inputs(w->host[1][i[1]]);
		else if (w->wish.op == DNN_DGRAD)
			sums[i[0]] += (double)inputs(w->host[2][i[2]]) *
			    (double)inputs(w->host[1][i[1]]);
		else
			sums[i[1]] += (double)inputs(w->host[0][i[0]]) *
			    (double)inputs(w->host[2][i[2]]);
	}
}

static float
as_is(float x)
{
	return x;
}

/* To 10 bits of mantissa: FP16 and TF32, in the range of these numbers. */
static float
to_ten_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	bits += 0xfff + (bits >> 13 & 1);
	bits &= ~0x1fffu;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static void
expect(struct world *w, float (*inputs)(float x), double tolerance)
{
	static double sums[MOST];
	const float *result = fetch(w);
	const int which = w->wish.op == DNN_FPROP ? 2 :
	    w->wish.op == DNN_DGRAD ? 0 : 1;
	const int64_t plane = w->out * w->out;

	memset(sums, 0, sizeof sums);
	reference(w, inputs, sums);
	for (size_t i = 0; i < w->count[which]; i++) {
		const int64_t channel = w->wish.shape.nhwc
		    ? (int64_t)i % w->wish.shape.k
		    : (int64_t)i / plane % w->wish.shape.k;
		double v = sums[i];

		if (w->wish.beta != 0)
			v += (double)(w->wish.beta * w->host[which][i]);
		if (w->wish.add)
			v += (double)w->z[i];
		if (w->wish.bias)
			v += (double)w->b[channel];
		if (w->wish.activation == CUDNN_POINTWISE_RELU_FWD)
			v = v > 0 ? v : 0;
		else if (w->wish.activation == CUDNN_POINTWISE_TANH_FWD)
			v = tanh(v);
		else if (w->wish.activation == CUDNN_POINTWISE_SIGMOID_FWD)
			v = 1 / (1 + exp(-v));
		assert_true(fabs((double)result[i] - v) <= tolerance);
	}
}

static const struct dnn_wish plain = { .shape = { 2, 4, 5, 3, 3, 1, false },
	.type = CUDNN_DATA_FLOAT };

/* FP32 sums of 200 products below 1: a few units of 2^-18 at most. */
#define SUMS 0x1p-16
/* FP16 outputs below 16 are at most 2^-7 apart, half of that wrong. */
#define HALF 0x1p-8

static void
every_operation_and_layout(void **state)
{
	(void)state;
	for (int op = 0; op < 3; op++)
		for (int i = 0; i < 4; i++) {
			struct dnn_wish wish = plain;
			struct world *w;

			wish.op = (enum dnn_op)op;
			wish.shape.nhwc = i & 1;
			wish.beta = i & 2 ? 0.5f : 0; /* reads the output */
			w = start(&wish, 1);
			OK(execute(w));
			expect(w, as_is, SUMS);
			finish(w);
			w = start(&wish, 67);
			OK(execute(w));
			expect(w, to_ten_bits, SUMS);
			finish(w);
			w = start(&wish, 62);
			OK(execute(w));
			expect(w, to_ten_bits, HALF);
			finish(w);
			dnn_release(NULL);
		}
}

/* An FP16 number in FP32's clothes. */
static bool
is_half(float x)
{
	return to_ten_bits(x) == x;
}

static void
converting_engines_round_what_they_give(void **state)
{
	struct dnn_wish wish = plain;
	int odd = 0;
	struct world *w;

	(void)state;
	for (int bias = 0; bias < 2; bias++) {
		wish.bias = bias;
		w = start(&wish, 45);
		OK(execute(w));
		fetch(w);
		for (size_t i = 0; i < w->count[2]; i++)
			assert_true(is_half(w->result[i]));
		finish(w);
		w = start(&wish, 67);
		OK(execute(w));
		fetch(w);
		for (size_t i = 0; i < w->count[2]; i++)
			odd += !is_half(w->result[i]);
		finish(w);
		assert_true(odd > 0);
	}
}

/* What four numbers times `w` are, converted (62) and in TF32 (67): inputs and
 * outputs from 65520 on are infinite, what is below half of 2^-24 is zero, and
 * what is no number stays none. */
static void
converting_engines_overflow(void **state)
{
	static const struct { float w, x[4], half[4], tf32[4]; } rows[] = {
		{ 2, { 65504, 60000, -60000, 1 },
		  { INFINITY, INFINITY, -INFINITY, 2 },
		  { 131008, 120000, -120000, 2 } },
		{ 1, { 65504, 65519, 65520, -1e5f },
		  { 65504, 65504, INFINITY, -INFINITY },
		  { 65504, 65504, 65536, -99968 } },
		{ 1, { NAN, INFINITY, -INFINITY, 0 },
		  { NAN, INFINITY, -INFINITY, 0 },
		  { NAN, INFINITY, -INFINITY, 0 } },
		{ 0, { 1e5f, INFINITY, 65504, NAN }, { NAN, NAN, 0, NAN },
		  { 0, NAN, 0, NAN } },
		{ 1, { 0x1p-25f, 0x3p-25f, -0x1p-24f, 0x1p-30f },
		  { 0, 0x1p-23f, -0x1p-24f, 0 },
		  { 0x1p-25f, 0x3p-25f, -0x1p-24f, 0x1p-30f } },
		{ 0x1p-12f, { 0x1p-12f, 0x1p-13f, 1, 0x1p-14f },
		  { 0x1p-24f, 0, 0x1p-12f, 0 },
		  { 0x1p-24f, 0x1p-25f, 0x1p-12f, 0x1p-26f } },
	};
	const struct dnn_wish wish = { .shape = { 1, 1, 2, 1, 1, 0, false },
		.type = CUDNN_DATA_FLOAT };

	(void)state;
	for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
	for (int engine = 0; engine < 2; engine++) {
		const float *want = engine ? rows[r].tf32 : rows[r].half;
		struct world *w = start(&wish, engine ? 67 : 62);

		OK(cudaMemcpy(w->device[0], rows[r].x, sizeof rows[r].x,
		    cudaMemcpyHostToDevice));
		OK(cudaMemcpy(w->device[1], &rows[r].w, sizeof rows[r].w,
		    cudaMemcpyHostToDevice));
		OK(execute(w));
		fetch(w);
		for (int i = 0; i < 4; i++)
			if (!(isnan(want[i]) ? isnan(w->result[i]) :
			    w->result[i] == want[i]))
				fail_msg("row %d, %d: got %g, want %g", (int)r,
				    i, (double)w->result[i], (double)want[i]);
		finish(w);
	}
}

static void
epilogues(void **state)
{
	static const int activations[] = { 0, CUDNN_POINTWISE_RELU_FWD,
		CUDNN_POINTWISE_TANH_FWD, CUDNN_POINTWISE_SIGMOID_FWD,
		CUDNN_POINTWISE_IDENTITY };

	(void)state;
	for (int i = 0; i < 5 * 4 * 2; i++) {
		struct dnn_wish wish = plain;
		struct world *w;

		wish.activation = activations[i / 8];
		wish.add = i & 1;
		wish.bias = i & 2;
		wish.shape.nhwc = i & 4;
		w = start(&wish, 1);
		OK(execute(w));
		expect(w, as_is, SUMS);
		finish(w);
		dnn_release(NULL);
	}
}

static void
the_workspace_is_needed_and_spoiled(void **state)
{
	struct world *w = start(&plain, 62);
	unsigned char *seen = malloc((size_t)w->bytes);
	cudnnStatus_t status;

	(void)state;
	assert_non_null(seen);
	assert_int_not_equal(cudnnBackendExecute(w->handle, w->plan,
	    pack(w, NULL)), 0);
	/* A workspace in host memory. */
	status = cudnnBackendExecute(w->handle, w->plan, pack(w, seen));
	assert_int_equal(status, CUDNN_STATUS_EXECUTION_FAILED);
	assert_true(emuCounter("complaints") > 0);
	OK(cudaMemset(w->workspace, 0, (size_t)w->bytes));
	OK(execute(w));
	OK(cudaMemcpy(seen, w->workspace, (size_t)w->bytes,
	    cudaMemcpyDeviceToHost));
	for (int64_t i = 0; i < w->bytes; i++)
		assert_int_equal(seen[i], 0xff);
	free(seen);
	finish(w);
}

static void
packs_must_be_complete(void **state)
{
	struct world *w = start(&plain, 1);
	const descriptor d = dnn_new(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	const int64_t ids[2] = { DNN_X, DNN_W };
	void *pointers[2] = { w->device[0], w->device[1] };
	float *aligned = w->device[0];

	(void)state;
	dnn_set(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 2,
	    ids);
	dnn_set(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
	    2, pointers);
	assert_int_equal(cudnnBackendExecute(w->handle, w->plan, d),
	    CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
	OK(cudnnBackendFinalize(d));
	assert_int_equal(cudnnBackendExecute(w->handle, w->plan, d),
	    CUDNN_STATUS_BAD_PARAM);
	w->device[0]++; /* 4 bytes off: the tensor says 8 */
	assert_int_equal(execute(w),
	    CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER);
	w->device[0] = w->host[0]; /* not the device's */
	assert_int_equal(execute(w), CUDNN_STATUS_EXECUTION_FAILED);
	w->device[0] = aligned;
	assert_int_not_equal(cudnnBackendExecute(NULL, w->plan, d), 0);
	OK(execute(w));
	finish(w);
}

static void
work_happens_later_on_the_handles_stream(void **state)
{
	struct world *w = start(&plain, 62);
	struct test_gate gate;
	cudaStream_t stream;

	(void)state;
	OK(cudaStreamCreate(&stream));
	OK(cudnnSetStream(w->handle, stream));
	test_gate_close(&gate, stream);
	OK(execute(w));
	dnn_release(NULL); /* nothing of the program's is needed any more */
	assert_int_equal(cudaStreamQuery(stream), cudaErrorNotReady);
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	expect(w, to_ten_bits, HALF);
	OK(cudaStreamDestroy(stream));
	finish(w);
}

static void
work_is_captured(void **state)
{
	struct dnn_wish wish = plain;
	struct world *w;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	(void)state;
	wish.bias = true;
	wish.activation = CUDNN_POINTWISE_RELU_FWD;
	w = start(&wish, 62);
	OK(cudaStreamCreate(&stream));
	OK(cudnnSetStream(w->handle, stream));
	OK(cudaMemset(w->dout, 0, w->count[2] * sizeof(float)));
	OK(cudaDeviceSynchronize());
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(execute(w));
	OK(cudaStreamEndCapture(stream, &graph));
	assert_true(fetch(w)[0] == 0 && w->result[1] == 0);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	assert_int_equal(cudnnBackendPopulateCudaGraph(w->handle, w->plan,
	    pack(w, w->workspace), graph),
	    CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API);
	assert_int_equal(cudnnBackendUpdateCudaGraph(w->handle, w->plan,
	    pack(w, w->workspace), graph),
	    CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API);
	dnn_release(NULL);
	for (int i = 0; i < 2; i++) {
		OK(cudaMemset(w->dout, 0xff, w->count[2] * sizeof(float)));
		OK(cudaDeviceSynchronize());
		OK(cudaGraphLaunch(exec, stream));
		OK(cudaStreamSynchronize(stream));
		expect(w, to_ten_bits, HALF);
	}
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaStreamDestroy(stream));
	finish(w);
}

#define TEST(name) cmocka_unit_test_teardown(name, dnn_release)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_operation_and_layout),
		TEST(converting_engines_round_what_they_give),
		TEST(converting_engines_overflow),
		TEST(epilogues),
		TEST(the_workspace_is_needed_and_spoiled),
		TEST(packs_must_be_complete),
		TEST(work_happens_later_on_the_handles_stream),
		TEST(work_is_captured),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
