/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/cudnn_handle.c -- cuDNN calls: handles. Contracts are
 * NVIDIA's. */
#include "emulator/cudnn/conv/cudnn_conv.h"

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
