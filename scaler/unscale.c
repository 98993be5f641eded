/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/unscale.c -- looks at a group's gradients and unscales them.
 *
 * On one device without a reduce hook that is one launch. Otherwise each device
 * looks at its own part; the flags meet on the first one, where the hook is
 * asked, and the result goes back to all. */
#include "scaler/scaler.h"

#include "api/status.h"

bool
ac_group_has_gradients(const autocast_group *group)
{
	return group->part_count && (group->has_tensors
	    || group->scaler->reduce);
}

autocast_status
ac_group_check_owner(const autocast_scaler *scaler, const autocast_group *group)
{
	if (!scaler || !group)
		return ac_status_fail(AUTOCAST_E_INVALID, "%s is NULL",
		    scaler ? "group" : "scaler");
	if (group->scaler != scaler)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "%s is not a group of this scaler", group->name);
	return AUTOCAST_OK;
}

autocast_status
ac_group_enter(autocast_group *group)
{
	if (!group->is_busy)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_BUSY,
	    "another call for %s is in progress", group->name);
}

autocast_status
ac_groups_check_idle(const autocast_scaler *scaler)
{
	autocast_status status = AUTOCAST_OK;

	for (autocast_group *g = scaler->groups; g && !status; g = g->next)
		status = ac_group_enter(g);
	return status;
}

/* ---- Between devices ---------------------------------------------------- */

autocast_status
ac_part_copy(const struct ac_scaler_place *home,
    const struct ac_scaler_device *to, void *to_address,
    const struct ac_scaler_device *from, const void *from_address, size_t bytes)
{
	return AC_CUDA(home->scaler->driver, cuMemcpyPeerAsync,
	    (ac_cu_address)(uintptr_t)to_address, to->context,
	    (ac_cu_address)(uintptr_t)from_address, from->context, bytes,
	    home->stream);
}

static autocast_status
at_part(struct ac_part *part, const struct ac_scaler_place *there,
    ac_part_work work, uint32_t argument)
{
	autocast_status status = ac_order_read(there);

	if (!status)
		status = ac_part_wait(part, there);
	if (!status)
		status = work(part, there, argument);
	if (!status)
		status = ac_mark_set(&part->mark, there);
	return status ? status : ac_order_has_read(there);
}

autocast_status
ac_parts_try(const autocast_group *group, const struct ac_scaler_place *place)
{
	autocast_status status = AUTOCAST_OK;

	for (int i = 0; i < group->part_count && !status; i++)
		status = ac_scaler_try_at(place, group->part[i].device);
	return status;
}

autocast_status
ac_parts_work(autocast_group *group, const struct ac_scaler_place *place,
    const struct ac_scaler_place *home, ac_part_work work, uint32_t argument,
    bool *begun_out)
{
	autocast_status status = AUTOCAST_OK;

	for (int i = 0; i < group->part_count && !status; i++) {
		struct ac_part *const part = &group->part[i];
		struct ac_scaler_place there;

		status = ac_scaler_enter_at(place, part->device, &there);
		if (status)
			return status;
		status = ac_order_after(place, &there);
		if (!status)
			status = at_part(part, &there, work, argument);
		if (!status && begun_out)
			*begun_out = true;
		if (!status)
			status = ac_order_after(&there, home);
		ac_scaler_leave(&there);
	}
	return status;
}

autocast_status
ac_parts_join(autocast_group *group, const struct ac_scaler_place *place,
    const struct ac_scaler_place *home)
{
	autocast_status status = AUTOCAST_OK;

	for (int i = 0; i < group->part_count && !status; i++) {
		struct ac_part *const part = &group->part[i];
		struct ac_scaler_place there;

		status = ac_scaler_enter_at(place, part->device, &there);
		if (status)
			return status;
		status = ac_order_after(home, &there);
		if (!status)
			status = ac_mark_set(&part->mark, &there);
		ac_scaler_leave(&there);
	}
	return status ? status : ac_order_after(home, place);
}

