/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_devices.c -- several emulated GPUs and contexts:
 * which one owns what, and what needs peer access. */
#include "test_emu.h"

#include <cuda.h>
#include <pthread.h>

enum { N = 16, BYTES = N * N * 4 };
static const float one = 1, zero = 0;

static int
multiply(cublasHandle_t handle, const float *a, float *c)
{
	return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a,
	    N, a, N, &zero, c, N);
}

static float
first_of(const float *device)
{
	float value;

	OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
	return value;
}

/* Fill with `value`, on the current device. */
static float *
filled(float value)
{
	float host[N * N];

	for (int i = 0; i < N * N; i++)
		host[i] = value;
	return test_upload(host, sizeof host);
}

/* A list of models makes as many devices, each with its own attributes. */
static void
models(void **state)
{
	struct cudaDeviceProp prop;
	int count, device, value;
	char name[64];
	CUdevice d;

	(void)state;
	OK(cudaGetDeviceCount(&count));
	assert_int_equal(count, 3);
	OK(cudaGetDevice(&device));
	assert_int_equal(device, 0);
	OK(cudaGetDeviceProperties(&prop, 1));
	assert_string_equal(prop.name, "Tesla T4 (emulated)");
	assert_int_equal(10 * prop.major + prop.minor, 75);
	OK(cudaGetDeviceProperties(&prop, 2));
	assert_int_equal(prop.major, 9);
	OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 1));
	assert_int_equal(value, 40);
	assert_int_equal(cudaDeviceGetAttribute(&value,
	    cudaDevAttrMultiProcessorCount, 3), cudaErrorInvalidDevice);
	assert_int_equal(cudaSetDevice(3), cudaErrorInvalidDevice);
	assert_int_equal(cudaSetDevice(-1), cudaErrorInvalidDevice);
	OK(cuDeviceGetCount(&count));
	assert_int_equal(count, 3);
	OK(cuDeviceGet(&d, 1));
	OK(cuDeviceGetName(name, sizeof name, d));
	assert_string_equal(name, "Tesla T4 (emulated)");
	assert_int_equal(cuDeviceGet(&d, 3), CUDA_ERROR_INVALID_DEVICE);
}

/* Memory belongs to a device: its own work reaches it, another's does not. */
static void
memory(void **state)
{
	struct cudaPointerAttributes facts;
	cublasHandle_t on_0, on_1;
	size_t left_0, left_1, total;
	float *a, *b, *c, *d;

	(void)state;
	OK(cudaSetDevice(0));
	OK(cublasCreate(&on_0));
	a = filled(2);
	c = filled(0);
	OK(cudaSetDevice(1));
	OK(cublasCreate(&on_1));
	OK(cudaMemGetInfo(&left_1, &total));
	b = filled(3);
	OK(cudaMemGetInfo(&left_0, &total));
	assert_true(left_1 - left_0 == BYTES);
	OK(cudaPointerGetAttributes(&facts, a));
	assert_int_equal(facts.device, 0);
	OK(cudaPointerGetAttributes(&facts, b));
	assert_int_equal(facts.device, 1);
	assert_int_equal(multiply(on_1, b, a), CUBLAS_STATUS_EXECUTION_FAILED);
	assert_int_equal(multiply(on_1, a, b), CUBLAS_STATUS_EXECUTION_FAILED);
	d = filled(0);
	OK(multiply(on_1, b, d));
	OK(cudaSetDevice(0));
	OK(multiply(on_0, a, c));
	assert_true(first_of(c) == N * 4);
	/* Copies reach every device. */
	OK(cudaMemcpyPeer(c, 0, d, 1, BYTES));
	assert_true(first_of(c) == N * 9);
	OK(cudaMemcpy(b, a, BYTES, cudaMemcpyDefault));
	OK(cudaDeviceSynchronize());
	assert_true(first_of(b) == 2);
	OK(cudaMemcpyPeerAsync(b, 1, c, 0, BYTES, NULL));
	OK(cudaDeviceSynchronize());
	assert_true(first_of(b) == N * 9);
	assert_int_equal(cudaMemcpyPeer(c, 0, b, 3, 4),
	    cudaErrorInvalidDevice);
	OK(cublasDestroy(on_0));
	OK(cublasDestroy(on_1));
	OK(cudaFree(a));
	OK(cudaFree(b));
	OK(cudaFree(c));
	OK(cudaFree(d));
}

