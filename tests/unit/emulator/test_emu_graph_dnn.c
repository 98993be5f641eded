/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_graph_dnn.c -- cuDNN's emulated graph interface:
 * which engines there are for a graph on a device, what is noted of them, what
 * the heuristics name. test_emu_graph_dnn_run.c runs plans. */
#include "tests/unit/emulator/test_emu_graph_dnn.h"

static const struct dnn_wish single = { .shape = { 2, 4, 5, 3, 3, 1, false },
	.type = CUDNN_DATA_FLOAT };

static bool
names_note(descriptor config, cudnnBackendNumericalNote_t note)
{
	return dnn_has_note(dnn_engine_of(config), note);
}

static void
heuristics_put_tf32_first_and_convert_nothing(void **state)
{
	static const struct { int device; bool tensor_core; } devices[] = {
		{ 750, false }, { 800, true }, { 890, true }, { 900, true },
		{ 1000, true } };
	descriptor configs[DNN_CONFIGS];

	(void)state;
	for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
		for (int mode = 0; mode < CUDNN_HEUR_MODES_COUNT; mode++) {
			const bool fallback = mode == CUDNN_HEUR_MODE_FALLBACK;
			const int count = dnn_results(dnn_heuristics(
			    dnn_graph(&single, NULL),
			    dnn_device(devices[d].device),
			    (cudnnBackendHeurMode_t)mode), DNN_CONFIGS,
			    configs);

			assert_true(count >= 2);
			assert_int_equal(names_note(configs[0],
			    CUDNN_NUMERICAL_NOTE_TENSOR_CORE),
			    devices[d].tensor_core && !fallback);
			for (int i = 0; i < count; i++)
				assert_false(names_note(configs[i],
				    CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
		}
}

static void
others_are_there_to_be_filtered(void **state)
{
	descriptor configs[DNN_CONFIGS];
	int winograd = 0, restless = 0, plain = 0;
	int count;

	(void)state;
	count = dnn_results(dnn_heuristics(dnn_graph(&single, NULL),
	    dnn_device(900), CUDNN_HEUR_MODE_A), DNN_CONFIGS, configs);
	for (int i = 0; i < count; i++) {
		const bool w = names_note(configs[i],
		    CUDNN_NUMERICAL_NOTE_WINOGRAD);
		const bool r = names_note(configs[i],
		    CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);

		winograd += w;
		restless += r;
		plain += !w && !r && !names_note(configs[i],
		    CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
	}
	assert_int_equal(winograd, 1);
	assert_int_equal(restless, 1);
	assert_int_equal(plain, 1);
}

/* What the FP16 twin's engines are on the FP32 graph. */
struct found {
	int usable, reduced, restless, other, refused;
	int64_t first;
};

static struct found
map_twin(const struct dnn_wish *wish, int device)
{
	struct dnn_wish twin = *wish;
	descriptor configs[DNN_CONFIGS], graph = dnn_graph(wish, NULL);
	struct found found = { .first = -1 };
	int count;

	twin.type = CUDNN_DATA_HALF;
	count = dnn_results(dnn_heuristics(dnn_graph(&twin, NULL),
	    dnn_device(device), CUDNN_HEUR_MODE_A), DNN_CONFIGS, configs);
	for (int i = 0; i < count; i++) {
		const int64_t index = dnn_number(dnn_engine_of(configs[i]),
		    CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
		descriptor engine;

		if (dnn_engine(graph, dnn_device(device), index, &engine)) {
			found.refused++;
			continue;
		}
		if (!dnn_has_note(engine,
		    CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)) {
			found.other++;
			continue;
		}
		assert_true(dnn_has_note(engine,
		    CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
		if (dnn_has_note(engine,
		    CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
			found.reduced++;
		else if (dnn_has_note(engine,
		    CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC))
			found.restless++;
		else if (!found.usable++)
			found.first = index;
	}
	return found;
}

static void
twins_name_engines_that_convert(void **state)
{
	static const int devices[] = { 750, 800, 890, 900 };

	(void)state;
	for (size_t d = 0; d < 4; d++)
		for (int op = 0; op < 3; op++) {
			struct dnn_wish wish = single;
			struct found found;

			wish.op = (enum dnn_op)op;
			wish.shape.nhwc = d % 2;
			found = map_twin(&wish, devices[d]);
			assert_int_equal(found.usable, 2);
			assert_int_equal(found.reduced, 1);
			assert_int_equal(found.restless, 1);
			assert_int_equal(found.other, 1);
			/* More than the settings that a few asked for hold. */
			assert_int_equal(found.refused,
			    devices[d] == 900 ? 8 : 0);
		}
}

static void
some_graphs_have_no_engine_that_converts(void **state)
{
	struct dnn_wish wish = single;

	(void)state;
	assert_int_equal(map_twin(&wish, 1000).usable, 0);
	wish.activation = CUDNN_POINTWISE_RELU_FWD;
	assert_int_equal(map_twin(&wish, 900).usable, 0); /* conv + relu */
	wish.bias = true;
	assert_int_equal(map_twin(&wish, 900).usable, 2);
	wish.add = true;
	assert_int_equal(map_twin(&wish, 900).usable, 2);
	wish.activation = CUDNN_POINTWISE_TANH_FWD;
	assert_int_equal(map_twin(&wish, 900).usable, 0);
	wish.activation = 0;
	assert_int_equal(map_twin(&wish, 900).usable, 2);
	wish = single;
	wish.beta = 1;
	assert_int_equal(map_twin(&wish, 900).usable, 2);
}

static void
results_fill_the_callers_own(void **state)
{
	const descriptor h = dnn_heuristics(dnn_graph(&single, NULL),
	    dnn_device(900), CUDNN_HEUR_MODE_INSTANT);
	descriptor configs[DNN_CONFIGS], kept[DNN_CONFIGS];
	int64_t count = -1;

	(void)state;
	OK(cudnnBackendGetAttribute(h, CUDNN_ATTR_ENGINEHEUR_RESULTS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, NULL));
	assert_int_equal(count, dnn_results(h, DNN_CONFIGS, configs));
	assert_int_equal(dnn_results(h, 2, configs), 2);
	memcpy(kept, configs, sizeof kept);
	OK(cudnnBackendGetAttribute(h, CUDNN_ATTR_ENGINEHEUR_RESULTS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &configs[2]));
	assert_int_equal(count, 1);
	assert_memory_equal(kept, configs, sizeof kept);
	dnn_engine_of(configs[1]);  /* final */
	assert_int_equal(cudnnBackendFinalize(configs[1]),
	    CUDNN_STATUS_BAD_PARAM);
	assert_int_equal(cudnnBackendGetAttribute(configs[3],
	    CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
	    &count, kept), CUDNN_STATUS_NOT_INITIALIZED);
}

static void
knobs_are_counted_only_with_room_for_them(void **state)
{
	descriptor configs[DNN_CONFIGS], knobs[4];
	cudnnBackendKnobType_t type = CUDNN_KNOB_TYPE_COUNTS;
	int64_t count = -1;

	(void)state;
	dnn_results(dnn_heuristics(dnn_graph(&single, NULL), dnn_device(900),
	    CUDNN_HEUR_MODE_A), 1, configs);
	OK(cudnnBackendGetAttribute(configs[0],
	    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
	    0, &count, NULL));
	assert_int_equal(count, 0);
	for (int i = 0; i < 4; i++)
		knobs[i] = dnn_new(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
	OK(cudnnBackendGetAttribute(configs[0],
	    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
	    4, &count, knobs));
	assert_int_equal(count, 2);
	assert_int_equal(dnn_number(knobs[0],
	    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE), 2);
	assert_int_equal(dnn_number(knobs[1],
	    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE), 1);
	OK(cudnnBackendGetAttribute(knobs[1], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
	    CUDNN_TYPE_KNOB_TYPE, 1, &count, &type));
	assert_int_equal(type, CUDNN_KNOB_TYPE_IDX_MODE);
	for (int i = 0; i < 4; i++)
		knobs[i] = dnn_new(CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR);
	OK(cudnnBackendGetAttribute(dnn_engine_of(configs[0]),
	    CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_TYPE_BACKEND_DESCRIPTOR, 4,
	    &count, knobs));
	assert_int_equal(count, 2);
	assert_int_equal(dnn_number(knobs[1],
	    CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE), 0);
	assert_int_equal(dnn_number(knobs[1],
	    CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE), 3);
	assert_int_equal(dnn_number(knobs[1], CUDNN_ATTR_KNOB_INFO_STRIDE), 1);
}

/* Mode B has the first two of mode A the other way round. */
static void
modes_differ(void **state)
{
	const cudnnBackendHeurMode_t modes[2] = { CUDNN_HEUR_MODE_A,
		CUDNN_HEUR_MODE_B };
	const int first[2] = { 2, 0 };
	descriptor configs[DNN_CONFIGS], knob = dnn_new(
	    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
	int64_t count;

	(void)state;
	for (int i = 0; i < 2; i++) {
		dnn_results(dnn_heuristics(dnn_graph(&single, NULL),
		    dnn_device(900), modes[i]), 2, configs);
		OK(cudnnBackendGetAttribute(configs[0],
		    CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
		    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &knob));
		assert_int_equal(dnn_number(knob,
		    CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE), first[i]);
	}
}

static void
note_counts_agree(void **state)
{
	const descriptor graph = dnn_graph(&single, NULL);
	descriptor engine;
	int64_t count = -1;
	int notes[4];

	(void)state;
	OK(dnn_engine(graph, dnn_device(900), 63, &engine));
	OK(cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
	    CUDNN_TYPE_NUMERICAL_NOTE, 0, &count, NULL));
	assert_int_equal(count, 3);
	OK(cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
	    CUDNN_TYPE_NUMERICAL_NOTE, 4, &count, notes));
	assert_int_equal(count, 3);
	OK(cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
	    CUDNN_TYPE_NUMERICAL_NOTE, 2, &count, notes));
	assert_int_equal(count, 2);
	OK(cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
	    CUDNN_TYPE_BEHAVIOR_NOTE, 4, &count, notes));
	assert_int_equal(count, 0);
}

static void
engines_that_are_not_there(void **state)
{
	const descriptor graph = dnn_graph(&single, NULL);
	struct dnn_wish half = single;
	descriptor engine;

	(void)state;
	assert_int_equal(dnn_engine(graph, dnn_device(900), 9999, &engine),
	    CUDNN_STATUS_NOT_SUPPORTED);
	assert_int_equal(dnn_engine(graph, dnn_device(900), -1, &engine),
	    CUDNN_STATUS_NOT_SUPPORTED);
	assert_int_equal(dnn_engine(graph, dnn_device(750), 67, &engine),
	    CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH);
	assert_int_equal(dnn_engine(graph, dnn_device(1000), 62, &engine),
	    CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH);
	assert_int_equal(dnn_engine(graph, dnn_device(700), 62, &engine),
	    CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH);
	half.type = CUDNN_DATA_HALF;
	assert_int_equal(dnn_engine(dnn_graph(&half, NULL), dnn_device(900),
	    67, &engine), CUDNN_STATUS_NOT_SUPPORTED);
}

/* The default device has TF32; whoever names it. */
static void
devices_by_number_and_handle(void **state)
{
	const descriptor by_number = dnn_new(
	    CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	const descriptor by_handle = dnn_new(
	    CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	const descriptor none = dnn_new(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	const int32_t first = 0, missing = 7;
	cudnnHandle_t handle;
	descriptor engine;

	(void)state;
	OK(cudnnCreate(&handle));
	dnn_set(by_number, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32,
	    1, &first);
	OK(cudnnBackendFinalize(by_number));
	dnn_set(by_handle, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &handle);
	OK(cudnnBackendFinalize(by_handle));
	dnn_set(none, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1,
	    &missing);
	assert_int_not_equal(cudnnBackendFinalize(none), 0);
	OK(dnn_engine(dnn_graph(&single, NULL), by_number, 67, &engine));
	OK(dnn_engine(dnn_graph(&single, NULL), by_handle, 67, &engine));
	OK(dnn_engine(dnn_graph(&single, handle), NULL, 67, &engine));
	OK(dnn_engine(dnn_graph(&single, NULL), NULL, 67, &engine));
	OK(cudnnDestroy(handle));
	assert_int_not_equal(dnn_engine(dnn_graph(&single, handle), NULL, 67,
	    &engine), 0); /* a stale one */
}

/* Tensors that are of several types, or on the side: no engine at all. */
static void
graphs_that_no_engine_knows(void **state)
{
	const int64_t x[4] = { 2, 4, 5, 5 }, w[4] = { 3, 4, 3, 3 };
	const int64_t y[4] = { 2, 3, 5, 5 };
	const descriptor in = dnn_tensor(DNN_X, CUDNN_DATA_HALF, x, false,
	    false);
	const descriptor filter = dnn_tensor(DNN_W, CUDNN_DATA_HALF, w, false,
	    false);
	const descriptor out = dnn_tensor(DNN_Y, CUDNN_DATA_FLOAT, y, false,
	    false);
	descriptor op = dnn_conv_op(&single, in, filter, out), loose;
	descriptor configs[DNN_CONFIGS], both[2];

	(void)state;
	assert_int_equal(dnn_results(dnn_heuristics(dnn_graph_of(1, &op,
	    NULL), dnn_device(900), CUDNN_HEUR_MODE_A), DNN_CONFIGS, configs),
	    0);
	loose = dnn_pointwise(CUDNN_POINTWISE_RELU_FWD,
	    dnn_tensor(DNN_Z, CUDNN_DATA_FLOAT, y, false, false), NULL,
	    dnn_tensor(DNN_OUT, CUDNN_DATA_FLOAT, y, false, false));
	both[0] = dnn_conv_op(&single, dnn_tensor(DNN_X, CUDNN_DATA_FLOAT, x,
	    false, false), dnn_tensor(DNN_W, CUDNN_DATA_FLOAT, w, false,
	    false), out);
	both[1] = loose;
	assert_int_equal(dnn_results(dnn_heuristics(dnn_graph_of(2, both,
	    NULL), dnn_device(900), CUDNN_HEUR_MODE_A), DNN_CONFIGS, configs),
	    0);
	assert_int_equal(dnn_results(dnn_heuristics(dnn_graph_of(1, &loose,
	    NULL), dnn_device(900), CUDNN_HEUR_MODE_A), DNN_CONFIGS, configs),
	    0);
	assert_true(dnn_results(dnn_heuristics(dnn_graph_of(1, both, NULL),
	    dnn_device(900), CUDNN_HEUR_MODE_A), DNN_CONFIGS, configs) > 0);
}

/* The real one takes these; nothing of them could ever run. */
static void
sizes_beyond_all_memory_are_refused(void **state)
{
	static const struct { int64_t dim[2], stride[2]; } rows[] = {
		{ { INT64_MAX / 2, 1 }, { 1, 1 } },
		{ { INT32_MAX, INT32_MAX }, { INT32_MAX, 1 } },
		{ { 2, 2 }, { INT64_MAX, 1 } },
		{ { INT32_MAX, 2 }, { INT64_MAX / 2, 1 } },
	};
	const cudnnDataType_t type = CUDNN_DATA_FLOAT;
	const int64_t alignment = 16;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const descriptor d = dnn_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);

		dnn_set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE,
		    1, &type);
		dnn_set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64,
		    1, &alignment);
		dnn_set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 2,
		    rows[i].dim);
		dnn_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 2,
		    rows[i].stride);
		assert_int_equal(cudnnBackendFinalize(d),
		    CUDNN_STATUS_BAD_PARAM);
	}
}

/* x16 + w16 + y16 + 16 bytes for those that convert; FP32 copies for TF32,
 * but little in NHWC. */
static void
plans_say_what_they_need(void **state)
{
	static const struct {
		int64_t index;
		bool nhwc;
		int64_t bytes;
		cudnnDataType_t type;
	} rows[] = {
		{ 62, false, 26869776, CUDNN_DATA_FLOAT },
		{ 62, true, 26869776, CUDNN_DATA_FLOAT },
		{ 45, false, 26869776, CUDNN_DATA_FLOAT },
		{ 67, false, 53739536, CUDNN_DATA_FLOAT },
		{ 67, true, 1 << 20, CUDNN_DATA_FLOAT },
		{ 1, false, 0, CUDNN_DATA_FLOAT },
		{ 4, false, 16 * 256 * 256 * 9, CUDNN_DATA_FLOAT },
		{ 5, false, 4 * 32 * 256 * 28 * 28, CUDNN_DATA_FLOAT },
		{ 62, false, 26869776, CUDNN_DATA_HALF },
		{ 62, true, 0, CUDNN_DATA_HALF },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct dnn_wish wish = { .shape = { 32, 256, 28, 256, 3,
			1, rows[i].nhwc }, .type = rows[i].type };
		const descriptor config = dnn_new(
		    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
		const descriptor plan = dnn_new(
		    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
		descriptor engine;

		OK(dnn_engine(dnn_graph(&wish, NULL), dnn_device(900),
		    rows[i].index, &engine));
		dnn_put(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
		OK(cudnnBackendFinalize(config));
		dnn_put(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
		OK(cudnnBackendFinalize(plan));
		assert_int_equal(dnn_number(plan,
		    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE), rows[i].bytes);
		assert_int_equal(dnn_number(config,
		    CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE), rows[i].bytes);
	}
}

static void
values_outlive_their_descriptors(void **state)
{
	descriptor graph, heuristics, configs[DNN_CONFIGS], plan, out;
	int64_t count, bytes;

	(void)state;
	graph = dnn_graph(&single, NULL);
	dnn_count--; /* all but the graph goes */
	dnn_release(NULL);
	dnn_all[dnn_count++] = graph;
	heuristics = dnn_heuristics(graph, dnn_device(900), CUDNN_HEUR_MODE_A);
	dnn_count--;
	dnn_release(NULL);
	dnn_all[dnn_count++] = heuristics;
	assert_true(dnn_results(heuristics, 1, configs) == 1);
	plan = dnn_new(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	dnn_put(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configs[0]);
	OK(cudnnBackendFinalize(plan));
	dnn_count--;
	dnn_release(NULL);
	dnn_all[dnn_count++] = plan;
	bytes = dnn_number(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
	assert_true(bytes > 0);
	out = dnn_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	OK(cudnnBackendGetAttribute(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &out));
	assert_int_equal(dnn_number(dnn_engine_of(out),
	    CUDNN_ATTR_ENGINE_GLOBAL_INDEX), 67);
}

#define TEST(name) cmocka_unit_test_teardown(name, dnn_release)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(heuristics_put_tf32_first_and_convert_nothing),
		TEST(others_are_there_to_be_filtered),
		TEST(twins_name_engines_that_convert),
		TEST(some_graphs_have_no_engine_that_converts),
		TEST(results_fill_the_callers_own),
		TEST(knobs_are_counted_only_with_room_for_them),
		TEST(modes_differ),
		TEST(note_counts_agree),
		TEST(engines_that_are_not_there),
		TEST(devices_by_number_and_handle),
		TEST(graphs_that_no_engine_knows),
		TEST(sizes_beyond_all_memory_are_refused),
		TEST(plans_say_what_they_need),
		TEST(values_outlive_their_descriptors),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
