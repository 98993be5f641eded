/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_stream.c -- driver calls: streams, events and host
 * functions. Contracts are NVIDIA's. */
#include "emulator/driver/api/cuda.h"

CUresult
cuStreamCreate(CUstream *stream, unsigned flags)
{
	DRIVER_ENTER();
	return stream ? (CUresult)emu_stream_create(flags, 0, stream) :
	    CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
	DRIVER_ENTER();
	return stream ? (CUresult)emu_stream_create(flags, priority, stream) :
	    CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuStreamDestroy(CUstream stream)
{
	DRIVER_ENTER();
	return emu_stream_destroy(stream);
}

CUresult
cuStreamSynchronize(CUstream stream)
{
	DRIVER_ENTER();
	return emu_stream_wait(stream);
}

CUresult
cuStreamQuery(CUstream stream)
{
	DRIVER_ENTER();
	return emu_stream_query(stream);
}

CUresult
cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
	DRIVER_ENTER();
	return flags ? CUDA_ERROR_INVALID_VALUE :
	    (CUresult)emu_stream_wait_event(stream, event);
}

CUresult
cuStreamGetCtx(CUstream stream, CUcontext *context)
{
	struct emu_stream_facts facts;
	int status;

	DRIVER_ENTER();
	status = emu_stream_facts(stream, &facts);
	if (!status && !context)
		status = CUDA_ERROR_INVALID_VALUE;
	if (!status)
		*context = facts.context;
	return status;
}

CUresult
cuStreamGetDevice(CUstream stream, CUdevice *device)
{
	struct emu_stream_facts facts;
	int status;

	DRIVER_ENTER();
	status = emu_stream_facts(stream, &facts);
	if (!status && !device)
		status = CUDA_ERROR_INVALID_VALUE;
	if (!status)
		*device = facts.device;
	return status;
}

CUresult
cuStreamGetId(CUstream stream, unsigned long long *id)
{
	struct emu_stream_facts facts;
	int status;

	DRIVER_ENTER();
	status = emu_stream_facts(stream, &facts);
	if (!status && !id)
		status = CUDA_ERROR_INVALID_VALUE;
	if (!status)
		*id = facts.id;
	return status;
}

CUresult
cuStreamGetFlags(CUstream stream, unsigned *flags)
{
	struct emu_stream_facts facts;
	int status;

	DRIVER_ENTER();
	status = emu_stream_facts(stream, &facts);
	if (!status && !flags)
		status = CUDA_ERROR_INVALID_VALUE;
	if (!status)
		*flags = facts.flags;
	return status;
}

CUresult
cuStreamGetPriority(CUstream stream, int *priority)
{
	struct emu_stream_facts facts;
	int status;

	DRIVER_ENTER();
	status = emu_stream_facts(stream, &facts);
	if (!status && !priority)
		status = CUDA_ERROR_INVALID_VALUE;
	if (!status)
		*priority = facts.priority;
	return status;
}

/* ---- events ----------------------------------------------------------- */

CUresult
cuEventCreate(CUevent *event, unsigned flags)
{
	DRIVER_ENTER();
	return event ? (CUresult)emu_event_create(flags, event) :
	    CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuEventDestroy(CUevent event)
{
	DRIVER_ENTER();
	return emu_event_destroy(event);
}

CUresult
cuEventRecord(CUevent event, CUstream stream)
{
	DRIVER_ENTER();
	return emu_event_record(event, stream);
}

/* An external node of a graph is not emulated. */
CUresult
cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
	DRIVER_ENTER();
	return flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL ?
	    CUDA_ERROR_INVALID_VALUE : flags ? CUDA_ERROR_NOT_SUPPORTED :
	    (CUresult)emu_event_record(event, stream);
}

CUresult
cuEventQuery(CUevent event)
{
	DRIVER_ENTER();
	return emu_event_query(event);
}

CUresult
cuEventSynchronize(CUevent event)
{
	DRIVER_ENTER();
	return emu_event_wait(event);
}

CUresult
cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
	DRIVER_ENTER();
	return milliseconds ? (CUresult)emu_event_elapsed(start, end,
	    milliseconds) : CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
	DRIVER_ENTER();
	return function ? (CUresult)emu_host_function(stream, function, data) :
	    CUDA_ERROR_INVALID_VALUE;
}
