/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/streams.c -- the set of streams: handles, creation, the
 * threads' own ones, their end. Only queues the end of workers. */
#include "emulator/driver/streams.h"
#include "emulator/driver/capture.h"
#include "emulator/driver/wait.h"

#include <stdlib.h>

struct emu_streams emu_streams = {
	.lock = PTHREAD_MUTEX_INITIALIZER
};

/* This thread's own streams, one per context that it asked in. */
struct own {
	struct CUstream_st *stream;
	uint64_t id, context_id;
	struct own *next;
};
static pthread_key_t own_key; /* its value: the same as `own` */
static _Thread_local struct own *own;

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

/* A new stream in the current context. */
static struct CUstream_st *
make(unsigned flags, int priority)
{
	struct CUstream_st *stream;

	emu_streams_reap(false);
	stream = emu_streams.unused;
	if (stream) {
		emu_streams.unused = stream->next_free;
		emu_ahead_prepare(stream);
	} else {
		stream = calloc(1, sizeof *stream);
		if (!stream)
			emu_out_of_host_memory();
		emu_stream_prepare(stream);
	}
	stream->context = emu_context_current();
	stream->flags = flags;
	stream->priority = priority;
	stream->id = emu_stream_next_id();
	stream->work = stream->joined = 0;
	atomic_store_explicit(&stream->clock, 0, memory_order_relaxed);
	stream->legacy_seen = 0;
	stream->next_live = emu_streams.live;
	emu_streams.live = stream;
	if (!(flags & EMU_STREAM_NON_BLOCKING))
		atomic_fetch_add(&stream->context->blocking, 1);
	atomic_store(&stream->mark, EMU_MARK_STREAM);
	return stream;
}

/* Take it out of the list; its work continues, then its worker ends. */
static void
leave(struct CUstream_st *stream)
{
	struct CUstream_st **link = &emu_streams.live;

	while (*link != stream)
		link = &(*link)->next_live;
	*link = stream->next_live;
	emu_capture_leave(stream);
	atomic_store(&stream->mark, 0);
	if (!(stream->flags & EMU_STREAM_NON_BLOCKING))
		atomic_fetch_sub(&stream->context->blocking, 1);
	if (emu_stream_end_worker(stream)) {
		stream->next_live = emu_streams.leaving;
		emu_streams.leaving = stream;
	} else {
		stream->next_free = emu_streams.unused;
		emu_streams.unused = stream;
	}
}

static bool
is_alive(const struct own *o)
{
	return atomic_load(&o->stream->mark) == EMU_MARK_STREAM &&
	    o->stream->id == o->id;
}

static void
drop_own(void *list)
{
	struct own *o = list, *next;

	for (; o; o = next) {
		next = o->next;
		pthread_mutex_lock(&emu_streams.lock);
		if (is_alive(o))
			leave(o->stream);
		pthread_mutex_unlock(&emu_streams.lock);
		free(o);
	}
}

static void
prepare_once(void)
{
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
	const uint64_t context = emu_context_id(emu_context_current());
	struct own *o = own;

	while (o && (o->context_id != context || !is_alive(o)))
		o = o->next;
	if (o)
		return o->stream;
	o = malloc(sizeof *o);
	if (!o)
		emu_out_of_host_memory();
	pthread_mutex_lock(&emu_streams.lock);
	o->stream = make(0, 0);
	pthread_mutex_unlock(&emu_streams.lock);
	o->id = o->stream->id;
	o->context_id = context;
	o->next = own;
	own = o;
	pthread_setspecific(own_key, own);
	return o->stream;
}

int
emu_stream_find(struct CUstream_st *handle, struct CUstream_st **stream_out)
{
	const uintptr_t value = (uintptr_t)handle;

	emu_streams_prepare();
	if (value <= 2 && !emu_context_current())
		return EMU_INVALID_CONTEXT;
	if (value <= 1)
		*stream_out = &emu_context_current()->legacy;
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
emu_stream_find_work(struct CUstream_st *handle,
    struct CUstream_st **stream_out)
{
	struct CUstream_st *stream;
	int status = emu_stream_find(handle, &stream);

	if (!status)
		status = emu_capture_check_work(stream);
	if (!status)
		*stream_out = stream;
	return status;
}

int
emu_stream_find_here(struct CUstream_st *handle,
    struct CUstream_st **stream_out)
{
	struct CUstream_st *stream;
	const int status = emu_stream_find_work(handle, &stream);

	if (status)
		return status;
	if (stream->context != emu_context_current()) {
		emu_complain("stream %p belongs to another context than the "
		    "current one", (void *)handle);
		return EMU_INVALID_HANDLE;
	}
	*stream_out = stream;
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
	facts_out->context = stream->context;
	facts_out->device = stream->context->device;
	return EMU_OK;
}

struct host_task {
	void (*function)(void *data);             /* or */
	void (*callback)(void *data, int status);
	void *data;
};

static void
run_host(void *arguments)
{
	const struct host_task *task = arguments;
	const int status = emu_device_error();

	if (task->callback)
		task->callback(task->data, status);
	else if (!status)
		task->function(task->data);
}

static int
submit_host(struct CUstream_st *handle, const struct host_task *host)
{
	struct CUstream_st *stream;
	struct host_task *task;
	const int status = emu_stream_find_work(handle, &stream);

	if (status)
		return status;
	task = emu_task_new(run_host, sizeof *task);
	if (!task)
		return EMU_OUT_OF_MEMORY;
	*task = *host;
	emu_stream_submit(stream, task);
	return EMU_OK;
}

int
emu_host_function(struct CUstream_st *handle, void (*function)(void *),
    void *data)
{
	return submit_host(handle, &(struct host_task){ .function = function,
		.data = data });
}

int
emu_host_callback(struct CUstream_st *handle,
    void (*function)(void *, int), void *data)
{
	return submit_host(handle, &(struct host_task){ .callback = function,
		.data = data });
}

static void
stop(struct CUstream_st *stream)
{
	if (emu_stream_end_worker(stream))
		emu_stream_join_worker(stream);
}

/* A created context's legacy stream stops, too: its worker reads the context
 * only once, and its memory may be reused for another device. */
void
emu_streams_drop(struct CUctx_st *context)
{
	struct CUstream_st *s, *next;

	emu_streams_prepare();
	pthread_mutex_lock(&emu_streams.lock);
	for (s = emu_streams.live; s; s = next) {
		next = s->next_live;
		if (s->context == context)
			leave(s);
	}
	emu_streams_reap(true);
	if (!context->primary) {
		stop(&context->legacy);
		atomic_store(&context->legacy.mark, 0);
	}
	pthread_mutex_unlock(&emu_streams.lock);
}

void
emu_streams_quiesce(void)
{
	emu_streams_prepare();
	pthread_mutex_lock(&emu_streams.lock);
	emu_streams_reap(true);
	for (struct CUstream_st *s = emu_streams.live; s; s = s->next_live)
		stop(s);
	for (struct CUctx_st *c = emu_context_first(); c; c = c->next_all)
		stop(&c->legacy);
	pthread_mutex_unlock(&emu_streams.lock);
}

/* At the library's end, for leak checkers. */
void
emu_streams_release(void)
{
	drop_own(own);
	own = NULL;
	pthread_setspecific(own_key, NULL);
	for (struct CUctx_st *c = emu_context_first(); c; c = c->next_all)
		emu_streams_drop(c);
	while (emu_streams.unused) {
		struct CUstream_st *s = emu_streams.unused;

		emu_streams.unused = s->next_free;
		emu_stream_finish(s);
		free(s);
	}
}
