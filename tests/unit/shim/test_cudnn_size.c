/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_cudnn_size.c -- what a program is told when it asks how
 * much workspace a convolution needs: never less than cuDNN's own answer, and
 * what plans need where the policy says so. */
#include "shim/bind/wrapper.h"
#include "shim/conv/conv_call.h"
#include "shim/conv/conv_plan.h"
#include "shim/device/place.h"
#include "shim/start/start.h"
#include "tests/unit/cases.h"

/* ---- What the wrappers borrow ------------------------------------------- */

_Atomic uint32_t ac_binding_generation;
__thread uint64_t ac_region_mark;
__thread uintptr_t ac_in_call_frame;

static struct ac_provider provider;
static struct ac_binding binding;
static struct ac_decision decision;
static struct ac_conv_call seen;
static int64_t size;             /* of the convolution that is asked about */
static bool is_off, is_readable;
static int device, stream_status, measured;
static enum ac_reason no_place;
static uint64_t capture;
static cudnnStatus_t status;
static size_t needs[AC_RUNG_COUNT];

static cudnnStatus_t CUDNNWINAPI
get_stream(cudnnHandle_t handle, cudaStream_t *stream)
{
	*stream = NULL;
	return (cudnnStatus_t)stream_status;
}

ac_fn
ac_provider_look_up(struct ac_provider *of, enum ac_entry entry)
{
	return NULL;
}

struct ac_binding
ac_provider_bind(enum ac_entry entry, const void *caller, uint32_t via)
{
	return binding;
}

const struct ac_policy *
ac_shim_policy(void)
{
	return NULL;
}

bool
ac_policy_is_off(const struct ac_policy *policy)
{
	return is_off;
}

bool
ac_conv_query_of(const struct ac_conv_call *call, struct ac_conv_query *query)
{
	seen = *call;
	memset(query, 0, sizeof *query);
	query->device = device;
	query->provider = call->provider;
	query->conv.x.dim[0] = size;
	return is_readable;
}

void
ac_conv_site_ask(const struct ac_conv_query *query, struct ac_decision *out)
{
	*out = decision;
}

enum ac_reason
ac_place_on(ac_cu_stream stream, int on, struct ac_place *place)
{
	assert_int_equal(on, device);
	memset(place, 0, sizeof *place);
	place->capture = capture;
	return no_place;
}

size_t
ac_conv_plan_measure(struct ac_provider *of, cudnnHandle_t handle,
    const struct ac_conv *conv, enum ac_rung rung)
{
	assert_ptr_equal(of, &provider);
	assert_non_null(handle);
	assert_int_equal(conv->x.dim[0], size);
	measured++;
	return needs[rung];
}

/* ---- cuDNN's own answer ------------------------------------------------- */

#define AT(i) ((void *)((uintptr_t)(i) << 8))

static cudnnStatus_t CUDNNWINAPI
forward(cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
    const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t conv,
    const cudnnTensorDescriptor_t y, cudnnConvolutionFwdAlgo_t algo,
    size_t *bytes)
{
	assert_true((void *)x == AT(1) && (void *)w == AT(2)
	    && (void *)y == AT(3) && (void *)conv == AT(4));
	assert_int_equal(algo, 5);
	*bytes = 100;
	return status;
}

static int
begin(void **state)
{
	provider.real[ENTRY_cudnnGetStream] = (ac_fn)get_stream;
	binding = (struct ac_binding){ (ac_fn)forward, &provider };
	decision = (struct ac_decision){ .rung = AC_RUNG_TF32,
		.advertises_workspace = true, .candidate_count = 2,
		.candidate = { { .rung = AC_RUNG_TF32 },
		    { .rung = AC_RUNG_FP16 } } };
	memset(&seen, 0, sizeof seen);
	size++;
	is_off = false;
	is_readable = true;
	device = stream_status = measured = 0;
	no_place = AC_REASON_NONE;
	capture = 0;
	status = CUDNN_STATUS_SUCCESS;
	needs[AC_RUNG_TF32] = 200;
	needs[AC_RUNG_FP16] = 300;
	return 0;
}

static size_t
ask(cudnnHandle_t handle)
{
	size_t bytes = 1;

	assert_int_equal(cudnnGetConvolutionForwardWorkspaceSize(handle, AT(1),
	    AT(2), AT(4), AT(3), (cudnnConvolutionFwdAlgo_t)5, &bytes), status);
	return bytes;
}

/* ---- What is told ------------------------------------------------------- */

