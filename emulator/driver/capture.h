/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/capture.h -- stream capture and graphs, as the files of
 * libcuda.so.1 see them. capture.c keeps the captures that go on and what they
 * record, capture_rules.c says what may be called meanwhile, graph.c owns what
 * was recorded, replay.c launches it.
 *
 * A capture has a lane for each stream that takes part. What is recorded is
 * one list of steps: a lane's tasks, the points that its events are, and its
 * waits for points of other lanes. Each wait stands behind its point, so that
 * the list is an order in which all of it may run. */
#ifndef AC_EMULATOR_CAPTURE_H
#define AC_EMULATOR_CAPTURE_H

#include "emulator/driver/context.h"

#include <pthread.h>

enum { EMU_LANES = 32 };

/* ---- what was recorded (graph.c) -------------------------------------- */

enum emu_step_kind { EMU_STEP_TASK, EMU_STEP_REACH, EMU_STEP_WAIT };
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
struct emu_recording {
	int      references;      /* of the graph and its executables */
	bool     open;            /* still recorded into */
	uint64_t capture;         /* id; owns memory allocated meanwhile */
	int      lanes;
	struct {
		struct CUctx_st *context;
		uint64_t context_id;
	} lane[EMU_LANES];
	struct emu_step  *steps;
	struct emu_point *points;
	void   **memory;
	size_t   steps_used, steps_room, points_used, points_room;
	size_t   memory_used, memory_room;
	size_t   tasks;
};

/* What NVIDIA's headers know as struct CUgraph_st. */
struct CUgraph_st {
	_Atomic uint32_t   mark;
	struct emu_recording   *body;
	struct CUgraph_st *next_all, *next_free;
};

/* An empty one, open. */
struct CUgraph_st *emu_graph_new(uint64_t capture);
/* These on an open one, by its capture alone. */
void emu_body_add(struct emu_recording *body, const struct emu_step *step);
size_t emu_body_add_point(struct emu_recording *body, const uint32_t *seen);
void emu_body_add_memory(struct emu_recording *body, void *memory);
bool emu_body_has_memory(const struct emu_recording *body, const void *memory);
/* One reference more, or less. */
struct emu_recording *emu_body_keep(struct emu_recording *body);
void emu_body_release(struct emu_recording *body);
/* Give up a graph whose capture failed. */
void emu_graph_discard(struct CUgraph_st *graph);
/* Whether it exists and may be used; complains. */
int emu_graph_check(const struct CUgraph_st *graph);
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

/* The lock is the program's threads' alone, and the innermost. */
struct emu_captures {
	pthread_mutex_t     lock;
	struct emu_capture *first;
	_Atomic int         count;  /* zero: nobody looks further */
};
extern struct emu_captures emu_captures;

/* This thread's number; never used again. */
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
/* Memory of this capture's graph; the same answer. */
bool emu_capture_own(struct CUstream_st *stream, void *memory,
    uint64_t *capture_out);
/* Whether this memory is; false after a complaint. */
bool emu_capture_owns(struct CUstream_st *stream, const void *memory);

/* What an event is that was recorded in a capture. Capture 0: it was not. */
struct emu_capture_mark {
	uint64_t capture;
	size_t   point;
};
bool emu_capture_mark(struct CUstream_st *stream,
    struct emu_capture_mark *mark_out);
/* The stream waits for it, which takes the stream into the capture. */
int emu_capture_wait(struct CUstream_st *stream,
    const struct emu_capture_mark *mark);
/* The capture with this number, if there is one, gives no graph. */
void emu_capture_invalidate_id(uint64_t id);

/* ---- what may be called meanwhile (capture_rules.c) ------------------- */

/* Each complains, invalidates, and gives the status to return at once. */

/* Work for the stream: 906 on a legacy stream that would have to wait for a
 * capturing one, 901 in a capture that is invalid. */
int emu_capture_check_work(struct CUstream_st *stream);
/* A wait for, or a look at, the stream: 900 if it captures, 906. */
int emu_capture_check_wait(struct CUstream_st *stream);
/* The same for all of a context's streams. */
int emu_capture_check_context(const struct CUctx_st *context);
/* Count an allocation, a wait or a load if this thread is in a capture: it has
 * one of its own, or one of another thread forbids it such calls. */
void emu_capture_count(enum emu_counter counter);

#endif
