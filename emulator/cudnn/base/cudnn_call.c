/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/base/cudnn_call.c -- how every call with a handle begins and
 * ends: what it checks, how it queues its work, which status it returns. */
#include "emulator/cudnn/base/cudnn.h"

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
