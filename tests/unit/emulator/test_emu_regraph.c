/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_regraph.c -- graphs made of graphs: clones,
 * children, executables that are updated; what they hold; what is refused. */
#include "test_emu_capture.h"

#include <sched.h>
#include <stdatomic.h>

static cublasHandle_t handle;
static float *y;

/* `count` doublings of `to`, and a fill if there is a place for it. */
static cudaGraph_t
capture(float *to, int count, float *filled)
{
	const float two = 2;
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < count; i++)
		OK(cublasSscal(handle, 1, &two, to, 1));
	if (filled)
		OK(cudaMemsetAsync(filled, 0, 4, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

static cudaGraphExec_t
instantiate(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	OK(cudaGraphInstantiate(&exec, graph, 0));
	return exec;
}

/* What a launch makes of x and y, both 1 before. */
static void
gives(cudaGraphExec_t exec, float of_x, float of_y)
{
	const float one = 1;
	float x_now, y_now;

	OK(cudaMemcpy(x, &one, 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(y, &one, 4, cudaMemcpyHostToDevice));
	OK(cudaDeviceSynchronize()); /* this stream waits for no upload */
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(&x_now, x, 4, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(&y_now, y, 4, cudaMemcpyDeviceToHost));
	assert_true(x_now == of_x && y_now == of_y);
}

/* It outlives its original, and has none of what becomes of that. */
static void
clones(void **state)
{
	cudaGraph_t graph = capture(x, 3, NULL), clone, again;
	cudaGraphExec_t exec;
	size_t count;

	(void)state;
	OK(cudaGraphClone(&clone, graph));
	OK(cuGraphClone(&again, clone));
	OK(cudaGraphDestroy(graph));
	OK(cudaGraphGetNodes(clone, NULL, &count));
	assert_int_equal(count, 3);
	exec = instantiate(again);
	OK(cudaGraphDestroy(again));
	gives(exec, 8, 1);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(clone));
	assert_int_equal(cudaGraphClone(&clone, graph), cudaErrorInvalidValue);
	assert_int_equal(cudaGraphClone(NULL, graph), cudaErrorInvalidValue);
	cudaGetLastError();
}

/* As it was when it became one: a child may be destroyed, and an executable
 * does not learn of later ones. */
static void
children(void **state)
{
	cudaGraph_t graph, inner = capture(x, 1, NULL);
	cudaGraphExec_t first, second;
	cudaGraphNode_t node[3];

	(void)state;
	OK(cudaGraphCreate(&graph, 0));
	first = instantiate(graph);
	gives(first, 1, 1); /* an empty one */
	OK(cudaGraphExecDestroy(first));
	OK(cudaGraphAddChildGraphNode(&node[0], graph, NULL, 0, inner));
	OK(cudaGraphAddChildGraphNode(&node[1], graph, node, 1, inner));
	OK(cudaGraphDestroy(inner));
	first = instantiate(graph);
	inner = capture(y, 2, NULL);
	OK(cuGraphAddChildGraphNode(&node[2], graph, node, 2, inner));
	second = instantiate(graph);
	gives(first, 4, 1);
	gives(second, 4, 4);
	/* Replaced where it stands. */
	OK(cudaGraphExecChildGraphNodeSetParams(second, node[2], capture(x, 2,
	    NULL)));
	gives(second, 16, 1);
	OK(cuGraphExecChildGraphNodeSetParams(second, node[0], capture(y, 1,
	    NULL)));
	gives(second, 8, 2);
	assert_int_equal(cudaGraphExecChildGraphNodeSetParams(second, node[0],
	    inner), cudaErrorInvalidValue); /* of two nodes */
	assert_int_equal(cudaGraphExecChildGraphNodeSetParams(second, node[2],
	    capture(x, 1, y)), cudaErrorInvalidValue); /* one is a fill */
	assert_int_equal(cudaGraphExecChildGraphNodeSetParams(second, NULL,
	    inner), cudaErrorInvalidValue);
	assert_int_equal(cudaGraphCreate(&graph, 1), cudaErrorInvalidValue);
	assert_int_equal(cuGraphCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cudaGraphAddChildGraphNode(NULL, graph, NULL, 0,
	    inner), cudaErrorInvalidValue);
	gives(second, 8, 2);
	OK(cudaGraphExecDestroy(first));
	OK(cudaGraphExecDestroy(second));
	OK(cudaGraphDestroy(graph));
	cudaGetLastError();
}

/* An executable launches other content from then on, if that has as many nodes
 * of the same types in the same order. */
static void
updates(void **state)
{
	const struct {
		cudaGraph_t graph;
		int status;
		enum cudaGraphExecUpdateResult result;
		float x, y;
	} rows[] = {
		{ capture(y, 2, x), 0, cudaGraphExecUpdateSuccess, 0, 4 },
		{ capture(y, 3, x), cudaErrorGraphExecUpdateFailure,
		    cudaGraphExecUpdateErrorTopologyChanged, 0, 4 },
		{ capture(y, 3, NULL), cudaErrorGraphExecUpdateFailure,
		    cudaGraphExecUpdateErrorNodeTypeChanged, 0, 4 },
		{ capture(x, 2, y), 0, cudaGraphExecUpdateSuccess, 4, 0 },
	};
	cudaGraphExec_t exec = instantiate(capture(x, 2, y));
	cudaGraphExecUpdateResultInfo result;
	CUgraphExecUpdateResultInfo info;

	(void)state;
	gives(exec, 4, 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(cudaGraphExecUpdate(exec, rows[i].graph,
		    &result), rows[i].status);
		assert_int_equal(result.result, rows[i].result);
		OK(cudaGraphDestroy(rows[i].graph));
		gives(exec, rows[i].x, rows[i].y);
	}
	assert_int_equal(cuGraphExecUpdate(exec, capture(x, 1, NULL), &info),
	    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(info.result,
	    CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	assert_int_equal(cudaGraphExecUpdate(exec, rows[0].graph, &result),
	    cudaErrorInvalidValue);
	assert_int_equal(cudaGraphExecUpdate(NULL, capture(x, 1, NULL),
	    &result), cudaErrorInvalidValue);
	OK(cudaGraphExecDestroy(exec));
	cudaGetLastError();
}

/* Memory that a graph allocates is no other's. */
static void
owners(void **state)
{
	cudaGraph_t graph, other_graph;
	cudaGraphNode_t node;
	void *memory;

	(void)state;
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMallocAsync(&memory, 64, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	assert_int_equal(cudaGraphClone(&other_graph, graph),
	    cudaErrorNotSupported);
	OK(cudaGraphCreate(&other_graph, 0));
	assert_int_equal(cudaGraphAddChildGraphNode(&node, other_graph, NULL,
	    0, graph), cudaErrorNotSupported);
	OK(cudaGraphDestroy(graph));
	OK(cudaGraphDestroy(other_graph));
	cudaGetLastError();
}

/* ---- User objects -------------------------------------------------------- */

static atomic_int ended;
static atomic_bool is_open;

static void
end_object(void *data)
{
	assert_ptr_equal(data, &ended);
	ended++;
}

static CUuserObject
make_object(unsigned count)
{
	CUuserObject object;

	ended = 0;
	OK(cuUserObjectCreate(&object, &ended, end_object, count,
	    CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	return object;
}

static cudaGraph_t
graph_of_capture(void)
{
	enum cudaStreamCaptureStatus status;
	cudaGraph_t graph;

	OK(cudaStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, NULL,
	    NULL));
	return graph;
}

/* A graph that alone has an object, which it was given while it was
 * captured. */
static cudaGraph_t
capture_holder(void)
{
	const CUuserObject object = make_object(1);
	const float two = 2;
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cublasSscal(handle, 1, &two, x, 1));
	graph = graph_of_capture();
	OK(cuGraphRetainUserObject(graph, object, 1,
	    CU_GRAPH_USER_OBJECT_MOVE));
	OK(cudaStreamEndCapture(stream, &graph));
	assert_int_equal(ended, 0);
	return graph;
}

static void
wait_open(void *data)
{
	(void)data;
	while (!is_open)
		sched_yield();
}

/* What a launch needs it has until it is over. */
static void
launches_hold(void **state)
{
	cudaGraph_t graph = capture_holder();
	cudaGraphExec_t exec = instantiate(graph);

	(void)state;
	OK(cudaGraphDestroy(graph));
	gives(exec, 2, 1);
	assert_int_equal(ended, 0);
	is_open = false;
	OK(cudaLaunchHostFunc(stream, wait_open, NULL));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphExecDestroy(exec));
	assert_int_equal(ended, 0);
	is_open = true;
	OK(cudaStreamSynchronize(stream));
	assert_int_equal(ended, 1);
}

static void
clones_hold(void **state)
{
	cudaGraph_t graph = capture_holder(), clone;

	(void)state;
	OK(cudaGraphClone(&clone, graph));
	OK(cudaGraphDestroy(graph));
	assert_int_equal(ended, 0);
	OK(cudaGraphDestroy(clone));
	assert_int_equal(ended, 1);
}

/* A child that is replaced takes along what it held, and no other's. */
static void
children_hold(void **state)
{
	cudaGraph_t parent, child = capture_holder();
	cudaGraphExec_t holder, other_exec;
	cudaGraphNode_t node[3];

	(void)state;
	OK(cudaGraphCreate(&parent, 0));
	OK(cudaGraphAddChildGraphNode(&node[0], parent, NULL, 0, capture(x, 1,
	    NULL)));
	OK(cudaGraphAddChildGraphNode(&node[1], parent, node, 1, child));
	OK(cudaGraphDestroy(child));
	OK(cudaGraphAddChildGraphNode(&node[2], parent, node + 1, 1, capture(x,
	    1, NULL)));
	holder = instantiate(parent);
	other_exec = instantiate(parent);
	for (int i = 0; i < 3; i += 2)
		OK(cudaGraphExecChildGraphNodeSetParams(holder, node[i],
		    capture(y, 1, NULL)));
	OK(cudaGraphExecChildGraphNodeSetParams(other_exec, node[1],
	    capture(y, 1, NULL)));
	OK(cudaGraphDestroy(parent));
	gives(holder, 2, 4);
	assert_int_equal(ended, 0);
	OK(cudaGraphExecDestroy(holder));
	assert_int_equal(ended, 1);
	OK(cudaGraphExecDestroy(other_exec));
}

static void
updates_replace(void **state)
{
	cudaGraph_t graph = capture_holder();
	cudaGraphExec_t exec = instantiate(graph);
	cudaGraphExecUpdateResultInfo result;

	(void)state;
	OK(cudaGraphDestroy(graph));
	assert_int_equal(cudaGraphExecUpdate(exec, capture(x, 2, NULL),
	    &result), cudaErrorGraphExecUpdateFailure);
	assert_int_equal(ended, 0);
	OK(cudaGraphExecUpdate(exec, capture(y, 1, NULL), &result));
	assert_int_equal(ended, 1);
	OK(cudaGraphExecDestroy(exec));
}

/* A graph that was launched into it, and a capture that fails. */
static void
captures_hold(void **state)
{
	cudaGraph_t graph = capture_holder(), outer;
	cudaGraphExec_t exec = instantiate(graph);

	(void)state;
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamEndCapture(stream, &outer));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	assert_int_equal(ended, 0);
	OK(cudaGraphDestroy(outer));
	assert_int_equal(ended, 1);

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	graph = graph_of_capture();
	OK(cuGraphRetainUserObject(graph, make_object(1), 1,
	    CU_GRAPH_USER_OBJECT_MOVE));
	assert_int_equal(do_malloc(), cudaErrorStreamCaptureUnsupported);
	end_as(stream, cudaErrorStreamCaptureInvalidated);
	assert_int_equal(ended, 1);
	cudaGetLastError();
}

static void
objects(void **state)
{
	cudaGraph_t graph = capture(x, 1, NULL), clone;
	CUuserObject object = make_object(2);

	(void)state;
	assert_int_equal(cuUserObjectCreate(&object, &ended, end_object, 1, 0),
	    CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuUserObjectCreate(&object, &ended, NULL, 1,
	    CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuUserObjectCreate(&object, &ended, end_object, 0,
	    CU_USER_OBJECT_NO_DESTRUCTOR_SYNC), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGraphRetainUserObject(graph, object, 1, 2),
	    CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGraphRetainUserObject(graph, object, 0, 0),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphRetainUserObject(graph, object, 3, 0));
	OK(cuUserObjectRelease(object, 2));
	assert_int_equal(ended, 0);
	assert_int_equal(cuUserObjectRelease(object, 4),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cudaGraphClone(&clone, graph));
	assert_int_equal(cuGraphRetainUserObject(graph, object, 1, 0),
	    CUDA_ERROR_NOT_SUPPORTED); /* not emulated */
	OK(cudaGraphDestroy(clone));
	OK(cudaGraphDestroy(graph));
	assert_int_equal(ended, 1);
	assert_int_equal(cuUserObjectRelease(object, 1),
	    CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGraphRetainUserObject(graph, make_object(1), 1, 0),
	    CUDA_ERROR_INVALID_VALUE);
}

static int
prepare(void **state)
{
	(void)state;
	prepare_capture();
	y = test_device(64);
	OK(cublasCreate(&handle));
	OK(cublasSetStream(handle, stream));
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clones),
		cmocka_unit_test(children),
		cmocka_unit_test(updates),
		cmocka_unit_test(owners),
		cmocka_unit_test(launches_hold),
		cmocka_unit_test(clones_hold),
		cmocka_unit_test(children_hold),
		cmocka_unit_test(updates_replace),
		cmocka_unit_test(captures_hold),
		cmocka_unit_test(objects),
	};

	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, prepare, NULL);
}
