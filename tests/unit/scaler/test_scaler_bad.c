/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_bad.c -- what the gradient scaler is not to be
 * called with: each call returns its status, says what was wrong, and has
 * changed nothing: no scale, count, counter, saved text, gradient or result.
 * Saved texts are test_scaler_state's. */
#include "tests/unit/cases.h"
#include "tests/unit/scaler/scaler_bad.h"

#include <math.h>

/* ---- Arguments ----------------------------------------------------------- */

CASE(nothing)
{
	const float *a = NULL, *b = NULL;
	autocast_group *group = NULL;
	autocast_tensor t = good();
	autocast_scaler_counters sizeless = { .size = 0 };
	double value;
	int64_t interval;
	size_t size = 0;

	REFUSED(E_INVALID, autocast_scaler_create(NULL, NULL));
	REFUSED(E_INVALID, autocast_scaler_prepare(NULL, 0, NULL));
	REFUSED(E_INVALID, autocast_scaler_scale(NULL, &t, 1, NULL));
	REFUSED(E_INVALID, autocast_scaler_scale(w.scaler, NULL, 1, NULL));
	REFUSED(E_INVALID, autocast_scaler_pointers(NULL, 0, &a, &b));
	REFUSED(E_INVALID, autocast_scaler_pointers(w.scaler, 0, NULL, &b));
	REFUSED(E_INVALID, autocast_group_create(NULL, "", &group));
	REFUSED(E_INVALID, autocast_group_create(w.scaler, "", NULL));
	REFUSED(E_INVALID, autocast_group_set_gradients(NULL, &t, 1));
	REFUSED(E_INVALID, autocast_group_set_gradients(w.ready, NULL, 1));
	REFUSED(E_INVALID, autocast_group_pointers(NULL, 0, &a, &b));
	REFUSED(E_INVALID, autocast_group_pointers(w.ready, 0, &a, NULL));
	REFUSED(E_INVALID, autocast_scaler_unscale(NULL, w.ready, NULL));
	REFUSED(E_INVALID, autocast_scaler_unscale(w.scaler, NULL, NULL));
	REFUSED(E_INVALID, autocast_group_norm(NULL, 2, w.result, NULL));
	REFUSED(E_INVALID, autocast_group_norm(w.done, 2, NULL, NULL));
	REFUSED(E_INVALID, autocast_group_clip(NULL, 1, NULL, NULL));
	REFUSED(E_INVALID, autocast_scaler_step(NULL, w.ready, NULL, NULL,
	    NULL, NULL));
	REFUSED(E_INVALID, autocast_scaler_step(w.scaler, NULL, NULL, NULL,
	    NULL, NULL));
	REFUSED(E_INVALID, autocast_scaler_step_async(NULL, w.ready, NULL));
	REFUSED(E_INVALID, autocast_scaler_step_async(w.scaler, NULL, NULL));
	REFUSED(E_INVALID, autocast_scaler_axpy(NULL, w.done, 1, NULL, &t, &t,
	    NULL));
	REFUSED(E_INVALID, autocast_scaler_axpy(w.scaler, NULL, 1, NULL, &t,
	    &t, NULL));
	REFUSED(E_INVALID, autocast_scaler_axpy(w.scaler, w.done, 1, NULL,
	    NULL, &t, NULL));
	REFUSED(E_INVALID, autocast_scaler_axpy(w.scaler, w.done, 1, NULL, &t,
	    NULL, NULL));
	REFUSED(E_INVALID, autocast_scaler_update(NULL, NULL));
	REFUSED(E_INVALID, autocast_scaler_update_to(NULL, 1, NULL));
	REFUSED(E_INVALID, autocast_scaler_set_reduce(NULL, NULL, NULL));
	REFUSED(E_INVALID, autocast_scaler_get(NULL, &value, NULL));
	REFUSED(E_INVALID, autocast_scaler_get_counters(NULL, &sizeless));
	REFUSED(E_INVALID, autocast_scaler_get_counters(w.scaler, NULL));
	REFUSED(E_INVALID, autocast_scaler_get_counters(w.scaler, &sizeless));
	REFUSED(E_INVALID, autocast_scaler_set_growth(NULL, 2));
	REFUSED(E_INVALID, autocast_scaler_set_backoff(NULL, .5));
	REFUSED(E_INVALID, autocast_scaler_set_interval(NULL, 2));
	REFUSED(E_INVALID, autocast_scaler_get_growth(w.scaler, NULL));
	REFUSED(E_INVALID, autocast_scaler_get_backoff(NULL, &value));
	REFUSED(E_INVALID, autocast_scaler_get_interval(NULL, &interval));
	REFUSED(E_INVALID, autocast_scaler_save(NULL, NULL, &size));
	REFUSED(E_INVALID, autocast_scaler_save(w.scaler, NULL, NULL));
	REFUSED(E_INVALID, autocast_scaler_load(NULL, "x", 1));
	REFUSED(E_INVALID, autocast_scaler_load(w.scaler, NULL, 1));
	assert_null(a);
	assert_null(b);
	assert_null(group);
	OK(autocast_scaler_get(w.scaler, NULL, NULL));
}

