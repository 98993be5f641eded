/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_calls.c -- what the emulated GPU has and a real
 * one has not: calls that fail on demand, counters, models, complaints that
 * name the call, an orderly end. */
#include "test_emu.h"

#include <cuda.h>
#include <stdbool.h>

/* The variables that the first process sets; see main(). */
#define FAILURES "cudaMalloc:3,cudaMemcpy:2:700,cublasSgemm_v2:1," \
	"cublasSscal_v2:2:3,cublasSscal_v2:4,cuMemAlloc_v2:1," \
	"cublasCreate_v2:2,cudaStreamSynchronize:1"

static cublasHandle_t handle;

/* Only the N-th call fails, with its family's error or the one asked for, and
 * without effect. */
static void
failures(void **state)
{
	float one = 1, *p = NULL, *q = NULL, *untouched = &one;
	cublasHandle_t none = (cublasHandle_t)&one;
	CUdeviceptr address;

	(void)state;
	OK(cudaMalloc((void **)&p, 4));
	OK(cudaMalloc((void **)&q, 4));
	assert_int_equal(cudaMalloc((void **)&untouched, 4),
	    cudaErrorUnknown);
	assert_ptr_equal(untouched, &one);
	assert_int_equal(cudaGetLastError(), cudaErrorUnknown);
	OK(cudaMemcpy(p, &one, 4, cudaMemcpyHostToDevice));
	one = 7;
	assert_int_equal(cudaMemcpy(p, &one, 4, cudaMemcpyHostToDevice), 700);
	assert_int_equal(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1,
	    &one, p, 1, p, 1, &one, q, 1), CUBLAS_STATUS_INTERNAL_ERROR);
	OK(cublasSscal(handle, 1, &one, p, 1));
	assert_int_equal(cublasSscal(handle, 1, &one, p, 1),
	    CUBLAS_STATUS_ALLOC_FAILED);
	OK(cublasSscal(handle, 1, &one, p, 1));
	assert_int_equal(cublasSscal(handle, 1, &one, p, 1),
	    CUBLAS_STATUS_INTERNAL_ERROR);
	OK(cudaMemcpy(&one, p, 4, cudaMemcpyDeviceToHost));
	assert_true(one == 49); /* 1 times 7 twice: no failed call ran */
	assert_int_equal(cuMemAlloc(&address, 4), CUDA_ERROR_UNKNOWN);
	OK(cuMemAlloc(&address, 4));
	OK(cuMemFree(address));
	assert_int_equal(cublasCreate(&none), CUBLAS_STATUS_INTERNAL_ERROR);
	assert_ptr_equal(none, &one);
	assert_int_equal(cudaStreamSynchronize(NULL), cudaErrorUnknown);
	OK(cudaStreamSynchronize(NULL));
	OK(cudaFree(p));
	OK(cudaFree(q));
	cudaGetLastError();
	unsetenv("AUTOCAST_EMU_FAIL"); /* not for the other processes */
}

