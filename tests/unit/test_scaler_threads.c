/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_scaler_threads.c -- one gradient scaler and two threads: what
 * the second may do, and what it may not, while the first one waits for the
 * device. */
#include "test_emu.h"

#include "include/autocast_scaler.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

static autocast_scaler *scaler;
static autocast_group *waiting, *free_one; /* the first is stepped on `held` */
static autocast_tensor seed;
static cudaStream_t held, other;
static struct test_gate gate;

static int
begin(void **state)
{
	autocast_group **const groups[2] = { &waiting, &free_one };
	autocast_tensor t;

	(void)state;
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
	(void)state;
	autocast_scaler_destroy(scaler);
	OK(cudaDeviceReset());
	return 0;
}

/* A call in another thread, which waits for the device before it goes on. */
struct waiter {
	autocast_status (*call)(struct waiter *w);
	pthread_t thread;
	atomic_bool is_done;
	autocast_status status;
	int stepped;
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
static void
an_update_beside_a_step(void **state)
{
	struct waiter w = { .call = step };
	autocast_status ended[3];
	double scale;

	(void)state;
	test_gate_close(&gate, held);
	start(&w);
	ended[0] = autocast_scaler_step_async(scaler, free_one, other);
	ended[1] = autocast_scaler_update(scaler, other);
	ended[2] = autocast_scaler_update_to(scaler, 4, other);
	test_gate_open(&gate);
	finish(&w);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_update_beside_a_step),
	};

	setenv("AUTOCAST_EMU_MODEL", "h200,t4", 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
