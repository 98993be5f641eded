/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_lost.c -- contexts that a kernel has ended:
 * every later call answers the error, nothing more runs, until a reset. */
#include "test_emu.h"

#include <cuda.h>
#include <cublasLt.h>

#include <stdatomic.h>

#include "kernels/recast/recast_ranges.h"
#include "kernels/verified/verified.h"

static const char head[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry bad(.param .u64 p)\n{ .reg .u64 %a; .reg .u32 %v;\n"
    "ld.param.u64 %a, [p];\n";

static const struct fault {
	const char *name, *body;
	int status;
} faults[] = {
	{ "address", "st.global.u32 [%a+4096], 1;", 700 },
	{ "alignment", "st.global.u32 [%a+5], 1;", 716 },
	{ "trap", "trap;", 719 },
	{ "instruction", "wgmma.fence.sync.aligned;", 715 },
	{ "barrier", "mov.u32 %v, %tid.x; { .reg .pred %p; "
	    "setp.lt.u32 %p, %v, 32; @%p bra done; bar.sync 0, 96; done: }",
	    702 },
};

static float *x;

/* Queue the fault on `stream`, in the current context. */
static void
launch(const struct fault *fault, CUstream stream)
{
	void *params[] = { &x };
	CUfunction function;
	char text[1024];
	CUmodule module;

	snprintf(text, sizeof text, "%s%s ret; }\n", head, fault->body);
	OK(cuModuleLoadData(&module, text));
	OK(cuModuleGetFunction(&function, module, "bad"));
	OK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, params,
	    NULL));
}

static cublasStatus_t
scale(cublasHandle_t handle)
{
	const float two = 2;

	return cublasSscal(handle, 1, &two, x, 1);
}

#define LOST(call) assert_int_equal((call), status)

/* The driver's and the runtime's calls, on other streams too. */
static void
calls_answer(int status, cudaStream_t other, cudaEvent_t event)
{
	CUdeviceptr memory;
	CUstream stream;
	void *pointer;

	LOST(cuCtxSynchronize());
	LOST(cuMemAlloc(&memory, 16));
	LOST(cuMemFree((CUdeviceptr)(uintptr_t)x));
	LOST(cuStreamCreate(&stream, 0));
	LOST(cuStreamQuery(other));
	LOST(cuEventRecord(event, other));
	LOST(cuEventQuery(event));
	LOST(cudaMalloc(&pointer, 16));
	LOST(cudaMemset(x, 0, 4));
	LOST(cudaStreamSynchronize(other));
	LOST(cudaEventDestroy(event));
	LOST(cudaStreamDestroy(other));
	LOST(cudaFree(x));
	for (int i = 0; i < 3; i++) {
		LOST(cudaGetLastError());
		LOST(cudaPeekAtLastError());
	}
}

static void
one_fault(const struct fault *fault)
{
	const int status = fault->status;
	const float start[4] = { 1 };
	cublasHandle_t handle, second;
	cublasLtHandle_t lt;
	cudaStream_t other;
	cudaEvent_t event;

	x = test_upload(start, sizeof start);
	OK(cublasCreate(&handle));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaEventCreate(&event));
	OK(cublasSetStream(handle, other));
	OK(scale(handle));
	OK(cudaDeviceSynchronize());
	assert_true(*x == 2);
	launch(fault, NULL);
	assert_int_equal(cudaDeviceSynchronize(), status);
	calls_answer(status, other, event);
	assert_int_equal(scale(handle), CUBLAS_STATUS_EXECUTION_FAILED);
	assert_int_equal(cublasCreate(&second), CUBLAS_STATUS_NOT_INITIALIZED);
	assert_int_equal(cublasLtCreate(&lt), CUBLAS_STATUS_NOT_INITIALIZED);
	assert_int_equal(cublasDestroy(handle),
	    CUBLAS_STATUS_EXECUTION_FAILED);
	assert_int_equal(cublasDestroy(handle), CUBLAS_STATUS_NOT_INITIALIZED);
	assert_true(*x == 2);
	OK(cudaDeviceReset());
	OK(cudaDeviceSynchronize());
	OK(cudaGetLastError());
	x = test_device(sizeof *x);
	OK(cudaFree(x));
}

static void
each_fault(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		one_fault(&faults[i]);
}

static void
count_call(void *data)
{
	atomic_fetch_add((atomic_int *)data, 1);
}

static void
keep_status(cudaStream_t stream, cudaError_t status, void *data)
{
	(void)stream;
	atomic_store((atomic_int *)data, (int)status);
}

/* What stands behind the fault in any stream of the context does not run: work,
 * and host functions. Callbacks get the error, events are reached. The first
 * fault counts. */
