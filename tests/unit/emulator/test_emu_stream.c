/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_stream.c -- asynchrony of the emulated GPU: work
 * runs after its call has returned, in stream order; events and the legacy
 * stream order streams. main() sets a jitter seed, so that order is not
 * luck. */
#include "test_emu.h"

#include <pthread.h>

static float
read_back(const float *device)
{
	float x = -1;

	/* Not cudaMemcpy: it would order through the legacy stream. */
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(&x, device, sizeof x, cudaMemcpyDeviceToHost));
	return x;
}

static cublasHandle_t
handle_on(cudaStream_t stream)
{
	cublasHandle_t handle;

	OK(cublasCreate(&handle));
	OK(cublasSetStream(handle, stream));
	return handle;
}

/* Nothing has run when the call returns, everything has after a wait. */
static void
runs_later(void **state)
{
	const float two = 2, three = 3;
	float *x = test_upload(&two, sizeof two);
	struct test_gate gate;
	cudaStream_t stream;
	cudaEvent_t event;
	cublasHandle_t handle;

	(void)state;
	OK(cudaStreamCreate(&stream));
	OK(cudaEventCreate(&event));
	OK(cudaEventQuery(event)); /* never recorded */
	handle = handle_on(stream);
	test_gate_close(&gate, stream);
	OK(cublasSscal(handle, 1, &three, x, 1));
	OK(cudaEventRecord(event, stream));
	assert_int_equal(cudaStreamQuery(stream), cudaErrorNotReady);
	assert_int_equal(cudaEventQuery(event), cudaErrorNotReady);
	assert_true(*x == 2); /* device memory is host memory here */
	assert_int_equal(cudaGetLastError(), cudaSuccess);
	test_gate_open(&gate);
	OK(cudaEventSynchronize(event));
	OK(cudaEventQuery(event));
	OK(cudaStreamSynchronize(stream));
	OK(cudaStreamQuery(stream));
	assert_true(read_back(x) == 6);
	OK(cublasDestroy(handle));
	OK(cudaStreamDestroy(stream));
	OK(cudaEventDestroy(event));
	OK(cudaFree(x));
}

/* A device scalar is read when the work runs, a host scalar at the call. */
static void
scalars(void **state)
{
	const float one = 1, ten = 10;
	float host = 2;
	float *x = test_upload(&one, sizeof one);
	float *y = test_upload(&one, sizeof one);
	float *alpha = test_upload(&one, sizeof one);
	struct test_gate gate;
	cudaStream_t stream;
	cublasHandle_t handle;

	(void)state;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	handle = handle_on(stream);
	test_gate_close(&gate, stream);
	OK(cublasSscal(handle, 1, &host, x, 1));
	host = 100;
	OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
	OK(cublasSscal(handle, 1, alpha, y, 1));
	OK(cudaMemcpy(alpha, &ten, sizeof ten, cudaMemcpyHostToDevice));
	OK(cudaStreamSynchronize(NULL));
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	assert_true(read_back(x) == 2);
	assert_true(read_back(y) == 10);
	OK(cublasDestroy(handle));
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(x));
	OK(cudaFree(y));
	OK(cudaFree(alpha));
}

/* Blocking streams and the legacy stream wait for each other; a non-blocking
 * stream waits for neither. */
static void
legacy_order(void **state)
{
	const float one = 1, two = 2;
	cudaStream_t blocking, apart;
	cublasHandle_t on_blocking, on_legacy, on_apart;
	float *x = test_upload(&one, sizeof one);
	float *y = test_upload(&one, sizeof one);
	struct test_gate gate;

	(void)state;
	OK(cudaStreamCreate(&blocking));
	OK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
	on_blocking = handle_on(blocking);
	on_legacy = handle_on(NULL);
	on_apart = handle_on(apart);
	for (int i = 0; i < 20; i++) {
		float back, sum = 2;

		OK(cudaMemcpy(x, &one, sizeof one, cudaMemcpyHostToDevice));
		test_gate_close(&gate, blocking);
		OK(cublasSaxpy(on_blocking, 1, &one, x, 1, x, 1));
		OK(cublasSscal(on_legacy, 1, &two, x, 1));
		OK(cublasSaxpy(on_blocking, 1, &one, y, 1, x, 1));
		OK(cublasSscal(on_apart, 1, &one, y, 1));
		OK(cudaStreamSynchronize(apart));
		assert_int_equal(cudaStreamQuery(NULL), cudaErrorNotReady);
		test_gate_open(&gate);
		OK(cudaMemcpy(&back, x, sizeof back, cudaMemcpyDeviceToHost));
		assert_true(back == sum * 2 + 1);
	}
	OK(cublasDestroy(on_blocking));
	OK(cublasDestroy(on_legacy));
	OK(cublasDestroy(on_apart));
	OK(cudaStreamDestroy(blocking));
	OK(cudaStreamDestroy(apart));
	OK(cudaFree(x));
	OK(cudaFree(y));
}

