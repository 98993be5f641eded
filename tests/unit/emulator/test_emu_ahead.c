/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_ahead.c -- the emulated driver's launch queue:
 * the 1,025th launch of a stream waits in its call until one has ended, or an
 * earlier one with AUTOCAST_EMU_QUEUE. And threads that queue next to each
 * other: a copy to the host is over when its call returns. */
#include "test_emu.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ROOM = 1024, MORE = 100, PAUSE_US = 20000 };

static cudaStream_t held, other;
static float *x;
static _Atomic int queued;
static int room = ROOM;

static cublasHandle_t
handle_on(cudaStream_t stream)
{
	cublasHandle_t handle;

	OK(cublasCreate(&handle));
	OK(cublasSetStream(handle, stream));
	return handle;
}

static void *
queue_many(void *argument)
{
	const float one = 1;
	cublasHandle_t handle = handle_on(held);

	(void)argument;
	for (int i = 0; i < room + MORE; i++) {
		OK(cublasSaxpy(handle, 1, &one, x + 1, 1, x, 1));
		atomic_fetch_add(&queued, 1);
	}
	OK(cublasDestroy(handle));
	return NULL;
}

/* The host stops when the queue is full. Meanwhile other streams take work, and
 * the held one takes events. When the held one moves, the host does too, and
 * all work has run. */
static void
host_waits(void **state)
{
	const float start[2] = { 0, 1 };
	struct test_gate gate;
	cublasHandle_t handle;
	cudaEvent_t event;
	pthread_t thread;

	(void)state;
	x = test_upload(start, sizeof start);
	handle = handle_on(other);
	OK(cudaEventCreate(&event));
	test_gate_close(&gate, held);
	OK(pthread_create(&thread, NULL, queue_many, NULL));
	while (atomic_load(&queued) < room)
		usleep(100);
	usleep(PAUSE_US);
	assert_int_equal(atomic_load(&queued), room);
	for (int i = 0; i < 2 * room; i++)
		OK(cudaEventRecord(event, held));
	OK(cublasSscal(handle, 1, start + 1, x + 1, 1));
	OK(cudaStreamSynchronize(other));
	assert_int_equal(atomic_load(&queued), room);
	test_gate_open(&gate);
	OK(pthread_join(thread, NULL));
	OK(cudaStreamSynchronize(held));
	assert_int_equal(atomic_load(&queued), room + MORE);
	assert_true(*x == room + MORE); /* device memory is host memory here */
	OK(cudaEventDestroy(event));
	OK(cublasDestroy(handle));
	OK(cudaFree(x));
}

/* In a short queue, of a number that is no power of two. */
static void
short_queue(void **state)
{
	static char text[4096];

	(void)state;
	assert_int_equal(test_again("short", "AUTOCAST_EMU_QUEUE", "6", text,
	    sizeof text), 0);
}

static void *
queue_beside(void *argument)
{
	const float one = 1;
	cublasHandle_t handle = handle_on(held);

	for (int i = 0; i < 20000; i++)
		OK(cublasSaxpy(handle, 1, &one, x + 1, 1, x, 1));
	OK(cublasDestroy(handle));
	return argument;
}

/* A thread may be delayed after it took its turn and find that launches of
 * others, which took theirs later, have ended: it is let in. In such a loop
 * that happens to one thread. */
static void
threads_overtake(void **state)
{
	pthread_t threads[4];

	(void)state;
	x = test_device(2 * sizeof *x);
	alarm(300);
	for (int i = 0; i < 4; i++)
		OK(pthread_create(&threads[i], NULL, queue_beside, NULL));
	for (int i = 0; i < 4; i++)
		OK(pthread_join(threads[i], NULL));
	alarm(0);
	OK(cudaStreamSynchronize(held));
	OK(cudaFree(x));
}

/* Writes and reads a buffer of its own through the legacy stream. Returns NULL
 * if a copy to the host was over when its call returned, each time. */
static void *
copy_beside(void *argument)
{
	int *const device = test_device(sizeof *device);
	void *early = argument;

	for (int i = 1; i <= 5000; i++) {
		int there = 0;

		OK(cudaMemcpy(device, &i, sizeof i, cudaMemcpyHostToDevice));
		OK(cudaMemcpy(&there, device, sizeof i,
		    cudaMemcpyDeviceToHost));
		if (there != i)
			early = device;
	}
	OK(cudaDeviceSynchronize());
	OK(cudaFree(device));
	return early;
}

static void
copies_of_threads(void **state)
{
	pthread_t threads[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		OK(pthread_create(&threads[i], NULL, copy_beside, NULL));
	for (int i = 0; i < 8; i++) {
		void *early;

		OK(pthread_join(threads[i], &early));
		assert_null(early);
	}
}

/* What a capture records is not queued; a graph is one launch, whatever its
 * size. */
static void
graphs(void **state)
{
	struct test_gate gate;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	(void)state;
	x = test_device(sizeof *x);
	OK(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < ROOM + MORE; i++)
		OK(cudaMemsetAsync(x, 0, sizeof *x, other));
	OK(cudaStreamEndCapture(other, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	test_gate_close(&gate, other);
	for (int i = 0; i < 2; i++)
		OK(cudaGraphLaunch(exec, other));
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(other));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaFree(x));
}

/* By the modelled clock: the host is let in when the launch ROOM before has
 * ended, so what it then queues on another stream begins at that time. A fill
 * takes 2.5 us. */
static int
modelled(void)
{
	cudaEvent_t first, last;
	float ms;

	x = test_device(2 * sizeof *x);
	OK(cudaEventCreate(&first));
	OK(cudaEventCreate(&last));
	OK(cudaEventRecord(first, held));
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < (turn ? MORE : ROOM); i++)
			OK(cudaMemsetAsync(x, 0, 4, held));
		OK(cudaMemsetAsync(x + 1, 0, 4, other));
		OK(cudaEventRecord(last, other));
		/* An event of another stream: it may be behind. */
		OK(cudaEventSynchronize(first));
		OK(cudaEventSynchronize(last));
		OK(cudaEventElapsedTime(&ms, first, last));
		fprintf(stderr, "%.1f ", 1000 * (double)ms);
	}
	return 0;
}

static void
clock_waits(void **state)
{
	static char text[4096];

	(void)state;
	assert_int_equal(test_again("modelled", "AUTOCAST_EMU_CLOCK", "model",
	    text, sizeof text), 0);
	assert_string_equal(text, "2.5 252.5 502.5 ");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_waits),
		cmocka_unit_test(short_queue),
		cmocka_unit_test(threads_overtake),
		cmocka_unit_test(copies_of_threads),
		cmocka_unit_test(graphs),
		cmocka_unit_test(clock_waits),
	};
	int failed;

	OK(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	if (argc > 1 && !strcmp(argv[1], "short")) {
		room = 6;
		host_waits(NULL);
		return 0;
	}
	if (argc > 1)
		return modelled();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	OK(cudaStreamDestroy(held));
	OK(cudaStreamDestroy(other));
	return failed;
}
