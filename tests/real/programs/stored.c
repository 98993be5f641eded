/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/stored.c -- what the library reads from the JSON of a
 * plan: stored FILE. */
#include "shim/graph/stored.h"

#include <stdio.h>

int
main(int argc, char **argv)
{
	static char text[1 << 14];
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	struct ac_conv conv;

	if (!file || !fread(text, 1, sizeof text - 1, file) || fclose(file))
		return 99;
	if (!ac_stored_read(text, &conv)) {
		puts("not read");
		return 0;
	}
	printf("operation=%d steps=%d more=%d n=%lld c=%lld k=%lld pad=%lld "
	    "alignment=%lld\n", conv.operation - AC_OP_CONV_FPROP, conv.steps,
	    conv.has_more, (long long)conv.x.dim[0], (long long)conv.x.dim[1],
	    (long long)conv.w.dim[0], (long long)conv.pad[0],
	    (long long)conv.x.alignment);
	return 0;
}
