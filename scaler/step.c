/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/step.c -- whether an optimizer steps: the host's answer, the device's
 * flag, and sums that look at the flag. */
#include "scaler/scaler.h"

#include "api/status.h"

/* Look at the gradients unless that was done. Where a graph does it nothing may
 * have been found yet, and with the next launch this step would do it again. */
static autocast_status
check_once(autocast_group *group, const struct ac_scaler_place *place,
    bool divide)
{
	if (ac_core_must_check(&group->scaler->core, &group->core))
		return ac_group_check(group, place, divide);
	if (!group->is_captured || place->is_capturing)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_CAPTURE,
	    "%s was unscaled in a capture: its step belongs in one, too "
	    "(autocast_scaler_update_to() ends such an iteration)",
	    group->name);
}

/* ---- The host's answer -------------------------------------------------- */

/* Queue the way of the flag to the host; strict: of the state, too, so that
 * the update can tell where the scale ends. */
static autocast_status
queue_answer(autocast_group *group, const struct ac_scaler_place *home)
{
	const struct ac_driver *const driver = group->scaler->driver;
	struct ac_part *const first = &group->part[0];
	autocast_status status = ac_mark_wait(&first->mark, home);

	if (!status)
		status = AC_CUDA(driver, cuMemcpyDtoHAsync,
		    &group->answer->words,
		    (ac_cu_address)(uintptr_t)first->pass.words,
		    sizeof group->answer->words, home->stream);
	if (!status && group->scaler->core.strict)
		status = ac_order_read(home);
	if (!status && group->scaler->core.strict)
		status = AC_CUDA(driver, cuMemcpyDtoHAsync,
		    &group->answer->state,
		    (ac_cu_address)(uintptr_t)first->pass.state, AC_STATE_KEPT,
		    home->stream);
	/* Others may change it while this call waits. */
	if (!status && group->scaler->core.strict)
		status = ac_order_has_read(home);
	return status;
}

/* Wait for it: the only wait of an iteration. The lock is given up for as
 * long. */
static autocast_status
await_answer(autocast_group *group, const struct ac_scaler_place *home)
{
	autocast_scaler *const scaler = group->scaler;
	autocast_status status;

	group->is_busy = true;
	ac_lock_give(&scaler->lock);
	status = ac_scaler_wait(home);
	ac_lock_take(&scaler->lock);
	group->is_busy = false;
	return status;
}

/* What the host knows of this iteration. */
static void
note_answer(autocast_group *group, bool is_clean)
{
	autocast_scaler *const scaler = group->scaler;

	if (is_clean)
		scaler->steps++;
	else
		scaler->skips++;
	ac_tally_answer(scaler, is_clean);
	if (scaler->told_epoch != scaler->core.epoch) {
		scaler->told_epoch = scaler->core.epoch;
		scaler->told = group->answer->state;
		scaler->told.found = 0;
	}
	scaler->told.found |= !is_clean;
}

static autocast_status
ask_device(autocast_group *group, const struct ac_scaler_place *place,
    int *clean_out)
{
	autocast_scaler *const scaler = group->scaler;
	struct ac_scaler_place home;
	autocast_status status = AUTOCAST_OK, asked = AUTOCAST_OK;

	if (place->is_capturing)
		return ac_status_fail(AUTOCAST_E_CAPTURE, "a stream that "
		    "captures gives no answer: autocast_scaler_step_async()");
	asked = check_once(group, place, true);
	if (asked && asked != AUTOCAST_E_CALLBACK)
		return asked;
	status = ac_scaler_enter_at(place, &scaler->device[0], &home);
	if (status)
		return status;
	status = queue_answer(group, &home);
	if (!status)
		status = await_answer(group, &home);
	ac_scaler_leave(&home);
	if (status)
		return status;
	*clean_out = group->answer->words.found_inf == 0;
	note_answer(group, *clean_out);
	ac_core_stepped(&scaler->core, &group->core);
	return asked;
}

/* ---- The device's flag -------------------------------------------------- */

static autocast_status
queue_step(autocast_group *group, const struct ac_scaler_place *place)
{
	autocast_scaler *const scaler = group->scaler;
	autocast_status status = check_once(group, place, false);

	if (status && status != AUTOCAST_E_CALLBACK)
		return status;
	for (int i = 0; i < group->part_count; i++) {
		const autocast_status waited = ac_part_wait(
		    &group->part[i], place);

		if (waited)
			return waited;
	}
	ac_core_stepped(&scaler->core, &group->core);
	return status;
}

/* ---- Either ------------------------------------------------------------- */

/* Without `clean_out` the device alone is told. */
static autocast_status
decide(autocast_group *group, ac_cu_stream stream, int *clean_out)
{
	autocast_scaler *const scaler = group->scaler;
	struct ac_scaler_place place;
	autocast_status status = ac_group_enter(group);

	if (!status)
		status = ac_core_may_step(&scaler->core, &group->core,
		    clean_out != NULL, ac_group_has_gradients(group),
		    group->has_fp16);
	if (!status)
		status = ac_scaler_enter(scaler, stream, &place);
	if (status)
		return status;
	status = clean_out ? ask_device(group, &place, clean_out)
	    : queue_step(group, &place);
	ac_scaler_leave(&place);
	return status;
}

/* Not under the lock, nor is the group taken: a step may well use it. */
static autocast_status
call_back(autocast_group *group, int (*apply)(void *user), void *user)
{
	const int failed = apply(user);

	if (!failed)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_CALLBACK,
	    "the step of %s returned %d", group->name, failed);
}

autocast_status
autocast_scaler_step(autocast_scaler *scaler, autocast_group *group,
    int (*apply)(void *user), void *user, int *stepped_out,
    struct CUstream_st *stream)
{
	autocast_status status = ac_group_check_owner(scaler, group);
	int is_clean = 1;

