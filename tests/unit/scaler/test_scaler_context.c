/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_context.c -- calls of the gradient scaler in
 * threads that have no CUDA context yet, where another device is current, and
 * in a child of the process; how often the driver is asked. */
#include "tests/unit/cases.h"
#include "tests/unit/emulator/test_emu.h"

#include "include/autocast_scaler.h"

#include <cuda.h>
#include <pthread.h>

static autocast_scaler *scaler;
static autocast_group *group;
static autocast_tensor tensors[2];
static float *norm;
static cudaStream_t stream;

static int
begin(void **state)
{
	static const float values[4] = { 3 * 65536, 4 * 65536, 1, 1 };

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	tensors[0] = (autocast_tensor){ test_upload(values, sizeof values), 4,
		AUTOCAST_F32, AUTOCAST_DEVICE_ANY, "weights" };
	tensors[1] = (autocast_tensor){ test_upload(values, sizeof values), 4,
		AUTOCAST_F32, AUTOCAST_DEVICE_ANY, "sums" };
	norm = test_device(sizeof *norm);
	OK(autocast_scaler_create(NULL, &scaler));
	OK(autocast_scaler_prepare(scaler, 0, NULL));
	OK(autocast_group_create(scaler, "model", &group));
	OK(autocast_group_set_gradients(group, tensors, 1));
	OK(autocast_scaler_scale(scaler, NULL, 0, NULL));
	return 0;
}

static int
end(void **state)
{
	autocast_scaler_destroy(scaler);
	OK(cudaFree(tensors[0].data));
	OK(cudaFree(tensors[1].data));
	OK(cudaFree(norm));
	OK(cudaStreamDestroy(stream));
	assert_int_equal(emuCounter("complaints"), 0);
	return 0;
}

/* ---- No context -------------------------------------------------------- */

enum call {
	PREPARE, PREPARE_AGAIN, SCALE_FRESH, SCALE, POINTERS, GET, UPDATE_TO,
	SET_GRADIENTS, STEP, UNSCALE, NORM, CLIP, AXPY, STEP_ASYNC, UPDATE,
	SAVE, CALLS
};

struct made {
	enum call call;
	cudaStream_t stream;
	autocast_status status;
	bool has_context;    /* afterwards */
	char said[256];
};

static autocast_status
make_fresh(enum call call, cudaStream_t on)
{
	autocast_scaler *fresh;
	autocast_status status;

	if (autocast_scaler_create(NULL, &fresh))
		return AUTOCAST_STATUS_COUNT;
	if (call == SCALE_FRESH)
		status = autocast_scaler_scale(fresh, tensors + 1, 0, on);
	else
		status = autocast_scaler_prepare(fresh, 0, on);
	autocast_scaler_destroy(fresh);
	return status;
}

static autocast_status
make(enum call call, cudaStream_t on)
{
	const float *a, *b;
	double scale;
	size_t size = 0;

	switch (call) {
	case PREPARE:
	case SCALE_FRESH:
		return make_fresh(call, on);
	case PREPARE_AGAIN:
		return autocast_scaler_prepare(scaler, 0, on);
	case SCALE:
		return autocast_scaler_scale(scaler, tensors + 1, 1, on);
	case POINTERS:
		return autocast_scaler_pointers(scaler, 0, &a, &b);
	case GET:
		return autocast_scaler_get(scaler, &scale, NULL);
	case UPDATE_TO:
		return autocast_scaler_update_to(scaler, 65536, on);
	case SET_GRADIENTS:
		return autocast_group_set_gradients(group, tensors, 1);
	case STEP:
		return autocast_scaler_step(scaler, group, NULL, NULL, NULL,
		    on);
	case UNSCALE:
		return autocast_scaler_unscale(scaler, group, on);
	case NORM:
		return autocast_group_norm(group, 2, norm, on);
	case CLIP:
		return autocast_group_clip(group, 1, norm, on);
	case AXPY:
		return autocast_scaler_axpy(scaler, group, 1, NULL, tensors,
		    tensors + 1, on);
	case STEP_ASYNC:
		return autocast_scaler_step_async(scaler, group, on);
	case UPDATE:
		return autocast_scaler_update(scaler, on);
	case SAVE:
		return autocast_scaler_save(scaler, NULL, &size);
	case CALLS:
		break;
	}
	return AUTOCAST_STATUS_COUNT;
}

static void *
worker(void *data)
{
	struct made *const made = data;
	CUcontext current = NULL;

	made->status = make(made->call, made->stream);
	(void)snprintf(made->said, sizeof made->said, "%s",
	    autocast_last_error());
	made->has_context = cuCtxGetCurrent(&current) || current;
	return NULL;
}

