/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/cudnn_handle.c -- cuDNN calls: handles; how every other call
 * begins and ends. Contracts are NVIDIA's. */
#include "emulator/cudnn/conv/cudnn_conv.h"

const struct emu_family emu_dnn = { CUDNN_STATUS_INTERNAL_ERROR,
	CUDNN_STATUS_NOT_INITIALIZED };

cudnnStatus_t
emu_dnn_status(int status)
{
	static const struct emu_meanings meanings = {
		.no_memory = CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
		.not_initialized = CUDNN_STATUS_NOT_INITIALIZED,
		.invalid = CUDNN_STATUS_BAD_PARAM,
		.failed = CUDNN_STATUS_EXECUTION_FAILED,
		.internal = CUDNN_STATUS_INTERNAL_ERROR
	};

	return (cudnnStatus_t)emu_status_means(status, &meanings);
}

cudnnStatus_t
emu_dnn_check(cudnnHandle_t handle)
{
	if (!handle)
		return CUDNN_STATUS_BAD_PARAM;
	if (!emu_handle_lives(&handle->base, EMU_DNN_MARK))
		return CUDNN_STATUS_NOT_INITIALIZED;
	return emu_dnn_status(emu_device_enter());
}

cudnnStatus_t
emu_dnn_submit(cudnnHandle_t handle, void *task)
{
	struct CUstream_st *stream;
	int status = emu_handle_locate(&handle->base, &stream);

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
	return emu_dnn_status(emu_stream_wait(handle->base.stream));
}

double
emu_dnn_scalar(const void *host, cudnnDataType_t type)
{
	return type == CUDNN_DATA_DOUBLE ? *(const double *)host :
	    (double)*(const float *)host;
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
	new = emu_handle_new(sizeof *new, EMU_DNN_MARK);
	if (!new)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	emu_conv_onednn_prepare();
	*handle = new;
	return CUDNN_STATUS_SUCCESS;
}

/* Like the real function, waits for the device, if it still exists. */
cudnnStatus_t
cudnnDestroy(cudnnHandle_t handle)
{
	cudnnStatus_t status;

	EMU_ENTER(&emu_dnn);
	if (!handle)
		return CUDNN_STATUS_SUCCESS;
	status = emu_dnn_check(handle);
	return status ? status :
	    emu_dnn_status(emu_handle_destroy(&handle->base));
}

cudnnStatus_t
cudnnSetStream(cudnnHandle_t handle, cudaStream_t streamId)
{
	struct CUstream_st *found;

	DNN_ENTER(handle);
	if (emu_stream_find(streamId, &found))
		return CUDNN_STATUS_BAD_PARAM;
	handle->base.stream = streamId;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnGetStream(cudnnHandle_t handle, cudaStream_t *streamId)
{
	DNN_ENTER(handle);
	if (!streamId)
		return CUDNN_STATUS_BAD_PARAM;
	*streamId = handle->base.stream;
	return CUDNN_STATUS_SUCCESS;
}
