/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/found.c -- the findings of a launch, its early end, its
 * memory. */
#include "emulator/ptx/run.h"

#include <stdarg.h>
#include <stdlib.h>

const char *const ptx_finding_name[PTX_FINDINGS] = {
	"outside", "read-only", "misaligned", "uninitialised", "race of warps",
	"race in a warp", "divergent barrier", "deadlock", "members",
	"source lane", "spin", "trap", "unsupported"
};

uint64_t
ptx_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

void
ptx_found(struct warp *w, const struct ptx_instruction *in, int lane,
    enum ptx_finding finding, const char *format, ...)
{
	struct launch *l = w->block->launch;
	const unsigned thread = w->index * LANES + (unsigned)lane;
	va_list list;

	l->result->findings[finding]++;
	for (size_t i = 0; i < l->seen_count; i++)
		if (l->seen[i].in == in && l->seen[i].finding == (int)finding)
			return;
	if (l->seen_count == sizeof l->seen / sizeof *l->seen)
		return;
	l->seen[l->seen_count++] = (struct seen){ in, finding };
	if (!l->options->report)
		return;
	fprintf(l->options->report, "%s: %s: line %u, block %u,%u,%u thread "
	    "%u,%u,%u: ", l->kernel->name, ptx_finding_name[finding],
	    in ? in->line : 0, w->block->at[0], w->block->at[1],
	    w->block->at[2], thread % l->size[0], thread / l->size[0] %
	    l->size[1], thread / l->size[0] / l->size[1]);
	va_start(list, format);
	vfprintf(l->options->report, format, list);
	va_end(list);
	fputc('\n', l->options->report);
}

_Noreturn void
ptx_stop(struct launch *l)
{
	longjmp(l->out, 1);
}

void *
ptx_memory(struct launch *l, size_t bytes)
{
	void *block = aligned_alloc(64, (bytes + 127) / 64 * 64);

	if (!block)
		ptx_stop(l);
	return block;
}

void
ptx_noise(struct launch *l, void *to, size_t bytes)
{
	uint64_t *word = to;

	if (!l->options->fill) {
		memset(to, 0, bytes);
		return;
	}
	for (size_t i = 0; i < bytes / 8; i++)
		word[i] = ptx_random(&l->random);
}
