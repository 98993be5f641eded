/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/idle_device.h -- what shim/trial/{variants,timing,wait}.c ask
 * of a device and a clock. Where a test sets nothing, nothing hangs on the
 * answers. Linked with --wrap=clock_gettime. */
#ifndef AC_TESTS_IDLE_DEVICE_H
#define AC_TESTS_IDLE_DEVICE_H

#include "shim/device/device.h"
#include "shim/device/handle.h"
#include "shim/device/place.h"

#include <sched.h>
#include <time.h>

static int64_t now_ns;
static struct {
	bool is_emulated;
	bool is_captured;                 /* no bracket can be opened */
	const struct ac_driver *driver;   /* that is loaded */
	struct ac_scratch *scratch;       /* of the current context */
	uint32_t epoch;
} device;
static _Thread_local int brackets;        /* that are open */

void (*_Atomic ac_handle_waited[AC_WAITED_COUNT])(void);

bool
ac_device_is_emulated(void)
{
	return device.is_emulated;
}

const struct ac_driver *
ac_driver_loaded(void)
{
	return device.driver;
}

bool
ac_scratch_relax(const struct ac_driver *of, int *mode_out)
{
	(void)of;
	*mode_out = 0;
	brackets += !device.is_captured;
	return !device.is_captured;
}

void
ac_scratch_restore(const struct ac_driver *of, int mode)
{
	(void)of, (void)mode;
	brackets--;
}

struct ac_scratch *
ac_scratch_find(uint64_t context_id)
{
	(void)context_id;
	return device.scratch;
}

uint32_t
ac_scratch_epoch(const struct ac_scratch *scratch)
{
	(void)scratch;
	return device.epoch;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int
__wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now->tv_sec = now_ns / 1000000000;
	now->tv_nsec = now_ns % 1000000000;
	return 0;
}

/* Among threads no time passes, however late the others are. */
static bool is_threaded;

__attribute__((unused)) static void
nap_passes(void)
{
	if (is_threaded)
		sched_yield();
	else
		now_ns += 1000000;
}

__attribute__((unused)) static ac_cu_result
destroy(ac_cu_event event)
{
	(void)event;
	return 0;
}

__attribute__((unused)) static ac_cu_result
query(ac_cu_event event)
{
	(void)event;
	return 0;
}

#endif
