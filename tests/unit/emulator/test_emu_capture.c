/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_capture.c -- captures of the emulated GPU: what
 * joins one, what stays apart, how one ends and fails, what queries answer.
 * test_emu_capture_rules.c tests what may be called meanwhile. */
#include "test_emu_capture.h"

/* The legacy stream would wait for blocking streams, which a capture
 * forbids. */
static void
legacy(void **state)
{
	enum cudaStreamCaptureStatus status;
	float y;

	(void)state;
	OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
	assert_int_equal(cudaStreamIsCapturing(NULL, &status),
	    cudaErrorStreamCaptureImplicit);
	assert_int_equal(status_of(blocking), cudaStreamCaptureStatusActive);
	assert_int_equal(cudaMemsetAsync(x, 0, 4, NULL),
	    cudaErrorStreamCaptureImplicit);
	end_as(blocking, cudaErrorStreamCaptureInvalidated);
	OK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
	assert_int_equal(cudaStreamSynchronize(NULL),
	    cudaErrorStreamCaptureImplicit);
	assert_int_equal(cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost),
	    cudaErrorStreamCaptureImplicit);
	assert_int_equal(cudaEventRecord(event, NULL),
	    cudaErrorStreamCaptureImplicit);
	OK(cudaMemsetAsync(x + 8, 0, 4, other));
	end_as(blocking, cudaErrorStreamCaptureInvalidated);
	/* The legacy stream does not depend on a non-blocking stream. */
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaMemsetAsync(x, 0, 4, NULL));
	end_as(stream, 0);
	assert_int_equal(cudaStreamBeginCapture(NULL,
	    cudaStreamCaptureModeRelaxed), cudaErrorStreamCaptureUnsupported);
	cudaGetLastError();
}

/* ---- events at the border ------------------------------------------------ */

static void
isolation(void **state)
{
	cudaEvent_t never;
	float ms;

	(void)state;
	OK(cudaEventCreate(&never));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaStreamWaitEvent(stream, never, 0));
	OK(cudaEventRecord(event, stream));
	assert_int_equal(cudaStreamWaitEvent(stream, recorded, 0),
	    cudaErrorStreamCaptureIsolation);
	end_as(stream, cudaErrorStreamCaptureInvalidated);
	/* The other direction: an event of a capture that has ended. */
	assert_int_equal(cudaStreamWaitEvent(other, event, 0),
	    cudaErrorStreamCaptureIsolation);
	assert_int_equal(cudaEventQuery(event), cudaErrorCapturedEvent);
	assert_int_equal(cudaEventSynchronize(event), cudaErrorCapturedEvent);
	assert_int_equal(cudaEventElapsedTime(&ms, recorded, event),
	    cudaErrorCapturedEvent);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaEventRecord(event, stream));
	assert_int_equal(cudaEventQuery(event), cudaErrorCapturedEvent);
	end_as(stream, cudaErrorStreamCaptureInvalidated);
	OK(cudaEventRecord(event, other)); /* an ordinary one again */
	OK(cudaEventSynchronize(event));
	OK(cudaEventDestroy(never));
	cudaGetLastError();
}

/* Two captures stay apart. */
static void
merge(void **state)
{
	(void)state;
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
	OK(cudaEventRecord(event, stream));
	assert_int_equal(cudaStreamWaitEvent(other, event, 0),
	    cudaErrorStreamCaptureMerge);
	end_as(stream, cudaErrorStreamCaptureInvalidated);
	end_as(other, cudaErrorStreamCaptureInvalidated);
}

/* ---- how captures end ---------------------------------------------------- */

static int
end_elsewhere(void)
{
	struct cell cell = { end_here, GLOBAL, 0 };
	pthread_t thread;

	OK(pthread_create(&thread, NULL, call_in_mode, &cell));
	OK(pthread_join(thread, NULL));
	return cell.status;
}

static void
endings(void **state)
{
	(void)state;
	end_as(stream, cudaErrorIllegalState);
	for (int mode = 0; mode < MODES; mode++) {
		OK(cudaStreamBeginCapture(stream,
		    (enum cudaStreamCaptureMode)mode));
		assert_int_equal(cudaStreamBeginCapture(stream,
		    cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
		assert_int_equal(end_elsewhere(), mode == RELAXED ? 0 :
		    cudaErrorStreamCaptureWrongThread);
		if (mode != RELAXED)
			end_as(stream, 0);
	}
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaEventRecord(event, stream));
	OK(cudaStreamWaitEvent(other, event, 0));
	assert_int_equal(status_of(other), cudaStreamCaptureStatusActive);
	end_as(other, cudaErrorStreamCaptureUnmatched);
	OK(cudaMemsetAsync(x, 0, 4, other));
	end_as(stream, cudaErrorStreamCaptureUnjoined);
	assert_int_equal(status_of(other), cudaStreamCaptureStatusNone);
	/* A stream that joined and did nothing need not come back. */
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaEventRecord(event, stream));
	OK(cudaStreamWaitEvent(other, event, 0));
	end_as(stream, 0);
	assert_int_equal(cudaStreamBeginCapture(stream,
	    (enum cudaStreamCaptureMode)7), cudaErrorInvalidValue);
	cudaGetLastError();
}

