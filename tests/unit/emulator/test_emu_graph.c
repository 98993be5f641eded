/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_graph.c -- captured graphs of the emulated GPU:
 * a replay gives the bits of the same calls made eagerly, in stream order, any
 * number of times; two graphs run at the same time, two launches of one do not.
 * Jitter is on, so that order is not luck. */
#include "test_emu.h"

#include <cuda.h>
#include <sys/mman.h>

enum { N = 24 };

static cudaStream_t stream, other;
static cudaEvent_t forked, joined;
static cublasHandle_t on_stream, on_other;

static int
prepare(void **state)
{
	(void)state;
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
	OK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
	OK(cublasCreate(&on_stream));
	OK(cublasCreate(&on_other));
	OK(cublasSetStream(on_stream, stream));
	OK(cublasSetStream(on_other, other));
	return 0;
}

static void
begin(cudaStream_t s)
{
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
}

static cudaGraphExec_t
end(cudaStream_t s)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphDestroy(graph));
	return exec;
}

static void
fetch(float *to, const float *from, size_t count)
{
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(to, from, count * sizeof *to, cudaMemcpyDeviceToHost));
}

/* ---- the same bits ----------------------------------------------------- */

struct work {
	float *a, *b, *c, *d, *scalar, *seed;
	float *pinned;
};

static void
mix(const struct emu_twin_launch *launch, void **params)
{
	float *to = *(float *const *)params[0];
	const float factor = *(const float *)params[1];

	(void)launch;
	for (int i = 0; i < N * N; i++)
		to[i] = to[i] * factor + (float)i;
}

static CUfunction
mix_kernel(void)
{
	static const char ptx[] = ".version 6.0\n.target sm_70\n"
	    ".address_size 64\n.visible .entry mix(\n\t.param .u64 a,\n"
	    "\t.param .f32 b\n)\n{ ret; }\n";
	static const size_t sizes[] = { 8, 4 };
	CUfunction function;
	CUlibrary library;
	CUkernel kernel;

	emuTwinRegister("mix", mix, sizes, 2);
	OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "mix"));
	OK(cuKernelGetFunction(&function, kernel));
	OK(cuFuncLoad(function));
	return function;
}

static void
count_up(void *data)
{
	++*(float *)data;
}

/* Everything that can be queued, on two streams. Host scalars and arguments go
 * out of scope here. */
static void
queue(const struct work *w, CUfunction kernel)
{
	float one = 1, half = 0.5f;
	void *params[] = { (void *)(uintptr_t)&w->d, &half };

	OK(cublasSetPointerMode(on_stream, CUBLAS_POINTER_MODE_DEVICE));
	OK(cublasSgemm(on_stream, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, w->scalar,
	    w->a, N, w->b, N, w->scalar, w->c, N));
	OK(cublasSetPointerMode(on_stream, CUBLAS_POINTER_MODE_HOST));
	OK(cudaEventRecord(forked, stream));
	OK(cudaStreamWaitEvent(other, forked, 0));
	OK(cublasSaxpy(on_other, N * N, &one, w->c, 1, w->d, 1));
	OK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, other, params, NULL));
	OK(cudaMemsetAsync(w->b, 0, 40, stream));
	OK(cublasSscal(on_stream, N * N, &half, w->a, 1));
	OK(cudaLaunchHostFunc(stream, count_up, w->pinned));
	OK(cudaMemcpyAsync(w->b + 10, w->pinned, 4, cudaMemcpyHostToDevice,
	    stream));
	OK(cudaEventRecord(joined, other));
	OK(cudaStreamWaitEvent(stream, joined, 0));
	OK(cudaMemcpyAsync(w->a, w->d, N * 4, cudaMemcpyDeviceToDevice,
	    stream));
	one = half = -100;
	params[0] = params[1] = NULL;
}

