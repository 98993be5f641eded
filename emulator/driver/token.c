/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/token.c -- points in a stream's work: reaching them and
 * waiting for them. Nothing else orders workers. Owns no stream. */
#include "emulator/driver/device.h"
#include "emulator/driver/wait.h"

#include <stdlib.h>
#include <time.h>

enum { AHEAD, AWAITED, REACHED };
enum { SPINS = 200 };

struct emu_token {
	_Atomic int      references;
	_Atomic uint32_t state;
	uint64_t         time;     /* when it was reached, picoseconds */
	uint64_t         clock;    /* the same by the modelled clock */
};

struct emu_token *
emu_token_new(int references)
{
	struct emu_token *token = malloc(sizeof *token);

	if (!token)
		emu_out_of_host_memory();
	atomic_init(&token->references, references);
	atomic_init(&token->state, AHEAD);
	token->time = token->clock = 0;
	return token;
}

void
emu_token_reach(struct emu_token *token)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	token->time = ((uint64_t)now.tv_sec * 1000000000 +
	    (uint64_t)now.tv_nsec) * 1000;
	token->clock = emu_clock_now();
	if (atomic_exchange_explicit(&token->state, REACHED,
	    memory_order_release) == AWAITED)
		emu_futex_wake(&token->state);
}

bool
emu_token_reached(struct emu_token *token)
{
	return atomic_load_explicit(&token->state, memory_order_acquire) ==
	    REACHED;
}

static void
wait_for(struct emu_token *token)
{
	for (int i = 0; i < SPINS; i++) {
		if (emu_token_reached(token))
			return;
		emu_spin();
	}
	emu_late_hurry();
	while (!emu_token_reached(token)) {
		uint32_t state = AHEAD;

		if (atomic_compare_exchange_strong_explicit(&token->state,
		    &state, AWAITED, memory_order_relaxed,
		    memory_order_relaxed) || state == AWAITED)
			emu_futex_wait(&token->state, AWAITED);
	}
}

void
emu_token_wait(struct emu_token *token)
{
	wait_for(token);
	emu_clock_reach(token->clock);
}

/* The difference is right even if the sum of picoseconds has wrapped. */
uint64_t
emu_token_time(struct emu_token *token)
{
	return emu_clock_is_modelled() ? token->clock : token->time;
}

struct emu_token *
emu_token_keep(struct emu_token *token)
{
	atomic_fetch_add_explicit(&token->references, 1,
	    memory_order_relaxed);
	return token;
}

/* RATIONALE: freeing a token must acquire what the other owners released, and
 * that would order workers that have no event between them. Under TSan tokens
 * are never freed. */
void
emu_token_release(struct emu_token *token)
{
	if (EMU_TSAN || !token)
		return;
	if (atomic_fetch_sub_explicit(&token->references, 1,
	    memory_order_acq_rel) == 1)
		free(token);
}

static void
run_reach(void *arguments)
{
	struct emu_token *token = *(struct emu_token **)arguments;

	emu_token_reach(token);
	emu_token_release(token);
}

static void
run_wait(void *arguments)
{
	struct emu_token *token = *(struct emu_token **)arguments;

	emu_token_wait(token);
	emu_token_release(token);
}

static void *
token_task(void (*run)(void *), struct emu_token *token)
{
	struct emu_token **task = emu_task_new(run, sizeof(void *));

	if (!task)
		emu_out_of_host_memory();
	*task = token;
	return task;
}

void *
emu_token_reach_task(struct emu_token *token)
{
	void *task = token_task(run_reach, token);

	/* A thread that waited for the token must find the stream idle. */
	emu_task_make_point(task);
	return task;
}

void *
emu_token_wait_task(struct emu_token *token)
{
	return token_task(run_wait, token);
}
