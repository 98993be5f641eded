/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/copy.c -- copies and fills, in stream order. Decides which
 * copies wait: one from pageable memory is staged or waited for, one to it is
 * waited for, all others run later. */
#include "emulator/driver/capture.h"
#include "emulator/driver/memory.h"

#include <string.h>

/* Up to this size a waiting copy to the device stages its source and returns,
 * as the real one does [CUDA runtime manual, API synchronization behavior]. */
enum { STAGED_BYTES = 64 * 1024 };

#if EMU_TSAN
/* Functions of TSan's run-time library; gcc knows them with these types. */
void __tsan_read_range(void *address, long bytes);
void __tsan_write_range(void *address, long bytes);
#define TSAN_READ(from, bytes) \
	__tsan_read_range((void *)(uintptr_t)(from), (long)(bytes))
#define TSAN_WRITE(to, bytes) __tsan_write_range(to, (long)(bytes))
#else
#define TSAN_READ(from, bytes) ((void)(from), (void)(bytes))
#define TSAN_WRITE(to, bytes) ((void)(to), (void)(bytes))
#endif

void
emu_announce_read(const void *from, size_t bytes)
{
	TSAN_READ(from, bytes);
}

void
emu_announce_write(void *to, size_t bytes)
{
	TSAN_WRITE(to, bytes);
}

struct copy_task {
	unsigned char       *to;
	const unsigned char *from;
	size_t bytes, rows, to_pitch, from_pitch;
	enum emu_rate through;
	unsigned char staged[];
};

static void
run_copy(void *arguments)
{
	const struct copy_task *t = arguments;

	for (size_t row = 0; row < t->rows; row++) {
		unsigned char *to = t->to + row * t->to_pitch;
		const unsigned char *from = t->from + row * t->from_pitch;

		emu_announce_read(from, t->bytes);
		emu_announce_write(to, t->bytes);
		memmove(to, from, t->bytes);
	}
	emu_clock_move(t->through, (uint64_t)t->bytes * t->rows *
	    (t->through == EMU_MEMORY ? 2 : 1)); /* read and written */
}

/* Bytes from the first to the last one. */
static uint64_t
extent(size_t bytes, size_t rows, size_t pitch)
{
	return rows ? (rows - 1) * pitch + bytes : 0;
}

static bool
is_host(const void *pointer)
{
	switch (emu_memory_find(pointer, NULL)) {
	case EMU_MEMORY_DEVICE:
	case EMU_MEMORY_MANAGED:
		return false;
	default:
		return true;
	}
}

static bool
is_pageable(const void *pointer)
{
	return emu_memory_find(pointer, NULL) == EMU_MEMORY_PAGEABLE;
}

static int
check_host(const void *pointer, const char *argument)
{
	if (pointer && emu_memory_find(pointer, NULL) !=
	    EMU_MEMORY_DEVICE)
		return EMU_OK;
	emu_complain("argument %s: %p is %s", argument, pointer, pointer ?
	    "device memory where the copy's kind says host" :
	    "a null pointer");
	return EMU_ILLEGAL_ADDRESS;
}

/* Both ranges first, so that a bad copy has no effect. */
static int
check(const struct emu_copy *c, bool to_host, bool from_host)
{
	int status;

	if (c->to_pitch < c->bytes || c->from_pitch < c->bytes)
		return EMU_INVALID_VALUE;
	status = to_host ? check_host(c->to, "dst") :
	    emu_memory_check_any(c->to, extent(c->bytes, c->rows, c->to_pitch),
	    "dst");
	if (status)
		return status;
	return from_host ? check_host(c->from, "src") :
	    emu_memory_check_any(c->from, extent(c->bytes, c->rows,
	    c->from_pitch), "src");
}

static void
tally(void *task, bool to_host, bool from_host, uint64_t bytes)
{
	if (!to_host && from_host)
		emu_task_tally(task, EMU_bytes_host_to_device, bytes);
	else if (to_host && !from_host)
		emu_task_tally(task, EMU_bytes_device_to_host, bytes);
	else if (!to_host)
		emu_task_tally(task, EMU_bytes_device_to_device, bytes);
}

