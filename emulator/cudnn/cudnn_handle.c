/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/cudnn_handle.c -- cuDNN calls: handles. Contracts are
 * NVIDIA's. */
#include "emulator/cudnn/conv/cudnn_conv.h"

cudnnStatus_t
cudnnCreate(cudnnHandle_t *handle)
{
	struct cudnnContext *new;

	EMU_ENTER(&emu_dnn);
	if (!handle)
		return CUDNN_STATUS_BAD_PARAM;
	if (emu_device_enter() || emu_capture_forbid()) /* it allocates */
		return CUDNN_STATUS_NOT_INITIALIZED;
	new = emu_handle_new(sizeof *new, EMU_DNN_MARK, 0);
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
	int status;

	EMU_ENTER(&emu_dnn);
	if (!handle)
		return CUDNN_STATUS_SUCCESS;
	if (!emu_handle_lives(&handle->base, EMU_DNN_MARK))
		return CUDNN_STATUS_NOT_INITIALIZED;
	status = emu_device_enter();
	if (!status || status == emu_device_error())
		status = emu_handle_destroy(&handle->base);
	return emu_dnn_status(status);
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
