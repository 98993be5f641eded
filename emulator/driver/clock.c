/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/clock.c -- the modelled clock: the time that queued work
 * would take on the GPU, from the model's rates. With AUTOCAST_EMU_CLOCK=model
 * events report it.
 *
 * Every thread has a time of its own. A worker's is its stream's: work begins
 * no earlier than it was queued, and advances it; points carry it to the
 * threads that wait for them, the host's too. The host's own work takes no
 * time, except for calls that queue something, and only if AUTOCAST_EMU_RATES
 * has a host=: most tests want a device that never waits for its host. So the
 * time depends on the order of the program alone, not on the CPU. Streams do
 * not slow each other down; a query advances nobody. */
#include "emulator/driver/device.h"

#include "base/env.h"
#include "base/log.h"
#include "base/text.h"

#include <string.h>

#define PICOSECONDS 1e12

/* The time that the host needs to queue a kernel, a product or a copy: assumed,
 * as in policy/profit/rates.def; an event, or a wait for one, takes a quarter
 * of it. */
#define HOST_CALL 3e-6
#define EVENT_SHARE 0.25

/* Factors of rates, and of two times. */
enum { LAUNCH = EMU_RATES, HOST, FACTORS };

static const char *const names[FACTORS] = {
	[EMU_FP64] = "fp64", [EMU_FP32] = "fp32", [EMU_TF32] = "tf32",
	[EMU_BF16] = "bf16", [EMU_FP16] = "fp16", [EMU_MEMORY] = "memory",
	[EMU_LINK] = "link", [LAUNCH] = "launch",
	[HOST] = "host"
};

static bool modelled;               /* fixed when the devices are up */
static double factor[FACTORS];
static _Thread_local uint64_t now;

static int
name_index(const char *text, size_t length)
{
	for (int i = 0; i < FACTORS; i++)
		if (strlen(names[i]) == length &&
		    !memcmp(names[i], text, length))
			return i;
	return -1;
}

/* NAME=FACTOR; returns the rest of the text, or NULL. */
static const char *
read_factor(const char *text, double *factors)
{
	const char *end = strchr(text, '=');
	const int which = end ? name_index(text, (size_t)(end - text)) : -1;
	size_t used;
	double value;

	if (which < 0)
		return NULL;
	end++;
	used = ac_text_number(end, strlen(end), &value);
	if (!used || !(value > 0 && value <= 1e9))
		return NULL;
	factors[which] = value;
	return end + used;
}

static void
read_factors(const char *text)
{
	double read[FACTORS];
	const char *at = text;

	for (int i = 0; i < FACTORS; i++)
		read[i] = factor[i];
	while (at && *at) {
		at = read_factor(at, read);
		if (at && *at == ',' && at[1])
			at++;
		else if (at && *at)
			at = NULL;
	}
	if (at)
		memcpy(factor, read, sizeof factor);
	else
		ac_log(AC_LOG_ERROR, "emulated GPU: AUTOCAST_EMU_RATES=%s is "
		    "not a list like tf32=0.25,fp16=2; ignored", text);
}

void
emu_clock_prepare(void)
{
	const char *kind = ac_env(AC_ENV_EMU_CLOCK);

	modelled = !strcmp(kind, "model");
	if (!modelled && strcmp(kind, "real"))
		ac_log(AC_LOG_ERROR, "emulated GPU: AUTOCAST_EMU_CLOCK=%s is "
		    "neither real nor model: real is taken", kind);
	for (int i = 0; i < FACTORS; i++)
		factor[i] = i != HOST;
	read_factors(ac_env(AC_ENV_EMU_RATES));
}

bool
emu_clock_is_modelled(void)
{
	return modelled;
}

uint64_t
emu_clock_now(void)
{
	return now;
}

void
emu_clock_set(uint64_t time)
{
	now = time;
}

void
emu_clock_reach(uint64_t time)
{
	if (time > now)
		now = time;
}

static const struct emu_model *
model(void)
{
	return emu_device_model(emu_context_device());
}

static double
seconds(enum emu_rate rate, double amount)
{
	const double speed = model()->rate[rate] * factor[rate];

	return speed > 0 ? amount / speed : 0;
}

static void
spend(double time)
{
	now += (uint64_t)(time * PICOSECONDS + 0.5);
}

void
emu_clock_launch(void)
{
	if (modelled)
		spend(model()->launch * factor[LAUNCH]);
}

void
emu_clock_idle(double idle)
{
	if (modelled)
		spend(idle * factor[LAUNCH]);
}

void
emu_clock_call(bool is_event)
{
	if (modelled)
		spend(HOST_CALL * factor[HOST] * (is_event ? EVENT_SHARE : 1));
}

void
emu_clock_move(enum emu_rate through, uint64_t bytes)
{
	if (modelled)
		spend(seconds(through, (double)bytes));
}

void
emu_clock_compute(enum emu_rate arithmetic, double operations, uint64_t bytes)
{
	double time, moves;

	if (!modelled)
		return;
	time = seconds(arithmetic, operations);
	moves = seconds(EMU_MEMORY, (double)bytes);
	spend(time > moves ? time : moves);
}
