/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_plan.c -- what an execution goes by: its plan's
 * convolution with roles for tensors, the site of where it is executed, whether
 * the program refused TF32 by its choice. cuDNN is made up. */
#include "shim/graph/plan.h"
#include "tests/unit/cases.h"

#include "api/region.h"
#include "shim/conv/engine.h"
#include "shim/conv/builder.h"
#include "shim/device/handle.h"
#include "shim/device/place.h"
#include "shim/graph/shadow.h"
#include "shim/start/start.h"

/* ---- What a plan borrows ------------------------------------------------- */

_Atomic uint32_t ac_binding_generation, ac_handle_generation;
__thread uint64_t ac_region_mark;
__thread struct ac_handle_cache ac_handle_last;

static struct ac_shim shim;
_Atomic(const struct ac_shim *) ac_shim_started = &shim;
static bool is_off, is_described, is_captured, is_engine_told;
static bool on_tensor_cores, is_first_on_tensor_cores;
static int asked_first, sites;
static struct ac_conv conv;
static struct ac_conv_query queried;
static struct ac_conv_site site;
static struct ac_engine engine;
static struct ac_provider provider;
static int64_t workspace;

const struct ac_shim *
ac_shim_start(void)
{
	return &shim;
}

bool
ac_policy_is_off(const struct ac_policy *policy)
{
	return is_off;
}

const struct ac_handle *
ac_handle_search(const void *handle)
{
	static struct ac_handle record;

	record.device = (int)(uintptr_t)handle;
	return &record;
}

static cudnnStatus_t CUDNNWINAPI
get_stream(cudnnHandle_t handle, cudaStream_t *stream)
{
	*stream = NULL;
	return CUDNN_STATUS_SUCCESS;
}

ac_fn
ac_provider_look_up(struct ac_provider *of, enum ac_entry entry)
{
	return entry == ENTRY_cudnnGetStream ? (ac_fn)get_stream : NULL;
}

enum ac_reason
ac_place_on(ac_cu_stream stream, int device, struct ac_place *place_out)
{
	place_out->capture = is_captured;
	return AC_REASON_NONE;
}

bool
ac_shadow_is_stored(cudnnBackendDescriptor_t plan, cudnnHandle_t *handle_out)
{
	return false;
}

bool
ac_shadow_plan(cudnnBackendDescriptor_t plan, struct ac_conv *conv_out,
    cudnnHandle_t *handle_out)
{
	*conv_out = conv;
	*handle_out = (cudnnHandle_t)(uintptr_t)1;
	return is_described;
}

