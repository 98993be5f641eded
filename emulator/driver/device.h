/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/device.h -- what the files of libcuda.so.1 share, and no
 * other library may use. */
#ifndef AC_EMULATOR_DEVICE_H
#define AC_EMULATOR_DEVICE_H

#include "emulator/driver/emu.h"

/* Handles of destroyed objects keep their memory, so that a stale handle can be
 * read; it lacks its mark and is refused. */
enum { EMU_MARK_STREAM = 0x5354524d, EMU_MARK_EVENT = 0x45564e54,
       EMU_MARK_POOL = 0x504f4f4c, EMU_MARK_LIBRARY = 0x4c494252,
       EMU_MARK_CONTEXT = 0x43545854, EMU_MARK_GRAPH = 0x47524150,
       EMU_MARK_EXECUTABLE = 0x45584543, EMU_MARK_NODE = 0x4e4f4445,
       EMU_MARK_OBJECT = 0x4f424a45 };

/* call.c: one per name, whichever library exports it. Never freed. */
enum { EMU_CALL_FAILURES = 4 };
struct emu_record {
	_Atomic uint64_t   count;
	_Atomic uint64_t   entered;  /* the same, never reset; if it can fail */
	int                failures; /* fixed once it is listed */
	uint64_t           fail_at[EMU_CALL_FAILURES];
	int                fail_with[EMU_CALL_FAILURES]; /* -1: the family's */
	uint64_t           drop_at;  /* 0: never */
	struct emu_record *next;
	char               name[];
};
struct emu_record *emu_call_list(void);
/* Whether the call that this thread is in is dropped: it orders nothing. */
bool emu_call_is_dropped(void);

/* refused.c: note for whoever started the process that `call`, whose name stays
 * where it is, was refused. */
void emu_refused(const char *call, const char *cause);

/* counters.c */
void emu_counters_write(void);

/* model.c: the model of this name, or NULL. */
const struct emu_model *emu_model_find(const char *key, size_t length);

/* device.c: read from the environment which devices there are. False: none,
 * after a complaint. */
bool emu_devices_read(void);
/* Where the process is; life.c sets it. */
enum emu_life { EMU_LIFE_DOWN, EMU_LIFE_UP, EMU_LIFE_NO_DEVICE, EMU_LIFE_ENDED,
	EMU_LIFE_FORKED };
enum emu_life emu_life(void);
void emu_life_set(enum emu_life life);
void emu_life_set_ending(void);
/* EMU_OK, EMU_DEINITIALIZED after the library's end, or
 * EMU_NOT_INITIALIZED in a forked child (which has no workers). */
int emu_device_ended(void);
/* Whether the process is past main(): workers are gone, work runs at once. */
bool emu_device_ending(void);
/* Seed of the workers' pauses, 0 for none. */
uint64_t emu_device_jitter(void);
/* The launches that a stream's queue holds, and the tasks that a worker lags
 * behind; 0: it does not. */
uint32_t emu_device_queue(void);
uint32_t emu_device_late(void);
/* Instructions of a block after which its kernel is taken for endless; 0: none
 * are too many. */
uint64_t emu_device_endless(void);
/* Threads that run blocks of a kernel, 0: as many as processors. */
unsigned emu_device_threads(void);
uint64_t emu_device_memory(int device);

/* clock.c. Times are in picoseconds; a worker's time is its stream's.
 * emu_clock_prepare() reads the environment at the start. */
void emu_clock_prepare(void);
bool emu_clock_is_modelled(void);
uint64_t emu_clock_now(void);
void emu_clock_set(uint64_t time);
/* The next work of this thread begins no earlier. */
void emu_clock_reach(uint64_t time);
/* The gap before a kernel or a copy. */
void emu_clock_launch(void);
/* Seconds that are not work; as many as launches take more or less. */
void emu_clock_idle(double seconds);
/* On a worker: bytes through memory or link. */
void emu_clock_move(enum emu_rate through, uint64_t bytes);
/* On the host: the time of a call that queues work, or an event. */
void emu_clock_call(bool is_event);

/* A point in one stream's work that others wait for. Counts its references.
 * Nothing else orders one worker after another. */
struct emu_token;
/* NULL if the host has no memory left. */
struct emu_token *emu_token_new(int references);
void emu_token_reach(struct emu_token *token);
bool emu_token_reached(struct emu_token *token);
void emu_token_wait(struct emu_token *token);
/* When it was reached, in picoseconds, by the clock in use. */
uint64_t emu_token_time(struct emu_token *token);
struct emu_token *emu_token_keep(struct emu_token *token);
void emu_token_release(struct emu_token *token);
/* Tasks that reach a token or wait for one; each owns one reference. */
void *emu_token_reach_task(struct emu_token *token);
void *emu_token_wait_task(struct emu_token *token);

