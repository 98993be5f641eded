/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_race.c -- a missing event must be seen. Built
 * with TSan, two streams that share a buffer without one are reported, and the
 * same with an event are not, whatever ran first and whatever the host waited
 * for. */
#include "test_emu.h"

#include <stdbool.h>

enum { SIZE = 16, RACE = 66 };

/* Writes x on one stream and reads it on another; `delay` lets the first end
 * before the second is queued, without ordering them. */
static int
share(bool with_event, bool delay)
{
	const float one = 1, zero = 0;
	float *x = test_device(SIZE * SIZE * 4);
	float *z = test_device(SIZE * SIZE * 4);
	cudaStream_t a, b;
	cublasHandle_t on_a, on_b;
	cudaEvent_t event;

	OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	OK(cublasCreate(&on_a));
	OK(cublasCreate(&on_b));
	OK(cublasSetStream(on_a, a));
	OK(cublasSetStream(on_b, b));
	OK(cudaMemsetAsync(x, 0, SIZE * SIZE * 4, a));
	OK(cublasSaxpy(on_a, SIZE, &one, x, 1, x, 1));
	OK(cudaEventRecord(event, a));
	if (delay)
		usleep(20000);
	OK(cublasSscal(on_a, 1, &one, x + SIZE * SIZE - 1, 1));
	if (with_event) {
		OK(cudaEventRecord(event, a));
		OK(cudaStreamWaitEvent(b, event, 0));
	}
	OK(cublasSgemm(on_b, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE, &one,
	    x, SIZE, x, SIZE, &zero, z, SIZE));
	OK(cudaDeviceSynchronize());
	OK(cublasDestroy(on_a));
	OK(cublasDestroy(on_b));
	return 0;
}

static const struct {
	const char *mode;
	bool with_event, delay;
} modes[] = {
	{ "race", false, false }, { "late-race", false, true },
	{ "ordered", true, false }, { "late-ordered", true, true },
};

static void
found(void **state)
{
	static char text[1 << 16];

	(void)state;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		const int status = test_again(modes[i].mode, "TSAN_OPTIONS",
		    "exitcode=66", text, sizeof text);

		if (WEXITSTATUS(status) != (modes[i].with_event ? 0 : RACE))
			fail_msg("%s: exit status %d\n%s", modes[i].mode,
			    WEXITSTATUS(status), text);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(found) };

	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i].mode, argv[1]))
			return share(modes[i].with_event, modes[i].delay);
	if (!TEST_WITH_TSAN) {
		puts("1..0 # SKIP built without TSan");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