/* An event orders two streams that nothing else orders; a wait means the last
 * record before it, not a later one. */
static void
event_order(void **state)
{
	const float one = 1, two = 2, three = 3;
	float *x = test_upload(&one, sizeof one);
	cudaStream_t a, b;
	cudaEvent_t event;
	cublasHandle_t on_a, on_b;

	(void)state;
	OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	on_a = handle_on(a);
	on_b = handle_on(b);
	for (int i = 0; i < 20; i++) {
		struct test_gate gate, later;

		OK(cudaMemcpy(x, &one, sizeof one, cudaMemcpyHostToDevice));
		OK(cudaDeviceSynchronize());
		test_gate_close(&gate, a);
		OK(cublasSaxpy(on_a, 1, &one, x, 1, x, 1)); /* 2 */
		OK(cudaEventRecord(event, a));
		OK(cudaStreamWaitEvent(b, event, 0));
		test_gate_close(&later, a);
		OK(cudaEventRecord(event, a));
		OK(cublasSscal(on_b, 1, &three, x, 1)); /* 6 */
		OK(cublasSaxpy(on_b, 1, &two, x, 1, x, 1)); /* 18 */
		usleep(2000); /* long enough to run too early */
		assert_int_equal(cudaStreamQuery(b), cudaErrorNotReady);
		test_gate_open(&gate);
		OK(cudaStreamSynchronize(b));
		test_gate_open(&later);
		assert_true(read_back(x) == 18);
	}
	OK(cublasDestroy(on_a));
	OK(cublasDestroy(on_b));
	OK(cudaStreamDestroy(a));
	OK(cudaStreamDestroy(b));
	OK(cudaEventDestroy(event));
	OK(cudaFree(x));
}

/* Pageable sources are staged at the call; pinned ones are read later. */
static void
staging(void **state)
{
	float pageable = 1, *pinned, *x = test_device(4), *y = test_device(4);
	struct test_gate gate;
	cudaStream_t stream;

	(void)state;
	OK(cudaMallocHost((void **)&pinned, sizeof *pinned));
	*pinned = 1;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	test_gate_close(&gate, stream);
	OK(cudaMemcpyAsync(x, &pageable, 4, cudaMemcpyHostToDevice, stream));
	OK(cudaMemcpyAsync(y, pinned, 4, cudaMemcpyHostToDevice, stream));
	pageable = *pinned = 5;
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	assert_true(read_back(x) == 1);
	assert_true(read_back(y) == 5);
	OK(cudaMemsetAsync(y, 0, 4, stream));
	OK(cudaMemcpyAsync(&pageable, y, 4, cudaMemcpyDeviceToHost, stream));
	assert_true(pageable == 0); /* to pageable memory: waited for */
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(x));
	OK(cudaFree(y));
	OK(cudaFreeHost(pinned));
}

/* A destroyed stream finishes its work; its handle is refused. */
static void
destroyed(void **state)
{
	const float one = 1, two = 2;
	float *x = test_upload(&one, sizeof one);
	struct test_gate gate;
	cudaStream_t stream, other;
	cublasHandle_t handle;

	(void)state;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	handle = handle_on(stream);
	test_gate_close(&gate, stream);
	OK(cublasSscal(handle, 1, &two, x, 1));
	OK(cudaStreamDestroy(stream));
	assert_int_equal(cudaStreamSynchronize(stream),
	    cudaErrorInvalidResourceHandle);
	assert_int_equal(cublasSscal(handle, 1, &two, x, 1),
	    CUBLAS_STATUS_EXECUTION_FAILED);
	OK(cudaStreamCreate(&other));
	assert_ptr_not_equal(other, stream);
	test_gate_open(&gate);
	assert_true(read_back(x) == 2);
	OK(cudaStreamDestroy(other));
	OK(cublasDestroy(handle));
	OK(cudaFree(x));
	cudaGetLastError();
}

