/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_threads.c -- one gradient scaler and two
 * threads: what the second may do, and what it may not, while the first one
 * waits for the device. */
#include "tests/unit/cases.h"
#include "tests/unit/emulator/test_emu.h"

#include "include/autocast_scaler.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

static autocast_scaler *scaler;
static autocast_group *waiting, *free_one; /* the first is stepped on `held` */
static autocast_tensor seed;
static cudaStream_t held, other;

static int
begin(void **state)
{
	autocast_group **const groups[2] = { &waiting, &free_one };
	autocast_tensor t;

	OK(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	seed = (autocast_tensor){ test_device(4), 1, AUTOCAST_F32,
		AUTOCAST_DEVICE_ANY, NULL };
	OK(autocast_scaler_create(NULL, &scaler));
	OK(autocast_scaler_prepare(scaler, 0, other));
	for (int i = 0; i < 2; i++) {
		static const float clean = 1;

		t = seed;
		t.data = test_upload(&clean, sizeof clean);
		OK(autocast_group_create(scaler, i ? "free" : "waiting",
		    groups[i]));
		OK(autocast_group_set_gradients(*groups[i], &t, 1));
	}
	OK(autocast_scaler_scale(scaler, &seed, 1, other));
	return 0;
}

static int
end(void **state)
{
	autocast_scaler_destroy(scaler);
	OK(cudaDeviceReset());
	return 0;
}

/* What the device waits for, and whether it came: it does not wait for ever, so
 * that what fails here does not hang. */
struct peer {
	sem_t came;
	bool is_late;
};

static void
wait_for_peer(void *argument)
{
	struct peer *const peer = argument;
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	while (sem_timedwait(&peer->came, &until) && !peer->is_late)
		peer->is_late = errno != EINTR;
}

static void
hold(struct peer *peer, cudaStream_t stream)
{
	*peer = (struct peer){ .is_late = false };
	assert_int_equal(sem_init(&peer->came, 0, 0), 0);
	OK(cudaLaunchHostFunc(stream, wait_for_peer, peer));
}

/* A call in another thread, which waits for the device before it goes on. */
struct waiter {
	autocast_status (*call)(struct waiter *w);
	pthread_t thread;
	atomic_bool is_done;
	autocast_status status;
	int stepped;
	double scale;
};

static void *
wait_there(void *argument)
{
	struct waiter *const w = argument;

	w->status = w->call(w);
	atomic_store(&w->is_done, true);
	return NULL;
}

/* Returns when it waits: then nothing of ours is queued by it any more. */
static void
start(struct waiter *w)
{
	const uint64_t before = emuCounter("cuStreamSynchronize");

	assert_int_equal(pthread_create(&w->thread, NULL, wait_there, w), 0);
	while (emuCounter("cuStreamSynchronize") == before
	    && !atomic_load(&w->is_done))
		sched_yield();
}

static void
finish(struct waiter *w)
{
	assert_int_equal(pthread_join(w->thread, NULL), 0);
	assert_int_equal(w->status, AUTOCAST_OK);
}

static autocast_status
step(struct waiter *w)
{
	return autocast_scaler_step(scaler, waiting, NULL, NULL, &w->stepped,
	    held);
}

/* The step belongs to this iteration, which does not end without it. */
CASE(an_update_beside_a_step)
{
	struct waiter w = { .call = step };
	struct peer peer;
	autocast_status ended[3];
	double scale;

	hold(&peer, held);
	start(&w);
	ended[0] = autocast_scaler_step_async(scaler, free_one, other);
	ended[1] = autocast_scaler_update(scaler, other);
	ended[2] = autocast_scaler_update_to(scaler, 4, other);
	OK(sem_post(&peer.came));
	finish(&w);
	assert_false(peer.is_late);
	assert_int_equal(w.stepped, 1);
	assert_int_equal(ended[0], AUTOCAST_OK);
	assert_int_equal(ended[1], AUTOCAST_E_BUSY);
	assert_int_equal(ended[2], AUTOCAST_E_BUSY);
	assert_non_null(strstr(autocast_last_error(), "waiting"));
	OK(autocast_scaler_update(scaler, other));
	OK(autocast_scaler_get(scaler, &scale, NULL));
	assert_true(scale == 65536);
	/* The next one is whole. */
	OK(autocast_scaler_scale(scaler, &seed, 1, other));
	OK(autocast_scaler_step(scaler, waiting, NULL, NULL, NULL, held));
	OK(autocast_scaler_update(scaler, other));
}

/* ---- Reading ----------------------------------------------------------- */

static autocast_status
get(struct waiter *w)
{
	return autocast_scaler_get(scaler, &w->scale, NULL);
}

static autocast_status
count(struct waiter *w)
{
	autocast_scaler_counters counters = { .size = sizeof counters };
	const autocast_status status = autocast_scaler_get_counters(scaler,
	    &counters);

	w->scale = counters.max_scale;
	return status;
}

static autocast_status
save(struct waiter *w)
{
	char text[512];
	size_t size = sizeof text;
	const autocast_status status = autocast_scaler_save(scaler, text,
	    &size);

	(void)sscanf(text, "autocast-scaler 1 scale %la", &w->scale);
	return status;
}

/* The stream goes on only after another thread has used the scaler: as with
 * reductions, of which each thread queues its device's part. */
CASE(the_device_needs_another_thread)
{
	autocast_status (*const calls[])(struct waiter *) = { get, count,
		save };

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		struct waiter w = { .call = calls[i] };
		struct peer peer;

		hold(&peer, other);
		start(&w);
		OK(autocast_scaler_scale(scaler, &seed, 1, held));
		OK(sem_post(&peer.came));
		finish(&w);
		assert_false(peer.is_late);
		assert_true(w.scale == 65536);
	}
}

