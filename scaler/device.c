/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/device.c -- makes devices ready for a scaler, and frees what it has
 * there. Nothing else in this room allocates device memory but group.c. */
#include "scaler/scaler.h"

#include "api/status.h"

#include <string.h>

static const struct ac_driver *
driver_for_scaling(void)
{
	const struct ac_driver *const d = ac_driver_get();

	if (!d || !d->cuInit || !d->cuDeviceGet || !d->cuDevicePrimaryCtxRetain
	    || !d->cuDevicePrimaryCtxRelease || !d->cuCtxPushCurrent
	    || !d->cuCtxPopCurrent || !d->cuPointerGetAttributes
	    || !d->cuMemAlloc || !d->cuMemFree || !d->cuMemHostAlloc
	    || !d->cuMemFreeHost || !d->cuMemcpyHtoDAsync
	    || !d->cuMemcpyDtoHAsync || !d->cuMemcpyPeerAsync
	    || !d->cuStreamSynchronize)
		return NULL;
	return d;
}

static autocast_status
find_driver(autocast_scaler *scaler)
{
	const struct ac_driver *driver;
	autocast_status status;

	if (scaler->driver)
		return AUTOCAST_OK;
	driver = driver_for_scaling();
	if (!driver)
		return ac_status_fail(AUTOCAST_E_NO_DRIVER,
		    "there is no usable libcuda.so.1");
	status = ac_init_status(driver->cuInit(0));
	if (!status)
		scaler->driver = driver;
	return status;
}

struct ac_scaler_device *
ac_scaler_device_of(autocast_scaler *scaler, int number)
{
	for (int i = 0; i < scaler->device_count; i++)
		if (scaler->device[i].number == number)
			return &scaler->device[i];
	return NULL;
}

autocast_status
ac_memory_take(const struct ac_scaler_place *place, size_t bytes,
    ac_cu_address *address_out)
{
	const struct ac_driver *const driver = place->scaler->driver;
	ac_cu_address address;
	int failed;

	bytes = (bytes + 3) & ~(size_t)3;
	failed = driver->cuMemAlloc(&address, bytes);
	if (failed == 2)
		return ac_status_fail(AUTOCAST_E_NO_MEMORY,
		    "%zu bytes of device memory are not to be had", bytes);
	if (failed)
		return ac_cuda_status(failed, "cuMemAlloc");
	failed = driver->cuMemsetD32Async(address, 0, bytes / 4, place->stream);
	if (failed) {
		(void)driver->cuMemFree(address);
		return ac_cuda_status(failed, "cuMemsetD32Async");
	}
	*address_out = address;
	return AUTOCAST_OK;
}

static autocast_status
create_event(const struct ac_driver *driver, ac_cu_event *event_out)
{
	return AC_CUDA(driver, cuEventCreate, event_out,
	    AC_CU_EVENT_DISABLE_TIMING);
}

autocast_status
ac_mark_create(const struct ac_driver *driver, struct ac_mark *mark)
{
	autocast_status status = create_event(driver, &mark->live.event);

	for (int i = 0; i < AC_SCALER_CAPTURES && !status; i++)
		status = create_event(driver, &mark->captured[i].event);
	return status;
}

void
ac_mark_destroy(const struct ac_driver *driver, struct ac_mark *mark)
{
	if (mark->live.event)
		(void)driver->cuEventDestroy(mark->live.event);
	for (int i = 0; i < AC_SCALER_CAPTURES; i++)
		if (mark->captured[i].event)
			(void)driver->cuEventDestroy(mark->captured[i].event);
}

/* ---- Contexts ----------------------------------------------------------- */

static autocast_status
number_of(const struct ac_driver *driver, ac_cu_context context, int *number)
{
	ac_cu_context popped;
	autocast_status status = AC_CUDA(driver, cuCtxPushCurrent, context);

	if (status)
		return status;
	status = AC_CUDA(driver, cuCtxGetDevice, number);
	(void)driver->cuCtxPopCurrent(&popped);
	return status;
}

