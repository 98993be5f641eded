/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/clock.c -- the modelled clock: what queued work would take on the
 * GPU, by the model's rates. AUTOCAST_EMU_CLOCK=model makes events tell it.
 *
 * Every thread has a time of its own. A worker's is its stream's: work begins
 * no earlier than it was queued and advances it; points carry it to those that
 * wait for them, host threads among them, whose own work takes no time. So it
 * follows from the order of the program alone, whatever the CPU took. Streams
 * do not slow one another down; a query does not advance anybody. */
#include "emulator/device.h"

#include "base/env.h"
#include "base/log.h"
#include "base/text.h"

#include <string.h>

#define PICOSECONDS 1e12

static const char *const names[EMU_RATES + 1] = {
	[EMU_FP64] = "fp64", [EMU_FP32] = "fp32", [EMU_TF32] = "tf32",
	[EMU_BF16] = "bf16", [EMU_FP16] = "fp16", [EMU_MEMORY] = "memory",
	[EMU_LINK] = "link", [EMU_RATES] = "launch"
};

static bool modelled;               /* frozen when the devices are up */
static double factor[EMU_RATES + 1]; /* the last one multiplies a time */
static _Thread_local uint64_t now;

static int
name_index(const char *text, size_t length)
{
	for (int i = 0; i <= EMU_RATES; i++)
		if (strlen(names[i]) == length &&
		    !memcmp(names[i], text, length))
			return i;
	return -1;
}

/* NAME=FACTOR, and what is behind it, or NULL. */
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
	double read[EMU_RATES + 1];
	const char *at = text;

	for (int i = 0; i <= EMU_RATES; i++)
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
		    "neither real nor model; real it is", kind);
	for (int i = 0; i <= EMU_RATES; i++)
		factor[i] = 1;
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
		spend(model()->launch * factor[EMU_RATES]);
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
