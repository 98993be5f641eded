/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_stream.c -- runtime calls: streams. Contracts are
 * NVIDIA's. */
#include "emulator/runtime/cudart.h"

#include <stdlib.h>

static cudaError_t
create(cudaStream_t *stream, unsigned flags, int priority)
{
	return emu_runtime_keep(stream ?
	    emu_stream_create(flags, priority, stream) :
	    (int)cudaErrorInvalidValue);
}

cudaError_t
cudaStreamCreate(cudaStream_t *stream)
{
	RUNTIME_ENTER();
	return create(stream, 0, 0);
}

cudaError_t
cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	RUNTIME_ENTER();
	return create(stream, flags, 0);
}

cudaError_t
cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
    int priority)
{
	RUNTIME_ENTER();
	return create(stream, flags, priority);
}

cudaError_t
cudaStreamDestroy(cudaStream_t stream)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_stream_destroy(stream));
}

cudaError_t
cudaStreamSynchronize(cudaStream_t stream)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_stream_wait(stream));
}

cudaError_t
cudaStreamQuery(cudaStream_t stream)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_stream_query(stream));
}

cudaError_t
cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(flags ? (int)cudaErrorInvalidValue :
	    emu_stream_wait_event(stream, event));
}

static cudaError_t
facts(cudaStream_t stream, const void *out, struct emu_stream_facts *facts_out)
{
	return emu_runtime_keep(out ? emu_stream_facts(stream, facts_out) :
	    (int)cudaErrorInvalidValue);
}

cudaError_t
cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
	struct emu_stream_facts f;
	cudaError_t status;

	RUNTIME_ENTER();
	status = facts(stream, flags, &f);
	if (!status)
		*flags = f.flags;
	return status;
}

cudaError_t
cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	struct emu_stream_facts f;
	cudaError_t status;

	RUNTIME_ENTER();
	status = facts(stream, priority, &f);
	if (!status)
		*priority = f.priority;
	return status;
}

cudaError_t
cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
	struct emu_stream_facts f;
	cudaError_t status;

	RUNTIME_ENTER();
	status = facts(stream, id, &f);
	if (!status)
		*id = f.id;
	return status;
}

cudaError_t
cudaStreamGetDevice(cudaStream_t stream, int *device)
{
	struct emu_stream_facts f;
	cudaError_t status;

	RUNTIME_ENTER();
	status = facts(stream, device, &f);
	if (!status)
		*device = f.device;
	return status;
}

cudaError_t
cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(function ?
	    emu_host_function(stream, function, data) :
	    (int)cudaErrorInvalidValue);
}

struct callback {
	cudaStreamCallback_t function;
	cudaStream_t stream;
	void *data;
};

static void
run_callback(void *data, int status)
{
	struct callback *c = data;

	c->function(c->stream, status, c->data);
	free(c);
}

cudaError_t
cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
    void *data, unsigned flags)
{
	struct emu_capture_facts facts_now;
	struct callback *c;
	int status;

	RUNTIME_ENTER();
	if (!function || flags)
		return emu_runtime_keep(cudaErrorInvalidValue);
	status = emu_capture_facts(stream, &facts_now);
	if (!status && facts_now.status != EMU_CAPTURE_NONE)
		return emu_runtime_keep(emu_stream_wait(stream)); /* 900 */
	c = malloc(sizeof *c);
	if (!c)
		return emu_runtime_keep(cudaErrorMemoryAllocation);
	*c = (struct callback){ function, stream, data };
	status = emu_host_callback(stream, run_callback, c);
	if (status)
		free(c);
	return emu_runtime_keep(status);
}
