/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/update.c -- the end of an iteration, and what saves or replaces the
 * state: it is kept on the first device, the others have copies. */
#include "scaler/scaler.h"

#include "api/status.h"
#include "scaler/state_text.h"

#include <stddef.h>

/* The words of the state that other devices have copies of. */
enum { COPIED = offsetof(struct ac_scaler_state, patience) };

/* ---- One state, several devices ----------------------------------------- */

static autocast_status
copy_to(struct ac_scaler_device *device, const struct ac_scaler_place *home,
    const struct ac_scaler_place *place)
{
	struct ac_scaler_device *const first = home->device;
	struct ac_scaler_place there;
	autocast_status status = ac_order_write(device, home);

	if (!status)
		status = ac_part_copy(home, device, device->state, first,
		    first->state, COPIED);
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
		status = ac_order_write(home.device, &home);
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
	ac_tally_update(scaler, place.is_capturing);
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
		if (!status) {
			ac_tally_lost(scaler);
			ac_core_updated(&scaler->core);
		}
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

/* ---- Saving ------------------------------------------------------------- */

autocast_status
autocast_scaler_save(autocast_scaler *scaler, char *text, size_t *size)
{
	struct ac_scaler_state state;
	struct ac_scaler_rule rule;
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
	rule = scaler->core.rule; /* of now: reading gives the lock up */
	status = ac_state_read(scaler, &state);
	ac_lock_give(&scaler->lock);
	if (status)
		return status;
	saved = (struct ac_core_saved){
		state.scale, rule.up, rule.down, rule.interval, state.tracker,
		state.patience
	};
	return ac_state_print(&saved, text, size);
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
		status = ac_state_enter(scaler, &place);
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
	ac_tally_loaded(scaler, saved);
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
