/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_order.c -- the gradient scaler on streams that
 * others capture or that nothing tells apart: what is refused, with nothing
 * changed, and what waits for what. */
#include "tests/unit/cases.h"
#include "tests/unit/emulator/test_emu.h"

#include "include/autocast_scaler.h"
#include "kernels/load/driver.h"

#include <math.h>

static autocast_scaler *scaler;
static autocast_group *group;
static autocast_tensor seed, gradient[2];
static cudaStream_t one, other, third;
static cudaStream_t far, stranger; /* device 1's */

static void
begin_with(bool strict)
{
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;

	options.strict = strict;
	options.init_scale = 1024;
	options.interval = 100;
	for (int i = 1; i >= 0; i--) {
		OK(cudaSetDevice(i));
		OK(cudaStreamCreateWithFlags(i ? &far : &one,
		    cudaStreamNonBlocking));
		OK(cudaStreamCreateWithFlags(i ? &stranger : &other,
		    cudaStreamNonBlocking));
		gradient[i] = (autocast_tensor){ test_device(4), 1,
			AUTOCAST_F32, i, "gradient" };
	}
	OK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
	seed = (autocast_tensor){ test_device(4), 1, AUTOCAST_F32,
		AUTOCAST_DEVICE_ANY, "seed" };
	OK(autocast_scaler_create(&options, &scaler));
	OK(autocast_scaler_prepare(scaler, 0, one));
	OK(autocast_group_create(scaler, NULL, &group));
}

static int
end(void **state)
{
	autocast_scaler_destroy(scaler);
	OK(cudaFree(seed.data));
	for (int i = 0; i < 2; i++)
		OK(cudaFree(gradient[i].data));
	OK(cudaStreamDestroy(one));
	OK(cudaStreamDestroy(other));
	OK(cudaStreamDestroy(third));
	OK(cudaStreamDestroy(far));
	OK(cudaStreamDestroy(stranger));
	assert_int_equal(emuCounter("complaints"), 0);
	return 0;
}

static int
begin_on_one(void **state)
{
	begin_with(false);
	OK(autocast_group_set_gradients(group, gradient, 1));
	return 0;
}

static int
begin_strict(void **state)
{
	begin_with(true);
	OK(autocast_group_set_gradients(group, gradient, 1));
	return 0;
}

/* Gradients on both devices. */
static int
begin_on_two(void **state)
{
	begin_with(false);
	OK(autocast_scaler_prepare(scaler, 1, far));
	OK(autocast_group_set_gradients(group, gradient, 2));
	return 0;
}

static void
put(const autocast_tensor *t, double value)
{
	const float narrow = (float)value;

	OK(cudaStreamSynchronize(one));
	OK(cudaMemcpy(t->data, &narrow, sizeof narrow, cudaMemcpyDefault));
	OK(cudaDeviceSynchronize());
}

/* What calls on `one` made of it. */
static double
get(const void *data)
{
	float value;

	OK(cudaStreamSynchronize(one));
	OK(cudaMemcpy(&value, data, sizeof value, cudaMemcpyDefault));
	return (double)value;
}

/* Gradients that a loss has, which was scaled on device 0. */
static void
put_both(double first, double second)
{
	put(&gradient[0], first);
	put(&gradient[1], second);
	OK(autocast_scaler_scale(scaler, &seed, 1, one));
}

static double
scale_now(void)
{
	double scale;

	OK(autocast_scaler_get(scaler, &scale, NULL));
	return scale;
}

/* The program's capture is as it was: good, and with nothing in it. */
static void
end_untouched(cudaStream_t stream)
{
	enum cudaStreamCaptureStatus status;
	cudaGraph_t graph;
	size_t count = 99;

	OK(cudaStreamIsCapturing(stream, &status));
	assert_int_equal(status, cudaStreamCaptureStatusActive);
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphGetNodes(graph, NULL, &count));
	assert_int_equal(count, 0);
	OK(cudaGraphDestroy(graph));
}

/* ---- Several devices ----------------------------------------------------- */

/* The second device's stream captures: told before the first one works. */
CASE_WITH(all_devices_are_asked_first, begin_on_two, end)
{
	char text[512];
	size_t size = sizeof text;

	put_both(1, 1);
	OK(autocast_scaler_save(scaler, text, &size));
	OK(autocast_scaler_unscale(scaler, group, one));
	OK(autocast_scaler_update_to(scaler, 2048, one));
	put_both(6144, 8192);
	OK(cudaStreamBeginCapture(far, cudaStreamCaptureModeRelaxed));
	assert_int_equal(autocast_scaler_unscale(scaler, group, one),
	    AUTOCAST_E_CAPTURE);
	assert_int_equal(autocast_scaler_load(scaler, text, size),
	    AUTOCAST_E_CAPTURE);
	end_untouched(far);
	assert_true(get(gradient[0].data) == 6144 && scale_now() == 2048);
	OK(autocast_scaler_unscale(scaler, group, one));
	assert_true(get(gradient[0].data) == 3 && get(gradient[1].data) == 4);
	OK(cudaStreamBeginCapture(far, cudaStreamCaptureModeRelaxed));
	assert_int_equal(autocast_group_clip(group, 1, NULL, one),
	    AUTOCAST_E_CAPTURE);
	assert_int_equal(autocast_scaler_update(scaler, one),
	    AUTOCAST_E_CAPTURE);
	assert_int_equal(autocast_scaler_update_to(scaler, 4, one),
	    AUTOCAST_E_CAPTURE);
	end_untouched(far);
	assert_true(get(gradient[0].data) == 3 && scale_now() == 2048);
	OK(autocast_group_clip(group, 1, NULL, one));
	assert_true(fabs(get(gradient[1].data) - 0.8) < 1e-5);
	OK(autocast_scaler_update(scaler, one));
}