static void
make(struct work *w)
{
	w->a = test_device(N * N * 4);
	w->b = test_device(N * N * 4);
	w->c = test_device(N * N * 4);
	w->d = test_device(N * N * 4);
	w->scalar = test_device(4);
	OK(cudaMallocHost((void **)&w->pinned, 4));
}

static void
fill(const struct work *w, uint64_t seed)
{
	static float data[N * N];

	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 4; i++) {
		float *const to[] = { w->a, w->b, w->c, w->d };

		for (int k = 0; k < N * N; k++)
			data[k] = test_random(&seed);
		OK(cudaMemcpy(to[i], data, sizeof data,
		    cudaMemcpyHostToDevice));
	}
	data[0] = 0.25f + (float)(seed % 8) / 8;
	OK(cudaMemcpy(w->scalar, data, 4, cudaMemcpyHostToDevice));
	*w->pinned = (float)(seed % 100);
	OK(cudaDeviceSynchronize());
}

static void
same_bits(void **state)
{
	static float of_eager[4][N * N], of_replay[4][N * N];
	const CUfunction kernel = mix_kernel();
	struct work eager, replayed;
	cudaGraphExec_t exec;

	(void)state;
	make(&eager);
	make(&replayed);
	fill(&replayed, 0);
	begin(stream);
	queue(&replayed, kernel);
	exec = end(stream);
	for (uint64_t i = 0; i < 100; i++) {
		const float *const e[] = { eager.a, eager.b, eager.c, eager.d };
		const float *const r[] = { replayed.a, replayed.b, replayed.c,
			replayed.d };

		if (i % 10 == 0) {
			fill(&eager, i);
			fill(&replayed, i);
		}
		queue(&eager, kernel);
		OK(cudaGraphLaunch(exec, stream));
		for (int k = 0; i % 5 == 4 && k < 4; k++) {
			fetch(of_eager[k], e[k], N * N);
			fetch(of_replay[k], r[k], N * N);
		}
		if (i % 5 == 4)
			assert_memory_equal(of_eager, of_replay,
			    sizeof of_eager);
	}
	assert_true(*eager.pinned == *replayed.pinned);
	OK(cudaGraphExecDestroy(exec));
}

/* Nothing runs during the capture; each launch counts its work. */
static void
counted(void **state)
{
	const float two = 2, one = 1;
	float *x = test_upload(&one, sizeof one), y;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	size_t nodes;

	(void)state;
	emuCountersReset();
	begin(stream);
	OK(cublasSscal(on_stream, 1, &two, x, 1));
	OK(cudaEventRecord(forked, stream)); /* for nobody */
	OK(cublasSscal(on_stream, 1, &two, x, 1));
	OK(cudaMemsetAsync(x, 0, 0, stream));
	OK(cudaMemcpyAsync(x, x, 4, cudaMemcpyDeviceToDevice, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphGetNodes(graph, NULL, &nodes));
	assert_int_equal(nodes, 3);
	OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	assert_int_equal(emuCounter("launches"), 0);
	assert_int_equal(emuCounter("tasks"), 0);
	for (unsigned i = 1; i <= 3; i++) {
		OK(cudaGraphLaunch(exec, stream));
		assert_int_equal(emuCounter("launches"), 2 * i);
		assert_int_equal(emuCounter("graph_launches"), i);
		assert_int_equal(emuCounter("bytes_device_to_device"), 4 * i);
	}
	fetch(&y, x, 1);
	assert_true(y == 64);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaFree(x));
}

/* ---- order ------------------------------------------------------------- */

static void
post(void *data)
{
	sem_post(data);
}

static void
await(void *data)
{
	sem_wait(data);
}