/* Each call, in a thread of its own. */
CASE(without_a_context)
{
	for (int i = 0; i < 2 * CALLS; i++) {
		struct made made = { .call = i % CALLS,
			.stream = i < CALLS ? stream : NULL };
		pthread_t thread;

		/* One iteration that steps, one that unscales. */
		if (made.call == UNSCALE)
			OK(autocast_scaler_update(scaler, stream));
		OK(pthread_create(&thread, NULL, worker, &made));
		OK(pthread_join(thread, NULL));
		if (made.status || made.has_context)
			fail_msg("call %d, %s stream: status %d, %s; context "
			    "left: %d", made.call, i < CALLS ? "own" : "NULL",
			    made.status, made.said, made.has_context);
	}
	OK(autocast_scaler_prepare(scaler, 0, NULL));
}

/* ---- Another device ---------------------------------------------------- */

/* What has no stream works where the scaler is. */
CASE(another_device_is_current)
{
	double scale;
	int number = -1;

	OK(cudaSetDevice(1));
	OK(autocast_group_set_gradients(group, tensors, 1));
	OK(autocast_scaler_get(scaler, &scale, NULL));
	assert_true(scale == 65536);
	assert_int_equal(autocast_scaler_unscale(scaler, group, NULL),
	    AUTOCAST_E_DEVICE);
	/* It was prepared, after all. */
	assert_non_null(strstr(autocast_status_string(AUTOCAST_E_DEVICE),
	    "or is not the one that the call works on"));
	OK(cudaGetDevice(&number));
	assert_int_equal(number, 1);
	OK(cudaSetDevice(0));
}

/* ---- A child ----------------------------------------------------------- */

/* E_CUDA or E_NO_DRIVER, and why. */
static bool
tells(autocast_status status, autocast_status expected)
{
	if (status == expected && strstr(autocast_last_error(), "fork()"))
		return true;
	fprintf(stderr, "# status %d, '%s'\n", status, autocast_last_error());
	return false;
}

static int
in_a_child(void)
{
	autocast_scaler *fresh;
	bool told = true;

	told &= tells(make(GET, NULL), AUTOCAST_E_CUDA);
	told &= tells(make(SCALE, stream), AUTOCAST_E_CUDA);
	told &= tells(make(UNSCALE, stream), AUTOCAST_E_CUDA);
	told &= tells(make(SET_GRADIENTS, NULL), AUTOCAST_E_CUDA);
	told &= tells(make(PREPARE_AGAIN, NULL), AUTOCAST_E_CUDA);
	told &= tells(make(PREPARE, NULL), AUTOCAST_E_NO_DRIVER);
	told &= tells(make(SCALE_FRESH, stream), AUTOCAST_E_NO_DRIVER);
	autocast_scaler_destroy(scaler);
	return !told || autocast_scaler_create(NULL, &fresh);
}

CASE(after_a_fork)
{
	int status;
	pid_t child;

	OK(autocast_scaler_update_to(scaler, 65536, NULL));
	fflush(NULL);
	child = fork();
	if (!child) {
		alarm(60);
		_exit(in_a_child());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* The driver is asked about an allocation, not about each tensor in it; and
 * about the next one again where a tensor ends there. */
CASE(asks_once)
{
	enum { TENSORS = 300, ALLOCATIONS = 3, EACH = 64 };
	autocast_tensor list[TENSORS];
	float *memory[ALLOCATIONS];
	uint64_t asked;

	for (int i = 0; i < ALLOCATIONS; i++)
		memory[i] = test_device(TENSORS * EACH * sizeof(float));
	for (int i = 0; i < TENSORS; i++)
		list[i] = (autocast_tensor){ memory[i % ALLOCATIONS]
			+ i * 7 % TENSORS * EACH, EACH, AUTOCAST_F32,
			AUTOCAST_DEVICE_ANY, NULL };
	asked = emuCounter("cuPointerGetAttributes");
	OK(autocast_group_set_gradients(group, list, TENSORS));
	assert_int_equal(emuCounter("cuPointerGetAttributes") - asked,
	    ALLOCATIONS);
	list[5].count *= TENSORS;
	assert_int_equal(autocast_group_set_gradients(group, list, TENSORS),
	    AUTOCAST_E_POINTER);
	assert_non_null(strstr(autocast_last_error(), "gradient 5: its 19200 "
	    "elements end past its memory"));
	OK(autocast_group_set_gradients(group, tensors, 1));
	for (int i = 0; i < ALLOCATIONS; i++)
		OK(cudaFree(memory[i]));
}

CASES_RUN_ON("h200,h200", begin, end)