/* Each call gets the state as it was when it was made, by a copy of its own;
 * more of them than there are copies, too. */
CASE(many_read_at_once)
{
	enum { OWN = 31, ALL = 40 };
	struct waiter w[ALL];
	struct peer peer;

	memset(w, 0, sizeof w);
	hold(&peer, other);
	for (int i = 0; i < ALL; i++) {
		w[i].call = i % 2 ? save : get;
		if (i < OWN)
			start(&w[i]);
		else
			assert_int_equal(pthread_create(&w[i].thread, NULL,
			    wait_there, &w[i]), 0);
		if (i < OWN - 1)
			OK(autocast_scaler_update_to(scaler, i + 1, held));
	}
	OK(sem_post(&peer.came));
	for (int i = 0; i < ALL; i++) {
		const double scale = !i ? 65536 : i < OWN ? i : OWN - 1;

		finish(&w[i]);
		assert_true(w[i].scale == scale);
	}
	assert_false(peer.is_late);
	OK(autocast_scaler_update_to(scaler, 65536, held));
}

/* ---- What waits for a call that loads ------------------------------------ */

static autocast_status
load(struct waiter *w)
{
	static const char text[] = "autocast-scaler 1\nscale 0x1p+3\n"
	    "growth_factor 0x1p+1\nbackoff_factor 0x1p-1\n"
	    "growth_interval 2000\ngrowth_tracker 0\nhysteresis 1\n";

	return autocast_scaler_load(scaler, text, sizeof text - 1);
}

static autocast_status
step_async(struct waiter *w)
{
	return autocast_scaler_step_async(scaler, free_one, held);
}

static autocast_status
unscale(struct waiter *w)
{
	return autocast_scaler_unscale(scaler, waiting, held);
}

static autocast_status
scale_seed(struct waiter *w)
{
	return autocast_scaler_scale(scaler, &seed, 1, held);
}

static autocast_status
set_growth(struct waiter *w)
{
	return autocast_scaler_set_growth(scaler, 2);
}

/* They would change what it changes. */
CASE(nothing_overtakes_a_load)
{
	autocast_status (*const calls[])(struct waiter *) = { step_async,
		unscale, scale_seed, set_growth, get };
	enum { CALLS = sizeof calls / sizeof *calls };
	struct waiter loading = { .call = load }, w[CALLS];
	struct peer peer;
	bool is_done[CALLS];

	hold(&peer, other);
	start(&loading);
	for (int i = 0; i < CALLS; i++) {
		w[i] = (struct waiter){ .call = calls[i] };
		assert_int_equal(pthread_create(&w[i].thread, NULL, wait_there,
		    &w[i]), 0);
	}
	(void)usleep(200000); /* what does not wait is over by then */
	for (int i = 0; i < CALLS; i++)
		is_done[i] = atomic_load(&w[i].is_done);
	OK(sem_post(&peer.came));
	finish(&loading);
	for (int i = 0; i < CALLS; i++) {
		finish(&w[i]);
		assert_false(is_done[i]);
	}
	assert_false(peer.is_late);
	assert_true(w[CALLS - 1].scale == 8);
	OK(autocast_scaler_update_to(scaler, 65536, held));
}

CASES_RUN_ON("h200,t4", begin, end)
