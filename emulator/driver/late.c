/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/late.c -- work that a stream comes to as late as it may, for
 * AUTOCAST_EMU_LATE: what a kernel posts to host memory is there when the
 * program has waited for it, and hardly ever before. A task begins when so many
 * are queued behind it; when any thread or stream waits for another, or asks
 * whether work is over, all that is queued by then begins; so it does where the
 * host does nothing for a while, since it may be looking at memory.
 *
 * RATIONALE: under TSan nothing here orders the host and a worker. */
#include "emulator/driver/device.h"
#include "emulator/driver/wait.h"

#include <time.h>

enum {
	NAP_NS = 1000000,
	PATIENCE_NS = 200000000,
	ACQUIRE = EMU_TSAN ? memory_order_relaxed : memory_order_acquire,
	RELEASE = EMU_TSAN ? memory_order_relaxed : memory_order_release
};

static _Atomic uint32_t hurries;

void
emu_late_hurry(void)
{
	if (!emu_device_late())
		return;
	atomic_fetch_add_explicit(&hurries, 1, RELEASE);
	emu_futex_wake(&hurries);
}

static int64_t
nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint32_t
queued_by_now(struct CUstream_st *stream)
{
	return atomic_load_explicit(&stream->submitted, ACQUIRE) & ~1u;
}

uint32_t
emu_late_now(void)
{
	return atomic_load_explicit(&hurries, memory_order_relaxed);
}

void
emu_late_wait(struct CUstream_st *stream, uint32_t completed, uint32_t queued)
{
	const struct timespec nap = { 0, NAP_NS };
	const uint32_t late = emu_device_late();
	const int64_t since = late ? nanoseconds() : 0;

	/* Counts are twice the tasks, and wrap. */
	while (late && atomic_load_explicit(&hurries, ACQUIRE) == queued &&
	    queued_by_now(stream) - completed <= 2 * late) {
		syscall(SYS_futex, &hurries, FUTEX_WAIT_PRIVATE, queued, &nap,
		    NULL, 0);
		if (nanoseconds() - since > PATIENCE_NS)
			emu_late_hurry();
	}
}
