/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/stream.c -- one stream's queue and its worker thread. Any
 * thread queues, one worker runs. Knows nothing of other streams: tokens order
 * them (order.c, event.c). */
#include "emulator/driver/context.h"
#include "emulator/driver/memory.h"
#include "emulator/driver/wait.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NO_WORKER, STARTING, WORKING };
enum { SPINS = 100, JITTER_NS = 200000 };

/* `run` NULL ends the worker. */
struct emu_task {
	_Atomic(struct emu_task *) next;
	void (*run)(void *arguments);
	bool point; /* counts as done before it runs */
	bool launch; /* takes room in the queue: ahead.c */
	enum emu_counter counter; /* grows by `amount` when it is queued */
	uint64_t amount;
	uint32_t hurry; /* late.c */
	uint64_t queued; /* time of queueing, by the modelled clock */
	size_t bytes;
	void *(*copy)(const void *arguments); /* NULL: bit by bit */
	_Alignas(16) unsigned char arguments[];
};

/* 1, 2: the handles of the default streams. */
static _Atomic uint64_t next_id = 3;
static pthread_mutex_t at_once_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local uint64_t jitter; /* of a worker; 0: no pauses */

uint64_t
emu_stream_next_id(void)
{
	return atomic_fetch_add(&next_id, 1);
}

static struct emu_task *
task_of(const void *arguments)
{
	return (struct emu_task *)((uintptr_t)arguments -
	    offsetof(struct emu_task, arguments));
}

void *
emu_task_new(void (*run)(void *), size_t bytes)
{
	struct emu_task *task = NULL;

	if (bytes < SIZE_MAX / 2)
		task = malloc(sizeof *task + bytes);
	if (!task)
		return NULL;
	task->run = run;
	task->point = task->launch = false;
	task->amount = 0;
	task->queued = 0;
	task->bytes = bytes;
	task->copy = NULL;
	return task->arguments;
}

void
emu_task_tally(void *arguments, enum emu_counter counter, uint64_t amount)
{
	task_of(arguments)->counter = counter;
	task_of(arguments)->amount = amount;
}

static void
count(const struct emu_task *task)
{
	emu_count(EMU_tasks, 1);
	if (task->amount)
		emu_count(task->counter, task->amount);
}

void
emu_task_count(const void *arguments)
{
	count(task_of(arguments));
}

void *
emu_task_resize(const void *arguments, size_t bytes)
{
	const struct emu_task *from = task_of(arguments);
	struct emu_task *task = malloc(sizeof *task + bytes);

	if (!task)
		emu_out_of_host_memory();
	memcpy(task, from, sizeof *task + (bytes < from->bytes ? bytes :
	    from->bytes));
	task->bytes = bytes;
	return task->arguments;
}

void *
emu_task_copy(const void *arguments)
{
	const struct emu_task *from = task_of(arguments);

	return from->copy ? from->copy(arguments) :
	    emu_task_resize(arguments, from->bytes);
}

void
emu_task_copy_by(void *arguments, void *(*copy)(const void *))
{
	task_of(arguments)->copy = copy;
}

/* xorshift64*: a worker's pauses depend only on the seed and its stream. */
static void
pause_at_random(void)
{
	struct timespec pause = { 0, 0 };

	if (!jitter)
		return;
	jitter ^= jitter >> 12;
	jitter ^= jitter << 25;
	jitter ^= jitter >> 27;
	pause.tv_nsec = (long)((jitter * 2685821657736338717ull >> 33) %
	    JITTER_NS);
	nanosleep(&pause, NULL);
}

/* Work takes the time of a launch. In a context that is lost none runs; all
 * that others wait for is still reached. */
static void
execute(struct emu_task *task)
{
	if (task->amount && emu_device_error())
		return;
	if (task->amount)
		emu_clock_launch();
	if (task->run)
		task->run(task->arguments);
}

void
emu_task_run(void *arguments)
{
	struct emu_task *task = task_of(arguments);

	pause_at_random();
	execute(task);
	free(task);
}

void
emu_task_make_point(void *arguments)
{
	task_of(arguments)->point = true;
}

void
emu_task_make_launch(void *arguments)
{
	task_of(arguments)->launch = true;
}

bool
emu_task_is_like(const void *arguments, const void *others)
{
	const struct emu_task *a = task_of(arguments), *b = task_of(others);

	if (!a->amount || !b->amount)
		return a->run == b->run && !a->amount == !b->amount;
	return a->counter == b->counter;
}

bool
emu_task_is_work(const void *arguments)
{
	return task_of(arguments)->amount > 0;
}

void
emu_task_drop(void *arguments)
{
	if (arguments)
		free(task_of(arguments));
}

/* The next task; frees the previous one. */
static struct emu_task *
take(struct CUstream_st *stream, uint32_t completed)
{
	for (int spins = 0;; spins++) {
		struct emu_task *next = atomic_load_explicit(
		    &stream->head->next, memory_order_acquire);
		uint32_t word;

		if (next) {
			free(stream->head);
			stream->head = next;
			return next;
		}
		word = atomic_load_explicit(&stream->submitted,
		    memory_order_relaxed);
		if (spins < SPINS) {
			emu_spin();
		} else if ((word & ~1u) != completed) {
			sched_yield(); /* a writer is between two steps */
		} else if (word & 1 || atomic_compare_exchange_strong_explicit(
		    &stream->submitted, &word, word | 1,
		    memory_order_relaxed, memory_order_relaxed)) {
			emu_alone_wait(&stream->submitted, completed | 1);
			spins = 0;
		}
	}
}

