/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/replay.c -- executable graphs and their launches. A launch
 * copies the recorded tasks and queues one task per lane, which runs that lane:
 * the first on the stream of the launch, the others on streams of the
 * executable, ordered by tokens as they were captured. Two executables share
 * nothing; two launches of one run one after the other. */
#include "emulator/driver/capture.h"
#include "emulator/driver/wait.h"

#include <stdlib.h>

/* What NVIDIA's headers know as struct CUgraphExec_st. */
struct CUgraphExec_st {
	_Atomic uint32_t    mark;
	struct emu_recording    *body;
	struct CUstream_st *stream[EMU_LANES]; /* NULL: none yet */
	struct emu_token   *last;  /* the end of its last launch, or NULL */
	struct CUgraphExec_st *next_all, *next_free;
};

/* One for all: launches are short, and only the program's threads take it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUgraphExec_st *all, *unused;

int
emu_graph_exec_check(const struct CUgraphExec_st *exec)
{
	const uintptr_t value = (uintptr_t)exec;

	if (value >= 4096 && value % _Alignof(struct CUgraphExec_st) == 0 &&
	    atomic_load_explicit(&exec->mark, memory_order_relaxed) ==
	    EMU_MARK_EXECUTABLE)
		return EMU_OK;
	emu_complain("executable graph %p does not exist (destroyed?)",
	    (const void *)exec);
	return EMU_INVALID_VALUE;
}

int
emu_graph_instantiate(struct CUgraph_st *graph, struct CUgraphExec_st **out)
{
	struct CUgraphExec_st *exec;
	const int status = emu_graph_check(graph);

	if (status)
		return status;
	pthread_mutex_lock(&lock);
	exec = unused;
	if (exec) {
		unused = exec->next_free;
	} else {
		exec = calloc(1, sizeof *exec);
		if (!exec)
			emu_out_of_host_memory();
		exec->next_all = all;
		all = exec;
	}
	exec->body = emu_body_keep(graph->body);
	exec->last = NULL;
	for (int i = 0; i < EMU_LANES; i++)
		exec->stream[i] = NULL;
	atomic_store(&exec->mark, EMU_MARK_EXECUTABLE);
	pthread_mutex_unlock(&lock);
	*out = exec;
	return EMU_OK;
}

struct emu_recording *
emu_graph_exec_body(const struct CUgraphExec_st *exec)
{
	return exec->body;
}

/* Launches that are queued have their own copies. */
void
emu_graph_exec_replace(struct CUgraphExec_st *exec, struct emu_recording *body)
{
	struct emu_recording *before;

	pthread_mutex_lock(&lock);
	before = exec->body;
	exec->body = body;
	pthread_mutex_unlock(&lock);
	emu_body_release(before);
}

static bool
is_lane_alive(const struct emu_recording *body, int lane)
{
	return emu_context_id(body->lane[lane].context) ==
	    body->lane[lane].context_id;
}

/* Its queued launches still run. */
int
emu_graph_exec_destroy(struct CUgraphExec_st *exec)
{
	struct emu_recording *body;
	const int status = emu_graph_exec_check(exec);

	if (status)
		return status;
	pthread_mutex_lock(&lock);
	body = exec->body;
	for (int i = 0; i < body->lanes; i++)
		if (exec->stream[i] && is_lane_alive(body, i))
			emu_stream_destroy(exec->stream[i]);
	emu_token_release(exec->last);
	atomic_store(&exec->mark, 0);
	exec->body = NULL;
	exec->next_free = unused;
	unused = exec;
	pthread_mutex_unlock(&lock);
	emu_body_release(body);
	return EMU_OK;
}

/* The streams are freed with all others. */
void
emu_executables_release(void)
{
	unused = NULL;
	while (all) {
		struct CUgraphExec_st *exec = all;

		all = exec->next_all;
		if (exec->body) {
			emu_token_release(exec->last);
			emu_body_release(exec->body);
		}
		free(exec);
	}
}

/* ---- one launch --------------------------------------------------------- */

/* One lane of a launch, on a worker. */
struct part {
	size_t count;
	struct {
		enum emu_step_kind kind;
		void *task;              /* TASK: this launch's copy */
		struct emu_token *token; /* REACH, WAIT: one reference */
		struct emu_hold   hold;  /* DROP: what it needed until here */
	} step[];
};

static void
run_part(void *arguments)
{
	struct part *part = arguments;

	for (size_t i = 0; i < part->count; i++) {
		struct emu_token *token = part->step[i].token;

		switch (part->step[i].kind) {
		case EMU_STEP_TASK:
			emu_task_run(part->step[i].task);
			continue;
		case EMU_STEP_REACH:
			emu_token_reach(token);
			break;
		case EMU_STEP_WAIT:
			emu_token_wait(token);
			break;
		case EMU_STEP_DROP:
			emu_object_release(part->step[i].hold.object,
			    part->step[i].hold.count);
			continue;
		}
		emu_token_release(token);
	}
}

static void
part_task(struct part *part, const void *template)
{
	void *task = emu_task_copy(template);

	emu_task_count(task);
	part->step[part->count].kind = EMU_STEP_TASK;
	part->step[part->count++].task = task;
}

static void
part_token(struct part *part, enum emu_step_kind kind,
    struct emu_token *token)
{
	part->step[part->count].kind = kind;
	part->step[part->count++].token = token;
}

