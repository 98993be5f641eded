/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/place.c -- contexts and streams that calls work in, and the order of
 * calls on different streams, which events make. */
#include "scaler/scaler.h"

#include "api/status.h"

/* Streams that are no handles: legacy and per thread, of the current context. */
#define IS_DEFAULT(stream) ((uintptr_t)(stream) <= 2)

autocast_status
ac_cuda_status(int result, const char *call)
{
	if (!result)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_CUDA, "%s failed: CUDA error %d", call,
	    result);
}

autocast_status
ac_kernels_failed(enum ac_kernels_status failed)
{
	switch (failed) {
	case AC_KERNELS_OK:
		return AUTOCAST_OK;
	case AC_KERNELS_NO_DRIVER:
		return ac_status_fail(AUTOCAST_E_NO_DRIVER,
		    "there is no usable libcuda.so.1");
	case AC_KERNELS_NO_MODULE:
		return ac_status_fail(AUTOCAST_E_CUDA,
		    "the driver did not take the scaler's kernels");
	case AC_KERNELS_NO_CONTEXT:
		return ac_status_fail(AUTOCAST_E_CUDA,
		    "no CUDA context is current");
	case AC_KERNELS_LAUNCH:
		break;
	}
	return ac_status_fail(AUTOCAST_E_CUDA, "cuLaunchKernel failed");
}

/* ---- Places ------------------------------------------------------------- */

/* The context of the stream. A thread before its first call has none itself, and
 * may then not even ask. */
autocast_status
ac_scaler_context_of(autocast_scaler *scaler, ac_cu_stream stream,
    ac_cu_context *context_out)
{
	const struct ac_driver *const driver = scaler->driver;
	ac_cu_context current = NULL, popped;
	autocast_status status = ac_cuda_status(
	    driver->cuCtxGetCurrent(&current), "cuCtxGetCurrent");
	bool is_pushed = false;

	if (!status && !current && scaler->device_count) {
		current = scaler->device[0].context;
		status = ac_cuda_status(driver->cuCtxPushCurrent(current),
		    "cuCtxPushCurrent");
		is_pushed = !status;
	}
	if (!status && !IS_DEFAULT(stream))
		status = ac_cuda_status(driver->cuStreamGetCtx(stream,
		    &current), "cuStreamGetCtx");
	if (is_pushed)
		(void)driver->cuCtxPopCurrent(&popped);
	if (!status)
		*context_out = current;
	return status;
}

static autocast_status
make_current(struct ac_scaler_place *place)
{
	const struct ac_driver *const driver = place->scaler->driver;
	ac_cu_context current;
	autocast_status status = ac_cuda_status(
	    driver->cuCtxGetCurrent(&current), "cuCtxGetCurrent");

	place->is_pushed = false;
	if (status || current == place->device->context)
		return status;
	status = ac_cuda_status(driver->cuCtxPushCurrent(place->device->context),
	    "cuCtxPushCurrent");
	place->is_pushed = !status;
	return status;
}

/* Before CUDA 12 streams have no ids: the handle must do. */
static autocast_status
ask_id(struct ac_scaler_place *place)
{
	const struct ac_driver *const driver = place->scaler->driver;
	unsigned long long id = (uintptr_t)place->stream;
	autocast_status status = AUTOCAST_OK;

	if (driver->cuStreamGetId)
		status = ac_cuda_status(driver->cuStreamGetId(place->stream,
		    &id), "cuStreamGetId");
	place->id = id;
	return status;
}

static autocast_status
ask_capturing(struct ac_scaler_place *place)
{
	int capturing = 0;
	autocast_status status = ac_cuda_status(
	    place->scaler->driver->cuStreamIsCapturing(place->stream,
	    &capturing), "cuStreamIsCapturing");

	place->is_capturing = capturing != 0;
	return status;
}

autocast_status
ac_scaler_enter(autocast_scaler *scaler, ac_cu_stream stream,
    struct ac_scaler_place *place_out)
{
	struct ac_scaler_place place = { .scaler = scaler, .stream = stream };
	ac_cu_context context = NULL;
	autocast_status status;

	if (!scaler->driver)
		return ac_status_fail(AUTOCAST_E_DEVICE, "no device was "
		    "prepared: autocast_scaler_prepare() comes first");
	status = ac_scaler_context_of(scaler, stream, &context);
	if (status)
		return status;
	for (int i = 0; i < scaler->device_count; i++)
		if (scaler->device[i].context == context)
			place.device = &scaler->device[i];
	if (!place.device)
		return ac_status_fail(AUTOCAST_E_DEVICE, "the stream is of a "
		    "device or context that was not prepared");
	status = make_current(&place);
	if (status)
		return status;
	status = ask_capturing(&place);
	if (!status)
		status = ask_id(&place);
	if (status)
		ac_scaler_leave(&place);
	else
		*place_out = place;
	return status;
}

