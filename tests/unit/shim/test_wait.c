/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_wait.c -- how long a call waits for what others have
 * posted, and who does not. A nap of 20 us takes a millisecond. */
#include "shim/trial/wait.h"

#include "tests/unit/cases.h"
#include "tests/unit/shim/idle_device.h"

#include <errno.h>
#include <pthread.h>

static uint64_t word;
static int64_t posted_ns;               /* when `word` becomes 1 */
static unsigned naps;
static bool is_other_late;              /* another's wait fails meanwhile */

int
__wrap_nanosleep(const struct timespec *nap, struct timespec *rest)
{
	const int64_t before = now_ns;
	int state;

	assert_null(rest);
	assert_true(nap->tv_sec == 0 && nap->tv_nsec == 20000);
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	assert_int_equal(state, PTHREAD_CANCEL_DISABLE);
	naps++;
	if (is_other_late) {
		is_other_late = false;
		assert_false(ac_wait_for(2, 1, &word, 1, 0));
		now_ns = before;
	}
	now_ns += 1000000;
	if (now_ns >= posted_ns)
		word = 1;
	errno = EINTR;
	return -1;
}

/* Wait in context 2 for what comes after `ms`; how many it took. */
static bool
wait_for(double ms, uint32_t epoch, double seconds, double *waited_out)
{
	const int64_t start = now_ns;
	int state;
	bool done;

	word = 0;
	naps = 0;
	posted_ns = start + (int64_t)(ms * 1e6);
	errno = ERANGE;
	done = ac_wait_for(2, epoch, &word, 1, seconds);
	assert_int_equal(errno, ERANGE);
	(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	assert_int_equal(state, PTHREAD_CANCEL_ENABLE);
	*waited_out = (double)(now_ns - start) / 1e6;
	assert_int_equal(done, word);
	return done;
}

/* Somebody finds what he looks for: no wait has failed. */
static void
find(void)
{
	word = 1;
	naps = 0;
	assert_true(ac_wait_for(2, 1, &word, 1, 0));
	assert_int_equal(naps, 0);
}

/* Most milliseconds, by what one call takes. */
CASE(test_bounds)
{
	static const struct {
		bool   is_emulated;
		double seconds, most_ms;
	} rows[] = {
		{ false, 0, 2000 }, { false, 1e-4, 2000 },
		{ false, 0.01, 2560 }, { false, 1, 256000 },
		{ false, 1e9, 2000 }, { true, 0, 2000 }, { true, 0.1, 25600 },
		{ true, 1, 120000 }, { true, 1e9, 120000 },
	};
	double waited;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const double most = rows[i].most_ms;

		device.is_emulated = rows[i].is_emulated;
		find();
		assert_true(wait_for(most, 1, rows[i].seconds, &waited));
		assert_true(waited == most);
		assert_false(wait_for(most + 2, 1, rows[i].seconds, &waited));
		assert_true(waited == most + 1);
	}
	device.is_emulated = false;
}

/* Who finds it there does not wait; after a wait that failed nobody does, in
 * that context as it is. */
CASE(test_in_vain)
{
	const uint64_t other = 0;
	double waited;

	find();
	assert_false(wait_for(1e9, 1, 0, &waited));
	assert_false(wait_for(1, 1, 0, &waited));
	assert_int_equal(naps, 0);
	/* It was reset meanwhile, and another was not. */
	assert_true(wait_for(50, 2, 0, &waited));
	assert_int_equal(naps, 50);
	assert_false(ac_wait_for(3, 1, &other, 1, 0));
	assert_false(wait_for(1e9, 0, 0, &waited));
	assert_false(wait_for(1, 0, 0, &waited));
	assert_int_equal(naps, 0);
	find();
	assert_true(wait_for(1, 0, 0, &waited));
	/* Two wait at once: as long as the one that gives up. */
	is_other_late = true;
	assert_false(wait_for(1e9, 1, 1, &waited));
	assert_true(waited == 1);
	find();
}

CASE(test_seconds)
{
	assert_true(ac_wait_seconds(8e9, 0.5) == 0.5);
	device.is_emulated = true;
	assert_true(ac_wait_seconds(8e9, 0.5) == 2);
	device.is_emulated = false;
}

CASES_RUN(NULL, NULL)
