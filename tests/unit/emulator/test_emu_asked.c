/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_asked.c -- driver calls that programs of others
 * make and that the product does not: what devices, kernels and pointers are,
 * arguments in one buffer, rows of memory, files and the linker. */
#include "test_emu.h"

#include <cuda.h>

/* Of cudaProfiler.h, which not every set of headers has. */
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry mix(.param .u32 a, .param .align 4 .b8 b[4],\n"
    " .param .u8 c, .param .u64 .ptr .global .align 16 to)\n"
    "{ .reg .b32 %r<5>; .reg .b64 %d<3>;\n"
    " ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; ld.param.u8 %r3, [c];\n"
    " ld.param.u64 %d1, [to]; add.u32 %r4, %r1, %r2; add.u32 %r4, %r4, %r3;\n"
    " st.global.u32 [%d1], %r4; ret; }\n"
    ".visible .entry still() { ret; }\n";

static int
start(void **state)
{
	(void)state;
	OK(cudaFree(NULL));
	return 0;
}

static void
devices(void **state)
{
	CUresult (*capability)(int *, int *, CUdevice);
	CUresult (*detach)(CUcontext);
	CUuuid first, second;
	CUcontext context;
	void *found;
	CUdevice device = 7;
	unsigned version;
	int value = 5, minor;
	char id[16];

	(void)state;
	OK(cuDeviceGetUuid(&first, 0));
	OK(cuDeviceGetUuid(&second, 1));
	assert_memory_not_equal(&first, &second, sizeof first);
	OK(cuDeviceGetPCIBusId(id, sizeof id, 1));
	assert_string_equal(id, "0000:02:00.0");
	OK(cuDeviceGetByPCIBusId(&device, id));
	assert_int_equal(device, 1);
	OK(cuDeviceGetByPCIBusId(&device, "01:00.0"));
	assert_int_equal(device, 0);
	assert_int_equal(cuDeviceGetByPCIBusId(&device, "0000:09:00.0"),
	    CUDA_ERROR_INVALID_DEVICE);
	assert_int_equal(cuDeviceGetByPCIBusId(&device, "first"),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuDeviceGetP2PAttribute(&value,
	    CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
	assert_int_equal(value, 1);
	assert_int_equal(cuDeviceGetP2PAttribute(&value,
	    CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 1),
	    CUDA_ERROR_INVALID_DEVICE);
	OK(cuDeviceGetAttribute(&value,
	    CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 0));
	OK(cuDeviceGetAttribute(&minor,
	    CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 1));
	assert_true(value == 32 && minor == 16);
	OK(cuGetProcAddress("cuDeviceComputeCapability", &found, 12000, 0,
	    NULL));
	memcpy(&capability, &found, sizeof found);
	OK(capability(&value, &minor, 1));
	assert_true(value == 7 && minor == 5);
	OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
	assert_int_equal(cuDevicePrimaryCtxSetFlags(0, 1u << 30),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxGetApiVersion(NULL, &version));
	assert_int_equal(version, 3020);
	OK(cuCtxCreate(&context, NULL, 0, 0));
	/* Old, but asked for. */
	OK(cuGetProcAddress("cuCtxDetach", &found, 12000, 0, NULL));
	memcpy(&detach, &found, sizeof found);
	OK(detach(context));
	assert_int_equal(detach(context), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuProfilerStart());
	OK(cuProfilerStop());
}

static void
limits(void **state)
{
	CUfunc_cache config;
	size_t value;

	(void)state;
	OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
	assert_int_equal(value, 1024);
	OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
	assert_int_equal(cuCtxGetLimit(&value, CU_LIMIT_MAX),
	    CUDA_ERROR_UNSUPPORTED_LIMIT);
	assert_int_equal(cuCtxSetLimit(CU_LIMIT_MAX, 1),
	    CUDA_ERROR_UNSUPPORTED_LIMIT);
	OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
	OK(cuCtxGetCacheConfig(&config));
}

/* Each context has the whole device. */
static void
shares(void **state)
{
	CUexecAffinityParam affinity;
	CUcontext context;
	int count;

	(void)state;
	OK(cuCtxGetCurrent(&context));
	OK(cuDeviceGetAttribute(&count,
	    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	assert_int_equal(cuCtxGetExecAffinity(&affinity,
	    CU_EXEC_AFFINITY_TYPE_SM_COUNT),
	    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
#if CUDA_VERSION >= 12040
	CUdevResource resource;

	OK(cuCtxGetDevResource(context, &resource, CU_DEV_RESOURCE_TYPE_SM));
	assert_int_equal(resource.sm.smCount, count);
	assert_int_equal(cuCtxGetDevResource(context, &resource,
	    CU_DEV_RESOURCE_TYPE_INVALID), CUDA_ERROR_INVALID_RESOURCE_TYPE);
#endif
}

/* What is not built is found, as by dlsym(), and answers as a stub does. */
static void
entry_points(void **state)
{
	CUresult (*first)(const char *, void **, int, cuuint64_t);
	enum cudaDriverEntryPointQueryResult result;
	CUresult (*stub)(void);
	void *found;

	(void)state;
	OK(cuGetProcAddress("cuMemCreate", &found, 12000, 0, NULL));
	memcpy(&stub, &found, sizeof found);
	assert_int_equal(stub(), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(cuGetProcAddress("cuMemCreates", &found, 12000, 0,
	    NULL), CUDA_ERROR_NOT_FOUND);
	assert_null(found);
	/* The form of CUDA 11 has no result. */
	OK(cuGetProcAddress("cuGetProcAddress", &found, 11030, 0, NULL));
	memcpy(&first, &found, sizeof found);
	OK(first("cuInit", &found, 11030, 0));
	assert_non_null(found);
	OK(cudaGetDriverEntryPointByVersion("cuInit", &found, 12000, 0, NULL));
	assert_non_null(found);
	OK(cudaGetDriverEntryPointByVersion("cuInits", &found, 12000, 0,
	    &result));
	assert_int_equal(result, cudaDriverEntryPointSymbolNotFound);
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	OK(cudaGetDriverEntryPoint("cuInit", &found, 0, &result));
	assert_int_equal(result, cudaDriverEntryPointSuccess);
}

static void
kernels(void **state)
{
	CUresult (*shape)(CUfunction, int, int, int);
	size_t offset, size;
	CUfunction function;
	CUkernel kernel[4];
	CUlibrary library;
	int grid, block, value;
	void *found;
	const char *name;
	CUmodule module;
	unsigned count;

	(void)state;
	OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernelCount(&count, library));
	assert_int_equal(count, 2);
	memset(kernel, 0, sizeof kernel);
	OK(cuLibraryEnumerateKernels(kernel, 4, library));
	assert_true(kernel[1] && !kernel[2]);
	OK(cuLibraryGetModule(&module, library));
	OK(cuModuleGetFunction(&function, module, "mix"));
	OK(cuFuncGetName(&name, function));
	assert_string_equal(name, "mix");
	OK(cuLibraryGetKernel(&kernel[0], library, "still"));
	OK(cuKernelGetName(&name, kernel[0]));
	assert_string_equal(name, "still");
	/* The second .align is that of the memory, not of the pointer. */
	OK(cuFuncGetParamInfo(function, 3, &offset, &size));
	assert_true(offset == 16 && size == 8);
	OK(cuKernelGetParamInfo((CUkernel)function, 2, &offset, NULL));
	assert_int_equal(offset, 8);
	assert_int_equal(cuFuncGetParamInfo(function, 4, &offset, &size),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	    65536, kernel[0], 0));
	OK(cuKernelGetAttribute(&value,
	    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel[0], 0));
	assert_int_equal(value, 65536);
	OK(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_L1));
	OK(cuGetProcAddress("cuFuncSetBlockShape", &found, 12000, 0, NULL));
	memcpy(&shape, &found, sizeof found);
	OK(shape(function, 4, 1, 1));
	assert_int_equal(shape(function, 4, 0, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0,
	    0));
	assert_true(block == 1024 && grid == 2 * 132);
	OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function,
	    NULL, 0, 96, 0));
	/* 32 of them are 2048 threads, 21 of 96 are 2016. */
	assert_int_equal(block, 64);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value,
	    function, 1024, 0, 0));
	assert_int_equal(value, 2);
	OK(cuLibraryUnload(library));
}