autocast_status
ac_scaler_enter_at(const struct ac_scaler_place *place,
    struct ac_scaler_device *device, struct ac_scaler_place *there_out)
{
	struct ac_scaler_place there = *place;
	autocast_status status;

	there.is_pushed = false;
	if (device != place->device) {
		if (place->is_capturing)
			return ac_status_fail(AUTOCAST_E_CAPTURE, "a stream "
			    "that captures cannot take work of device %d along",
			    device->number);
		there.device = device;
		there.stream = device->stream;
		status = make_current(&there);
		if (!status)
			status = ask_id(&there);
		if (status) {
			ac_scaler_leave(&there);
			return status;
		}
	}
	*there_out = there;
	return AUTOCAST_OK;
}

void
ac_scaler_leave(const struct ac_scaler_place *place)
{
	ac_cu_context popped;

	if (place->is_pushed)
		(void)place->scaler->driver->cuCtxPopCurrent(&popped);
}

/* ---- Order -------------------------------------------------------------- */

autocast_status
ac_mark_wait(const struct ac_mark *mark, const struct ac_scaler_place *place)
{
	if (!mark->is_set || mark->stream == place->id
	    || mark->is_captured != place->is_capturing)
		return AUTOCAST_OK;
	return ac_cuda_status(place->scaler->driver->cuStreamWaitEvent(
	    place->stream, mark->event, 0), "cuStreamWaitEvent");
}

autocast_status
ac_mark_set(struct ac_mark *mark, const struct ac_scaler_place *place)
{
	autocast_status status = ac_cuda_status(
	    place->scaler->driver->cuEventRecord(mark->event, place->stream),
	    "cuEventRecord");

	if (status)
		return status;
	mark->stream = place->id;
	mark->is_captured = place->is_capturing;
	mark->is_set = true;
	return AUTOCAST_OK;
}

autocast_status
ac_order_read(const struct ac_scaler_place *place)
{
	return ac_mark_wait(&place->device->writer, place);
}

/* The stream's own mark, a free one, or another stream's, which this one then
 * comes after. */
autocast_status
ac_order_has_read(const struct ac_scaler_place *place)
{
	struct ac_scaler_device *const device = place->device;
	struct ac_mark *mark = NULL;
	autocast_status status = AUTOCAST_OK;

	for (int i = 0; i < AC_SCALER_READERS && !mark; i++)
		if (device->readers[i].is_set
		    && device->readers[i].stream == place->id)
			mark = &device->readers[i];
	for (int i = 0; i < AC_SCALER_READERS && !mark; i++)
		if (!device->readers[i].is_set)
			mark = &device->readers[i];
	if (!mark) {
		mark = &device->readers[device->next_reader++
		    % AC_SCALER_READERS];
		status = ac_mark_wait(mark, place);
	}
	return status ? status : ac_mark_set(mark, place);
}

autocast_status
ac_order_write(const struct ac_scaler_place *place)
{
	struct ac_scaler_device *const device = place->device;
	autocast_status status = ac_mark_wait(&device->writer, place);

	for (int i = 0; i < AC_SCALER_READERS && !status; i++)
		status = ac_mark_wait(&device->readers[i], place);
	return status;
}

autocast_status
ac_order_has_written(const struct ac_scaler_place *place)
{
	struct ac_scaler_device *const device = place->device;
	autocast_status status = ac_mark_set(&device->writer, place);

	for (int i = 0; i < AC_SCALER_READERS && !status; i++)
		device->readers[i].is_set = false;
	return status;
}

autocast_status
ac_order_after(const struct ac_scaler_place *from,
    const struct ac_scaler_place *to)
{
	const struct ac_driver *const driver = from->scaler->driver;
	const ac_cu_event event = from->device->fork.event;
	ac_cu_context popped;
	autocast_status status;

	if (from->device == to->device && from->id == to->id)
		return AUTOCAST_OK;
	/* An event is recorded in its own context, and the default stream is
	 * that of the current one. */
	status = ac_cuda_status(driver->cuCtxPushCurrent(from->device->context),
	    "cuCtxPushCurrent");
	if (status)
		return status;
	status = ac_cuda_status(driver->cuEventRecord(event, from->stream),
	    "cuEventRecord");
	(void)driver->cuCtxPopCurrent(&popped);
	if (!status)
		status = ac_cuda_status(driver->cuCtxPushCurrent(
		    to->device->context), "cuCtxPushCurrent");
	if (status)
		return status;
	status = ac_cuda_status(driver->cuStreamWaitEvent(to->stream, event, 0),
	    "cuStreamWaitEvent");
	(void)driver->cuCtxPopCurrent(&popped);
	return status;
}
