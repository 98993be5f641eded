/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_memory.c -- memory of the emulated GPU: every
 * pointer is checked over its full range at the call, a bad call has no effect,
 * and the device's size is respected. */
#include "test_emu.h"

static cublasHandle_t handle;
static const float one = 1, zero = 0;

static cublasStatus_t
sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
	return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a,
	    m, b, k, &zero, c, m);
}

/* One bad pointer for each argument; the good call works, the bad ones are
 * named, counted and launch nothing. */
static void
products(void **state)
{
	enum { N = 8, BYTES = N * N * 4 };
	static float host[N * N];
	float *a = test_device(BYTES), *b = test_device(BYTES);
	float *c = test_device(BYTES), *freed = test_device(BYTES);
	uint64_t launches;

	(void)state;
	OK(cudaMemset(a, 0, BYTES));
	OK(cudaMemset(b, 0, BYTES));
	OK(cudaFree(freed));
	OK(sgemm(a, b, c, N, N, N));
	emuCountersReset();
	launches = emuCounter("launches");
#define BAD(...) assert_int_equal(__VA_ARGS__, CUBLAS_STATUS_EXECUTION_FAILED)
	BAD(sgemm(host, b, c, N, N, N));
	BAD(sgemm(a, host, c, N, N, N));
	BAD(sgemm(a, b, host, N, N, N));
	BAD(sgemm(freed, b, c, N, N, N));
	BAD(sgemm(NULL, b, c, N, N, N));
	BAD(sgemm(a + 1, b, c, N, N, N)); /* one element out of range */
	BAD(sgemm(a, b + 1, c, N, N, N));
	BAD(sgemm(a, b, c + 1, N, N, N));
	BAD(sgemm(a, b, c, N, N + 1, N));
	assert_int_equal(emuCounter("launches"), launches);
	assert_int_equal(emuCounter("complaints"), 9);
	OK(sgemm(a + 1, b, c, N - 1, N, N));
	OK(cudaFree(a));
	OK(cudaFree(b));
	OK(cudaFree(c));
}

/* Batches are checked to the last element of the last matrix. */
static void
batches(void **state)
{
	float *a = test_device(4 * 16), *c = test_device(4 * 16);

	(void)state;
	OK(cudaMemset(a, 0, 64));
	OK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2,
	    &one, a, 2, 4, a, 2, 0, &zero, c, 2, 4, 4));
	BAD(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2,
	    2, &one, a, 2, 4, a, 2, 0, &zero, c, 2, 4, 5));
	BAD(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2,
	    2, &one, a, 2, INT64_MAX / 4, a, 2, 0, &zero, c, 2, 4, 4));
	BAD(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one,
	    (const float *const[]){ a }, 2, (const float *const[]){ a }, 2,
	    &zero, (float *const[]){ c }, 2, 1)); /* arrays on the host */
	OK(cudaFree(a));
	OK(cudaFree(c));
}

/* The pointers in a pointer array are checked when the work runs: an error of
 * the device, which every call then returns, until a reset. */
__attribute__((unused))
static void
bad_array(void **state)
{
	static float host[4];
	float *c = test_device(16);
	const float *a = host;
	const float **A = test_upload(&a, sizeof a);
	float **C = test_upload(&c, sizeof c);

	(void)state;
	OK(cublasDestroy(handle)); /* an earlier reset ended its context */
	OK(cublasCreate(&handle));
	OK(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one,
	    A, 2, A, 2, &zero, C, 2, 1));
	assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	BAD(sgemm(c, c, c, 1, 1, 1));
	assert_int_equal(cudaMemset(c, 0, 16), cudaErrorIllegalAddress);
	OK(cudaDeviceReset());
	OK(cudaDeviceSynchronize());
	cudaGetLastError();
}

/* Vectors, scalars for the wrong pointer mode, results. */
static void
vectors(void **state)
{
	float *x = test_device(40), host = 1, result;

	(void)state;
	OK(cudaMemset(x, 0, 40));
	OK(cublasSscal(handle, 10, &one, x, 1));
	OK(cublasSscal(handle, 5, &one, x, 2));
	BAD(cublasSscal(handle, 11, &one, x, 1));
	BAD(cublasSscal(handle, 6, &one, x, 2));
	BAD(cublasSaxpy(handle, 1, &one, &host, 1, x, 1));
	BAD(cublasSdot(handle, 1, x, 1, &host, 1, &result));
	BAD(cublasSscal(handle, 1, x, x, 1)); /* device alpha, host mode */
	BAD(cublasSgemv(handle, CUBLAS_OP_N, 3, 4, &one, x, 3, x, 1, &zero, x,
	    1));
	BAD(cublasSger(handle, 3, 4, &one, x, 1, x, 1, x, 3));
	OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
	BAD(cublasSscal(handle, 1, &host, x, 1)); /* host alpha, device mode */
	BAD(cublasSdot(handle, 1, x, 1, x, 1, &host));
	OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
	OK(cudaFree(x));
}