static autocast_status
created(autocast_scaler_options options)
{
	autocast_scaler *made = (autocast_scaler *)&w;
	const autocast_status status = autocast_scaler_create(&options, &made);

	if (!status)
		autocast_scaler_destroy(made);
	else
		assert_ptr_equal(made, &w);
	return status;
}

CASE(options)
{
	struct {
		autocast_scaler_options known;
		uint64_t newer[4];
	} longer = { AUTOCAST_SCALER_OPTIONS, { 0, 0, 0, 0 } };
	autocast_scaler_options o = AUTOCAST_SCALER_OPTIONS;
	autocast_scaler *made = NULL;
	double scale = 0;

	o.min_scale = 4, o.max_scale = 2;
	REFUSED(E_INVALID, created(o));
	o = (autocast_scaler_options)AUTOCAST_SCALER_OPTIONS;
	o.hysteresis = 0;
	REFUSED(E_INVALID, created(o));
	o.hysteresis = 1;
	o.min_scale = NAN;
	REFUSED(E_INVALID, created(o));
	says("negative or NaN");
	o.min_scale = 1e39;
	REFUSED(E_INVALID, created(o));
	says("min_scale is above FLT_MAX");
	o.min_scale = -1;
	REFUSED(E_INVALID, created(o));
	says("negative or NaN");
	o.min_scale = 0;
	o.max_scale = -1;
	REFUSED(E_INVALID, created(o));
	says("negative or NaN");
	o.max_scale = NAN;
	REFUSED(E_INVALID, created(o));
	o.max_scale = 0;
	o.reserved = 1;
	REFUSED(E_ABI, created(o));
	says("reserved");
	o.enabled = 0;
	REFUSED(E_ABI, created(o));
	o.enabled = 1;
	o.reserved = 0;
	o.size = 0;
	REFUSED(E_INVALID, created(o));
	/* A newer program: what we do not know must not be asked for. */
	longer.known.size = sizeof longer;
	OK(autocast_scaler_create(&longer.known, &made));
	autocast_scaler_destroy(made);
	longer.newer[3] = 1;
	made = NULL;
	REFUSED(E_ABI, autocast_scaler_create(&longer.known, &made));
	assert_null(made);
	/* An older one: what it does not know is as by default. */
	longer.known.size = offsetof(autocast_scaler_options, growth);
	longer.known.growth = longer.known.backoff = NAN;
	longer.known.init_scale = 5;
	longer.known.hysteresis = -3;
	OK(autocast_scaler_create(&longer.known, &made));
	OK(autocast_scaler_get(made, &scale, NULL));
	assert_true(scale == 5);
	OK(autocast_scaler_get_growth(made, &scale));
	assert_true(scale == 2);
	autocast_scaler_destroy(made);
}

/* Of a newer program's counters, and of an older one's, as many as both know
 * are written, and the size tells. */
