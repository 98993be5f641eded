/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/life.c -- the start and the end of the emulated devices, and
 * the end of a context. Calls the files that own what ends. */
#include "emulator/driver/capture.h"
#include "emulator/driver/context.h"
#include "emulator/driver/findings.h"
#include "emulator/driver/module.h"
#include "emulator/driver/print.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t up_lock = PTHREAD_MUTEX_INITIALIZER;

/* Runs when main() has returned. Workers must not run into the libraries'
 * destructors, so they finish here; later exit handlers of the program may
 * still call us, and their work then runs within the call. */
static void
quiesce(void)
{
	if (emu_life() != EMU_LIFE_UP)
		return;
	emu_life_set_ending();
	emu_streams_quiesce();
}

void
emu_device_end_first(void)
{
	atexit(quiesce);
}

static void
after_fork(void)
{
	emu_life_set(EMU_LIFE_FORKED);
}

static void
start(void)
{
	if (!emu_devices_read()) {
		emu_life_set(EMU_LIFE_NO_DEVICE);
		return;
	}
	emu_clock_prepare();
	emu_contexts_prepare(emu_device_count());
	atexit(quiesce);
	pthread_atfork(NULL, NULL, after_fork);
	emu_life_set(EMU_LIFE_UP);
}

int
emu_device_up(void)
{
	if (emu_life() == EMU_LIFE_DOWN) {
		pthread_mutex_lock(&up_lock);
		if (emu_life() == EMU_LIFE_DOWN)
			start();
		pthread_mutex_unlock(&up_lock);
	}
	switch (emu_life()) {
	case EMU_LIFE_UP:
		return EMU_OK;
	case EMU_LIFE_NO_DEVICE:
		return EMU_NO_DEVICE;
	case EMU_LIFE_FORKED:
		return EMU_NOT_INITIALIZED;
	default:
		return EMU_DEINITIALIZED;
	}
}

int
emu_device_enter(void)
{
	const int status = emu_device_up();
	struct CUctx_st *context;

	if (status)
		return status;
	if (!emu_context_current())
		emu_context_make_current(emu_context_primary(0));
	context = emu_context_current();
	emu_context_activate(context);
	if (!atomic_load_explicit(&context->alive, memory_order_acquire))
		return EMU_CONTEXT_DESTROYED;
	return emu_context_error(context);
}

int
emu_device_select(int device)
{
	const int status = emu_device_up();

	if (status)
		return status;
	if (!emu_device_exists(device))
		return EMU_INVALID_DEVICE;
	emu_context_make_current(emu_context_primary(device));
	return emu_device_enter();
}

int
emu_context_end(struct CUctx_st *context)
{
	const int status = emu_stream_wait_context(context);

	emu_streams_drop(context);
	emu_events_drop(context);
	emu_memory_drop(context);
	emu_context_retire(context);
	return context->primary ? EMU_OK : status;
}

int
emu_device_reset(void)
{
	int status = emu_device_up();

	if (!status)
		status = emu_capture_forbid();
	return status ? status :
	    emu_context_end(emu_context_primary(emu_context_device()));
}

/* The library's end: nothing runs any more; free everything. */
__attribute__((destructor))
static void
end(void)
{
	const enum emu_life was = emu_life();

	if (was == EMU_LIFE_FORKED)
		return;
	if (was == EMU_LIFE_UP) {
		quiesce();
		emu_graphs_release();
		emu_streams_release();
		emu_events_release();
		emu_memory_release();
		emu_contexts_release();
		emu_libraries_release();
		emu_twins_release();
		emu_print_release();
	}
	emu_life_set(EMU_LIFE_ENDED);
	emu_findings_end();
	emu_counters_write();
}
