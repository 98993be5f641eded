/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/unscale.c -- looks at a group's gradients, unscales and clips them.
 *
 * On one device without a reduce hook that is one launch. Otherwise each device
 * looks at its own part; the flags meet on the first one, where the hook is
 * asked, and the result goes back to all. */
#include "scaler/scaler.h"

#include "api/status.h"

#include <math.h>

bool
ac_group_has_gradients(const autocast_group *group)
{
	return group->part_count && (group->has_tensors
	    || group->scaler->reduce);
}

autocast_status
ac_group_enter(autocast_group *group)
{
	if (!group->is_busy)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_BUSY,
	    "another call for %s is in progress", group->name);
}

/* ---- Between devices ---------------------------------------------------- */

/* A word of a part's to or from the first device, in the order of `home`. */
static autocast_status
copy(const struct ac_scaler_place *home, const struct ac_scaler_device *to,
    void *to_address, const struct ac_scaler_device *from,
    const void *from_address, size_t bytes)
{
	return ac_cuda_status(home->scaler->driver->cuMemcpyPeerAsync(
	    (ac_cu_address)(uintptr_t)to_address, to->context,
	    (ac_cu_address)(uintptr_t)from_address, from->context, bytes,
	    home->stream), "cuMemcpyPeerAsync");
}

/* What is done to each part, at its place. */
typedef autocast_status (*part_work)(const struct ac_part *part,
    const struct ac_scaler_place *there, uint32_t argument);

static autocast_status
at_part(struct ac_part *part, const struct ac_scaler_place *there,
    part_work work, uint32_t argument)
{
	autocast_status status = ac_order_read(there);

	if (!status)
		status = ac_mark_wait(&part->mark, there);
	if (!status)
		status = work(part, there, argument);
	if (!status)
		status = ac_mark_set(&part->mark, there);
	return status ? status : ac_order_has_read(there);
}

/* The caller's stream on its own device, else what was prepared. */
static autocast_status
enter_part(const struct ac_part *part, const struct ac_scaler_place *place,
    const struct ac_scaler_place *home, struct ac_scaler_place *there_out)
{
	autocast_status status = ac_scaler_enter_at(home, part->device,
	    there_out);

	if (!status && part->device == place->device) {
		there_out->stream = place->stream;
		there_out->id = place->id;
	}
	return status;
}

/* All parts do their work where they are, after what `place` has queued; the
 * first device's stream goes on when all have. */
static autocast_status
at_parts(autocast_group *group, const struct ac_scaler_place *place,
    const struct ac_scaler_place *home, part_work work, uint32_t argument)
{
	autocast_status status = AUTOCAST_OK;

	for (int i = 0; i < group->part_count && !status; i++) {
		struct ac_part *const part = &group->part[i];
		struct ac_scaler_place there;

		status = enter_part(part, place, home, &there);
		if (status)
			return status;
		status = ac_order_after(place, &there);
		if (!status)
			status = at_part(part, &there, work, argument);
		if (!status)
			status = ac_order_after(&there, home);
		ac_scaler_leave(&there);
	}
	return status;
}