static autocast_status
retain_primary(const struct ac_driver *driver, int number,
    ac_cu_context *context_out)
{
	int handle;

	if (driver->cuDeviceGet(&handle, number))
		return ac_status_fail(AUTOCAST_E_DEVICE,
		    "there is no device %d", number);
	return AC_CUDA(driver, cuDevicePrimaryCtxRetain, context_out, handle);
}

/* The current one, else that of a stream that is none of the default ones. A
 * thread that has no context may not even ask: it gets the primary one of
 * device `number` for as long. */
static autocast_status
ask_context(const struct ac_driver *driver, ac_cu_stream stream, int number,
    ac_cu_context *context_out)
{
	ac_cu_context lent, popped, current = NULL;
	autocast_status status = AC_CUDA(driver, cuCtxGetCurrent, &current);

	*context_out = current;
	if (status || (uintptr_t)stream <= 2)
		return status;
	if (current)
		return AC_CUDA(driver, cuStreamGetCtx, stream, context_out);
	status = retain_primary(driver, number, &lent);
	if (status)
		return status;
	status = AC_CUDA(driver, cuCtxPushCurrent, lent);
	if (!status) {
		status = AC_CUDA(driver, cuStreamGetCtx, stream, context_out);
		(void)driver->cuCtxPopCurrent(&popped);
	}
	(void)driver->cuDevicePrimaryCtxRelease(number);
	return status;
}

/* The stream's context, else the current one if it is the device's, else the
 * device's primary context. */
static autocast_status
find_context(const struct ac_driver *driver, ac_cu_stream stream,
    struct ac_scaler_device *device)
{
	int number = -1;
	autocast_status status = ask_context(driver, stream, device->number,
	    &device->context);

	if (!status && device->context)
		status = number_of(driver, device->context, &number);
	if (status || number == device->number)
		return status;
	if ((uintptr_t)stream > 2)
		return ac_status_fail(AUTOCAST_E_DEVICE,
		    "the stream is of device %d, not of device %d", number,
		    device->number);
	status = retain_primary(driver, device->number, &device->context);
	device->is_retained = !status;
	return status;
}

/* ---- Preparing ---------------------------------------------------------- */

static void
release(const struct ac_driver *driver, struct ac_scaler_device *device)
{
	ac_cu_context popped;
	int mode;

	if (!ac_capture_relax(driver, &mode))
		return;
	if (device->context && !driver->cuCtxPushCurrent(device->context)) {
		ac_mark_destroy(driver, &device->writer);
		if (device->fork)
			(void)driver->cuEventDestroy(device->fork);
		for (int i = 0; i < AC_SCALER_READERS; i++)
			ac_mark_destroy(driver, &device->readers[i]);
		if (device->host_state)
			(void)driver->cuMemFreeHost(device->host_state);
		if (device->state)
			(void)driver->cuMemFree(
			    (ac_cu_address)(uintptr_t)device->state);
		(void)driver->cuCtxPopCurrent(&popped);
	}
	if (device->is_retained)
		(void)driver->cuDevicePrimaryCtxRelease(device->number);
	ac_capture_restore(driver, mode);
}

static autocast_status
create_events(const struct ac_driver *driver, struct ac_scaler_device *device)
{
	autocast_status status = ac_mark_create(driver, &device->writer);

	if (!status)
		status = create_event(driver, &device->fork);
	for (int i = 0; i < AC_SCALER_READERS && !status; i++)
		status = ac_mark_create(driver, &device->readers[i]);
	return status;
}

/* The words of the device, the scale as the first device has it. */
static autocast_status
fill(struct ac_scaler_place *place)
{
	autocast_scaler *const scaler = place->scaler;
	const struct ac_driver *const driver = scaler->driver;
	struct ac_scaler_device *const device = place->device;
	struct ac_scaler_state first = ac_core_first_state(&scaler->core);
	ac_cu_address memory;
	void *host;
	autocast_status status;

	status = ac_memory_take(place, sizeof first, &memory);
	if (status)
		return status;
	device->state = (struct ac_scaler_state *)(uintptr_t)memory;
	status = AC_CUDA(driver, cuMemHostAlloc, &host,
	    AC_SCALER_COPIES * sizeof first, AC_CU_HOST_REGISTER_PORTABLE);
	if (status)
		return status;
	device->host_state = host;
	*device->host_state = first;
	if (device != &scaler->device[0])
		status = ac_part_copy(place, device, device->state,
		    &scaler->device[0], scaler->device[0].state, sizeof first);
	else
		status = AC_CUDA(driver, cuMemcpyHtoDAsync, memory, host,
		    sizeof first, place->stream);
	return status;
}

