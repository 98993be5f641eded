/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_replay.c -- whole processes with graphs: some
 * end with graphs and captures alive, or launch when main() has returned; some,
 * built with TSan, have replays that race, which must be seen. */
#include "test_emu.h"

#include <stdbool.h>

enum { SIZE = 64, RACE = 66 };

static cudaStream_t stream, other;
static cublasHandle_t on_stream, on_other;
static cudaEvent_t event, back;
static cudaGraphExec_t exec;
static float *x;
static const float two = 2;

static void
prepare(void)
{
	float ones[SIZE];

	for (int i = 0; i < SIZE; i++)
		ones[i] = 1;
	x = test_upload(ones, sizeof ones);
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaEventCreate(&event));
	OK(cudaEventCreate(&back));
	OK(cublasCreate(&on_stream));
	OK(cublasCreate(&on_other));
	OK(cublasSetStream(on_stream, stream));
	OK(cublasSetStream(on_other, other));
}

/* Double x on one stream, fork, and double it on the other. */
static cudaGraphExec_t
capture(bool with_join, bool with_fork)
{
	cudaGraphExec_t new;
	cudaGraph_t graph;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaEventRecord(event, stream));
	OK(cublasSscal(on_stream, SIZE, &two, x, 1));
	if (with_join)
		OK(cudaEventRecord(event, stream));
	if (with_fork) {
		OK(cudaStreamWaitEvent(other, event, 0));
		OK(cublasSscal(on_other, SIZE, &two, x, 1));
		OK(cudaEventRecord(back, other));
		OK(cudaStreamWaitEvent(stream, back, 0));
	}
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&new, graph, 0));
	return new;
}

/* ---- races ------------------------------------------------------------- */

/* Branches of one graph, without and with the order that they need. */
static void
branches(bool ordered)
{
	exec = capture(ordered, true);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphLaunch(exec, other));
	OK(cudaDeviceSynchronize());
}

/* Two graphs that share a buffer, on two streams. */
static void
two_graphs(bool ordered)
{
	const cudaGraphExec_t first = capture(true, false);
	const cudaGraphExec_t second = capture(true, false);

	OK(cudaGraphLaunch(first, stream));
	OK(cudaEventRecord(event, stream));
	if (ordered)
		OK(cudaStreamWaitEvent(other, event, 0));
	OK(cudaGraphLaunch(second, other));
	OK(cudaDeviceSynchronize());
}

/* Two launches of one graph, which the device orders. */
static void
one_graph(bool ordered)
{
	(void)ordered;
	exec = capture(true, false);
	for (int i = 0; i < 10; i++)
		OK(cudaGraphLaunch(exec, i % 2 ? stream : other));
	OK(cudaDeviceSynchronize());
}

/* ---- ends -------------------------------------------------------------- */

static void
launch_late(void)
{
	if (cudaGraphLaunch(exec, stream) || cudaStreamSynchronize(stream) ||
	    *x != 16)
		_exit(1);
}

static void
live_graphs(bool late)
{
	(void)late; /* see main() */
	exec = capture(true, true);
	OK(cudaGraphLaunch(exec, stream));
}

static void
live_capture(bool joined)
{
	void *memory;

	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMallocAsync(&memory, 64, stream));
	OK(cudaMemsetAsync(memory, 0, 64, stream));
	OK(cudaEventRecord(event, stream));
	if (joined)
		OK(cudaStreamWaitEvent(other, event, 0));
}

static void
reset(bool launched)
{
	exec = capture(true, true);
	if (launched)
		OK(cudaGraphLaunch(exec, stream));
	OK(cudaDeviceReset());
	OK(cudaStreamCreate(&stream));
	assert_int_equal(cudaGraphLaunch(exec, stream),
	    cudaErrorContextIsDestroyed);
	OK(cudaGraphExecDestroy(exec));
	cudaGetLastError();
}

/* A branch on another device: its work stays there. */
static void
two_devices(bool launched_twice)
{
	const int launches = launched_twice ? 2 : 1;
	cudaStream_t there;
	cublasHandle_t handle;
	cudaGraph_t graph;
	float *y, ones[1] = { 1 }, back_there;
	int device;

	OK(cudaSetDevice(1));
	y = test_upload(ones, sizeof ones);
	OK(cudaStreamCreateWithFlags(&there, cudaStreamNonBlocking));
	OK(cublasCreate(&handle));
	OK(cublasSetStream(handle, there));
	OK(cudaEventDestroy(back));
	OK(cudaEventCreate(&back));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaSetDevice(0));
	OK(cudaEventRecord(event, stream));
	OK(cudaStreamWaitEvent(there, event, 0));
	OK(cudaSetDevice(1));
	OK(cublasSscal(handle, 1, &two, y, 1));
	OK(cudaEventRecord(back, there));
	OK(cudaStreamWaitEvent(stream, back, 0));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaStreamDestroy(there));
	for (int i = 0; i < launches; i++)
		OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaGetDevice(&device));
	assert_int_equal(device, 1);
	OK(cudaMemcpy(&back_there, y, 4, cudaMemcpyDeviceToHost));
	assert_true(back_there == (float)(1 << launches));
	OK(cublasDestroy(handle));
}

static const struct {
	const char *mode;
	void (*run)(bool with);
	bool with;
	int status; /* RACE: needs TSan */
} modes[] = {
	{ "branches-ordered", branches, true, 0 },
	{ "branches-race", branches, false, RACE },
	{ "graphs-ordered", two_graphs, true, 0 },
	{ "graphs-race", two_graphs, false, RACE },
	{ "one-graph", one_graph, true, 0 },
	{ "live-graphs", live_graphs, false, 0 },
	{ "late-launch", live_graphs, true, 0 },
	{ "live-capture", live_capture, false, 0 },
	{ "joined-capture", live_capture, true, 0 },
	{ "two-devices", two_devices, false, 0 },
	{ "two-devices-twice", two_devices, true, 0 },
	{ "reset", reset, false, 0 },
	{ "reset-launched", reset, true, 0 },
};

static void
processes(void **state)
{
	static char text[1 << 16];

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		int status;

		if (modes[i].status == RACE && !TEST_WITH_TSAN)
			continue;
		status = test_again(modes[i].mode, "TSAN_OPTIONS",
		    "exitcode=66", text, sizeof text);
		if (!WIFEXITED(status) ||
		    WEXITSTATUS(status) != modes[i].status)
			fail_msg("%s: wait status %x\n%s", modes[i].mode,
			    (unsigned)status, text);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(processes) };

	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i].mode, argv[1])) {
			setenv("AUTOCAST_EMU_JITTER", "9", 1);
			setenv("AUTOCAST_EMU_MODEL", "h200,h200", 1);
			/* Runs after the handlers that the emulator adds. */
			if (modes[i].run == live_graphs && modes[i].with)
				atexit(launch_late);
			prepare();
			modes[i].run(modes[i].with);
			return 0;
		}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
