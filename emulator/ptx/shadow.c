/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/shadow.c -- the record of each byte of shared memory: who wrote
 * it, who read it, and which barriers came between. */
#include "emulator/ptx/run.h"

static unsigned
thread_of(const struct warp *w, int lane)
{
	return w->index * LANES + (unsigned)lane;
}

/* Do two threads of this block race here? `other` is 1 + its number. */
static bool
races(const struct warp *w, int lane, unsigned other, uint32_t epoch,
    uint32_t warp_epoch, bool *in_warp)
{
	if (!other || epoch != w->block->epoch || other == thread_of(w, lane)
	    + 1)
		return false;
	*in_warp = (other - 1) / LANES == w->index;
	return !*in_warp || warp_epoch == w->epoch;
}

/* An earlier access to this byte, and who made it. */
struct meeting {
	bool     raced, in_warp, wrote, several;
	unsigned thread;        /* one of them */
};

static struct meeting
met_writer(const struct warp *w, const struct shadow *s, int lane,
    enum access kind, bool is_volatile)
{
	struct meeting m = { .wrote = true, .thread = s->writer - 1u };

	if (!s->writer || (kind == ATOMIC && s->atomic) ||
	    (kind == READ && is_volatile))
		return m;
	m.raced = races(w, lane, s->writer, s->write_epoch,
	    s->write_warp_epoch, &m.in_warp);
	return m;
}

static struct meeting
met_reader(const struct warp *w, const struct shadow *s, int lane)
{
	struct meeting m = { .several = true };

	if (!s->reader || s->read_epoch != w->block->epoch)
		return m;
	if (s->reader == READERS_MANY) {
		m.raced = true;
	} else if (s->reader & READERS_OF_WARP) {
		const unsigned warp = s->reader & READER_WARP;

		m.in_warp = warp == w->index;
		m.raced = !m.in_warp || s->read_warp_epoch == w->epoch;
	} else {
		m.several = false;
		m.thread = s->reader - 1u;
		m.raced = races(w, lane, s->reader, s->read_epoch,
		    s->read_warp_epoch, &m.in_warp);
	}
	return m;
}

static void
note_reader(const struct warp *w, struct shadow *s, uint16_t own)
{
	if (s->read_epoch != w->block->epoch || !s->reader)
		s->reader = own;
	else if (s->reader == READERS_MANY)
		;
	else if (s->reader & READERS_OF_WARP)
		s->reader = (s->reader & READER_WARP) == w->index ? s->reader
		    : READERS_MANY;
	else if (s->reader != own)
		s->reader = (s->reader - 1u) / LANES == w->index
		    ? (uint16_t)(READERS_OF_WARP | w->index) : READERS_MANY;
	s->read_epoch = w->block->epoch;
	s->read_warp_epoch = w->epoch;
}

static void
note_writer(const struct warp *w, struct shadow *s, uint16_t own, bool atomic)
{
	s->writer = own;
	s->write_epoch = w->block->epoch;
	s->write_warp_epoch = w->epoch;
	s->atomic = atomic;
	s->written = 1;
	if (s->read_epoch != w->block->epoch)
		s->reader = 0;
}

static void
say_race(struct warp *w, const struct ptx_instruction *in, int lane,
    uint64_t at, enum access kind, struct meeting m)
{
	const enum ptx_finding finding = m.in_warp ? PTX_RACE_WARP :
	    PTX_RACE_BLOCK;
	char who[32] = "several threads";

	if (!m.several)
		snprintf(who, sizeof who, "thread %u", m.thread);
	ptx_found(w, in, lane, finding, "shared byte %llu, %s after %s had %s "
	    "it", (unsigned long long)at, kind == READ ? "read" : "written",
	    who, m.wrote ? "written" : "read");
}

void
ptx_touch(struct warp *w, const struct ptx_instruction *in, int lane,
    uint64_t at, size_t bytes, enum access kind, const unsigned char *value)
{
	struct ptx_block *b = w->block;
	const uint16_t own = (uint16_t)(thread_of(w, lane) + 1);

	for (size_t i = 0; i < bytes; i++) {
		struct shadow *s = &b->shadow[at + i];
		/* Writing the same value twice is harmless. */
		const bool same = kind == WRITE && value &&
		    b->shared[at + i] == value[i];
		struct meeting m;

		if (kind == READ && !s->written && !s->said) {
			s->said = 1;
			ptx_found(w, in, lane, PTX_UNINITIALISED,
			    "shared byte %llu was never written",
			    (unsigned long long)(at + i));
		}
		m = met_writer(w, s, lane, kind, in->flags & FLAG_VOLATILE);
		if (!m.raced && kind != READ)
			m = met_reader(w, s, lane);
		if (m.raced && !same)
			say_race(w, in, lane, at + i, kind, m);
		if (kind == READ)
			note_reader(w, s, own);
		else
			note_writer(w, s, own, kind == ATOMIC);
	}
}
