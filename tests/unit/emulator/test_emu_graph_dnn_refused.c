/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_graph_dnn_refused.c -- cuDNN's emulated graph
 * interface: descriptors in the wrong place, sizes that cannot be, graphs that
 * no engine knows although they are graphs, devices that lack what an engine
 * needs. */
#include "tests/unit/emulator/test_emu_graph_dnn.h"

#define SET cudnnBackendSetAttribute
#define GET cudnnBackendGetAttribute
#define IS(call, status) assert_int_equal((call), CUDNN_STATUS_##status)

static const struct dnn_wish single = { .shape = { 2, 4, 5, 3, 3, 1, false },
	.type = CUDNN_DATA_FLOAT };
static const int64_t of_x[4] = { 2, 4, 5, 5 }, of_w[4] = { 3, 4, 3, 3 };
static const int64_t of_y[4] = { 2, 3, 5, 5 }, of_b[4] = { 1, 3, 1, 1 };

static descriptor
flat(int64_t id, const int64_t dim[4], bool is_virtual)
{
	return dnn_tensor(id, CUDNN_DATA_FLOAT, dim, false, is_virtual);
}

/* ---- descriptors --------------------------------------------------------- */

static void
children_in_the_wrong_place(void **state)
{
	static const struct {
		cudnnBackendDescriptorType_t type;
		cudnnBackendAttributeName_t name;
	} rows[] = {
#define ROW(d, a) { CUDNN_BACKEND_##d##_DESCRIPTOR, CUDNN_ATTR_##a }
		/* None of them takes a tensor. */
		ROW(OPERATION_CONVOLUTION_FORWARD,
		    OPERATION_CONVOLUTION_FORWARD_CONV_DESC),
		ROW(OPERATION_CONVOLUTION_BACKWARD_DATA,
		    OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC),
		ROW(OPERATION_CONVOLUTION_BACKWARD_FILTER,
		    OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC),
		ROW(OPERATION_POINTWISE, OPERATION_POINTWISE_PW_DESCRIPTOR),
		ROW(OPERATIONGRAPH, OPERATIONGRAPH_OPS),
		ROW(ENGINEHEUR, ENGINEHEUR_OPERATION_GRAPH),
		ROW(ENGINEHEUR, ENGINEHEUR_DEVICEPROP),
		ROW(ENGINE, ENGINE_OPERATION_GRAPH),
		ROW(ENGINE, ENGINE_DEVICEPROP),
		ROW(ENGINECFG, ENGINECFG_ENGINE),
		ROW(ENGINECFG, ENGINECFG_KNOB_CHOICES),
		ROW(EXECUTION_PLAN, EXECUTION_PLAN_ENGINE_CONFIG),
		/* These do, and no convolution. */
		ROW(OPERATION_CONVOLUTION_FORWARD,
		    OPERATION_CONVOLUTION_FORWARD_X),
		ROW(OPERATION_POINTWISE, OPERATION_POINTWISE_BDESC),
#undef ROW
	};
	const size_t count = sizeof rows / sizeof *rows;
	const descriptor wrong[2] = { flat(DNN_X, of_x, false),
		dnn_convolution(1) };

	(void)state;
	for (size_t i = 0; i < count; i++)
		IS(SET(dnn_new(rows[i].type), rows[i].name,
		    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &wrong[i + 2 >= count]),
		    BAD_PARAM);
}

