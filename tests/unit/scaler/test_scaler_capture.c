/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_capture.c -- calls of the gradient scaler in
 * graphs: several of one iteration, what is asked, refused, made and freed
 * while a stream captures; tensors and scalars on the wrong device. */
#include "tests/unit/cases.h"
#include "tests/unit/emulator/test_emu.h"

#include "include/autocast_scaler.h"

#include <cuda.h>
#include <math.h>

static autocast_scaler *scaler;
static autocast_group *group;
static autocast_tensor seed, gradient;
static cudaStream_t one, other, blocking;

static int
begin(void **state)
{
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;

	options.init_scale = 1024;
	options.interval = 1;
	OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaStreamCreate(&blocking));
	seed = (autocast_tensor){ test_device(4), 1, AUTOCAST_F32,
		AUTOCAST_DEVICE_ANY, "seed" };
	gradient = (autocast_tensor){ test_device(4), 1, AUTOCAST_F32,
		AUTOCAST_DEVICE_ANY, "weights" };
	OK(autocast_scaler_create(&options, &scaler));
	OK(autocast_scaler_prepare(scaler, 0, NULL));
	OK(autocast_group_create(scaler, NULL, &group));
	OK(autocast_group_set_gradients(group, &gradient, 1));
	return 0;
}

static int
end(void **state)
{
	autocast_scaler_destroy(scaler);
	OK(cudaFree(seed.data));
	OK(cudaFree(gradient.data));
	OK(cudaStreamDestroy(one));
	OK(cudaStreamDestroy(other));
	OK(cudaStreamDestroy(blocking));
	assert_int_equal(emuCounter("complaints"), 0);
	return 0;
}

static void
put(const autocast_tensor *t, double value)
{
	const float narrow = (float)value;

	OK(cudaMemcpy(t->data, &narrow, sizeof narrow, cudaMemcpyDefault));
	OK(cudaDeviceSynchronize());
}

static double
get(const autocast_tensor *t)
{
	float value;

	OK(cudaMemcpy(&value, t->data, sizeof value, cudaMemcpyDefault));
	return (double)value;
}

static cudaGraphExec_t
ended(cudaStream_t stream)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&executable, graph, 0));
	OK(cudaGraphDestroy(graph));
	return executable;
}

static void
queue_step(cudaStream_t stream)
{
	OK(autocast_scaler_scale(scaler, &seed, 1, stream));
	OK(autocast_scaler_unscale(scaler, group, stream));
	OK(autocast_scaler_step_async(scaler, group, stream));
}

/* One turn by graphs, from this scale to twice as much. */
static void
turn(cudaGraphExec_t step, cudaGraphExec_t update, double scale)
{
	double now;

	OK(autocast_scaler_get(scaler, &now, NULL));
	assert_true(now == scale);
	put(&seed, 1);
	put(&gradient, 3 * scale);
	OK(cudaGraphLaunch(step, one));
	OK(cudaStreamSynchronize(one));
	if (update) {
		OK(cudaGraphLaunch(update, other));
		OK(cudaStreamSynchronize(other));
	}
	assert_true(get(&seed) == scale && get(&gradient) == 3);
}

/* Neither graph knows of the other, nor the third, on one stream, of both. */
CASE(an_iteration_in_two_graphs)
{
	cudaGraphExec_t step, update, all;
	double scale = 1024;

	OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	queue_step(one);
	step = ended(one);
	OK(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal));
	OK(autocast_scaler_update(scaler, other));
	update = ended(other);
	OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal));
	queue_step(blocking);
	OK(autocast_scaler_update(scaler, blocking));
	all = ended(blocking);
	for (int i = 0; i < 3; i++, scale *= 2)
		turn(step, update, scale);
	for (int i = 0; i < 3; i++, scale *= 2)
		turn(all, NULL, scale);
	OK(autocast_scaler_update_to(scaler, 1024, one));
	OK(cudaGraphExecDestroy(step));
	OK(cudaGraphExecDestroy(update));
	OK(cudaGraphExecDestroy(all));
}

/* What was captured counts for the host, though it was not launched: a step
 * outside would look at a flag that nobody has set yet, and at the next launch
 * divide once more. */
