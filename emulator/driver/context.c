/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/context.c -- contexts: primary and created ones, which one is
 * current on a thread, what they may touch. streams.c, event.c and memory.c
 * keep what contexts own; life.c calls them when one ends. */
#include "emulator/driver/context.h"
#include "emulator/driver/wait.h"

#include <pthread.h>
#include <stdlib.h>

enum { STACK = 16 };

static struct CUctx_st primaries[EMU_DEVICES];
static _Atomic(struct CUctx_st *) all;
static struct CUctx_st *unused; /* under `lock` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A worker has its stream's context and nothing else. */
static _Thread_local struct {
	struct CUctx_st *context[STACK];
	int depth;
} current;

/* ---- which there are ---------------------------------------------------- */

struct CUctx_st *
emu_context_first(void)
{
	return atomic_load_explicit(&all, memory_order_acquire);
}

struct CUctx_st *
emu_context_primary(int device)
{
	return &primaries[device];
}

static void
enter(struct CUctx_st *context, int device)
{
	context->device = device;
	emu_stream_prepare(&context->legacy);
	context->legacy.context = context;
	context->next_all = atomic_load_explicit(&all, memory_order_relaxed);
	atomic_store_explicit(&all, context, memory_order_release);
}

void
emu_contexts_prepare(int devices)
{
	for (int i = devices - 1; i >= 0; i--) {
		primaries[i].primary = true;
		enter(&primaries[i], i);
		atomic_store(&primaries[i].mark, EMU_MARK_CONTEXT);
	}
}

static void
come_alive(struct CUctx_st *context)
{
	static _Atomic uint64_t next = 1;

	context->legacy.id = emu_stream_next_id();
	atomic_store(&context->legacy.mark, EMU_MARK_STREAM);
	atomic_store(&context->id, atomic_fetch_add(&next, 1));
	atomic_store_explicit(&context->alive, true, memory_order_release);
}

/* A context that comes back after a reset has a new id. */
void
emu_context_activate(struct CUctx_st *context)
{
	if (atomic_load_explicit(&context->alive, memory_order_acquire) ||
	    !context->primary)
		return;
	pthread_mutex_lock(&lock);
	if (!atomic_load(&context->alive))
		come_alive(context);
	pthread_mutex_unlock(&lock);
}

struct CUctx_st *
emu_context_create(int device)
{
	struct CUctx_st *context;

	pthread_mutex_lock(&lock);
	context = unused;
	if (context) {
		unused = context->next_free;
		context->device = device;
	} else {
		context = calloc(1, sizeof *context);
		if (!context)
			emu_out_of_host_memory();
		enter(context, device);
	}
	come_alive(context);
	atomic_store(&context->mark, EMU_MARK_CONTEXT);
	pthread_mutex_unlock(&lock);
	return context;
}

bool
emu_context_exists(const struct CUctx_st *context)
{
	const uintptr_t value = (uintptr_t)context;

	return value >= 4096 && value % _Alignof(struct CUctx_st) == 0 &&
	    atomic_load_explicit(&context->mark, memory_order_relaxed) ==
	    EMU_MARK_CONTEXT;
}

void
emu_context_retire(struct CUctx_st *context)
{
	pthread_mutex_lock(&lock);
	atomic_store(&context->alive, false);
	atomic_store(&context->poison, EMU_OK);
	atomic_store(&context->peers, 0);
	if (!context->primary) {
		atomic_store(&context->mark, 0);
		context->next_free = unused;
		unused = context;
	}
	pthread_mutex_unlock(&lock);
}

void
emu_contexts_release(void)
{
	struct CUctx_st *context = atomic_exchange(&all, NULL);

	unused = NULL;
	while (context) {
		struct CUctx_st *next = context->next_all;

		emu_stream_finish(&context->legacy);
		if (!context->primary)
			free(context);
		context = next;
	}
}

/* ---- which is current --------------------------------------------------- */

struct CUctx_st *
emu_context_current(void)
{
	return current.depth ? current.context[current.depth - 1] : NULL;
}

bool
emu_context_push(struct CUctx_st *context)
{
	if (current.depth == STACK)
		return false;
	current.context[current.depth++] = context;
	return true;
}

bool
emu_context_pop(struct CUctx_st **context_out)
{
	if (!current.depth)
		return false;
	*context_out = current.context[--current.depth];
	return true;
}

/* The top of the stack changes; NULL removes it. */
void
emu_context_make_current(struct CUctx_st *context)
{
	if (current.depth)
		current.depth--;
	if (context)
		emu_context_push(context);
}

int
emu_context_device(void)
{
	const struct CUctx_st *context = emu_context_current();

	return context ? context->device : 0;
}

uint64_t
emu_context_id(const struct CUctx_st *context)
{
	return context && atomic_load_explicit(&context->alive,
	    memory_order_acquire) ? atomic_load_explicit(&context->id,
	    memory_order_relaxed) : 0;
}

/* ---- what it may touch, what became of it ------------------------------- */

bool
emu_context_reaches(const struct CUctx_st *context, int device)
{
	return !context || context->device == device ||
	    atomic_load_explicit(&context->peers, memory_order_relaxed) >>
	    device & 1;
}

int
emu_peer_enable(int device, bool on)
{
	struct CUctx_st *context = emu_context_current();
	const uint32_t bit = (uint32_t)1 << device;
	uint32_t before;

	if (device == context->device)
		return EMU_INVALID_DEVICE;
	before = on ? atomic_fetch_or(&context->peers, bit) :
	    atomic_fetch_and(&context->peers, ~bit);
	if (on)
		return before & bit ? EMU_PEER_ENABLED : EMU_OK;
	return before & bit ? EMU_OK : EMU_PEER_NOT_ENABLED;
}

void
emu_device_poison(int status)
{
	struct CUctx_st *context = emu_context_current();
	int none = EMU_OK;

	if (context)
		atomic_compare_exchange_strong_explicit(&context->poison,
		    &none, status, memory_order_relaxed,
		    memory_order_relaxed);
}

int
emu_device_error(void)
{
	return emu_context_error(emu_context_current());
}

int
emu_context_error(const struct CUctx_st *context)
{
	return context ? atomic_load_explicit(&context->poison,
	    memory_order_relaxed) : EMU_OK;
}
