/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/group.c -- groups of gradients: their tables on devices. */
#include "scaler/scaler.h"

#include "api/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where things lie in the memory of a part. */
enum { FLAGS_AT = 64, SUMS_AT = 128, TABLE_AT = 256 };
_Static_assert(sizeof(struct ac_scaler_words) <= FLAGS_AT
    && FLAGS_AT + AC_SCALER_DEVICES * sizeof(float) <= SUMS_AT
    && SUMS_AT + AC_SCALER_DEVICES * sizeof(double) <= TABLE_AT, "room");

autocast_status
autocast_group_create(autocast_scaler *scaler, const char *name,
    autocast_group **group_out)
{
	autocast_group *group;

	if (!scaler || !group_out)
		return ac_status_fail(AUTOCAST_E_INVALID, "%s is NULL",
		    scaler ? "group_out" : "scaler");
	group = calloc(1, sizeof *group);
	if (!group)
		return ac_status_fail(AUTOCAST_E_NO_MEMORY,
		    "no memory for a group");
	group->scaler = scaler;
	(void)snprintf(group->name, sizeof group->name, "%s",
	    name ? name : "the group");
	group->core.name = group->name;
	ac_lock_take(&scaler->lock);
	group->next = scaler->groups;
	scaler->groups = group;
	ac_lock_give(&scaler->lock);
	*group_out = group;
	return AUTOCAST_OK;
}

/* ---- Memory ------------------------------------------------------------- */

/* Memory that is in use yet is freed when the device is done with it. Host
 * memory, too, wants a context to be current. */
static void
release_parts(autocast_scaler *scaler, struct ac_part *parts, int count)
{
	const struct ac_driver *const driver = scaler->driver;
	ac_cu_context popped;
	int mode;

	if (!count || !ac_capture_relax(driver, &mode))
		return;
	for (int i = 0; i < count; i++) {
		if (!parts[i].device || driver->cuCtxPushCurrent(
		    parts[i].device->context))
			continue;
		ac_mark_destroy(driver, &parts[i].mark);
		if (parts[i].memory)
			(void)driver->cuMemFree(parts[i].memory);
		if (parts[i].host)
			(void)driver->cuMemFreeHost(parts[i].host);
		(void)driver->cuCtxPopCurrent(&popped);
	}
	ac_capture_restore(driver, mode);
}

void
autocast_group_destroy(autocast_group *group)
{
	autocast_group **link;

	if (!group)
		return;
	ac_lock_take(&group->scaler->lock);
	for (link = &group->scaler->groups; *link != group;
	    link = &(*link)->next)
		;
	*link = group->next;
	release_parts(group->scaler, group->part, group->part_count);
	release_parts(group->scaler, group->spare, group->spare_count);
	ac_lock_give(&group->scaler->lock);
	free(group);
}

/* ---- Setting the gradients ---------------------------------------------- */

/* What is being made: it replaces the group's when all of it is there. */
struct draft {
	struct ac_scaler_tensor   *tensors; /* as given, */
	struct ac_scaler_device  **devices; /* where each is */
	struct ac_scaler_tensor   *sorted;  /* those of one device */
	size_t count;
	autocast_group *group;
	struct ac_part part[AC_SCALER_DEVICES];
	int    part_count;
};

/* Take the memory of the list before the last, if it is on that device and has
 * the room: when the device is done with what its last call still reads. */
static bool
take_spare(struct draft *draft, const struct ac_scaler_place *place,
    size_t room, struct ac_part *part)
{
	autocast_group *const group = draft->group;

	for (int i = 0; i < group->spare_count; i++) {
		struct ac_part *const spare = &group->spare[i];

		if (spare->device != place->device || spare->room < room
		    || place->scaler->driver->cuEventSynchronize(
		    spare->mark.live.event))
			continue;
		*part = *spare;
		part->is_seen = false;
		spare->device = NULL;
		return true;
	}
	return false;
}

/* The part's device, memory on it, as much on the host, and a mark. */
static autocast_status
make_room(struct draft *draft, const struct ac_scaler_place *place,
    size_t room, struct ac_part *part)
{
	const struct ac_driver *const driver = place->scaler->driver;
	autocast_status status;

	if (take_spare(draft, place, room, part))
		return AUTOCAST_OK;
	part->device = place->device;
	part->room = room;
	part->is_seen = true;
	status = ac_memory_take(place, room, &part->memory);
	if (!status)
		status = AC_CUDA(driver, cuMemHostAlloc, &part->host,
		    sizeof(struct ac_group_answer) + room,
		    AC_CU_HOST_REGISTER_PORTABLE);
	return status ? status : ac_mark_create(driver, &part->mark);
}

