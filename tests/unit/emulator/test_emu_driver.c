/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_driver.c -- the driver calls of the emulated
 * GPU, as the product's launcher makes them: contexts, entry points, pools,
 * kernels from PTX, and every call of kernels/load/driver.def found. */
#include "test_emu.h"

#include <cuda.h>

static CUcontext context;

/* Before cuInit and without a context calls return errors. */
static void
first_steps(void **state)
{
	CUdevice device;
	CUstream stream;
	int count, version;

	(void)state;
	assert_int_equal(cuDeviceGetCount(&count),
	    CUDA_ERROR_NOT_INITIALIZED);
	OK(cuInit(0));
	OK(cuDriverGetVersion(&version));
	assert_int_equal(version, 13000);
	OK(cuDeviceGetCount(&count));
	assert_int_equal(count, 1);
	OK(cuDeviceGet(&device, 0));
	assert_int_equal(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
	OK(cuCtxGetCurrent(&context));
	assert_null(context);
	assert_int_equal(cuStreamCreate(&stream, 0),
	    CUDA_ERROR_INVALID_CONTEXT);
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamDestroy(stream));
}

/* The product looks its calls up by plain name and version. */
static void
entry_points(void **state)
{
	static const char *const names[] = {
#define DRIVER(name, version, need, params) #name,
#include "kernels/load/driver.def"
#undef DRIVER
	};
	CUdriverProcAddressQueryResult result;
	void *function;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		function = NULL;
		OK(cuGetProcAddress(names[i], &function, 13000, 0, &result));
		assert_non_null(function);
		assert_int_equal(result, CU_GET_PROC_ADDRESS_SUCCESS);
	}
	assert_int_equal(cuGetProcAddress("cuNoSuchCall", &function, 13000, 0,
	    &result), CUDA_ERROR_NOT_FOUND);
	assert_int_equal(result, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

/* A context that comes back after a reset has a new id. */
static void
contexts(void **state)
{
	unsigned long long before, after, complaints;
	CUcontext of_stream;
	CUdevice device = 5;

	(void)state;
	OK(cuCtxGetDevice(&device));
	assert_int_equal(device, 0);
	OK(cuCtxGetId(context, &before));
	OK(cuStreamGetCtx(NULL, &of_stream));
	assert_ptr_equal(of_stream, context);
	OK(cudaDeviceReset());
	/* It stays current, and every call about the current context reports
	 * that. */
	OK(cuCtxGetCurrent(&of_stream));
	assert_ptr_equal(of_stream, context);
	assert_int_equal(cuCtxGetDevice(&device),
	    CUDA_ERROR_CONTEXT_IS_DESTROYED);
	assert_int_equal(cuCtxGetId(NULL, &after),
	    CUDA_ERROR_CONTEXT_IS_DESTROYED);
	complaints = emuCounter("complaints");
	assert_int_equal(cuCtxGetId(context, &after),
	    CUDA_ERROR_CONTEXT_IS_DESTROYED);
	assert_int_equal(emuCounter("complaints"), complaints + 1);
	OK(cudaFree(NULL)); /* the runtime brings it back */
	OK(cuCtxGetId(context, &after));
	assert_true(after != before);
}

/* Pools, stream-ordered memory, fills, copies. */
static void
memory(void **state)
{
	const CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 }
	};
	unsigned words[4] = { 0 };
	size_t left, before, total, bytes;
	CUdeviceptr address, base;
	CUmemoryPool pool;

	(void)state;
	OK(cuMemGetInfo(&before, &total));
	OK(cuMemPoolCreate(&pool, &props));
	OK(cuMemAllocFromPoolAsync(&address, 16, pool, NULL));
	OK(cuMemsetD32Async(address, 0xabcd1234, 4, NULL));
	OK(cuMemcpyDtoH(words, address, 16));
	assert_int_equal(words[3], 0xabcd1234);
	assert_int_equal(cuMemsetD32Async(address, 0, 5, NULL),
	    CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(cuMemsetD32Async(address + 1, 0, 1, NULL),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuMemGetAddressRange(&base, &bytes, address + 5));
	assert_true(base == address && bytes == 16);
	OK(cuMemFreeAsync(address, NULL));
	assert_int_equal(cuMemFreeAsync(address, NULL),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamSynchronize(NULL));
	OK(cuMemGetInfo(&left, &total));
	assert_true(left == before);
	OK(cuMemPoolDestroy(pool));
	assert_int_equal(cuMemPoolCreate(&pool, NULL),
	    CUDA_ERROR_INVALID_VALUE);
}

