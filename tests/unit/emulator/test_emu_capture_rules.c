/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_capture_rules.c -- what the emulated GPU permits
 * while a stream captures: every unsafe call in every mode from either thread,
 * what conflicts in any mode, what is counted and reported. */
#include "test_emu_capture.h"

static const char ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry nothing()\n{ ret; }\n";
static cublasHandle_t blas; /* on `stream` */
static cublasHandle_t made[2 * MODES * MODES]; /* set by one of the calls */
static int made_count;
static CUkernel kernel;

static void
nothing(const struct emu_twin_launch *launch, void **params)
{
	(void)launch;
	(void)params;
}

static int
prepare(void **state)
{
	static const size_t none[1];
	CUlibrary library;

	(void)state;
	prepare_capture();
	OK(cublasCreate(&blas));
	OK(cublasSetStream(blas, stream));
	OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	emuTwinRegister("nothing", nothing, none, 0);
	OK(cuLibraryGetKernel(&kernel, library, "nothing"));
	return 0;
}

/* ---- calls that a capture cannot see ------------------------------------ */

static int
do_malloc_host(void)
{
	void *p;
	const int status = cudaMallocHost(&p, 16);

	return status ? status : (int)cudaFreeHost(p);
}

static int
do_free(void)
{
	return cudaFree(NULL);
}

static int
do_register(void)
{
	static char page[4096];
	const int status = cudaHostRegister(page, sizeof page,
	    cudaHostRegisterMapped);

	return status ? status : (int)cudaHostUnregister(page);
}

static int
do_query(void)
{
	return cudaEventQuery(recorded);
}

static int
do_synchronize(void)
{
	return cudaEventSynchronize(recorded);
}

static int
do_copy(void)
{
	float y;

	return cudaMemcpy(&y, x, sizeof y, cudaMemcpyDeviceToHost);
}

static int
do_load(void)
{
	CUlibrary library;
	const int status = cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL,
	    NULL, 0);

	return status ? status : (int)cuLibraryUnload(library);
}

static int
do_function(void)
{
	CUfunction function;

	return cuKernelGetFunction(&function, kernel);
}

static int
do_pool(void)
{
	const CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 }
	};
	CUmemoryPool pool;
	const int status = cuMemPoolCreate(&pool, &props);

	return status ? status : (int)cuMemPoolDestroy(pool);
}

static int
do_blas(void)
{
	/* Kept: freeing it would wait for the device. */
	if (cublasCreate(&made[made_count]))
		return cudaErrorStreamCaptureUnsupported;
	made_count++;
	return cudaSuccess;
}

/* Of a stream that does not capture. */
static int
do_wait(void)
{
	return cudaStreamSynchronize(other);
}

static int
do_ask(void)
{
	return cudaStreamQuery(other);
}

static int
do_reset(void)
{
	/* Only where it is refused: it would destroy everything else. */
	return cudaDeviceReset();
}

static const struct {
	const char *name;
	int (*call)(void);
} unsafe[] = {
	{ "cudaMalloc", do_malloc }, { "cudaMallocHost", do_malloc_host },
	{ "cudaFree", do_free }, { "cudaHostRegister", do_register },
	{ "cudaEventQuery", do_query },
	{ "cudaEventSynchronize", do_synchronize },
	{ "cudaStreamSynchronize", do_wait }, { "cudaStreamQuery", do_ask },
	{ "cudaMemcpy", do_copy },
	{ "cuLibraryLoadData", do_load },
	{ "cuKernelGetFunction", do_function },
	{ "cuMemPoolCreate", do_pool }, { "cublasCreate", do_blas },
	{ "cudaDeviceReset", do_reset },
};
enum { UNSAFE = sizeof unsafe / sizeof *unsafe };

static bool
is_refused(int capture, int thread, bool own)
{
	if (thread == RELAXED)
		return false;
	return own ? capture != RELAXED :
	    capture == GLOBAL && thread == GLOBAL;
}

static void
try(size_t i, int capture, int mode, bool own)
{
	const bool refused = is_refused(capture, mode, own);
	struct cell cell = { unsafe[i].call, mode, -1 };
	pthread_t thread;

	if (cell.call == do_reset && !refused)
		return;
	OK(cudaStreamBeginCapture(stream,
	    (enum cudaStreamCaptureMode)capture));
	if (own) {
		call_in_mode(&cell);
	} else {
		OK(pthread_create(&thread, NULL, call_in_mode, &cell));
		OK(pthread_join(thread, NULL));
	}
	if (cell.status != (refused ? cudaErrorStreamCaptureUnsupported : 0))
		fail_msg("%s, capture %d, thread %d, own %d: %d",
		    unsafe[i].name, capture, mode, own, cell.status);
	assert_int_equal(status_of(stream), refused ?
	    cudaStreamCaptureStatusInvalidated :
	    cudaStreamCaptureStatusActive);
	end_as(stream, refused ? cudaErrorStreamCaptureInvalidated : 0);
	assert_int_equal(status_of(stream), cudaStreamCaptureStatusNone);
}

static void
unsafe_calls(void **state)
{
	(void)state;
	for (size_t i = 0; i < UNSAFE; i++)
		for (int capture = 0; capture < MODES; capture++)
			for (int mode = 0; mode < MODES; mode++) {
				try(i, capture, mode, true);
				try(i, capture, mode, false);
			}
	for (int i = 0; i < made_count; i++)
		OK(cublasDestroy(made[i]));
}