static void *
work(void *argument)
{
	struct CUstream_st *const stream = argument;
	uint32_t completed = atomic_load(&stream->completed);
	struct emu_task *task;

	emu_alone_begin();
	emu_context_make_current(stream->context);
	emu_table_check_in_order();
	emu_clock_set(atomic_load(&stream->clock));
	jitter = emu_device_jitter();
	if (jitter)
		jitter += stream->id * 0x9e3779b97f4a7c15ull;
	do {
		task = take(stream, completed);
		emu_late_wait(stream, completed, task->hurry);
		pause_at_random();
		completed += 2;
		if (task->point)
			atomic_store_explicit(&stream->completed, completed,
			    memory_order_release);
		emu_clock_reach(task->queued);
		execute(task);
		atomic_store_explicit(&stream->clock, emu_clock_now(),
		    memory_order_relaxed);
		if (task->launch)
			emu_ahead_end(stream);
		atomic_store_explicit(&stream->completed, completed,
		    memory_order_release);
	} while (task->run);
	emu_alone_end();
	atomic_store_explicit(&stream->worker_done, true,
	    memory_order_release);
	return NULL;
}

/* Signals belong to the program: workers receive none. */
static void
start_worker(struct CUstream_st *stream)
{
	int none = NO_WORKER;
	sigset_t all, before;
	pthread_t thread;

	if (atomic_load_explicit(&stream->worker, memory_order_relaxed) !=
	    NO_WORKER || !atomic_compare_exchange_strong(&stream->worker,
	    &none, STARTING))
		return;
	atomic_store(&stream->worker_done, false);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, work, stream))
		emu_out_of_host_memory();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	stream->thread = (unsigned long)thread;
	atomic_store_explicit(&stream->worker, WORKING, memory_order_release);
}

static void
run_at_once(struct CUstream_st *stream, struct emu_task *task)
{
	struct CUctx_st *const before = emu_context_current();
	const uint64_t time = emu_clock_now();

	pthread_mutex_lock(&at_once_lock);
	emu_context_make_current(stream->context);
	emu_clock_reach(atomic_load(&stream->clock));
	execute(task);
	atomic_store(&stream->clock, emu_clock_now());
	emu_clock_set(time);
	emu_context_make_current(before);
	pthread_mutex_unlock(&at_once_lock);
	free(task);
}

/* A task counts before it lies in the queue: were it the other way round, the
 * worker could be done with it first, and with another thread's task in the
 * count the stream would be taken for idle. */
static void
push(struct CUstream_st *stream, struct emu_task *task)
{
	const uint32_t word = atomic_fetch_add_explicit(&stream->submitted, 2,
	    memory_order_release);
	struct emu_task *before;

	atomic_init(&task->next, NULL);
	task->hurry = emu_late_now();
	before = atomic_exchange_explicit(&stream->tail, task,
	    memory_order_acq_rel);
	atomic_store_explicit(&before->next, task, memory_order_release);
	if (word & 1) {
		atomic_fetch_and_explicit(&stream->submitted, ~1u,
		    memory_order_relaxed);
		emu_futex_wake(&stream->submitted);
	}
}

void
emu_stream_push(struct CUstream_st *stream, void *arguments)
{
	if (task_of(arguments)->amount)
		emu_clock_call(false);
	task_of(arguments)->queued = emu_clock_now();
	count(task_of(arguments));
	if (emu_device_ending()) {
		run_at_once(stream, task_of(arguments));
		return;
	}
	push(stream, task_of(arguments));
	start_worker(stream);
}

void
emu_stream_prepare(struct CUstream_st *stream)
{
	struct emu_task *stub = malloc(sizeof *stub);

	if (!stub)
		emu_out_of_host_memory();
	atomic_init(&stub->next, NULL);
	stream->head = stub;
	emu_ahead_prepare(stream);
	atomic_store(&stream->tail, stub);
}

void
emu_stream_finish(struct CUstream_st *stream)
{
	free(stream->head);
	stream->head = NULL;
	emu_ahead_finish(stream);
}

bool
emu_stream_idle(struct CUstream_st *stream)
{
	return atomic_load_explicit(&stream->completed,
	    memory_order_acquire) == (atomic_load_explicit(
	    &stream->submitted, memory_order_relaxed) & ~1u);
}

bool
emu_stream_end_worker(struct CUstream_st *stream)
{
	void *last;

	if (atomic_load(&stream->worker) == NO_WORKER)
		return false;
	last = emu_task_new(NULL, 0);
	if (!last)
		emu_out_of_host_memory();
	push(stream, task_of(last));
	return true;
}

bool
emu_stream_has_ended(struct CUstream_st *stream)
{
	return atomic_load_explicit(&stream->worker_done,
	    memory_order_acquire);
}

void
emu_stream_join_worker(struct CUstream_st *stream)
{
	emu_late_hurry();
	while (atomic_load_explicit(&stream->worker, memory_order_acquire) !=
	    WORKING)
		sched_yield();
	pthread_join((pthread_t)stream->thread, NULL);
	atomic_store(&stream->worker, NO_WORKER);
}
