/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/update.c -- the end of an iteration, and what reads or replaces the
 * state: it is kept on the first device, the others have copies. */
#include "scaler/scaler.h"

#include "api/status.h"
#include "scaler/state_text.h"

#include <stddef.h>
#include <string.h>

/* The words of the state that other devices have copies of. */
enum { COPIED = offsetof(struct ac_scaler_state, patience) };
/* Where its counters begin. */
enum { COUNTED = offsetof(struct ac_scaler_state, updates) };

/* ---- One state, several devices ----------------------------------------- */

static autocast_status
copy_to(struct ac_scaler_device *device, const struct ac_scaler_place *home,
    const struct ac_scaler_place *place)
{
	struct ac_scaler_device *const first = home->device;
	const struct ac_driver *const driver = home->scaler->driver;
	struct ac_scaler_place there;
	autocast_status status = ac_mark_wait(&device->writer, home);

	for (int i = 0; i < AC_SCALER_READERS && !status; i++)
		status = ac_mark_wait(&device->readers[i], home);
	if (!status)
		status = ac_cuda_status(driver->cuMemcpyPeerAsync(
		    (ac_cu_address)(uintptr_t)device->state, device->context,
		    (ac_cu_address)(uintptr_t)first->state, first->context,
		    COPIED, home->stream), "cuMemcpyPeerAsync");
	if (!status)
		status = ac_scaler_enter_at(place, device, &there);
	if (status)
		return status;
	status = ac_order_after(home, &there);
	if (!status)
		status = ac_order_has_written(&there);
	ac_scaler_leave(&there);
	return status;
}

/* What changes the state, at the first device. */
typedef autocast_status (*state_work)(const struct ac_scaler_place *home,
    const void *argument);

static autocast_status
change_state(const struct ac_scaler_place *place, state_work work,
    const void *argument)
{
	autocast_scaler *const scaler = place->scaler;
	struct ac_scaler_place home;
	autocast_status status = AUTOCAST_OK;

	for (int i = 0; i < scaler->device_count && !status; i++)
		status = ac_scaler_try_at(place, &scaler->device[i]);
	if (!status)
		status = ac_scaler_enter_at(place, &scaler->device[0], &home);
	if (status)
		return status;
	status = ac_order_after(place, &home);
	if (!status)
		status = ac_order_write(&home);
	if (!status)
		status = work(&home, argument);
	for (int i = 1; i < scaler->device_count && !status; i++)
		status = copy_to(&scaler->device[i], &home, place);
	if (!status)
		status = ac_order_has_written(&home);
	if (!status)
		status = ac_order_after(&home, place);
	ac_scaler_leave(&home);
	return status;
}

static autocast_status
set(const struct ac_scaler_place *home, const void *argument)
{
	return ac_kernels_failed(ac_scaler_set_state(home->device->state,
	    argument, home->stream));
}

static autocast_status
move(const struct ac_scaler_place *home, const void *argument)
{
	autocast_scaler *const scaler = home->scaler;
	autocast_status status = AUTOCAST_OK;

	/* Once for each iteration, however often it fails after this. */
	if (scaler->moved_epoch != scaler->core.epoch)
		status = ac_kernels_failed(ac_scaler_update_state(
		    home->device->state, argument, home->stream));
	if (!status)
		scaler->moved_epoch = scaler->core.epoch;
	return status;
}

/* ---- Updates ------------------------------------------------------------ */

/* Whether the scale is to fall below its minimum, as far as steps told. */
static bool
is_at_minimum(const autocast_scaler *scaler)
{
	struct ac_scaler_state state = scaler->told;

	return scaler->core.strict && scaler->told_epoch == scaler->core.epoch
	    && state.found && ac_scaler_rule_apply(&state, &scaler->core.rule);
}

static autocast_status
update(autocast_scaler *scaler, ac_cu_stream stream)
{
	struct ac_scaler_place place;
	bool is_held;
	autocast_status status = ac_groups_check_idle(scaler);

	if (!status)
		status = ac_core_may_update(&scaler->core);
	if (!status)
		status = ac_scaler_enter(scaler, stream, &place);
	if (status)
		return status;
	status = change_state(&place, move, &scaler->core.rule);
	ac_scaler_leave(&place);
	if (status)
		return status;
	is_held = is_at_minimum(scaler);
	ac_core_updated(&scaler->core);
	if (is_held)
		return ac_status_fail(AUTOCAST_E_AT_MINIMUM, "the scale was to "
		    "fall below its minimum, and stays there");
	return AUTOCAST_OK;
}

autocast_status
autocast_scaler_update(autocast_scaler *scaler, struct CUstream_st *stream)
{
	autocast_status status;

	if (!scaler)
		return ac_status_fail(AUTOCAST_E_INVALID, "scaler is NULL");
	if (!scaler->core.enabled)
		return AUTOCAST_OK;
	ac_lock_take(&scaler->lock);
	status = update(scaler, stream);
	ac_lock_give(&scaler->lock);
	return status;
}

autocast_status
autocast_scaler_update_to(autocast_scaler *scaler, double scale,
    struct CUstream_st *stream)
{
	const struct ac_scaler_set to = {
		.which = AC_SCALER_SET_SCALE | AC_SCALER_SET_DROP,
		.scale = (float)scale
	};
	struct ac_scaler_place place;
	autocast_status status;