static struct copy_task *
make_task(const struct emu_copy *c, bool stage)
{
	struct copy_task *task = emu_task_new(run_copy,
	    sizeof *task + (stage ? c->bytes * c->rows : 0));

	if (!task)
		return NULL;
	*task = (struct copy_task){
		.to = c->to, .from = c->from, .bytes = c->bytes,
		.rows = c->rows, .to_pitch = c->to_pitch,
		.from_pitch = c->from_pitch
	};
	if (stage) {
		for (size_t row = 0; row < c->rows; row++)
			memcpy(task->staged + row * c->bytes,
			    task->from + row * c->from_pitch, c->bytes);
		task->from = task->staged;
		task->from_pitch = c->bytes;
	}
	return task;
}

int
emu_copy(const struct emu_copy *copy, struct CUstream_st *handle)
{
	const enum emu_direction d = copy->direction;
	const bool guess = d == EMU_DIRECTION_BY_POINTER;
	struct CUstream_st *stream;
	struct copy_task *task;
	bool to_host, from_host, stage, capturing;
	int status = emu_stream_find_work(handle, &stream);

	if (!status && copy->wait)
		status = emu_capture_forbid();
	if (status || !copy->bytes || !copy->rows)
		return status;
	if ((unsigned)d > EMU_DIRECTION_BY_POINTER)
		return EMU_INVALID_VALUE;
	to_host = guess ? is_host(copy->to) :
	    d == EMU_DEVICE_TO_HOST || d == EMU_HOST_TO_HOST;
	from_host = guess ? is_host(copy->from) :
	    d == EMU_HOST_TO_DEVICE || d == EMU_HOST_TO_HOST;
	status = check(copy, to_host, from_host);
	if (status)
		return status;
	capturing = emu_is_capturing(stream);
	stage = !capturing && from_host && !to_host &&
	    is_pageable(copy->from) && (!copy->wait ||
	    copy->bytes * copy->rows <= STAGED_BYTES);
	task = make_task(copy, stage);
	if (!task)
		return EMU_OUT_OF_MEMORY;
	task->through = to_host || from_host ? EMU_LINK : EMU_MEMORY;
	tally(task, to_host, from_host, (uint64_t)copy->bytes * copy->rows);
	emu_stream_submit(stream, task);
	if (stage || capturing || (copy->wait && !to_host && !from_host))
		return EMU_OK;
	if (copy->wait || (to_host && is_pageable(copy->to)))
		return emu_stream_wait(handle);
	return EMU_OK;
}

static void
run_fill(void *arguments)
{
	const struct emu_fill *f = arguments;

	for (size_t row = 0; row < f->rows; row++) {
		unsigned char *to = (unsigned char *)f->to + row * f->pitch;

		emu_announce_write(to, f->count * f->size);
		if (f->size == 1) {
			memset(to, (int)f->value, f->count);
			continue;
		}
		for (size_t i = 0; i < f->count; i++)
			memcpy(to + i * f->size, &f->value, f->size);
	}
	emu_clock_move(EMU_MEMORY, (uint64_t)f->count * f->size * f->rows);
}

int
emu_fill(const struct emu_fill *fill, struct CUstream_st *handle)
{
	const size_t bytes = fill->count * fill->size;
	struct CUstream_st *stream;
	struct emu_fill *task;
	int status = emu_stream_find_work(handle, &stream);

	if (status || !bytes || !fill->rows)
		return status;
	if (fill->pitch < bytes || (uintptr_t)fill->to % fill->size)
		return EMU_INVALID_VALUE;
	status = emu_memory_check_any(fill->to, extent(bytes, fill->rows,
	    fill->pitch), "dst");
	if (status)
		return status;
	task = emu_task_new(run_fill, sizeof *task);
	if (!task)
		return EMU_OUT_OF_MEMORY;
	*task = *fill;
	emu_task_tally(task, EMU_bytes_filled, (uint64_t)bytes * fill->rows);
	emu_stream_submit(stream, task);
	return EMU_OK;
}
