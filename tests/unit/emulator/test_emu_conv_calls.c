/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_conv_calls.c -- the emulated cuDNN's calls
 * around a convolution: algorithms and workspaces, wrong memory, handles,
 * failures on demand. */
#include "test_emu_conv.h"

static cudnnHandle_t handle;

#define REFUSED(call) assert_int_equal((call), CUDNN_STATUS_BAD_PARAM)

/* ---- algorithms ---------------------------------------------------------- */

/* The best algorithm comes first, impossible ones last; the memory of each
 * successful one is what GetWorkspaceSize says, and FMA needs less than
 * TF32. */
static void
algorithms(void **state)
{
	struct test_conv d = test_conv_new();
	cudnnConvolutionFwdAlgoPerf_t perf[16];
	int count, most;
	size_t bytes, tf32;

	(void)state;
	test_conv_small(&d, 4, 4, 8, 8);
	OK(cudnnGetConvolutionForwardAlgorithmMaxCount(handle, &most));
	OK(cudnnFindConvolutionForwardAlgorithm(handle, d.x, d.w, d.conv, d.y,
	    16, &count, perf));
	assert_int_equal(count, most);
	assert_int_equal(perf[0].algo,
	    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
	assert_true(perf[0].time > 0);
	for (int i = 0; i < count; i++) {
		const cudnnStatus_t status =
		    cudnnGetConvolutionForwardWorkspaceSize(handle, d.x, d.w,
		    d.conv, d.y, perf[i].algo, &bytes);

		assert_int_equal(perf[i].status, status);
		if (!status)
			assert_int_equal(perf[i].memory, bytes);
		if (i)
			assert_true(perf[i].status >= perf[i - 1].status);
		if (i && !status)
			assert_true(perf[i].time > perf[i - 1].time);
	}
	tf32 = perf[0].memory;
	OK(cudnnSetConvolutionMathType(d.conv, CUDNN_FMA_MATH));
	OK(cudnnGetConvolutionForwardAlgorithm_v7(handle, d.x, d.w, d.conv,
	    d.y, 1, &count, perf));
	assert_int_equal(count, 1);
	assert_true(perf[0].time < 0); /* nothing was timed */
	assert_int_equal(perf[0].mathType, CUDNN_FMA_MATH);
	assert_true(perf[0].memory < tf32);
	REFUSED(cudnnGetConvolutionForwardAlgorithm_v7(handle, d.x, d.w,
	    d.conv, d.y, 0, &count, perf));
	OK(cudnnSetConvolutionGroupCount(d.conv, 2));
	REFUSED(cudnnGetConvolutionForwardAlgorithm_v7(handle, d.x, d.w,
	    d.conv, d.y, 1, &count, perf));
	test_conv_drop(&d);
}

/* The first algorithm of each gradient is not deterministic, the second, which
 * is the best, is. Find functions, which try them, are forbidden during a
 * capture. */
static void
determinism(void **state)
{
	struct test_conv d = test_conv_new();
	cudnnConvolutionBwdDataAlgoPerf_t perf[2];
	cudaStream_t stream;
	cudaGraph_t graph;
	int count;

	(void)state;
	test_conv_small(&d, 4, 4, 8, 8);
	OK(cudnnFindConvolutionBackwardDataAlgorithm(handle, d.w, d.y, d.conv,
	    d.x, 2, &count, perf));
	assert_int_equal(count, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(perf[i].algo, 1 - i);
		assert_int_equal(perf[i].determinism, i ?
		    CUDNN_NON_DETERMINISTIC : CUDNN_DETERMINISTIC);
	}
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, d.w, d.y,
	    d.conv, d.x, 2, &count, perf));
	assert_int_equal(cudnnFindConvolutionBackwardDataAlgorithm(handle,
	    d.w, d.y, d.conv, d.x, 2, &count, perf),
	    CUDNN_STATUS_EXECUTION_FAILED);
	assert_int_not_equal(cudaStreamEndCapture(stream, &graph), 0);
	cudaGetLastError();
	OK(cudaStreamDestroy(stream));
	test_conv_drop(&d);
}

/* On the program's memory: it runs there, and algorithms that need more
 * workspace fail; the first one needs none. */
