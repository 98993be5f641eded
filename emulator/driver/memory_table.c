/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/memory_table.c -- the table of allocations, and whether a
 * pointer is good. Under TSan, which is to see races of the program's, only the
 * program's threads read and write the table. */
#include "emulator/driver/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { REMEMBERED = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct emu_allocation *table; /* by base */
static size_t used, room;
static struct emu_allocation freed[REMEMBERED]; /* to report "freed" */
static size_t freed_count;
static _Thread_local bool in_order; /* emu_table_check_in_order() */

/* The first entry whose base lies above `pointer`. */
static size_t
find_above(const void *pointer)
{
	size_t low = 0, high = used;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (table[middle].base <= (const unsigned char *)pointer)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct emu_allocation *
find_any(const void *pointer)
{
	const size_t above = find_above(pointer);
	struct emu_allocation *a = above ? &table[above - 1] : NULL;

	if (a && (const unsigned char *)pointer < a->base + a->bytes)
		return a;
	return NULL;
}

/* What its stream is yet to free is gone for the program. */
static struct emu_allocation *
find(const void *pointer)
{
	struct emu_allocation *a = find_any(pointer);

	return a && (in_order || !a->leaving) ? a : NULL;
}

static bool
make_room(void)
{
	struct emu_allocation *larger;

	if (used < room)
		return true;
	larger = realloc(table, (room ? 2 * room : 256) * sizeof *table);
	if (!larger)
		return false;
	table = larger;
	room = room ? 2 * room : 256;
	return true;
}

int
emu_table_enter(const struct emu_allocation *new)
{
	int status = EMU_OK;
	size_t at;

	pthread_mutex_lock(&lock);
	at = find_above(new->base);
	if (find_any(new->base) ||
	    (at < used && table[at].base < new->base + new->bytes)) {
		status = EMU_ALREADY_REGISTERED;
	} else if (!make_room()) {
		status = EMU_OUT_OF_MEMORY;
	} else {
		memmove(table + at + 1, table + at, (used - at) *
		    sizeof *table);
		table[at] = *new;
		used++;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

static void
take_out(struct emu_allocation *a)
{
	used--;
	memmove(a, a + 1, (size_t)(table + used - a) * sizeof *table);
}

static bool
take(const void *pointer, unsigned kinds, bool later,
    struct emu_allocation *out)
{
	struct emu_allocation *a;
	bool matches;

	pthread_mutex_lock(&lock);
	a = find(pointer);
	matches = a && a->base == pointer && !a->variable &&
	    kinds >> a->kind & 1;
	if (matches) {
		*out = *a;
		freed[freed_count++ % REMEMBERED] = *a;
		if (later)
			a->leaving = true;
		else
			take_out(a);
	}
	pthread_mutex_unlock(&lock);
	return matches;
}

bool
emu_table_take(const void *pointer, unsigned kinds,
    struct emu_allocation *out)
{
	return take(pointer, kinds, false, out);
}

bool
emu_table_leave(const void *pointer, unsigned kinds,
    struct emu_allocation *out)
{
	return take(pointer, kinds, !EMU_TSAN, out);
}

void
emu_table_left(const void *pointer)
{
	struct emu_allocation *a;

	if (EMU_TSAN)
		return;
	pthread_mutex_lock(&lock);
	a = find_any(pointer);
	if (a && a->base == pointer && a->leaving)
		take_out(a);
	pthread_mutex_unlock(&lock);
}

void
emu_table_check_in_order(void)
{
	in_order = true;
}

void
emu_table_forget(const void *pointer)
{
	struct emu_allocation *a;

	pthread_mutex_lock(&lock);
	a = find(pointer);
	if (a && a->base == pointer && a->variable)
		take_out(a);
	pthread_mutex_unlock(&lock);
}

uint64_t
emu_table_capture(const void *pointer)
{
	const struct emu_allocation *a;
	uint64_t capture = 0;

	pthread_mutex_lock(&lock);
	a = find(pointer);
	if (a && a->base == pointer)
		capture = a->capture;
	pthread_mutex_unlock(&lock);
	return capture;
}

void
emu_table_drop(const struct CUctx_st *context,
    void (*give)(const struct emu_allocation *allocation))
{
	size_t kept = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < used; i++)
		if (context && table[i].context != context)
			table[kept++] = table[i];
		else if (!table[i].variable && !table[i].leaving)
			give(&table[i]);
	used = kept;
	pthread_mutex_unlock(&lock);
}

void
emu_table_release(void)
{
	free(table);
	table = NULL;
	used = room = 0;
}

enum emu_memory_kind
emu_memory_find(const void *pointer, struct emu_memory *out)
{
	struct emu_memory found = { .kind = EMU_MEMORY_PAGEABLE };
	struct emu_allocation *a;

	pthread_mutex_lock(&lock);
	a = find(pointer);
	if (a)
		found = (struct emu_memory){ a->kind, a->base, a->bytes,
			a->context->device, a->context };
	pthread_mutex_unlock(&lock);
	if (out)
		*out = found;
	return found.kind;
}

static const char *
describe_bad(const void *pointer, const struct emu_allocation *a)
{
	const unsigned char *p = pointer;

	if (!p)
		return "a null pointer";
	if (a)
		return "out of its allocation's range";
	for (size_t i = 0; i < REMEMBERED; i++)
		if (p >= freed[i].base && p < freed[i].base + freed[i].bytes)
			return "in freed memory";
	return "not in device memory (a host pointer?)";
}

/* Managed and page-locked memory belongs to everybody. */
static bool
is_out_of_reach(const struct emu_allocation *a)
{
	return a->kind == EMU_MEMORY_DEVICE &&
	    !emu_context_reaches(emu_context_current(), a->context->device);
}

size_t
emu_table_regions(struct ptx_region *regions, size_t most)
{
	size_t count = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < used; i++) {
		const struct emu_allocation *a = &table[i];

		if (is_out_of_reach(a) || a->leaving)
			continue;
		if (count < most)
			regions[count] = (struct ptx_region){
				(uintptr_t)a->base, (uintptr_t)a->base +
				a->bytes, false, a->variable ? "a variable" :
				"an allocation" };
		count++;
	}
	pthread_mutex_unlock(&lock);
	return count;
}

static int
complain_reach(const void *pointer, int device, const char *argument)
{
	emu_complain("argument %s: %p is in memory of device %d; the work runs "
	    "on device %d, which has no peer access to it", argument, pointer,
	    device, emu_context_device());
	return EMU_ILLEGAL_ADDRESS;
}

static int
check(const void *pointer, uint64_t bytes, const char *argument, bool reach)
{
	const struct emu_allocation *a;
	const char *bad = NULL;
	size_t left = 0;
	int far = -1;

	if (!bytes)
		return EMU_OK;
	pthread_mutex_lock(&lock);
	a = find(pointer);
	if (a)
		left = a->bytes - (size_t)((const unsigned char *)pointer -
		    a->base);
	if (left < bytes)
		bad = describe_bad(pointer, a);
	else if (reach && is_out_of_reach(a))
		far = a->context->device;
	pthread_mutex_unlock(&lock);
	if (far >= 0)
		return complain_reach(pointer, far, argument);
	if (!bad)
		return EMU_OK;
	emu_complain("argument %s: %p is %s; the call touches %llu bytes, "
	    "%llu are there", argument, pointer, bad,
	    (unsigned long long)bytes, (unsigned long long)left);
	return EMU_ILLEGAL_ADDRESS;
}

int
emu_memory_check(const void *pointer, uint64_t bytes, const char *argument)
{
	return check(pointer, bytes, argument, true);
}

int
emu_memory_check_any(const void *pointer, uint64_t bytes, const char *argument)
{
	return check(pointer, bytes, argument, false);
}

int
emu_memory_check_reach(const void *pointer, const char *argument)
{
	const struct emu_allocation *a;
	int far = -1;

	pthread_mutex_lock(&lock);
	a = find(pointer);
	if (a && is_out_of_reach(a))
		far = a->context->device;
	pthread_mutex_unlock(&lock);
	return far < 0 ? EMU_OK : complain_reach(pointer, far, argument);
}

int
emu_memory_check_matrix(const void *pointer, const struct emu_shape *shape,
    const char *argument)
{
	int64_t elements, between = 0;
	uint64_t bytes;

	if (shape->rows <= 0 || shape->cols <= 0 || shape->batch <= 0)
		return EMU_OK;
	if (__builtin_mul_overflow(shape->cols - 1, shape->ld, &elements) ||
	    __builtin_add_overflow(elements, shape->rows, &elements) ||
	    __builtin_mul_overflow(shape->batch - 1, shape->stride,
	    &between) ||
	    __builtin_add_overflow(elements, between < 0 ? -between : between,
	    &elements) ||
	    __builtin_mul_overflow((uint64_t)elements, shape->element, &bytes))
		bytes = UINT64_MAX;
	if (between < 0)
		pointer = (const unsigned char *)pointer +
		    between * (int64_t)shape->element;
	return emu_memory_check(pointer, bytes, argument);
}
