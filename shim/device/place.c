/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/place.c -- asks the driver and the program's handle where a call
 * runs. */
#include "shim/device/place.h"

#include "kernels/load/load.h"

/* A capture without an id could not be told from the next one. */
static enum ac_reason
find_capture(struct ac_place *place)
{
	const struct ac_driver *driver = place->driver;
	unsigned long long id;
	int capturing;

	place->capture = 0;
	place->graph = NULL;
	if (driver->cuStreamIsCapturing(place->stream, &capturing))
		return AC_REASON_CAPTURE;
	if (!capturing)
		return AC_REASON_NONE;
	if (capturing != AC_CU_CAPTURE_ACTIVE || !driver->cuStreamGetCaptureInfo
	    || driver->cuStreamGetCaptureInfo(place->stream, &capturing, &id,
	    &place->graph, NULL, NULL) || !id)
		return AC_REASON_CAPTURE;
	place->capture = id;
	return AC_REASON_NONE;
}

static enum ac_reason
find_stream(struct ac_place *place, ac_cu_context current)
{
	const struct ac_driver *driver = place->driver;
	unsigned long long id;
	ac_cu_context owner;
	const enum ac_reason reason = find_capture(place);

	if (reason != AC_REASON_NONE)
		return reason;
	if (driver->cuStreamGetCtx(place->stream, &owner) || owner != current)
		return AC_REASON_NO_CONTEXT;
	if (!driver->cuStreamGetId || driver->cuStreamGetId(place->stream, &id))
		return AC_REASON_UNSUPPORTED;
	place->stream_id = id;
	return AC_REASON_NONE;
}

/* What the context needs: kernels first, without which nothing else is. */
static enum ac_reason
prepare_context(struct ac_place *place, const struct ac_cu_current *now)
{
	if (place->capture) {
		place->scratch = ac_scratch_find(now->id);
		if (!place->scratch)
			return AC_REASON_CAPTURE;
	}
	if (!place->kernels && ac_kernels_load(now->context, now->id,
	    &place->kernels) != AC_KERNELS_OK)
		return AC_REASON_UNSUPPORTED;
	if (!place->capture)
		place->scratch = ac_scratch_get(place->driver, now->context,
		    now->id, now->device);
	if (!place->scratch)
		return AC_REASON_DRIVER;
	place->index = ac_scratch_index(place->scratch);
	place->epoch = ac_scratch_epoch(place->scratch);
	return AC_REASON_NONE;
}

/* A stream that is 0 is of whatever context is current, so the device is
 * compared too: the program's handle may live on another one. */
enum ac_reason
ac_place_on(ac_cu_stream stream, int device, struct ac_place *place_out)
{
	const struct ac_driver *driver = ac_driver_get();
	struct ac_cu_current now;
	enum ac_reason reason;

	if (!driver || !ac_driver_current(driver, &now)
	    || now.device != device)
		return AC_REASON_NO_CONTEXT;
	/* Before CUDA 12 contexts have no ids, and addresses are no
	 * identity. */
	if (!driver->cuCtxGetId)
		return AC_REASON_UNSUPPORTED;
	place_out->driver = driver;
	place_out->stream = stream;
	place_out->kernels = ac_kernels_known(&ac_recast_module, now.context,
	    now.id);
	if (place_out->kernels && place_out->kernels->status)
		return AC_REASON_UNSUPPORTED; /* the stream is not asked */
	reason = find_stream(place_out, now.context);
	return reason == AC_REASON_NONE ? prepare_context(place_out, &now)
	    : reason;
}
