/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_bad_use.c -- calls of the gradient scaler at
 * the wrong time: while a stream captures, inside others; and the program's own
 * functions that fail. */
#include "tests/unit/cases.h"
#include "tests/unit/scaler/scaler_bad.h"

#include <math.h>

/* ---- Captures ---------------------------------------------------------- */

CASE(captures)
{
	autocast_scaler *fresh;
	cudaStream_t stream;
	cudaGraph_t graph;
	autocast_tensor t = good();
	autocast_status got[4];
	struct snapshot unchanged = look();

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(autocast_scaler_create(NULL, &fresh));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	got[0] = autocast_scaler_prepare(fresh, 0, stream);
	got[1] = autocast_scaler_scale(fresh, &t, 1, stream);
	got[2] = autocast_scaler_step(w.scaler, w.ready, NULL, NULL, NULL,
	    stream);
	got[3] = autocast_scaler_prepare(w.scaler, 1, stream);
	OK(cudaStreamEndCapture(stream, &graph));
	for (int i = 0; i < 3; i++)
		assert_int_equal(got[i], AUTOCAST_E_CAPTURE);
	assert_true(got[3] == AUTOCAST_E_CAPTURE ||
	    got[3] == AUTOCAST_E_DEVICE);
	OK(cudaGraphDestroy(graph));
	before = unchanged;
	refused(AUTOCAST_E_CAPTURE, got[2], "captured calls");
	/* The stream that the scaler itself was prepared with. */
	OK(autocast_scaler_prepare(fresh, 0, stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	got[0] = autocast_scaler_get(fresh, NULL, NULL);
	got[1] = autocast_scaler_get(fresh, &unchanged.scale, NULL);
	OK(cudaStreamEndCapture(stream, &graph));
	assert_int_equal(got[1], AUTOCAST_E_CAPTURE);
	OK(cudaGraphDestroy(graph));
	autocast_scaler_destroy(fresh);
	OK(cudaStreamDestroy(stream));
}

/* ---- Disabled ---------------------------------------------------------- */

/* Nothing prepares it but who asks for it; what is advised then helps. */
CASE(disabled)
{
	autocast_scaler_options options = AUTOCAST_SCALER_OPTIONS;
	const autocast_tensor t = good();
	autocast_scaler *off;
	autocast_group *group;
	float norm = 0;

	options.enabled = 0;
	OK(autocast_scaler_create(&options, &off));
	OK(autocast_group_create(off, "idle", &group));
	OK(autocast_group_set_gradients(group, &t, 1));
	OK(autocast_scaler_scale(off, &t, 1, NULL));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(autocast_group_norm(group, 2, w.result, NULL),
		    AUTOCAST_E_INVALID);
		says("idle");
		says("autocast_scaler_prepare() comes first, then "
		    "autocast_group_set_gradients()");
		OK(autocast_scaler_prepare(off, 0, NULL));
	}
	OK(autocast_group_set_gradients(group, &t, 1));
	OK(autocast_group_norm(group, INFINITY, w.result, NULL));
	OK(cudaMemcpy(&norm, w.result, sizeof norm, cudaMemcpyDefault));
	assert_true(norm == 4);
	autocast_scaler_destroy(off);
}

/* ---- The program's own failures ---------------------------------------- */

static int
fails(void *user)
{
	++*(int *)user;
	return -7;
}

static int
hook_fails(float *flag, int number, struct CUstream_st *stream, void *user)
{
	++*(int *)user;
	/* Nobody else may use the group meanwhile; of other groups any may. */
	assert_int_equal(autocast_scaler_unscale(w.scaler, w.ready, stream),
	    AUTOCAST_E_BUSY);
	assert_int_equal(autocast_group_set_gradients(w.ready, NULL, 0),
	    AUTOCAST_E_BUSY);
	/* Nor does the iteration end, or the hook change. */
	assert_int_equal(autocast_scaler_update(w.scaler, stream),
	    AUTOCAST_E_BUSY);
	assert_int_equal(autocast_scaler_update_to(w.scaler, 4, stream),
	    AUTOCAST_E_BUSY);
	says("decoder");
	assert_int_equal(autocast_scaler_set_reduce(w.scaler, NULL, NULL),
	    AUTOCAST_E_BUSY);
	return 3;
}

/* It changed what it says it changes, and nothing else. */
CASE(callbacks)
{
	int calls = 0, stepped = 5;
	double scale;

	assert_int_equal(autocast_scaler_step(w.scaler, w.ready, fails, &calls,
	    &stepped, NULL), AUTOCAST_E_CALLBACK);
	assert_int_equal(calls, 1);
	REFUSED(E_ALREADY_STEPPED, autocast_scaler_step(w.scaler, w.ready,
	    fails, &calls, &stepped, NULL));
	REFUSED(E_UNSCALE_AFTER_STEP, autocast_scaler_unscale(w.scaler,
	    w.ready, NULL));
	assert_int_equal(calls, 1);
	/* What cannot be done any more is not advised. */
	REFUSED(E_NOT_UNSCALED, autocast_group_norm(w.ready, 2, w.result,
	    NULL));
	says("was stepped");
	REFUSED(E_NOT_UNSCALED, autocast_group_clip(w.ready, 1, NULL, NULL));
	says("was stepped");
	OK(autocast_scaler_update(w.scaler, NULL));
	REFUSED(E_NOT_UNSCALED, autocast_group_clip(w.ready, 1, NULL, NULL));
	says("autocast_scaler_unscale() comes first");
	OK(autocast_scaler_set_reduce(w.scaler, hook_fails, &calls));
	assert_int_equal(autocast_scaler_unscale(w.scaler, w.ready, NULL),
	    AUTOCAST_E_CALLBACK);
	says("decoder");
	assert_int_equal(calls, 2);
	REFUSED(E_ALREADY_UNSCALED, autocast_scaler_unscale(w.scaler, w.ready,
	    NULL));
	OK(autocast_scaler_step(w.scaler, w.ready, fails, &calls, &stepped,
	    NULL));
	assert_int_equal(stepped, 0);
	assert_int_equal(calls, 2);
	OK(autocast_scaler_update(w.scaler, NULL));
	OK(autocast_scaler_get(w.scaler, &scale, NULL));
	assert_true(scale == 32768);
}

CASES_RUN_ON("h200,t4", begin, end)