/* What captures is not what the call works with. */
CASE_WITH(only_streams_of_the_call_are_asked, begin_on_two, end)
{
	put_both(3072, (double)INFINITY);
	OK(cudaStreamBeginCapture(far, cudaStreamCaptureModeRelaxed));
	OK(autocast_scaler_unscale(scaler, group, stranger));
	OK(autocast_scaler_update(scaler, stranger));
	OK(cudaStreamSynchronize(stranger));
	end_untouched(far);
	assert_true(get(gradient[0].data) == 3);
	assert_true(scale_now() == 512);
}

/* The program's own kernels read the scale where the update is queued, on the
 * second device: both devices' scales stay until those have run. */
CASE_WITH(an_update_comes_after_its_stream_on_another_device, begin_on_two, end)
{
	const float *scale, *inverse;
	struct test_gate gate;
	float *read;

	put_both((double)INFINITY, 0);
	OK(autocast_scaler_pointers(scaler, 1, &scale, &inverse));
	read = test_device(sizeof *read);
	OK(autocast_scaler_unscale(scaler, group, stranger));
	OK(cudaStreamSynchronize(stranger));
	test_gate_close(&gate, stranger);
	OK(cudaMemcpyAsync(read, scale, sizeof *read, cudaMemcpyDefault,
	    stranger));
	OK(autocast_scaler_update(scaler, stranger));
	/* What does not wait is over by then. */
	for (int i = 0; i < 200 && cudaStreamQuery(one); i++)
		(void)usleep(1000);
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(stranger));
	assert_true(get(read) == 1024 && scale_now() == 512);
	OK(cudaFree(read));
}

/* The program's function begins to capture, when it is too late to ask. */
static int
capture(float *flag, int device, struct CUstream_st *stream, void *user)
{
	return (int)cudaStreamBeginCapture(far, cudaStreamCaptureModeRelaxed);
}

CASE_WITH(what_begins_to_capture_is_left_alone, begin_on_two, end)
{
	const float *scale, *found[2];

	put_both(3072, 4096);
	for (int i = 0; i < 2; i++)
		OK(autocast_group_pointers(group, i, &scale, &found[i]));
	OK(autocast_scaler_set_reduce(scaler, capture, NULL));
	assert_int_equal(autocast_scaler_unscale(scaler, group, one),
	    AUTOCAST_E_CAPTURE);
	end_untouched(far);
	assert_true(get(found[0]) == 1 && get(found[1]) == 1);
	assert_int_equal(autocast_scaler_unscale(scaler, group, one),
	    AUTOCAST_E_ALREADY_UNSCALED);
	OK(autocast_scaler_update(scaler, one));
	assert_true(scale_now() == 512);
}

/* ---- What waits for what ----------------------------------------------- */

/* How many events a call lets its stream wait for. */
#define WAITS(call) (waits = emuCounter("cuStreamWaitEvent"), OK(call), \
	(int)(emuCounter("cuStreamWaitEvent") - waits))

/* The driver as the scaler knows it. */
static struct ac_driver *
driver(void)
{
	return (struct ac_driver *)(uintptr_t)ac_driver_get();
}

static ac_cu_result (*launch)(ac_cu_function function, unsigned gx,
    unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared_bytes, ac_cu_stream stream, void **params, void **extra);

static ac_cu_result
launch_once(ac_cu_function function, unsigned gx, unsigned gy, unsigned gz,
    unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
    ac_cu_stream stream, void **params, void **extra)
{
	static int count;

	return count++ ? 719 : launch(function, gx, gy,
	    gz, bx, by, bz, shared_bytes, stream, params, extra);
}

/* The first seeds are being multiplied, the last ones could not be. */
CASE_WITH(an_update_comes_after_seeds_of_a_call_that_failed, begin_on_one, end)
{
	autocast_tensor many[100] = {{ .count = 0 }};
	uint64_t waits;

	many[0] = seed;
	many[99] = gradient[0];
	put_both(1, 0);
	OK(autocast_scaler_unscale(scaler, group, one));
	OK(cudaStreamSynchronize(one));
	launch = driver()->cuLaunchKernel;
	driver()->cuLaunchKernel = launch_once;
	assert_int_equal(autocast_scaler_scale(scaler, many, 100, other),
	    AUTOCAST_E_CUDA);
	driver()->cuLaunchKernel = launch;
	assert_int_equal(WAITS(autocast_scaler_update(scaler, one)), 1);
	OK(cudaStreamSynchronize(one));
}

