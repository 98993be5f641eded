/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/norm.c -- norms of a group's gradients, and clipping by them. Each
 * device sums up its own part; the first one closes the sum. */
#include "scaler/scaler.h"

#include "api/status.h"

#include <math.h>

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
    uint32_t p, float max_norm, float *norm_device)
{
	const struct ac_part *const first = &group->part[0];
	const double *sums = &first->pass.words->sum;
	autocast_status status = AUTOCAST_OK;

	if (group->part_count > 1)
		sums = first->sums;
	for (int i = 0; i < group->part_count && group->part_count > 1
	    && !status; i++)
		status = ac_part_copy(home, first->device, first->sums + i,
		    group->part[i].device, &group->part[i].pass.words->sum,
		    sizeof(double));
	return status ? status : ac_kernels_failed(ac_scaler_norm_close(
	    first->pass.words, sums, (uint64_t)group->part_count, p, max_norm,
	    norm_device, home->stream));
}

/* Norm, and clipping if `max_norm` is not negative. */
static autocast_status
norm(autocast_group *group, const struct ac_scaler_place *place, uint32_t p,
    float max_norm, float *norm_device)
{
	struct ac_scaler_device *const first = &group->scaler->device[0];
	const bool clips = max_norm >= 0;
	struct ac_scaler_place home;
	bool begun = false;
	autocast_status status = ac_parts_try(group, place);

	if (!status)
		status = ac_scaler_enter_at(place, first, &home);
	if (status)
		return status;
	/* Clipping is reported by the first device, not by the caller. */
	if (clips)
		status = ac_parts_try(group, &home);
	if (!status)
		status = ac_parts_work(group, place, &home, sum_up, p, NULL);
	if (!status)
		status = close_norm(group, &home, p, clips ? max_norm : 1,
		    norm_device);
	for (int i = 1; i < group->part_count && clips && !status; i++)
		status = ac_part_copy(&home, group->part[i].device,
		    &group->part[i].pass.words->coefficient, first,
		    &group->part[0].pass.words->coefficient,
		    sizeof(float) + sizeof(double)); /* both of them */
	if (!status && clips)
		status = ac_parts_work(group, &home, &home, clip, 0, &begun);
	if (!status)
		status = ac_parts_join(group, place, &home);
	ac_scaler_leave(&home);
	if (status && begun && !place->is_capturing)
		ac_group_spoil(group, place);
	return status;
}

/* What both calls check of the group. */
static autocast_status
may_norm(autocast_group *group)
{
	autocast_status status = ac_group_enter(group);

	if (!status)
		status = ac_core_may_clip(&group->scaler->core, &group->core);
	if (!status && !group->part_count)
		status = ac_status_fail(AUTOCAST_E_INVALID, "gradients of %s "
		    "were not set since a device was prepared: "
		    "autocast_scaler_prepare() comes first, then "
		    "autocast_group_set_gradients()", group->name);
	return status;
}

/* It must be memory of the first device, or NULL. */
static autocast_status
check_result(autocast_scaler *scaler, float *norm_device)
{
	const autocast_tensor result = {
		norm_device, norm_device != NULL, AUTOCAST_F32,
		scaler->device[0].number, "norm_device"
	};
	struct ac_scaler_tensor unused;

	return ac_tensors_read(scaler, "output", &result, 0, 1, &unused, NULL);
}

static autocast_status
norm_call(autocast_group *group, uint32_t p, float max_norm, float *norm_device,
    ac_cu_stream stream)
{
	struct ac_scaler_place place;
	autocast_status status;

	ac_lock_take(&group->scaler->lock);
	status = may_norm(group);
	if (!status)
		status = ac_scaler_enter(group->scaler, stream, &place);
	if (!status) {
		status = check_result(group->scaler, norm_device);
		if (!status)
			status = norm(group, &place, p, max_norm, norm_device);
		ac_scaler_leave(&place);
	}
	ac_lock_give(&group->scaler->lock);
	return status;
}

autocast_status
autocast_group_norm(autocast_group *group, double p, float *norm_device,
    struct CUstream_st *stream)
{
	if (!group || !norm_device)
		return ac_status_fail(AUTOCAST_E_INVALID, "%s is NULL",
		    group ? "norm_device" : "group");
	if (!(p == 1 || p == 2 || isinf(p)) || p < 0)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "p must be 1, 2 or INFINITY");
	return norm_call(group, isinf(p) ? 0 : (uint32_t)p, -1, norm_device,
	    stream);
}

autocast_status
autocast_group_clip(autocast_group *group, float max_norm, float *norm_device,
    struct CUstream_st *stream)
{
	if (!group)
		return ac_status_fail(AUTOCAST_E_INVALID, "group is NULL");
	if (!(max_norm >= 0))
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "max_norm must not be negative or NaN");
	return norm_call(group, 2, max_norm, norm_device, stream);
}