/* Peer access goes one way, and only for the device that asked for it. */
static void
peers(void **state)
{
	cublasHandle_t on_0, on_1;
	float *a, *b;
	int can;

	(void)state;
	OK(cudaSetDevice(0));
	OK(cudaDeviceCanAccessPeer(&can, 0, 1));
	assert_int_equal(can, 1);
	OK(cudaDeviceCanAccessPeer(&can, 1, 1));
	assert_int_equal(can, 0);
	assert_int_equal(cudaDeviceCanAccessPeer(&can, 0, 3),
	    cudaErrorInvalidDevice);
	OK(cublasCreate(&on_0));
	a = filled(1);
	OK(cudaSetDevice(1));
	OK(cublasCreate(&on_1));
	b = filled(2);
	assert_int_equal(cudaDeviceEnablePeerAccess(1, 0),
	    cudaErrorInvalidDevice);
	OK(cudaDeviceEnablePeerAccess(0, 0));
	assert_int_equal(cudaDeviceEnablePeerAccess(0, 0),
	    cudaErrorPeerAccessAlreadyEnabled);
	OK(multiply(on_1, b, a));
	OK(cudaDeviceSynchronize());
	assert_true(first_of(a) == N * 4);
	OK(multiply(on_0, b, a)); /* the handle of device 0, in reach */
	OK(cudaDeviceSynchronize());
	OK(cudaSetDevice(0));
	assert_int_equal(multiply(on_0, b, a), CUBLAS_STATUS_EXECUTION_FAILED);
	assert_int_equal(multiply(on_1, a, a), CUBLAS_STATUS_EXECUTION_FAILED);
	assert_int_equal(cudaDeviceDisablePeerAccess(1),
	    cudaErrorPeerAccessNotEnabled);
	OK(cudaSetDevice(1));
	OK(cudaDeviceDisablePeerAccess(0));
	assert_int_equal(multiply(on_1, b, a), CUBLAS_STATUS_EXECUTION_FAILED);
	OK(cublasDestroy(on_0));
	OK(cublasDestroy(on_1));
	OK(cudaFree(a));
	OK(cudaFree(b));
}

/* Streams and events belong to a context; the default stream is that of the
 * current one; a wait works across contexts. */
static void
streams(void **state)
{
	unsigned long long id[3];
	struct test_gate gate;
	cudaStream_t s0, s1;
	cudaEvent_t e0;
	cublasHandle_t handle;
	float *b, *c;
	int device;

	(void)state;
	OK(cudaSetDevice(0));
	OK(cudaStreamCreate(&s0));
	OK(cudaEventCreate(&e0));
	OK(cudaStreamGetId(NULL, &id[0]));
	OK(cudaSetDevice(1));
	OK(cudaStreamCreate(&s1));
	OK(cudaStreamGetId(NULL, &id[1]));
	OK(cudaStreamGetId(cudaStreamPerThread, &id[2]));
	assert_true(id[0] != id[1] && id[1] != id[2]);
	OK(cudaStreamGetDevice(s0, &device));
	assert_int_equal(device, 0);
	b = filled(1);
	c = filled(0);
	OK(cublasCreate(&handle));
	OK(cublasSetStream(handle, s0));
	assert_int_equal(multiply(handle, b, b),
	    CUBLAS_STATUS_EXECUTION_FAILED);
	assert_int_equal(cudaEventRecord(e0, s1),
	    cudaErrorInvalidResourceHandle);
	/* Device 1 waits for device 0 only if the program says so. */
	alarm(240);
	test_gate_close(&gate, s0);
	OK(cublasSetStream(handle, s1));
	OK(multiply(handle, b, c));
	OK(cudaDeviceSynchronize());
	OK(cudaMemset(c, 0, BYTES)); /* on the default stream of 1 */
	OK(cudaStreamSynchronize(NULL));
	OK(cudaFree(test_device(4)));
	assert_int_equal(cudaStreamQuery(s0), cudaErrorNotReady);
	OK(multiply(handle, b, c));
	OK(cudaEventRecord(e0, s0));
	OK(cudaStreamWaitEvent(s1, e0, 0));
	OK(multiply(handle, c, b));
	assert_int_equal(cudaStreamQuery(s1), cudaErrorNotReady);
	test_gate_open(&gate);
	alarm(0);
	OK(cudaStreamSynchronize(s1));
	assert_true(first_of(b) == N * N * N);
	OK(cudaStreamDestroy(s1)); /* before its handle */
	assert_int_equal(multiply(handle, b, b),
	    CUBLAS_STATUS_EXECUTION_FAILED);
	OK(cublasDestroy(handle));
	OK(cudaFree(b));
	OK(cudaFree(c));
	OK(cudaSetDevice(0));
	OK(cudaStreamDestroy(s0));
	OK(cudaEventDestroy(e0));
}

