/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/device.c -- the emulated devices: which ones exist, their
 * start and their end. Owns no context, memory, stream or event; calls the
 * files that own them when the devices end. */
#include "emulator/driver/device.h"
#include "emulator/driver/capture.h"
#include "emulator/driver/module.h"

#include "base/env.h"
#include "base/log.h"
#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum life { DOWN, UP, NO_DEVICE, ENDED, FORKED };
static _Atomic int life = DOWN;
static _Atomic bool ending;
static pthread_mutex_t up_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	const struct emu_model *model;
	uint64_t memory;
	bool has_tf32;
} devices[EMU_DEVICES]; /* fixed when up, like all here */
static int device_count;
static uint64_t jitter_seed;
static enum emu_sums sums;

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

/* Which of `words` a variable holds; the first, after a complaint, if none. */
static int
word_from_environment(enum ac_env_name name, const char *const *words)
{
	const char *text = ac_env(name);

	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	ac_log(AC_LOG_ERROR, "emulated GPU: %s=%s is not known; %s it is",
	    ac_env_rows[name].variable, text, words[0]);
	return 0;
}

/* One device per name of the list. */
static bool
read_models(const char *list)
{
	const char *at = list;

	for (;; at++) {
		const size_t length = strcspn(at, ",");
		const struct emu_model *model = emu_model_find(at, length);

		if (!model || device_count == EMU_DEVICES) {
			ac_log(AC_LOG_ERROR, "emulated GPU: AUTOCAST_EMU_MODEL"
			    "=%s is not a list of up to %d models (h200, h100, "
			    "b200, a100, l40s, rtx4090 and t4 are)", list,
			    EMU_DEVICES);
			return false;
		}
		devices[device_count++].model = model;
		at += length;
		if (!*at)
			return true;
	}
}

/* Runs when main() has returned. Workers must not run into the libraries'
 * destructors, so they finish here; later exit handlers of the program may
 * still call us, and their work then runs within the call. */
static void
quiesce(void)
{
	if (atomic_load(&life) != UP)
		return;
	atomic_store(&ending, true);
	emu_streams_quiesce();
}

void
emu_device_end_first(void)
{
	atexit(quiesce);
}

static void
after_fork(void)
{
	atomic_store(&life, FORKED);
}

static void
start(void)
{
	static const char *const ways[] = { "fast", "exact", "reference",
		"once", NULL };
	const bool tf32 = strcmp(ac_env(AC_ENV_TF32_OVERRIDE), "0");

	if (!read_models(ac_env(AC_ENV_EMU_MODEL))) {
		atomic_store(&life, NO_DEVICE);
		return;
	}
	for (int i = 0; i < device_count; i++) {
		const struct emu_model *model = devices[i].model;

		devices[i].memory = number_from_environment(
		    AC_ENV_EMU_MEMORY, model->memory);
		devices[i].has_tf32 = model->major >= 8 && tf32;
	}
	sums = (enum emu_sums)word_from_environment(AC_ENV_EMU_SUMS, ways);
	jitter_seed = number_from_environment(AC_ENV_EMU_JITTER, 0);
	emu_clock_prepare();
	emu_contexts_prepare(device_count);
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
	struct CUctx_st *context;

	if (status)
		return status;
	if (!emu_context_current())
		emu_context_make_current(emu_context_primary(0));
	context = emu_context_current();
	emu_context_activate(context);
	if (!atomic_load_explicit(&context->alive, memory_order_acquire))
		return EMU_CONTEXT_DESTROYED;
	return emu_context_error(context);
}

int
emu_device_select(int device)
{
	const int status = emu_device_up();

	if (status)
		return status;
	if (device < 0 || device >= device_count)
		return EMU_INVALID_DEVICE;
	emu_context_make_current(emu_context_primary(device));
	return emu_device_enter();
}

int
emu_device_count(void)
{
	return device_count;
}

bool
emu_device_exists(int device)
{
	return device >= 0 && device < device_count;
}

const struct emu_model *
emu_device_model(int device)
{
	return devices[device].model;
}

bool
emu_device_has_tf32(int device)
{
	return devices[device].has_tf32;
}

uint64_t
emu_device_memory(int device)
{
	return devices[device].memory;
}

uint64_t
emu_device_jitter(void)
{
	return jitter_seed;
}

enum emu_sums
emu_device_sums(void)
{
	return sums;
}

int
emu_device_reset(void)
{
	int status = emu_device_up();

	if (!status)
		status = emu_capture_forbid();
	return status ? status :
	    emu_context_end(emu_context_primary(emu_context_device()));
}

/* The library's end: nothing runs any more; free everything. */
__attribute__((destructor))
static void
end(void)
{
	const int was = atomic_load(&life);

	if (was == FORKED)
		return;
	if (was == UP) {
		quiesce();
		emu_graphs_release();
		emu_streams_release();
		emu_events_release();
		emu_memory_release();
		emu_contexts_release();
		emu_libraries_release();
		emu_twins_release();
	}
	atomic_store(&life, ENDED);
	emu_counters_write();
}
