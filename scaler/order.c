/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/order.c -- the order of calls on different streams, which events make,
 * outside of captures and in each of them. */
#include "scaler/scaler.h"

bool
ac_capture_relax(const struct ac_driver *driver, int *mode_out)
{
	*mode_out = AC_CU_CAPTURE_RELAXED;
	return !driver->cuThreadExchangeStreamCaptureMode(mode_out);
}

void
ac_capture_restore(const struct ac_driver *driver, int mode)
{
	(void)driver->cuThreadExchangeStreamCaptureMode(&mode);
}

/* The place's own point, or the one to be used for it: the capture that made it
 * was not heard of for longest, and has most likely ended. */
static struct ac_point *
point_of(struct ac_mark *mark, const struct ac_scaler_place *place)
{
	struct ac_point *oldest = &mark->captured[0];

	if (!place->is_capturing)
		return &mark->live;
	for (int i = 0; i < AC_SCALER_CAPTURES; i++) {
		struct ac_point *const point = &mark->captured[i];

		if (point->is_set && point->capture == place->capture) {
			point->used = ++mark->uses;
			return point;
		}
		if (point->used < oldest->used)
			oldest = point;
	}
	return oldest;
}

/* Made in this capture, or outside of any as the place is. */
static bool
is_seen(const struct ac_point *point, const struct ac_scaler_place *place)
{
	return point->is_set && point->capture == place->capture;
}

autocast_status
ac_mark_wait(struct ac_mark *mark, const struct ac_scaler_place *place)
{
	const struct ac_driver *const driver = place->scaler->driver;
	const struct ac_point *const point = point_of(mark, place);
	int failed;

	if (!is_seen(point, place) || point->stream == place->id)
		return AUTOCAST_OK;
	failed = driver->cuStreamWaitEvent(place->stream, point->event, 0);
	if (failed && !place->is_capturing
	    && !driver->cuEventSynchronize(point->event))
		return AUTOCAST_OK;
	return ac_cuda_status(failed, "cuStreamWaitEvent");
}

/* A graph is launched wherever the program likes, and waits for no mark. */
autocast_status
ac_part_wait(struct ac_part *part, const struct ac_scaler_place *place)
{
	const struct ac_driver *const driver = place->scaler->driver;
	int mode, failed;

	if (!place->is_capturing || part->is_seen)
		return ac_mark_wait(&part->mark, place);
	if (!ac_capture_relax(driver, &mode))
		return ac_cuda_status(1, "cuThreadExchangeStreamCaptureMode");
	failed = driver->cuEventSynchronize(part->mark.live.event);
	ac_capture_restore(driver, mode);
	part->is_seen = !failed;
	return failed ? ac_cuda_status(failed, "cuEventSynchronize")
	    : ac_mark_wait(&part->mark, place);
}

autocast_status
ac_mark_set(struct ac_mark *mark, const struct ac_scaler_place *place)
{
	struct ac_point *const point = point_of(mark, place);
	const int failed = place->scaler->driver->cuEventRecord(point->event,
	    place->stream);

	point->stream = place->id;
	point->capture = place->capture;
	point->is_set = !failed;
	point->used = ++mark->uses;
	if (!failed)
		return AUTOCAST_OK;
	return place->is_capturing ? ac_cuda_status(failed, "cuEventRecord")
	    : ac_scaler_wait(place);
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

	for (int i = 0; i < AC_SCALER_READERS && !mark; i++) {
		const struct ac_point *const point = point_of(
		    &device->readers[i], place);

		if (is_seen(point, place) && point->stream == place->id)
			mark = &device->readers[i];
	}
	for (int i = 0; i < AC_SCALER_READERS && !mark; i++)
		if (!is_seen(point_of(&device->readers[i], place), place))
			mark = &device->readers[i];
	if (!mark) {
		mark = &device->readers[device->next_reader++
		    % AC_SCALER_READERS];
		status = ac_mark_wait(mark, place);
	}
	return status ? status : ac_mark_set(mark, place);
}

autocast_status
ac_order_write(struct ac_scaler_device *device,
    const struct ac_scaler_place *place)
{
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

	for (int i = 0; i < AC_SCALER_READERS && !status; i++) {
		struct ac_point *const point = point_of(&device->readers[i],
		    place);

		if (is_seen(point, place)) {
			point->is_set = false;
			point->used = 0;
		}
	}
	return status;
}

static autocast_status
order_by_event(const struct ac_scaler_place *from,
    const struct ac_scaler_place *to)
{
	const struct ac_driver *const driver = from->scaler->driver;
	const ac_cu_event event = from->device->fork;
	ac_cu_context popped;
	autocast_status status;

	/* An event is recorded in its own context, and the default stream is
	 * that of the current one. */
	status = AC_CUDA(driver, cuCtxPushCurrent, from->device->context);
	if (status)
		return status;
	status = AC_CUDA(driver, cuEventRecord, event, from->stream);
	(void)driver->cuCtxPopCurrent(&popped);
	if (!status)
		status = AC_CUDA(driver, cuCtxPushCurrent, to->device->context);
	if (status)
		return status;
	status = AC_CUDA(driver, cuStreamWaitEvent, to->stream, event, 0);
	(void)driver->cuCtxPopCurrent(&popped);
	return status;
}

autocast_status
ac_order_after(const struct ac_scaler_place *from,
    const struct ac_scaler_place *to)
{
	const struct ac_driver *const driver = from->scaler->driver;
	ac_cu_context popped;
	autocast_status status;

	if (from->device == to->device && from->id == to->id)
		return AUTOCAST_OK;
	status = order_by_event(from, to);
	if (!status || from->is_capturing
	    || driver->cuCtxPushCurrent(from->device->context))
		return status;
	status = ac_scaler_wait(from);
	(void)driver->cuCtxPopCurrent(&popped);
	return status;
}