/* What the graph holds the launch does, too, until it is over. */
static void
part_holds(struct part *part, const struct emu_recording *body)
{
	for (size_t i = 0; i < body->holds_used; i++) {
		const struct emu_hold *hold = &body->holds[i];

		emu_object_retain(hold->object, hold->count);
		part->step[part->count].kind = EMU_STEP_DROP;
		part->step[part->count++].hold = *hold;
	}
}

/* With room for that many steps; `after` NULL: it waits for nothing. */
static struct part *
part_new(size_t most, struct emu_token *after)
{
	struct part *part = emu_task_new(run_part, sizeof *part +
	    most * sizeof *part->step);

	if (!part)
		emu_out_of_host_memory();
	part->count = 0;
	if (after)
		part_token(part, EMU_STEP_WAIT, after);
	return part;
}

/* A stream of the executable, in the context of the lane's stream. */
static struct CUstream_st *
stream_of_lane(struct CUgraphExec_st *exec, int lane)
{
	struct CUctx_st *const before = emu_context_current();

	if (!exec->stream[lane]) {
		emu_context_make_current(exec->body->lane[lane].context);
		emu_stream_create(EMU_STREAM_NON_BLOCKING, 0,
		    &exec->stream[lane]);
		emu_context_make_current(before);
	}
	return exec->stream[lane];
}

/* All steps in the order of the record: for a graph with one lane, and at the
 * end of the process, when work runs at once. */
static struct part *
make_serial(const struct emu_recording *body, struct emu_token *after)
{
	struct part *part = part_new(body->steps_used + body->holds_used + 2,
	    after);

	for (size_t i = 0; i < body->steps_used; i++)
		if (body->steps[i].kind == EMU_STEP_TASK)
			part_task(part, body->steps[i].task);
	return part;
}

/* One part per lane. Points that nobody waits for are left out. */
static void
make_parts(const struct emu_recording *body, struct emu_token *after,
    struct part **part)
{
	struct emu_token **token = calloc(body->points_used + 1,
	    sizeof *token);
	size_t steps[EMU_LANES] = { 0 };

	if (!token)
		emu_out_of_host_memory();
	for (size_t i = 0; i < body->points_used; i++)
		if (body->points[i].waits)
			token[i] = emu_token_new(1 + body->points[i].waits);
	for (size_t i = 0; i < body->steps_used; i++)
		steps[body->steps[i].lane]++;
	for (int i = 0; i < body->lanes; i++)
		part[i] = part_new(steps[i] + (i ? 0 : body->holds_used) + 2,
		    i ? NULL : after);
	for (size_t i = 0; i < body->steps_used; i++) {
		const struct emu_step *s = &body->steps[i];

		if (s->kind == EMU_STEP_TASK)
			part_task(part[s->lane], s->task);
		else if (token[s->point])
			part_token(part[s->lane], s->kind, token[s->point]);
	}
	free(token);
}

/* All of it on `stream`, after its previous launch. The other lanes begin and
 * end with points of the first one. Lock held. */
static void
launch(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
	const struct emu_recording *body = exec->body;
	const bool serial = body->lanes == 1 || emu_device_ending();
	struct part *part[EMU_LANES];

	emu_clock_call(false);
	if (serial)
		part[0] = make_serial(body, exec->last);
	else
		make_parts(body, exec->last, part);
	exec->last = emu_token_new(2);
	part_token(part[0], EMU_STEP_REACH, exec->last);
	part_holds(part[0], body);
	emu_task_make_launch(part[0]);
	for (int i = 1; !serial && i < body->lanes; i++)
		emu_stream_submit(stream_of_lane(exec, i), part[i]);
	emu_stream_submit(stream, part[0]);
}

/* Into a capture: the tasks one by one, as a part of its lane. What it holds is
 * the capture's from then on: a launch becomes a child graph. */
static int
launch_captured(const struct emu_recording *body, struct CUstream_st *stream)
{
	emu_capture_hold(stream, body);
	for (size_t i = 0; i < body->steps_used; i++)
		if (body->steps[i].kind == EMU_STEP_TASK)
			emu_stream_submit(stream,
			    emu_task_copy(body->steps[i].task));
	return EMU_OK;
}

int
emu_graph_launch(struct CUgraphExec_st *exec, struct CUstream_st *handle)
{
	struct CUstream_st *stream;
	int status = emu_graph_exec_check(exec);

	if (!status)
		status = emu_stream_find_work(handle, &stream);
	for (int i = 0; !status && i < exec->body->lanes; i++)
		if (!is_lane_alive(exec->body, i)) {
			emu_complain("a context that the graph was captured "
			    "in is gone");
			status = EMU_CONTEXT_DESTROYED;
		}
	if (!status && stream->context != exec->body->lane[0].context) {
		emu_complain("the graph was captured in another context than "
		    "stream %p's", (void *)handle);
		status = EMU_INVALID_HANDLE;
	}
	if (status)
		return status;
	if (emu_is_capturing(stream))
		return launch_captured(exec->body, stream);
	emu_ahead_wait(stream);
	pthread_mutex_lock(&lock);
	launch(exec, stream);
	pthread_mutex_unlock(&lock);
	emu_count(EMU_graph_launches, 1);
	return EMU_OK;
}