CASE(counters)
{
	enum { SHORT = offsetof(autocast_scaler_counters, growths) };
	struct {
		autocast_scaler_counters known;
		uint64_t newer[2];
	} longer;
	autocast_scaler_counters all = { .size = sizeof all };

	OK(autocast_scaler_get_counters(w.scaler, &all));
	assert_int_equal(all.size, sizeof all);
	memset(&longer, 0xab, sizeof longer);
	longer.known.size = sizeof longer;
	OK(autocast_scaler_get_counters(w.scaler, &longer.known));
	assert_memory_equal(&longer.known, &all, sizeof all);
	assert_true(longer.newer[0] == 0xabababababababab
	    && longer.newer[1] == longer.newer[0]);
	memset(&longer, 0xab, sizeof longer);
	longer.known.size = SHORT;
	OK(autocast_scaler_get_counters(w.scaler, &longer.known));
	assert_int_equal(longer.known.size, SHORT);
	assert_true(longer.known.updates == all.updates);
	assert_true(longer.known.growths == 0xabababababababab);
}

/* ---- Tensors ------------------------------------------------------------- */

static void
not_memory(const autocast_tensor *t, autocast_status expected)
{
	const char *const place = t->name ? t->name : "1";
	const autocast_tensor list[2] = { good(), *t };

	before = look();
	refused(expected, autocast_scaler_scale(w.scaler, list, 2, NULL),
	    "scale");
	says(place);
	before = look();
	refused(expected, autocast_group_set_gradients(w.ready, list, 2),
	    "set_gradients");
	says(place);
}

CASE(tensors)
{
	autocast_tensor t = good();
	char *const start = (char *)w.gradient;

	for (int named = 0; named < 2; named++) {
		t = good();
		t.name = named ? "layer9.weight" : NULL;
		t.dtype = AUTOCAST_DTYPE_COUNT;
		not_memory(&t, AUTOCAST_E_DTYPE);
		t.dtype = -1;
		not_memory(&t, AUTOCAST_E_DTYPE);
		t.dtype = AUTOCAST_F32;
		t.data = NULL;
		not_memory(&t, AUTOCAST_E_POINTER);
		t.data = w.on_host;
		not_memory(&t, AUTOCAST_E_POINTER);
		t.data = w.pinned;
		not_memory(&t, AUTOCAST_E_POINTER);
		t.data = w.freed;
		not_memory(&t, AUTOCAST_E_POINTER);
		t.data = start + 1;
		t.count = 1;
		not_memory(&t, AUTOCAST_E_POINTER);
		t.data = start + 2;
		not_memory(&t, AUTOCAST_E_POINTER);
		t.data = start + 4;
		t.dtype = AUTOCAST_F64;
		not_memory(&t, AUTOCAST_E_POINTER);
		t.data = start + 1;
		t.dtype = AUTOCAST_BF16;
		not_memory(&t, AUTOCAST_E_POINTER);
		t.dtype = AUTOCAST_F32;
		t.data = w.elsewhere;
		not_memory(&t, AUTOCAST_E_POINTER);
		t.device = 1;
		not_memory(&t, AUTOCAST_E_DEVICE);
		t.device = AUTOCAST_DEVICE_ANY;
		not_memory(&t, AUTOCAST_E_DEVICE);
		t.device = 1;
		t.data = w.gradient;
		not_memory(&t, AUTOCAST_E_POINTER);
	}
	/* Many, of which the last is bad: none is multiplied. */
	{
		autocast_tensor many[300];

		for (size_t i = 0; i < 300; i++)
			many[i] = good();
		many[299].data = w.on_host;
		REFUSED(E_POINTER, autocast_scaler_scale(w.scaler, many, 300,
		    NULL));
		REFUSED(E_POINTER, autocast_group_set_gradients(w.ready, many,
		    300));
	}
}

