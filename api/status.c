/* SPDX-License-Identifier: Apache-2.0 */
/* api/status.c -- the words of the public status codes. */
#include "api/status.h"

#include "api/thread.h"

#include <stdarg.h>
#include <stdio.h>

const char *
autocast_status_string(autocast_status status)
{
	static const char meanings[][80] = {
#define MEANING(name, meaning) meaning,
		AUTOCAST_STATUS_LIST(MEANING)
#undef MEANING
	};

	if ((unsigned)status >= AUTOCAST_STATUS_COUNT)
		return "unknown status";
	return meanings[status];
}

const char *
autocast_last_error(void)
{
	return ac_thread_seen->error;
}

autocast_status
ac_status_fail(autocast_status status, const char *format, ...)
{
	struct ac_thread *const thread = ac_thread_get();
	va_list arguments;

	if (!thread)
		return status;
	va_start(arguments, format);
	(void)vsnprintf(thread->error, sizeof thread->error, format, arguments);
	va_end(arguments);
	return status;
}