/* Copies and fills: status 700, and nothing moved. */
static void
copies(void **state)
{
	char host[64] = { 1 }, other[64];
	char *d = test_device(64);

	(void)state;
#undef BAD
#define BAD(...) assert_int_equal(__VA_ARGS__, cudaErrorIllegalAddress)
	OK(cudaMemcpy(d, host, 64, cudaMemcpyHostToDevice));
	BAD(cudaMemcpy(d, host, 65, cudaMemcpyHostToDevice));
	BAD(cudaMemcpy(d + 1, host, 64, cudaMemcpyHostToDevice));
	BAD(cudaMemcpy(other, host, 64, cudaMemcpyHostToDevice));
	BAD(cudaMemcpy(d, d, 64, cudaMemcpyHostToDevice));
	BAD(cudaMemcpy(other, host, 64, cudaMemcpyDeviceToHost));
	BAD(cudaMemset(host, 0, 1));
	BAD(cudaMemset(d, 0, 65));
	BAD(cudaMemcpy2D(d, 32, host, 32, 32, 3, cudaMemcpyHostToDevice));
	assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
	assert_int_equal(cudaGetLastError(), cudaSuccess);
	OK(cudaMemcpy(other, d, 64, cudaMemcpyDefault));
	assert_memory_equal(other, host, 64);
	OK(cudaMemcpy(host, other, 64, cudaMemcpyHostToHost));
	assert_int_equal(cudaMemcpy(d, host, 1, (enum cudaMemcpyKind)9),
	    cudaErrorInvalidValue);
	assert_int_equal(cudaMemcpy2D(d, 8, host, 8, 9, 2,
	    cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	OK(cudaFree(d));
	cudaGetLastError();
}

/* Strided copies and fills touch the right bytes. */
static void
two_dimensions(void **state)
{
	char host[12] = "abcdefghijk", back[12] = { 0 }, *d = test_device(32);

	(void)state;
	OK(cudaMemset2D(d, 8, '.', 4, 4));
	OK(cudaMemcpy2D(d + 1, 8, host, 4, 2, 3, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2D(back, 3, d, 8, 3, 4, cudaMemcpyDeviceToHost));
	assert_memory_equal(back, ".ab.ef.ij...", 12);
	OK(cublasSetMatrix(2, 2, 1, host, 3, d, 4));
	OK(cublasGetMatrix(2, 2, 1, d, 4, back, 2));
	assert_memory_equal(back, "abde", 4);
	OK(cublasSetVector(3, 1, host, 2, d, 1));
	OK(cublasGetVector(3, 1, d, 1, back, 3));
	assert_true(back[0] == 'a' && back[3] == 'c' && back[6] == 'e');
	OK(cublasSetMatrixAsync(2, 2, 1, host, 3, d, 4, NULL));
	OK(cublasGetMatrixAsync(2, 2, 1, d, 4, back, 3, NULL));
	OK(cublasSetVectorAsync(2, 1, host + 8, 1, d, 1, NULL));
	OK(cublasGetVectorAsync(2, 1, d, 1, back + 6, 2, NULL));
	OK(cudaStreamSynchronize(NULL));
	assert_true(!memcmp(back, "ab", 2) && !memcmp(back + 3, "de", 2));
	assert_true(back[6] == 'i' && back[8] == 'j');
	assert_int_equal(cublasSetMatrix(3, 2, 1, host, 2, d, 4),
	    CUBLAS_STATUS_INVALID_VALUE);
	assert_int_equal(cublasSetVector(3, 1, host, 1, host, 1),
	    CUBLAS_STATUS_MAPPING_ERROR);
	OK(cudaFree(d));
}

/* Rows of pitched memory; memory of a pool. */
static void
pitches(void **state)
{
	char host[8] = "abcdefg", back[8] = { 0 }, *rows, *pooled;
	cudaMemPool_t pool;
	uint64_t keep = 0;
	size_t pitch = 0;

	(void)state;
	OK(cudaMallocPitch((void **)&rows, &pitch, 5, 2));
	assert_true(pitch >= 5 && pitch % 32 == 0);
	OK(cudaMemset2DAsync(rows, pitch, '.', 5, 2, NULL));
	OK(cudaMemcpy2DAsync(rows, pitch, host, 4, 4, 2,
	    cudaMemcpyHostToDevice, NULL));
	OK(cudaMemcpy2DAsync(back, 4, rows + 1, pitch, 4, 2,
	    cudaMemcpyDeviceToHost, NULL));
	OK(cudaStreamSynchronize(NULL));
	assert_memory_equal(back, "bcd.fg\0.", 8);
	OK(cudaFree(rows));
	assert_int_equal(cudaMallocPitch((void **)&rows, NULL, 5, 2),
	    cudaErrorInvalidValue);
	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	assert_int_equal(cudaDeviceGetDefaultMemPool(&pool, 1),
	    cudaErrorInvalidValue);
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
	    &keep));
	OK(cudaMallocFromPoolAsync((void **)&pooled, 8, pool, NULL));
	OK(cudaMemset(pooled, 'x', 8));
	OK(cudaMemcpy(back, pooled, 8, cudaMemcpyDeviceToHost));
	assert_int_equal(back[7], 'x');
	OK(cudaFreeAsync(pooled, NULL));
	OK(cudaStreamSynchronize(NULL));
	OK(cudaMemPoolTrimTo(pool, 0));
	assert_int_equal(cudaMemPoolTrimTo(NULL, 0), cudaErrorInvalidValue);
	assert_int_equal(cudaMallocFromPoolAsync((void **)&pooled, 8, NULL,
	    NULL), cudaErrorInvalidValue);
	cudaGetLastError();
}

/* The device has the size that it reports, and frees memory. */
static void
sizes(void **state)
{
	size_t before, left, total;
	void *p, *q;

	(void)state;
	OK(cudaMemGetInfo(&before, &total));
	assert_true(total == 34554432);
	OK(cudaMalloc(&p, 600000));
	assert_int_equal(cudaMalloc(&q, 600000), cudaErrorMemoryAllocation);
	assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
	OK(cudaMemGetInfo(&left, &total));
	assert_true(left == before - 600000);
	assert_true(emuCounter("device_bytes_peak") >= 600000);
	OK(cudaFreeAsync(p, NULL));
	OK(cudaMalloc(&q, 600000)); /* the stream-ordered free counts */
	OK(cudaFree(q));
	OK(cudaMemGetInfo(&left, &total));
	assert_true(left == before);
	OK(cudaMalloc(&p, 0));
	assert_null(p);
	OK(cudaFree(NULL));
}

/* Freed twice, freed in the middle, freed by the wrong call. */
static void
bad_frees(void **state)
{
	char *p = test_device(64), *pinned;
	int host;

	(void)state;
	OK(cudaHostAlloc((void **)&pinned, 64, cudaHostAllocDefault));
	assert_int_equal(cudaFree(p + 1), cudaErrorInvalidValue);
	assert_int_equal(cudaFree(pinned), cudaErrorInvalidValue);
	assert_int_equal(cudaFreeHost(p), cudaErrorInvalidValue);
	assert_int_equal(cudaFree(&host), cudaErrorInvalidValue);
	OK(cudaFree(p));
	assert_int_equal(cudaFree(p), cudaErrorInvalidValue);
	OK(cudaFreeHost(pinned));
	cudaGetLastError();
}

/* Freed for the program at the call, for the stream when it gets there. */
static void
stream_ordered(void **state)
{
	float x = 3, back = 0, *p, *q = test_device(4);
	struct test_gate gate;
	cudaStream_t stream;

	(void)state;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMallocAsync((void **)&p, 4, stream));
	test_gate_close(&gate, stream);
	OK(cudaMemcpyAsync(p, &x, 4, cudaMemcpyHostToDevice, stream));
	OK(cudaMemcpyAsync(q, p, 4, cudaMemcpyDeviceToDevice, stream));
	OK(cudaFreeAsync(p, stream));
	BAD(cudaMemset(p, 0, 4));
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy(&back, q, 4, cudaMemcpyDeviceToHost));
	assert_true(back == 3);
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(q));
	cudaGetLastError();
}