int64_t
ac_builder_get(struct ac_builder *builder, cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, void *values)
{
	assert_int_equal(name, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
	memcpy(values, &workspace, sizeof workspace);
	return 1;
}

bool
ac_engine_of_plan(struct ac_provider *of, cudnnBackendDescriptor_t plan,
    struct ac_engine *engine_out, bool *on_tensor_cores_out)
{
	*engine_out = engine;
	if (is_engine_told)
		*on_tensor_cores_out = on_tensor_cores;
	return is_engine_told;
}

bool
ac_engine_is_first_on_tensor_cores(struct ac_provider *of,
    cudnnBackendDescriptor_t plan)
{
	asked_first++;
	return is_first_on_tensor_cores;
}

struct ac_conv_site *
ac_conv_site_of(const struct ac_conv_query *query)
{
	queried = *query;
	memcpy(&site.query, query, sizeof *query);
	sites++;
	return &site;
}

/* ---- A program's plans --------------------------------------------------- */

static cudnnBackendDescriptor_t
plan_at(uintptr_t number)
{
	return (cudnnBackendDescriptor_t)(0x100000 + 64 * number);
}

static struct ac_conv_tensor
tensor(int64_t uid, bool is_virtual)
{
	return (struct ac_conv_tensor){ .uid = uid, .dim = { 2, 8, 5, 5 },
		.stride = { 200, 25, 5, 1 }, .alignment = 16, .dims = 4,
		.type = CUDNN_DATA_FLOAT, .is_virtual = is_virtual };
}

static struct ac_conv_tensor
bias(int64_t uid)
{
	return (struct ac_conv_tensor){ .uid = uid, .dim = { 1, 8, 1, 1 },
		.stride = { 8, 1, 1, 1 }, .alignment = 16, .dims = 4,
		.type = CUDNN_DATA_FLOAT };
}

/* A convolution of x (7), w (0) and y (9); with steps, those of PyTorch: + z
 * (3), + bias (4), ReLU. */
static int
begin(void **state)
{
	is_off = is_captured = on_tensor_cores = is_first_on_tensor_cores =
	    false;
	is_described = is_engine_told = true;
	asked_first = sites = 0;
	ac_region_mark = 0;
	workspace = 4096;
	memset(&engine, 0, sizeof engine);
	on_tensor_cores = true;
	memset(&conv, 0, sizeof conv);
	conv.operation = AC_OP_CONV_FPROP;
	conv.space = 2;
	conv.type = CUDNN_DATA_FLOAT;
	conv.x = tensor(7, false);
	conv.w = tensor(0, false);
	conv.y = tensor(9, false);
	for (int i = 0; i < 2; i++)
		conv.stride[i] = conv.dilation[i] = 1;
	conv.scalars.alpha = 1;
	return 0;
}

static void
add_steps(void)
{
	conv.y = tensor(100, true);
	conv.steps = 3;
	for (int i = 0; i < 3; i++) {
		conv.step[i].mode = i < 2 ? CUDNN_POINTWISE_ADD
		    : CUDNN_POINTWISE_RELU_FWD;
		conv.step[i].type = CUDNN_DATA_FLOAT;
		conv.step[i].out = tensor(101 + i, i < 2);
		conv.scalars.alpha1[i] = conv.scalars.alpha2[i] = 1;
	}
	conv.step[0].other = tensor(3, false);
	conv.step[1].other = bias(4);
	conv.step[2].out.uid = 9;
}

static struct ac_plan *
add(void)
{
	ac_plan_drop(plan_at(1));
	ac_plan_add(plan_at(1), &provider);
	return ac_plan_find(plan_at(1));
}

/* ---- Roles --------------------------------------------------------------- */

CASE_WITH(test_plain, begin, NULL)
{
	const struct ac_plan *plan = add();

	assert_non_null(plan);
	assert_int_equal(plan->bytes, 4096);
	assert_int_equal(plan->query.conv.x.uid, AC_CONV_X);
	assert_int_equal(plan->query.conv.w.uid, AC_CONV_W);
	assert_int_equal(plan->query.conv.y.uid, AC_CONV_Y);
	assert_int_equal(plan->query.uids.of[AC_CONV_X - 1], 7);
	assert_int_equal(plan->query.uids.of[AC_CONV_W - 1], 0);
	assert_int_equal(plan->query.uids.of[AC_CONV_Y - 1], 9);
	assert_int_equal(plan->query.conv.scales, 0);
	assert_int_equal(plan->query.conv.has_more, 0);
	assert_int_equal(plan->query.entry, ENTRY_cudnnBackendExecute);
	conv.scalars.alpha = 2;
	assert_int_equal(add()->query.conv.scales, 1);
	is_described = false;
	assert_null(add());
	ac_plan_add(plan_at(1), NULL);
	assert_null(ac_plan_find(plan_at(1)));
}

CASE_WITH(test_steps, begin, NULL)
{
	const struct ac_conv_query *query;

	add_steps();
	query = &add()->query;
	assert_int_equal(query->conv.has_more, 0);
	assert_int_equal(query->conv.step[0].other.uid, AC_CONV_Z);
	assert_int_equal(query->conv.step[1].other.uid, AC_CONV_BIAS);
	assert_int_equal(query->conv.step[2].out.uid, AC_CONV_Y);
	assert_int_equal(query->uids.of[AC_CONV_Z - 1], 3);
	assert_int_equal(query->uids.of[AC_CONV_BIAS - 1], 4);
	assert_int_equal(query->uids.of[AC_CONV_Y - 1], 9);
	assert_int_equal(query->conv.scales, 0);
	/* PyTorch's alpha, which is 0 where there is nothing to add. */
	conv.scalars.alpha2[0] = 0;
	query = &add()->query;
	assert_int_equal(query->conv.has_more, 0);
	assert_int_equal(query->conv.scales, 1);
	/* The bias first. */
	add_steps();
	conv.step[0].other = bias(4);
	conv.step[1].other = tensor(3, false);
	query = &add()->query;
	assert_int_equal(query->conv.has_more, 0);
	assert_int_equal(query->uids.of[AC_CONV_BIAS - 1], 4);
	assert_int_equal(query->conv.step[1].other.uid, AC_CONV_Z);
}

/* What the sample would compute otherwise than cuDNN. */
CASE_WITH(test_other_steps, begin, NULL)
{
	struct ac_conv_step *const step = conv.step;

	for (int i = 0; i < 14; i++) {
		begin(state);
		add_steps();
		switch (i) {
		case 0: conv.scalars.alpha1[1] = 2; break;
		case 1: conv.scalars.alpha2[1] = 2; break;
		case 2: step[1].other = tensor(4, false); break;
		case 3: step[0].other = bias(3); break;
		case 4: step[2].is_clipped = 1; break;
		case 5: step[2].mode = CUDNN_POINTWISE_TANH_FWD; break;
		case 6: step[0].mode = CUDNN_POINTWISE_RELU_FWD; break;
		case 7: step[0].out.is_virtual = 0; break;
		case 8: step[2].out.is_virtual = 1; break;
		case 9: step[1].other.stride[1] = 2; break;
		case 10: step[0].other.dim[2] = 1; break;
		case 11: conv.y.is_virtual = 0; break;
		case 12: conv.operation = AC_OP_CONV_DGRAD; break;
		default: conv.x.is_virtual = 1; break;
		}
		assert_int_equal(add()->query.conv.has_more, 1);
		assert_int_equal(ac_conv_objection(&add()->query.conv),
		    AC_REASON_UNSUPPORTED);
	}
}

/* ---- The engine that the program chose ---------------------------------- */

CASE_WITH(test_opt_out, begin, NULL)
{
	static const struct {
		bool is_told, on_tensor_cores, is_first, is_captured;
		int math, asked;
	} rows[] = {
		{ true, true, true, false, CUDNN_DEFAULT_MATH, 0 },
		{ true, false, true, false, CUDNN_FMA_MATH, 1 },
		{ true, false, false, false, CUDNN_DEFAULT_MATH, 1 },
		{ true, false, false, true, CUDNN_FMA_MATH, 0 },
		{ true, true, false, true, CUDNN_DEFAULT_MATH, 0 },
		{ false, true, true, false, CUDNN_FMA_MATH, 1 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		begin(state);
		is_engine_told = rows[i].is_told;
		on_tensor_cores = rows[i].on_tensor_cores;
		is_first_on_tensor_cores = rows[i].is_first;
		is_captured = rows[i].is_captured;
		assert_int_equal(add()->query.math, rows[i].math);
		assert_int_equal(asked_first, rows[i].asked);
	}
	/* Nothing is asked where nothing is recast. */
	begin(state);
	on_tensor_cores = false;
	is_off = true;
	assert_non_null(add());
	is_off = false;
	conv.x.type = CUDNN_DATA_HALF;
	assert_non_null(add());
	assert_int_equal(asked_first, 0);
}

CASE_WITH(test_content, begin, NULL)
{
	uint64_t first, second;

	engine.index = 67;
	first = add()->content;
	assert_int_not_equal(first, 0);
	assert_int_equal(add()->content, first);
	engine.knobs = 1;
	engine.knob[0].value = 2;
	second = add()->content;
	assert_int_not_equal(second, first);
	engine.knob[0].value = 3;
	assert_int_not_equal(add()->content, second);
}

/* ---- Sites --------------------------------------------------------------- */

CASE_WITH(test_site, begin, NULL)
{
	const cudnnHandle_t one = (cudnnHandle_t)(uintptr_t)1;
	const cudnnHandle_t two = (cudnnHandle_t)(uintptr_t)2;
	struct ac_plan *plan = add();

	assert_ptr_equal(ac_plan_site(plan, &site, one), &site);
	assert_int_equal(sites, 1);
	assert_ptr_equal(queried.caller, &site);
	assert_int_equal(queried.device, 1);
	assert_int_equal(queried.region, 0);
	assert_ptr_equal(queried.provider, &provider);
	assert_ptr_equal(ac_plan_site(plan, &site, one), &site);
	assert_int_equal(sites, 1);
	(void)ac_plan_site(plan, &conv, one);
	assert_int_equal(sites, 2);
	(void)ac_plan_site(plan, &conv, two);
	assert_int_equal(sites, 3);
	ac_region_mark = UINT64_C(3) << AC_REGION_SHIFT;
	(void)ac_plan_site(plan, &conv, two);
	assert_int_equal(sites, 4);
	assert_int_equal(queried.region, 3);
	ac_binding_generation++;
	(void)ac_plan_site(plan, &conv, two);
	assert_int_equal(sites, 5);
	ac_binding_generation--;
}

/* PyTorch keeps 10,000 plans a thread, of each kind. */
CASE_WITH(test_there_is_room, begin, NULL)
{
	enum { MANY = 40000 };

	for (uintptr_t i = 2; i < MANY; i++) {
		conv.x.dim[0] = (int64_t)i;
		ac_plan_add(plan_at(i), &provider);
	}
	for (uintptr_t i = 2; i < MANY; i++)
		assert_int_equal(ac_plan_find(plan_at(i))->query.conv.x.dim[0],
		    i);
	for (uintptr_t i = 2; i < MANY; i++)
		ac_plan_drop(plan_at(i));
	for (uintptr_t i = 2; i < MANY; i++)
		assert_null(ac_plan_find(plan_at(i)));
}

CASES_RUN(NULL, NULL)