static void
point_into(struct ac_part *part, size_t table)
{
	const uintptr_t memory = (uintptr_t)part->memory;

	part->pass.state = part->device->state;
	part->pass.words = (struct ac_scaler_words *)memory;
	part->flags = (float *)(memory + FLAGS_AT);
	part->sums = (double *)(memory + SUMS_AT);
	part->pass.tensors = (struct ac_scaler_tensor *)(memory + TABLE_AT);
	part->pass.partials = (double *)(memory + TABLE_AT + table);
}

/* Words and table, from host memory, behind all that reads what was there. Who
 * has waited for memory waits for that too: captures need not, then. */
static autocast_status
fill(const struct draft *draft, const struct ac_scaler_place *place,
    size_t table, struct ac_part *part)
{
	struct ac_group_answer *const answer = part->host;
	char *const image = (char *)(answer + 1);
	autocast_status status = ac_order_write(place->device, place);

	memset(part->host, 0, sizeof *answer + TABLE_AT);
	memcpy(image + TABLE_AT, draft->sorted, table);
	if (!status)
		status = AC_CUDA(place->scaler->driver, cuMemcpyHtoDAsync,
		    part->memory, image, TABLE_AT + table, place->stream);
	if (!status)
		status = ac_mark_set(&part->mark, place);
	return status || !part->is_seen ? status : ac_scaler_wait(place);
}

/* The part's table, words and room for norms, in one allocation. One sum more:
 * where there is nothing the addresses of it would be the memory's end, which
 * may be another device's. */
static autocast_status
fill_part(struct draft *draft, size_t count,
    const struct ac_scaler_place *place, struct ac_part *part)
{
	const uint64_t chunks = ac_scaler_number_chunks(draft->sorted, count);
	const size_t table = count * sizeof *draft->sorted;
	autocast_status status = make_room(draft, place, TABLE_AT + table
	    + (chunks + 1) * sizeof(double), part);

	if (status)
		return status;
	part->pass.tensor_count = count;
	part->pass.chunk_count = chunks;
	point_into(part, table);
	return fill(draft, place, table, part);
}

static autocast_status
make_part(struct draft *draft, const struct ac_scaler_place *place,
    struct ac_scaler_device *device)
{
	struct ac_part *const part = &draft->part[draft->part_count];
	struct ac_scaler_place there;
	size_t count = 0;
	autocast_status status;

	for (size_t i = 0; i < draft->count; i++)
		if (draft->devices[i] == device)
			draft->sorted[count++] = draft->tensors[i];
	if (!count && draft->part_count)
		return AUTOCAST_OK;     /* the first device always has one */
	status = ac_scaler_enter_at(place, device, &there);
	if (status)
		return status;
	draft->part_count++;
	status = fill_part(draft, count, &there, part);
	if (there.device != place->device)
		ac_scaler_leave(&there);
	return status;
}

static autocast_status
make_parts(const struct ac_scaler_place *place, struct draft *draft)
{
	autocast_scaler *const scaler = place->scaler;
	int mode = AC_CU_CAPTURE_RELAXED;
	autocast_status status;

	if (place->is_capturing)
		return ac_status_fail(AUTOCAST_E_CAPTURE, "gradients cannot "
		    "be set while the stream captures");
	status = AC_CUDA(scaler->driver, cuThreadExchangeStreamCaptureMode,
	    &mode);
	if (status)
		return status;
	for (int i = 0; i < scaler->device_count && !status; i++)
		status = make_part(draft, place, &scaler->device[i]);
	(void)scaler->driver->cuThreadExchangeStreamCaptureMode(&mode);
	return status;
}

/* At the first device: a thread that has no context may ask nothing. */
static autocast_status
fill_draft(autocast_scaler *scaler, const autocast_tensor *gradients,
    struct draft *draft)
{
	struct ac_scaler_place place;
	autocast_status status = ac_scaler_enter_first(scaler, &place);