/* Memory that is in a group twice would be divided twice. */
CASE(overlaps)
{
	enum { MANY = 3000 };
	static autocast_tensor many[MANY];
	float *const block = test_device(MANY * sizeof *block);
	autocast_tensor list[4] = {
		{ block + 4, 4, AUTOCAST_F32, 0, "tied" },
		{ block + 4, 0, AUTOCAST_F32, 0, "nothing" },
		{ block, 4, AUTOCAST_F32, 0, "first" },
		{ block + 4, 4, AUTOCAST_F32, 0, "again" } };

	REFUSED(E_INVALID, autocast_group_set_gradients(w.ready, list, 4));
	says("gradient 0 ('tied')");
	says("gradient 3 ('again')");
	list[3] = (autocast_tensor){ (char *)block + 14, 2, AUTOCAST_F16, 0,
		"end" };
	REFUSED(E_INVALID, autocast_group_set_gradients(w.ready, list, 4));
	says("gradient 2 ('first')");
	says("gradient 3 ('end')");
	/* In the midst of a longer one. */
	list[3] = (autocast_tensor){ block, 16, AUTOCAST_F32, 0, "all" };
	REFUSED(E_INVALID, autocast_group_set_gradients(w.ready, list, 4));
	/* Side by side, in any order. */
	list[3].data = block + 8;
	OK(autocast_group_set_gradients(w.ready, list, 4));
	for (int i = 0; i < MANY; i++)
		many[i] = (autocast_tensor){ block + i * 7 % MANY, 1,
			AUTOCAST_F32, 0, NULL };
	OK(autocast_group_set_gradients(w.ready, many, MANY));
	many[2].data = many[MANY - 1].data;
	REFUSED(E_INVALID, autocast_group_set_gradients(w.ready, many, MANY));
	says("gradient 2 and gradient 2999 ");
	list[0] = good();
	OK(autocast_group_set_gradients(w.ready, list, 1));
	OK(cudaFree(block));
}

CASE(places)
{
	const float *a = NULL, *b = NULL;
	autocast_tensor t = good();
	cudaStream_t there;

	REFUSED(E_DEVICE, autocast_scaler_prepare(w.scaler, 99, NULL));
	REFUSED(E_DEVICE, autocast_scaler_prepare(w.scaler, -1, NULL));
	REFUSED(E_DEVICE, autocast_scaler_pointers(w.scaler, 99, &a, &b));
	REFUSED(E_DEVICE, autocast_group_pointers(w.ready, 1, &a, &b));
	OK(cudaSetDevice(1));
	OK(cudaStreamCreate(&there));
	OK(cudaSetDevice(0));
	REFUSED(E_DEVICE, autocast_scaler_prepare(w.scaler, 0, there));
	REFUSED(E_DEVICE, autocast_scaler_unscale(w.scaler, w.ready, there));
	REFUSED(E_DEVICE, autocast_scaler_step(w.scaler, w.ready, NULL, NULL,
	    NULL, there));
	REFUSED(E_DEVICE, autocast_scaler_step_async(w.scaler, w.ready,
	    there));
	REFUSED(E_DEVICE, autocast_scaler_update(w.scaler, there));
	REFUSED(E_DEVICE, autocast_scaler_update_to(w.scaler, 4, there));
	REFUSED(E_DEVICE, autocast_group_clip(w.done, 1, NULL, there));
	REFUSED(E_DEVICE, autocast_scaler_axpy(w.scaler, w.done, 1, NULL, &t,
	    &t, there));
	assert_null(a);
	assert_null(b);
	OK(cudaStreamDestroy(there));
}

/* What takes no stream works where the scaler was prepared, whatever device is
 * current. */
CASE(elsewhere)
{
	const autocast_tensor t = good();
	char text[512];
	size_t size = sizeof text;
	double scale;
	int device;

	OK(cudaSetDevice(1));
	before = look();
	OK(autocast_group_set_gradients(w.ready, &t, 1));
	OK(autocast_scaler_get(w.scaler, &scale, NULL));
	OK(autocast_scaler_save(w.scaler, text, &size));
	OK(autocast_scaler_load(w.scaler, text, size));
	OK(cudaGetDevice(&device));
	assert_int_equal(device, 1);
	OK(cudaSetDevice(0));
	assert_true(scale == before.scale);
	assert_memory_equal(text, before.text, size);
}

