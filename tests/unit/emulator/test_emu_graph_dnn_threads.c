/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_graph_dnn_threads.c -- cuDNN's emulated graph
 * interface from eight threads: one plan and one heuristic for all of them,
 * each with a handle, data and descriptors of its own. For TSan, too. */
#include "tests/unit/emulator/test_emu_graph_dnn.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 20, SIDE = 3, ALL = SIDE * SIDE };

static descriptor plan, heuristics, engine;
static size_t workspace_bytes;

struct worker {
	pthread_t thread;
	int index, wrong;
};

/* A statement that counts where cmocka's cannot be used. */
#define WRONG(w, condition) ((w)->wrong += (condition) != 0)

/* Results into descriptors of the thread's own, which are gone at once; what
 * they were filled with still belongs to all. */
static void
ask(struct worker *w)
{
	cudnnBackendDescriptor_t config, of_config;
	cudnnBackendNumericalNote_t notes[8];
	int64_t count = 0;

	WRONG(w, cudnnBackendCreateDescriptor(
	    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &config));
	WRONG(w, cudnnBackendCreateDescriptor(
	    CUDNN_BACKEND_ENGINE_DESCRIPTOR, &of_config));
	WRONG(w, cudnnBackendGetAttribute(heuristics,
	    CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
	    &count, &config));
	WRONG(w, cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &of_config));
	WRONG(w, cudnnBackendDestroyDescriptor(config));
	WRONG(w, cudnnBackendGetAttribute(of_config,
	    CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 8,
	    &count, notes));
	WRONG(w, count != 1 || notes[0] != CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
	WRONG(w, cudnnBackendDestroyDescriptor(of_config));
	WRONG(w, cudnnBackendGetAttribute(engine,
	    CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 8,
	    &count, notes));
	WRONG(w, count != 2);
}

/* y = number * x, where the plan is everybody's and the pack is destroyed as
 * soon as the call is back. */
static void
execute(struct worker *w, cudnnHandle_t handle, cudaStream_t stream,
    float *device, float number)
{
	const int64_t ids[3] = { DNN_X, DNN_W, DNN_Y };
	void *pointers[3] = { device, device + 16, device + 32 };
	void *workspace = device + 64;
	float x[ALL], y[ALL] = { 0 };
	cudnnBackendDescriptor_t pack;

	for (int i = 0; i < ALL; i++)
		x[i] = (float)(i + w->index);
	WRONG(w, cudaMemcpyAsync(device, x, sizeof x, cudaMemcpyHostToDevice,
	    stream));
	WRONG(w, cudaMemcpyAsync(device + 16, &number, sizeof number,
	    cudaMemcpyHostToDevice, stream));
	WRONG(w, cudnnBackendCreateDescriptor(
	    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack));
	WRONG(w, cudnnBackendSetAttribute(pack,
	    CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids));
	WRONG(w, cudnnBackendSetAttribute(pack,
	    CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3,
	    pointers));
	WRONG(w, cudnnBackendSetAttribute(pack,
	    CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
	    &workspace));
	WRONG(w, cudnnBackendFinalize(pack));
	WRONG(w, cudnnBackendExecute(handle, plan, pack));
	WRONG(w, cudnnBackendDestroyDescriptor(pack));
	WRONG(w, cudaMemcpyAsync(y, device + 32, sizeof y,
	    cudaMemcpyDeviceToHost, stream));
	WRONG(w, cudaStreamSynchronize(stream));
	for (int i = 0; i < ALL; i++)
		WRONG(w, y[i] != number * x[i]);
}

static void *
work(void *argument)
{
	struct worker *w = argument;
	cudnnHandle_t handle;
	cudaStream_t stream;
	float *device;

	WRONG(w, cudnnCreate(&handle));
	WRONG(w, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	WRONG(w, cudnnSetStream(handle, stream));
	WRONG(w, cudaMalloc((void **)&device, 256 + workspace_bytes));
	for (int i = 0; i < ROUNDS && !w->wrong; i++) {
		ask(w);
		execute(w, handle, stream, device, (float)(i + 1));
	}
	WRONG(w, cudaFree(device));
	WRONG(w, cudnnDestroy(handle));
	WRONG(w, cudaStreamDestroy(stream));
	return NULL;
}

static void
eight_threads_share_a_plan(void **state)
{
	const struct dnn_wish wish = { .shape = { 1, 1, SIDE, 1, 1, 0, false },
		.type = CUDNN_DATA_FLOAT };
	const descriptor graph = dnn_graph(&wish, NULL);
	struct worker workers[THREADS];

	(void)state;
	heuristics = dnn_heuristics(graph, NULL, CUDNN_HEUR_MODE_A);
	OK(dnn_engine(graph, NULL, 62, &engine));
	plan = dnn_plan(graph, NULL, 62);
	workspace_bytes = (size_t)dnn_number(plan,
	    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .index = i };
		OK(pthread_create(&workers[i].thread, NULL, work,
		    &workers[i]));
	}
	for (int i = 0; i < THREADS; i++) {
		OK(pthread_join(workers[i].thread, NULL));
		assert_int_equal(workers[i].wrong, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(eight_threads_share_a_plan,
		    dnn_release),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