/* Arguments in one buffer, as the text lays them out. */
static void
buffers(void **state)
{
	struct { unsigned a, b; unsigned char c; CUdeviceptr to; } all = {
		1, 20, 44, 0 };
	size_t bytes = sizeof all, few = sizeof all - 1;
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, &all,
		CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END };
	CUfunction function, still;
	CUmoduleLoadingMode mode;
	unsigned back = 0;
	CUmodule module;

	(void)state;
	OK(cuMemAlloc(&all.to, 4));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetLoadingMode(&mode));
	OK(cuModuleGetFunction(&function, module, "mix"));
	OK(cuModuleGetFunction(&still, module, "still"));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
	OK(cuLaunchKernel(still, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
	OK(cuMemcpyDtoH(&back, all.to, 4));
	assert_int_equal(back, 65);
	extra[3] = &few;
	assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL,
	    NULL, extra), CUDA_ERROR_INVALID_VALUE);
	extra[2] = &few;
	assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL,
	    NULL, extra), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL,
	    extra, extra), CUDA_ERROR_INVALID_VALUE);
	OK(cuModuleUnload(module));
	OK(cuMemFree(all.to));
}

static void
rows(void **state)
{
	unsigned char back[2][3][4];
	CUDA_MEMCPY2D flat = { .dstMemoryType = CU_MEMORYTYPE_HOST,
		.dstHost = back, .srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcXInBytes = 4, .srcY = 1, .WidthInBytes = 4, .Height = 3 };
	CUDA_MEMCPY3D deep = { .dstMemoryType = CU_MEMORYTYPE_HOST,
		.dstHost = back, .dstHeight = 3,
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcHeight = 3,
		.WidthInBytes = 4, .Height = 3, .Depth = 2 };
	CUdeviceptr at;
	size_t pitch;

	(void)state;
	OK(cuMemAllocPitch(&at, &pitch, 8, 6, 4));
	assert_true(pitch >= 8 && pitch % 512 == 0);
	assert_int_equal(cuMemAllocPitch(&at, &pitch, 8, 6, 3),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuMemsetD2D8(at, pitch, 1, 8, 6));
	OK(cuMemsetD2D16(at + pitch, pitch, 0x0203, 4, 1));
	OK(cuMemsetD2D32(at + 2 * pitch + 4, pitch, 0x04050607, 1, 2));
	flat.srcDevice = at;
	flat.srcPitch = pitch;
	memset(back, 0, sizeof back);
	OK(cuMemcpy2D(&flat));
	assert_memory_equal(back[0], ((unsigned char[]){ 3, 2, 3, 2, 7, 6, 5,
	    4, 7, 6, 5, 4 }), 12);
	assert_int_equal(back[1][0][0], 0);
	deep.srcDevice = at;
	deep.srcPitch = pitch;
	OK(cuMemcpy3D(&deep));
	assert_memory_equal(back[0][1], ((unsigned char[]){ 3, 2, 3, 2 }), 4);
	assert_memory_equal(back[1], ((unsigned char[12]){ 1, 1, 1, 1, 1, 1, 1,
	    1, 1, 1, 1, 1 }), 12);
	flat.srcMemoryType = CU_MEMORYTYPE_ARRAY;
	assert_int_equal(cuMemcpy2DUnaligned(&flat),
	    CUDA_ERROR_NOT_SUPPORTED);
	OK(cuMemsetD16(at, 9, 2));
	OK(cuMemsetD16Async(at + 4, 8, 2, NULL));
	OK(cuMemsetD2D8Async(at + pitch, pitch, 7, 4, 1, NULL));
	OK(cuMemsetD2D16Async(at + pitch, pitch, 6, 1, 1, NULL));
	OK(cuMemsetD2D32Async(at + 2 * pitch, pitch, 5, 1, 1, NULL));
	flat.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	flat.srcXInBytes = flat.srcY = 0;
	OK(cuMemcpy2DAsync(&flat, NULL));
	OK(cuMemcpy3DAsync(&deep, NULL));
	OK(cuCtxSynchronize());
	assert_memory_equal(back[0], ((unsigned char[]){ 9, 0, 9, 0, 6, 0, 7,
	    7, 5, 0, 0, 0 }), 12);
	OK(cuMemFree(at));
}

