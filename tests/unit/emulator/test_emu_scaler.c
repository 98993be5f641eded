/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_scaler.c -- the gradient scaler's kernels
 * through a driver: its own PTX is loaded, every launch has its arguments, and
 * is captured and replayed. The numbers are integers: exact. */
#include "tests/unit/emulator/test_emu.h"

#include "kernels/scaler/scaler.h"

#include <math.h>

enum { TENSORS = 5, PARTIALS = 64 };
static const uint64_t counts[TENSORS] = { 1000, 0, 3, AC_SCALER_CHUNK + 1, 9 };
static const uint32_t dtypes[TENSORS] = { AC_SCALER_F32, AC_SCALER_F32,
	AC_SCALER_F64, AC_SCALER_F16, AC_SCALER_BF16 };
static const size_t sizes[] = { 4, 8, 2, 2 };

/* What lies on the device. */
static struct {
	struct ac_scaler_tensor list[TENSORS]; /* this one on the host */
	struct ac_scaler_tensor *tensors;
	struct ac_scaler_state  *state;
	struct ac_scaler_words  *words;
	double *partials;
	float  *norm, *y;
	struct ac_scaler_pass    pass;
} gpu;
static cudaStream_t stream;

/* -3 .. 3 in turn, in any type. */
static void
write_number(uint32_t dtype, uint64_t i, unsigned char *to)
{
	static const uint16_t halves[2][7] = {
		{ 0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200 },
		{ 0xc040, 0xc000, 0xbf80, 0, 0x3f80, 0x4000, 0x4040 } };
	const double wide = (double)(i % 7) - 3;
	const float x = (float)wide;

	switch (dtype) {
	case AC_SCALER_F32: memcpy(to, &x, 4); break;
	case AC_SCALER_F64: memcpy(to, &wide, 8); break;
	default: memcpy(to, &halves[dtype - AC_SCALER_F16][i % 7], 2);
	}
}

static void
fill(void)
{
	for (int k = 0; k < TENSORS; k++) {
		const size_t size = sizes[dtypes[k]];
		unsigned char *bytes = calloc(counts[k] + 1, size);

		assert_non_null(bytes);
		for (uint64_t i = 0; i < counts[k]; i++)
			write_number(dtypes[k], i, bytes + i * size);
		OK(cudaMemcpy(gpu.list[k].data, bytes, counts[k] * size,
		    cudaMemcpyHostToDevice));
		free(bytes);
	}
	OK(cudaDeviceSynchronize());
}

static double
squares(void)
{
	double sum = 0;

	for (int k = 0; k < TENSORS; k++)
		for (uint64_t i = 0; i < counts[k]; i++)
			sum += ((double)(i % 7) - 3) * ((double)(i % 7) - 3);
	return sum;
}

static int
set_up(void **state)
{
	const float zeros[1000] = {0};

	(void)state;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int k = 0; k < TENSORS; k++) {
		gpu.list[k].count = counts[k];
		gpu.list[k].dtype = dtypes[k];
		gpu.list[k].data = test_device((counts[k] + 1)
		    * sizes[dtypes[k]]);
	}
	gpu.pass.chunk_count = ac_scaler_number_chunks(gpu.list, TENSORS);
	assert_true(gpu.pass.chunk_count <= PARTIALS);
	gpu.tensors = test_upload(gpu.list, sizeof gpu.list);
	gpu.state = test_upload(zeros, sizeof *gpu.state);
	gpu.words = test_upload(zeros, sizeof *gpu.words);
	gpu.partials = test_device(PARTIALS * sizeof(double));
	gpu.norm = test_device(sizeof(float));
	gpu.y = test_upload(zeros, sizeof zeros);
	gpu.pass.tensors = gpu.tensors;
	gpu.pass.tensor_count = TENSORS;
	gpu.pass.state = gpu.state;
	gpu.pass.words = gpu.words;
	gpu.pass.partials = gpu.partials;
	return 0;
}

/* Everything that a scaler queues in an iteration, on scaled gradients. */
static void
iteration(void)
{
	const ac_cu_stream on = (ac_cu_stream)stream;
	const struct ac_scaler_rule rule = { 2, .5, 0, INFINITY, 1, 1, 0 };
	const struct ac_scaler_sum sum = { .x = gpu.list[0].data, .y = gpu.y,
		.count = counts[0], .found_inf = &gpu.words->found_inf,
		.alpha = { 2, 0, NULL } };

	OK(ac_scaler_unscale_pass(&gpu.pass, on));
	OK(ac_scaler_fold(gpu.words, gpu.state, &gpu.words->found_inf, 1, on));
	OK(ac_scaler_norm_pass(&gpu.pass, 2, on));
	OK(ac_scaler_norm_close(gpu.words, &gpu.words->sum, 1, 2, 1e9f,
	    gpu.norm, on));
	OK(ac_scaler_clip_pass(&gpu.pass, on));
	OK(ac_scaler_guarded_sum(&sum, on));
	OK(ac_scaler_update_state(gpu.state, &rule, on));
}

static void
read_back(const void *from, size_t bytes, void *to)
{
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

static void
assert_state(float scale, uint64_t updates, float found, float norm)
{
	struct ac_scaler_state s;
	struct ac_scaler_words w;
	float copy;

	read_back(gpu.state, sizeof s, &s);
	read_back(gpu.words, sizeof w, &w);
	read_back(gpu.norm, sizeof copy, &copy);
	assert_true(s.scale == scale && s.updates == updates);
	assert_true(s.inverse == 1 / scale && !s.found);
	assert_true(w.found_inf == found && w.grad_scale == 1);
	assert_true(w.norm == norm && copy == norm);
}

/* y counts what was added to it, element by element. */
static void
assert_sums(int times)
{
	float y[1000];

	read_back(gpu.y, sizeof y, y);
	for (int i = 0; i < 1000; i++)
		assert_true(y[i] == (float)(2 * times * (i % 7 - 3)));
}

static void
scale_all(void)
{
	OK(ac_scaler_multiply(gpu.list, TENSORS, gpu.state,
	    (ac_cu_stream)stream));
}

/* The kernels are loaded by the first launch, under capture; a replay does
 * what the calls did. */
static void
captured(void **state)
{
	const struct ac_scaler_set set = { AC_SCALER_SET_SCALE
	    | AC_SCALER_SET_RESET, 4, 0, 0 };
	const float norm = (float)sqrt(squares());
	cudaGraphExec_t instance;
	cudaGraph_t graph;

	(void)state;
	fill();
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	scale_all();
	iteration();
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&instance, graph, 0));
	assert_sums(0);
	OK(ac_scaler_set_state(gpu.state, &set, (ac_cu_stream)stream));
	for (int i = 1; i <= 3; i++) {
		OK(cudaGraphLaunch(instance, stream));
		assert_state((float)(4 << i), (uint64_t)i, 0, norm);
		assert_sums(i);
	}
	OK(cudaGraphExecDestroy(instance));
	OK(cudaGraphDestroy(graph));
}

/* An inf in the last tensor: the sum is not made, the scale goes down. */
static void
overflow(void **state)
{
	const uint16_t infinity = 0x7f80;

	(void)state;
	fill();
	scale_all();
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy((char *)gpu.list[4].data + 2 * (counts[4] - 1),
	    &infinity, 2, cudaMemcpyHostToDevice));
	OK(cudaDeviceSynchronize());
	iteration();
	assert_state(16, 4, 1, INFINITY);
	assert_sums(3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captured),
		cmocka_unit_test(overflow),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, NULL);
}
