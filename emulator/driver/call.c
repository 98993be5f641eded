/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/call.c -- exported calls: counted, failed on demand, and
 * named in complaints. Every exported function of the emulated libraries enters
 * here. Does not know what a call does. */
#include "emulator/driver/device.h"
#include "emulator/driver/wait.h"

#include "base/env.h"
#include "base/log.h"
#include "base/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct emu_record *) calls; /* newest first */
static _Thread_local const char *current_call = "a call";
static _Thread_local bool dropped;

static const char *
end_of(const char *s, char stop)
{
	while (*s && *s != ',' && *s != stop)
		s++;
	return s;
}

/* Whether [from, to) names the call, with or without the suffix that NVIDIA's
 * headers add. */
static bool
is_named(const struct emu_record *call, const char *from, const char *to)
{
	const size_t length = (size_t)(to - from);

	return !strncmp(from, call->name, length) &&
	    (!call->name[length] || !strcmp(call->name + length, "_v2"));
}

/* One NAME:N[:STATUS] in [from, to), of AUTOCAST_EMU_FAIL or of
 * AUTOCAST_EMU_DROP, which has no STATUS. N 0: every call. The first call of
 * all says what is none. */
static void
parse_choice(struct emu_record *call, enum ac_env_name variable,
    const char *from, const char *to)
{
	const bool fails = variable == AC_ENV_EMU_FAIL;
	const bool is_first = !atomic_load(&calls);
	const char *name = from, *name_end = end_of(from, ':');
	const bool is_it = is_named(call, name, name_end);
	const int length = (int)(name_end - name);
	double at, status = -1;
	size_t used;

	if (!is_first && !is_it)
		return;
	used = name_end == to ? 0 :
	    ac_text_number(name_end + 1, (size_t)(to - name_end - 1), &at);
	from = name_end + 1 + used;
	if (fails && used && from < to && *from == ':')
		from += 1 + ac_text_number(from + 1, (size_t)(to - from - 1),
		    &status);
	if (!length || !used || from != to) {
		if (is_first)
			ac_log(AC_LOG_ERROR, "emulated GPU: %s: expected "
			    "%.*s:N%s%.*s%s", ac_env_rows[variable].variable,
			    length, name, fails ? " or " : "",
			    fails ? length : 0, name,
			    fails ? ":N:STATUS" : "");
	} else if (!is_it || call->failures == EMU_CALL_FAILURES) {
		return;
	} else if (fails) {
		call->fail_at[call->failures] = (uint64_t)at;
		call->fail_with[call->failures++] = (int)status;
	} else {
		call->drop_at = (uint64_t)at;
	}
}

static void
parse(struct emu_record *call, enum ac_env_name variable)
{
	const char *from = ac_env(variable);

	while (*from) {
		const char *to = end_of(from, ',');

		parse_choice(call, variable, from, to);
		from = *to ? to + 1 : to;
	}
}

static struct emu_record *
make_record(const char *name)
{
	const size_t length = strlen(name) + 1;
	struct emu_record *record = calloc(1, sizeof *record + length);

	if (!record)
		emu_out_of_host_memory();
	memcpy(record->name, name, length);
	parse(record, AC_ENV_EMU_FAIL);
	parse(record, AC_ENV_EMU_DROP);
	record->next = atomic_load_explicit(&calls, memory_order_relaxed);
	atomic_store_explicit(&calls, record, memory_order_release);
	return record;
}

static struct emu_record *
find_record(struct emu_call *call)
{
	struct emu_record *record;

	pthread_mutex_lock(&calls_lock);
	record = emu_call_list();
	while (record && strcmp(record->name, call->name))
		record = record->next;
	if (!record)
		record = make_record(call->name);
	atomic_store_explicit(&call->record, record, memory_order_release);
	pthread_mutex_unlock(&calls_lock);
	return record;
}

/* Whether this entry, the N-th of the process, must fail, or is dropped. */
static int
injected(struct emu_record *call, const struct emu_family *family)
{
	uint64_t number;

	dropped = false;
	if (!call->failures && !call->drop_at)
		return EMU_OK;
	number = 1 + atomic_fetch_add_explicit(&call->entered, 1,
	    memory_order_relaxed);
	dropped = number == call->drop_at;
	for (int i = 0; i < call->failures; i++)
		if (!call->fail_at[i] || number == call->fail_at[i])
			return call->fail_with[i] > 0 ? call->fail_with[i] :
			    family->failed;
	return EMU_OK;
}

int
emu_call_enter(struct emu_call *call, const struct emu_family *family)
{
	struct emu_record *record = atomic_load_explicit(&call->record,
	    memory_order_acquire);
	const int ended = emu_device_ended();
	int status;

	if (!record)
		record = find_record(call);
	current_call = record->name;
	atomic_fetch_add_explicit(&record->count, 1, memory_order_relaxed);
	status = injected(record, family);
	if (status)
		return status;
	if (ended == EMU_DEINITIALIZED) {
		emu_count(EMU_calls_after_end, 1);
		emu_complain("called after the end of the device");
		return family->ended;
	}
	if (ended)
		return ended;
	if (emu_device_ending())
		emu_count(EMU_calls_at_end, 1);
	return EMU_OK;
}

void
emu_complain(const char *format, ...)
{
	char line[512];
	va_list args;

	emu_count(EMU_complaints, 1);
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	emu_refused(current_call, line);
	ac_log(AC_LOG_ERROR, "emulated GPU: %s: %s", current_call, line);
}

void
emu_call_name(const char *name)
{
	current_call = name;
}

const char *
emu_call_current(void)
{
	return current_call;
}

bool
emu_call_is_dropped(void)
{
	return dropped;
}

struct emu_record *
emu_call_list(void)
{
	return atomic_load_explicit(&calls, memory_order_acquire);
}
