/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/place.c -- contexts and streams that calls work in. */
#include "scaler/scaler.h"

#include "api/status.h"

/* Streams that are no handles: legacy and per thread, of the current
 * context. */
#define IS_DEFAULT(stream) ((uintptr_t)(stream) <= 2)

/* ---- Places ------------------------------------------------------------- */

/* The context of the stream. A thread before its first call has none itself,
 * and may then not even ask. */
autocast_status
ac_scaler_context_of(autocast_scaler *scaler, ac_cu_stream stream,
    ac_cu_context *context_out)
{
	const struct ac_driver *const driver = scaler->driver;
	ac_cu_context current = NULL, popped;
	autocast_status status = AC_CUDA(driver, cuCtxGetCurrent, &current);
	bool is_pushed = false;

	if (!status && !current) {
		current = scaler->device[0].context;
		status = AC_CUDA(driver, cuCtxPushCurrent, current);
		is_pushed = !status;
	}
	if (!status && !IS_DEFAULT(stream))
		status = AC_CUDA(driver, cuStreamGetCtx, stream, &current);
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
	autocast_status status = AC_CUDA(driver, cuCtxGetCurrent, &current);

	place->is_pushed = false;
	if (status || current == place->device->context)
		return status;
	status = AC_CUDA(driver, cuCtxPushCurrent, place->device->context);
	place->is_pushed = !status;
	return status;
}

/* Before CUDA 12 streams have no ids, and handles are none: the default ones
 * are a stream of each context and thread, others come again. Each place is a
 * stream of its own then, and waits for all others. */
static autocast_status
ask_id(struct ac_scaler_place *place)
{
	const struct ac_driver *const driver = place->scaler->driver;
	unsigned long long id = ++place->scaler->places;
	autocast_status status = AUTOCAST_OK;

	if (driver->cuStreamGetId)
		status = AC_CUDA(driver, cuStreamGetId, place->stream, &id);
	place->id = id;
	return status;
}

/* A driver that tells no captures apart has one for us. */
static autocast_status
ask_capturing(struct ac_scaler_place *place)
{
	const struct ac_driver *const driver = place->scaler->driver;
	int capturing = 0;
	unsigned long long id = 1;
	autocast_status status;

	if (driver->cuStreamGetCaptureInfo)
		status = AC_CUDA(driver, cuStreamGetCaptureInfo, place->stream,
		    &capturing, &id, NULL, NULL, NULL);
	else
		status = AC_CUDA(driver, cuStreamIsCapturing, place->stream,
		    &capturing);
	place->is_capturing = capturing != 0;
	place->capture = capturing ? id : 0;
	return status;
}

/* Where it works is known: make it so, and ask what the stream is. */
static autocast_status
enter_device(struct ac_scaler_place place, struct ac_scaler_place *place_out)
{
	autocast_status status = make_current(&place);

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
ac_scaler_enter(autocast_scaler *scaler, ac_cu_stream stream,
    struct ac_scaler_place *place_out)
{
	struct ac_scaler_place place = { .scaler = scaler, .stream = stream };
	ac_cu_context context = NULL;
	autocast_status status;

	if (!scaler->device_count)
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
	return enter_device(place, place_out);
}

autocast_status
ac_scaler_enter_first(autocast_scaler *scaler,
    struct ac_scaler_place *place_out)
{
	return enter_device((struct ac_scaler_place){
	    .scaler = scaler, .device = &scaler->device[0],
	    .stream = scaler->device[0].stream }, place_out);
}

autocast_status
ac_scaler_enter_at(const struct ac_scaler_place *place,
    struct ac_scaler_device *device, struct ac_scaler_place *there_out)
{
	struct ac_scaler_place there = *place;
	const bool is_other = device != place->device;
	autocast_status status = AUTOCAST_OK;

	if (is_other && place->is_capturing)
		return ac_status_fail(AUTOCAST_E_CAPTURE, "a stream that "
		    "captures cannot take work of device %d along",
		    device->number);
	if (is_other) {
		there.device = device;
		there.stream = device->stream;
	}
	there.is_pushed = false;
	/* With one device, it is current already. */
	if (place->scaler->device_count > 1)
		status = make_current(&there);
	if (!status && is_other)
		status = ask_id(&there);
	if (!status && is_other)
		status = ask_capturing(&there);
	if (!status && there.is_capturing && is_other)
		status = ac_status_fail(AUTOCAST_E_CAPTURE, "the stream that "
		    "device %d was prepared with captures", device->number);
	if (status)
		ac_scaler_leave(&there);
	else
		*there_out = there;
	return status;
}

autocast_status
ac_scaler_try_at(const struct ac_scaler_place *place,
    struct ac_scaler_device *device)
{
	struct ac_scaler_place there;
	autocast_status status = ac_scaler_enter_at(place, device, &there);

	if (!status)
		ac_scaler_leave(&there);
	return status;
}

void
ac_scaler_leave(const struct ac_scaler_place *place)
{
	ac_cu_context popped;

	if (place->is_pushed)
		(void)place->scaler->driver->cuCtxPopCurrent(&popped);
}

/* Waiting is forbidden to a thread that captures elsewhere, unless relaxed. */
autocast_status
ac_scaler_wait(const struct ac_scaler_place *place)
{
	const struct ac_driver *const driver = place->scaler->driver;
	int mode = AC_CU_CAPTURE_RELAXED;
	autocast_status status = AC_CUDA(driver,
	    cuThreadExchangeStreamCaptureMode, &mode);

	if (status)
		return status;
	status = AC_CUDA(driver, cuStreamSynchronize, place->stream);
	(void)driver->cuThreadExchangeStreamCaptureMode(&mode);
	return status;
}