/* These are permitted, in the strictest mode. */
static void
safe_calls(void **state)
{
	cudaStream_t new;
	cudaEvent_t e;
	size_t a, b;
	void *p;

	(void)state;
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cudaStreamCreateWithFlags(&new, cudaStreamNonBlocking));
	OK(cudaEventCreate(&e));
	OK(cudaEventRecord(e, new));
	OK(cudaMallocAsync(&p, 16, new));
	OK(cudaMemsetAsync(p, 0, 16, new));
	OK(cudaFreeAsync(p, new));
	OK(cudaMemGetInfo(&a, &b));
	OK(cudaEventDestroy(e));
	OK(cudaStreamDestroy(new));
	end_as(stream, 0);
}

/* ---- what conflicts with a capture in any mode --------------------------- */

static int
wait_stream(void)
{
	return cudaStreamSynchronize(stream);
}

static int
query_stream(void)
{
	return cudaStreamQuery(stream);
}

static int
wait_device(void)
{
	return cudaDeviceSynchronize();
}

static int
wait_context(void)
{
	return cuCtxSynchronize();
}

static void
callback(cudaStream_t s, cudaError_t status, void *data)
{
	(void)s;
	(void)status;
	(void)data;
}

static int
add_callback(void)
{
	return cudaStreamAddCallback(stream, callback, NULL, 0);
}

static int
destroy_blas(void)
{
	return cublasDestroy(blas) ? cudaErrorStreamCaptureUnsupported :
	    cudaSuccess;
}

static int
host_result(void)
{
	float norm;

	return cublasSnrm2(blas, 4, x, 1, &norm) ?
	    cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

static void
conflicts(void **state)
{
	int (*const calls[])(void) = { wait_stream, query_stream, wait_device,
		wait_context, add_callback, destroy_blas, host_result };

	(void)state;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		struct cell cell = { calls[i], RELAXED, 0 };
		pthread_t thread;

		OK(cudaStreamBeginCapture(stream,
		    cudaStreamCaptureModeRelaxed));
		if (i % 2) {
			call_in_mode(&cell);
		} else {
			OK(pthread_create(&thread, NULL, call_in_mode, &cell));
			OK(pthread_join(thread, NULL));
		}
		assert_int_equal(cell.status,
		    cudaErrorStreamCaptureUnsupported);
		/* Nothing more can be recorded. */
		assert_int_equal(cudaMemsetAsync(x, 0, 4, stream),
		    cudaErrorStreamCaptureInvalidated);
		end_as(stream, cudaErrorStreamCaptureInvalidated);
	}
	OK(cudaMemsetAsync(x, 0, 4, stream));
	OK(cudaStreamSynchronize(stream));
}

/* ---- what is told -------------------------------------------------------- */

/* One allocation, one wait and one load, or two where that can happen. */
static void *
allocate_wait_load(void *data)
{
	void *p;

	swap_mode(RELAXED);
	OK(cudaMalloc(&p, 16));
	OK(cudaStreamSynchronize(other));
	OK(do_function());
	*(void **)data = p;
	swap_mode(GLOBAL);
	return NULL;
}

static void
expect(unsigned allocations, unsigned syncs, unsigned loads)
{
	assert_int_equal(emuCounter("allocations_in_capture"), allocations);
	assert_int_equal(emuCounter("syncs_in_capture"), syncs);
	assert_int_equal(emuCounter("loads_in_capture"), loads);
}

static void
counted(void **state)
{
	pthread_t thread;
	void *p, *theirs, *ours;

	(void)state;
	emuCountersReset();
	allocate_wait_load(&p);
	OK(cudaFree(p));
	expect(0, 0, 0);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	allocate_wait_load(&ours);
	expect(1, 1, 1);
	OK(cudaMallocAsync(&p, 16, stream));
	expect(2, 1, 1);
	/* A relaxed thread is not in another one's capture. */
	OK(pthread_create(&thread, NULL, allocate_wait_load, &theirs));
	OK(pthread_join(thread, NULL));
	expect(2, 1, 1);
	end_as(stream, 0);
	assert_int_equal(emuCounter("captures"), 1);
	OK(cudaFree(ours));
	OK(cudaFree(theirs));
	expect(2, 1, 1);
}

/* Complaints name the call and say why. */
static void
complain(void)
{
	prepare(NULL);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	do_malloc();
	cublasSscal(blas, 1, x, x, 1);
	end_here();
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	wait_stream();
	end_here();
}

static void
words(void **state)
{
	static const char *const expected[] = {
		"cudaMalloc: not permitted during the thread-local capture ",
		"that this thread began; it is invalidated",
		"cudaStreamEndCapture: the capture was invalidated",
		"cudaStreamSynchronize: stream 0x",
		"captures and cannot be waited for or queried",
	};
	static char text[1 << 14];
	const char *at = text;

	(void)state;
	OK(test_again("complain", "AUTOCAST_LOG", "error", text,
	    sizeof text));
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		at = strstr(at, expected[i]);
		if (!at)
			fail_msg("no \"%s\" in order in:\n%s", expected[i],
			    text);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsafe_calls),
		cmocka_unit_test(safe_calls),
		cmocka_unit_test(conflicts),
		cmocka_unit_test(counted),
		cmocka_unit_test(words),
	};

	if (argc > 1 && !strcmp(argv[1], "complain")) {
		complain();
		return 0;
	}
	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, prepare, NULL);
}