/* Calls, launches, host waits, bytes each way, device bytes and their peak. */
static void
counters(void **state)
{
	float host[16] = { 1 }, one = 1, result;
	float *p = test_device(64);

	(void)state;
	OK(cudaDeviceSynchronize());
	emuCountersReset();
	assert_int_equal(emuCounter("device_bytes"), 64);
	assert_int_equal(emuCounter("device_bytes_peak"), 64);
	OK(cudaMemcpy(p, host, 64, cudaMemcpyHostToDevice));
	OK(cublasSscal(handle, 16, &one, p, 1));
	assert_int_equal(emuCounter("syncs"), 0);
	OK(cublasSdot(handle, 16, p, 1, p, 1, &result));
	assert_int_equal(emuCounter("syncs"), 1);
	OK(cudaMemcpy(host, p, 32, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(p, p + 8, 16, cudaMemcpyDeviceToDevice));
	OK(cudaMemset(p, 0, 8));
	OK(cudaFree(test_device(100)));
	assert_int_equal(emuCounter("launches"), 2);
	assert_int_equal(emuCounter("cublasSscal_v2"), 1);
	assert_int_equal(emuCounter("cublasSdot_v2"), 1);
	assert_int_equal(emuCounter("cudaMemcpy"), 3);
	assert_int_equal(emuCounter("bytes_host_to_device"), 64);
	assert_int_equal(emuCounter("bytes_device_to_host"), 32);
	assert_int_equal(emuCounter("bytes_device_to_device"), 16);
	assert_int_equal(emuCounter("bytes_filled"), 8);
	assert_int_equal(emuCounter("allocations"), 1);
	assert_int_equal(emuCounter("frees"), 1);
	assert_int_equal(emuCounter("device_bytes"), 64);
	assert_int_equal(emuCounter("device_bytes_peak"), 164);
	assert_int_equal(emuCounter("complaints"), 0);
	assert_int_equal(emuCounter("no_such_counter"), 0);
	OK(cudaFree(p));
}

/* Device, versions and names. */
static void
queries(void **state)
{
	struct cudaDeviceProp p;
	int value, count;

	(void)state;
	OK(cudaGetDeviceCount(&count));
	assert_int_equal(count, 1);
	OK(cudaGetDeviceProperties(&p, 0));
	assert_string_equal(p.name, "NVIDIA H200 (emulated)");
	assert_int_equal(p.major * 10 + p.minor, 90);
	assert_int_equal(p.multiProcessorCount, 132);
	assert_true(p.totalGlobalMem == 141000000000ull);
	OK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
	assert_int_equal(value, 32);
	assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize,
	    1), cudaErrorInvalidDevice);
	assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
	assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidDevice);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidDevice);
	assert_int_equal(cudaGetLastError(), cudaSuccess);
	OK(cudaRuntimeGetVersion(&value));
	assert_int_equal(value, CUDART_VERSION);
	OK(cublasGetVersion(handle, &value));
	assert_int_equal(value, CUBLAS_VERSION);
	assert_string_equal(cudaGetErrorName(cudaErrorIllegalAddress),
	    "cudaErrorIllegalAddress");
	assert_string_equal(cudaGetErrorString(cudaErrorMemoryAllocation),
	    "out of memory");
	assert_string_equal(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED),
	    "CUBLAS_STATUS_NOT_SUPPORTED");
}

/* Settings that change nothing here, but are remembered where they can be
 * read. */
static void
settings(void **state)
{
	unsigned flags = 0;
	size_t bytes = 0;

	(void)state;
	OK(cudaInitDevice(0, 0, 0));
	assert_int_equal(cudaInitDevice(1, 0, 0), cudaErrorInvalidDevice);
	OK(cudaSetDeviceFlags(cudaDeviceScheduleYield));
	OK(cudaGetDeviceFlags(&flags));
	assert_int_equal(flags, cudaDeviceScheduleYield);
	OK(cudaDeviceSetLimit(cudaLimitStackSize, 2048));
	OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
	assert_true(bytes > 0);
	OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
	cudaGetLastError();
}

/* ---- other processes: what they print and how they end ----------------- */

static char text[4096];

static void
expect(const char *mode, const char *variable, const char *value, int status)
{
	assert_int_equal(test_again(mode, variable, value, text, sizeof text),
	    status << 8);
}

static int
bad_model(void)
{
	int count = 5;

	if (cudaGetDeviceCount(&count) != cudaErrorNoDevice || count)
		return 1;
	if (cuInit(0) != CUDA_ERROR_NO_DEVICE)
		return 2;
	if (cublasCreate(&handle) != CUBLAS_STATUS_NOT_INITIALIZED)
		return 3;
	return cudaFree(NULL) != cudaErrorNoDevice;
}

static void
models(void **state)
{
	const char *line;

	(void)state;
	expect("bad-model", "AUTOCAST_EMU_MODEL", "voodoo2", 0);
	line = strstr(text, "autocast: emulated GPU: ");
	assert_non_null(line);
	assert_non_null(strstr(line, "voodoo2"));
	assert_null(strstr(line + 1, "autocast: "));
}

static int
host_pointer(void)
{
	float x[4] = { 0 }, one = 1;

	if (cublasCreate(&handle))
		return 1;
	return cublasSaxpy(handle, 4, &one, x, 1, x, 1) !=
	    CUBLAS_STATUS_EXECUTION_FAILED;
}