static void
found_in_place(void **state)
{
	const float values[] = { 3, 5 };
	struct test_conv d = test_conv_new();
	cudnnConvolutionBwdFilterAlgoPerf_t perf[16];
	cudnnConvolutionBwdDataAlgoPerf_t data;
	cudnnConvolutionFwdAlgoPerf_t forward;
	float *x = test_upload(values, 4), *dy = test_upload(values + 1, 4);
	float *dw = test_device(4), result;
	uint64_t syncs;
	void *workspace;
	size_t bytes;
	int count, most;

	(void)state;
	test_conv_small(&d, 1, 1, 1, 1);
	bytes = test_conv_workspace(handle, &d, 2);
	workspace = test_device(bytes);
	syncs = emuCounter("syncs");
	OK(cudnnFindConvolutionBackwardFilterAlgorithmEx(handle, d.x, x, d.y,
	    dy, d.conv, d.w, dw, 16, &count, perf, workspace, bytes));
	assert_int_equal(perf[0].algo, 1);
	assert_int_equal(emuCounter("syncs"), syncs + 1); /* it waited */
	OK(cudaMemcpy(&result, dw, 4, cudaMemcpyDeviceToHost));
	assert_true(result == 15);
	OK(cudaMemcpy(&result, workspace, 4, cudaMemcpyDeviceToHost));
	assert_true(isnan(result)); /* the best one's */
	OK(cudaMemset(dw, 0, 4));
	OK(cudnnFindConvolutionBackwardFilterAlgorithmEx(handle, d.x, x, d.y,
	    dy, d.conv, d.w, dw, 16, &count, perf, NULL, 0));
	assert_int_equal(perf[0].status, 0);
	assert_int_equal(perf[0].algo, 0);
	assert_int_equal(perf[0].memory, 0);
	assert_int_not_equal(perf[1].status, 0);
	OK(cudaMemcpy(&result, dw, 4, cudaMemcpyDeviceToHost));
	assert_true(result == 15);
	/* The other operations; here all numbers are one tensor each. */
	OK(cudnnFindConvolutionForwardAlgorithmEx(handle, d.x, x, d.w, dy,
	    d.conv, d.y, dw, 1, &count, &forward, workspace, bytes));
	OK(cudaMemcpy(&result, dw, 4, cudaMemcpyDeviceToHost));
	assert_true(count == 1 && !forward.status && result == 15);
	OK(cudaMemset(dw, 0, 4));
	OK(cudnnFindConvolutionBackwardDataAlgorithmEx(handle, d.w, x, d.y,
	    dy, d.conv, d.x, dw, 1, &count, &data, workspace, bytes));
	OK(cudaMemcpy(&result, dw, 4, cudaMemcpyDeviceToHost));
	assert_true(count == 1 && !data.status && result == 15);
	OK(cudnnFindConvolutionBackwardFilterAlgorithm(handle, d.x, d.y,
	    d.conv, d.w, 16, &count, perf));
	OK(cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(handle, &most));
	assert_int_equal(count, most);
	OK(cudnnGetConvolutionBackwardDataAlgorithmMaxCount(handle, &most));
	assert_true(most > 1);
	OK(cudaFree(x));
	OK(cudaFree(dy));
	OK(cudaFree(dw));
	OK(cudaFree(workspace));
	test_conv_drop(&d);
}

/* ---- memory -------------------------------------------------------------- */

/* A workspace is overwritten; one that is too small is refused. */
static void
workspace(void **state)
{
	struct test_conv d = test_conv_new();
	float *x = test_device(4), *y = test_device(4), value;
	char *space;
	size_t bytes;

	(void)state;
	test_conv_small(&d, 1, 1, 1, 1);
	OK(cudaMemset(x, 0, 4));
	bytes = test_conv_workspace(handle, &d, 0);
	space = test_device(bytes);
	REFUSED(test_conv_run_in(handle, &d, 0, 1, x, x, 0, y, space,
	    bytes - 1));
	REFUSED(test_conv_run_in(handle, &d, 0, 1, x, x, 0, y, NULL, bytes));
	OK(cudaMemset(space, 0, bytes));
	OK(test_conv_run_in(handle, &d, 0, 1, x, x, 0, y, space, bytes));
	OK(cudaMemcpy(&value, space + bytes - 4, 4, cudaMemcpyDeviceToHost));
	assert_true(isnan(value));
	OK(cudaFree(x));
	OK(cudaFree(y));
	OK(cudaFree(space));
	test_conv_drop(&d);
}

