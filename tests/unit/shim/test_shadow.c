/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_shadow.c -- what is known of a program's graphs,
 * whatever it does with its descriptors meanwhile. cuDNN is not needed: it said
 * yes. */
#include "tests/unit/cases.h"
#include "tests/unit/shim/shadow_program.h"

#include <pthread.h>

/* ---- Tests --------------------------------------------------------------- */

CASE(test_a_convolution)
{
	const descriptor operation = prog_forward();
	struct ac_conv conv;

	assert_true(prog_describes(1, &operation, &conv));
	assert_int_equal(conv.operation, AC_OP_CONV_FPROP);
	assert_int_equal(conv.space, 2);
	assert_int_equal(conv.x.uid, 1);
	assert_int_equal(conv.w.uid, 2);
	assert_int_equal(conv.y.uid, 3);
	assert_int_equal(conv.x.dims, 4);
	assert_int_equal(conv.x.dim[1], 8);
	assert_int_equal(conv.x.stride[0], 200);
	assert_int_equal(conv.x.alignment, 16);
	assert_int_equal(conv.pad[1], 2);
	assert_int_equal(conv.post_pad[1], 1);
	assert_true(conv.scalars.alpha == 2 && conv.scalars.beta == 0);
	assert_int_equal(conv.steps, 0);
	assert_int_equal(conv.mode, CUDNN_CROSS_CORRELATION);
	prog_destroy_from(0x1000);
	assert_int_equal(ac_shadow_count(), 0);
}

/* As cuDNN does, a descriptor keeps what was set into it. */
CASE(test_children_are_destroyed_early)
{
	const descriptor operation = prog_forward(),
			 plan = prog_plan(prog_graph(1, &operation));
	cudnnHandle_t handle = NULL;
	struct ac_conv conv;

	for (uintptr_t a = 0x1040; a < (uintptr_t)plan; a += 64)
		ac_shadow_destroy(prog_at(a));
	assert_true(ac_shadow_plan(plan, &conv, &handle));
	assert_int_equal(conv.x.dim[1], 8);
	assert_int_equal((uintptr_t)handle, 0x51);
	assert_int_not_equal(ac_shadow_count(), 0);
	ac_shadow_destroy(plan);
	assert_int_equal(ac_shadow_count(), 0);
	assert_false(ac_shadow_plan(plan, &conv, &handle));
	prog_next_address = 0x1000;
}

