/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_graph_dnn_set.c -- cuDNN's emulated graph
 * interface: setting, finalizing and reading descriptors. The statuses are
 * those of cuDNN 9.19, against which this program runs, too. */
#include "tests/unit/emulator/test_emu_graph_dnn.h"

#define SET cudnnBackendSetAttribute
#define GET cudnnBackendGetAttribute
#define FINALIZE cudnnBackendFinalize
#define IS(call, status) assert_int_equal((call), CUDNN_STATUS_##status)

static void
tensor_needs_all_of_it(void **state)
{
	const descriptor d = dnn_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	const int64_t dim[4] = { 2, 3, 4, 5 }, stride[4] = { 60, 20, 5, 1 };
	const int64_t down[4] = { 60, 20, 5, -1 }, one = 1, sixteen = 16;
	const cudnnDataType_t type = CUDNN_DATA_FLOAT;
	int64_t out[8], count = -1;

	(void)state;
	IS(FINALIZE(d), BAD_PARAM);
	dnn_set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
	dnn_set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dim);
	dnn_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 3, stride);
	dnn_set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
	    &sixteen);
	IS(FINALIZE(d), BAD_PARAM); /* fewer strides than sizes */
	dnn_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride);
	dnn_set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
	    &one);
	IS(FINALIZE(d), BAD_PARAM); /* no multiple of the element */
	dnn_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, down);
	dnn_set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
	    &sixteen);
	IS(FINALIZE(d), BAD_PARAM); /* memory before its first element */
	dnn_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride);
	IS(GET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 8, &count,
	    out), NOT_INITIALIZED);
	dnn_set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
	    &sixteen);
	OK(FINALIZE(d));
	IS(FINALIZE(d), BAD_PARAM);
	IS(SET(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &one),
	    BAD_PARAM);
}

static void
setting_checks_what_it_is_given(void **state)
{
	const descriptor d = dnn_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	const cudnnDataType_t type = CUDNN_DATA_FLOAT;
	const int64_t one = 1;

	(void)state;
	IS(SET(NULL, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
	    &type), BAD_PARAM_NULL_POINTER);
	IS(SET(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, NULL),
	    BAD_PARAM);
	IS(SET(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_INT64, 1, &one),
	    BAD_PARAM_ATTRIBUTE_TYPE);
	IS(SET(d, CUDNN_ATTR_TENSOR_DATA_TYPE,
	    (cudnnBackendAttributeType_t)-1, 1, &one),
	    BAD_PARAM_ATTRIBUTE_TYPE);
	IS(SET(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 2, &type),
	    BAD_PARAM);
	IS(SET(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 0, &type),
	    BAD_PARAM);
	IS(SET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, -1, &one),
	    BAD_PARAM);
	IS(SET(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
	    &type), BAD_PARAM); /* not a tensor's */
	IS(FINALIZE(NULL), BAD_PARAM_NULL_POINTER);
	IS(cudnnBackendDestroyDescriptor(NULL), BAD_PARAM_NULL_POINTER);
	IS(GET(NULL, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
	    NULL, NULL), BAD_PARAM);
}

static void
reading_counts(void **state)
{
	const int64_t dim[4] = { 2, 3, 4, 5 };
	const descriptor d = dnn_tensor(DNN_X, CUDNN_DATA_FLOAT, dim, true,
	    false);
	int64_t out[8] = { 0 }, count = -1;
	bool flag = true;

	(void)state;
	OK(GET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 0, &count,
	    NULL));
	assert_int_equal(count, 4);
	OK(GET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 8, &count,
	    out));
	assert_int_equal(count, 4);
	assert_memory_equal(out, dim, sizeof dim);
	OK(GET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 2, &count,
	    out));
	assert_int_equal(count, 2);
	OK(GET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, NULL,
	    out));
	IS(GET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_DATA_TYPE, 4,
	    &count, out), BAD_PARAM_ATTRIBUTE_TYPE);
	IS(GET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, -4, &count,
	    out), BAD_PARAM);
	OK(GET(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &count,
	    &flag));
	assert_false(flag);
	OK(GET(d, CUDNN_ATTR_TENSOR_VECTOR_COUNT, CUDNN_TYPE_INT64, 1, &count,
	    out)); /* a default */
	assert_int_equal(out[0], 1);
}

