/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/event.c -- events: the last recorded point, and waiting for
 * it. Memory of destroyed events is reused for new ones. */
#include "emulator/driver/capture.h"
#include "emulator/driver/pool.h"
#include "emulator/driver/print.h"
#include "emulator/driver/wait.h"

#include <pthread.h>
#include <stdlib.h>

/* What NVIDIA's headers know as struct CUevent_st. */
struct CUevent_st {
	_Atomic uint32_t   mark;
	unsigned           flags;
	struct CUctx_st   *context;
	struct emu_token  *last;       /* under `lock`; NULL: never recorded */
	struct emu_capture_mark captured; /* or the place in a capture */
	struct CUevent_st *next_all, *next_free;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUevent_st *all, *unused;

int
emu_event_create(unsigned flags, struct CUevent_st **event_out)
{
	struct CUevent_st *event;

	if (flags & ~7u)
		return EMU_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	event = unused;
	if (event) {
		unused = event->next_free;
	} else {
		event = calloc(1, sizeof *event);
		if (!event)
			emu_out_of_host_memory();
		event->next_all = all;
		all = event;
	}
	event->flags = flags;
	event->context = emu_context_current();
	event->last = NULL;
	event->captured.capture = 0;
	atomic_store(&event->mark, EMU_MARK_EVENT);
	pthread_mutex_unlock(&lock);
	*event_out = event;
	return EMU_OK;
}

static int
check(struct CUevent_st *event)
{
	const uintptr_t value = (uintptr_t)event;

	if (value >= 4096 && value % _Alignof(struct CUevent_st) == 0 &&
	    atomic_load_explicit(&event->mark, memory_order_relaxed) ==
	    EMU_MARK_EVENT)
		return EMU_OK;
	emu_complain("event %p does not exist (destroyed?)", (void *)event);
	return EMU_INVALID_HANDLE;
}

static void
drop(struct CUevent_st *event)
{
	atomic_store(&event->mark, 0);
	emu_token_release(event->last);
	event->last = NULL;
	event->next_free = unused;
	unused = event;
}

int
emu_event_destroy(struct CUevent_st *event)
{
	const int status = check(event);

	if (status)
		return status;
	pthread_mutex_lock(&lock);
	drop(event);
	pthread_mutex_unlock(&lock);
	return EMU_OK;
}

int
emu_event_record(struct CUevent_st *event, struct CUstream_st *handle)
{
	struct CUstream_st *stream;
	int status = check(event);

	if (!status)
		status = emu_stream_find_work(handle, &stream);
	if (status)
		return status;
	if (event->context != stream->context) {
		emu_complain("event %p and stream %p belong to different "
		    "contexts", (void *)event, (void *)handle);
		return EMU_INVALID_HANDLE;
	}
	if (emu_call_is_dropped())
		return EMU_OK;
	emu_clock_call(true);
	pthread_mutex_lock(&lock);
	emu_token_release(event->last);
	event->last = NULL;
	if (!emu_capture_mark(stream, &event->captured)) {
		event->captured.capture = 0;
		event->last = emu_token_new(2);
		emu_stream_submit(stream, emu_token_reach_task(event->last));
	}
	pthread_mutex_unlock(&lock);
	return EMU_OK;
}

/* The last recorded point, with a reference for the caller. NULL: there is
 * none, perhaps because it lies in a capture. */
static struct emu_token *
last_of(struct CUevent_st *event, struct emu_capture_mark *captured_out)
{
	struct emu_token *token;

	pthread_mutex_lock(&lock);
	token = event->last;
	*captured_out = event->captured;
	if (token)
		emu_token_keep(token);
	pthread_mutex_unlock(&lock);
	return token;
}

/* The same for calls that query or wait for it on the host. */
static int
look(struct CUevent_st *event, struct emu_token **token_out)
{
	struct emu_capture_mark captured;
	const int status = check(event);

	if (status)
		return status;
	*token_out = last_of(event, &captured);
	if (!captured.capture)
		return EMU_OK;
	emu_capture_invalidate_id(captured.capture);
	emu_complain("event %p was recorded in a capture and has no state "
	    "outside of it", (void *)event);
	return EMU_CAPTURED_EVENT;
}

int
emu_event_query(struct CUevent_st *event)
{
	struct emu_token *token;
	int status = look(event, &token);

	if (status)
		return status;
	status = emu_capture_forbid();
	if (!status && token && !emu_token_reached(token)) {
		emu_late_hurry();
		status = EMU_NOT_READY;
	}
	emu_token_release(token);
	return status ? status : emu_context_error(event->context);
}

int
emu_event_wait(struct CUevent_st *event)
{
	struct emu_token *token;
	int status = look(event, &token);

	if (status)
		return status;
	status = emu_capture_forbid();
	if (!status) {
		emu_count(EMU_syncs, 1);
		emu_capture_count(EMU_syncs_in_capture);
	}
	if (!status && token)
		emu_token_wait(token);
	emu_token_release(token);
	emu_pools_relax(-1, false);
	emu_print_flush();
	return status ? status : emu_context_error(event->context);
}

int
emu_event_elapsed(struct CUevent_st *start, struct CUevent_st *end,
    float *milliseconds_out)
{
	struct emu_token *from, *to;
	int status = look(start, &from);

	if (status)
		return status;
	status = look(end, &to);
	if (status) {
		emu_token_release(from);
		return status;
	}
	if (!from || !to || (start->flags | end->flags) & EMU_EVENT_NO_TIMING)
		status = EMU_INVALID_HANDLE;
	else if (!emu_token_reached(from) || !emu_token_reached(to))
		status = EMU_NOT_READY;
	else
		*milliseconds_out = (float)((double)(int64_t)(
		    emu_token_time(to) - emu_token_time(from)) * 1e-9);
	emu_token_release(from);
	emu_token_release(to);
	return status;
}

int
emu_stream_wait_event(struct CUstream_st *handle, struct CUevent_st *event)
{
	struct emu_capture_mark captured;
	struct CUstream_st *stream;
	struct emu_token *token;
	int status = check(event);

	if (!status)
		status = emu_stream_find_work(handle, &stream);
	if (status)
		return status;
	if (emu_call_is_dropped())
		return EMU_OK;
	emu_clock_call(true);
	token = last_of(event, &captured);
	if (captured.capture || (token && emu_is_capturing(stream))) {
		emu_token_release(token);
		return emu_capture_wait(stream, &captured);
	}
	if (token)
		emu_stream_submit(stream, emu_token_wait_task(token));
	return EMU_OK;
}

void
emu_events_drop(const struct CUctx_st *context)
{
	pthread_mutex_lock(&lock);
	for (struct CUevent_st *e = all; e; e = e->next_all)
		if (atomic_load(&e->mark) == EMU_MARK_EVENT &&
		    (!context || e->context == context))
			drop(e);
	pthread_mutex_unlock(&lock);
}

void
emu_events_release(void)
{
	emu_events_drop(NULL);
	unused = NULL;
	while (all) {
		struct CUevent_st *e = all;

		all = e->next_all;
		free(e);
	}
}