/* So are matrices that an array names, of which only the work knows. */
static void
stream_ordered_array(void **state)
{
	float *p, *c = test_device(16);
	cudaStream_t stream;
	const float **A;
	float **C = test_upload(&c, sizeof c);

	(void)state;
	OK(cublasDestroy(handle)); /* an earlier reset ended its context */
	OK(cublasCreate(&handle));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cublasSetStream(handle, stream));
	OK(cudaMallocAsync((void **)&p, 16, stream));
	OK(cudaStreamSynchronize(stream));
	A = test_upload(&p, sizeof p);
	OK(cudaMemsetAsync(p, 0, 16, stream));
	OK(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one,
	    A, 2, A, 2, &zero, C, 2, 1));
	OK(cudaFreeAsync(p, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cublasSetStream(handle, NULL));
	OK(cudaStreamDestroy(stream));
	OK(cudaFree(A));
	OK(cudaFree(C));
	OK(cudaFree(c));
}

/* Pinned, registered and managed memory: the device may touch it. */
static void
host_memory(void **state)
{
	static float registered[4] = { 1, 1, 1, 1 };
	struct cudaPointerAttributes a;
	float *pinned, *managed;
	void *alias;

	(void)state;
	OK(cudaMallocHost((void **)&pinned, 16));
	OK(cudaMallocManaged((void **)&managed, 16, cudaMemAttachGlobal));
	OK(cudaHostRegister(registered, 16, 0));
	assert_int_equal(cudaHostRegister(registered, 8, 0),
	    cudaErrorHostMemoryAlreadyRegistered);
	for (int i = 0; i < 4; i++)
		pinned[i] = managed[i] = 1;
	OK(cublasSaxpy(handle, 4, &one, registered, 1, pinned, 1));
	OK(cublasSaxpy(handle, 4, &one, pinned, 1, managed, 1));
	OK(cudaDeviceSynchronize());
	assert_true(managed[3] == 3);
	OK(cudaPointerGetAttributes(&a, pinned + 1));
	assert_int_equal(a.type, cudaMemoryTypeHost);
	OK(cudaPointerGetAttributes(&a, managed));
	assert_int_equal(a.type, cudaMemoryTypeManaged);
	OK(cudaPointerGetAttributes(&a, &a));
	assert_int_equal(a.type, cudaMemoryTypeUnregistered);
	OK(cudaHostGetDevicePointer(&alias, registered, 0));
	assert_ptr_equal(alias, registered);
	OK(cudaHostUnregister(registered));
	assert_int_equal(cudaHostUnregister(registered),
	    cudaErrorHostMemoryNotRegistered);
	OK(cudaFreeHost(pinned));
	OK(cudaFree(managed));
	cudaGetLastError();
}

