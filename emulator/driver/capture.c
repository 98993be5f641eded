/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/capture.c -- active captures: how they begin and end, which
 * streams take part, what they record. Runs nothing. */
#include "emulator/driver/capture.h"
#include "emulator/driver/wait.h"

#include <stdlib.h>
#include <string.h>

struct emu_captures emu_captures = { .lock = PTHREAD_MUTEX_INITIALIZER };

uint64_t
emu_capture_thread(void)
{
	static _Atomic uint64_t next = 1;
	static _Thread_local uint64_t own;

	if (!own)
		own = atomic_fetch_add(&next, 1);
	return own;
}

/* The caller of the functions from here to the public ones holds the lock. */

static struct emu_capture *
capture_of(struct CUstream_st *stream)
{
	return atomic_load_explicit(&stream->capture, memory_order_relaxed);
}

static struct emu_capture *
find(uint64_t id)
{
	struct emu_capture *c = emu_captures.first;

	while (c && c->id != id)
		c = c->next;
	return c;
}

static bool
join(struct emu_capture *c, struct CUstream_st *stream)
{
	struct emu_recording *body = c->graph->body;
	const int lane = body->lanes;

	if (lane == EMU_LANES)
		return false;
	body->lane[lane].context = stream->context;
	body->lane[lane].context_id = emu_context_id(stream->context);
	body->lanes++;
	c->stream[lane] = stream;
	stream->lane = lane;
	atomic_store_explicit(&stream->capture, c, memory_order_release);
	return true;
}

/* Take it out of the list; its streams queue work again. */
static void
detach(struct emu_capture *capture)
{
	struct emu_capture **link = &emu_captures.first;

	while (*link != capture)
		link = &(*link)->next;
	*link = capture->next;
	atomic_fetch_sub(&emu_captures.count, 1);
	for (int i = 0; i < capture->graph->body->lanes; i++)
		if (capture->stream[i])
			atomic_store_explicit(&capture->stream[i]->capture,
			    NULL, memory_order_release);
}

/* Whether all work of every lane comes before the end of the first lane. */
static bool
is_joined(const struct emu_capture *c)
{
	for (int i = 1; i < c->graph->body->lanes; i++)
		if (c->seen[0][i] != c->seen[i][i])
			return false;
	return true;
}

/* ---- beginning and end ------------------------------------------------- */

static int
begin(struct CUstream_st *stream, unsigned mode)
{
	static _Atomic uint64_t next = 1;
	struct emu_capture *new = calloc(1, sizeof *new);

	if (!new)
		emu_out_of_host_memory();
	new->id = atomic_fetch_add(&next, 1);
	new->thread = emu_capture_thread();
	new->mode = mode;
	new->graph = emu_graph_new(new->id);
	pthread_mutex_lock(&emu_captures.lock);
	if (capture_of(stream)) {
		pthread_mutex_unlock(&emu_captures.lock);
		emu_graph_discard(new->graph);
		free(new);
		emu_complain("stream %p captures already", (void *)stream);
		return EMU_ILLEGAL_STATE;
	}
	join(new, stream);
	new->next = emu_captures.first;
	emu_captures.first = new;
	atomic_fetch_add(&emu_captures.count, 1);
	pthread_mutex_unlock(&emu_captures.lock);
	emu_count(EMU_captures, 1);
	return EMU_OK;
}

int
emu_capture_begin(struct CUstream_st *handle, unsigned mode)
{
	struct CUstream_st *stream;
	const int status = emu_stream_find(handle, &stream);

	if (status)
		return status;
	if (mode > EMU_CAPTURE_RELAXED)
		return EMU_INVALID_VALUE;
	if (stream == &stream->context->legacy) {
		emu_complain("the legacy stream cannot capture");
		return EMU_CAPTURE_UNSUPPORTED;
	}
	return begin(stream, mode);
}

/* Whether the stream's capture may end here and now, and how. */
static int
check_end(struct CUstream_st *stream, bool *ends_out)
{
	const struct emu_capture *c = capture_of(stream);

	*ends_out = false;
	if (!c) {
		emu_complain("stream %p does not capture", (void *)stream);
		return EMU_ILLEGAL_STATE;
	}
	if (stream->lane != 0) {
		emu_complain("the capture did not begin in stream %p",
		    (void *)stream);
		return EMU_CAPTURE_UNMATCHED;
	}
	if (c->mode != EMU_CAPTURE_RELAXED &&
	    c->thread != emu_capture_thread()) {
		emu_complain("another thread began the capture");
		return EMU_CAPTURE_WRONG_THREAD;
	}
	*ends_out = true;
	if (c->invalid) {
		emu_complain("the capture was invalidated");
		return EMU_CAPTURE_INVALIDATED;
	}
	if (!is_joined(c)) {
		emu_complain("work of a stream that joined the capture was "
		    "never waited for");
		return EMU_CAPTURE_UNJOINED;
	}
	return EMU_OK;
}

int
emu_capture_end(struct CUstream_st *handle, struct CUgraph_st **graph_out)
{
	struct CUstream_st *stream;
	struct emu_capture *c;
	int status = emu_stream_find(handle, &stream);
	bool ends;

	if (status)
		return status;
	pthread_mutex_lock(&emu_captures.lock);
	c = capture_of(stream);
	status = check_end(stream, &ends);
	if (ends)
		detach(c);
	pthread_mutex_unlock(&emu_captures.lock);
	if (!ends)
		return status;
	c->graph->body->open = false;
	if (status)
		emu_graph_discard(c->graph);
	else
		*graph_out = c->graph;
	free(c);
	return status;
}

