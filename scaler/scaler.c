/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/scaler.c -- scalers from creation to destruction, and what is
 * multiplied by the scale. */
#include "scaler/scaler.h"

#include "api/status.h"

#include <stdlib.h>

autocast_status
autocast_scaler_create(const autocast_scaler_options *options,
    autocast_scaler **scaler_out)
{
	autocast_scaler *scaler;
	struct ac_core core;
	autocast_status status;

	if (!scaler_out)
		return ac_status_fail(AUTOCAST_E_INVALID, "scaler_out is NULL");
	status = ac_core_init(options, &core);
	if (status)
		return status;
	scaler = calloc(1, sizeof *scaler);
	if (!scaler)
		return ac_status_fail(AUTOCAST_E_NO_MEMORY,
		    "no memory for a scaler");
	scaler->core = core;
	ac_tally_made(scaler);
	*scaler_out = scaler;
	return AUTOCAST_OK;
}

void
autocast_scaler_destroy(autocast_scaler *scaler)
{
	if (!scaler)
		return;
	while (scaler->groups)
		autocast_group_destroy(scaler->groups);
	ac_scaler_release_devices(scaler);
	free(scaler);
}

autocast_status
autocast_scaler_prepare(autocast_scaler *scaler, int device,
    struct CUstream_st *stream)
{
	autocast_status status;

	if (!scaler)
		return ac_status_fail(AUTOCAST_E_INVALID, "scaler is NULL");
	ac_lock_take(&scaler->lock);
	status = ac_scaler_prepare_device(scaler, device, stream);
	ac_lock_give(&scaler->lock);
	/* Disabled, it is for norms and sums only. */
	if (status == AUTOCAST_E_NO_DRIVER && !scaler->core.enabled)
		return AUTOCAST_OK;
	return status;
}

/* ---- Scaling ------------------------------------------------------------ */

/* One launch for as many tensors as go with one. */
static autocast_status
multiply(const struct ac_scaler_place *place, const autocast_tensor *seeds,
    size_t count, bool is_trial)
{
	struct ac_scaler_tensor tensors[AC_SCALER_INLINE];
	struct ac_scaler_device *devices[AC_SCALER_INLINE];
	autocast_status status = AUTOCAST_OK;

	for (size_t at = 0; at < count && !status; at += AC_SCALER_INLINE) {
		const size_t left = count - at;
		const size_t some = left < AC_SCALER_INLINE ? left
		    : AC_SCALER_INLINE;

		status = ac_tensors_read(place->scaler, "seed", seeds + at,
		    at, some, tensors, devices);
		for (size_t i = 0; i < some && !status; i++)
			if (devices[i] && devices[i] != place->device)
				status = ac_status_fail(AUTOCAST_E_DEVICE,
				    "seed %zu is on device %d, the stream on "
				    "device %d", at + i, devices[i]->number,
				    place->device->number);
		if (status || is_trial)
			continue;
		if (ac_scaler_number_chunks(tensors, some))
			status = ac_kernels_failed(ac_scaler_multiply(tensors,
			    some, place->device->state, place->stream));
	}
	return status;
}

static autocast_status
scale(autocast_scaler *scaler, const autocast_tensor *seeds, size_t count,
    ac_cu_stream stream)
{
	struct ac_scaler_place place;
	autocast_status status = ac_scaler_prepare_stream(scaler, stream);
	autocast_status marked;

	if (!status)
		status = ac_scaler_enter(scaler, stream, &place);
	if (status)
		return status;
	/* All of them are looked at before the first is written. */
	if (count > AC_SCALER_INLINE)
		status = multiply(&place, seeds, count, true);
	if (!status)
		status = ac_order_read(&place);
	if (!status) {
		/* A launch that fails takes none before it back. */
		status = multiply(&place, seeds, count, false);
		marked = ac_order_has_read(&place);
		status = status ? status : marked;
	}
	if (!status)
		ac_core_scaled(&scaler->core);
	ac_scaler_leave(&place);
	return status;
}

autocast_status
autocast_scaler_scale(autocast_scaler *scaler, const autocast_tensor *seeds,
    size_t count, struct CUstream_st *stream)
{
	autocast_status status;

	if (!scaler || (count && !seeds))
		return ac_status_fail(AUTOCAST_E_INVALID, "%s is NULL",
		    scaler ? "seeds" : "scaler");
	if (!scaler->core.enabled)
		return AUTOCAST_OK;
	ac_lock_take(&scaler->lock);
	status = scale(scaler, seeds, count, stream);
	ac_lock_give(&scaler->lock);
	return status;
}

autocast_status
autocast_scaler_pointers(autocast_scaler *scaler, int device,
    const float **scale_out, const float **inverse_out)
{
	struct ac_scaler_device *known;
	autocast_status status = AUTOCAST_OK;

	if (!scaler || !scale_out || !inverse_out)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "an argument is NULL");
	if (!scaler->core.enabled) {
		*scale_out = *inverse_out = NULL;
		return AUTOCAST_OK;
	}
	ac_lock_take(&scaler->lock);
	known = ac_scaler_device_of(scaler, device);
	if (!known) {
		status = ac_scaler_prepare_device(scaler, device, NULL);
		known = ac_scaler_device_of(scaler, device);
	}
	if (!status) {
		ac_core_scaled(&scaler->core);
		*scale_out = &known->state->scale;
		*inverse_out = &known->state->inverse;
	}
	ac_lock_give(&scaler->lock);
	return status;
}