/* Nothing is capturing; the thread's mode is remembered. */
static void
capture(void **state)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;

	(void)state;
	OK(cuStreamIsCapturing(NULL, &status));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

/* ---- kernels ----------------------------------------------------------- */

struct pair {
	float *to;
	double factor;
	float bytes[2];
};

static void
apply(const struct emu_twin_launch *launch, void **params)
{
	const struct pair *p = params[1];

	p->to[0] = (float)(*(int *)params[0] * p->factor) + p->bytes[1] +
	    (float)*(unsigned char *)params[2] + (float)launch->grid[1];
}

static const char ptx[] =
    "// a comment\n.version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry other()\n{ ret; }\n"
    ".visible .entry apply(\n\t.param .s32 apply_param_0,\n"
    "\t.param .align 8 .b8 apply_param_1[24],\n"
    "\t.param .u8 apply_param_2\n)\n.maxntid 256, 1, 1\n{\n\tret;\n}\n";

static void
kernels(void **state)
{
	static const size_t unused[3] = { 4, 24, 1 };
	static const char machine_code[64] = "\x7f" "ELF";
	struct pair pair = { test_device(4), 2.5, { 0, 100 } };
	unsigned char last = 3;
	int number = 2;
	void *params[] = { &number, &pair, &last };
	struct test_gate gate;
	CUlibrary library;
	CUfunction function;
	CUmodule module;
	CUstream stream;
	CUkernel kernel;
	float back;

	(void)state;
	assert_int_equal(cuLibraryLoadData(&library, machine_code, NULL,
	    NULL, 0, NULL, NULL, 0), CUDA_ERROR_NO_BINARY_FOR_GPU);
	OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	assert_int_equal(cuLibraryGetKernel(&kernel, library, "absent"),
	    CUDA_ERROR_NOT_FOUND);
	/* In spite of the text that was loaded: a twin is looked up at each
	 * launch. */
	emuTwinRegister("apply", apply, unused, 3);
	OK(cuLibraryGetKernel(&kernel, library, "apply"));
	OK(cuKernelGetFunction(&function, kernel));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	test_gate_close(&gate, stream);
	OK(cuLaunchKernel(function, 1, 7, 1, 256, 1, 1, 0, stream, params,
	    NULL));
	number = 50; /* arguments were copied at the launch */
	pair.factor = 9;
	last = 0;
	test_gate_open(&gate);
	OK(cuStreamSynchronize(stream));
	OK(cudaMemcpy(&back, pair.to, 4, cudaMemcpyDeviceToHost));
	assert_true(back == 5 + 100 + 3 + 7);
	assert_int_equal(cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL,
	    params, NULL), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0,
	    NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuModuleLoadData(&module, ptx)); /* the way before CUDA 12 */
	OK(cuModuleGetFunction(&function, module, "apply"));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	OK(cuModuleUnload(module));
	OK(cuCtxSynchronize());
	OK(cuLibraryUnload(library));
	assert_int_equal(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
	OK(cuStreamDestroy(stream));
	OK(cudaFree(pair.to));
}

static void
nothing(const struct emu_twin_launch *launch, void **params)
{
	(void)launch;
	(void)params;
}

static void
moving(const struct emu_twin_launch *launch, void **params)
{
	(void)launch;
	*(*(struct pair **)params[0])->to = 7;
	emuTwinMoved(100, 28, 0);
}

/* Rows have the parameters of the kernel's text, and say what they move. */
static void
brought_twins(void **state)
{
	static const char text[] = ".version 6.0\n.target sm_70\n"
	    ".address_size 64\n.visible .entry moving(.param .u64 p)\n"
	    "{ ret; }\n";
	static const struct emu_twin_row rows[] = {
		{ "moving", nothing, NULL, 1, 0 },
		{ "moving", moving, NULL, 1, 0 }
	};
	const uint64_t read = emuCounter("kernel_bytes_read"),
	    written = emuCounter("kernel_bytes_written");
	float *to = test_device(4), back;
	struct pair pair = { .to = to }, *at = &pair;
	void *params[] = { &at };
	CUfunction function;
	CUmodule module;

	(void)state;
	emuTwinsRegister(rows, 2);
	OK(cuModuleLoadData(&module, text));
	OK(cuModuleGetFunction(&function, module, "moving"));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	OK(cuCtxSynchronize());
	OK(cudaMemcpy(&back, to, 4, cudaMemcpyDeviceToHost));
	assert_true(back == 7);
	assert_int_equal(emuCounter("kernel_bytes_read") - read, 100);
	assert_int_equal(emuCounter("kernel_bytes_written") - written, 28);
	OK(cuModuleUnload(module));
	OK(cudaFree(to));
}

