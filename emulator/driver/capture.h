/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/capture.h -- stream capture and graphs inside libcuda.so.1.
 * capture.c keeps the active captures and what they record, capture_rules.c
 * says which calls are allowed meanwhile, graph.c owns what was recorded,
 * replay.c launches it.
 *
 * A capture has a lane for each stream that takes part. The record is one list
 * of steps: a lane's tasks, the points of its events, and its waits for points
 * of other lanes. Each wait comes after its point, so all steps may run in the
 * order of the list. */
#ifndef AC_EMULATOR_CAPTURE_H
#define AC_EMULATOR_CAPTURE_H

#include "emulator/driver/context.h"

#include <pthread.h>

enum { EMU_LANES = 32 };

/* ---- what was recorded (graph.c) -------------------------------------- */

enum emu_step_kind { EMU_STEP_TASK, EMU_STEP_REACH, EMU_STEP_WAIT,
	EMU_STEP_DROP /* of a launch only */ };
struct emu_step {
	enum emu_step_kind kind;
	int      lane;
	size_t   point;  /* REACH, WAIT: index */
	void    *task;   /* TASK: never run itself, copied for each launch */
};
struct emu_point {
	int      waits;
	uint32_t seen[EMU_LANES]; /* tasks of each lane that come before it */
};
struct CUuserObject_st;

/* References to a user object: the graph's own, or of the child whose first
 * step is `at`. */
enum { EMU_OWN = -1 };
struct emu_hold {
	struct CUuserObject_st *object;
	unsigned count;
	long     at;
};
struct emu_recording {
	int      references;      /* of the graph and its executables */
	bool     open;            /* still recorded into */
	uint64_t capture;         /* id; owns memory allocated during it */
	int      lanes;
	struct {
		struct CUctx_st *context;
		uint64_t context_id;
	} lane[EMU_LANES];
	struct emu_step  *steps;
	struct emu_point *points;
	void   **memory;
	size_t   steps_used, steps_room, points_used, points_room;
	struct emu_hold  *holds;
	size_t   memory_used, memory_room, holds_used, holds_room;
	size_t   tasks;
};

/* What NVIDIA's headers know as struct CUgraph_st. */
struct CUgraph_st {
	_Atomic uint32_t   mark;
	struct emu_recording   *body;
	struct CUgraphNode_st  *nodes;  /* its child graphs */
	struct CUgraph_st *next_all, *next_free;
};

/* An empty one, open for recording. */
struct CUgraph_st *emu_graph_new(uint64_t capture);
/* Only its capture calls these, while it is open. */
void emu_body_add(struct emu_recording *body, const struct emu_step *step);
size_t emu_body_add_point(struct emu_recording *body, const uint32_t *seen);
void emu_body_add_memory(struct emu_recording *body, void *memory);
bool emu_body_has_memory(const struct emu_recording *body, const void *memory);
/* Add or drop a reference. */
struct emu_recording *emu_body_keep(struct emu_recording *body);
void emu_body_release(struct emu_recording *body);
/* Take references like `hold`, which belong to the step `at` here. */
void emu_body_hold(struct emu_recording *body, const struct emu_hold *hold,
    long at);
/* A user object, `count` references of the program's. When nobody has any, it
 * calls `destroy`: within the last call, or on a worker behind a launch. */
int emu_object_create(void (*destroy)(void *), void *data, unsigned count,
    struct CUuserObject_st **object_out);
void emu_object_retain(struct CUuserObject_st *object, unsigned count);
int emu_object_release(struct CUuserObject_st *object, unsigned count);
/* References for a graph, also while it is captured; `moved`: they are the
 * program's so far. */
int emu_graph_retain(struct CUgraph_st *graph, struct CUuserObject_st *object,
    unsigned count, bool moved);
/* Free a graph whose capture failed. */
void emu_graph_discard(struct CUgraph_st *graph);
/* Whether it exists and may be used; complains. */
int emu_graph_check(const struct CUgraph_st *graph);
/* Free its nodes. */
void emu_graph_drop_nodes(struct CUgraph_st *graph);
/* What an executable launches; and from now on. Takes over a reference. */
struct emu_recording *emu_graph_exec_body(const struct CUgraphExec_st *exec);
void emu_graph_exec_replace(struct CUgraphExec_st *exec,
    struct emu_recording *body);
/* At the library's end. */
void emu_graphs_release(void);
void emu_executables_release(void);

/* ---- captures that go on (capture.c) ---------------------------------- */

struct emu_capture {
	uint64_t id, thread;    /* of the thread that began it */
	unsigned mode;          /* EMU_CAPTURE_GLOBAL, ... */
	bool     invalid;
	struct CUgraph_st  *graph;
	struct CUstream_st *stream[EMU_LANES]; /* 0: the one it began in */
	uint32_t seen[EMU_LANES][EMU_LANES];   /* as in struct emu_point */
	struct emu_capture *next;
};

/* Only the program's threads take the lock; no other lock is taken inside
 * it. */
struct emu_captures {
	pthread_mutex_t     lock;
	struct emu_capture *first;
	_Atomic int         count;  /* zero: no capture is active */
};
extern struct emu_captures emu_captures;

/* This thread's number; never reused. */
uint64_t emu_capture_thread(void);
/* A stream is about to be destroyed. */
void emu_capture_leave(struct CUstream_st *stream);
/* At the library's end. */
void emu_captures_release(void);

static inline bool
emu_is_capturing(struct CUstream_st *stream)
{
	return atomic_load_explicit(&stream->capture, memory_order_acquire) !=
	    NULL;
}

/* Record instead of queueing. false: the stream does not capture (any more),
 * nothing was done. */
bool emu_capture_record(struct CUstream_st *stream, void *task);
/* The stream's capture holds what `body` does. */
void emu_capture_hold(struct CUstream_st *stream,
    const struct emu_recording *body);
/* Memory allocated in the stream's capture: owned by its graph; false as
 * above. */
bool emu_capture_own(struct CUstream_st *stream, void *memory,
    uint64_t *capture_out);
/* Whether the stream's capture owns this memory; false after a complaint. */
bool emu_capture_owns(struct CUstream_st *stream, const void *memory);

/* The place of an event that was recorded in a capture. Capture 0: it was
 * not. */
struct emu_capture_mark {
	uint64_t capture;
	size_t   point;
};
bool emu_capture_mark(struct CUstream_st *stream,
    struct emu_capture_mark *mark_out);
/* The stream waits for it, and so joins the capture. */
int emu_capture_wait(struct CUstream_st *stream,
    const struct emu_capture_mark *mark);
/* Invalidate the capture with this id, if it exists. */
void emu_capture_invalidate_id(uint64_t id);

/* ---- what may be called meanwhile (capture_rules.c) ------------------- */

/* Each complains, invalidates, and gives the status to return at once. */

/* Work for the stream: 906 on a legacy stream that would have to wait for a
 * capturing one, 901 in an invalid capture. */
int emu_capture_check_work(struct CUstream_st *stream);
/* A wait for the stream, or a query of it: 900 if it captures, or another's
 * capture forbids it, 906. */
int emu_capture_check_wait(struct CUstream_st *stream);
/* The same for all of a context's streams. */
int emu_capture_check_context(const struct CUctx_st *context);
/* Count an allocation, a wait or a load if this thread is in a capture: it has
 * one of its own, or another thread's forbids it such calls. */
void emu_capture_count(enum emu_counter counter);

#endif