/* A complaint is one line with call, argument and reason. */
static void
complaints(void **state)
{
	(void)state;
	expect("host-pointer", NULL, NULL, 0);
	assert_non_null(strstr(text,
	    "emulated GPU: cublasSaxpy_v2: argument x: "));
	assert_non_null(strstr(text, "host pointer"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static int
counter_file(void)
{
	void *p;

	return cudaMalloc(&p, 123) || cudaFree(p);
}

static void
counters_at_exit(void **state)
{
	char path[] = "/tmp/test_emu_calls.XXXXXX", line[256];
	const int file = mkstemp(path);
	bool peak = false, calls = false;
	FILE *in;

	(void)state;
	assert_true(file >= 0);
	expect("counter-file", "AUTOCAST_EMU_COUNTERS", path, 0);
	in = fdopen(file, "r");
	while (fgets(line, sizeof line, in)) {
		peak |= !strcmp(line, "device_bytes_peak 123\n");
		calls |= !strcmp(line, "cudaMalloc 1\n");
	}
	fclose(in);
	unlink(path);
	assert_true(peak && calls);
}

/* Registered before the device came up, so it runs after the workers' end. */
static float *late;

static void
at_exit(void)
{
	float x = 0;

	if (cudaMemcpy(&x, late, 4, cudaMemcpyDeviceToHost) || x != 4)
		_exit(9);
	/* A call is still answered, and its work runs within it: no worker is
	 * left. */
	for (int i = 1; i < 20; i++)
		if (cudaMemsetAsync(late, i, 4, NULL) || *(char *)late != i)
			_exit(10);
	if (cudaFree(late))
		_exit(11);
}

static int
end_with_work(void)
{
	enum { SIZE = 256 };
	const float two = 2, zero = 0;
	float *a;

	atexit(at_exit);
	late = test_upload(&two, 4);
	a = test_device(SIZE * SIZE * 4);
	OK(cudaMemset(a, 0, SIZE * SIZE * 4));
	OK(cublasCreate(&handle));
	for (int i = 0; i < 50; i++)
		OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE,
		    SIZE, &two, a, SIZE, a, SIZE, &zero, a, SIZE));
	OK(cublasSscal(handle, 1, &two, late, 1));
	return 0; /* no wait: the end comes while work runs */
}

static int
end_after_reset(void)
{
	cudaStream_t stream;
	void *p = test_device(64);

	OK(cudaStreamCreate(&stream));
	OK(cudaMemsetAsync(p, 1, 64, stream));
	OK(cudaDeviceReset());
	return 0;
}

/* A forked child has no workers: every call says so, none hangs. */
static int
fork_child(void)
{
	int status;
	pid_t child;

	OK(cudaFree(test_device(4)));
	child = fork();
	if (!child)
		exit(cudaFree(NULL) != cudaErrorInitializationError);
	waitpid(child, &status, 0);
	return status != 0;
}

static void
ends(void **state)
{
	(void)state;
	expect("end-with-work", "AUTOCAST_EMU_JITTER", "1", 0);
	assert_string_equal(text, "");
	expect("end-after-reset", NULL, NULL, 0);
	assert_string_equal(text, "");
	expect("fork", NULL, NULL, 0);
}

/* An error in the list is reported, and the rest of the list still holds. */
static int
bad_list(void)
{
	void *p;

	return cudaMalloc(&p, 4) || cudaMalloc(&p, 4) != cudaErrorUnknown;
}

static void
bad_failures(void **state)
{
	(void)state;
	expect("bad-list", "AUTOCAST_EMU_FAIL", "foo,cudaMalloc:2", 0);
	assert_non_null(strstr(text, "AUTOCAST_EMU_FAIL: expected foo:N or "
	    "foo:N:STATUS\n"));
	expect("bad-list", "AUTOCAST_EMU_FAIL", "cudaMalloc,cudaMalloc:2", 0);
	assert_non_null(strstr(text, "AUTOCAST_EMU_FAIL"));
}

/* Of three waits for a gate the second orders nothing, and reports that it
 * did. */
static int
dropped(void)
{
	cudaStream_t held, stream[3];
	struct test_gate gate;
	cudaEvent_t event;
	bool right = true;

	OK(cudaStreamCreate(&held));
	OK(cudaEventCreate(&event));
	test_gate_close(&gate, held);
	OK(cudaEventRecord(event, held));
	for (int i = 0; i < 3; i++) {
		OK(cudaStreamCreateWithFlags(&stream[i],
		    cudaStreamNonBlocking));
		OK(cudaStreamWaitEvent(stream[i], event, 0));
	}
	OK(cudaStreamSynchronize(stream[1]));
	for (int i = 0; i < 3; i += 2)
		right &= cudaStreamQuery(stream[i]) == cudaErrorNotReady;
	test_gate_open(&gate);
	return cudaDeviceSynchronize() || !right;
}

static void
drops(void **state)
{
	(void)state;
	expect("dropped", "AUTOCAST_EMU_DROP", "cudaStreamWaitEvent:2", 0);
	expect("bad-list", "AUTOCAST_EMU_DROP", "cudaMalloc:1:7", 1);
	assert_non_null(strstr(text, "AUTOCAST_EMU_DROP: expected "
	    "cudaMalloc:N\n"));
}

/* ---- kernels of the program -------------------------------------------- */

void **__cudaRegisterFatBinary(void *fat_binary);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
    void **params, size_t shared, cudaStream_t stream);
