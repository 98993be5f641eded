/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_pool.c -- whose the bytes of the emulated device
 * are: memory pools with their limits, what handles of cuBLAS take, what
 * fresh memory holds, kernels that find none. */
#include "test_emu.h"

#include <cuda.h>

enum { MIB = 1 << 20, ALL = 64 * MIB, HANDLE = 32 * MIB };

static CUmemoryPool pool;

static size_t
left(void)
{
	size_t bytes, total;

	OK(cuMemGetInfo(&bytes, &total));
	return bytes;
}

static uint64_t
get(CUmemPool_attribute attribute)
{
	cuuint64_t value;

	OK(cuMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

#define IS(attribute, value) \
	assert_int_equal(get(CU_MEMPOOL_ATTR_##attribute), value)

static CUresult
set(CUmemPool_attribute attribute, cuuint64_t value)
{
	return cuMemPoolSetAttribute(pool, attribute, &value);
}

static void
make(size_t most)
{
	const CUmemPoolProps properties = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE },
		.maxSize = most
	};

	OK(cuMemPoolCreate(&pool, &properties));
}

/* What was freed stays with the pool until somebody waits; then it keeps no
 * more than its threshold, which the next allocation takes first. */
static void
release_threshold(void **state)
{
	const size_t before = left();
	CUdeviceptr a, b;

	(void)state;
	make(0);
	IS(RELEASE_THRESHOLD, 0);
	OK(cuMemAllocFromPoolAsync(&a, 3 * MIB, pool, NULL));
	IS(USED_MEM_CURRENT, 3 * MIB);
	IS(RESERVED_MEM_CURRENT, 3 * MIB);
	OK(cuMemFreeAsync(a, NULL));
	OK(cuMemFreeAsync(0, NULL));
	OK(cuStreamSynchronize(NULL));
	IS(USED_MEM_CURRENT, 0);
	IS(RESERVED_MEM_CURRENT, 0);
	assert_int_equal(left(), before);
	OK(set(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 2 * MIB));
	OK(cuMemAllocFromPoolAsync(&a, 3 * MIB, pool, NULL));
	OK(cuMemFreeAsync(a, NULL));
	OK(cuCtxSynchronize());
	IS(RESERVED_MEM_CURRENT, 2 * MIB);
	assert_int_equal(left(), before - 2 * MIB);
	OK(cuMemAllocFromPoolAsync(&b, MIB, pool, NULL));
	IS(USED_MEM_CURRENT, MIB);
	IS(RESERVED_MEM_CURRENT, 2 * MIB);
	OK(cuMemPoolTrimTo(pool, 3 * MIB / 2));
	IS(RESERVED_MEM_CURRENT, 3 * MIB / 2);
	OK(cuMemPoolTrimTo(pool, 0));
	IS(RESERVED_MEM_CURRENT, MIB);
	IS(USED_MEM_HIGH, 3 * MIB);
	IS(RESERVED_MEM_HIGH, 3 * MIB);
	assert_int_equal(set(CU_MEMPOOL_ATTR_USED_MEM_HIGH, 1),
	    CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(set(CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 0),
	    CUDA_ERROR_INVALID_VALUE);
	OK(set(CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0));
	OK(set(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0));
	IS(USED_MEM_HIGH, MIB);
	IS(RESERVED_MEM_HIGH, MIB);
	OK(cuMemPoolDestroy(pool)); /* what is left of it stays valid */
	OK(cuMemsetD8(b, 0, MIB));
	OK(cuMemFreeAsync(b, NULL));
	OK(cuCtxSynchronize());
	assert_int_equal(left(), before);
}

/* A limit of its own; a device whose rest a pool keeps. */
static void
limits(void **state)
{
	const size_t before = left();
	CUdeviceptr a, b;

	(void)state;
	make(2 * MIB);
	OK(set(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, ALL));
	OK(cuMemAllocFromPoolAsync(&a, MIB + 1, pool, NULL));
	assert_int_equal(cuMemAllocFromPoolAsync(&b, MIB, pool, NULL),
	    CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemFreeAsync(a, NULL));
	OK(cuStreamSynchronize(NULL));
	assert_int_equal(left(), before - MIB - 1);
	OK(cuMemAllocFromPoolAsync(&b, 2 * MIB, pool, NULL));
	IS(RESERVED_MEM_CURRENT, 2 * MIB);
	OK(cuMemFreeAsync(b, NULL));
	OK(cuMemAlloc(&a, before)); /* all there is: the pool gives it up */
	IS(RESERVED_MEM_CURRENT, 0);
	assert_int_equal(cuMemAllocFromPoolAsync(&b, 1, pool, NULL),
	    CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemFree(a));
	OK(cuMemPoolDestroy(pool));
}

/* The runtime's calls are about the same pool. */
static void
runtime(void **state)
{
	uint64_t value = 5 * MIB, now;
	int flag = 0;
	void *p;

	(void)state;
	OK(cudaDeviceGetDefaultMemPool(&pool, 0));
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
	    &value));
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic,
	    &flag));
	assert_int_equal(flag, 1);
	OK(cudaMallocAsync(&p, 4 * MIB, NULL));
	OK(cudaFreeAsync(p, NULL));
	OK(cudaDeviceSynchronize());
	OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent,
	    &now));
	assert_int_equal(now, 4 * MIB);
	IS(RESERVED_MEM_CURRENT, 4 * MIB);
	OK(cudaMemPoolTrimTo(pool, MIB));
	IS(RESERVED_MEM_CURRENT, MIB);
	value = 0;
	OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
	    &value));
	OK(cudaDeviceSynchronize());
	IS(RESERVED_MEM_CURRENT, 0);
}

