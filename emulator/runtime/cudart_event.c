/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_event.c -- runtime calls: events. Contracts are
 * NVIDIA's. */
#include "emulator/runtime/cudart.h"

cudaError_t
cudaEventCreate(cudaEvent_t *event)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(event ? emu_event_create(0, event) :
	    (int)cudaErrorInvalidValue);
}

cudaError_t
cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(event ? emu_event_create(flags, event) :
	    (int)cudaErrorInvalidValue);
}

cudaError_t
cudaEventDestroy(cudaEvent_t event)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_event_destroy(event));
}

cudaError_t
cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_event_record(event, stream));
}

cudaError_t
cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
    unsigned flags)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(flags ? (int)cudaErrorInvalidValue :
	    emu_event_record(event, stream));
}

cudaError_t
cudaEventQuery(cudaEvent_t event)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_event_query(event));
}

cudaError_t
cudaEventSynchronize(cudaEvent_t event)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_event_wait(event));
}

cudaError_t
cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(milliseconds ?
	    emu_event_elapsed(start, end, milliseconds) :
	    (int)cudaErrorInvalidValue);
}
