/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/stub.h -- what every stub library does: say on stderr that it
 * was called, at once and unbuffered, and be seen from outside. */
#ifndef TESTS_BINDING_STUB_H
#define TESTS_BINDING_STUB_H

#include <stdio.h>

#define SHOWN __attribute__((visibility("default")))

static inline void
say(const char *library, const char *what)
{
	dprintf(2, "%s: %s\n", library, what);
}

#endif
