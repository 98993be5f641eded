/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn_handle.c -- cuDNN calls: handles; what every other call of
 * the library begins and ends with. Contracts are NVIDIA's. */
#include "emulator/cudnn.h"

#include <pthread.h>
#include <stdlib.h>

const struct emu_family emu_dnn = { CUDNN_STATUS_INTERNAL_ERROR,
	CUDNN_STATUS_NOT_INITIALIZED };

cudnnStatus_t
emu_dnn_status(int status)
{
	switch (status) {
	case EMU_OK:
		return CUDNN_STATUS_SUCCESS;
	case EMU_OUT_OF_MEMORY:
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	case EMU_NOT_INITIALIZED:
	case EMU_DEINITIALIZED:
	case EMU_NO_DEVICE:
		return CUDNN_STATUS_NOT_INITIALIZED;
	case EMU_INVALID_VALUE:
		return CUDNN_STATUS_BAD_PARAM;
	case EMU_ILLEGAL_ADDRESS:
	case EMU_MISALIGNED:
	case EMU_INVALID_HANDLE:
	case EMU_CONTEXT_DESTROYED:
	case EMU_CAPTURE_UNSUPPORTED:
	case EMU_CAPTURE_INVALIDATED:
	case EMU_CAPTURE_IMPLICIT:
		return CUDNN_STATUS_EXECUTION_FAILED;
	default:
		return CUDNN_STATUS_INTERNAL_ERROR;
	}
}

cudnnStatus_t
emu_dnn_check(cudnnHandle_t handle)
{
	if (!handle)
		return CUDNN_STATUS_BAD_PARAM;
	if (atomic_load_explicit(&handle->mark, memory_order_relaxed) !=
	    EMU_DNN_MARK)
		return CUDNN_STATUS_NOT_INITIALIZED;
	return emu_dnn_status(emu_device_enter());
}

/* Where the work runs: where the stream is, which must be where we are. */
static int
locate(cudnnHandle_t handle, struct CUstream_st **stream_out)
{
	if (emu_context_id(handle->context) != handle->context_id) {
		emu_complain("the handle's context is gone");
		return EMU_CONTEXT_DESTROYED;
	}
	if (!emu_context_reaches(emu_context_current(), handle->device)) {
		emu_complain("the handle belongs to device %d, device %d is "
		    "current and has no peer access to it", handle->device,
		    emu_context_device());
		return EMU_ILLEGAL_ADDRESS;
	}
	return emu_stream_find_here(handle->stream, stream_out);
}

cudnnStatus_t
emu_dnn_submit(cudnnHandle_t handle, void *task)
{
	struct CUstream_st *stream;
	int status = locate(handle, &stream);

	if (!status && !task)
		status = EMU_OUT_OF_MEMORY;
	if (status) {
		emu_task_drop(task);
		return emu_dnn_status(status);
	}
	emu_task_tally(task, EMU_launches, 1);
	emu_stream_submit(stream, task);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
emu_dnn_wait(cudnnHandle_t handle)
{
	return emu_dnn_status(emu_stream_wait(handle->stream));
}

double
emu_dnn_scalar(const void *host, cudnnDataType_t type)
{
	return type == CUDNN_DATA_DOUBLE ? *(const double *)host :
	    (double)*(const float *)host;
}

/* Memory of destroyed handles, newest first: it is read when a stale handle
 * comes, and the next handle gets it. */
static struct cudnnContext *unused;
static pthread_mutex_t unused_lock = PTHREAD_MUTEX_INITIALIZER;

static struct cudnnContext *
get(void)
{
	struct cudnnContext *handle;

	pthread_mutex_lock(&unused_lock);
	handle = unused;
	if (handle)
		unused = handle->next;
	pthread_mutex_unlock(&unused_lock);
	return handle ? handle : malloc(sizeof *handle);
}

static void
give_back(struct cudnnContext *handle)
{
	atomic_store(&handle->mark, 0);
	pthread_mutex_lock(&unused_lock);
	handle->next = unused;
	unused = handle;
	pthread_mutex_unlock(&unused_lock);
}

__attribute__((destructor))
static void
release(void)
{
	while (unused) {
		struct cudnnContext *next = unused->next;

		free(unused);
		unused = next;
	}
}

cudnnStatus_t
cudnnCreate(cudnnHandle_t *handle)
{
	struct cudnnContext *new;
	int status;

	EMU_ENTER(&emu_dnn);
	if (!handle)
		return CUDNN_STATUS_BAD_PARAM;
	status = emu_device_enter();
	if (status)
		return emu_dnn_status(status);
	if (emu_capture_forbid()) /* the real one allocates */
		return CUDNN_STATUS_NOT_INITIALIZED;
	new = get();
	if (!new)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	*new = (struct cudnnContext){
		.mark = EMU_DNN_MARK, .context = emu_context_current(),
		.context_id = emu_context_id(emu_context_current()),
		.device = emu_context_device()
	};
	*handle = new;
	return CUDNN_STATUS_SUCCESS;
}

/* As the real one, waits for the device, if it is still there. */
cudnnStatus_t
cudnnDestroy(cudnnHandle_t handle)
{
	EMU_ENTER(&emu_dnn);
	if (!handle)
		return CUDNN_STATUS_SUCCESS;
	if (emu_dnn_check(handle))
		return emu_dnn_check(handle);
	if (emu_context_wait(handle->context, handle->context_id) ==
	    EMU_CAPTURE_UNSUPPORTED)
		return CUDNN_STATUS_EXECUTION_FAILED;
	give_back(handle);
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnSetStream(cudnnHandle_t handle, cudaStream_t streamId)
{
	struct CUstream_st *found;

	DNN_ENTER(handle);
	if (emu_stream_find(streamId, &found))
		return CUDNN_STATUS_BAD_PARAM;
	handle->stream = streamId;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetStream(cudnnHandle_t handle, cudaStream_t *streamId)
{
	DNN_ENTER(handle);
	if (!streamId)
		return CUDNN_STATUS_BAD_PARAM;
	*streamId = handle->stream;
	return CUDNN_STATUS_SUCCESS;
}