/* The status of launching `function` on a stream that captures. */
static CUresult
launch_in_capture(CUfunction function, CUstream stream)
{
	CUresult status;
	CUgraph graph;

	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	status = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL,
	    NULL);
	if (!cuStreamEndCapture(stream, &graph) && graph)
		OK(cuGraphDestroy(graph));
	return status;
}

/* A function that nobody loaded is loaded by its first launch in a context,
 * which a capture forbids. */
static void
lazy_loading(void **state)
{
	static const char code[] = ".version 6.0\n.target sm_70\n"
	    ".visible .entry by_launch()\n{ ret; }\n"
	    ".visible .entry by_load()\n{ ret; }\n"
	    ".visible .entry by_attribute()\n{ ret; }\n";
	static const char *const names[] = { "by_launch", "by_load",
		"by_attribute" };
	static const size_t none[1];
	CUcontext home, second;
	CUfunction function[3];
	CUlibrary library;
	CUstream stream;
	CUkernel kernel;
	int value;

	(void)state;
	OK(cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
	for (int i = 0; i < 3; i++) {
		emuTwinRegister(names[i], nothing, none, 0);
		OK(cuLibraryGetKernel(&kernel, library, names[i]));
		OK(cuKernelGetFunction(&function[i], kernel));
	}
	OK(cuCtxGetCurrent(&home));
	OK(cuCtxCreate(&second, NULL, 0, 0));
	for (int turn = 0; turn < 2; turn++) {
		OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
		for (int i = 0; i < 3; i++)
			assert_int_equal(launch_in_capture(function[i], stream),
			    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
		OK(cuLaunchKernel(function[0], 1, 1, 1, 1, 1, 1, 0, stream,
		    NULL, NULL));
		OK(cuFuncLoad(function[1]));
		OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS,
		    function[2]));
		for (int i = 0; i < 3; i++)
			OK(launch_in_capture(function[i], stream));
		OK(cuStreamDestroy(stream));
		OK(cuCtxSetCurrent(home));
	}
	OK(cuCtxDestroy(second));
	OK(cuLibraryUnload(library));
}

/* The product's own kernels: their PTX loads and each has a twin. */
static void
own_kernels(void **state)
{
	const char *top = getenv("top_srcdir");
	static char path[4096], code[1 << 20];
	CUlibrary library;
	CUkernel kernel;
	FILE *in;

	(void)state;
	snprintf(path, sizeof path, "%s/kernels/recast.ptx", top ? top : ".");
	in = fopen(path, "r");
	assert_non_null(in);
	assert_true(fread(code, 1, sizeof code - 1, in) > 0 && feof(in));
	fclose(in);
	OK(cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "ac_recast_ranges"));
	OK(cuLibraryGetKernel(&kernel, library, "ac_conv_check"));
	OK(cuLibraryUnload(library));
}

/* Copies and fills that wait, of every kind of memory. */
static void
moves(void **state)
{
	unsigned *managed, words[2] = { 0 };
	CUdeviceptr address[2], other;
	CUmemoryPool pool;
	size_t total, left;
	void *pinned;

	(void)state;
	OK(cuDeviceTotalMem(&total, 0));
	OK(cuMemGetInfo(&left, &total));
	assert_true(left <= total);
	OK(cuDeviceGetDefaultMemPool(&pool, 0));
	OK(cuMemPoolTrimTo(pool, 0));
	assert_int_equal(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAllocAsync(&address[0], 8, NULL));
	OK(cuMemAllocManaged(&address[1], 8, CU_MEM_ATTACH_GLOBAL));
	managed = (void *)(uintptr_t)address[1];
	OK(cuMemAllocHost(&pinned, 8));
	OK(cuMemsetD32(address[0], 0x01020304, 2));
	OK(cuMemsetD8Async(address[0] + 4, 9, 4, NULL));
	OK(cuMemcpyDtoD(address[1], address[0], 8));
	OK(cuCtxSynchronize());
	assert_true(managed[0] == 0x01020304 && managed[1] == 0x09090909);
	OK(cuMemsetD32(address[1], 5, 2));
	OK(cuMemcpyPeer(address[0], context, address[1], context, 8));
	OK(cuMemcpy((CUdeviceptr)(uintptr_t)pinned, address[0], 8));
	OK(cuCtxSynchronize());
	assert_int_equal(((unsigned *)pinned)[1], 5);
	other = (CUdeviceptr)(uintptr_t)words;
	OK(cuMemcpyAsync(other, address[0], 8, NULL));
	OK(cuStreamSynchronize(NULL));
	assert_int_equal(words[1], 5);
	OK(cuMemFreeHost(pinned));
	OK(cuMemFree(address[1]));
	OK(cuMemFreeAsync(address[0], NULL));
	OK(cuStreamSynchronize(NULL));
}