/* A handle takes what the manual says of an H200, and gives it back, with a
 * reset of the device too. */
static void
handles(void **state)
{
	cublasHandle_t handle, second;
	const size_t before = left();
	void *p;

	(void)state;
	OK(cublasCreate(&handle));
	assert_int_equal(left(), before - HANDLE);
	OK(cudaMalloc(&p, MIB));
	assert_int_equal(cublasCreate(&second), CUBLAS_STATUS_ALLOC_FAILED);
	OK(cudaFree(p));
	OK(cublasCreate(&second));
	OK(cublasDestroy(handle));
	assert_int_equal(left(), before - HANDLE);
	OK(cudaDeviceReset());
	OK(cudaFree(NULL));
	assert_int_equal(left(), before);
	OK(cublasDestroy(second)); /* its context is gone */
	assert_int_equal(left(), before);
}

/* Nobody may count on zeros. */
static void
fresh_memory(void **state)
{
	unsigned char *p[2];

	(void)state;
	OK(cudaMalloc((void **)&p[0], MIB));
	OK(cudaMallocAsync((void **)&p[1], MIB, NULL));
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 2; i++)
		assert_true(p[i][0] == 0xff && p[i][MIB - 1] == 0xff);
	OK(cudaFree(p[0]));
	OK(cudaFree(p[1]));
}

/* A kernel is loaded when it is first launched, in each context, and may lack
 * memory then: that launch fails, the next one loads. */
static int
lazy(void)
{
	static const char ptx[] = ".version 6.0\n.target sm_70\n"
	    ".address_size 64\n.visible .entry a()\n{ ret; }\n"
	    ".visible .entry b()\n{ ret; }\n";
	CUfunction a, b;
	CUmodule module;

#define LAUNCH(f) cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&a, module, "a"));
	OK(cuModuleGetFunction(&b, module, "b"));
	assert_int_equal(emuCounter("functionLoad"), 0);
	OK(LAUNCH(a));
	OK(LAUNCH(a));
	assert_int_equal(emuCounter("functionLoad"), 1);
	assert_int_equal(LAUNCH(b), CUDA_ERROR_OUT_OF_MEMORY);
	OK(LAUNCH(b));
	assert_int_equal(emuCounter("functionLoad"), 3);
	OK(cuCtxSynchronize());
	return 0;
}

static void
loads(void **state)
{
	static char text[4096];

	(void)state;
	assert_int_equal(test_again("lazy", "AUTOCAST_EMU_FAIL",
	    "functionLoad:2", text, sizeof text), 0);
}

/* The manual has no status about contexts for what pools are asked: Taichi sets
 * a threshold before it has one. */
static void
without_context(void **state)
{
	CUcontext context;

	(void)state;
	OK(cuCtxGetCurrent(&context));
	OK(cuCtxSetCurrent(NULL));
	OK(cuDeviceGetDefaultMemPool(&pool, 0));
	OK(set(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX));
	IS(RELEASE_THRESHOLD, UINT64_MAX);
	OK(set(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 0));
	make(0);
	OK(cuMemPoolTrimTo(pool, 0));
	OK(cuMemPoolDestroy(pool));
	OK(cuCtxSetCurrent(context));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(release_threshold),
		cmocka_unit_test(limits),
		cmocka_unit_test(runtime),
		cmocka_unit_test(handles),
		cmocka_unit_test(fresh_memory),
		cmocka_unit_test(loads),
		cmocka_unit_test(without_context),
	};

	setenv("AUTOCAST_EMU_MEMORY", "67108864", 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	OK(cudaFree(NULL));
	(void)argv;
	if (argc > 1)
		return lazy();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
