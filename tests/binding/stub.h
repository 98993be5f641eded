/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/stub.h -- what every stub library does: say on stderr that it
 * was called, at once and unbuffered, and be seen from outside. */
#ifndef TESTS_BINDING_STUB_H
#define TESTS_BINDING_STUB_H

#include <stdio.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

static inline void
say(const char *library, const char *what)
{
	char line[128];
	const int length = snprintf(line, sizeof line, "%s: %s\n", library,
	    what);

	/* Not dprintf(): a thread cancelled in it leaves a stream behind that
	 * is gone. */
	if (length > 0 && write(2, line, (size_t)length) < 0)
		return;
}

#endif