static void
pointers(void **state)
{
	CUpointer_attribute asked[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
		CU_POINTER_ATTRIBUTE_RANGE_SIZE,
		CU_POINTER_ATTRIBUTE_HOST_POINTER,
		CU_POINTER_ATTRIBUTE_MAPPED };
	const CUmemLocation here = { .type = CU_MEM_LOCATION_TYPE_DEVICE };
	CUmemoryPool pool, again;
	CUdeviceptr at, managed;
	unsigned type = 9;
	size_t bytes = 9;
	void *host = &host;
	char mapped = 0;
	void *data[] = { &type, &bytes, &host, &mapped };
	cuuint64_t kept = 9;

	(void)state;
	OK(cuMemAlloc(&at, 100));
	OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
	OK(cuPointerGetAttributes(4, asked, data, at));
	assert_true(type == CU_MEMORYTYPE_DEVICE && bytes == 100 && !host &&
	    mapped);
	OK(cuPointerGetAttributes(4, asked, data,
	    (CUdeviceptr)(uintptr_t)&type));
	assert_true(!type && !bytes && !host && !mapped);
	OK(cuMemPrefetchAsync(managed, 64, here, 0, NULL));
	OK(cuMemAdvise(managed, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
	assert_int_equal(cuMemPrefetchAsync(managed, 65, here, 0, NULL),
	    CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuMemAdvise(at, 4, CU_MEM_ADVISE_SET_READ_MOSTLY,
	    here), CUDA_ERROR_INVALID_VALUE);
	OK(cuDeviceGetMemPool(&pool, 0));
	OK(cuDeviceSetMemPool(0, pool));
	assert_int_equal(cuDeviceSetMemPool(1, pool),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuDeviceGetDefaultMemPool(&again, 0));
	assert_ptr_equal(pool, again);
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
	    &kept));
	assert_int_equal(kept, 0);
	OK(cuMemFree(managed));
	OK(cuMemFree(at));
	/* As a GPU, whose large memory begins at a page. */
	OK(cuMemAlloc(&at, 1 << 20));
	assert_int_equal(at % 4096, 0);
	OK(cuMemFree(at));
}

