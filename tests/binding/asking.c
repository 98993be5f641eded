/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/asking.c -- linked to the two libraries of who.c. */
#include <stdio.h>

extern int who(void);
extern int who_versioned(void);

int
main(void)
{
	dprintf(1, "who %d %d\n", who(), who_versioned());
	return 0;
}