static void
operations_are_no_plans(void **state)
{
	const descriptor graph = dnn_graph(&single, NULL);
	const descriptor plan = dnn_new(
	    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	const descriptor pack = dnn_new(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	descriptor configs[DNN_CONFIGS];
	cudnnHandle_t handle;

	(void)state;
	OK(cudnnCreate(&handle));
	OK(cudnnBackendFinalize(pack));
	IS(cudnnBackendExecute(handle, plan, pack), BAD_PARAM_NOT_FINALIZED);
	dnn_results(dnn_heuristics(graph, NULL, CUDNN_HEUR_MODE_A), 1,
	    configs);
	dnn_put(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configs[0]);
	OK(cudnnBackendFinalize(plan));
	IS(cudnnBackendExecute(handle, plan, pack), BAD_PARAM); /* empty */
	IS(cudnnBackendExecute(handle, graph, pack), BAD_PARAM);
	IS(cudnnBackendExecute(handle, plan, graph), BAD_PARAM);
	IS(cudnnBackendExecute(handle, NULL, pack), BAD_PARAM);
	IS(cudnnBackendExecute(handle, plan, NULL), BAD_PARAM);
	OK(cudnnDestroy(handle));
}

static void
reading_what_is_not_there(void **state)
{
	const descriptor engine = dnn_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	descriptor tensor = dnn_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	descriptor configs[DNN_CONFIGS], config, of_graph;
	int64_t count = -1, wide = 77;
	int notes[4] = { 77 };

	(void)state;
	OK(GET(flat(DNN_X, of_x, false), CUDNN_ATTR_TENSOR_VECTOR_COUNT,
	    CUDNN_TYPE_INT64, 0, &count, &wide));
	assert_true(count == 1 && wide == 77); /* room for none */
	dnn_results(dnn_heuristics(dnn_graph(&single, NULL), dnn_device(900),
	    CUDNN_HEUR_MODE_A), 1, configs);
	config = configs[0];
	IS(GET(config, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &tensor), BAD_PARAM);
	of_graph = dnn_engine_of(config);
	OK(GET(of_graph, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
	    CUDNN_TYPE_NUMERICAL_NOTE, 0, &count, notes));
	assert_true(count == 1 && notes[0] == 77);
	IS(SET(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
	    CUDNN_TYPE_NUMERICAL_NOTE, 1, notes), BAD_PARAM);
}

/* What only one tensor in a row has. */
struct tensor_row {
	cudnnDataType_t type;
	int64_t dims, alignment, dim, stride;
	bool    is_good;
};

static void
tensors_that_cannot_be(void **state)
{
	static const struct tensor_row rows[] = {
		{ CUDNN_DATA_FLOAT, 4, 16, 2, 1, true },
		{ CUDNN_DATA_FLOAT, 8, 16, 1, 1, true },
		{ CUDNN_DATA_FLOAT, 9, 16, 1, 1, false },
		{ CUDNN_DATA_FLOAT, 4, 0, 2, 1, false },
		{ CUDNN_DATA_FLOAT, 4, -16, 2, 1, false },
		{ CUDNN_DATA_INT8x4, 4, 16, 2, 1, false },
		{ CUDNN_DATA_FLOAT, 4, 16, 2, 0, true },
		{ CUDNN_DATA_FLOAT, 4, 16, 1 << 20, 0, false }, /* 2^80 */
		{ CUDNN_DATA_FLOAT, 1, 16, (int64_t)1 << 33, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const descriptor d = dnn_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
		int64_t dim[9], stride[9];

		for (int k = 0; k < 9; k++) {
			dim[k] = rows[i].dim;
			stride[k] = rows[i].stride;
		}
		dnn_set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE,
		    1, &rows[i].type);
		dnn_set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64,
		    1, &rows[i].alignment);
		dnn_set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64,
		    rows[i].dims, dim);
		dnn_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
		    rows[i].dims, stride);
		assert_int_equal(cudnnBackendFinalize(d), rows[i].is_good ?
		    CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM);
	}
}

/* A convolution descriptor of `space` dimensions; these are of every one. */
static cudnnStatus_t
convolution(int64_t space, int64_t pre, int64_t dilation,
    cudnnDataType_t compute, descriptor *out)
{
	const int64_t ones[6] = { 1, 1, 1, 1, 1, 1 };
	int64_t pres[6], dilations[6];

	for (int i = 0; i < 6; i++) {
		pres[i] = pre;
		dilations[i] = dilation;
	}
	*out = dnn_geometry(space, pres, ones, ones, dilations,
	    CUDNN_CROSS_CORRELATION, compute);
	return cudnnBackendFinalize(*out);
}

static void
convolutions_that_cannot_be(void **state)
{
	const cudnnDataType_t f = CUDNN_DATA_FLOAT;
	const int64_t six[6] = { 2, 2, 2, 2, 2, 2 };
	const descriptor d = dnn_new(
	    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
	const descriptor tensor = dnn_tensor_of(DNN_X, f, 6, six, six, false);
	descriptor four;

	(void)state;
	OK(convolution(2, 1, 1, f, &four));
	IS(convolution(2, -1, 1, f, &four), BAD_PARAM);
	IS(convolution(2, 1, 0, f, &four), BAD_PARAM);
	IS(convolution(2, 1, (int64_t)1 << 62, f, &four), BAD_PARAM);
	IS(convolution(2, (int64_t)1 << 62, 1, f, &four), BAD_PARAM);
	IS(convolution(0, 1, 1, f, &four), BAD_PARAM);
	IS(convolution(-1, 1, 1, f, &four), BAD_PARAM);
	OK(convolution(4, 0, 1, f, &four)); /* but nothing runs it */
	dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, tensor);
	dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, tensor);
	dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, tensor);
	dnn_put(d, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, four);
	IS(cudnnBackendFinalize(d), BAD_PARAM);
}