static void
links(void **state)
{
	char *text = strdup(ptx);
	CUfunction function;
	CUlinkState link;
	CUmodule module;
	void *cubin;
	size_t bytes;

	(void)state;
	OK(cuLinkCreate(0, NULL, NULL, &link));
	assert_int_equal(cuLinkComplete(link, &cubin, &bytes),
	    CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, text, 4, "x",
	    0, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, text, sizeof ptx, "x", 0,
	    NULL, NULL));
	assert_int_equal(cuLinkAddData(link, CU_JIT_INPUT_PTX, text,
	    sizeof ptx, "y", 0, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
	free(text);
	OK(cuLinkComplete(link, &cubin, &bytes));
	OK(cuModuleLoadData(&module, cubin));
	OK(cuLinkDestroy(link));
	OK(cuModuleGetFunction(&function, module, "mix"));
	OK(cuModuleUnload(module));
}

static void
files(void **state)
{
	char path[] = "/tmp/test_emu_asked.XXXXXX";
	const int file = mkstemp(path);
	CUfunction function;
	CUlibrary library;
	CUkernel kernel;
	CUmodule module;

	(void)state;
	assert_true(file >= 0);
	assert_int_equal(write(file, ptx, sizeof ptx - 1), sizeof ptx - 1);
	close(file);
	OK(cuModuleLoad(&module, path));
	OK(cuModuleGetFunction(&function, module, "mix"));
	OK(cuModuleUnload(module));
	OK(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL,
	    0));
	OK(cuLibraryGetKernel(&kernel, library, "still"));
	OK(cuLibraryUnload(library));
	unlink(path);
	assert_int_equal(cuModuleLoad(&module, path),
	    CUDA_ERROR_FILE_NOT_FOUND);
}

static void
events(void **state)
{
	CUevent event;

	(void)state;
	OK(cuEventCreate(&event, 0));
	OK(cuEventRecordWithFlags(event, NULL, CU_EVENT_RECORD_DEFAULT));
	OK(cuEventSynchronize(event));
	assert_int_equal(cuEventRecordWithFlags(event, NULL, 8),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuEventDestroy(event));
}

/* assert() in a kernel ends its context, with a status of its own. */
static void
asserts(void **state)
{
	static const char code[] = ".version 7.0\n.target sm_70\n"
	    ".address_size 64\n.extern .func __assertfail(.param .b64 a, "
	    ".param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
	    ".global .align 1 .b8 text[6] = {120, 32, 62, 32, 48, 0};\n"
	    ".visible .entry sure() { .reg .b64 %d<3>;\n"
	    " mov.u64 %d1, text; cvta.global.u64 %d2, %d1;\n"
	    " { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3;"
	    " .param .b64 p4; st.param.b64 [p0], %d2; st.param.b64 [p1], %d2;"
	    " st.param.b32 [p2], 7; st.param.b64 [p3], %d2;"
	    " st.param.b64 [p4], 1;\n"
	    " call.uni __assertfail, (p0, p1, p2, p3, p4); } ret; }\n";
	const uint64_t before = emuCounter("complaints");
	CUfunction function;
	CUcontext context;
	CUmodule module;

	(void)state;
	OK(cuCtxCreate(&context, NULL, 0, 0));
	OK(cuModuleLoadData(&module, code));
	OK(cuModuleGetFunction(&function, module, "sure"));
	OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ASSERT);
	assert_int_equal(emuCounter("complaints"), before + 1);
	cuCtxDestroy(context);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices),
		cmocka_unit_test(limits), cmocka_unit_test(shares),
		cmocka_unit_test(entry_points),
		cmocka_unit_test(kernels),
		cmocka_unit_test(buffers),
		cmocka_unit_test(rows),
		cmocka_unit_test(pointers),
		cmocka_unit_test(links),
		cmocka_unit_test(files),
		cmocka_unit_test(events),
		cmocka_unit_test(asserts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	setenv("AUTOCAST_EMU_MODEL", "h200,t4", 1);
	return cmocka_run_group_tests(tests, start, NULL);
}