/* The library may overwrite the program's workspace, and checks it. */
static void
workspace(void **state)
{
	char *w = test_device(4096), first;
	float *x = test_upload(&one, 4);

	(void)state;
	OK(cudaMemset(w, 0, 4096));
	assert_int_equal(cublasSetWorkspace(handle, w + 8, 64),
	    CUBLAS_STATUS_INVALID_VALUE);
	assert_int_equal(cublasSetWorkspace(handle, w, 8192),
	    CUBLAS_STATUS_INVALID_VALUE);
	OK(cublasSetWorkspace(handle, w, 4096));
	OK(cublasSscal(handle, 1, &one, x, 1));
	OK(cudaMemcpy(&first, w, 1, cudaMemcpyDeviceToHost));
	assert_true(first != 0);
	OK(cudaMemset(w, 0, 4096));
	OK(cublasSetStream(handle, NULL)); /* gives the workspace up */
	OK(cublasSscal(handle, 1, &one, x, 1));
	OK(cudaMemcpy(&first, w, 1, cudaMemcpyDeviceToHost));
	assert_true(first == 0);
	OK(cudaFree(w));
	OK(cudaFree(x));
}

/* A reset drops everything of the context; the next call makes a new one. */
static void
reset(void **state)
{
	float *p = test_device(64);
	cudaStream_t stream;
	cudaEvent_t event;

	(void)state;
	OK(cudaStreamCreate(&stream));
	OK(cudaEventCreate(&event));
	OK(cudaMemsetAsync(p, 0, 64, stream));
	OK(cudaDeviceReset());
	assert_int_equal(emuCounter("device_bytes"), 0);
	BAD(cudaMemset(p, 0, 4));
	assert_int_equal(cudaStreamQuery(stream),
	    cudaErrorInvalidResourceHandle);
	assert_int_equal(cudaEventRecord(event, NULL),
	    cudaErrorInvalidResourceHandle);
	OK(cudaFree(test_device(4)));
	cudaGetLastError();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products),
		cmocka_unit_test(batches),
		cmocka_unit_test(vectors),
		cmocka_unit_test(copies),
		cmocka_unit_test(two_dimensions),
		cmocka_unit_test(pitches),
		cmocka_unit_test(sizes),
		cmocka_unit_test(bad_frees),
		cmocka_unit_test(stream_ordered),
		cmocka_unit_test(stream_ordered_array),
		cmocka_unit_test(host_memory),
		cmocka_unit_test(workspace),
		cmocka_unit_test(reset),
#if !TEST_WITH_TSAN /* TSan sees such accesses itself */
		cmocka_unit_test(bad_array),
#endif
	};
	int failed;

	/* 1 MB on top of the 32 MiB of a handle. */
	setenv("AUTOCAST_EMU_MEMORY", "34554432", 1);
	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cublasCreate(&handle))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cublasDestroy(handle);
	return failed;
}
