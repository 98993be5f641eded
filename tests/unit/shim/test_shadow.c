/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_shadow.c -- what is known of a program's graphs,
 * whatever it does with its descriptors meanwhile. cuDNN is not needed: it said
 * yes. */
#include "tests/unit/shim/shadow_program.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---- Tests --------------------------------------------------------------- */

static void
test_a_convolution(void **state)
{
	const descriptor operation = prog_forward();
	struct ac_conv conv;

	(void)state;
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
static void
test_children_are_destroyed_early(void **state)
{
	const descriptor operation = prog_forward(),
			 of = prog_graph(1, &operation);
	const descriptor asked = prog_heuristics(of);
	struct ac_shadow_question question;

	(void)state;
	for (uintptr_t a = 0x1040; a < (uintptr_t)asked; a += 64)
		ac_shadow_destroy(prog_at(a));
	assert_true(ac_shadow_ask(asked, &question));
	ac_shadow_destroy(asked);
	assert_int_equal(question.conv->x.dim[1], 8);
	assert_int_not_equal(ac_shadow_count(), 0);
	ac_shadow_let_go(question.graph);
	assert_int_equal(ac_shadow_count(), 0);
	prog_next_address = 0x1000;
}

/* The program destroyed it where we do not see it. */
static void
test_an_address_is_used_again(void **state)
{
	const descriptor operation = prog_forward(), again = operation;
	struct ac_conv conv;

	(void)state;
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

static void
test_a_chain(void **state)
{
	descriptor operations[4];
	struct ac_conv conv;

	(void)state;
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

static void
test_other_graphs_are_no_convolution(void **state)
{
	descriptor operations[5];
	struct ac_conv conv;

	(void)state;
	operations[0] = prog_forward();
	operations[1] = prog_forward();
	assert_false(prog_describes(2, operations, &conv));
	operations[1] = prog_step(CUDNN_POINTWISE_MUL, 3, 4, 5);
	assert_false(prog_describes(2, operations, &conv));
	operations[1] = prog_step(CUDNN_POINTWISE_RELU_FWD, 9, 0, 5);
	assert_false(prog_describes(2, operations, &conv));
	operations[1] = prog_step(CUDNN_POINTWISE_ADD, 3, 3, 5);
	assert_false(prog_describes(2, operations, &conv));
	operations[1] = prog_at(0x77777740); /* never made */
	assert_false(prog_describes(2, operations, &conv));
	operations[1] = prog_step(CUDNN_POINTWISE_RELU_FWD, 3, 0, 4);
	assert_true(prog_describes(2, operations, &conv));
	operations[2] = prog_step(CUDNN_POINTWISE_RELU_FWD, 4, 0, 5);
	operations[3] = prog_step(CUDNN_POINTWISE_RELU_FWD, 5, 0, 6);
	operations[4] = prog_step(CUDNN_POINTWISE_RELU_FWD, 6, 0, 7);
	assert_true(prog_describes(4, operations, &conv));
	assert_false(prog_describes(5, operations, &conv));
	operations[0] = prog_forward_of(prog_convolution(1),
	    &(struct prog_tensor){ .uid = 1 },
	    false); /* its paddings are of two dimensions */
	assert_false(prog_describes(1, operations, &conv));
	prog_destroy_from(0x1000);
}

static void
test_strange_tensors(void **state)
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

	(void)state;
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

static void
test_dynamic_shapes(void **state)
{
	const bool is_dynamic = true;
	const descriptor operation = prog_forward();
	struct ac_shadow_question question;
	descriptor d = prog_new(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);

	(void)state;
	ac_shadow_set(d, CUDNN_ATTR_OPERATIONGRAPH_OPS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &operation);
	ac_shadow_set(d, CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED,
	    CUDNN_TYPE_BOOLEAN, 1, &is_dynamic);
	ac_shadow_finalize(d);
	assert_false(ac_shadow_ask(prog_heuristics(d), &question));
	prog_destroy_from(0x1000);
}

static void
test_a_described_device(void **state)
{
	static const char json[] = "{\"deviceName\": \"NVIDIA H100\", "
	    "\"deviceVer\" : 900, \"warpSize\": 32}";
	const descriptor operation = prog_forward(),
			 of = prog_graph(1, &operation);
	const int32_t sm_count = 66, mode = CUDNN_HEUR_MODE_B;
	descriptor device = prog_new(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	descriptor d = prog_new(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	struct ac_shadow_question question;

	(void)state;
	ac_shadow_set(device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
	    CUDNN_TYPE_CHAR, sizeof json, json);
	ac_shadow_finalize(device);
	prog_child(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, of);
	prog_child(d, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
	ac_shadow_set(d, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1,
	    &mode);
	ac_shadow_set(d, CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET,
	    CUDNN_TYPE_INT32, 1, &sm_count);
	assert_false(ac_shadow_ask(d, &question)); /* not finalized */
	ac_shadow_finalize(d);
	assert_true(ac_shadow_ask(d, &question));
	assert_int_equal(question.mode, CUDNN_HEUR_MODE_B);
	assert_int_equal(question.sm_count, 66);
	assert_true(question.has_properties);
	assert_int_equal(question.sm, 90);
	assert_int_equal(question.ordinal, -1);
	ac_shadow_let_go(question.graph);
	prog_destroy_from(0x1000);
}

static void
test_injected_engines_are_followed(void **state)
{
	const descriptor operation = prog_forward(),
			 of = prog_graph(1, &operation);
	const descriptor asked = prog_heuristics(of);
	const descriptor ours = prog_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	const descriptor native = prog_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	const descriptor engine = prog_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	const descriptor by_hand = prog_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	const descriptor other = prog_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	const descriptor made = prog_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	struct ac_shadow_question question;

	(void)state;
	assert_true(ac_shadow_ask(asked, &question));
	ac_shadow_inject(question.graph, 62, ours);
	ac_shadow_let_go(question.graph);
	ac_shadow_read(ours, engine);
	assert_true(ac_shadow_is_injected(engine));
	ac_shadow_read(native, engine);
	assert_false(ac_shadow_is_injected(engine));
	/* A program that kept the index. */
	prog_child(by_hand, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, of);
	prog_number(by_hand, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 62);
	ac_shadow_finalize(by_hand);
	assert_true(ac_shadow_is_injected(by_hand));
	prog_child(made, CUDNN_ATTR_ENGINECFG_ENGINE, by_hand);
	ac_shadow_finalize(made);
	ac_shadow_read(made, engine);
	assert_true(ac_shadow_is_injected(engine));
	prog_child(other, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, of);
	prog_number(other, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 63);
	ac_shadow_finalize(other);
	assert_false(ac_shadow_is_injected(other));
	prog_destroy_from(0x1000);
	assert_int_equal(ac_shadow_count(), 0);
}

/* Whatever was asked last, a plan counts as what its engine is. */
static void
test_plans_count_for_what_they_run(void **state)
{
	static const struct {
		enum ac_reason asked_last, ours, native;
	} rows[] = {
		{ AC_REASON_NONE, AC_REASON_NONE, AC_REASON_DECLINED },
		{ AC_REASON_UNSUPPORTED, AC_REASON_NONE,
		    AC_REASON_UNSUPPORTED },
		{ AC_REASON_GUARD, AC_REASON_NONE, AC_REASON_GUARD },
	};
	const descriptor operation = prog_forward(),
			 of = prog_graph(1, &operation);
	const descriptor asked = prog_heuristics(of);
	const descriptor config[] = {
		prog_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
		prog_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
	};
	const descriptor plan[] = {
		prog_new(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR),
		prog_new(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
	};
	static char place[64];
	struct ac_site_record *const site = (struct ac_site_record *)(void *)
	    place;
	struct ac_site_record *record = NULL;
	struct ac_shadow_question question;
	enum ac_reason reason;

	(void)state;
	assert_true(ac_shadow_ask(asked, &question));
	ac_shadow_inject(question.graph, 62, config[0]);
	ac_shadow_answer(question.graph, config[0]);    /* ours already */
	ac_shadow_answer(question.graph, config[1]);
	for (int i = 0; i < 2; i++) {
		prog_child(plan[i], CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
		    config[i]);
		ac_shadow_finalize(plan[i]);
		assert_false(ac_shadow_plan(plan[i], &record, &reason));
	}
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		ac_shadow_count_for(question.graph, site, rows[i].asked_last);
		assert_true(ac_shadow_plan(plan[0], &record, &reason));
		assert_ptr_equal(record, site);
		assert_int_equal(reason, rows[i].ours);
		assert_true(ac_shadow_plan(plan[1], &record, &reason));
		assert_int_equal(reason, rows[i].native);
	}
	assert_false(ac_shadow_plan(config[0], &record, &reason));
	ac_shadow_let_go(question.graph);
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

static void
test_threads(void **state)
{
	pthread_t thread[THREADS];

	(void)state;
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

/* Without room nothing is described, and with room again it is. */
static void
test_room_ends(void **state)
{
	const uintptr_t start = prog_next_address;
	descriptor operation;
	struct ac_conv conv;

	(void)state;
	for (unsigned i = 0; i < 70000; i++)
		(void)prog_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	assert_true(ac_shadow_count() < 70000);
	operation = prog_forward();
	assert_false(prog_describes(1, &operation, &conv));
	prog_destroy_from(start);
	assert_int_equal(ac_shadow_count(), 0);
	operation = prog_forward();
	assert_true(prog_describes(1, &operation, &conv));
	prog_destroy_from(start);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_convolution),
		cmocka_unit_test(test_children_are_destroyed_early),
		cmocka_unit_test(test_an_address_is_used_again),
		cmocka_unit_test(test_a_chain),
		cmocka_unit_test(test_other_graphs_are_no_convolution),
		cmocka_unit_test(test_strange_tensors),
		cmocka_unit_test(test_dynamic_shapes),
		cmocka_unit_test(test_a_described_device),
		cmocka_unit_test(test_injected_engines_are_followed),
		cmocka_unit_test(test_plans_count_for_what_they_run),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_room_ends),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