/* ---- graphs that no engine knows ----------------------------------------- */

static int
engines(int64_t count, const descriptor *operations)
{
	descriptor configs[DNN_CONFIGS];

	return dnn_results(dnn_heuristics(dnn_graph_of(count, operations,
	    NULL), dnn_device(900), CUDNN_HEUR_MODE_A), DNN_CONFIGS, configs);
}

static descriptor
conv_to(descriptor y)
{
	return dnn_conv_op(&single, flat(DNN_X, of_x, false),
	    flat(DNN_W, of_w, false), y);
}

static descriptor
relu(descriptor from, descriptor other, descriptor to)
{
	return dnn_pointwise(CUDNN_POINTWISE_RELU_FWD, from, other, to);
}

static void
epilogues_that_no_engine_knows(void **state)
{
	const int64_t other[4] = { 2, 3, 5, 4 }, odd[4] = { 1, 2, 1, 1 };
	const descriptor v = flat('v', of_y, true), u = flat('u', of_y, true);
	const descriptor out = flat(DNN_OUT, of_y, false);
	struct dnn_wish wish = single;
	descriptor ops[10], scaled;

	(void)state;
	ops[0] = conv_to(v);
	ops[1] = relu(v, NULL, out);
	assert_true(engines(2, ops) > 0);
	ops[1] = relu(v, flat(DNN_B, of_b, false), out); /* of what? */
	assert_int_equal(engines(2, ops), 0);
	ops[1] = relu(v, NULL, flat(DNN_OUT, other, false));
	assert_int_equal(engines(2, ops), 0);
	ops[1] = relu(v, NULL, flat(DNN_OUT, of_y, true)); /* nowhere */
	assert_int_equal(engines(2, ops), 0);
	ops[1] = dnn_pointwise(CUDNN_POINTWISE_ADD, v, flat(DNN_B, of_b,
	    false), out);
	assert_true(engines(2, ops) > 0);
	ops[1] = dnn_pointwise(CUDNN_POINTWISE_ADD, v, flat(DNN_B, of_b, true),
	    out); /* from nowhere */
	assert_int_equal(engines(2, ops), 0);
	ops[1] = dnn_pointwise(CUDNN_POINTWISE_ADD, v, flat(DNN_B, odd, false),
	    out);
	assert_int_equal(engines(2, ops), 0);
	ops[1] = dnn_pointwise(CUDNN_POINTWISE_MUL, v, flat(DNN_B, of_b,
	    false), u); /* whatever comes behind it */
	ops[2] = relu(u, NULL, out);
	assert_int_equal(engines(3, ops), 0);
	wish.beta = 1;
	scaled = dnn_conv_op(&wish, flat(DNN_X, of_x, false),
	    flat(DNN_W, of_w, false), v);
	ops[0] = scaled;
	ops[1] = relu(v, NULL, out);
	assert_int_equal(engines(2, ops), 0);
	ops[0] = conv_to(v);
	for (int i = 1; i < 10; i++)
		ops[i] = relu(i > 1 ? flat('v' + i - 1, of_y, true) : v, NULL,
		    i < 9 ? flat('v' + i, of_y, true) : out);
	assert_int_equal(engines(10, ops), 0); /* more than eight */
}

static void
graphs_of_too_much_or_nothing(void **state)
{
	const descriptor graph = dnn_new(
	    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	const descriptor one = conv_to(flat(DNN_Y, of_y, false));
	const descriptor twice[2] = { one, one };
	const descriptor two[2] = { one, conv_to(flat(DNN_Z, of_y, false)) };
	descriptor op, wide;

	(void)state;
	assert_int_equal(engines(2, two), 0);
	dnn_set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &one);
	IS(cudnnBackendFinalize(graph), BAD_PARAM);
	dnn_set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 2, twice);
	IS(cudnnBackendFinalize(graph), BAD_PARAM);
	OK(convolution(2, 1, 1, CUDNN_DATA_HALF, &wide));
	{
		const float unit = 1, none = 0;

		op = dnn_conv_scaled(DNN_FPROP, flat(DNN_X, of_x, false),
		    flat(DNN_W, of_w, false), flat(DNN_Y, of_y, false), wide,
		    CUDNN_TYPE_FLOAT, &unit, &none);
	}
	assert_int_equal(engines(1, &op), 0); /* computed in FP16 */
}

