/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/order.c -- the order between the legacy default stream and the
 * others, and waiting on the calling thread. Work on the legacy stream follows
 * all earlier work on blocking streams; work on those follows all earlier work
 * on the legacy stream. */
#include "emulator/streams.h"
#include "emulator/context.h"
#include "emulator/wait.h"

#include <stdlib.h>

/* `waiter` goes on when `other` has done what it holds now. Lock held. */
static void
follow(struct CUstream_st *waiter, struct CUstream_st *other)
{
	struct emu_token *token = emu_token_new(2);

	emu_stream_push(other, emu_token_reach_task(token));
	emu_stream_push(waiter, emu_token_wait_task(token));
}

static void
submit_to_legacy(void *arguments)
{
	atomic_fetch_add_explicit(&emu_streams.legacy_work, 1, memory_order_relaxed);
	if (!atomic_load_explicit(&emu_streams.blocking, memory_order_relaxed)) {
		emu_stream_push(&emu_streams.legacy, arguments);
		return;
	}
	pthread_mutex_lock(&emu_streams.lock);
	for (struct CUstream_st *s = emu_streams.live; s; s = s->next_live)
		if (!(s->flags & EMU_STREAM_NON_BLOCKING) &&
		    s->joined != s->work) {
			follow(&emu_streams.legacy, s);
			s->joined = s->work;
		}
	emu_stream_push(&emu_streams.legacy, arguments);
	pthread_mutex_unlock(&emu_streams.lock);
}

void
emu_stream_submit(struct CUstream_st *stream, void *arguments)
{
	uint64_t seen;

	if (stream == &emu_streams.legacy) {
		submit_to_legacy(arguments);
	} else if (stream->flags & EMU_STREAM_NON_BLOCKING) {
		emu_stream_push(stream, arguments);
	} else {
		pthread_mutex_lock(&emu_streams.lock);
		seen = atomic_load_explicit(&emu_streams.legacy_work,
		    memory_order_relaxed);
		if (seen != stream->legacy_seen)
			follow(stream, &emu_streams.legacy);
		stream->legacy_seen = seen;
		stream->work++;
		emu_stream_push(stream, arguments);
		pthread_mutex_unlock(&emu_streams.lock);
	}
}

/* Whether nothing is left that a wait for the stream would wait for. */
static bool
has_nothing(struct CUstream_st *stream)
{
	if (stream == &emu_streams.legacy)
		return !atomic_load_explicit(&emu_streams.blocking,
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
	const int status = emu_stream_find(handle, &stream);

	if (status)
		return status;
	emu_count(EMU_syncs, 1);
	if (!has_nothing(stream)) {
		token = emu_token_new(2);
		emu_stream_submit(stream, emu_token_reach_task(token));
		emu_token_wait(token);
		emu_token_release(token);
	}
	return emu_device_error();
}

/* Wait for streams one by one: what a thread queues meanwhile is not ours. */
int
emu_stream_wait_all(void)
{
	struct emu_token **tokens;
	size_t count = 1, used = 0;

	emu_streams_prepare();
	emu_count(EMU_syncs, 1);
	pthread_mutex_lock(&emu_streams.lock);
	for (struct CUstream_st *s = emu_streams.live; s; s = s->next_live)
		count++;
	tokens = calloc(count, sizeof *tokens);
	if (!tokens)
		emu_out_of_host_memory();
	for (struct CUstream_st *s = emu_streams.live; s; s = s->next_live)
		tokens[used++] = emu_token_new(2);
	tokens[used++] = emu_token_new(2);
	used = 0;
	for (struct CUstream_st *s = emu_streams.live; s; s = s->next_live)
		emu_stream_push(s, emu_token_reach_task(tokens[used++]));
	emu_stream_push(&emu_streams.legacy, emu_token_reach_task(tokens[used++]));
	emu_streams_reap(true);
	pthread_mutex_unlock(&emu_streams.lock);
	for (size_t i = 0; i < used; i++) {
		emu_token_wait(tokens[i]);
		emu_token_release(tokens[i]);
	}
	free(tokens);
	return emu_device_error();
}

int
emu_stream_query(struct CUstream_st *handle)
{
	struct CUstream_st *stream;
	const int status = emu_stream_find(handle, &stream);

	if (status)
		return status;
	if (!emu_stream_idle(stream))
		return EMU_NOT_READY;
	return emu_device_error();
}