/* ---- Groups -------------------------------------------------------------- */

CASE(groups)
{
	autocast_tensor t = good();

	REFUSED(E_INVALID, autocast_scaler_unscale(w.scaler, w.foreign, NULL));
	REFUSED(E_INVALID, autocast_scaler_step(w.scaler, w.foreign, NULL,
	    NULL, NULL, NULL));
	REFUSED(E_INVALID, autocast_scaler_step_async(w.scaler, w.foreign,
	    NULL));
	REFUSED(E_INVALID, autocast_scaler_axpy(w.scaler, w.foreign, 1, NULL,
	    &t, &t, NULL));
	REFUSED(E_BUSY, autocast_group_set_gradients(w.done, &t, 1));
	says("encoder");
	REFUSED(E_BUSY, autocast_scaler_set_reduce(w.scaler, NULL, NULL));
	REFUSED(E_ALREADY_UNSCALED, autocast_scaler_unscale(w.scaler, w.done,
	    NULL));
	says("encoder");
	REFUSED(E_NOT_UNSCALED, autocast_group_norm(w.ready, 2, w.result,
	    NULL));
	says("decoder");
	REFUSED(E_NOT_UNSCALED, autocast_group_clip(w.ready, 1, w.result,
	    NULL));
	REFUSED(E_NOT_UNSCALED, autocast_scaler_axpy(w.scaler, w.ready, 1,
	    NULL, &t, &t, NULL));
	REFUSED(E_INVALID, autocast_group_norm(w.done, 3, w.result, NULL));
	REFUSED(E_INVALID, autocast_group_norm(w.done, 0, w.result, NULL));
	REFUSED(E_INVALID, autocast_group_norm(w.done, NAN, w.result, NULL));
	REFUSED(E_INVALID, autocast_group_norm(w.done, -INFINITY, w.result,
	    NULL));
	REFUSED(E_INVALID, autocast_group_clip(w.done, NAN, w.result, NULL));
	REFUSED(E_INVALID, autocast_group_clip(w.done, -1, w.result, NULL));
	REFUSED(E_POINTER, autocast_group_norm(w.done, 2, w.on_host, NULL));
	REFUSED(E_POINTER, autocast_group_norm(w.done, 2, w.elsewhere, NULL));
	REFUSED(E_POINTER, autocast_group_clip(w.done, 1, w.pinned, NULL));
}

CASE(sums)
{
	autocast_tensor x = good(), y = good();

#define SUM(alpha) autocast_scaler_axpy(w.scaler, w.done, 1, alpha, &x, &y, \
	NULL)
	y.dtype = AUTOCAST_BF16;
	REFUSED(E_DTYPE, SUM(NULL));
	y.dtype = AUTOCAST_F32;
	x.dtype = AUTOCAST_F64;
	x.count = y.count = 2;
	REFUSED(E_DTYPE, SUM(NULL));
	x.dtype = AUTOCAST_F32;
	y.dtype = AUTOCAST_F64;
	REFUSED(E_DTYPE, SUM(NULL));
	y.dtype = 77;
	REFUSED(E_DTYPE, SUM(NULL));
	y = good();
	REFUSED(E_INVALID, SUM(NULL));  /* two and four */
	x = good();
	x.data = w.on_host;
	REFUSED(E_POINTER, SUM(NULL));
	x = good();
	y.data = w.on_host;
	REFUSED(E_POINTER, SUM(NULL));
	y.data = w.elsewhere;
	y.device = 1;
	REFUSED(E_DEVICE, SUM(NULL));
	y = good();
	REFUSED(E_POINTER, SUM(w.on_host));
	REFUSED(E_DEVICE, SUM(w.elsewhere));
#undef SUM
}

CASES_RUN_ON("h200,t4", begin, end)