	if (!scaler)
		return ac_status_fail(AUTOCAST_E_INVALID, "scaler is NULL");
	if (!scaler->core.enabled)
		return AUTOCAST_OK;
	ac_lock_take(&scaler->lock);
	status = ac_groups_check_idle(scaler);
	if (!status)
		status = ac_core_may_update_to(&scaler->core, scale);
	if (!status)
		status = ac_scaler_enter(scaler, stream, &place);
	if (!status) {
		status = change_state(&place, set, &to);
		ac_scaler_leave(&place);
		if (!status)
			ac_core_updated(&scaler->core);
	}
	ac_lock_give(&scaler->lock);
	return status;
}

autocast_status
autocast_scaler_set_reduce(autocast_scaler *scaler, autocast_reduce reduce,
    void *user)
{
	autocast_status status;

	if (!scaler)
		return ac_status_fail(AUTOCAST_E_INVALID, "scaler is NULL");
	ac_lock_take(&scaler->lock);
	status = ac_groups_check_idle(scaler);
	if (!status && ac_core_is_busy(&scaler->core)) {
		status = ac_status_fail(AUTOCAST_E_BUSY, "the hook cannot "
		    "change before this iteration's update");
	} else if (!status) {
		scaler->reduce = reduce;
		scaler->reduce_user = user;
	}
	ac_lock_give(&scaler->lock);
	return status;
}

/* ---- Reading ------------------------------------------------------------ */

/* The first device's own stream, which must not capture. */
static autocast_status
enter_first(autocast_scaler *scaler, struct ac_scaler_place *place_out)
{
	autocast_status status = ac_scaler_enter_first(scaler, place_out);

	if (!status && place_out->is_capturing) {
		ac_scaler_leave(place_out);
		status = ac_status_fail(AUTOCAST_E_CAPTURE, "the state cannot "
		    "be read or replaced while the stream captures");
	}
	return status;
}

/* Some of the state's bytes, on their way to the host. */
static autocast_status
fetch(const struct ac_scaler_place *place, size_t from, size_t bytes)
{
	struct ac_scaler_device *const device = place->device;

	return ac_cuda_status(place->scaler->driver->cuMemcpyDtoHAsync(
	    (char *)device->host_state + from,
	    (ac_cu_address)(uintptr_t)device->state + from, bytes,
	    place->stream), "cuMemcpyDtoHAsync");
}

/* The state of the first device, or what it will be. Waits. Lock held. */
static autocast_status
read_state(autocast_scaler *scaler, struct ac_scaler_state *state_out)
{
	struct ac_scaler_place place;
	autocast_status status;

	if (!scaler->device_count) {
		*state_out = ac_core_first_state(&scaler->core);
		return AUTOCAST_OK;
	}
	status = enter_first(scaler, &place);
	if (status)
		return status;
	status = ac_order_read(&place);
	if (!status)
		status = fetch(&place, 0, AC_STATE_KEPT);
	if (!status)
		status = fetch(&place, COUNTED, sizeof *state_out - COUNTED);
	if (!status)
		status = ac_scaler_wait(&place);
	if (!status)
		*state_out = *place.device->host_state;
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
		status = read_state(scaler, &state);
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
	if (scaler->core.enabled)
		status = read_state(scaler, &state);
	now.steps = scaler->steps;
	now.skips = scaler->skips;
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

/* ---- Saving ------------------------------------------------------------- */

autocast_status
autocast_scaler_save(autocast_scaler *scaler, char *text, size_t *size)
{
	struct ac_scaler_state state;
	struct ac_core_saved saved;
	autocast_status status;

	if (!scaler || !size)
		return ac_status_fail(AUTOCAST_E_INVALID, "%s is NULL",
		    scaler ? "size" : "scaler");
	if (!scaler->core.enabled) {
		*size = 0;
		return AUTOCAST_OK;
	}
	ac_lock_take(&scaler->lock);
	status = read_state(scaler, &state);
	saved = (struct ac_core_saved){
		state.scale, scaler->core.rule.up, scaler->core.rule.down,
		scaler->core.rule.interval, state.tracker, state.patience
	};
	ac_lock_give(&scaler->lock);
	return status ? status : ac_state_print(&saved, text, size);
}

static autocast_status
load(autocast_scaler *scaler, const struct ac_core_saved *saved)
{
	const struct ac_scaler_set to = {
		AC_SCALER_SET_SCALE | AC_SCALER_SET_TRACKER
		| AC_SCALER_SET_PATIENCE | AC_SCALER_SET_RESET,
		saved->scale, saved->tracker, saved->patience
	};
	struct ac_scaler_place place;
	autocast_status status;

	if (scaler->device_count) {
		status = enter_first(scaler, &place);
		if (status)
			return status;
		status = change_state(&place, set, &to);
		if (!status)
			status = ac_scaler_wait(&place);
		ac_scaler_leave(&place);
		if (status)
			return status;
	}
	/* Flags that steps told of stay, the scale that they saw does not. */
	scaler->told.scale = saved->scale;
	scaler->told.tracker = saved->tracker;
	scaler->told.patience = saved->patience;
	ac_core_load(&scaler->core, saved);
	return AUTOCAST_OK;
}

autocast_status
autocast_scaler_load(autocast_scaler *scaler, const char *text, size_t size)
{
	struct ac_core_saved saved;
	autocast_status status;

	if (!scaler || (size && !text))
		return ac_status_fail(AUTOCAST_E_INVALID, "%s is NULL",
		    scaler ? "text" : "scaler");
	if (!scaler->core.enabled)
		return AUTOCAST_OK;
	status = ac_state_parse(text, size, scaler->core.strict, &saved);
	if (!status)
		status = ac_core_may_load(&scaler->core, &saved);
	if (status)
		return status;
	ac_lock_take(&scaler->lock);
	status = load(scaler, &saved);
	ac_lock_give(&scaler->lock);
	return status;
}
