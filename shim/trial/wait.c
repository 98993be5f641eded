/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/wait.c -- naps, within bounds. */
#include "shim/trial/wait.h"

#include "shim/device/device.h"
#include "shim/device/scratch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define WAIT_NS 2000000000LL    /* at most, or: */
enum { WAIT_CALLS = 256 };      /* as long as that many take */
#define CPU_FLOPS 4e9
/* A product of thousands of rows should not hold a program for hours. */
enum { EMULATED_SECONDS = 120 };

/* 1 + the epoch in which the last wait was; 0: none was. */
_Atomic uint64_t ac_wait_failed[AC_SCRATCH_CONTEXTS];

double
ac_wait_seconds(double flops, double predicted)
{
	return ac_device_is_emulated() ? flops / CPU_FLOPS : predicted;
}

static long long
most_ns(double seconds)
{
	double all = seconds * WAIT_CALLS;

	if (ac_device_is_emulated() && all > EMULATED_SECONDS)
		all = EMULATED_SECONDS;
	return all > 2 && all < 1e6 ? (long long)(all * 1e9) : WAIT_NS;
}

/* Whether it is time to give up. */
static bool
has_waited(const struct timespec *start, long long most)
{
	const struct timespec nap = { 0, 20000 };
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((now.tv_sec - start->tv_sec) * 1000000000LL + now.tv_nsec
	    - start->tv_nsec > most)
		return true;
	(void)nanosleep(&nap, NULL);
	return false;
}

bool
ac_wait_until(unsigned context, uint32_t epoch, bool (*is_there)(void *of),
    void *of, double seconds)
{
	const uint64_t mark = 1 + (uint64_t)epoch;
	const long long most = most_ns(seconds);
	const int saved = errno;
	struct timespec start;
	int cancelling;
	bool done = is_there(of);

	if (!done && ac_wait_failed[context] != mark) {
		clock_gettime(CLOCK_MONOTONIC, &start);
		(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE,
		    &cancelling);
		while (!(done = is_there(of))
		    && ac_wait_failed[context] != mark)
			if (has_waited(&start, most))
				ac_wait_failed[context] = mark;
		(void)pthread_setcancelstate(cancelling, NULL);
		errno = saved;
	}
	if (done)
		ac_wait_found(context);
	return done;
}

struct posted {
	const uint64_t *word;
	uint64_t least;
};

static bool
is_posted(void *of)
{
	const struct posted *posted = of;

	return __atomic_load_n(posted->word, __ATOMIC_ACQUIRE)
	    >= posted->least;
}

bool
ac_wait_for(unsigned context, uint32_t epoch, const uint64_t *word,
    uint64_t least, double seconds)
{
	struct posted posted = { word, least };

	return (is_posted(&posted) && !ac_wait_failed[context])
	    || ac_wait_until(context, epoch, is_posted, &posted, seconds);
}