/* One stream: what NVIDIA's headers know as struct CUstream_st. */
struct emu_task;
struct emu_capture;
struct CUstream_st {
	_Atomic uint32_t mark;
	struct CUctx_st *context;
	unsigned         flags;
	int              priority;
	uint64_t         id;
	/* Queue, many writers, one reader: writers swing `tail`. */
	_Atomic(struct emu_task *) tail;
	struct emu_task *head;        /* the worker's */
	_Atomic uint32_t submitted;   /* twice; bit 0: the worker sleeps */
	_Atomic uint32_t completed;   /* twice the tasks that are done */
	_Atomic int      worker;      /* enum of stream.c */
	_Atomic bool     worker_done;
	unsigned long    thread;      /* pthread_t, while worker != none */
	_Atomic uint64_t clock;       /* clock.c's, after the last task */
	/* ahead.c */
	_Atomic uint32_t tickets;     /* launches that may be queued */
	_Atomic uint32_t launched;    /* twice those done; bit 0: host waits */
	_Atomic uint64_t *ended;      /* modelled: when the latest ones ended */
	/* order.c, under its lock */
	uint64_t         work, joined;  /* submissions; those legacy saw */
	uint64_t         legacy_seen;   /* legacy's work that this one saw */
	struct CUstream_st *next_live, *next_free;
	/* capture.c, written under its lock */
	_Atomic(struct emu_capture *) capture; /* NULL: it does not */
	int              lane;        /* in there */
};

/* stream.c: a task that only signals that the stream has reached it: the stream
 * may look idle before the task has run. */
void emu_task_make_point(void *arguments);
/* Mark a launch that emu_ahead_wait() has admitted. */
void emu_task_make_launch(void *arguments);
/* Whether it is work, not an event or the like. */
bool emu_task_is_work(const void *arguments);
/* Whether two would be nodes of one type in a graph. */
bool emu_task_is_like(const void *arguments, const void *others);
/* For graphs: copy a task with its arguments, which therefore may not point
 * into themselves; run a task and free it; count it. */
void *emu_task_copy(const void *arguments);
/* Have a task copied by `copy`, which begins with emu_task_resize(): a copy
 * with room for so many bytes. */
void emu_task_copy_by(void *arguments, void *(*copy)(const void *arguments));
void *emu_task_resize(const void *arguments, size_t bytes);
void emu_task_run(void *arguments);
void emu_task_count(const void *arguments);
/* Make an empty queue; free one when nothing is left in it. */
void emu_stream_prepare(struct CUstream_st *stream);
void emu_stream_finish(struct CUstream_st *stream);
/* Queue without ordering by the legacy stream; the first task starts a
 * worker. */
void emu_stream_push(struct CUstream_st *stream, void *arguments);
bool emu_stream_idle(struct CUstream_st *stream);
/* No stream had it before. */
uint64_t emu_stream_next_id(void);
/* The worker ends after its work; false if there is none. */
bool emu_stream_end_worker(struct CUstream_st *stream);
bool emu_stream_has_ended(struct CUstream_st *stream);
/* Wait for a worker that was asked to end. */
void emu_stream_join_worker(struct CUstream_st *stream);

/* ahead.c: start with a stream without work; free what is kept for one. */
void emu_ahead_prepare(struct CUstream_st *stream);
void emu_ahead_finish(struct CUstream_st *stream);
/* On the host, no lock held: wait until there is room for one more launch, and
 * take it; exactly one task so marked must be queued then. */
void emu_ahead_wait(struct CUstream_st *stream);
/* On the worker: a launch has ended. */
void emu_ahead_end(struct CUstream_st *stream);

/* alone.c: a worker begins, it ends; it has nothing to do while *word is
 * `value`. It ends the process where no thread is left but workers. */
void emu_alone_begin(void);
void emu_alone_end(void);
void emu_alone_wait(_Atomic uint32_t *word, uint32_t value);

/* late.c: what emu_late_wait() is to know of a task when it is queued; and on
 * the worker, before it runs a task that follows so many (twice). */
uint32_t emu_late_now(void);
void emu_late_wait(struct CUstream_st *stream, uint32_t completed,
    uint32_t queued);
/* Somebody waits for work or asks for it. */
void emu_late_hurry(void);

/* streams.c */
/* End and join every stream's worker; from now on work runs at once. */
void emu_streams_quiesce(void);
/* Drop all created streams of a context (their work is done). */
void emu_streams_drop(struct CUctx_st *context);
void emu_streams_release(void);

/* event.c, memory.c: when a context ends (NULL: all of them). */
void emu_events_drop(const struct CUctx_st *context);
void emu_events_release(void);
void emu_memory_drop(struct CUctx_st *context);
void emu_memory_release(void);

/* order.c: wait for all streams of a context. */
int emu_stream_wait_context(struct CUctx_st *context);

#endif
