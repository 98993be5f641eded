/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/device.c -- the one emulated device: its model, its primary
 * context, its start and its end. Owns no memory, stream or event; tells the
 * files that do when to let go. */
#include "emulator/device.h"
#include "emulator/context.h"
#include "emulator/module.h"

#include "base/env.h"
#include "base/log.h"
#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GB (1000ull * 1000 * 1000)
static const struct emu_model models[] = {
	{ .key = "h200", .name = "NVIDIA H200 (emulated)", .major = 9,
	  .minor = 0, .multiprocessors = 132, .memory = 141 * GB,
	  .clock_khz = 1980000, .memory_clock_khz = 3201000,
	  .bus_width = 6144, .l2_bytes = 60 << 20, .shared_per_block = 232448,
	  .shared_per_multiprocessor = 233472,
	  .threads_per_multiprocessor = 2048 },
	{ .key = "t4", .name = "Tesla T4 (emulated)", .major = 7, .minor = 5,
	  .multiprocessors = 40, .memory = 16 * GB, .clock_khz = 1590000,
	  .memory_clock_khz = 5001000, .bus_width = 256, .l2_bytes = 4 << 20,
	  .shared_per_block = 65536, .shared_per_multiprocessor = 65536,
	  .threads_per_multiprocessor = 1024 },
};

enum life { DOWN, UP, NO_DEVICE, ENDED, FORKED };
static _Atomic int life = DOWN;
static _Atomic bool ending;
static pthread_mutex_t up_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct emu_model *model; /* frozen when up */
static uint64_t memory_bytes, jitter_seed;
static bool has_tf32;

static struct CUctx_st primary;
static _Thread_local struct CUctx_st *current;
static _Atomic int poison;

static uint64_t
number_from_environment(enum ac_env_name name, uint64_t fallback)
{
	const char *text = ac_env(name);
	const size_t length = strlen(text);
	double value;

	if (!length)
		return fallback;
	if (ac_text_number(text, length, &value) == length && value < 1e18)
		return (uint64_t)value;
	ac_log(AC_LOG_ERROR, "emulated GPU: %s=%s is not a number",
	    ac_env_rows[name].variable, text);
	return fallback;
}

static const struct emu_model *
find_model(const char *key)
{
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (!strcmp(models[i].key, key))
			return &models[i];
	return NULL;
}

/* Runs when main() has returned. Workers must not run into the libraries'
 * destructors, so they finish here; a program's later exit handlers may still
 * call us, and their work then runs within the call. */
static void
quiesce(void)
{
	if (atomic_load(&life) != UP)
		return;
	atomic_store(&ending, true);
	emu_streams_quiesce();
}

static void
after_fork(void)
{
	atomic_store(&life, FORKED);
}

static void
start(void)
{
	const char *key = ac_env(AC_ENV_EMU_MODEL);

	model = find_model(key);
	if (!model) {
		ac_log(AC_LOG_ERROR, "emulated GPU: AUTOCAST_EMU_MODEL=%s is "
		    "not a model (h200 and t4 are)", key);
		atomic_store(&life, NO_DEVICE);
		return;
	}
	memory_bytes = number_from_environment(AC_ENV_EMU_MEMORY,
	    model->memory);
	jitter_seed = number_from_environment(AC_ENV_EMU_JITTER, 0);
	has_tf32 = model->major >= 8 && strcmp(ac_env(AC_ENV_TF32_OVERRIDE),
	    "0");
	atexit(quiesce);
	pthread_atfork(NULL, NULL, after_fork);
	atomic_store_explicit(&life, UP, memory_order_release);
}

int
emu_device_up(void)
{
	if (atomic_load_explicit(&life, memory_order_acquire) == DOWN) {
		pthread_mutex_lock(&up_lock);
		if (atomic_load(&life) == DOWN)
			start();
		pthread_mutex_unlock(&up_lock);
	}
	switch (atomic_load_explicit(&life, memory_order_acquire)) {
	case UP:
		return EMU_OK;
	case NO_DEVICE:
		return EMU_NO_DEVICE;
	case FORKED:
		return EMU_NOT_INITIALIZED;
	default:
		return EMU_DEINITIALIZED;
	}
}

bool
emu_device_is_up(void)
{
	return atomic_load_explicit(&life, memory_order_acquire) == UP;
}

int
emu_device_ended(void)
{
	switch (atomic_load_explicit(&life, memory_order_relaxed)) {
	case ENDED:
		return EMU_DEINITIALIZED;
	case FORKED:
		return EMU_NOT_INITIALIZED;
	default:
		return EMU_OK;
	}
}

bool
emu_device_ending(void)
{
	return atomic_load_explicit(&ending, memory_order_relaxed);
}

int
emu_device_enter(void)
{
	const int status = emu_device_up();

	if (status)
		return status;
	if (!current)
		current = &primary;
	emu_context_activate(&primary);
	return atomic_load_explicit(&poison, memory_order_relaxed);
}

const struct emu_model *
emu_device_model(void)
{
	return model;
}

bool
emu_device_has_tf32(void)
{
	return has_tf32;
}

uint64_t
emu_device_memory(void)
{
	return memory_bytes;
}

uint64_t
emu_device_jitter(void)
{
	return jitter_seed;
}

void
emu_device_poison(int status)
{
	atomic_store_explicit(&poison, status, memory_order_relaxed);
}

int
emu_device_error(void)
{
	return atomic_load_explicit(&poison, memory_order_relaxed);
}

int
emu_device_reset(void)
{
	const int status = emu_device_up();

	if (status)
		return status;
	emu_stream_wait_all();
	emu_streams_drop();
	emu_events_drop();
	emu_memory_drop();
	emu_device_poison(EMU_OK);
	atomic_store(&primary.alive, false);
	return EMU_OK;
}

void
emu_context_activate(struct CUctx_st *context)
{
	static _Atomic uint64_t next = 1;
	bool dead = false;

	/* A context that comes back after a reset is a new one: new id. */
	if (!atomic_load_explicit(&context->alive, memory_order_acquire) &&
	    atomic_compare_exchange_strong(&context->alive, &dead, true))
		atomic_store(&context->id, atomic_fetch_add(&next, 1));
}

struct CUctx_st *
emu_context_primary(void)
{
	return &primary;
}

void
emu_context_make_current(struct CUctx_st *context)
{
	current = context;
}

int
emu_context_current(struct CUctx_st **context_out)
{
	*context_out = current;
	return EMU_OK;
}

/* The library's end: nothing runs any more, everything is given back. */
__attribute__((destructor))
static void
end(void)
{
	const int was = atomic_load(&life);

	if (was == FORKED)
		return;
	if (was == UP) {
		quiesce();
		emu_streams_release();
		emu_events_release();
		emu_memory_release();
		emu_libraries_release();
	}
	atomic_store(&life, ENDED);
	emu_counters_write();
}
