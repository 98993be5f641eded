/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/in_region.c -- preloaded next to the library, it opens
 * the region $REGION, "NAME,ENABLED,RUNG", before the program starts. As
 * a program does that links nothing: it looks the function up.
 * */
#include "include/autocast.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void
open_region(void)
{
	const char *region = getenv("REGION");
	char name[64] = "", rung[32] = "";
	int enabled = 1;
	autocast_status (*push)(const char *, int, const char *) = NULL;

	*(void **)&push = dlsym(RTLD_DEFAULT, "autocast_region_push");
	if (!region || sscanf(region, "%63[^,],%d,%31[^,]", name, &enabled,
	    rung) < 2)
		return;
	if (!push || push(name, enabled, *rung && strcmp(rung, "-") ? rung
	    : NULL))
		fprintf(stderr, "no region was opened\n");
}