static void
nothing_more_runs(void **state)
{
	const float one = 1;
	struct test_gate gate;
	cublasHandle_t handle;
	cudaStream_t other;
	cudaEvent_t event;
	atomic_int calls = 0, told = 0;

	(void)state;
	x = test_upload(&one, sizeof one);
	OK(cublasCreate(&handle));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaEventCreate(&event));
	OK(cublasSetStream(handle, other));
	test_gate_close(&gate, other);
	launch(&faults[2], other);
	launch(&faults[0], other);
	OK(scale(handle));
	OK(cudaMemsetAsync(x, 0, sizeof *x, other));
	OK(cudaLaunchHostFunc(other, count_call, &calls));
	OK(cudaStreamAddCallback(other, keep_status, &told, 0));
	OK(cudaEventRecord(event, other));
	test_gate_open(&gate);
	assert_int_equal(cudaEventSynchronize(event), 719);
	while (!atomic_load(&told)) /* a lost context is not waited for */
		usleep(1000);
	assert_true(*x == 1);
	assert_int_equal(atomic_load(&calls), 0);
	assert_int_equal(atomic_load(&told), 719);
	assert_int_equal(cublasDestroy(handle),
	    CUBLAS_STATUS_EXECUTION_FAILED);
	OK(cudaDeviceReset());
	cudaGetLastError();
}

/* The error is one context's: the others go on, and it ends with its own. */
static void
other_contexts(void **state)
{
	CUcontext primary, created, top;
	CUdevice device;

	(void)state;
	x = test_device(sizeof *x);
	OK(cuCtxGetCurrent(&primary));
	OK(cuCtxGetDevice(&device));
	OK(cuCtxCreate(&created, NULL, 0, device));
	launch(&faults[0], NULL);
	assert_int_equal(cuCtxSynchronize(), 700);
	OK(cuCtxPopCurrent(&top));
	OK(cuCtxSynchronize());
	OK(cudaMemset(x, 0, sizeof *x));
	assert_int_equal(cuCtxDestroy(created), 700);
	OK(cuCtxCreate(&created, NULL, 0, device));
	OK(cuCtxSynchronize());
	OK(cuCtxDestroy(created));
	OK(cuCtxSetCurrent(primary));
	OK(cudaFree(x));
}

/* The twins of the product's kernels are what the library runs for a product:
 * memory of the program that is not there ends the context, not the process. */
static void
twins(void **state)
{
	static float host[64];
	static const struct {
		const char *kernel;
		bool there;     /* the operands are in device memory */
		float *from, *c;
		int64_t stride;
	} cases[] = {
		{ "ac_verified_probe", false, NULL, NULL, 0 },
		{ "ac_verified_cast", false, host, NULL, 0 },
		{ "ac_verified_cast", true, NULL, NULL, INT64_C(1) << 40 },
		{ "ac_verified_verify", true, NULL, NULL, 0 },
		{ "ac_verified_mend", true, NULL, host, 0 },
		{ "ac_recast_ranges", false, NULL, NULL, 0 },
	};

	(void)state;
	if (TEST_WITH_TSAN) {
		print_message("# skipped: the checks' lock would order workers"
		    "\n");
		skip();
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		float *const good = test_device(sizeof host);
		const float *from = cases[i].there ? good : cases[i].from;
		const struct ac_verified_operand operand = { .from = from,
			.lines = 8, .ld = 8, .stride = cases[i].stride };
		const struct ac_recast_matrices read = { .from = from,
			.rows = 8, .cols = 8, .ld = 8, .batch = 2 };
		struct ac_verified v = { .operand = { operand, operand },
			.output = { .product = cases[i].c, .ld = 8 },
			.m = 8, .n = 8, .k = 8, .batch = 2 };
		struct ac_recast_ranges r = { .operand = { read, read } };
		const bool ranges = strstr(cases[i].kernel, "ranges");
		void *params[] = { ranges ? (void *)&r : &v };
		const uint64_t before = emuCounter("complaints");
		char text[512];
		CUfunction function;
		CUmodule module;

		snprintf(text, sizeof text, ".version 7.0\n.target sm_70\n"
		    ".address_size 64\n.visible .entry %s(.param .align 8 "
		    ".b8 p[%zu]) { ret; }\n", cases[i].kernel,
		    ranges ? sizeof r : sizeof v);
		OK(cuModuleLoadData(&module, text));
		OK(cuModuleGetFunction(&function, module, cases[i].kernel));
		OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params,
		    NULL));
		assert_int_equal(cuCtxSynchronize(), 700);
		assert_int_equal(emuCounter("complaints"), before + 1);
		OK(cudaDeviceReset());
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fault),
		cmocka_unit_test(nothing_more_runs),
		cmocka_unit_test(other_contexts),
		cmocka_unit_test(twins),
	};

	alarm(240); /* what waits for what never comes */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