/* Peers, flags, priorities; a reset of the primary context. */
static void
facts(void **state)
{
	int least = 1, greatest = 1, active = 0, can = 1, priority;
	unsigned flags = 9;
	CUstream stream;

	(void)state;
	OK(cuDeviceCanAccessPeer(&can, 0, 0));
	assert_int_equal(can, 0);
	assert_int_equal(cuCtxEnablePeerAccess(context, 0),
	    CUDA_ERROR_INVALID_DEVICE);
	assert_int_equal(cuCtxEnablePeerAccess(NULL, 0),
	    CUDA_ERROR_INVALID_CONTEXT);
	assert_int_equal(cuCtxDisablePeerAccess(context),
	    CUDA_ERROR_INVALID_DEVICE);
	OK(cuCtxGetFlags(&flags));
	assert_int_equal(flags, 0);
	OK(cuCtxGetStreamPriorityRange(&least, &greatest));
	assert_true(least == 0 && greatest < 0);
	OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING,
	    greatest));
	OK(cuStreamGetPriority(stream, &priority));
	assert_int_equal(priority, greatest);
	OK(cuStreamGetFlags(stream, &flags));
	assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
	OK(cuStreamDestroy(stream));
	OK(cuDevicePrimaryCtxReset(0));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	assert_int_equal(active, 0);
	OK(cudaFree(NULL)); /* the runtime brings it back */
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	assert_int_equal(active, 1);
}

/* A graph's executables, made in each way; they cannot be updated. */
static void
graphs(void **state)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = { .flags = 0 };
	CUgraphExecUpdateResultInfo result;
	struct test_gate gate;
	CUgraphExec exec[3];
	CUdeviceptr address;
	unsigned word = 0;
	CUstream stream;
	CUgraph graph;
	size_t nodes;

	(void)state;
	OK(cuMemAlloc(&address, 4));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuMemsetD32Async(address, 7, 1, stream));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphGetNodes(graph, NULL, &nodes));
	assert_int_equal(nodes, 1);
	OK(cuGraphInstantiate(&exec[0], graph, 0));
	OK(cuGraphInstantiateWithFlags(&exec[1], graph, 0));
	OK(cuGraphInstantiateWithParams(&exec[2], graph, &params));
	assert_int_equal(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
	assert_int_equal(cuGraphInstantiateWithFlags(&exec[1], graph, 1u << 20),
	    CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphExecUpdate(exec[0], graph, &result));
	assert_int_equal(result.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
	for (int i = 0; i < 3; i++) {
		OK(cuMemsetD32(address, 0, 1));
		OK(cuCtxSynchronize());
		OK(cuGraphUpload(exec[i], stream));
		sem_init(&gate.opened, 0, 0);
		OK(cuLaunchHostFunc(stream, test_gate_run, &gate));
		OK(cuGraphLaunch(exec[i], stream));
		assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
		test_gate_open(&gate);
		OK(cuStreamSynchronize(stream));
		OK(cuStreamQuery(stream));
		OK(cuMemcpyDtoH(&word, address, 4));
		assert_int_equal(word, 7);
		OK(cuGraphExecDestroy(exec[i]));
	}
	assert_int_equal(cuGraphUpload(exec[0], stream),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroy(graph));
	OK(cuStreamDestroy(stream));
	OK(cuMemFree(address));
}

/* A status has one number and one text, in the driver and in the runtime. */
static void
errors(void **state)
{
	int count = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		const char *name, *text;

		if (cuGetErrorName((CUresult)i, &name))
			continue;
		assert_int_equal(strncmp(name, "CUDA_", 5), 0);
		assert_string_not_equal(cudaGetErrorName((cudaError_t)i), name);
		OK(cuGetErrorString((CUresult)i, &text));
		assert_string_equal(text, cudaGetErrorString((cudaError_t)i));
		count++;
	}
	assert_true(count > 30);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors),
		cmocka_unit_test(first_steps),
		cmocka_unit_test(entry_points),
		cmocka_unit_test(contexts),
		cmocka_unit_test(memory),
		cmocka_unit_test(moves),
		cmocka_unit_test(facts),
		cmocka_unit_test(graphs),
		cmocka_unit_test(capture),
		cmocka_unit_test(kernels),
		cmocka_unit_test(brought_twins),
		cmocka_unit_test(lazy_loading),
		cmocka_unit_test(own_kernels),
	};

	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