static void
destroyed(void **state)
{
	cudaStream_t first, second;

	(void)state;
	OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
	OK(cudaEventRecord(event, first));
	OK(cudaStreamWaitEvent(second, event, 0));
	OK(cudaStreamDestroy(second));
	end_as(first, cudaErrorStreamCaptureInvalidated);
	OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
	OK(cudaEventRecord(event, first));
	OK(cudaStreamWaitEvent(other, event, 0));
	OK(cudaStreamDestroy(first));
	assert_int_equal(status_of(other), cudaStreamCaptureStatusNone);
	OK(do_malloc()); /* no capture is left */
}

/* ---- what is told -------------------------------------------------------- */

static void
info(void **state)
{
	CUresult (*old)(CUstream, CUstreamCaptureStatus *, cuuint64_t *);
	CUresult (*middle)(CUstream, CUstreamCaptureStatus *, cuuint64_t *,
	    CUgraph *, const CUgraphNode **, size_t *);
	unsigned long long id, joined;
	enum cudaStreamCaptureStatus status;
	CUstreamCaptureStatus driver_status;
	cuuint64_t before = 0, driver_id;
	cudaGraph_t graph, same;
	size_t count = 7;

	(void)state;
	OK(cuGetProcAddress("cuStreamGetCaptureInfo", (void **)&old, 10010, 0,
	    NULL));
	OK(cuGetProcAddress("cuStreamGetCaptureInfo", (void **)&middle, 11030,
	    0, NULL));
	OK(old(stream, &driver_status, &driver_id));
	assert_int_equal(driver_status, CU_STREAM_CAPTURE_STATUS_NONE);
	for (int i = 0; i < 2; i++) {
		OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
		OK(cudaEventRecord(event, stream));
		OK(cudaStreamWaitEvent(other, event, 0));
		OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, NULL,
		    NULL, NULL));
		OK(cudaStreamGetCaptureInfo(other, &status, &joined, NULL,
		    NULL, NULL, NULL));
		assert_int_equal(status, cudaStreamCaptureStatusActive);
		assert_true(id == joined && id != before && id != 0);
		assert_int_equal(cudaGraphDestroy(graph),
		    cudaErrorIllegalState);
		OK(old(other, &driver_status, &driver_id));
		assert_true(driver_id == id);
		OK(middle(stream, &driver_status, NULL, &same, NULL, &count));
		assert_ptr_equal(same, graph);
		before = id;
		assert_int_equal(do_malloc(),
		    cudaErrorStreamCaptureUnsupported);
		OK(old(other, &driver_status, &driver_id));
		assert_int_equal(driver_status,
		    CU_STREAM_CAPTURE_STATUS_INVALIDATED);
		end_as(stream, cudaErrorStreamCaptureInvalidated);
	}
}

/* What graphs cannot do here, and handles of destroyed graphs. */
static void
refused(void **state)
{
	cudaGraphInstantiateParams params = { .flags = 0 };
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	cudaGraphNode_t node;
	size_t count = 1;

	(void)state;
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaStreamEndCapture(stream, &graph));
	assert_int_equal(cudaGraphInstantiate(&exec, graph,
	    cudaGraphInstantiateFlagDeviceLaunch), cudaErrorNotSupported);
	OK(cudaGraphInstantiateWithParams(&exec, graph, &params));
	assert_int_equal(params.result_out, cudaGraphInstantiateSuccess);
	OK(cudaGraphExecDestroy(exec));
	assert_int_equal(cudaGraphInstantiateWithParams(&exec, graph, NULL),
	    cudaErrorInvalidValue);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphUpload(exec, stream));
	assert_int_equal(cudaGraphUpload(NULL, stream), cudaErrorInvalidValue);
	OK(cudaGraphLaunch(exec, stream)); /* an empty one */
	assert_int_equal(cudaGraphGetNodes(graph, &node, &count),
	    cudaErrorNotSupported);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	assert_int_equal(cudaGraphDestroy(graph), cudaErrorInvalidValue);
	assert_int_equal(cudaGraphInstantiate(&exec, graph, 0),
	    cudaErrorInvalidValue);
	assert_int_equal(cudaGraphLaunch(NULL, stream), cudaErrorInvalidValue);
	cudaGetLastError();
}

static int
prepare(void **state)
{
	(void)state;
	prepare_capture();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(legacy),
		cmocka_unit_test(isolation),
		cmocka_unit_test(merge),
		cmocka_unit_test(endings),
		cmocka_unit_test(destroyed),
		cmocka_unit_test(info),
		cmocka_unit_test(refused),
	};

	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, prepare, NULL);
}