static void
convolution_needs_as_many_of_each(void **state)
{
	static const cudnnBackendAttributeName_t names[] = {
		CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
		CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
		CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
		CUDNN_ATTR_CONVOLUTION_DILATIONS,
	};
	const descriptor d = dnn_new(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
	const cudnnDataType_t type = CUDNN_DATA_FLOAT;
	const int64_t two = 2, zeros[2] = { 0, 0 };
	const int64_t seven = 7, ones[7] = { 1, 1, 1, 1, 1, 1, 1 };

	(void)state;
	dnn_set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
	    &type);
	dnn_set(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1,
	    &two);
	for (int i = 0; i < 4; i++) {
		IS(FINALIZE(d), BAD_PARAM);
		dnn_set(d, names[i], CUDNN_TYPE_INT64, 2, ones);
	}
	dnn_set(d, names[0], CUDNN_TYPE_INT64, 3, ones);
	IS(FINALIZE(d), BAD_PARAM);
	dnn_set(d, names[0], CUDNN_TYPE_INT64, 2, ones);
	dnn_set(d, names[3], CUDNN_TYPE_INT64, 2, zeros);
	IS(FINALIZE(d), BAD_PARAM); /* dilation 0 */
	dnn_set(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1,
	    &seven);
	for (int i = 0; i < 4; i++)
		dnn_set(d, names[i], CUDNN_TYPE_INT64, 7, ones);
	IS(FINALIZE(d), BAD_PARAM);
	dnn_set(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1,
	    &two);
	for (int i = 0; i < 4; i++)
		dnn_set(d, names[i], CUDNN_TYPE_INT64, 2, ones);
	OK(FINALIZE(d));
}

static void
operation_needs_what_fits(void **state)
{
	const int64_t x[4] = { 2, 4, 5, 5 }, w[4] = { 3, 4, 3, 3 };
	const int64_t good[4] = { 2, 3, 5, 5 }, bad[4] = { 2, 3, 4, 5 };
	const descriptor d = dnn_new(
	    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
	const descriptor none = NULL;
	const double half = 0.5;
	double scale = -1;
	int64_t count;

	(void)state;
	IS(FINALIZE(d), BAD_PARAM);
	dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
	    dnn_tensor(DNN_X, CUDNN_DATA_FLOAT, x, false, false));
	dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
	    dnn_tensor(DNN_W, CUDNN_DATA_FLOAT, w, false, false));
	dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
	    dnn_tensor(DNN_Y, CUDNN_DATA_FLOAT, bad, false, false));
	IS(FINALIZE(d), BAD_PARAM); /* no convolution */
	dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
	    dnn_convolution(1));
	IS(FINALIZE(d), BAD_PARAM); /* y is too small */
	dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
	    dnn_tensor(DNN_Y, CUDNN_DATA_FLOAT, good, false, false));
	IS(SET(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &none), BAD_PARAM);
	IS(SET(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_TYPE_INT64,
	    1, x), BAD_PARAM);
	dnn_set(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
	    CUDNN_TYPE_DOUBLE, 1, &half); /* either type does */
	OK(FINALIZE(d));
	OK(GET(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
	    CUDNN_TYPE_DOUBLE, 1, &count, &scale));
	assert_true(scale == 0.5);
}

