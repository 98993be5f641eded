/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/memory.c -- what is allocated, and whether a pointer is good.
 * Device memory is host memory of exactly the size asked for, so that ASan and
 * valgrind see its ends. The table is read and written by the program's
 * threads only; a worker merely gives memory back. */
#include "emulator/device.h"
#include "emulator/context.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 256, REMEMBERED = 1024 };
/* From here on straight from the system, and never resident until used. */
#define LARGE ((size_t)1 << 30)

struct allocation {
	unsigned char *base;
	size_t         bytes;
	enum emu_memory_kind kind;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *table; /* by base */
static size_t used, room;
static struct allocation freed[REMEMBERED]; /* to say "freed" about */
static size_t freed_count;
static _Atomic uint64_t device_bytes;

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

static struct allocation *
find(const void *pointer)
{
	const size_t above = find_above(pointer);
	struct allocation *a = above ? &table[above - 1] : NULL;

	if (a && (const unsigned char *)pointer < a->base + a->bytes)
		return a;
	return NULL;
}

static bool
enter(struct allocation new)
{
	struct allocation *larger;
	size_t at;

	if (used == room) {
		larger = realloc(table, (room ? 2 * room : 256) *
		    sizeof *table);
		if (!larger)
			return false;
		table = larger;
		room = room ? 2 * room : 256;
	}
	at = find_above(new.base);
	memmove(table + at + 1, table + at, (used - at) * sizeof *table);
	table[at] = new;
	used++;
	return true;
}

static void
take_out(struct allocation *a)
{
	freed[freed_count++ % REMEMBERED] = *a;
	used--;
	memmove(a, a + 1, (size_t)(table + used - a) * sizeof *table);
}

static bool
counts(enum emu_memory_kind kind)
{
	return kind == EMU_MEMORY_DEVICE || kind == EMU_MEMORY_MANAGED;
}

static void *
get(size_t bytes)
{
	void *memory;

	if (bytes >= LARGE) {
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		return memory == MAP_FAILED ? NULL : memory;
	}
	return posix_memalign(&memory, ALIGNMENT, bytes) ? NULL : memory;
}

static void
give_back(void *memory, size_t bytes)
{
	if (bytes >= LARGE)
		munmap(memory, bytes);
	else
		free(memory);
}

void
emu_memory_return(void *pointer, size_t bytes)
{
	atomic_fetch_sub_explicit(&device_bytes, bytes, memory_order_relaxed);
	emu_count(EMU_device_bytes, -(uint64_t)bytes);
	give_back(pointer, bytes);
}

static bool
reserve(size_t bytes)
{
	uint64_t now = atomic_load_explicit(&device_bytes,
	    memory_order_relaxed);

	do {
		if (bytes > emu_device_memory() ||
		    now > emu_device_memory() - bytes)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&device_bytes, &now,
	    now + bytes, memory_order_relaxed, memory_order_relaxed));
	emu_count(EMU_device_bytes, bytes);
	return true;
}

int
emu_memory_allocate(size_t bytes, enum emu_memory_kind kind,
    void **pointer_out)
{
	struct allocation new = { NULL, bytes, kind };
	bool entered;

	if (!bytes) {
		*pointer_out = NULL;
		return EMU_OK;
	}
	/* What stream-ordered frees still hold comes back first. */
	if (counts(kind) && !reserve(bytes)) {
		emu_stream_wait_all();
		if (!reserve(bytes))
			return EMU_OUT_OF_MEMORY;
	}
	new.base = get(bytes);
	pthread_mutex_lock(&lock);
	entered = new.base && enter(new);
	pthread_mutex_unlock(&lock);
	if (!entered) {
		if (new.base)
			give_back(new.base, bytes);
		if (counts(kind)) {
			atomic_fetch_sub(&device_bytes, bytes);
			emu_count(EMU_device_bytes, -(uint64_t)bytes);
		}
		return EMU_OUT_OF_MEMORY;
	}
	emu_count(EMU_allocations, 1);
	*pointer_out = new.base;
	return EMU_OK;
}

/* Take the allocation that starts at `pointer` out of the table. */
static int
forget(void *pointer, bool host, struct allocation *out)
{
	struct allocation *a;
	bool matches;

	pthread_mutex_lock(&lock);
	a = find(pointer);
	matches = a && a->base == pointer && (host ?
	    a->kind == EMU_MEMORY_PINNED : counts(a->kind));
	if (matches) {
		*out = *a;
		take_out(a);
	}
	pthread_mutex_unlock(&lock);
	if (!matches) {
		emu_complain("%p is not the start of live %s memory", pointer,
		    host ? "page-locked" : "device");
		return EMU_INVALID_VALUE;
	}
	emu_count(EMU_frees, 1);
	return EMU_OK;
}

