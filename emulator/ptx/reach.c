/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/reach.c -- addresses: which memory they are in, and whether it
 * may be used. */
#include "emulator/ptx/run.h"

static bool
within(const void *base, size_t bytes, uintptr_t at, size_t size)
{
	return at >= (uintptr_t)base && at - (uintptr_t)base < bytes &&
	    size <= bytes - (at - (uintptr_t)base);
}

/* The number of the first region that does not end before `at`. */
static size_t
first_after(const struct launch *l, uintptr_t at)
{
	const struct ptx_region *r = l->options->region;
	size_t low = 0, high = l->options->region_count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (at >= r[middle].high)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct ptx_region *
ptx_region_near(struct host_thread *run, const struct ptx_instruction *in,
    uint64_t at)
{
	const struct ptx_region **recent = &run->recent[in->line % RECENT];
	const struct launch *const l = run->launch;
	const struct ptx_region *r = *recent;
	size_t i;

	if (r && at >= r->low && at < r->high)
		return r;
	r = l->options->region;
	i = first_after(l, at);
	if (i == l->options->region_count || at < r[i].low)
		return NULL;
	return *recent = &r[i];
}

static bool
of_module(const struct ptx_module *m, uintptr_t at, size_t size)
{
	for (size_t i = 0; i < m->variables; i++)
		if (m->variable[i].space != SPACE_SHARED &&
		    within((void *)(uintptr_t)m->variable[i].at,
		    m->variable[i].bytes, at, size))
			return true;
	return false;
}

static bool
shared_is_there(const struct ptx_block *b, uint64_t at, size_t size)
{
	const struct launch *l = b->launch;
	const struct ptx_module *m = l->kernel->module;

	return (at < SHARED_COMMON && at + size <= l->kernel->shared_bytes) ||
	    (at >= SHARED_COMMON && at + size <= SHARED_COMMON +
	    m->shared_bytes) ||
	    (at >= SHARED_DYNAMIC && at + size <= SHARED_DYNAMIC + l->dynamic);
}

static unsigned char *
outside(struct warp *w, const struct ptx_instruction *in, int lane,
    const char *what, uint64_t address, size_t size)
{
	ptx_found(w, in, lane, PTX_OUTSIDE, "%s %#llx, %zu bytes", what,
	    (unsigned long long)address, size);
	return NULL;
}

/* What is next to an address that is in no region. */
static unsigned char *
outside_all(struct warp *w, const struct ptx_instruction *in, int lane,
    uint64_t address, size_t size)
{
	const struct launch *l = w->block->launch;
	const size_t i = first_after(l, address);
	const struct ptx_region *const before = i ? &l->options->region[i - 1]
	    : NULL, *const after = i < l->options->region_count
	    ? &l->options->region[i] : NULL;

	if (before && (!after || address - before->high < after->low -
	    address))
		ptx_found(w, in, lane, PTX_OUTSIDE, "address %#llx, %zu bytes,"
		    " %llu bytes after the end of %s of %zu bytes",
		    (unsigned long long)address, size, (unsigned long long)
		    (address - before->high), before->name, (size_t)
		    (before->high - before->low));
	else if (after)
		ptx_found(w, in, lane, PTX_OUTSIDE, "address %#llx, %zu bytes,"
		    " %llu bytes before %s of %zu bytes",
		    (unsigned long long)address, size, (unsigned long long)
		    (after->low - address), after->name, (size_t)(after->high -
		    after->low));
	else
		return outside(w, in, lane, "address", address, size);
	return NULL;
}

static unsigned char *
reach_shared(struct warp *w, const struct ptx_instruction *in, int lane,
    uint64_t at, size_t size, enum access kind, const unsigned char *value)
{
	struct ptx_block *b = w->block;

	if (!shared_is_there(b, at, size))
		return outside(w, in, lane, "shared address", at, size);
	if (b->shadow)
		ptx_touch(w, in, lane, at, size, kind, value);
	return b->shared + at;
}

/* Memory of this launch that is no region. */
static bool
is_own(const struct warp *w, int lane, uint64_t address, size_t size,
    enum access kind)
{
	const struct launch *l = w->block->launch;

	return within(w->local + (size_t)lane * l->local_bytes,
	    l->local_bytes, address, size) ||
	    (kind == READ && within(l->params, l->kernel->parameter_bytes,
	    address, size)) || of_module(l->kernel->module, address, size) ||
	    within(l->together, sizeof l->together, address, size);
}

/* A generic address, which is a host address. */
static unsigned char *
reach_generic(struct warp *w, const struct ptx_instruction *in, int lane,
    uint64_t address, size_t size, enum access kind,
    const unsigned char *value)
{
	const struct launch *l = w->block->launch;
	unsigned char *at = (unsigned char *)(uintptr_t)address;
	const struct ptx_region *r;

	if (address < LOWEST)
		return outside(w, in, lane, "address", address, size);
	if (!l->options->check && !l->options->bounds)
		return at;
	if (within(w->block->shared, SHARED_ALL, address, size))
		return reach_shared(w, in, lane, address -
		    (uintptr_t)w->block->shared, size, kind, value);
	if (l->options->any_address || is_own(w, lane, address, size, kind))
		return at;
	r = ptx_region_near(w->block->worker, in, address);
	if (!r)
		return outside_all(w, in, lane, address, size);
	if (address + size > r->high) {
		ptx_found(w, in, lane, PTX_OUTSIDE, "address %#llx, %zu bytes,"
		    " over the end of %s", (unsigned long long)address, size,
		    r->name);
		return NULL;
	}
	if (r->read_only && kind != READ) {
		ptx_found(w, in, lane, PTX_READ_ONLY, "%s, byte %llu", r->name,
		    (unsigned long long)(address - r->low));
		return NULL;
	}
	return at;
}

unsigned char *
ptx_reach_in(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    int space, int lane, uint64_t address, size_t size, enum access kind,
    const unsigned char *value)
{
	const struct launch *l = w->block->launch;
	const size_t arguments = f->function->argument_bytes;

	w->rounds.changed |= kind == WRITE && space != SPACE_ARGUMENT;
	if (address & (size - 1))
		ptx_found(w, in, lane, PTX_MISALIGNED, "address %#llx, %zu "
		    "bytes", (unsigned long long)address, size);
	switch (space) {
	case SPACE_SHARED:
		return reach_shared(w, in, lane, address, size, kind, value);
	case SPACE_LOCAL:
		if (address + size > l->local_bytes)
			return outside(w, in, lane, "local address", address,
			    size);
		return w->local + (size_t)lane * l->local_bytes + address;
	case SPACE_PARAM:
		if (address + size > l->kernel->parameter_bytes)
			return outside(w, in, lane, "parameter offset",
			    address, size);
		return l->params + address;
	case SPACE_ARGUMENT:
		if (address + size > arguments)
			return outside(w, in, lane, "argument offset", address,
			    size);
		return f->arguments + (size_t)lane * arguments + address;
	default:
		return reach_generic(w, in, lane, address, size, kind, value);
	}
}

unsigned char *
ptx_reach(struct warp *w, struct frame *f, const struct ptx_instruction *in,
    int lane, uint64_t address, size_t size, enum access kind,
    const unsigned char *value)
{
	return ptx_reach_in(w, f, in, in->space, lane, address, size, kind,
	    value);
}