	if (status)
		return status;
	status = ac_tensors_read(scaler, "gradient", gradients, 0,
	    draft->count, draft->tensors, draft->devices);
	if (!status)
		status = ac_tensors_check_apart("gradient", gradients,
		    draft->count);
	if (!status)
		status = make_parts(&place, draft);
	ac_scaler_leave(&place);
	return status;
}

static autocast_status
make_draft(autocast_scaler *scaler, const autocast_tensor *gradients,
    struct draft *draft)
{
	const size_t count = draft->count;

	draft->tensors = calloc(count + 1, sizeof *draft->tensors);
	draft->sorted = calloc(count + 1, sizeof *draft->sorted);
	draft->devices = calloc(count + 1, sizeof(void *));
	if (!draft->tensors || !draft->sorted || !draft->devices)
		return ac_status_fail(AUTOCAST_E_NO_MEMORY,
		    "no memory for a list of %zu tensors", count);
	return fill_draft(scaler, gradients, draft);
}

static void
adopt(autocast_group *group, struct draft *draft)
{
	release_parts(group->scaler, group->spare, group->spare_count);
	ac_core_replaced(&group->scaler->core, &group->core);
	memcpy(group->spare, group->part, sizeof group->spare);
	group->spare_count = group->part_count;
	memcpy(group->part, draft->part, sizeof group->part);
	group->part_count = draft->part_count;
	group->answer = group->part[0].host;
	group->has_tensors = draft->count > 0;
	group->has_fp16 = false;
	for (size_t i = 0; i < draft->count; i++)
		if (draft->tensors[i].dtype == AC_SCALER_F16)
			group->has_fp16 = true;
}

/* Seldom, and waits for the device where it has to: compiled for size. */
__attribute__((cold))
static autocast_status
set_gradients(autocast_group *group, const autocast_tensor *gradients,
    size_t count)
{
	autocast_scaler *const scaler = group->scaler;
	struct draft draft = { .count = count, .group = group };
	autocast_status status;

	if (!scaler->device_count && !scaler->core.enabled)
		return AUTOCAST_OK;     /* nor will there be anything to do */
	if (!scaler->device_count)
		return ac_status_fail(AUTOCAST_E_DEVICE, "no device was "
		    "prepared: autocast_scaler_prepare() comes first");
	if (group->is_busy
	    || !ac_core_is_unused(&scaler->core, &group->core))
		return ac_status_fail(AUTOCAST_E_BUSY, "%s was unscaled or "
		    "stepped: autocast_scaler_update() or _update_to() comes "
		    "first", group->name);
	status = make_draft(scaler, gradients, &draft);
	if (!status)
		adopt(group, &draft);
	else
		release_parts(scaler, draft.part, draft.part_count);
	free(draft.tensors);
	free(draft.sorted);
	free(draft.devices);
	return status;
}

autocast_status
autocast_group_set_gradients(autocast_group *group,
    const autocast_tensor *gradients, size_t count)
{
	autocast_status status;

	if (!group || (count && !gradients))
		return ac_status_fail(AUTOCAST_E_INVALID, "%s is NULL",
		    group ? "gradients" : "group");
	if (count > SIZE_MAX / 2 / sizeof *gradients)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "%zu gradients are more than memory has", count);
	ac_lock_take(&group->scaler->lock);
	status = set_gradients(group, gradients, count);
	ac_lock_give(&group->scaler->lock);
	return status;
}

autocast_status
autocast_group_pointers(const autocast_group *group, int device,
    const float **grad_scale_out, const float **found_inf_out)
{
	autocast_status status = AUTOCAST_OK;

	if (!group || !grad_scale_out || !found_inf_out)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "an argument is NULL");
	if (!group->scaler->core.enabled) {
		*grad_scale_out = *found_inf_out = NULL;
		return AUTOCAST_OK;
	}
	ac_lock_take(&group->scaler->lock);
	for (int i = 0; i < group->part_count; i++) {
		if (group->part[i].device->number != device)
			continue;
		*grad_scale_out = &group->part[i].pass.words->grad_scale;
		*found_inf_out = &group->part[i].pass.words->found_inf;
		goto out;
	}
	status = ac_status_fail(AUTOCAST_E_DEVICE,
	    "%s has no gradients on device %d", group->name, device);
out:
	ac_lock_give(&group->scaler->lock);
	return status;
}