/* The memory of a destroyed handle is the next one's, on any device. */
static void
handles(void **state)
{
	cublasHandle_t first, second, third;
	float *b, *c;

	(void)state;
	OK(cudaSetDevice(0));
	OK(cublasCreate(&first));
	OK(cublasCreate(&second));
	OK(cublasDestroy(first));
	assert_int_equal(cublasSetMathMode(first, CUBLAS_DEFAULT_MATH),
	    CUBLAS_STATUS_NOT_INITIALIZED);
	OK(cublasDestroy(second));
	OK(cudaSetDevice(1));
	OK(cublasCreate(&third));
	assert_ptr_equal(third, second);
	b = filled(1);
	c = filled(0);
	OK(multiply(third, b, c));
	assert_int_equal(cublasSetSmCountTarget(third, 41),
	    CUBLAS_STATUS_INVALID_VALUE); /* a T4 has 40 */
	OK(cublasDestroy(third));
	OK(cudaFree(b));
	OK(cudaFree(c));
}

static void *
other_thread(void *unused)
{
	int device = 7;

	(void)unused;
	OK(cudaGetDevice(&device));
	return (void *)(intptr_t)device;
}

/* A thread begins on device 0, whatever others do. */
static void
threads(void **state)
{
	pthread_t thread;
	void *device;

	(void)state;
	OK(cudaSetDevice(2));
	OK(pthread_create(&thread, NULL, other_thread, NULL));
	OK(pthread_join(thread, &device));
	assert_ptr_equal(device, NULL);
	OK(cudaSetDevice(0));
}

/* Contexts next to the primary one: a stack per thread, ids that are never used
 * again, addresses that are, and an end that takes along what they own. */
static void
contexts(void **state)
{
	unsigned long long before, after;
	CUresult (*create)(CUcontext *context, unsigned flags, CUdevice device);
	CUcontext primary, made, again, extra, top;
	CUdeviceptr address;
	CUstream stream;
	CUdevice device;

	(void)state;
	OK(cudaSetDevice(0));
	OK(cuCtxGetCurrent(&primary));
	OK(cuCtxCreate(&made, NULL, 0, 1));
	OK(cuCtxGetCurrent(&top));
	assert_ptr_equal(top, made);
	OK(cuCtxGetDevice(&device));
	assert_int_equal(device, 1);
	OK(cuCtxGetId(made, &before));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamGetCtx(stream, &top));
	assert_ptr_equal(top, made);
	OK(cuMemAlloc(&address, 64));
	OK(cuPointerGetAttribute(&top, CU_POINTER_ATTRIBUTE_CONTEXT, address));
	assert_ptr_equal(top, made);
	OK(cuCtxPopCurrent(&top));
	assert_ptr_equal(top, made);
	OK(cuCtxGetCurrent(&top));
	assert_ptr_equal(top, primary);
	OK(cuStreamSynchronize(stream)); /* from another context */
	OK(cuCtxDestroy(made));
	assert_int_equal(cuCtxDestroy(made), CUDA_ERROR_INVALID_CONTEXT);
	assert_int_equal(cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
	assert_int_equal(cuCtxSetCurrent(made), CUDA_ERROR_INVALID_CONTEXT);
	assert_int_equal(cuStreamSynchronize(stream),
	    CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxCreate(&again, NULL, 0, 0));
	assert_ptr_equal(again, made);
	OK(cuCtxGetId(again, &after));
	assert_true(before != after);
	OK(cuGetProcAddress("cuCtxCreate", (void **)&create, 4000, 0, NULL));
	OK(create(&extra, 0, 2)); /* as it was before CUDA 11.4 */
	OK(cuCtxGetDevice(&device));
	assert_int_equal(device, 2);
	OK(cuCtxDestroy(extra));
	OK(cuStreamGetCtx(NULL, &top));
	assert_ptr_equal(top, again);
	OK(cuCtxDestroy(again));
	OK(cuCtxGetCurrent(&top));
	assert_ptr_equal(top, primary);
}