	if (status)
		return status;
	if (scaler->core.enabled) {
		ac_lock_take(&scaler->lock);
		status = decide(group, stream, &is_clean);
		ac_lock_give(&scaler->lock);
	}
	if (status && status != AUTOCAST_E_CALLBACK)
		return status;
	if (stepped_out)
		*stepped_out = is_clean;
	if (is_clean && apply && !status)
		status = call_back(group, apply, user);
	return status;
}

autocast_status
autocast_scaler_step_async(autocast_scaler *scaler, autocast_group *group,
    struct CUstream_st *stream)
{
	autocast_status status = ac_group_check_owner(scaler, group);

	if (status || !scaler->core.enabled)
		return status;
	ac_lock_take(&scaler->lock);
	status = decide(group, stream, NULL);
	ac_lock_give(&scaler->lock);
	return status;
}

/* ---- Guarded sums ------------------------------------------------------- */

/* y and x as kernels take them. */
static autocast_status
read_sum(autocast_scaler *scaler, const struct ac_scaler_place *place,
    const autocast_tensor *x, const autocast_tensor *y,
    struct ac_scaler_sum *sum_out)
{
	const autocast_tensor list[2] = { *x, *y };
	struct ac_scaler_tensor tensors[2];
	struct ac_scaler_device *devices[2];
	autocast_status status;

	if (x->count != y->count)
		return ac_status_fail(AUTOCAST_E_INVALID, "x has %zu elements "
		    "and y %zu", x->count, y->count);
	status = ac_tensors_read(scaler, "tensor", list, 0, 2, tensors,
	    devices);
	if (status)
		return status;
	if (!(y->dtype == AUTOCAST_F32 && x->dtype != AUTOCAST_F64)
	    && !(y->dtype == AUTOCAST_F64 && x->dtype == AUTOCAST_F64))
		return ac_status_fail(AUTOCAST_E_DTYPE, "y must be FP32, or "
		    "FP64 as x is");
	if ((devices[0] && devices[0] != place->device)
	    || (devices[1] && devices[1] != place->device))
		return ac_status_fail(AUTOCAST_E_DEVICE,
		    "x and y must be on the stream's device");
	sum_out->x = x->data;
	sum_out->y = y->data;
	sum_out->count = x->count;
	sum_out->x_dtype = (uint32_t)x->dtype;
	sum_out->y_dtype = (uint32_t)y->dtype;
	return AUTOCAST_OK;
}

static autocast_status
check_alpha(const struct ac_scaler_place *place, const float *alpha_device)
{
	const autocast_tensor alpha = {
		(void *)(uintptr_t)alpha_device, alpha_device != NULL,
		AUTOCAST_F32, AUTOCAST_DEVICE_ANY, "alpha"
	};
	struct ac_scaler_tensor unused;
	struct ac_scaler_device *device;
	autocast_status status = ac_tensors_read(place->scaler, "scalar",
	    &alpha, 0, 1, &unused, &device);

	if (status || !device || device == place->device)
		return status;
	return ac_status_fail(AUTOCAST_E_DEVICE,
	    "alpha must be on the stream's device");
}

/* It is the scale, or one divided by it: a later update must wait. */
static bool
is_of_state(const struct ac_scaler_place *place, const float *alpha)
{
	const struct ac_scaler_state *const state = place->device->state;

	return alpha == &state->scale || alpha == &state->inverse;
}

static autocast_status
add(autocast_group *group, const struct ac_scaler_place *place,
    struct ac_scaler_sum *sum, bool reads_state)
{
	struct ac_part *part = NULL;
	autocast_status status = AUTOCAST_OK;

	for (int i = 0; i < group->part_count; i++)
		if (group->part[i].device == place->device)
			part = &group->part[i];
	if (group->scaler->core.enabled && !part)
		return ac_status_fail(AUTOCAST_E_DEVICE, "%s has no flag on "
		    "device %d", group->name, place->device->number);
	if (group->scaler->core.enabled)
		sum->found_inf = &part->pass.words->found_inf;
	if (part)
		status = ac_part_wait(part, place);
	if (!status && reads_state)
		status = ac_order_read(place);
	if (!status && sum->count)
		status = ac_kernels_failed(ac_scaler_guarded_sum(sum,
		    place->stream));
	if (!status && part)
		status = ac_mark_set(&part->mark, place);
	if (!status && reads_state)
		status = ac_order_has_read(place);
	return status;
}

autocast_status
autocast_scaler_axpy(autocast_scaler *scaler, autocast_group *group,
    float alpha, const float *alpha_device, const autocast_tensor *x,
    const autocast_tensor *y, struct CUstream_st *stream)
{
	struct ac_scaler_sum sum = { .alpha = { alpha, 0, alpha_device } };
	struct ac_scaler_place place;
	autocast_status status = ac_group_check_owner(scaler, group);

	if (!status && (!x || !y))
		status = ac_status_fail(AUTOCAST_E_INVALID, "%s is NULL",
		    x ? "y" : "x");
	if (status)
		return status;
	ac_lock_take(&scaler->lock);
	status = ac_group_enter(group);
	if (!status)
		status = ac_core_may_add(&scaler->core, &group->core);
	if (!status && !scaler->core.enabled)
		status = ac_scaler_prepare_stream(scaler, stream);
	if (!status)
		status = ac_scaler_enter(scaler, stream, &place);
	if (!status) {
		status = read_sum(scaler, &place, x, y, &sum);
		if (!status)
			status = check_alpha(&place, alpha_device);
		if (!status)
			status = add(group, &place, &sum,
			    is_of_state(&place, alpha_device));
		ac_scaler_leave(&place);
	}
	ac_lock_give(&scaler->lock);
	return status;
}
