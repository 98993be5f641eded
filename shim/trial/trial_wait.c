/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_wait.c -- the only wait for the device that nobody asked
 * for: for samples that the host has run ahead of. A thread waits for them, the
 * others that need to know for that thread. */
#include "shim/trial/trial_state.h"

#include "shim/device/device.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define WAIT_NS 2000000000LL    /* at most, or: */
enum { WAIT_CALLS = 256 };      /* as long as that many take, as predicted */
/* An emulated GPU takes as long as a CPU does that is busy with other things;
 * a product of thousands of rows should not hold a program for hours. */
#define CPU_FLOPS 4e9
enum { EMULATED_SECONDS = 120 };

/* Of one call, on the device that there is; 0: unknown. */
static double
seconds_of(const struct ac_trial *t)
{
	const struct ac_site_key *key = &t->record[0]->key;

	return ac_device_is_emulated() ? 2.0 * (double)key->m * (double)key->n
	    * (double)key->k * (double)key->batch / CPU_FLOPS
	    : t->decision.keep_seconds;
}

static long long
most_ns(const struct ac_trial *t)
{
	double all = seconds_of(t) * WAIT_CALLS;

	if (ac_device_is_emulated() && all > EMULATED_SECONDS)
		all = EMULATED_SECONDS;
	return all > 2 && all < 1e6 ? (long long)(all * 1e9) : WAIT_NS;
}

/* Bounded: the stream may wait for something that this very thread is to do.
 * Naps, and tells whether it is time to give up. */
static bool
has_waited(const struct ac_trial *t, const struct timespec *start)
{
	const struct timespec nap = { 0, 20000 };
	const int saved = errno;
	struct timespec now;
	int cancelling;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((now.tv_sec - start->tv_sec) * 1000000000LL + now.tv_nsec
	    - start->tv_nsec > most_ns(t))
		return true;
	/* Who holds the trial is not to end here. */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
	(void)nanosleep(&nap, NULL);
	(void)pthread_setcancelstate(cancelling, NULL);
	errno = saved;
	return false;
}

static _Atomic bool in_vain;

/* Whether a call has to know what whoever judges is about to find: a verdict
 * that is due; whether the site has settled, or whose the next try is. */
static bool
depends_on_judge(const struct ac_trial *t, const struct ac_turn *turn)
{
	return !turn->is_unsteady && turn->number
	    >= (t->v->state == TRIAL_SETTLED ? t->v->due : t->v->first);
}

bool
ac_trial_hold_for(struct ac_trial *t, const struct ac_turn *turn)
{
	struct timespec start;

	if (ac_trial_hold(t, false))
		return true;
	clock_gettime(CLOCK_MONOTONIC, &start);
	while (depends_on_judge(t, turn) && !t->v->is_held_long && !in_vain
	    && !t->v->is_hasty) {
		if (has_waited(t, &start))
			t->v->is_held_long = true;
		if (ac_trial_hold(t, false))
			return true;
	}
	return false;
}

bool
ac_trial_has_come(const struct ac_trial *t, uint64_t number)
{
	struct ac_recast_post post;
	bool all = true;

	for (unsigned i = 0; i < TRIAL_OPEN; i++)
		if (t->v->sample[i].number && t->v->sample[i].due <= number
		    && !ac_trial_is_elsewhere(t, i))
			all &= ac_trial_read(&t->v->sample[i], &post);
	return all;
}

void
ac_trial_may_wait(struct ac_trial *t)
{
	in_vain = t->v->is_hasty = false;
}

bool
ac_trial_await(struct ac_trial *t, uint64_t number)
{
	bool all = true;

	for (unsigned i = 0; i < TRIAL_OPEN; i++) {
		const uint64_t sampled = t->v->sample[i].number;
		const struct ac_recast_post *post;
		struct timespec start;
		bool done;

		if (!sampled || t->v->sample[i].due > number
		    || ac_trial_is_elsewhere(t, i))
			continue;
		post = t->v->sample[i].host;
		clock_gettime(CLOCK_MONOTONIC, &start);
		while (!(done = __atomic_load_n(&post->number,
		    __ATOMIC_ACQUIRE) == sampled) && !in_vain
		    && !t->v->is_hasty)
			if (has_waited(t, &start))
				in_vain = t->v->is_hasty = true;
		if (done)
			in_vain = false;
		all &= done;
	}
	return all;
}