CASE(what_is_captured_counts)
{
	cudaGraphExec_t unscale;
	int stepped = 5;

	OK(autocast_scaler_scale(scaler, &seed, 1, one));
	OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	OK(autocast_scaler_unscale(scaler, group, one));
	unscale = ended(one);
	assert_int_equal(autocast_scaler_unscale(scaler, group, one),
	    AUTOCAST_E_ALREADY_UNSCALED);
	assert_int_equal(autocast_scaler_step(scaler, group, NULL, NULL,
	    &stepped, one), AUTOCAST_E_CAPTURE);
	assert_non_null(strstr(autocast_last_error(), "in a capture"));
	assert_int_equal(autocast_scaler_step_async(scaler, group, one),
	    AUTOCAST_E_CAPTURE);
	assert_int_equal(stepped, 5);
	/* The next iteration may be without a graph. */
	OK(autocast_scaler_update_to(scaler, 1024, one));
	put(&gradient, 3 * 1024);
	OK(autocast_scaler_step(scaler, group, NULL, NULL, &stepped, one));
	assert_int_equal(stepped, 1);
	assert_true(get(&gradient) == 3);
	OK(autocast_scaler_update_to(scaler, 1024, one));
	OK(cudaGraphExecDestroy(unscale));
}

static int
counting_hook(float *flag, int device, struct CUstream_st *stream, void *user)
{
	++*(int *)user;
	/* Others have found something: 1.0 */
	return cuMemsetD32Async((CUdeviceptr)(uintptr_t)flag, 0x3f800000, 1,
	    stream) != CUDA_SUCCESS;
}

/* The hook is called at the capture; what it queued, at each launch. */
CASE(a_hook_in_a_graph)
{
	cudaGraphExec_t all;
	double scale = 0;
	int calls = 0;

	OK(autocast_scaler_set_reduce(scaler, counting_hook, &calls));
	OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	queue_step(one);
	OK(autocast_scaler_update(scaler, one));
	all = ended(one);
	put(&gradient, 3);
	for (int i = 0; i < 3; i++)
		OK(cudaGraphLaunch(all, one));
	OK(cudaStreamSynchronize(one));
	assert_int_equal(calls, 1);
	OK(autocast_scaler_get(scaler, &scale, NULL));
	assert_true(scale == 128);
	OK(autocast_scaler_set_reduce(scaler, NULL, NULL));
	OK(autocast_scaler_update_to(scaler, 1024, one));
	OK(cudaGraphExecDestroy(all));
}

/* What is asked and freed meanwhile is no harm to the capture. */
CASE(a_capture_stays_good)
{
	autocast_scaler *passing;
	autocast_group *brief;
	autocast_status got[3];
	double scale;
	cudaStream_t streams[2] = { one, blocking };

	for (int i = 0; i < 2; i++) {
		OK(autocast_scaler_create(NULL, &passing));
		OK(autocast_scaler_prepare(passing, 0, NULL));
		OK(autocast_group_create(passing, NULL, &brief));
		OK(autocast_group_set_gradients(brief, &gradient, 1));
		OK(cudaStreamBeginCapture(streams[i],
		    cudaStreamCaptureModeGlobal));
		OK(autocast_scaler_scale(scaler, &seed, 1, streams[i]));
		/* On the legacy stream, which waits for `blocking`. */
		got[0] = autocast_scaler_get(scaler, &scale, NULL);
		got[1] = autocast_group_set_gradients(brief, &gradient, 1);
		autocast_group_destroy(brief);
		got[2] = autocast_scaler_step(scaler, group, NULL, NULL, NULL,
		    streams[i]);
		autocast_scaler_destroy(passing);
		OK(cudaGraphExecDestroy(ended(streams[i])));
		assert_int_equal(got[0], i ? AUTOCAST_E_CAPTURE : AUTOCAST_OK);
		assert_int_equal(got[1], i ? AUTOCAST_E_CAPTURE : AUTOCAST_OK);
		assert_int_equal(got[2], AUTOCAST_E_CAPTURE);
	}
}

/* A write in a graph does not hide one that goes on outside of it. */
CASE(what_is_queued_is_still_waited_for)
{
	struct test_gate gate;
	cudaGraphExec_t update;
	uint64_t waits;
	double scale;

	OK(autocast_scaler_prepare(scaler, 0, other));
	test_gate_close(&gate, one);
	OK(autocast_scaler_update_to(scaler, 4, one));
	OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
	OK(autocast_scaler_unscale(scaler, group, one));
	OK(autocast_scaler_update(scaler, one));
	update = ended(one);
	waits = emuCounter("cuStreamWaitEvent");
	OK(autocast_scaler_scale(scaler, &seed, 0, other));
	assert_int_equal(emuCounter("cuStreamWaitEvent"), waits + 1);
	test_gate_open(&gate);
	OK(autocast_scaler_get(scaler, &scale, NULL));
	assert_true(scale == 4);
	OK(cudaGraphExecDestroy(update));
	OK(autocast_scaler_prepare(scaler, 0, NULL));
	OK(autocast_scaler_update_to(scaler, 1024, NULL));
}

