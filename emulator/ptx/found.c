/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/found.c -- the findings of a launch, its early end, its
 * memory. */
#include "emulator/ptx/run.h"

#include <stdarg.h>
#include <stdlib.h>

const char *const ptx_finding_name[PTX_FINDINGS] = {
	"outside", "read-only", "misaligned", "uninitialised", "race of warps",
	"race in a warp", "divergent barrier", "deadlock", "members",
	"source lane", "spin", "trap", "assert",
	"unsupported"
};

struct place {
	int lane;
	enum ptx_finding finding;
};

uint64_t
ptx_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* The entry that this finding is to fill; NULL: nothing is to be said. */
static struct seen *
entry_of(struct launch *l, const struct ptx_instruction *in,
    enum ptx_finding finding, uint64_t block)
{
	for (size_t i = 0; i < l->seen_count; i++) {
		struct seen *const s = &l->seen[i];

		if (s->in == in && s->finding == (int)finding)
			return s->text && block < s->block ? s : NULL;
	}
	if (l->seen_count == sizeof l->seen / sizeof *l->seen)
		return NULL;
	l->seen[l->seen_count] = (struct seen){ in, finding, block, NULL };
	return &l->seen[l->seen_count++];
}

__attribute__((format(printf, 5, 0))) static void
say(FILE *to, const struct warp *w, const struct ptx_instruction *in,
    struct place where, const char *format, va_list list)
{
	const struct launch *l = w->block->launch;
	const unsigned thread = w->index * LANES + (unsigned)where.lane;

	fprintf(to, "%s: %s: line %u, block %u,%u,%u thread %u,%u,%u: ",
	    l->kernel->name, ptx_finding_name[where.finding],
	    in ? in->line : 0, w->block->at[0], w->block->at[1],
	    w->block->at[2], thread % l->size[0], thread / l->size[0] %
	    l->size[1], thread / l->size[0] / l->size[1]);
	vfprintf(to, format, list);
	fputc('\n', to);
}

/* With several workers, at the end: the order of blocks is not that of time. */
void
ptx_found(struct warp *w, const struct ptx_instruction *in, int lane,
    enum ptx_finding finding, const char *format, ...)
{
	const struct place where = { lane, finding };
	struct launch *l = w->block->launch;
	struct seen *s;
	va_list list;
	size_t size;
	FILE *to;

	pthread_mutex_lock(&l->lock);
	l->result->findings[finding]++;
	s = entry_of(l, in, finding, w->block->number);
	va_start(list, format);
	if (s && l->options->report && !l->crowded) {
		say(l->options->report, w, in, where, format, list);
	} else if (s && l->options->report) {
		free(s->text);
		s->text = NULL;
		s->block = w->block->number;
		to = open_memstream(&s->text, &size);
		if (!to)
			abort();
		say(to, w, in, where, format, list);
		fclose(to);
	}
	va_end(list);
	pthread_mutex_unlock(&l->lock);
}

static int
by_block(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->in < y->in ? -1 : x->in > y->in;
}

void
ptx_found_end(struct launch *l)
{
	qsort(l->seen, l->seen_count, sizeof *l->seen, by_block);
	for (size_t i = 0; i < l->seen_count; i++) {
		if (l->seen[i].text)
			fputs(l->seen[i].text, l->options->report);
		free(l->seen[i].text);
	}
}

_Noreturn void
ptx_stop(struct host_thread *r)
{
	atomic_store(&r->launch->stopped, true);
	longjmp(r->out, 1);
}

void *
ptx_memory(struct host_thread *r, size_t bytes)
{
	void *block = aligned_alloc(64, (bytes + 127) / 64 * 64);

	if (!block)
		ptx_stop(r);
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