void
emu_capture_leave(struct CUstream_st *stream)
{
	struct emu_capture *c, *ended = NULL;

	if (!emu_is_capturing(stream))
		return;
	pthread_mutex_lock(&emu_captures.lock);
	c = capture_of(stream);
	if (c) {
		c->invalid = true;
		c->stream[stream->lane] = NULL;
		atomic_store(&stream->capture, NULL);
		if (stream->lane == 0) {
			detach(c);
			ended = c;
		}
	}
	pthread_mutex_unlock(&emu_captures.lock);
	if (ended)
		emu_graph_discard(ended->graph);
	free(ended);
}

void
emu_captures_release(void)
{
	while (emu_captures.first) {
		struct emu_capture *c = emu_captures.first;

		detach(c);
		free(c);
	}
}

/* ---- recording --------------------------------------------------------- */

bool
emu_capture_record(struct CUstream_st *stream, void *task)
{
	struct emu_step step = { .kind = EMU_STEP_TASK, .task = task };
	struct emu_capture *c;

	pthread_mutex_lock(&emu_captures.lock);
	c = capture_of(stream);
	if (c) {
		step.lane = stream->lane;
		c->seen[step.lane][step.lane]++;
		emu_body_add(c->graph->body, &step);
	}
	pthread_mutex_unlock(&emu_captures.lock);
	return c != NULL;
}

void
emu_capture_hold(struct CUstream_st *stream, const struct emu_recording *body)
{
	struct emu_capture *c;

	pthread_mutex_lock(&emu_captures.lock);
	c = capture_of(stream);
	for (size_t i = 0; c && i < body->holds_used; i++)
		emu_body_hold(c->graph->body, &body->holds[i], EMU_OWN);
	pthread_mutex_unlock(&emu_captures.lock);
}

bool
emu_capture_own(struct CUstream_st *stream, void *memory,
    uint64_t *capture_out)
{
	struct emu_capture *c;

	pthread_mutex_lock(&emu_captures.lock);
	c = capture_of(stream);
	if (c) {
		emu_body_add_memory(c->graph->body, memory);
		*capture_out = c->id;
	}
	pthread_mutex_unlock(&emu_captures.lock);
	return c != NULL;
}

bool
emu_capture_owns(struct CUstream_st *stream, const void *memory)
{
	struct emu_capture *c;
	bool owns;

	pthread_mutex_lock(&emu_captures.lock);
	c = capture_of(stream);
	owns = c && emu_body_has_memory(c->graph->body, memory);
	pthread_mutex_unlock(&emu_captures.lock);
	if (!owns)
		emu_complain("%p was not allocated in this capture", memory);
	return owns;
}

bool
emu_capture_mark(struct CUstream_st *stream, struct emu_capture_mark *mark_out)
{
	struct emu_step step = { .kind = EMU_STEP_REACH };
	struct emu_capture *c;

	pthread_mutex_lock(&emu_captures.lock);
	c = capture_of(stream);
	if (c) {
		step.lane = stream->lane;
		step.point = emu_body_add_point(c->graph->body,
		    c->seen[step.lane]);
		emu_body_add(c->graph->body, &step);
		*mark_out = (struct emu_capture_mark){ c->id, step.point };
	}
	pthread_mutex_unlock(&emu_captures.lock);
	return c != NULL;
}

/* The stream is in the capture, or joins it. */
static int
enter(struct emu_capture *c, struct CUstream_st *stream)
{
	struct emu_capture *own = capture_of(stream);

	if (c->invalid)
		return EMU_CAPTURE_INVALIDATED;
	if (own == c)
		return EMU_OK;
	c->invalid = true;
	if (own) {
		own->invalid = true;
		emu_complain("two captures would become one; both are "
		    "invalidated");
		return EMU_CAPTURE_MERGE;
	}
	if (stream == &stream->context->legacy) {
		emu_complain("the legacy stream cannot join a capture, which "
		    "is invalidated");
		return EMU_CAPTURE_UNSUPPORTED;
	}
	if (!join(c, stream)) {
		emu_complain("more than %d streams in one capture, which is "
		    "invalidated", EMU_LANES);
		return EMU_NOT_SUPPORTED;
	}
	c->invalid = false;
	return EMU_OK;
}

static void
add_wait(struct emu_capture *c, int lane, size_t point)
{
	struct emu_recording *body = c->graph->body;
	const struct emu_step step = { EMU_STEP_WAIT, lane, point, NULL };

	body->points[point].waits++;
	emu_body_add(body, &step);
	for (int i = 0; i < EMU_LANES; i++)
		if (c->seen[lane][i] < body->points[point].seen[i])
			c->seen[lane][i] = body->points[point].seen[i];
}

int
emu_capture_wait(struct CUstream_st *stream,
    const struct emu_capture_mark *mark)
{
	struct emu_capture *c, *own;
	int status = EMU_CAPTURE_ISOLATION;

	pthread_mutex_lock(&emu_captures.lock);
	c = mark->capture ? find(mark->capture) : NULL;
	own = capture_of(stream);
	if (c)
		status = enter(c, stream);
	else if (own)
		own->invalid = true;
	if (!status)
		add_wait(c, stream->lane, mark->point);
	pthread_mutex_unlock(&emu_captures.lock);
	if (status == EMU_CAPTURE_ISOLATION)
		emu_complain(own ? "the event was not recorded in stream %p's "
		    "capture, which is invalidated" : "the event was recorded "
		    "in a capture that is over; stream %p is not part of it",
		    (void *)stream);
	return status;
}

void
emu_capture_invalidate_id(uint64_t id)
{
	struct emu_capture *c;

	pthread_mutex_lock(&emu_captures.lock);
	c = find(id);
	if (c)
		c->invalid = true;
	pthread_mutex_unlock(&emu_captures.lock);
}