/* Each waits for the other's beginning: they run at the same time or never. */
static void
two_at_once(void **state)
{
	cudaGraphExec_t exec[2];
	sem_t begun[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		sem_init(&begun[i], 0, 0);
	for (int i = 0; i < 2; i++) {
		begin(stream); /* both from one stream */
		OK(cudaLaunchHostFunc(stream, post, &begun[i]));
		OK(cudaLaunchHostFunc(stream, await, &begun[1 - i]));
		exec[i] = end(stream);
	}
	for (int i = 0; i < 20; i++) {
		OK(cudaGraphLaunch(exec[0], stream));
		OK(cudaGraphLaunch(exec[1], other));
	}
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 2; i++)
		OK(cudaGraphExecDestroy(exec[i]));
}

static _Atomic int inside, most;

static void
enter(void *data)
{
	const int now = ++inside;

	(void)data;
	if (now > most)
		most = now;
}

static void
leave(void *data)
{
	(void)data;
	inside--;
}

/* One executable never runs twice at the same time, whatever the streams. */
static void
one_after_another(void **state)
{
	const float one = 1, zero = 0;
	float *x = test_upload(&zero, 4), *step = test_upload(&one, 4), y;
	cudaGraphExec_t exec;

	(void)state;
	begin(stream);
	OK(cudaLaunchHostFunc(stream, enter, NULL));
	OK(cublasSaxpy(on_stream, 1, &one, step, 1, x, 1));
	OK(cudaLaunchHostFunc(stream, leave, NULL));
	exec = end(stream);
	for (int i = 0; i < 50; i++)
		OK(cudaGraphLaunch(exec, i % 3 ? stream : other));
	fetch(&y, x, 1);
	assert_true(y == 50);
	assert_int_equal(most, 1);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaFree(x));
	OK(cudaFree(step));
}

/* In the order of its stream, and of the legacy stream if its stream blocks. */
static void
stream_order(void **state)
{
	const float one = 1, two = 2, three = 3;
	float *x = test_upload(&one, 4), y;
	struct test_gate gate;
	cublasHandle_t handle;
	cudaStream_t blocking;
	cudaGraphExec_t exec;

	(void)state;
	OK(cublasCreate(&handle));
	OK(cudaStreamCreate(&blocking));
	OK(cublasSetStream(handle, blocking));
	begin(blocking);
	OK(cublasSscal(handle, 1, &two, x, 1));
	exec = end(blocking);
	test_gate_close(&gate, blocking);
	OK(cublasSaxpy(handle, 1, &one, x, 1, x, 1));  /* 2 */
	OK(cudaGraphLaunch(exec, blocking));           /* 4 */
	OK(cublasSetStream(handle, NULL));
	OK(cublasSscal(handle, 1, &three, x, 1));      /* 12 */
	OK(cudaGraphLaunch(exec, blocking));           /* 24 */
	assert_int_equal(cudaStreamQuery(blocking), cudaErrorNotReady);
	test_gate_open(&gate);
	fetch(&y, x, 1);
	assert_true(y == 24);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaStreamDestroy(blocking));
	OK(cublasDestroy(handle));
	OK(cudaFree(x));
}

/* A launch that is captured becomes part of the other graph. A captured copy
 * reads its source at each launch, from pageable memory, too. */
static void
nested(void **state)
{
	const float one = 1, two = 2;
	float *x = test_upload(&one, 4), y, start = 100;
	cudaGraphExec_t inner, outer;

	(void)state;
	begin(stream);
	OK(cublasSscal(on_stream, 1, &two, x, 1));
	inner = end(stream);
	begin(stream);
	OK(cudaMemcpyAsync(x, &start, 4, cudaMemcpyHostToDevice, stream));
	OK(cudaGraphLaunch(inner, stream));
	OK(cublasSaxpy(on_stream, 1, &one, x, 1, x, 1));
	OK(cudaGraphLaunch(inner, stream));
	outer = end(stream);
	OK(cudaGraphExecDestroy(inner));
	for (start = 1; start < 4; start++) {
		OK(cudaGraphLaunch(outer, stream));
		fetch(&y, x, 1);
		assert_true(y == start * 8);
	}
	OK(cudaGraphExecDestroy(outer));
	OK(cudaFree(x));
}

