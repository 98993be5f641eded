/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_late.c -- AUTOCAST_EMU_LATE: streams begin their
 * work as late as they may, and always in time. */
#include "test_emu.h"

#include <time.h>

/* LATE is what the children run with; within SOON the emulator's patience, a
 * fifth of a second, is not used up. */
enum { LATE = 8, ROUNDS = 20, SOON_MS = 100 };

static cudaStream_t stream;
static cublasHandle_t handle;
static float *x;

static int64_t
milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
scale(void)
{
	const float two = 2;

	OK(cublasSscal(handle, 1, &two, x, 1));
}

/* What the host sees in memory without a call, device memory being the host's
 * here, after so many tasks; -1: too late to tell. */
static float
see(int tasks)
{
	const float one = 1;
	int64_t start;
	float seen;

	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(x, &one, sizeof one, cudaMemcpyHostToDevice));
	OK(cudaDeviceSynchronize());
	start = milliseconds();
	for (int i = 0; i < tasks; i++)
		scale();
	usleep(5000);
	seen = __atomic_load_n((const int32_t *)(void *)x,
	    __ATOMIC_RELAXED) == 0x3f800000 ? 1 : 2;
	return milliseconds() - start < SOON_MS ? seen : -1;
}

/* Nothing has begun while no more than LATE tasks wait; one more: it has. */
static int
holds(void)
{
	for (int i = 0; i < ROUNDS; i++)
		assert_true(see(LATE) != 2);
	while (see(LATE + 1) != 2)
		;
	return 0;
}

/* Waits and questions bring all that is queued; so does time alone. */
static int
arrives(void)
{
	cudaStream_t other;
	cudaEvent_t event;

	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	OK(cudaEventCreate(&event));
	scale();
	OK(cudaStreamSynchronize(stream));
	scale();
	while (cudaStreamQuery(stream) == cudaErrorNotReady)
		;
	scale();
	OK(cudaEventRecord(event, stream));
	while (cudaEventQuery(event) == cudaErrorNotReady)
		;
	scale();
	OK(cudaEventRecord(event, stream));
	OK(cudaStreamWaitEvent(other, event, 0));
	OK(cudaMemsetAsync(x + 1, 0, 4, other));
	OK(cudaStreamSynchronize(other));
	(void)see(0);
	scale();
	while (__atomic_load_n((const int32_t *)(void *)x,
	    __ATOMIC_ACQUIRE) == 0x3f800000)
		usleep(1000);
	scale();
	OK(cudaStreamDestroy(other));
	OK(cudaStreamDestroy(stream));
	return 0; /* with work left */
}

static void
again(const char *mode)
{
	static char text[4096];

	assert_int_equal(test_again(mode, "AUTOCAST_EMU_LATE", "8", text,
	    sizeof text), 0);
	assert_string_equal(text, "");
}

static void
work_is_held(void **state)
{
	(void)state;
	again("holds");
}

static void
work_arrives(void **state)
{
	(void)state;
	again("arrives");
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_is_held),
		cmocka_unit_test(work_arrives),
	};

	if (TEST_WITH_TSAN) {
		puts("1..0 # SKIP it looks at results while work writes them");
		return 0;
	}
	if (argc > 1) {
		alarm(240);
		x = test_device(2 * sizeof *x);
		OK(cudaMemset(x, 0, 2 * sizeof *x));
		OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
		OK(cublasCreate(&handle));
		OK(cublasSetStream(handle, stream));
		return strcmp(argv[1], "holds") ? arrives() : holds();
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