/* The program destroyed it where we do not see it. */
CASE(test_an_address_is_used_again)
{
	const descriptor operation = prog_forward(), again = operation;
	struct ac_conv conv;

	assert_true(prog_describes(1, &operation, &conv));
	ac_shadow_create(again, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
	ac_shadow_finalize(again);
	assert_false(prog_describes(1, &again, &conv));
	ac_shadow_create(again, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	ac_shadow_finalize(again);
	assert_false(prog_describes(1, &again, &conv));
	prog_destroy_from(0x1000);
	assert_int_equal(ac_shadow_count(), 0);
}

CASE(test_a_chain)
{
	descriptor operations[4];
	struct ac_conv conv;

	/* In no order; the second sum has what came before on its other
	 * side. */
	operations[0] = prog_step(CUDNN_POINTWISE_RELU_FWD, 7, 0, 8);
	operations[1] = prog_step(CUDNN_POINTWISE_ADD, 6, 5, 7);
	operations[2] = prog_forward_of(prog_convolution(2),
	    &(struct prog_tensor){ .uid = 1 }, true);
	operations[3] = prog_step(CUDNN_POINTWISE_ADD, 3, 4, 5);
	assert_true(prog_describes(4, operations, &conv));
	assert_int_equal(conv.steps, 3);
	assert_int_equal(conv.y.is_virtual, 1);
	assert_int_equal(conv.step[0].other.uid, 4);
	assert_int_equal(conv.step[0].out.uid, 5);
	assert_true(conv.scalars.alpha1[0] == 3
	    && conv.scalars.alpha2[0] == 4);
	assert_int_equal(conv.step[1].other.uid, 6);
	assert_true(conv.scalars.alpha1[1] == 4
	    && conv.scalars.alpha2[1] == 3);
	assert_int_equal(conv.step[2].mode, CUDNN_POINTWISE_RELU_FWD);
	assert_int_equal(conv.step[2].other.dims, 0);
	assert_int_equal(conv.step[2].out.uid, 8);
	prog_destroy_from(0x1000);
}

/* A convolution and more is known for what it is, but not recast. */
CASE(test_other_graphs)
{
	descriptor operations[5];
	struct ac_conv conv;

#define MORE(count)                                                           \
	do {                                                                  \
		assert_true(prog_describes(count, operations, &conv));        \
		assert_int_equal(conv.has_more, 1);                           \
		assert_int_equal(conv.steps, 0);                              \
		assert_int_equal(conv.x.dim[1], 8);                           \
	} while (0)
	operations[0] = prog_forward();
	operations[1] = prog_forward();
	MORE(2);
	operations[1] = prog_step(CUDNN_POINTWISE_MUL, 3, 4, 5);
	MORE(2);
	operations[1] = prog_step(CUDNN_POINTWISE_RELU_FWD, 9, 0, 5);
	MORE(2);
	operations[1] = prog_step(CUDNN_POINTWISE_ADD, 3, 3, 5);
	MORE(2);
	operations[1] = prog_at(0x77777740); /* never made */
	assert_false(prog_describes(2, operations, &conv));
	operations[1] = prog_step(CUDNN_POINTWISE_RELU_FWD, 3, 0, 4);
	assert_true(prog_describes(2, operations, &conv));
	assert_int_equal(conv.has_more, 0);
	assert_false(prog_describes(1, &operations[1], &conv));
	operations[2] = prog_step(CUDNN_POINTWISE_RELU_FWD, 4, 0, 5);
	operations[3] = prog_step(CUDNN_POINTWISE_RELU_FWD, 5, 0, 6);
	operations[4] = prog_step(CUDNN_POINTWISE_RELU_FWD, 6, 0, 7);
	assert_true(prog_describes(4, operations, &conv));
	assert_int_equal(conv.has_more, 0);
	assert_false(prog_describes(5, operations, &conv));
	operations[0] = prog_forward_of(prog_convolution(1),
	    &(struct prog_tensor){ .uid = 1 },
	    false); /* its paddings are of two dimensions */
	assert_false(prog_describes(1, operations, &conv));
	prog_destroy_from(0x1000);
}

CASE(test_strange_tensors)
{
	static const struct {
		cudnnBackendAttributeName_t name;
		int64_t value;
		bool is_strange;
	} rows[] = {
		{ CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1, false },
		{ CUDNN_ATTR_TENSOR_VECTOR_COUNT, 4, true },
		{ CUDNN_ATTR_TENSOR_IS_BY_VALUE, 0, false },
		{ CUDNN_ATTR_TENSOR_IS_BY_VALUE, 1, true },
		{ CUDNN_ATTR_TENSOR_REORDERING_MODE, 0, false },
		{ CUDNN_ATTR_TENSOR_REORDERING_MODE, 1, true },
		{ CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC, 1, true },
		{ (cudnnBackendAttributeName_t)914, 0, true } /* a later one */
	};
	struct ac_conv conv;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const descriptor operation =
		    prog_forward_of(prog_convolution(2),
			&(struct prog_tensor){ 1, false, rows[i].name,
			    rows[i].value },
			false);

		assert_int_equal(prog_describes(1, &operation, &conv),
		    !rows[i].is_strange);
	}
	prog_destroy_from(0x1000);
}

CASE(test_dynamic_shapes)
{
	const bool is_dynamic = true;
	const descriptor operation = prog_forward();
	descriptor d = prog_new(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	cudnnHandle_t handle;
	struct ac_conv conv;

	ac_shadow_set(d, CUDNN_ATTR_OPERATIONGRAPH_OPS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &operation);
	ac_shadow_set(d, CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED,
	    CUDNN_TYPE_BOOLEAN, 1, &is_dynamic);
	ac_shadow_finalize(d);
	assert_false(ac_shadow_plan(prog_plan(d), &conv, &handle));
	prog_destroy_from(0x1000);
}

/* By whatever way a program came to its plan. */
CASE(test_plans_know_their_graph)
{
	const descriptor operation = prog_forward(),
			 of = prog_graph(1, &operation);
	const descriptor other = prog_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	const descriptor engine = prog_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	const descriptor by_hand = prog_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	const descriptor made = prog_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	const descriptor again = prog_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	descriptor plan = prog_new(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	cudnnHandle_t handle;
	struct ac_conv conv;

	/* An engine that is known by its number, */
	prog_child(by_hand, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, of);
	prog_number(by_hand, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 62);
	ac_shadow_finalize(by_hand);
	prog_child(made, CUDNN_ATTR_ENGINECFG_ENGINE, by_hand);
	ac_shadow_finalize(made);
	/* and read back, set another way. */
	ac_shadow_read(made, engine);
	prog_child(again, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
	ac_shadow_finalize(again);
	prog_child(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, again);
	assert_false(ac_shadow_plan(plan, &conv, &handle)); /* not finalized */
	ac_shadow_finalize(plan);
	assert_true(ac_shadow_plan(plan, &conv, &handle));
	assert_null(handle);
	assert_false(ac_shadow_plan(again, &conv, &handle));
	/* The same descriptor has another engine now, of no known graph. */
	ac_shadow_read(other, engine);
	prog_child(again, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
	plan = prog_new(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	prog_child(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, again);
	ac_shadow_finalize(plan);
	assert_false(ac_shadow_plan(plan, &conv, &handle));
	prog_destroy_from(0x1000);
	assert_int_equal(ac_shadow_count(), 0);
}

/* ---- Threads ------------------------------------------------------------- */

enum { THREADS = 8, ROUNDS = 200 };

static void *
build(void *number_of_thread)
{
	const uintptr_t start = 0x1000000 * (1 + (uintptr_t)number_of_thread);
	unsigned good = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		descriptor operations[2];
		struct ac_conv conv;

		prog_next_address = start;
		operations[0] = prog_forward();
		operations[1] = prog_step(CUDNN_POINTWISE_RELU_FWD, 3, 0, 4);
		if (prog_describes(2, operations, &conv) && conv.steps == 1)
			good++;
		/* Every other round leaves what it made to the next. */
		if (i % 2)
			prog_destroy_from(start);
	}
	return (void *)(uintptr_t)good;
}

CASE(test_threads)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, build,
		    (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		void *good;

		pthread_join(thread[i], &good);
		assert_int_equal((uintptr_t)good, ROUNDS);
	}
	assert_int_equal(ac_shadow_count(), 0);
}

/* As many as PyTorch keeps of plans, with all that is in them, and more. */
CASE(test_there_is_room)
{
	const uintptr_t start = prog_next_address;
	descriptor operation;
	struct ac_conv conv;

	for (unsigned i = 0; i < 100000; i++)
		(void)prog_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	assert_int_equal(ac_shadow_count(), 100000);
	operation = prog_forward();
	assert_true(prog_describes(1, &operation, &conv));
	prog_destroy_from(start);
	assert_int_equal(ac_shadow_count(), 0);
}

/* Loaded from JSON: of no graph that is known, also if it has one, too. */
CASE(test_stored_plans)
{
	const descriptor operation = prog_forward();
	const descriptor config = prog_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
			 engine = prog_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	cudnnHandle_t handle = NULL;
	struct ac_conv conv;

	prog_child(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
	    prog_graph(1, &operation));
	ac_shadow_finalize(engine);
	prog_child(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
	ac_shadow_finalize(config);
	for (int i = 0; i < 3; i++) {
		const descriptor plan = prog_new(
		    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
		const bool has_text = i != 1, has_config = i != 0;

		if (has_text)
			ac_shadow_set(plan,
			    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
			    CUDNN_TYPE_CHAR, 2, "{}");
		if (has_config)
			prog_child(plan,
			    CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
		assert_false(ac_shadow_is_stored(plan, &handle));
		ac_shadow_finalize(plan);
		assert_int_equal(ac_shadow_is_stored(plan, &handle),
		    has_text && !has_config);
		assert_int_equal(ac_shadow_plan(plan, &conv, &handle),
		    has_config && !has_text);
	}
	prog_destroy_from(0x1000);
}

CASES_RUN(NULL, NULL)