CASE_WITH(test_largest, begin, NULL)
{
	assert_int_equal(ask(AT(9)), 300);
	assert_int_equal(seen.entry, ENTRY_cudnnConvolutionForward);
	assert_int_equal(seen.operation, AC_OP_CONV_FPROP);
	assert_ptr_equal(seen.handle, AT(9));
	assert_ptr_equal(seen.provider, &provider);
	assert_ptr_equal(seen.x_desc, AT(1));
	assert_ptr_equal(seen.w_desc, AT(2));
	assert_ptr_equal(seen.y_desc, AT(3));
	assert_ptr_equal(seen.conv_desc, AT(4));
	assert_non_null(seen.caller);
	assert_null(seen.x);
	assert_int_equal(ac_in_call_frame, 0);
	begin(state);
	needs[AC_RUNG_TF32] = 400;
	assert_int_equal(ask(AT(9)), 400);
	begin(state);
	needs[AC_RUNG_TF32] = needs[AC_RUNG_FP16] = 99;
	assert_int_equal(ask(AT(9)), 100);
	begin(state);
	decision.candidate_count = 1;
	assert_int_equal(ask(AT(9)), 200);
}

/* Once for each convolution, device and rung, whatever the handle; again once
 * a module was unloaded. */
CASE_WITH(test_measured_once, begin, NULL)
{
	assert_int_equal(ask(AT(9)), 300);
	assert_int_equal(ask(AT(8)), 300);
	assert_int_equal(measured, 2);
	device = 1;
	assert_int_equal(ask(AT(9)), 300);
	assert_int_equal(measured, 4);
	size++;
	assert_int_equal(ask(AT(9)), 300);
	assert_int_equal(measured, 6);
	ac_binding_generation++;
	needs[AC_RUNG_FP16] = 500;
	assert_int_equal(ask(AT(9)), 500);
	assert_int_equal(ask(AT(9)), 500);
	assert_int_equal(measured, 8);
}

CASE_WITH(test_cudnns_own, begin, NULL)
{
	for (int why = 0; why < 9; why++) {
		begin(state);
		is_off = why == 0;
		is_readable = why != 1;
		if (why == 2)
			decision.rung = AC_RUNG_KEEP;
		decision.advertises_workspace = why != 3;
		if (why == 4)
			provider.real[ENTRY_cudnnGetStream] = (ac_fn)0;
		stream_status = why == 5;
		if (why == 6)
			no_place = AC_REASON_NO_CONTEXT;
		capture = why == 7;
		if (why == 8)
			binding.provider = NULL;
		if (ask(AT(9)) != 100 || measured)
			fail_msg("why %d", why);
	}
	begin(state);
	assert_int_equal(ask(NULL), 100);
	status = CUDNN_STATUS_NOT_SUPPORTED;
	assert_int_equal(ask(AT(9)), 100);
	assert_int_equal(measured, 0);
	/* cuDNN's own question. */
	status = CUDNN_STATUS_SUCCESS;
	ac_in_call_frame = UINTPTR_MAX;
	assert_int_equal(ask(AT(9)), 100);
	assert_int_equal(ac_in_call_frame, UINTPTR_MAX);
	ac_in_call_frame = 0;
}

static cudnnStatus_t CUDNNWINAPI
backward(cudnnHandle_t handle, const void *first, const void *second,
    const void *conv, const void *third, int algo, size_t *bytes)
{
	assert_true(first == AT(1) && second == AT(2) && third == AT(3));
	*bytes = 100;
	return status;
}

/* Whose turn is whose descriptor's. */
CASE_WITH(test_gradients, begin, NULL)
{
	size_t bytes;

	binding.next = (ac_fn)backward;
	assert_int_equal(cudnnGetConvolutionBackwardDataWorkspaceSize(AT(9),
	    AT(1), AT(2), AT(4), AT(3), (cudnnConvolutionBwdDataAlgo_t)1,
	    &bytes), 0);
	assert_int_equal(bytes, 300);
	assert_int_equal(seen.operation, AC_OP_CONV_DGRAD);
	assert_int_equal(seen.entry, ENTRY_cudnnConvolutionBackwardData);
	assert_true((void *)seen.w_desc == AT(1) && (void *)seen.y_desc == AT(2)
	    && (void *)seen.x_desc == AT(3));
	assert_int_equal(cudnnGetConvolutionBackwardFilterWorkspaceSize(AT(9),
	    AT(1), AT(2), AT(4), AT(3), (cudnnConvolutionBwdFilterAlgo_t)1,
	    &bytes), 0);
	assert_int_equal(bytes, 300);
	assert_int_equal(seen.operation, AC_OP_CONV_WGRAD);
	assert_int_equal(seen.entry, ENTRY_cudnnConvolutionBackwardFilter);
	assert_true((void *)seen.x_desc == AT(1) && (void *)seen.y_desc == AT(2)
	    && (void *)seen.w_desc == AT(3));
}

/* What finds no room is measured each time. */
CASE_WITH(test_no_room, begin, NULL)
{
	decision.candidate_count = 1;
	for (int i = 0; i < 1 << 12; i++) {
		size++;
		assert_int_equal(ask(AT(9)), 200);
	}
	measured = 0;
	assert_int_equal(ask(AT(9)), 200);
	assert_int_equal(ask(AT(9)), 200);
	assert_int_equal(measured, 2);
}

CASES_RUN(NULL, NULL)