int
emu_memory_free(void *pointer, bool host)
{
	struct allocation a;
	int status;

	if (!pointer)
		return EMU_OK;
	status = forget(pointer, host, &a);
	if (status)
		return status;
	status = emu_stream_wait_all();
	if (host)
		give_back(a.base, a.bytes);
	else
		emu_memory_return(a.base, a.bytes);
	return status;
}

static void
run_return(void *arguments)
{
	struct allocation *a = arguments;

	emu_memory_return(a->base, a->bytes);
}

int
emu_memory_free_async(void *pointer, struct CUstream_st *handle)
{
	struct CUstream_st *stream;
	struct allocation *task;
	int status;

	if (!pointer)
		return EMU_OK;
	status = emu_stream_find(handle, &stream);
	if (status)
		return status;
	task = emu_task_new(run_return, sizeof *task);
	if (!task)
		return EMU_OUT_OF_MEMORY;
	status = forget(pointer, false, task);
	if (status)
		emu_task_drop(task);
	else
		emu_stream_submit(stream, task);
	return status;
}

int
emu_memory_register(void *pointer, size_t bytes)
{
	const struct allocation new = { pointer, bytes,
		EMU_MEMORY_REGISTERED };
	size_t above;
	int status = EMU_OK;

	if (!pointer || !bytes)
		return EMU_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	above = find_above(pointer);
	if (find(pointer) || (above < used &&
	    table[above].base < new.base + bytes))
		status = EMU_ALREADY_REGISTERED;
	else if (!enter(new))
		status = EMU_OUT_OF_MEMORY;
	pthread_mutex_unlock(&lock);
	return status;
}

int
emu_memory_unregister(void *pointer)
{
	struct allocation *a;
	int status = EMU_NOT_REGISTERED;

	emu_stream_wait_all();
	pthread_mutex_lock(&lock);
	a = find(pointer);
	if (a && a->base == pointer && a->kind == EMU_MEMORY_REGISTERED) {
		take_out(a);
		status = EMU_OK;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

enum emu_memory_kind
emu_memory_find(const void *pointer, void **base_out, size_t *bytes_out)
{
	enum emu_memory_kind kind = EMU_MEMORY_PAGEABLE;
	struct allocation *a;

	pthread_mutex_lock(&lock);
	a = find(pointer);
	if (a) {
		kind = a->kind;
		if (base_out)
			*base_out = a->base;
		if (bytes_out)
			*bytes_out = a->bytes;
	}
	pthread_mutex_unlock(&lock);
	return kind;
}

static const char *
describe_bad(const void *pointer, const struct allocation *a)
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

int
emu_memory_check(const void *pointer, uint64_t bytes, const char *argument)
{
	const struct allocation *a;
	const char *bad = NULL;
	size_t left = 0;

	if (!bytes)
		return EMU_OK;
	pthread_mutex_lock(&lock);
	a = find(pointer);
	if (a)
		left = a->bytes - (size_t)((const unsigned char *)pointer -
		    a->base);
	if (left < bytes)
		bad = describe_bad(pointer, a);
	pthread_mutex_unlock(&lock);
	if (!bad)
		return EMU_OK;
	emu_complain("argument %s: %p is %s; the call touches %llu bytes, "
	    "%llu are there", argument, pointer, bad,
	    (unsigned long long)bytes, (unsigned long long)left);
	return EMU_ILLEGAL_ADDRESS;
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

void
emu_memory_info(size_t *free_out, size_t *total_out)
{
	*total_out = emu_device_memory();
	*free_out = *total_out - atomic_load_explicit(&device_bytes,
	    memory_order_relaxed);
}

/* The program's own memory is merely forgotten. */
void
emu_memory_drop(void)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < used; i++)
		if (counts(table[i].kind))
			emu_memory_return(table[i].base, table[i].bytes);
		else if (table[i].kind == EMU_MEMORY_PINNED)
			give_back(table[i].base, table[i].bytes);
	used = 0;
	pthread_mutex_unlock(&lock);
}

void
emu_memory_release(void)
{
	emu_memory_drop();
	free(table);
	table = NULL;
	room = 0;
}