/* ---- lives ------------------------------------------------------------- */

/* A graph outlives its streams, its launches outlive their executable. */
static void
outlives(void **state)
{
	const float one = 1, two = 2;
	float *x = test_upload(&one, 4), y;
	struct test_gate gate;
	cudaGraphExec_t exec;
	cudaStream_t first;

	(void)state;
	OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
	begin(first);
	OK(cudaEventRecord(forked, first));
	OK(cudaStreamWaitEvent(stream, forked, 0));
	OK(cublasSscal(on_stream, 1, &two, x, 1));
	OK(cudaEventRecord(joined, stream));
	OK(cudaStreamWaitEvent(first, joined, 0));
	exec = end(first);
	OK(cudaStreamDestroy(first));
	test_gate_close(&gate, other);
	OK(cudaGraphLaunch(exec, other));
	OK(cudaGraphLaunch(exec, other));
	OK(cudaGraphExecDestroy(exec));
	assert_int_equal(cudaGraphLaunch(exec, other), cudaErrorInvalidValue);
	assert_int_equal(cudaGraphExecDestroy(exec), cudaErrorInvalidValue);
	test_gate_open(&gate);
	fetch(&y, x, 1);
	assert_true(y == 4);
	OK(cudaFree(x));
	cudaGetLastError();
}

/* Memory allocated in a capture belongs to the graph. */
static void
memory(void **state)
{
	const float one = 1, two = 2;
	float *x = test_upload(&one, 4), *scratch, y;
	const uint64_t before = emuCounter("device_bytes");
	cudaGraphExec_t exec;

	(void)state;
	begin(stream);
	OK(cudaMallocAsync((void **)&scratch, 4, stream));
	OK(cublasScopy(on_stream, 1, x, 1, scratch, 1));
	OK(cublasSaxpy(on_stream, 1, &two, scratch, 1, x, 1));
	OK(cudaFreeAsync(scratch, stream));
	assert_int_equal(cudaFreeAsync(x, stream), cudaErrorInvalidValue);
	exec = end(stream);
	for (int i = 0; i < 3; i++)
		OK(cudaGraphLaunch(exec, stream));
	fetch(&y, x, 1);
	assert_true(y == 27);
	assert_int_equal(emuCounter("device_bytes"), before + 4);
	OK(cudaGraphExecDestroy(exec));
	assert_int_equal(emuCounter("device_bytes"), before);
	OK(cudaFree(x));
	cudaGetLastError();
}

/* The program's own page, which the kernels of a replay write to, with the
 * launch's copy of the arguments: the graph is gone. */
static void
page(void **state)
{
	const CUfunction kernel = mix_kernel();
	float *host = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), factor = 1;
	void *params[] = { NULL, &factor };
	struct test_gate gate;
	CUdeviceptr address;
	cudaGraphExec_t exec;

	(void)state;
	assert_true(host != MAP_FAILED);
	OK(cuMemHostRegister(host, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
	OK(cuMemHostGetDevicePointer(&address, host, 0));
	params[0] = &address;
	begin(stream);
	OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
	exec = end(stream);
	test_gate_close(&gate, stream);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphExecDestroy(exec));
	test_gate_open(&gate);
	OK(cudaStreamSynchronize(stream));
	assert_true(host[0] == 0 && host[5] == 10);
	OK(cuMemHostUnregister(host));
	munmap(host, 4096);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bits),
		cmocka_unit_test(counted),
		cmocka_unit_test(two_at_once),
		cmocka_unit_test(one_after_another),
		cmocka_unit_test(stream_order),
		cmocka_unit_test(nested),
		cmocka_unit_test(outlives),
		cmocka_unit_test(memory),
		cmocka_unit_test(page),
	};

	setenv("AUTOCAST_EMU_JITTER", "5", 1);
	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, prepare, NULL);
}