/* ---- Flags -------------------------------------------------------------- */

static autocast_status
look(const struct ac_part *part, const struct ac_scaler_place *there,
    uint32_t flags)
{
	struct ac_scaler_pass pass = part->pass;

	pass.flags = flags;
	return ac_kernels_failed(ac_scaler_unscale_pass(&pass, there->stream));
}

/* Ask the other processes. The lock is given up: they may take long, and the
 * program's function may call us. */
static autocast_status
reduce(autocast_group *group, const struct ac_scaler_place *home)
{
	autocast_scaler *const scaler = group->scaler;
	float *const flag = &group->part[0].pass.words->found_inf;
	const autocast_reduce hook = scaler->reduce;
	void *const user = scaler->reduce_user;
	ac_cu_context popped;
	autocast_status status;
	int failed;

	/* Whatever device it makes current, ours is beneath. */
	status = AC_CUDA(scaler->driver, cuCtxPushCurrent,
	    home->device->context);
	if (status)
		return status;
	group->is_busy = true;
	ac_lock_give(&scaler->lock);
	failed = hook(flag, home->device->number, home->stream, user);
	ac_lock_take(&scaler->lock);
	group->is_busy = false;
	(void)scaler->driver->cuCtxPopCurrent(&popped);
	if (!failed)
		return AUTOCAST_OK;
	(void)scaler->driver->cuMemsetD32Async((ac_cu_address)(uintptr_t)flag,
	    0x3f800000 /* 1.0 */, 1, home->stream);
	return ac_status_fail(AUTOCAST_E_CALLBACK, "the reduce hook returned "
	    "%d for %s: taken as an inf", failed, group->name);
}

/* Bring the flags together, on the first device. */
static autocast_status
gather(autocast_group *group, const struct ac_scaler_place *home)
{
	autocast_scaler *const scaler = group->scaler;
	const struct ac_part *const first = &group->part[0];
	struct ac_scaler_words *const words = first->pass.words;
	const uint64_t others = (uint64_t)group->part_count - 1;
	autocast_status status = AUTOCAST_OK, asked = AUTOCAST_OK;

	for (int i = 1; i < group->part_count && !status; i++)
		status = ac_part_copy(home, first->device, first->flags + i - 1,
		    group->part[i].device,
		    &group->part[i].pass.words->found_inf, sizeof(float));
	if (!status && scaler->reduce) {
		status = ac_kernels_failed(ac_scaler_fold(words, NULL,
		    first->flags, others, home->stream));
		if (!status)
			asked = reduce(group, home);
	}
	if (!status)
		status = ac_kernels_failed(ac_scaler_fold(words,
		    first->pass.state, first->flags, others, home->stream));
	for (int i = 1; i < group->part_count && !status; i++)
		status = ac_part_copy(home, group->part[i].device,
		    &group->part[i].pass.words->found_inf, first->device,
		    &words->found_inf, sizeof(float));
	return status ? status : asked;
}

/* False: not by this stream. */
static bool
spoil_by(autocast_scaler *scaler, struct ac_part *part, ac_cu_stream stream,
    bool has_found)
{
	enum { ONE = 0x3f800000 /* 1.0 */ };
	const struct ac_driver *const driver = scaler->driver;
	const struct ac_scaler_place there = {
		.scaler = scaler, .device = part->device, .stream = stream,
		.id = UINT64_MAX /* comes after whatever was queued */
	};
	int capturing = 0;

	if (driver->cuStreamIsCapturing(stream, &capturing) || capturing)
		return false;
	(void)ac_mark_wait(&part->mark, &there);
	if (driver->cuMemsetD32Async((ac_cu_address)(uintptr_t)
	    &part->pass.words->found_inf, ONE, 1, stream))
		return false;
	if (has_found && driver->cuMemsetD32Async((ac_cu_address)(uintptr_t)
	    &part->pass.state->found, 1, 1, stream))
		return false;
	return !ac_scaler_wait(&there);
}

