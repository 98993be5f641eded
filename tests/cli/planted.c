/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cli/planted.c -- what a comparison measures, planted: the file that
 * PLANTED names holds how many microseconds have passed. Preloaded, it is the
 * clock. With -DNVML it is libnvidia-ml.so.1 with two GPUs that draw 100 W and
 * 10 W by that clock; STUB names what goes wrong. The UUID of the second is
 * GPU-second. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static unsigned long long
passed(void)
{
	const char *name = getenv("PLANTED");
	FILE *file = name ? fopen(name, "re") : NULL;
	unsigned long long microseconds = 0;

	if (file && fscanf(file, "%llu", &microseconds) != 1)
		microseconds = 0;
	if (file)
		fclose(file);
	return microseconds;
}

#ifndef NVML
EXPORT int
clock_gettime(clockid_t clock, struct timespec *time)
{
	const unsigned long long now = passed();

	if (clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, time);
	time->tv_sec = (time_t)(now / 1000000);
	time->tv_nsec = (long)(now % 1000000) * 1000;
	return 0;
}
#else
static int
is(const char *what)
{
	const char *wanted = getenv("STUB");

	return wanted && strstr(wanted, what);
}

EXPORT int nvmlInit_v2(void) { return is("no-init") ? 9 : 0; }
EXPORT int
nvmlShutdown(void)
{
	return 0;
}

EXPORT int
nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = is("none") ? 0 : 2;
	return 0;
}

EXPORT int
nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	static char devices[2];

	*device = &devices[index % 2];
	return index < 2 ? 0 : 2;
}

EXPORT int
nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	return strcmp(uuid, "GPU-second") ? 6
	    : nvmlDeviceGetHandleByIndex_v2(1, device);
}

#ifndef OLD
EXPORT int
nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *out)
{
	void *first;

	(void)nvmlDeviceGetHandleByIndex_v2(0, &first);
	*out = 123456 + passed() / (device == first ? 10 : 100);
	if (is("again"))
		*out = 1000000000 - *out;
	return is("not-counted") ? 3 : 0;
}
#endif
#endif
