/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/order.c -- the order between the legacy default stream and
 * the others, and waiting on the calling thread. Work on the legacy stream
 * follows all earlier work on blocking streams; work on those follows all
 * earlier work on the legacy stream. */
#include "emulator/driver/streams.h"
#include "emulator/driver/capture.h"
#include "emulator/driver/pool.h"
#include "emulator/driver/print.h"
#include "emulator/driver/wait.h"

#include <stdlib.h>

/* `waiter` continues when `other` has done its present work. Lock held. */
static void
follow(struct CUstream_st *waiter, struct CUstream_st *other)
{
	struct emu_token *token = emu_token_new(2);

	emu_stream_push(other, emu_token_reach_task(token));
	emu_stream_push(waiter, emu_token_wait_task(token));
}

static void
submit_to_legacy(struct CUctx_st *context, void *arguments)
{
	atomic_fetch_add_explicit(&context->legacy_work, 1,
	    memory_order_relaxed);
	if (!atomic_load_explicit(&context->blocking, memory_order_relaxed)) {
		emu_stream_push(&context->legacy, arguments);
		return;
	}
	pthread_mutex_lock(&emu_streams.lock);
	for (struct CUstream_st *s = emu_streams.live; s; s = s->next_live)
		if (s->context == context && s->joined != s->work &&
		    !(s->flags & EMU_STREAM_NON_BLOCKING)) {
			follow(&context->legacy, s);
			s->joined = s->work;
		}
	emu_stream_push(&context->legacy, arguments);
	pthread_mutex_unlock(&emu_streams.lock);
}

void
emu_stream_submit(struct CUstream_st *stream, void *arguments)
{
	struct CUctx_st *context = stream->context;
	uint64_t seen;

	if (emu_is_capturing(stream) && emu_capture_record(stream, arguments))
		return;
	if (emu_task_is_work(arguments)) {
		emu_ahead_wait(stream);
		emu_task_make_launch(arguments);
	}
	if (stream == &context->legacy) {
		submit_to_legacy(context, arguments);
	} else if (stream->flags & EMU_STREAM_NON_BLOCKING) {
		emu_stream_push(stream, arguments);
	} else {
		pthread_mutex_lock(&emu_streams.lock);
		seen = atomic_load_explicit(&context->legacy_work,
		    memory_order_relaxed);
		if (seen != stream->legacy_seen)
			follow(stream, &context->legacy);
		stream->legacy_seen = seen;
		stream->work++;
		emu_stream_push(stream, arguments);
		pthread_mutex_unlock(&emu_streams.lock);
	}
}

/* Whether a wait for the stream would return at once. */
static bool
has_nothing(struct CUstream_st *stream)
{
	if (stream == &stream->context->legacy)
		return !atomic_load_explicit(&stream->context->blocking,
		    memory_order_relaxed) && emu_stream_idle(stream);
	if (stream->flags & EMU_STREAM_NON_BLOCKING)
		return emu_stream_idle(stream);
	return false;
}

int
emu_stream_wait(struct CUstream_st *handle)
{
	struct emu_token *token;
	struct CUstream_st *stream;
	int status = emu_stream_find(handle, &stream);

	if (!status)
		status = emu_capture_check_wait(stream);
	if (status)
		return status;
	emu_count(EMU_syncs, 1);
	emu_capture_count(EMU_syncs_in_capture);
	if (has_nothing(stream)) {
		emu_clock_reach(atomic_load_explicit(&stream->clock,
		    memory_order_relaxed));
	} else {
		token = emu_token_new(2);
		emu_stream_submit(stream, emu_token_reach_task(token));
		emu_token_wait(token);
		emu_token_release(token);
	}
	emu_pools_relax(stream->context->device, false);
	emu_print_flush();
	return emu_context_error(stream->context);
}

/* What to wait for: a context, a device, or all. */
struct whose {
	const struct CUctx_st *context;
	int device;
};

static bool
is_meant(const struct CUctx_st *context, const struct whose *whose)
{
	return whose->context ? context == whose->context :
	    whose->device < 0 || context->device == whose->device;
}

static struct emu_token *
mark(struct CUstream_st *stream)
{
	struct emu_token *token = emu_token_new(2);

	emu_stream_push(stream, emu_token_reach_task(token));
	return token;
}

static size_t
count_all(void)
{
	size_t count = 0;

	for (struct CUstream_st *s = emu_streams.live; s; s = s->next_live)
		count++;
	for (struct CUctx_st *c = emu_context_first(); c; c = c->next_all)
		count++;
	return count;
}

/* Wait for streams one by one; work that another thread queues meanwhile does
 * not count. A legacy stream that never had work has no worker, and none is
 * started. */
static void
wait_for(const struct whose *whose)
{
	struct emu_token **tokens;
	size_t used = 0;

	emu_streams_prepare();
	emu_count(EMU_syncs, 1);
	emu_capture_count(EMU_syncs_in_capture);
	pthread_mutex_lock(&emu_streams.lock);
	tokens = calloc(count_all() + 1, sizeof *tokens);
	if (!tokens)
		emu_out_of_host_memory();
	for (struct CUstream_st *s = emu_streams.live; s; s = s->next_live)
		if (is_meant(s->context, whose))
			tokens[used++] = mark(s);
	for (struct CUctx_st *c = emu_context_first(); c; c = c->next_all)
		if (is_meant(c, whose) && atomic_load(&c->legacy_work))
			tokens[used++] = mark(&c->legacy);
	emu_streams_reap(true);
	pthread_mutex_unlock(&emu_streams.lock);
	for (size_t i = 0; i < used; i++) {
		emu_token_wait(tokens[i]);
		emu_token_release(tokens[i]);
	}
	free(tokens);
	emu_pools_relax(whose->context ? whose->context->device :
	    whose->device, false);
	emu_print_flush();
}

int
emu_stream_wait_context(struct CUctx_st *context)
{
	wait_for(&(struct whose){ context, 0 });
	return emu_context_error(context);
}

int
emu_context_wait(struct CUctx_st *context, uint64_t id)
{
	int status;

	if (emu_context_id(context) != id)
		return EMU_OK;
	status = emu_capture_check_context(context);
	return status ? status : emu_stream_wait_context(context);
}

int
emu_stream_wait_all(void)
{
	struct CUctx_st *context = emu_context_current();
	const int status = emu_capture_check_context(context);

	return status ? status : emu_stream_wait_context(context);
}

void
emu_stream_wait_device(int device)
{
	wait_for(&(struct whose){ NULL, device });
}

int
emu_stream_query(struct CUstream_st *handle)
{
	struct CUstream_st *stream;
	int status = emu_stream_find(handle, &stream);

	if (!status)
		status = emu_capture_check_wait(stream);
	if (status)
		return status;
	if (!emu_stream_idle(stream)) {
		emu_late_hurry();
		return EMU_NOT_READY;
	}
	return emu_context_error(stream->context);
}
