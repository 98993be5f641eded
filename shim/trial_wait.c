/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial_wait.c -- the only waits for the device that nobody asked for: for
 * the first try of a site, and for a sample that the host has run ahead of. */
#include "shim/trial_state.h"

#include <time.h>

#define WAIT_NS 2000000000LL    /* at most */

/* Bounded: the stream may wait for something that this very thread is to do.
 * Naps, and tells whether it is time to give up. */
static bool
has_waited(const struct timespec *start)
{
	const struct timespec nap = { 0, 20000 };
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((now.tv_sec - start->tv_sec) * 1000000000LL + now.tv_nsec
	    - start->tv_nsec > WAIT_NS)
		return true;
	nanosleep(&nap, NULL);
	return false;
}

/* The bracket: in a global capture of another thread even asking disturbs. */
static bool
is_over(const struct ac_trial *t)
{
	const int mode = ac_scratch_relax(t->tried_driver);
	const bool done = !t->tried_driver->cuEventQuery(t->tried_event);

	ac_scratch_restore(t->tried_driver, mode);
	return done;
}

/* The one that was last waited for in vain. */
static _Atomic(struct ac_trial *) held;

void
ac_trial_forget_held(struct ac_trial *t)
{
	atomic_compare_exchange_strong(&held, &t, NULL);
}

/* Whether that goes on: who holds up one stream may hold up all of them, so
 * nobody waits meanwhile. */
static bool
is_any_held(const struct ac_place *place)
{
	struct ac_trial *t = atomic_load(&held);
	bool goes_on = true;

	if (!t || !ac_trial_move(t, TRIAL_POSTED, TRIAL_BUSY))
		return t != NULL;
	if (!ac_trial_is_home(t, place) || is_over(t)) {
		goes_on = false;
		ac_trial_forget_held(t);
	}
	ac_trial_move(t, TRIAL_BUSY, TRIAL_POSTED);
	return goes_on;
}

bool
ac_trial_await_try(struct ac_trial *t, const struct ac_place *place)
{
	struct timespec start;
	bool done = is_over(t);

	if (!done && !is_any_held(place)) {
		clock_gettime(CLOCK_MONOTONIC, &start);
		do
			done = is_over(t);
		while (!done && !has_waited(&start));
		if (!done)
			atomic_store(&held, t);
	}
	if (done)
		ac_trial_forget_held(t);
	return done;
}

bool
ac_trial_await_samples(struct ac_trial *t, uint64_t number)
{
	static _Atomic bool in_vain;
	bool all = true;

	for (unsigned i = 0; i <= t->lag; i++) {
		const uint64_t sampled = t->sample[i].number;
		const struct ac_recast_post *post;
		struct timespec start;
		bool done;

		if (!sampled || sampled + TRIAL_LAG > number)
			continue;
		post = ac_trial_slot_at(t, AC_CANDIDATES + i).host;
		clock_gettime(CLOCK_MONOTONIC, &start);
		while (!(done = __atomic_load_n(&post->number,
		    __ATOMIC_ACQUIRE) == sampled) && !in_vain
		    && !t->is_hasty)
			if (has_waited(&start))
				in_vain = t->is_hasty = true;
		if (done)
			in_vain = false;
		all &= done;
	}
	return all;
}