/* Every tensor is checked to its end, before anything is queued. */
static void
bad_memory(void **state)
{
	struct test_conv d = test_conv_new();
	char *good = test_device(64), *end = good + 64 - 4;

	(void)state;
	test_conv_small(&d, 1, 1, 2, 2);
	for (int operation = 0; operation < 3; operation++)
	for (int which = 0; which < 3; which++) {
		const uint64_t complaints = emuCounter("complaints");
		const uint64_t launches = emuCounter("launches");

		assert_int_equal(test_conv_run(handle, &d, operation, 1,
		    which == 0 ? end : good, which == 1 ? end + 4 : good, 0,
		    which == 2 ? end : good),
		    CUDNN_STATUS_EXECUTION_FAILED);
		assert_int_equal(emuCounter("complaints"), complaints + 1);
		assert_int_equal(emuCounter("launches"), launches);
	}
	OK(cudaFree(good));
	test_conv_drop(&d);
}

/* ---- handles ------------------------------------------------------------- */

/* Work goes to the handle's stream; a stale handle is refused. */
static void
handles(void **state)
{
	cudnnHandle_t other;
	cudaStream_t stream, got;
	struct test_conv d = test_conv_new();
	struct test_gate gate;
	const float two = 2;
	float *x = test_upload(&two, 4), *y = test_device(4), result;

	(void)state;
	OK(cudnnCreate(&other));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudnnSetStream(other, stream));
	OK(cudnnGetStream(other, &got));
	assert_ptr_equal(got, stream);
	test_conv_small(&d, 1, 1, 1, 1);
	test_gate_close(&gate, stream);
	{
		const size_t bytes = test_conv_workspace(other, &d, 0);
		void *space = test_device(bytes);

		OK(test_conv_run_in(other, &d, 0, 1, x, x, 0, y, space,
		    bytes));
		assert_int_equal(cudaStreamQuery(stream), cudaErrorNotReady);
		test_gate_open(&gate);
		OK(cudaStreamSynchronize(stream));
		OK(cudaFree(space));
	}
	OK(cudaMemcpy(&result, y, 4, cudaMemcpyDeviceToHost));
	assert_true(result == 4);
	OK(cudnnDestroy(other));
	OK(cudnnDestroy(NULL));
	assert_int_equal(cudnnSetStream(other, stream),
	    CUDNN_STATUS_NOT_INITIALIZED);
	REFUSED(cudnnSetStream(NULL, stream));
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(x));
	OK(cudaFree(y));
	test_conv_drop(&d);
}

/* Run again with a variable set. Status 2: one convolution fails, 0: it is in
 * FP32, else 1; plus 4 if the plain loop computed it. */
static int
once(void)
{
	struct test_conv d = test_conv_new();
	const float one = 1 + 0x1p-12f;
	float *x = test_upload(&one, 4), *y = test_device(4), result = 0;
	cudnnStatus_t status;

	test_conv_small(&d, 1, 1, 1, 1);
	status = test_conv_run(handle, &d, 0, 1, x, x, 0, y);
	OK(cudaMemcpy(&result, y, 4, cudaMemcpyDeviceToHost));
	OK(cudaFree(x));
	OK(cudaFree(y));
	test_conv_drop(&d);
	OK(cudnnDestroy(handle));
	return (status ? 2 : result == one * one ? 0 : 1) +
	    (emuCounter("convolutions_plain") ? 4 : 0);
}

/* AUTOCAST_EMU_FAIL works for cuDNN's calls. Without TF32 in the model, or with
 * TF32 forbidden, plain FP32 math is FP32. Exact sums use the plain loop. */
static void
environment(void **state)
{
	static const struct {
		const char *variable, *value;
		int result;
	} cases[] = {
		{ "AUTOCAST_EMU_FAIL", "cudnnConvolutionForward:1", 2 },
		{ "AUTOCAST_EMU_FAIL", "cudnnConvolutionForward:2", 1 },
		{ "NVIDIA_TF32_OVERRIDE", "0", 0 },
		{ "AUTOCAST_EMU_MODEL", "t4", 0 },
		{ "AUTOCAST_EMU_SUMS", "exact", 5 },
		{ "AUTOCAST_EMU_SUMS", "reference", 5 },
	};
	char text[4096];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const int status = test_again("once", cases[i].variable,
		    cases[i].value, text, sizeof text);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), TEST_WITH_TSAN && i ?
		    cases[i].result | 4 : cases[i].result);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(algorithms),
		cmocka_unit_test(determinism),
		cmocka_unit_test(found_in_place),
		cmocka_unit_test(workspace),
		cmocka_unit_test(bad_memory),
		cmocka_unit_test(handles),
		cmocka_unit_test(environment),
	};
	int failed;

	(void)argv;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cudnnCreate(&handle))
		return 3;
	if (argc > 1)
		return once();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cudnnDestroy(handle);
	return failed;
}