void __cudaRegisterFunction(void **handle, const char *host, char *device,
    const char *name, int thread_limit, uint3 *thread, uint3 *block,
    dim3 *block_size, dim3 *grid_size, int *warp_size);

static void
triple(const struct emu_twin_launch *launch, void **params)
{
	float *x = *(float **)params[0];

	for (unsigned i = 0; i < launch->grid[0] * launch->block[0]; i++)
		x[i] *= *(float *)params[1];
}

static void
kernels(void **state)
{
	static const char stub, unknown;
	static const size_t sizes[] = { sizeof(float *), sizeof(float) };
	const float host[4] = { 1, 2, 3, 4 };
	float *x = test_upload(host, sizeof host), factor = 3, back[4];
	void *params[] = { &x, &factor };
	const dim3 two = { 2, 1, 1 };
	void **fat = __cudaRegisterFatBinary(NULL);
	cudaKernel_t kernel;

	(void)state;
	__cudaRegisterFunction(fat, &stub, NULL, "_Z6triplePff", -1, NULL,
	    NULL, NULL, NULL, NULL);
	OK(cudaFuncSetCacheConfig(&stub, cudaFuncCachePreferShared));
	setenv("AUTOCAST_LOG", "off", 1); /* these complaints are provoked */
	assert_int_equal(cudaFuncSetCacheConfig(&unknown,
	    cudaFuncCachePreferShared), cudaErrorInvalidDeviceFunction);
	assert_int_equal(cudaFuncSetAttribute(&unknown,
	    cudaFuncAttributeMaxDynamicSharedMemorySize, 1),
	    cudaErrorInvalidDeviceFunction);
	assert_int_equal(cudaLaunchKernel(&unknown, two, two, params, 0,
	    NULL), cudaErrorInvalidDeviceFunction);
	assert_int_equal(cudaLaunchKernel(&stub, two, two, params, 0, NULL),
	    cudaErrorNoKernelImageForDevice);
	assert_int_equal(cudaFuncSetAttribute(&stub,
	    cudaFuncAttributeMaxDynamicSharedMemorySize, 4096),
	    cudaErrorNoKernelImageForDevice);
	unsetenv("AUTOCAST_LOG");
	emuTwinRegister("_Z6triplePff", triple, sizes, 2);
	OK(cudaFuncSetAttribute(&stub,
	    cudaFuncAttributeMaxDynamicSharedMemorySize, 4096));
	OK(cudaLaunchKernel(&stub, two, two, params, 0, NULL));
	factor = 2;
	OK(__cudaGetKernel(&kernel, &stub)); /* as nvcc's code launches it */
	OK(__cudaLaunchKernel(kernel, two, two, params, 0, NULL));
	factor = 100; /* arguments were copied at the launch */
	OK(cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost));
	assert_true(back[0] == 6 && back[3] == 24);
	OK(cudaFree(x));
	cudaGetLastError();
}

static const struct {
	const char *mode;
	int (*run)(void);
} modes[] = {
	{ "bad-model", bad_model }, { "host-pointer", host_pointer },
	{ "counter-file", counter_file }, { "bad-list", bad_list },
	{ "dropped", dropped },
	{ "end-with-work", end_with_work },
	{ "end-after-reset", end_after_reset }, { "fork", fork_child },
};

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures),
		cmocka_unit_test(counters),
		cmocka_unit_test(queries),
		cmocka_unit_test(settings),
		cmocka_unit_test(models),
		cmocka_unit_test(complaints),
		cmocka_unit_test(counters_at_exit),
		cmocka_unit_test(ends),
		cmocka_unit_test(bad_failures),
		cmocka_unit_test(drops),
		cmocka_unit_test(kernels),
	};
	int failed;

	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i].mode, argv[1]))
			return modes[i].run();
	setenv("AUTOCAST_EMU_FAIL", FAILURES, 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cublasCreate(&handle))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cublasDestroy(handle);
	return failed;
}