/* A reset is one device's affair. */
static void
reset(void **state)
{
	float *a, *b;

	(void)state;
	OK(cudaSetDevice(1));
	b = filled(5);
	OK(cudaSetDevice(0));
	a = filled(4);
	OK(cudaDeviceEnablePeerAccess(1, 0));
	OK(cudaDeviceReset());
	assert_int_equal(cudaFree(a), cudaErrorInvalidValue);
	assert_true(first_of(b) == 5);
	assert_int_equal(cudaDeviceDisablePeerAccess(1),
	    cudaErrorPeerAccessNotEnabled);
	OK(cudaFree(b));
}

/* What a kernel is given must be in its device's reach. */
static void
nothing(const struct emu_twin_launch *launch, void **params)
{
	(void)launch;
	(void)params;
}

static void
kernels(void **state)
{
	static const char ptx[] = ".version 6.0\n.visible .entry nothing(\n"
	    ".param .align 8 .b8 nothing_0[16])\n{ ret; }\n";
	static const size_t sizes[] = { 16 };
	void *pair[2] = { NULL, NULL }, *params[] = { pair };
	CUfunction function;
	CUstream on_0;
	CUmodule module;

	(void)state;
	emuTwinRegister("nothing", nothing, sizes, 1);
	OK(cudaSetDevice(0));
	OK(cudaStreamCreate(&on_0));
	OK(cudaSetDevice(2));
	OK(cudaDeviceReset());
	OK(cudaSetDevice(2));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&function, module, "nothing"));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, on_0,
	    params, NULL), CUDA_ERROR_INVALID_HANDLE);
	OK(cudaSetDevice(0));
	pair[1] = test_device(64);
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	OK(cudaSetDevice(2));
	assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL,
	    params, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	OK(cudaSetDevice(0)); /* the others are well */
	OK(cudaFree(pair[1]));
	OK(cudaStreamDestroy(on_0));
}

/* Unknown names, too many, and a complaint that names call and device. */
static void
words(void **state)
{
	static char text[4096];

	(void)state;
	test_again("count", "AUTOCAST_EMU_MODEL", "h200,a101", text,
	    sizeof text);
	assert_non_null(strstr(text, "AUTOCAST_EMU_MODEL=h200,a101 is not"));
	test_again("count", "AUTOCAST_EMU_MODEL",
	    "t4,t4,t4,t4,t4,t4,t4,t4,t4,t4,t4,t4,t4,t4,t4,t4,t4", text,
	    sizeof text);
	assert_non_null(strstr(text, "up to 16"));
	test_again("far", "AUTOCAST_EMU_MODEL", "h200,t4", text, sizeof text);
	assert_non_null(strstr(text, "cublasSgemm_v2: argument A: "));
	assert_non_null(strstr(text, "is in memory of device 0; the work runs "
	    "on device 1, which has no peer access to it"));
}

static int
count(void)
{
	int found = -1;

	return cudaGetDeviceCount(&found) == cudaErrorNoDevice && !found;
}

static int
far(void)
{
	cublasHandle_t handle;
	float *a = filled(1);

	OK(cudaSetDevice(1));
	OK(cublasCreate(&handle));
	return multiply(handle, a, a);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models),
		cmocka_unit_test(memory),
		cmocka_unit_test(peers),
		cmocka_unit_test(streams),
		cmocka_unit_test(handles),
		cmocka_unit_test(threads),
		cmocka_unit_test(contexts),
		cmocka_unit_test(reset),
		cmocka_unit_test(kernels),
		cmocka_unit_test(words),
	};

	if (argc > 1) {
		setenv("AUTOCAST_LOG", "error", 1);
		return !strcmp(argv[1], "far") ? far() : count();
	}
	setenv("AUTOCAST_EMU_MODEL", "h200,t4,h200", 1);
	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
