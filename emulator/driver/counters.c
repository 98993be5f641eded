/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/counters.c -- counts what the device did, for tests. Relaxed
 * atomics: a counter orders nothing. Tests read them by emuCounter(); they are
 * written to AUTOCAST_EMU_COUNTERS when the device ends. */
#include "emulator/driver/device.h"

#include "base/env.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static _Atomic uint64_t counters[EMU_COUNTERS];
static const char *const names[] = {
#define COUNTER(name) #name,
#include "emulator/driver/counters.def"
#undef COUNTER
};

static uint64_t
get(_Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void
set(_Atomic uint64_t *counter, uint64_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

void
emu_count(enum emu_counter counter, uint64_t amount)
{
	uint64_t now, peak;

	now = amount + atomic_fetch_add_explicit(&counters[counter], amount,
	    memory_order_relaxed);
	if (counter != EMU_device_bytes)
		return;
	peak = get(&counters[EMU_device_bytes_peak]);
	while (now > peak && now < UINT64_MAX / 2 &&
	    !atomic_compare_exchange_weak_explicit(
	    &counters[EMU_device_bytes_peak], &peak, now,
	    memory_order_relaxed, memory_order_relaxed))
		;
}

uint64_t
emuCounter(const char *name)
{
	for (int i = 0; i < EMU_COUNTERS; i++)
		if (!strcmp(name, names[i]))
			return get(&counters[i]);
	for (struct emu_record *c = emu_call_list(); c; c = c->next)
		if (!strcmp(name, c->name))
			return get(&c->count);
	return 0;
}

void
emuCountersReset(void)
{
	for (int i = 0; i < EMU_COUNTERS; i++)
		if (i != EMU_device_bytes)
			set(&counters[i], 0);
	set(&counters[EMU_device_bytes_peak],
	    get(&counters[EMU_device_bytes]));
	for (struct emu_record *c = emu_call_list(); c; c = c->next)
		set(&c->count, 0);
}

void
emu_counters_write(void)
{
	const char *path = ac_env(AC_ENV_EMU_COUNTERS);
	FILE *file;

	if (!*path)
		return;
	file = fopen(path, "we");
	if (!file) {
		ac_log(AC_LOG_ERROR, "emulated GPU: cannot write counters to "
		    "%s: %s", path, strerror(errno));
		return;
	}
	for (int i = 0; i < EMU_COUNTERS; i++)
		fprintf(file, "%s %llu\n", names[i],
		    (unsigned long long)get(&counters[i]));
	for (struct emu_record *c = emu_call_list(); c; c = c->next)
		fprintf(file, "%s %llu\n", c->name,
		    (unsigned long long)get(&c->count));
	fclose(file);
}
