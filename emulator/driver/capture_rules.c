/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/capture_rules.c -- which calls a capture forbids [CUDA driver
 * manual, cuThreadExchangeStreamCaptureMode(); CUDA programming guide, stream
 * capture, prohibited operations]. Invalidates captures, but ends none. */
#include "emulator/driver/capture.h"

static const char *const mode_names[] = {
	[EMU_CAPTURE_GLOBAL] = "global",
	[EMU_CAPTURE_THREAD_LOCAL] = "thread-local",
	[EMU_CAPTURE_RELAXED] = "relaxed"
};
static _Thread_local unsigned thread_mode = EMU_CAPTURE_GLOBAL;

unsigned
emu_capture_swap_mode(unsigned mode)
{
	const unsigned before = thread_mode;

	thread_mode = mode;
	return before;
}

static bool
none_goes_on(void)
{
	return !atomic_load_explicit(&emu_captures.count,
	    memory_order_relaxed);
}

/* Whether a call that this capture cannot see would be unsafe. */
static bool
forbids(const struct emu_capture *c)
{
	if (thread_mode == EMU_CAPTURE_RELAXED)
		return false;
	if (c->thread == emu_capture_thread())
		return c->mode != EMU_CAPTURE_RELAXED;
	return thread_mode == EMU_CAPTURE_GLOBAL &&
	    c->mode == EMU_CAPTURE_GLOBAL;
}

int
emu_capture_forbid(void)
{
	const struct emu_capture *worst = NULL;
	bool own = false;
	unsigned mode = 0;

	if (none_goes_on())
		return EMU_OK;
	pthread_mutex_lock(&emu_captures.lock);
	for (struct emu_capture *c = emu_captures.first; c; c = c->next)
		if (forbids(c)) {
			c->invalid = true;
			worst = c;
			mode = c->mode;
			own = c->thread == emu_capture_thread();
		}
	pthread_mutex_unlock(&emu_captures.lock);
	if (!worst)
		return EMU_OK;
	emu_complain("not permitted during the %s capture that %s thread "
	    "began; it is invalidated", mode_names[mode],
	    own ? "this" : "another");
	return EMU_CAPTURE_UNSUPPORTED;
}

void
emu_capture_count(enum emu_counter counter)
{
	bool inside = false;

	if (none_goes_on())
		return;
	pthread_mutex_lock(&emu_captures.lock);
	for (struct emu_capture *c = emu_captures.first; c; c = c->next)
		if (c->thread == emu_capture_thread() || forbids(c))
			inside = true;
	pthread_mutex_unlock(&emu_captures.lock);
	if (inside)
		emu_count(counter, 1);
}

/* Selects streams of a capture. */
struct whose {
	const struct CUctx_st    *context; /* of this context */
	const struct CUstream_st *stream;  /* or only this one */
	bool blocking;                     /* only those the legacy one sees */
};

static bool
is_meant(const struct CUstream_st *s, const struct whose *whose)
{
	if (!s || (whose->stream && s != whose->stream) ||
	    (whose->context && s->context != whose->context))
		return false;
	return !whose->blocking || !(s->flags & EMU_STREAM_NON_BLOCKING);
}

/* Whether one of them captures; with `spoil`, that capture becomes invalid. */
static bool
meets(const struct whose *whose, bool spoil)
{
	bool found = false;

	pthread_mutex_lock(&emu_captures.lock);
	for (struct emu_capture *c = emu_captures.first; c; c = c->next)
		for (int i = 0; i < c->graph->body->lanes; i++)
			if (is_meant(c->stream[i], whose)) {
				found = true;
				c->invalid |= spoil;
			}
	pthread_mutex_unlock(&emu_captures.lock);
	return found;
}

/* Whether it is a legacy stream that would wait for a capturing one. */
static bool
blocks_legacy(const struct CUstream_st *stream)
{
	return !none_goes_on() && stream == &stream->context->legacy &&
	    meets(&(struct whose){ stream->context, NULL, true }, false);
}

int
emu_capture_facts(struct CUstream_st *handle, struct emu_capture_facts *out)
{
	struct emu_capture_facts facts = { EMU_CAPTURE_NONE, 0, NULL };
	struct CUstream_st *stream;
	struct emu_capture *c;
	const int status = emu_stream_find(handle, &stream);

	if (status)
		return status;
	if (blocks_legacy(stream))
		return EMU_CAPTURE_IMPLICIT;
	pthread_mutex_lock(&emu_captures.lock);
	c = atomic_load(&stream->capture);
	if (c)
		facts = (struct emu_capture_facts){ c->invalid ?
			EMU_CAPTURE_INVALID : EMU_CAPTURE_ACTIVE, c->id,
			c->graph };
	pthread_mutex_unlock(&emu_captures.lock);
	*out = facts;
	return EMU_OK;
}

static int
check_legacy(const struct CUstream_st *stream)
{
	if (!blocks_legacy(stream))
		return EMU_OK;
	meets(&(struct whose){ stream->context, NULL, true }, true);
	emu_complain("the legacy stream would depend on a blocking stream that "
	    "captures; the capture is invalidated");
	return EMU_CAPTURE_IMPLICIT;
}

int
emu_capture_check_work(struct CUstream_st *stream)
{
	bool invalid = false;

	if (none_goes_on())
		return EMU_OK;
	if (!emu_is_capturing(stream))
		return check_legacy(stream);
	pthread_mutex_lock(&emu_captures.lock);
	if (emu_is_capturing(stream))
		invalid = atomic_load(&stream->capture)->invalid;
	pthread_mutex_unlock(&emu_captures.lock);
	if (!invalid)
		return EMU_OK;
	emu_complain("stream %p's capture was invalidated",
	    (void *)stream);
	return EMU_CAPTURE_INVALIDATED;
}

int
emu_capture_check_wait(struct CUstream_st *stream)
{
	if (none_goes_on())
		return EMU_OK;
	if (!meets(&(struct whose){ NULL, stream, false }, true)) {
		const int status = check_legacy(stream);

		/* Not in the manual's list: an H100 answers 900 so. */
		return status ? status : emu_capture_forbid();
	}
	emu_complain("stream %p captures and cannot be waited for or queried; "
	    "the capture is invalidated", (void *)stream);
	return EMU_CAPTURE_UNSUPPORTED;
}

int
emu_capture_check_context(const struct CUctx_st *context)
{
	if (none_goes_on())
		return EMU_OK;
	if (!meets(&(struct whose){ context, NULL, false }, true))
		return emu_capture_forbid();
	emu_complain("a stream of the context captures; the capture is "
	    "invalidated");
	return EMU_CAPTURE_UNSUPPORTED;
}