/* What a strict step tells of the scale is read on the way. */
CASE_WITH(a_change_comes_after_what_a_step_reads, begin_strict, end)
{
	int stepped;
	uint64_t waits;

	put_both(1, 0);
	OK(autocast_scaler_unscale(scaler, group, one));
	OK(autocast_scaler_step(scaler, group, NULL, NULL, &stepped, other));
	assert_int_equal(WAITS(autocast_scaler_update(scaler, one)), 1);
	OK(cudaStreamSynchronize(one));
}

/* Before CUDA 12: the same handle may well be another stream. */
CASE_WITH(without_ids_every_call_is_waited_for, begin_on_one, end)
{
	ac_cu_result (*const get_id)(ac_cu_stream stream,
	    unsigned long long *id) = driver()->cuStreamGetId;
	uint64_t waits;

	driver()->cuStreamGetId = NULL;
	put_both((double)INFINITY, 0);
	/* The group's list may be on its way; then those two read the
	 * scale. */
	assert_int_equal(WAITS(autocast_scaler_unscale(scaler, group, one)),
	    1);
	assert_int_equal(WAITS(autocast_scaler_update(scaler, one)), 2);
	assert_int_equal(WAITS(autocast_scaler_scale(scaler, &seed, 1, one)),
	    1);
	driver()->cuStreamGetId = get_id;
	assert_true(scale_now() == 512);
}

/* A program that has other gradients in each iteration: the stream that the
 * scaler was prepared with may be far behind. */
CASE_WITH(a_list_in_the_memory_of_an_old_one_waits_for_nothing, begin_on_one,
    end)
{
	struct test_gate gate;

	for (int i = 0; i < 2; i++) {
		OK(autocast_group_set_gradients(group, gradient, 1));
		put_both(2048, 0);
		OK(autocast_scaler_unscale(scaler, group, one));
		OK(autocast_scaler_update(scaler, one));
	}
	put(&gradient[0], 3072);
	put(&seed, 2048);
	test_gate_close(&gate, one);
	alarm(60); /* what waits now waits for ever */
	OK(autocast_group_set_gradients(group, &seed, 1));
	OK(autocast_scaler_scale(scaler, &gradient[0], 1, other));
	OK(autocast_scaler_unscale(scaler, group, other));
	OK(autocast_scaler_update(scaler, other));
	alarm(0);
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(other));
	assert_true(get(seed.data) == 2 && get(gradient[0].data) == 3145728);
}

/* Its launch waits for no event, so its making does, once; the first two lists
 * were waited for. */
CASE_WITH(a_capture_is_begun_behind_a_new_list, begin_on_one, end)
{
	uint64_t before;

	for (int i = 0; i < 4; i++) {
		cudaGraph_t graph;

		put_both(1, 0);
		before = emuCounter("cuEventSynchronize");
		OK(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal));
		OK(autocast_scaler_unscale(scaler, group, other));
		OK(autocast_scaler_update(scaler, other));
		OK(cudaStreamEndCapture(other, &graph));
		OK(cudaGraphDestroy(graph));
		assert_int_equal(emuCounter("cuEventSynchronize") - before,
		    i == 2);
		if (i < 2)
			OK(autocast_group_set_gradients(group, gradient, 1));
	}
}

/* A capture during which others use the scaler keeps its own order. */
CASE_WITH(captures_do_not_forget_for_others, begin_on_one, end)
{
	const int others = 3;
	cudaGraphExec_t executable;
	cudaGraph_t graph;
	cudaEvent_t event;
	uint64_t waits;

	OK(cudaEventCreate(&event));
	put_both((double)INFINITY, 0);
	OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeRelaxed));
	OK(cudaEventRecord(event, one));
	OK(cudaStreamWaitEvent(other, event, 0));
	OK(autocast_scaler_scale(scaler, &seed, 1, other));
	OK(autocast_scaler_unscale(scaler, group, other));
	for (int i = 0; i < others; i++) {
		OK(cudaStreamBeginCapture(third, cudaStreamCaptureModeGlobal));
		OK(autocast_scaler_scale(scaler, &seed, 1, third));
		OK(cudaStreamEndCapture(third, &graph));
		OK(cudaGraphDestroy(graph));
	}
	assert_int_equal(WAITS(autocast_scaler_update(scaler, one)), 1);
	OK(cudaStreamEndCapture(one, &graph));
	OK(cudaGraphInstantiate(&executable, graph, 0));
	OK(cudaGraphLaunch(executable, one));
	OK(cudaStreamSynchronize(one));
	assert_true(scale_now() == 512);
	OK(cudaGraphExecDestroy(executable));
	OK(cudaGraphDestroy(graph));
	OK(cudaEventDestroy(event));
}

CASES_RUN_ON("h200,h200", NULL, NULL)
