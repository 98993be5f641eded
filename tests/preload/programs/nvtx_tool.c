/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_tool.c -- a profiler's library: writes what ranges of NVTX begin and end
 * into the file NVTX_TOOL_OUT, a line each with the thread's depth in front.
 * NVTX_TOOL_REFUSES=1: it wants none. Types and numbers are those of
 * nvtx3/nvtxDetail/nvtxTypes.h. */
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

struct callbacks {
	size_t size;
	int (*functions)(int module, void ***table_out, unsigned *count_out);
};

static FILE *out;
static _Thread_local int depth;

static int
push(const char *name)
{
	fprintf(out, "%d push %s\n", depth, name);
	return depth++;
}

static int
pop(void)
{
	depth--;
	fprintf(out, "%d pop\n", depth);
	return depth;
}

__attribute__((visibility("default")))
int InitializeInjectionNvtx2(const void *(*table)(uint32_t));

int
InitializeInjectionNvtx2(const void *(*table)(uint32_t))
{
	const struct callbacks *callbacks = table(1);
	const char *refuses = getenv("NVTX_TOOL_REFUSES");
	void **core = NULL;
	unsigned count = 0;

	out = fopen(getenv("NVTX_TOOL_OUT"), "a");
	if (!out)
		return 0;
	setvbuf(out, NULL, _IOLBF, 0);
	fputs("0 loaded\n", out);
	/* Module 2 names devices: of that we have none. */
	if (table(7) || !callbacks || callbacks->size < sizeof *callbacks
	    || callbacks->functions(2, &core, &count)
	    || !callbacks->functions(1, &core, &count) || count < 12) {
		fputs("0 broken\n", out);
		return 0;
	}
	if (refuses)
		return 0;
	for (unsigned i = 1; i < count; i++) {
		if (!core[i])
			fputs("0 broken\n", out);
		else if (i != 9 && i != 11)
			*(void **)core[i] = NULL;
	}
	*(void **)core[9] = (void *)(uintptr_t)push;
	*(void **)core[11] = (void *)(uintptr_t)pop;
	return 1;
}