static autocast_status
make_ready(autocast_scaler *scaler, struct ac_scaler_device *device)
{
	const struct ac_driver *const driver = scaler->driver;
	struct ac_scaler_place place = {
		.scaler = scaler, .device = device, .stream = device->stream,
		.id = UINT64_MAX /* comes after whatever was queued */
	};
	int capturing = 0, mode = AC_CU_CAPTURE_RELAXED;
	autocast_status status = AC_CUDA(driver, cuStreamIsCapturing,
	    place.stream, &capturing);

	if (!status && capturing)
		return ac_status_fail(AUTOCAST_E_CAPTURE, "a device cannot be "
		    "prepared while the stream captures");
	/* Nor while another one does, unless in relaxed mode. */
	if (!status)
		status = AC_CUDA(driver, cuThreadExchangeStreamCaptureMode,
		    &mode);
	if (status)
		return status;
	status = create_events(driver, device);
	if (!status && device != &scaler->device[0])
		status = ac_mark_wait(&scaler->device[0].writer, &place);
	if (!status)
		status = fill(&place);
	if (!status)
		status = ac_kernels_failed(ac_scaler_kernels_load());
	if (!status)
		status = AC_CUDA(driver, cuStreamSynchronize, place.stream);
	(void)driver->cuThreadExchangeStreamCaptureMode(&mode);
	return status;
}

autocast_status
ac_scaler_prepare_device(autocast_scaler *scaler, int number,
    ac_cu_stream stream)
{
	struct ac_scaler_device device = { .number = number, .stream = stream };
	struct ac_scaler_device *const known = ac_scaler_device_of(scaler,
	    number);
	ac_cu_context popped;
	autocast_status status;

	status = find_driver(scaler);
	if (status)
		return status;
	if (number < 0)
		return ac_status_fail(AUTOCAST_E_DEVICE,
		    "there is no device %d", number);
	if (!known && scaler->device_count == AC_SCALER_DEVICES)
		return ac_status_fail(AUTOCAST_E_DEVICE,
		    "device %d: %d are prepared, and no more can be", number,
		    AC_SCALER_DEVICES);
	status = find_context(scaler->driver, stream, &device);
	if (!status && known) {
		if (known->context == device.context)
			known->stream = stream;
		else
			status = ac_status_fail(AUTOCAST_E_DEVICE, "device %d "
			    "was prepared in another context", number);
		if (device.is_retained)
			(void)scaler->driver->cuDevicePrimaryCtxRelease(number);
		return status;
	}
	if (!status)
		status = AC_CUDA(scaler->driver, cuCtxPushCurrent,
		    device.context);
	if (!status) {
		struct ac_scaler_device *const slot =
		    &scaler->device[scaler->device_count];

		*slot = device;
		status = make_ready(scaler, slot);
		device = *slot;
		(void)scaler->driver->cuCtxPopCurrent(&popped);
		if (!status)
			scaler->device_count++;
	}
	if (status)
		release(scaler->driver, &device);
	return status;
}

autocast_status
ac_scaler_prepare_stream(autocast_scaler *scaler, ac_cu_stream stream)
{
	ac_cu_context context = NULL;
	int number = 0;
	autocast_status status = find_driver(scaler);

	if (!status && scaler->device_count)
		status = ac_scaler_context_of(scaler, stream, &context);
	else if (!status)
		status = ask_context(scaler->driver, stream, 0, &context);
	if (!status && context)
		status = number_of(scaler->driver, context, &number);
	if (status || ac_scaler_device_of(scaler, number))
		return status;
	return ac_scaler_prepare_device(scaler, number, stream);
}

void
ac_scaler_release_devices(autocast_scaler *scaler)
{
	for (int i = scaler->device_count; i-- > 0; )
		release(scaler->driver, &scaler->device[i]);
	scaler->device_count = 0;
}
