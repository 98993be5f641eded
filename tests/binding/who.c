/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/who.c -- two libraries that define the same names: the first
 * asks dlsym(RTLD_NEXT) for the second's, which ANSWERS. A hook that calls
 * dlsym() from its own frame makes the first find itself. */
#include <dlfcn.h>
#include <stdint.h>

int who(void);
int who_versioned(void);

#ifdef ANSWERS

int
who(void)
{
	return 42;
}

int
who_versioned(void)
{
	return 43;
}

#else

int
who(void)
{
	int (*next)(void) = (int (*)(void))(uintptr_t)dlsym(RTLD_NEXT, "who");

	return next == who ? -1 : next ? next() : -2;
}

int
who_versioned(void)
{
	int (*next)(void) = (int (*)(void))(uintptr_t)dlvsym(RTLD_NEXT,
	    "who_versioned", "WHO_1");

	return next == who_versioned ? -1 : next ? next() : -2;
}

#endif
