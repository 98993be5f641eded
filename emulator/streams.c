/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/streams.c -- which streams there are: handles, creation, the
 * threads' own ones, the end. Queues nothing but the workers' ends. */
#include "emulator/streams.h"
#include "emulator/wait.h"

#include <stdlib.h>

struct emu_streams emu_streams = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.next_id = 3 /* 1, 2: the handles of the default streams */
};
static pthread_key_t own_key;
static _Thread_local struct CUstream_st *own;

void
emu_streams_reap(bool wait)
{
	struct CUstream_st **link = &emu_streams.leaving;

	while (*link) {
		struct CUstream_st *stream = *link;

		if (!wait && !emu_stream_has_ended(stream)) {
			link = &stream->next_live;
			continue;
		}
		emu_stream_join_worker(stream);
		*link = stream->next_live;
		stream->next_free = emu_streams.unused;
		emu_streams.unused = stream;
	}
}

static struct CUstream_st *
make(unsigned flags, int priority)
{
	struct CUstream_st *stream;

	emu_streams_reap(false);
	stream = emu_streams.unused;
	if (stream) {
		emu_streams.unused = stream->next_free;
	} else {
		stream = calloc(1, sizeof *stream);
		if (!stream)
			emu_out_of_host_memory();
		emu_stream_prepare(stream);
	}
	stream->flags = flags;
	stream->priority = priority;
	stream->id = emu_streams.next_id++;
	stream->work = stream->joined = 0;
	stream->legacy_seen = 0;
	stream->next_live = emu_streams.live;
	emu_streams.live = stream;
	if (!(flags & EMU_STREAM_NON_BLOCKING))
		atomic_fetch_add(&emu_streams.blocking, 1);
	atomic_store(&stream->mark, EMU_MARK_STREAM);
	return stream;
}

/* Out of the list of live ones; its work goes on, then its worker ends. */
static void
leave(struct CUstream_st *stream)
{
	struct CUstream_st **link = &emu_streams.live;

	while (*link != stream)
		link = &(*link)->next_live;
	*link = stream->next_live;
	atomic_store(&stream->mark, 0);
	if (!(stream->flags & EMU_STREAM_NON_BLOCKING))
		atomic_fetch_sub(&emu_streams.blocking, 1);
	if (emu_stream_end_worker(stream)) {
		stream->next_live = emu_streams.leaving;
		emu_streams.leaving = stream;
	} else {
		stream->next_free = emu_streams.unused;
		emu_streams.unused = stream;
	}
}

static void
drop_own(void *stream)
{
	pthread_mutex_lock(&emu_streams.lock);
	if (atomic_load(&((struct CUstream_st *)stream)->mark) ==
	    EMU_MARK_STREAM)
		leave(stream);
	pthread_mutex_unlock(&emu_streams.lock);
}

static void
prepare_once(void)
{
	emu_stream_prepare(&emu_streams.legacy);
	emu_streams.legacy.id = 1;
	atomic_store(&emu_streams.legacy.mark, EMU_MARK_STREAM);
	pthread_key_create(&own_key, drop_own);
}

void
emu_streams_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare_once);
}

static struct CUstream_st *
find_own(void)
{
	if (!own || atomic_load(&own->mark) != EMU_MARK_STREAM) {
		pthread_mutex_lock(&emu_streams.lock);
		own = make(0, 0);
		pthread_mutex_unlock(&emu_streams.lock);
		pthread_setspecific(own_key, own);
	}
	return own;
}

int
emu_stream_find(struct CUstream_st *handle, struct CUstream_st **stream_out)
{
	const uintptr_t value = (uintptr_t)handle;

	emu_streams_prepare();
	if (value <= 1)
		*stream_out = &emu_streams.legacy;
	else if (value == 2)
		*stream_out = find_own();
	else if (value >= 4096 && value % _Alignof(struct CUstream_st) == 0 &&
	    atomic_load_explicit(&handle->mark, memory_order_relaxed) ==
	    EMU_MARK_STREAM)
		*stream_out = handle;
	else {
		emu_complain("stream %p does not exist (destroyed?)",
		    (void *)handle);
		return EMU_INVALID_HANDLE;
	}
	return EMU_OK;
}

int
emu_stream_create(unsigned flags, int priority,
    struct CUstream_st **handle_out)
{
	if (flags & ~(unsigned)EMU_STREAM_NON_BLOCKING)
		return EMU_INVALID_VALUE;
	emu_streams_prepare();
	pthread_mutex_lock(&emu_streams.lock);
	*handle_out = make(flags, priority);
	pthread_mutex_unlock(&emu_streams.lock);
	return EMU_OK;
}

int
emu_stream_destroy(struct CUstream_st *handle)
{
	struct CUstream_st *stream;
	int status;

	if ((uintptr_t)handle <= 2)
		return EMU_INVALID_HANDLE;
	status = emu_stream_find(handle, &stream);
	if (status)
		return status;
	pthread_mutex_lock(&emu_streams.lock);
	leave(stream);
	pthread_mutex_unlock(&emu_streams.lock);
	return EMU_OK;
}

int
emu_stream_facts(struct CUstream_st *handle,
    struct emu_stream_facts *facts_out)
{
	struct CUstream_st *stream;
	const int status = emu_stream_find(handle, &stream);

	if (status)
		return status;
	facts_out->flags = stream->flags;
	facts_out->priority = stream->priority;
	facts_out->id = stream->id;
	return EMU_OK;
}

struct host_task {
	void (*function)(void *data);
	void *data;
};

static void
run_host(void *arguments)
{
	const struct host_task *task = arguments;

	task->function(task->data);
}

int
emu_host_function(struct CUstream_st *handle, void (*function)(void *),
    void *data)
{
	struct CUstream_st *stream;
	struct host_task *task;
	const int status = emu_stream_find(handle, &stream);

	if (status)
		return status;
	task = emu_task_new(run_host, sizeof *task);
	if (!task)
		return EMU_OUT_OF_MEMORY;
	task->function = function;
	task->data = data;
	emu_stream_submit(stream, task);
	return EMU_OK;
}

unsigned
emu_capture_swap_mode(unsigned mode)
{
	static _Thread_local unsigned current; /* 0: global */
	const unsigned before = current;

	current = mode;
	return before;
}

/* The work of every stream is done, its worker ended and joined. */
void
emu_streams_drop(void)
{
	emu_streams_prepare();
	pthread_mutex_lock(&emu_streams.lock);
	while (emu_streams.live)
		leave(emu_streams.live);
	emu_streams_reap(true);
	pthread_mutex_unlock(&emu_streams.lock);
}

void
emu_streams_quiesce(void)
{
	struct CUstream_st *s;

	emu_streams_prepare();
	pthread_mutex_lock(&emu_streams.lock);
	emu_streams_reap(true);
	for (s = emu_streams.live; s; s = s->next_live)
		if (emu_stream_end_worker(s))
			emu_stream_join_worker(s);
	if (emu_stream_end_worker(&emu_streams.legacy))
		emu_stream_join_worker(&emu_streams.legacy);
	pthread_mutex_unlock(&emu_streams.lock);
}

/* At the library's end, for leak checkers. */
void
emu_streams_release(void)
{
	emu_streams_drop();
	while (emu_streams.unused) {
		struct CUstream_st *s = emu_streams.unused;

		emu_streams.unused = s->next_free;
		emu_stream_finish(s);
		free(s);
	}
	emu_stream_finish(&emu_streams.legacy);
}