/* They read as what they were set as; unset, as doubles. */
static void
scales_have_two_types(void **state)
{
	static const cudnnBackendAttributeName_t names[2] = {
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
		CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA };
	const int64_t x[4] = { 2, 4, 5, 5 }, w[4] = { 3, 4, 3, 3 };
	const int64_t y[4] = { 2, 3, 5, 5 };
	const float single = 0.5f;
	double real;
	float got;
	int64_t count;

	(void)state;
	for (int set = 0; set < 2; set++) {
		const descriptor d = dnn_new(
		    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);

		dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
		    dnn_tensor(DNN_X, CUDNN_DATA_FLOAT, x, false, false));
		dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
		    dnn_tensor(DNN_W, CUDNN_DATA_FLOAT, w, false, false));
		dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
		    dnn_tensor(DNN_Y, CUDNN_DATA_FLOAT, y, false, false));
		dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
		    dnn_convolution(1));
		for (int i = 0; i < 2 * set; i++)
			dnn_set(d, names[i], CUDNN_TYPE_FLOAT, 1, &single);
		OK(FINALIZE(d));
		for (int i = 0; i < 2; i++) {
			const cudnnStatus_t status = GET(d, names[i],
			    CUDNN_TYPE_FLOAT, 1, &count, &got);

			assert_int_equal(status, set ? CUDNN_STATUS_SUCCESS :
			    CUDNN_STATUS_BAD_PARAM);
			assert_int_equal(GET(d, names[i], CUDNN_TYPE_DOUBLE,
			    1, &count, &real), set ? CUDNN_STATUS_BAD_PARAM :
			    CUDNN_STATUS_SUCCESS);
			assert_true(set ? got == single : real == 1 - i);
		}
	}
}

/* Clips are set, and never read. */
static void
clips_are_kept(void **state)
{
	const descriptor p = dnn_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	const cudnnPointwiseMode_t mode = CUDNN_POINTWISE_RELU_FWD;
	double lower = 0.5;
	int64_t count;

	(void)state;
	dnn_set(p, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1,
	    &mode);
	dnn_set(p, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, 1,
	    &lower);
	OK(FINALIZE(p));
	IS(GET(p, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, CUDNN_TYPE_DOUBLE, 1,
	    &count, &lower), NOT_SUPPORTED);
	IS(GET(p, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, CUDNN_TYPE_FLOAT, 1,
	    &count, &lower), NOT_SUPPORTED);
}