/* Handles 1 and 2, flags, priorities and ids. */
static void
handles(void **state)
{
	unsigned long long id, legacy, own;
	cudaStream_t stream;
	unsigned flags;
	int priority;

	(void)state;
	OK(cudaDeviceGetStreamPriorityRange(&priority, NULL));
	assert_int_equal(priority, 0);
	OK(cudaDeviceGetStreamPriorityRange(NULL, &priority));
	assert_true(priority <= -3);
	OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -3));
	OK(cudaStreamGetFlags(stream, &flags));
	OK(cudaStreamGetPriority(stream, &priority));
	OK(cudaStreamGetId(stream, &id));
	OK(cudaStreamGetId(NULL, &legacy));
	OK(cudaStreamGetId(cudaStreamPerThread, &own));
	assert_int_equal(flags, cudaStreamNonBlocking);
	assert_int_equal(priority, -3);
	assert_true(id != legacy && id != own && own != legacy);
	OK(cudaStreamGetId(cudaStreamLegacy, &id));
	assert_true(id == legacy);
	assert_int_equal(cudaStreamCreateWithFlags(&stream, 77),
	    cudaErrorInvalidValue);
	OK(cudaStreamDestroy(stream));
	cudaGetLastError();
}

static void *
train(void *argument)
{
	enum { STEPS = 200 };
	const float one = 1;
	float zero = 0, back, *x = test_upload(&zero, sizeof zero);
	float *step = test_upload(&one, sizeof one);
	cublasHandle_t handle = handle_on(cudaStreamPerThread);

	for (int i = 0; i < STEPS; i++) {
		OK(cublasSaxpy(handle, 1, &one, step, 1, x, 1));
		if (i % 50 == 0)
			OK(cudaStreamSynchronize(cudaStreamPerThread));
	}
	OK(cudaMemcpyAsync(&back, x, sizeof back, cudaMemcpyDeviceToHost,
	    cudaStreamPerThread));
	*(float *)argument = back == STEPS;
	OK(cublasDestroy(handle));
	OK(cudaFree(x));
	OK(cudaFree(step));
	return NULL;
}

/* Threads, each with its own stream, also one after another's end. */
static void
threads(void **state)
{
	pthread_t thread[4];
	float right[4] = { 0 };

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 4; i++)
			OK(pthread_create(&thread[i], NULL, train,
			    &right[i]));
		for (int i = 0; i < 4; i++) {
			pthread_join(thread[i], NULL);
			assert_true(right[i] == 1);
		}
	}
}

static cublasHandle_t shared;
static float *shared_x;

static void *
add_shared(void *argument)
{
	const float one = 1;

	(void)argument;
	for (int i = 0; i < 500; i++)
		OK(cublasSaxpy(shared, 1, &one, shared_x + 1, 1, shared_x,
		    1));
	return NULL;
}

/* Two threads on one handle and stream: every call's work is done, and none is
 * mixed with another's. */
static void
shared_handle(void **state)
{
	const float start[2] = { 0, 1 };
	pthread_t thread[2];

	(void)state;
	shared_x = test_upload(start, sizeof start);
	OK(cublasCreate(&shared));
	for (int i = 0; i < 2; i++)
		OK(pthread_create(&thread[i], NULL, add_shared, NULL));
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_true(read_back(shared_x) == 1000);
	OK(cublasDestroy(shared));
	OK(cudaFree(shared_x));
}

/* Elapsed time needs two reached events with timing. */
static void
elapsed(void **state)
{
	cudaEvent_t a, b, blind;
	float ms;

	(void)state;
	OK(cudaEventCreate(&a));
	OK(cudaEventCreate(&b));
	OK(cudaEventCreateWithFlags(&blind, cudaEventDisableTiming));
	OK(cudaEventRecord(a, NULL));
	assert_int_equal(cudaEventElapsedTime(&ms, a, b),
	    cudaErrorInvalidResourceHandle);
	OK(cudaEventRecordWithFlags(b, NULL, cudaEventRecordDefault));
	assert_int_equal(cudaEventRecordWithFlags(b, NULL,
	    cudaEventRecordExternal), cudaErrorInvalidValue);
	OK(cudaEventRecord(blind, NULL));
	OK(cudaEventSynchronize(blind));
	OK(cudaEventElapsedTime(&ms, a, b));
	assert_true(ms >= 0 && ms < 10000);
	assert_int_equal(cudaEventElapsedTime(&ms, a, blind),
	    cudaErrorInvalidResourceHandle);
	OK(cudaEventDestroy(a));
	OK(cudaEventDestroy(b));
	OK(cudaEventDestroy(blind));
	assert_int_equal(cudaEventRecord(a, NULL),
	    cudaErrorInvalidResourceHandle);
	cudaGetLastError();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_later),
		cmocka_unit_test(scalars),
		cmocka_unit_test(legacy_order),
		cmocka_unit_test(event_order),
		cmocka_unit_test(staging),
		cmocka_unit_test(destroyed),
		cmocka_unit_test(handles),
		cmocka_unit_test(threads),
		cmocka_unit_test(shared_handle),
		cmocka_unit_test(elapsed),
	};

	setenv("AUTOCAST_EMU_JITTER", "11", 1);
	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
