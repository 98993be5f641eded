/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/ahead.c -- how far the host may run ahead of one stream:
 * 1,024 launches, the capacity of NVIDIA's driver, or what AUTOCAST_EMU_QUEUE
 * says. The next launch waits in its call until one of them has ended, by the
 * CPU's clock and by the modelled one. A graph is one launch; events and waits
 * for them take no room.
 *
 * RATIONALE: under TSan the count orders nothing. A wait of the host here would
 * hide that the program forgot one. */
#include "emulator/driver/device.h"
#include "emulator/driver/wait.h"

#include <stdlib.h>

enum {
	ACQUIRE = EMU_TSAN ? memory_order_relaxed : memory_order_acquire,
	RELEASE = EMU_TSAN ? memory_order_relaxed : memory_order_release
};

void
emu_ahead_prepare(struct CUstream_st *stream)
{
	atomic_store(&stream->tickets, 0);
	atomic_store(&stream->launched, 0);
	if (emu_clock_is_modelled() && !stream->ended)
		stream->ended = calloc(emu_device_queue(),
		    sizeof *stream->ended);
}

void
emu_ahead_finish(struct CUstream_st *stream)
{
	free(stream->ended);
	stream->ended = NULL;
}

/* Until fewer launches before this one are unfinished than the queue holds. */
static void
wait_for_room(struct CUstream_st *stream, uint32_t ticket)
{
	const int32_t room = (int32_t)(2 * emu_device_queue());

	for (;;) {
		uint32_t word = atomic_load_explicit(&stream->launched,
		    ACQUIRE);

		/* Both wrap, and are never far apart; later tickets may be
		 * launched first. */
		if ((int32_t)(2 * ticket - (word & ~1u)) < room)
			return;
		emu_late_hurry();
		if (word & 1 || atomic_compare_exchange_strong_explicit(
		    &stream->launched, &word, word | 1, memory_order_relaxed,
		    memory_order_relaxed))
			emu_futex_wait(&stream->launched, word | 1);
	}
}

void
emu_ahead_wait(struct CUstream_st *stream)
{
	uint32_t ticket;

	if (emu_device_ending())
		return;
	ticket = atomic_fetch_add_explicit(&stream->tickets, 1,
	    memory_order_relaxed);
	wait_for_room(stream, ticket);
	/* Zero, or the end of the launch whose place this one gets. */
	if (stream->ended)
		emu_clock_reach(atomic_load_explicit(&stream->ended[
		    ticket % emu_device_queue()], memory_order_relaxed));
}

void
emu_ahead_end(struct CUstream_st *stream)
{
	const uint32_t word = atomic_load_explicit(&stream->launched,
	    memory_order_relaxed);

	if (stream->ended)
		atomic_store_explicit(&stream->ended[word / 2 %
		    emu_device_queue()], emu_clock_now(), memory_order_relaxed);
	if (atomic_fetch_add_explicit(&stream->launched, 2, RELEASE) & 1) {
		atomic_fetch_and_explicit(&stream->launched, ~1u,
		    memory_order_relaxed);
		emu_futex_wake(&stream->launched);
	}
}
