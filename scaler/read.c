/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/read.c -- the state on its way to the host. Who reads it waits for the
 * device without the lock: what the device waits for may be another thread's
 * next call. So each call has a copy of its own. */
#include "scaler/scaler.h"

#include "api/status.h"

#include <stddef.h>
#include <string.h>

/* Where the state's counters begin. */
enum { COUNTED = offsetof(struct ac_scaler_state, updates) };

autocast_status
ac_state_enter(autocast_scaler *scaler, struct ac_scaler_place *place_out)
{
	autocast_status status = ac_scaler_enter_first(scaler, place_out);

	if (!status && place_out->is_capturing) {
		ac_scaler_leave(place_out);
		status = ac_status_fail(AUTOCAST_E_CAPTURE, "the state cannot "
		    "be read or replaced while the stream captures");
	}
	return status;
}

/* Some of the state's bytes. */
static autocast_status
fetch(const struct ac_scaler_place *place, struct ac_scaler_state *to,
    size_t from, size_t bytes)
{
	return AC_CUDA(place->scaler->driver, cuMemcpyDtoHAsync,
	    (char *)to + from,
	    (ac_cu_address)(uintptr_t)place->device->state + from, bytes,
	    place->stream);
}

static autocast_status
queue_copy(const struct ac_scaler_place *place, struct ac_scaler_state *to)
{
	autocast_status status = ac_order_read(place);

	if (!status)
		status = fetch(place, to, 0, AC_STATE_KEPT);
	if (!status)
		status = fetch(place, to, COUNTED, sizeof *to - COUNTED);
	return status ? status : ac_order_has_read(place);
}

/* Queue the copy and wait for it. The last one is nobody's own: who has that
 * waits under the lock. */
static autocast_status
make_copy(const struct ac_scaler_place *place, int number)
{
	struct ac_scaler_device *const device = place->device;
	struct ac_lock *const lock = &place->scaler->lock;
	const bool is_own = number < AC_SCALER_COPIES - 1;
	const uint32_t taken = is_own ? UINT32_C(1) << number : 0;
	const autocast_status queued = queue_copy(place,
	    &device->host_state[number]);
	autocast_status waited;

	device->copies |= taken;
	if (is_own)
		ac_lock_give(lock);
	waited = ac_scaler_wait(place);
	if (is_own)
		ac_lock_take(lock);
	/* Else some of it may come yet: nobody has that copy any more. */
	if (!waited)
		device->copies &= ~taken;
	return queued ? queued : waited;
}

autocast_status
ac_state_read(autocast_scaler *scaler, struct ac_scaler_state *state_out)
{
	const uint64_t epoch = scaler->core.epoch;
	struct ac_scaler_state *copies;
	struct ac_scaler_place place;
	autocast_status status;
	int number;

	if (!scaler->device_count) {
		*state_out = ac_core_first_state(&scaler->core);
		return AUTOCAST_OK;
	}
	status = ac_state_enter(scaler, &place);
	if (status)
		return status;
	copies = place.device->host_state;
	number = __builtin_ctz(~place.device->copies);
	status = make_copy(&place, number);
	if (!status)
		*state_out = copies[number];
	/* Another thread may have updated it meanwhile. */
	if (!status && scaler->core.epoch == epoch)
		ac_tally_state(scaler, state_out);
	ac_scaler_leave(&place);
	return status;
}

autocast_status
autocast_scaler_get(autocast_scaler *scaler, double *scale_out,
    int32_t *tracker_out)
{
	struct ac_scaler_state state = { .scale = 1 };
	autocast_status status = AUTOCAST_OK;

	if (!scaler)
		return ac_status_fail(AUTOCAST_E_INVALID, "scaler is NULL");
	if (scaler->core.enabled) {
		ac_lock_take(&scaler->lock);
		status = ac_state_read(scaler, &state);
		ac_lock_give(&scaler->lock);
	}
	if (status)
		return status;
	if (scale_out)
		*scale_out = (double)state.scale;
	if (tracker_out)
		*tracker_out = state.tracker;
	return AUTOCAST_OK;
}

autocast_status
autocast_scaler_get_counters(autocast_scaler *scaler,
    autocast_scaler_counters *counters)
{
	struct ac_scaler_state state = { .scale = 1, .least = 1, .most = 1 };
	autocast_scaler_counters now = { .size = sizeof now };
	autocast_status status = AUTOCAST_OK;

	if (!scaler || !counters || counters->size < sizeof counters->size)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "scaler or counters is NULL, or counters.size is not set");
	ac_lock_take(&scaler->lock);
	now.steps = scaler->steps;
	now.skips = scaler->skips;
	if (scaler->core.enabled)
		status = ac_state_read(scaler, &state);
	ac_lock_give(&scaler->lock);
	if (status)
		return status;
	/* A newer program learns from it what we did not write. */
	if (now.size > counters->size)
		now.size = counters->size;
	now.updates = state.updates;
	now.overflows = state.overflows;
	now.growths = state.rises;
	now.backoffs = state.falls;
	now.clamps = state.clamps;
	now.last_overflow = state.last_overflow;
	now.min_scale = (double)state.least;
	now.max_scale = (double)state.most;
	memcpy(counters, &now, now.size);
	return AUTOCAST_OK;
}