/* What a convolution reads must be somewhere. */
static void
inputs_from_nowhere(void **state)
{
	(void)state;
	for (int op = 0; op < 3; op++)
		for (int which = 0; which < 3; which++) {
			struct dnn_wish wish = single;
			descriptor d;

			wish.op = (enum dnn_op)op;
			d = dnn_conv_op(&wish, flat(DNN_X, of_x, which == 0),
			    flat(DNN_W, of_w, which == 1), flat(DNN_Y, of_y,
			    which == 2));
			assert_int_equal(engines(1, &d), 0);
		}
}

/* conv + bias + relu + add is not what ready-made kernels fuse. */
static void
activations_come_last(void **state)
{
	const descriptor v = flat('v', of_y, true), u = flat('u', of_y, true);
	const descriptor t = flat('t', of_y, true);
	const descriptor out = flat(DNN_OUT, of_y, false);
	descriptor ops[4] = { conv_to(v), dnn_pointwise(CUDNN_POINTWISE_ADD, v,
		flat(DNN_B, of_b, false), u), relu(u, NULL, t),
		dnn_pointwise(CUDNN_POINTWISE_ADD, t, flat(DNN_Z, of_y, false),
		out) };
	descriptor engine;

	(void)state;
	OK(dnn_engine(dnn_graph_of(4, ops, NULL), dnn_device(900), 1,
	    &engine));
	IS(dnn_engine(dnn_graph_of(4, ops, NULL), dnn_device(900), 62,
	    &engine), NOT_SUPPORTED);
	ops[2] = relu(u, NULL, out);
	OK(dnn_engine(dnn_graph_of(3, ops, NULL), dnn_device(900), 62,
	    &engine));
}

/* ---- devices, in another process ----------------------------------------- */

/* Bit 0: device 0 has the TF32 engine; bit 1: device 1, by its handle; bit 2:
 * a plan made elsewhere for it runs. */
static int
which_have_tf32(void)
{
	const descriptor graph = dnn_graph(&single, NULL);
	const descriptor by_handle = dnn_new(
	    CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	const descriptor pack = dnn_new(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	cudnnHandle_t handle;
	descriptor engine;
	int devices, result;

	OK(cudaGetDeviceCount(&devices));
	OK(cudaSetDevice(devices - 1));
	OK(cudnnCreate(&handle));
	OK(cudaSetDevice(0));
	dnn_set(by_handle, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &handle);
	OK(cudnnBackendFinalize(by_handle));
	result = !dnn_engine(graph, NULL, 67, &engine);
	result |= !dnn_engine(graph, by_handle, 67, &engine) << 1;
	OK(cudnnBackendFinalize(pack));
	/* Empty packs are found wrong once there is an engine. */
	result |= (cudnnBackendExecute(handle, dnn_plan(graph,
	    dnn_device(900), 67), pack) == CUDNN_STATUS_BAD_PARAM) << 2;
	OK(cudnnDestroy(handle));
	dnn_release(NULL);
	return result;
}

static void
devices_differ(void **state)
{
	static const struct { const char *name, *value; int result; } rows[] = {
		{ "NVIDIA_TF32_OVERRIDE", "1", 7 },
		{ "NVIDIA_TF32_OVERRIDE", "0", 0 },
		{ "AUTOCAST_EMU_MODEL", "t4", 0 },
		{ "AUTOCAST_EMU_MODEL", "t4,h100", 6 },
		{ "AUTOCAST_EMU_MODEL", "h100,t4", 1 },
	};
	char text[4096];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const int status = test_again("tf32", rows[i].name,
		    rows[i].value, text, sizeof text);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), rows[i].result);
	}
}

#define TEST(name) cmocka_unit_test_teardown(name, dnn_release)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(children_in_the_wrong_place),
		TEST(operations_are_no_plans),
		TEST(reading_what_is_not_there),
		TEST(tensors_that_cannot_be),
		TEST(convolutions_that_cannot_be),
		TEST(epilogues_that_no_engine_knows),
		TEST(graphs_of_too_much_or_nothing),
		TEST(inputs_from_nowhere),
		TEST(activations_come_last),
		TEST(devices_differ),
	};

	(void)argv;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (argc > 1)
		return which_have_tf32();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