/* The state is read while another stream's gradients set the flag in it: under
 * ThreadSanitizer a race, if that is read, too. */
CASE(reading_beside_an_unscale)
{
	double scale;

	put(&gradient, (double)INFINITY);
	OK(autocast_scaler_scale(scaler, &seed, 1, one));
	OK(autocast_scaler_unscale(scaler, group, one));
	OK(autocast_scaler_get(scaler, &scale, NULL));
	assert_true(scale == 1024);
	OK(autocast_scaler_update(scaler, one));
	OK(autocast_scaler_get(scaler, &scale, NULL));
	assert_true(scale == 512);
}

/* Gradients that were only looked at are divided by what alpha_device says, as
 * the manual shows it: the scale of this iteration, whoever updates it
 * where. */
CASE(a_sum_that_divides)
{
	const uint16_t three_thousand = 0x69dc;
	autocast_tensor half = { test_upload(&three_thousand, 2), 1,
		AUTOCAST_F16, AUTOCAST_DEVICE_ANY, "half" };
	autocast_tensor sums = { test_device(4), 1, AUTOCAST_F32,
		AUTOCAST_DEVICE_ANY, "sums" };
	const float *scale, *inverse;
	struct test_gate gate;

	put(&sums, 0);
	OK(autocast_group_set_gradients(group, &half, 1));
	OK(autocast_scaler_pointers(scaler, 0, &scale, &inverse));
	OK(autocast_scaler_update_to(scaler, 1024, one));
	OK(autocast_scaler_step_async(scaler, group, one));
	OK(cudaStreamSynchronize(one));
	test_gate_close(&gate, one);
	OK(autocast_scaler_axpy(scaler, group, 1, inverse, &half, &sums, one));
	OK(autocast_scaler_update_to(scaler, 4, other));
	/* It may not overtake; if it does, it is given the time. */
	for (int i = 0; i < 200 && cudaStreamQuery(other); i++)
		usleep(100);
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(one));
	OK(cudaStreamSynchronize(other));
	assert_true(get(&sums) == 3000. / 1024);
	OK(autocast_group_set_gradients(group, &gradient, 1));
	OK(autocast_scaler_update_to(scaler, 512, one));
	OK(cudaFree(half.data));
	OK(cudaFree(sums.data));
}

/* What is empty is on any device; a scalar of another device is none. */
CASE(on_the_second_device)
{
	autocast_tensor x = { NULL, 0, AUTOCAST_F32, AUTOCAST_DEVICE_ANY,
		NULL };
	autocast_tensor many[100];
	float *alpha;

	alpha = test_device(4);
	OK(cudaSetDevice(1));
	OK(autocast_scaler_prepare(scaler, 1, NULL));
	OK(autocast_scaler_scale(scaler, &x, 1, NULL));
	OK(autocast_scaler_unscale(scaler, group, NULL));
	x = (autocast_tensor){ test_device(4), 1, AUTOCAST_F32, 1, NULL };
	assert_int_equal(autocast_group_set_gradients(group, &x, 1),
	    AUTOCAST_E_BUSY);
	OK(autocast_scaler_update(scaler, NULL));
	OK(autocast_group_set_gradients(group, &x, 1));
	OK(autocast_scaler_unscale(scaler, group, NULL));
	assert_int_equal(autocast_scaler_axpy(scaler, group, 1, alpha, &x, &x,
	    NULL), AUTOCAST_E_DEVICE);
	assert_non_null(strstr(autocast_last_error(), "alpha"));
	for (int i = 0; i < 100; i++)
		many[i] = i < 99 ? x : seed;
	assert_int_equal(autocast_scaler_scale(scaler, many, 100, NULL),
	    AUTOCAST_E_DEVICE);
	assert_non_null(strstr(autocast_last_error(), "seed 99"));
	many[98].dtype = 77;
	assert_int_equal(autocast_scaler_scale(scaler, many, 100, NULL),
	    AUTOCAST_E_DTYPE);
	assert_non_null(strstr(autocast_last_error(), "seed 98"));
	OK(autocast_scaler_update(scaler, NULL));
	OK(cudaFree(x.data));
	OK(cudaSetDevice(0));
	OK(cudaFree(alpha));
}

/* Sizes that nobody set, or that no list has. */
CASE(sizes)
{
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *none = NULL;

	options.size = SIZE_MAX;
	assert_int_equal(autocast_scaler_create(&options, &none),
	    AUTOCAST_E_INVALID);
	assert_null(none);
	assert_int_equal(autocast_group_set_gradients(group, &gradient,
	    SIZE_MAX), AUTOCAST_E_INVALID);
}

CASES_RUN_ON("h200,h200", begin, end)