static void
sums_need_two_summands(void **state)
{
	const int64_t dim[4] = { 2, 3, 4, 5 };
	const cudnnPointwiseMode_t modes[2] = { CUDNN_POINTWISE_ADD,
		CUDNN_POINTWISE_RELU_FWD };
	double scale;

	(void)state;
	for (int i = 0; i < 2; i++) {
		const descriptor d = dnn_new(
		    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
		const descriptor p = dnn_new(
		    CUDNN_BACKEND_POINTWISE_DESCRIPTOR);

		dnn_set(p, CUDNN_ATTR_POINTWISE_MODE,
		    CUDNN_TYPE_POINTWISE_MODE, 1, &modes[i]);
		OK(FINALIZE(p));
		dnn_put(d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p);
		dnn_put(d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
		    dnn_tensor(DNN_X, CUDNN_DATA_FLOAT, dim, false, false));
		IS(FINALIZE(d), BAD_PARAM); /* no output */
		dnn_put(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
		    dnn_tensor(DNN_Y, CUDNN_DATA_FLOAT, dim, false, false));
		if (!i) {
			IS(FINALIZE(d), BAD_PARAM);
			dnn_put(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
			    dnn_tensor(DNN_Z, CUDNN_DATA_FLOAT, dim, false,
			    false));
		}
		OK(FINALIZE(d));
		IS(GET(d, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1,
		    CUDNN_TYPE_DOUBLE, 1, NULL, &scale), NOT_SUPPORTED);
	}
}

static void
graphs_keep_their_operations_to_themselves(void **state)
{
	const struct dnn_wish wish = { .shape = dnn_small };
	const descriptor g = dnn_graph(&wish, NULL);
	const descriptor unfinished = dnn_new(
	    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
	const descriptor empty = dnn_new(
	    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	const cudnnHandle_t handle = NULL;
	int64_t count = -1;

	(void)state;
	IS(FINALIZE(empty), BAD_PARAM);
	IS(SET(empty, CUDNN_ATTR_OPERATIONGRAPH_OPS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &unfinished),
	    BAD_PARAM_NOT_FINALIZED);
	IS(SET(empty, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &handle), BAD_PARAM_NULL_POINTER);
	IS(GET(g, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
	    0, &count, NULL), NOT_SUPPORTED);
	OK(GET(g, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
	    CUDNN_TYPE_INT64, 1, &count, &count));
}

static void
variant_packs_give_their_workspace_only(void **state)
{
	const descriptor d = dnn_new(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	const int64_t ids[2] = { DNN_X, DNN_Y };
	int place[2], other;
	void *pointers[2] = { &place[0], &place[1] }, *workspace = &other;
	void *out[2] = { NULL };
	int64_t count, numbers[2];

	(void)state;
	dnn_set(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 2,
	    ids);
	dnn_set(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
	    2, pointers);
	dnn_set(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
	    &workspace);
	OK(FINALIZE(d));
	IS(GET(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 2,
	    &count, numbers), NOT_SUPPORTED);
	IS(GET(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
	    2, &count, out), NOT_SUPPORTED);
	OK(GET(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
	    &count, out));
	assert_ptr_equal(out[0], &other);
	IS(SET(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
	    &workspace), BAD_PARAM);
}

static void
variant_packs_hold_pairs(void **state)
{
	int64_t ids[200];
	void *pointers[200];

	(void)state;
	for (int i = 0; i < 200; i++) {
		ids[i] = i;
		pointers[i] = &ids[i];
	}
	for (int64_t missing = 0; missing < 2; missing++) {
		const descriptor d = dnn_new(
		    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
		const int64_t count = missing ? 3 : 200;

		dnn_set(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
		    CUDNN_TYPE_INT64, count, ids);
		dnn_set(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
		    CUDNN_TYPE_VOID_PTR, count - missing, pointers);
		assert_int_equal(FINALIZE(d), missing ?
		    CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS);
	}
}

static void
initializing_starts_again(void **state)
{
	const int64_t dim[4] = { 2, 3, 4, 5 }, one = 1;
	const descriptor d = dnn_tensor(DNN_X, CUDNN_DATA_FLOAT, dim, false,
	    false);

	(void)state;
	OK(cudnnBackendInitialize(d));
	dnn_set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &one);
	IS(FINALIZE(d), BAD_PARAM);
}

static void
devices_come_by_description_too(void **state)
{
	const descriptor d = dnn_new(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	const descriptor empty = dnn_new(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	const int32_t device = 0;
	const int64_t wide = 0;
	const cudnnHandle_t none = NULL;

	(void)state;
	dnn_set(empty, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
	    CUDNN_TYPE_CHAR, 3, "{}");
	IS(FINALIZE(empty), BAD_PARAM);
	IS(SET(d, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT64, 1, &wide),
	    BAD_PARAM_ATTRIBUTE_TYPE);
	dnn_set(d, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1,
	    &device);
	IS(SET(d, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, &none),
	    BAD_PARAM_NULL_POINTER);
}

static void
only_what_was_finalized_goes_on(void **state)
{
	const descriptor engine = dnn_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	const descriptor heuristics = dnn_new(
	    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	const descriptor plan = dnn_new(
	    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);

	(void)state;
	IS(FINALIZE(dnn_new(CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR)), BAD_PARAM);
	IS(FINALIZE(engine), BAD_PARAM_NULL_POINTER);
	IS(FINALIZE(heuristics), BAD_PARAM);
	IS(FINALIZE(plan), BAD_PARAM_NOT_FINALIZED);
	assert_int_not_equal(cudnnBackendExecute(NULL, plan, plan), 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, dnn_release)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tensor_needs_all_of_it),
		TEST(setting_checks_what_it_is_given),
		TEST(reading_counts),
		TEST(convolution_needs_as_many_of_each),
		TEST(operation_needs_what_fits),
		TEST(scales_have_two_types),
		TEST(clips_are_kept),
		TEST(sums_need_two_summands),
		TEST(graphs_keep_their_operations_to_themselves),
		TEST(variant_packs_give_their_workspace_only),
		TEST(variant_packs_hold_pairs),
		TEST(initializing_starts_again),
		TEST(devices_come_by_description_too),
		TEST(only_what_was_finalized_goes_on),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