/* The other parts' streams, and the caller's, go on after `home`. */
static autocast_status
join(autocast_group *group, const struct ac_scaler_place *place,
    const struct ac_scaler_place *home)
{
	autocast_status status = AUTOCAST_OK;

	for (int i = 0; i < group->part_count && !status; i++) {
		struct ac_part *const part = &group->part[i];
		struct ac_scaler_place there;

		status = enter_part(part, place, home, &there);
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
	int failed;

	group->is_busy = true;
	ac_lock_give(&scaler->lock);
	failed = scaler->reduce(flag, home->device->number, home->stream,
	    scaler->reduce_user);
	ac_lock_take(&scaler->lock);
	group->is_busy = false;
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
		status = copy(home, first->device, first->flags + i - 1,
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
		status = copy(home, group->part[i].device,
		    &group->part[i].pass.words->found_inf, first->device,
		    &words->found_inf, sizeof(float));
	return status ? status : asked;
}

static autocast_status
check_parts(autocast_group *group, const struct ac_scaler_place *place,
    uint32_t flags)
{
	struct ac_scaler_device *const first = &group->scaler->device[0];
	struct ac_scaler_place home;
	autocast_status status = ac_scaler_enter_at(place, first, &home);
	autocast_status asked;

	if (status)
		return status;
	status = at_parts(group, place, &home, look, flags);
	if (!status)
		status = ac_order_read(&home);
	asked = status ? status : gather(group, &home);
	status = status || asked == AUTOCAST_E_CALLBACK ? status : asked;
	if (!status)
		status = ac_order_has_read(&home);
	if (!status)
		status = join(group, place, &home);
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
	autocast_status status = AUTOCAST_OK;

	if (scaler->core.check_after)
		flags |= AC_SCALER_PASS_CHECK_AFTER;
	if (has_gradients && group->part_count == 1 && !scaler->reduce
	    && place->device == &scaler->device[0])
		status = at_part(&group->part[0], place, look,
		    flags | AC_SCALER_PASS_FOLD);
	else if (has_gradients)
		status = check_parts(group, place, flags);
	if (status && status != AUTOCAST_E_CALLBACK)
		return status;
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
	autocast_status status;

	if (!scaler || !group || group->scaler != scaler)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "the group is not one of this scaler");
	if (!scaler->core.enabled)
		return AUTOCAST_OK;
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

/* ---- Norms -------------------------------------------------------------- */

static autocast_status
sum_up(const struct ac_part *part, const struct ac_scaler_place *there,
    uint32_t p)
{
	return ac_kernels_failed(ac_scaler_norm_pass(&part->pass, p,
	    there->stream));
}

static autocast_status
clip(const struct ac_part *part, const struct ac_scaler_place *there,
    uint32_t unused)
{
	(void)unused;
	return ac_kernels_failed(ac_scaler_clip_pass(&part->pass,
	    there->stream));
}

/* The norm of all parts and what follows from it, in the first one's words. */
static autocast_status
close_norm(autocast_group *group, const struct ac_scaler_place *home,
    uint32_t p, float max_norm, float *norm_out)
{
	const struct ac_part *const first = &group->part[0];
	const double *sums = &first->pass.words->sum;
	autocast_status status = AUTOCAST_OK;

	if (group->part_count > 1)
		sums = first->sums;
	for (int i = 0; i < group->part_count && group->part_count > 1
	    && !status; i++)
		status = copy(home, first->device, first->sums + i,
		    group->part[i].device, &group->part[i].pass.words->sum,
		    sizeof(double));
	return status ? status : ac_kernels_failed(ac_scaler_norm_close(
	    first->pass.words, sums, (uint64_t)group->part_count, p, max_norm,
	    norm_out, home->stream));
}

/* Norm, and clipping if `max_norm` is not negative. */
static autocast_status
norm(autocast_group *group, const struct ac_scaler_place *place, uint32_t p,
    float max_norm, float *norm_out)
{
	struct ac_scaler_device *const first = &group->scaler->device[0];
	const bool clips = max_norm >= 0;
	struct ac_scaler_place home;
	autocast_status status = ac_scaler_enter_at(place, first, &home);

	if (status)
		return status;
	status = at_parts(group, place, &home, sum_up, p);
	if (!status)
		status = close_norm(group, &home, p, clips ? max_norm : 1,
		    norm_out);
	for (int i = 1; i < group->part_count && clips && !status; i++)
		status = copy(&home, group->part[i].device,
		    &group->part[i].pass.words->coefficient, first,
		    &group->part[0].pass.words->coefficient, sizeof(float));
	if (!status && clips)
		status = at_parts(group, &home, &home, clip, 0);
	if (!status)
		status = join(group, place, &home);
	ac_scaler_leave(&home);
	return status;
}

/* What both calls check; `norm_out` must be memory of the first device. */
static autocast_status
may_norm(autocast_group *group, const float *norm_out)
{
	autocast_scaler *const scaler = group->scaler;
	const autocast_tensor result = {
		(void *)(uintptr_t)norm_out, norm_out != NULL, AUTOCAST_F32,
		scaler->device_count ? scaler->device[0].number : 0, "norm_out"
	};
	struct ac_scaler_tensor unused;
	autocast_status status = ac_group_enter(group);

	if (!status)
		status = ac_core_may_clip(&scaler->core, &group->core);
	if (!status && !group->part_count)
		status = ac_status_fail(AUTOCAST_E_INVALID,
		    "gradients of %s were never set", group->name);
	return status ? status : ac_tensors_read(scaler, "output", &result, 1,
	    &unused, NULL);
}

static autocast_status
norm_call(autocast_group *group, uint32_t p, float max_norm, float *norm_out,
    ac_cu_stream stream)
{
	struct ac_scaler_place place;
	autocast_status status;

	ac_lock_take(&group->scaler->lock);
	status = may_norm(group, norm_out);
	if (!status)
		status = ac_scaler_enter(group->scaler, stream, &place);
	if (!status) {
		status = norm(group, &place, p, max_norm, norm_out);
		ac_scaler_leave(&place);
	}
	ac_lock_give(&group->scaler->lock);
	return status;
}

autocast_status
autocast_group_norm(autocast_group *group, double p, float *norm_out,
    struct CUstream_st *stream)
{
	if (!group || !norm_out)
		return ac_status_fail(AUTOCAST_E_INVALID, "%s is NULL",
		    group ? "norm_out" : "group");
	if (!(p == 1 || p == 2 || isinf(p)) || p < 0)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "p must be 1, 2 or INFINITY");
	return norm_call(group, isinf(p) ? 0 : (uint32_t)p, -1, norm_out,
	    stream);
}

autocast_status
autocast_group_clip(autocast_group *group, float max_norm, float *norm_out,
    struct CUstream_st *stream)
{
	if (!group)
		return ac_status_fail(AUTOCAST_E_INVALID, "group is NULL");
	if (!(max_norm >= 0))
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "max_norm must not be negative or NaN");
	return norm_call(group, 2, max_norm, norm_out, stream);
}
