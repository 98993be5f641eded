/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/idle.c -- launches that get nowhere. A warp goes round if it has
 * come back to an earlier state of its registers and changed no memory since:
 * it will for ever, unless what it reads is changed. If that holds for all
 * warps that run, only somebody outside of the launch can do it. */
#include "emulator/ptx/run.h"

#include <time.h>

enum { LOOK_AFTER = 1 << 14 };  /* instructions; costs one per cent of them */

static uint64_t
mixed(uint64_t hash, uint64_t x)
{
	hash = (hash ^ x) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static uint64_t
mixed_bytes(uint64_t hash, const void *from, size_t bytes)
{
	const unsigned char *at = from;
	uint64_t x = 0;

	for (; bytes >= sizeof x; bytes -= sizeof x, at += sizeof x) {
		memcpy(&x, at, sizeof x);
		hash = mixed(hash, x);
	}
	x = 0;
	memcpy(&x, at, bytes);
	return mixed(hash, x);
}

/* All that decides what the warp does next, but memory: another state has the
 * same number once in 2^64 times. */
static uint64_t
state_of(const struct warp *w)
{
	uint64_t hash = mixed(w->live, w->carry);

	for (const struct frame *f = w->top; f; f = f->caller) {
		hash = mixed(hash, (uintptr_t)f->call);
		hash = mixed_bytes(hash, f->registers,
		    f->function->register_bytes +
		    f->function->argument_bytes * LANES);
		hash = mixed(hash, (uint64_t)(unsigned)f->favoured << 32 |
		    f->turns);
		for (int i = 0; i < f->groups; i++) {
			const struct group *g = &f->group[i];

			hash = mixed(hash, (uint64_t)g->pc);
			hash = mixed(hash, (uint64_t)g->mask << 32 |
			    g->members);
			hash = mixed(hash, g->state);
		}
	}
	return hash;
}

/* The state is kept for 1, 2, 4... looks, so that a round of any length is
 * found [R. P. Brent, An improved Monte Carlo factorization algorithm,
 * 1980]. */
static void
keep(struct rounds *t, uint64_t state)
{
	t->power = t->period || t->changed || !t->power ? 1 : 2 * t->power;
	t->state = state;
	t->instructions = t->age = t->period = 0;
	t->changed = false;
}

static _Noreturn void
stop_idling(struct warp *w, uint64_t instructions)
{
	const struct frame *f = w->top;

	ptx_found(w, &f->function->code[f->group[0].pc],
	    __builtin_ctz(f->group[0].mask), PTX_SPIN, "nothing has changed "
	    "for %llu instructions",
	    (unsigned long long)instructions);
	ptx_stop(w->block->worker);
}

static uint64_t
milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* This warp goes round, since so many instructions. */
static void
add_idle(struct warp *w, uint64_t instructions)
{
	struct launch *l = w->block->launch;
	uint64_t idle;

	if (!atomic_load_explicit(&l->idle, memory_order_relaxed))
		atomic_store_explicit(&l->idle_start, milliseconds(),
		    memory_order_relaxed);
	idle = instructions + atomic_fetch_add_explicit(&l->idle, instructions,
	    memory_order_relaxed);
	if (idle > l->options->idle_limit && milliseconds() -
	    atomic_load_explicit(&l->idle_start, memory_order_relaxed) >=
	    l->options->idle_milliseconds)
		stop_idling(w, idle);
}

void
ptx_look(struct warp *w, uint64_t done)
{
	struct launch *l = w->block->launch;
	struct rounds *const t = &w->rounds;
	uint64_t state;

	t->since += done;
	if (!t->period && atomic_load_explicit(&l->idle, memory_order_relaxed))
		atomic_store_explicit(&l->idle, 0, memory_order_relaxed);
	if (t->since < LOOK_AFTER || !w->top)
		return;
	state = state_of(w);
	t->age++;
	t->instructions += t->since;
	t->since = 0;
	if (t->changed || (state != t->state && t->age >= (t->period ?
	    t->period : t->power))) {
		keep(t, state);
		atomic_store_explicit(&l->idle, 0, memory_order_relaxed);
	} else if (state == t->state) {
		const uint64_t instructions = t->instructions;

		t->period = t->age;
		t->age = 0;
		t->instructions = 0;
		w->yields = true;
		add_idle(w, instructions);
	}
}