void
ac_group_spoil(autocast_group *group, const struct ac_scaler_place *place)
{
	/* Nobody captures the thread's own by chance. */
	const ac_cu_stream own = (ac_cu_stream)(uintptr_t)2;
	const struct ac_driver *const driver = group->scaler->driver;
	ac_cu_context popped;
	int capturing = 0;

	/* Not so any more, if the program's function began to capture. */
	if (!driver->cuStreamIsCapturing(place->stream, &capturing)
	    && !capturing)
		(void)ac_scaler_wait(place);
	for (int i = 0; i < group->part_count; i++) {
		struct ac_part *const part = &group->part[i];

		if (driver->cuCtxPushCurrent(part->device->context))
			continue;
		if (!spoil_by(group->scaler, part, part->device->stream, !i))
			(void)spoil_by(group->scaler, part, own, !i);
		(void)driver->cuCtxPopCurrent(&popped);
	}
}

/* `*begun_out`: it is set when gradients may have been changed. */
static autocast_status
check_parts(autocast_group *group, const struct ac_scaler_place *place,
    uint32_t flags, bool *begun_out)
{
	struct ac_scaler_device *const first = &group->scaler->device[0];
	struct ac_scaler_place home;
	autocast_status status = ac_parts_try(group, place);
	autocast_status asked;

	if (!status)
		status = ac_scaler_enter_at(place, first, &home);
	if (status)
		return status;
	status = ac_parts_work(group, place, &home, look, flags, begun_out);
	if (!status)
		status = ac_order_read(&home);
	asked = status ? status : gather(group, &home);
	status = status || asked == AUTOCAST_E_CALLBACK ? status : asked;
	if (!status)
		status = ac_order_has_read(&home);
	if (!status)
		status = ac_parts_join(group, place, &home);
	ac_scaler_leave(&home);
	return status ? status : asked;
}

autocast_status
ac_group_check(autocast_group *group, const struct ac_scaler_place *place,
    bool divide)
{
	autocast_scaler *const scaler = group->scaler;
	uint32_t flags = divide ? 0 : AC_SCALER_PASS_CHECK_ONLY;
	const bool has_gradients = ac_group_has_gradients(group);
	bool begun = false;
	autocast_status status = AUTOCAST_OK;

	if (scaler->core.check_after)
		flags |= AC_SCALER_PASS_CHECK_AFTER;
	if (scaler->core.strict)
		flags |= AC_SCALER_PASS_STRICT;
	if (has_gradients && group->part_count == 1 && !scaler->reduce
	    && place->device == &scaler->device[0])
		status = at_part(&group->part[0], place, look,
		    flags | AC_SCALER_PASS_FOLD);
	else if (has_gradients)
		status = check_parts(group, place, flags, &begun);
	if (status && status != AUTOCAST_E_CALLBACK) {
		if (!begun || place->is_capturing)
			return status;
		ac_group_spoil(group, place);
	}
	group->is_captured = place->is_capturing;
	if (divide)
		ac_core_unscaled(&scaler->core, &group->core, has_gradients);
	else
		ac_core_checked(&scaler->core, &group->core, false);
	return status;
}

autocast_status
autocast_scaler_unscale(autocast_scaler *scaler, autocast_group *group,
    struct CUstream_st *stream)
{
	struct ac_scaler_place place;
	autocast_status status = ac_group_check_owner(scaler, group);

	if (status || !scaler->core.enabled)
		return status;
	ac_lock_take(&scaler->lock);
	status = ac_group_enter(group);
	if (!status)
		status = ac_core_may_unscale(&scaler->core, &group->core,
		    group->has_fp16);
	if (!status)
		status = ac_scaler_enter(scaler, stream, &place);
	if (!status) {
		status = ac_group_check(group, &place, true);
		ac_scaler_leave(&place);
	}
	ac_lock_give(&scaler->lock);
	return status;
}
