/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/device.c -- the emulated devices: which ones exist, and
 * whether they are up. life.c brings them up and ends them. */
#include "emulator/driver/device.h"
#include "emulator/driver/context.h"

#include "base/env.h"
#include "base/log.h"
#include "base/text.h"

#include <pthread.h>
#include <string.h>

/* The most launches of a stream's queue, and tasks that it lags behind. */
enum { QUEUE = 1024, LATE = 1 << 20 };

static _Atomic int life = EMU_LIFE_DOWN;
static _Atomic bool ending;
static struct {
	const struct emu_model *model;
	uint64_t memory;
	bool has_tf32;
} devices[EMU_DEVICES]; /* fixed when up, like all here */
static int device_count;
static uint64_t jitter_seed, endless, threads;
static uint32_t queue_room, late;
static enum emu_sums sums;

/* What is no number is said, and is as if it was not there. */
static uint64_t
number_from_environment(enum ac_env_name name, uint64_t fallback)
{
	const char *const standard = ac_env_rows[name].fallback;
	const char *text = ac_env(name);
	const size_t length = strlen(text);
	double value;

	if (!length)
		return fallback;
	if (ac_text_number(text, length, &value) == length && value < 1e18)
		return (uint64_t)value;
	ac_log(AC_LOG_ERROR, "emulated GPU: %s=%s is not a number: %s is taken",
	    ac_env_rows[name].variable, text, *standard ? standard
	    : name == AC_ENV_EMU_MEMORY ? "the model's" : "none");
	if (*standard && ac_text_number(standard, strlen(standard), &value))
		return (uint64_t)value;
	return fallback;
}

/* From `least` to `most`. */
static uint32_t
small_number(enum ac_env_name name, uint32_t least, uint32_t most)
{
	const uint64_t number = number_from_environment(name, least);

	return number < least ? least : number > most ? most :
	    (uint32_t)number;
}

/* Which of `words` a variable holds; the first, after a complaint, if none. */
static int
word_from_environment(enum ac_env_name name, const char *const *words)
{
	const char *text = ac_env(name);

	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	ac_log(AC_LOG_ERROR, "emulated GPU: %s=%s is not known: %s is taken",
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
			    "b200, b300, a100, l40s, rtx4090, rtx5090, "
			    "rtxpro6000 and t4 are)", list, EMU_DEVICES);
			return false;
		}
		devices[device_count++].model = model;
		at += length;
		if (!*at)
			return true;
	}
}

/* Once, whoever asks first. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool known;

static void
read_once(void)
{
	known = read_models(ac_env(AC_ENV_EMU_MODEL));
	for (int i = 0; i < device_count; i++)
		devices[i].memory = number_from_environment(
		    AC_ENV_EMU_MEMORY, devices[i].model->memory);
}

int
emu_device_count(void)
{
	pthread_once(&once, read_once);
	return known ? device_count : 0;
}

bool
emu_devices_read(void)
{
	static const char *const ways[] = { "fast", "exact", "reference",
		"once", NULL };
	static const char *const kernels[] = { "twins", "ptx", NULL };
	const bool tf32 = strcmp(ac_env(AC_ENV_TF32_OVERRIDE), "0");

	if (!emu_device_count())
		return false;
	for (int i = 0; i < device_count; i++)
		devices[i].has_tf32 = devices[i].model->major >= 8 && tf32;
	sums = (enum emu_sums)word_from_environment(AC_ENV_EMU_SUMS, ways);
	(void)word_from_environment(AC_ENV_EMU_KERNELS, kernels);
	queue_room = small_number(AC_ENV_EMU_QUEUE, 1, QUEUE);
	late = small_number(AC_ENV_EMU_LATE, 0, LATE);
	jitter_seed = number_from_environment(AC_ENV_EMU_JITTER, 0);
	endless = number_from_environment(AC_ENV_EMU_ENDLESS, 0);
	threads = number_from_environment(AC_ENV_EMU_THREADS, 0);
	return true;
}

enum emu_life
emu_life(void)
{
	return (enum emu_life)atomic_load_explicit(&life,
	    memory_order_acquire);
}

void
emu_life_set(enum emu_life now)
{
	atomic_store_explicit(&life, now, memory_order_release);
}

void
emu_life_set_ending(void)
{
	atomic_store(&ending, true);
}

bool
emu_device_is_up(void)
{
	return emu_life() == EMU_LIFE_UP;
}

int
emu_device_ended(void)
{
	switch (atomic_load_explicit(&life, memory_order_relaxed)) {
	case EMU_LIFE_ENDED:
		return EMU_DEINITIALIZED;
	case EMU_LIFE_FORKED:
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

void
emu_device_uuid(int device, unsigned char uuid[static 16])
{
	memcpy(uuid, "emulated device", 16);
	uuid[15] = (unsigned char)('0' + device);
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

uint32_t
emu_device_queue(void)
{
	return queue_room;
}

uint32_t
emu_device_late(void)
{
	return late;
}

uint64_t
emu_device_endless(void)
{
	return endless;
}

unsigned
emu_device_threads(void)
{
	return threads < UINT32_MAX ? (unsigned)threads : UINT32_MAX;
}

void
emu_device_not_exact(const char *what)
{
	static atomic_bool said;

	emu_count(EMU_products_not_exact, 1);
	if (!atomic_exchange(&said, true))
		ac_log(AC_LOG_ERROR, "emulated GPU: AUTOCAST_EMU_SUMS=exact: "
		    "not the GPU's sums: %s (said once)", what);
}

enum emu_sums
emu_device_sums(void)
{
	return sums;
}
