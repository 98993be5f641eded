/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/tensor.c -- checks what a program says is a tensor, by asking the
 * driver about its memory, and names it in messages. */
#include "scaler/scaler.h"

#include "api/status.h"

#include <stdio.h>
#include <stdlib.h>

/* CUpointer_attribute, CUmemorytype */
enum { MEMORY_TYPE = 2, DEVICE_ORDINAL = 9, RANGE_START = 11, RANGE_SIZE = 12,
	TYPE_DEVICE = 2 };

/* Lists up to this long are looked at without host memory. */
enum { FEW = 96 };

_Static_assert((int)AUTOCAST_F32 == (int)AC_SCALER_F32
    && (int)AUTOCAST_F64 == (int)AC_SCALER_F64
    && (int)AUTOCAST_F16 == (int)AC_SCALER_F16
    && (int)AUTOCAST_BF16 == (int)AC_SCALER_BF16, "one numbering");

static const unsigned element_bytes[AUTOCAST_DTYPE_COUNT] = {
	[AUTOCAST_F32] = 4, [AUTOCAST_F64] = 8,
	[AUTOCAST_F16] = 2, [AUTOCAST_BF16] = 2
};

/* The name of a tensor, for messages. */
struct label {
	char text[96];
};

static struct label
label_of(const char *what, const autocast_tensor *tensor, size_t index)
{
	struct label label;

	if (tensor->name)
		(void)snprintf(label.text, sizeof label.text,
		    "%s %zu ('%.40s')", what, index, tensor->name);
	else
		(void)snprintf(label.text, sizeof label.text, "%s %zu", what,
		    index);
	return label;
}

static autocast_status
check_shape(const autocast_tensor *tensor, const char *label)
{
	const unsigned bytes = element_bytes[tensor->dtype];

	if (tensor->count > SIZE_MAX / 2 / bytes)
		return ac_status_fail(AUTOCAST_E_INVALID,
		    "%s: %zu elements are more than memory has", label,
		    tensor->count);
	if (!tensor->data)
		return ac_status_fail(AUTOCAST_E_POINTER,
		    "%s: the pointer is NULL", label);
	if ((uintptr_t)tensor->data % bytes)
		return ac_status_fail(AUTOCAST_E_POINTER,
		    "%s: %p is not aligned to %u bytes", label, tensor->data,
		    bytes);
	return AUTOCAST_OK;
}

/* ---- Where memory is ---------------------------------------------------- */

static int
compare(const void *a, const void *b)
{
	const autocast_tensor *const one = *(autocast_tensor *const *)a;
	const autocast_tensor *const other = *(autocast_tensor *const *)b;
	const uintptr_t from = (uintptr_t)one->data;
	const uintptr_t to = (uintptr_t)other->data;

	if (from != to)
		return from < to ? -1 : 1;
	return one < other ? -1 : one > other;
}

/* What the driver knows as one piece. Managed memory is on the device that it
 * was made on. */
struct memory {
	uintptr_t from, to;
	int       number;       /* of its device; negative: of none */
};

/* The devices of a tensor's first and last element. */
struct found {
	int first, last;
};

/* What is at `address`, unless `memory` is that: tensors by the thousand share
 * one allocation. */
static autocast_status
ask(const struct ac_driver *driver, uintptr_t address, struct memory *memory)
{
	int asked[] = { MEMORY_TYPE, DEVICE_ORDINAL, RANGE_START, RANGE_SIZE };
	ac_cu_address from = 0;
	unsigned type = 0;
	size_t bytes = 0;
	int number = -1;
	void *answers[] = { &type, &number, &from, &bytes };
	int failed;

	if (address >= memory->from && address < memory->to)
		return AUTOCAST_OK;
	failed = driver->cuPointerGetAttributes(4, asked, answers, address);
	if (!failed)
		*memory = (struct memory){ (uintptr_t)from,
			(uintptr_t)from + bytes,
			type == TYPE_DEVICE ? number : -1 };
	return ac_cuda_status(failed, "cuPointerGetAttributes");
}

static uintptr_t
last_element(const autocast_tensor *tensor)
{
	return (uintptr_t)tensor->data
	    + (tensor->count - 1) * element_bytes[tensor->dtype];
}

/* By address, so that no allocation is asked about twice. */
static autocast_status
find(const struct ac_driver *driver, const autocast_tensor *list, size_t count,
    const autocast_tensor **sorted, struct found *found_out)
{
	struct memory memory = { 0, 0, -1 };
	size_t used = 0;
	autocast_status status = AUTOCAST_OK;

	for (size_t i = 0; i < count; i++)
		if (list[i].count && list[i].data && list[i].dtype >= 0
		    && list[i].dtype < AUTOCAST_DTYPE_COUNT)
			sorted[used++] = &list[i];
	qsort(sorted, used, sizeof *sorted, compare);
	for (size_t i = 0; i < used && !status; i++) {
		struct found *const found = &found_out[sorted[i] - list];

		status = ask(driver, (uintptr_t)sorted[i]->data, &memory);
		found->first = memory.number;
		if (!status)
			status = ask(driver, last_element(sorted[i]), &memory);
		found->last = memory.number;
	}
	return status;
}

/* As far as the driver can tell. */
static autocast_status
check_memory(const autocast_tensor *tensor, const char *label,
    const struct found *found)
{
	if (found->first < 0)
		return ac_status_fail(AUTOCAST_E_POINTER,
		    "%s: %p is no device memory", label, tensor->data);
	if (found->last != found->first)
		return ac_status_fail(AUTOCAST_E_POINTER,
		    "%s: its %zu elements end past its memory", label,
		    tensor->count);
	if (tensor->device != AUTOCAST_DEVICE_ANY
	    && tensor->device != found->first)
		return ac_status_fail(AUTOCAST_E_POINTER,
		    "%s: %p is on device %d, not on device %d", label,
		    tensor->data, found->first, tensor->device);
	return AUTOCAST_OK;
}

/* ---- Lists -------------------------------------------------------------- */

static autocast_status
check(autocast_scaler *scaler, const char *what, const autocast_tensor *tensor,
    size_t index, const struct found *found,
    struct ac_scaler_device **device_out)
{
	const struct label label = label_of(what, tensor, index);
	int number = tensor->device;
	struct ac_scaler_device *device;
	autocast_status status = AUTOCAST_OK;

	if (tensor->dtype < 0 || tensor->dtype >= AUTOCAST_DTYPE_COUNT)
		return ac_status_fail(AUTOCAST_E_DTYPE,
		    "%s: %d is no data type", label.text, tensor->dtype);
	if (tensor->count) {
		status = check_shape(tensor, label.text);
		if (!status)
			status = check_memory(tensor, label.text, found);
		if (!status)
			number = found->first;
	} else if (number == AUTOCAST_DEVICE_ANY) {
		*device_out = NULL;
		return AUTOCAST_OK;
	}
	if (status)
		return status;
	device = ac_scaler_device_of(scaler, number);
	if (!device)
		return ac_status_fail(AUTOCAST_E_DEVICE,
		    "%s: device %d was not prepared", label.text, number);
	*device_out = device;
	return AUTOCAST_OK;
}

autocast_status
ac_tensors_read(autocast_scaler *scaler, const char *what,
    const autocast_tensor *list, size_t first, size_t count,
    struct ac_scaler_tensor *tensors_out,
    struct ac_scaler_device **devices_out)
{
	const autocast_tensor *few[FEW], **sorted = count > FEW
	    ? calloc(count, sizeof *sorted) : few;
	struct found few_found[FEW], *found = count > FEW
	    ? calloc(count, sizeof *found) : few_found;
	autocast_status status = sorted && found
	    ? find(scaler->driver, list, count, sorted, found)
	    : ac_status_fail(AUTOCAST_E_NO_MEMORY,
	    "no memory for a list of %zu tensors", count);

	for (size_t i = 0; i < count && !status; i++) {
		const struct ac_scaler_tensor tensor = {
			.data = list[i].data, .count = list[i].count,
			.dtype = (uint32_t)list[i].dtype
		};
		struct ac_scaler_device *device = NULL;

		status = check(scaler, what, &list[i], first + i, &found[i],
		    &device);
		tensors_out[i] = tensor;
		if (devices_out)
			devices_out[i] = device;
	}
	if (count > FEW) {
		free(sorted);
		free(found);
	}
	return status;
}

/* ---- Apart from each other ---------------------------------------------- */

/* `before` begins where `after` does, or below it. */
static autocast_status
check_pair(const char *what, const autocast_tensor *list,
    const autocast_tensor *before, const autocast_tensor *after)
{
	const size_t bytes = before->count * element_bytes[before->dtype];

	if ((uintptr_t)after->data - (uintptr_t)before->data >= bytes)
		return AUTOCAST_OK;
	return ac_status_fail(AUTOCAST_E_INVALID,
	    "%s and %s overlap in memory, which may be in a group once",
	    label_of(what, before, (size_t)(before - list)).text,
	    label_of(what, after, (size_t)(after - list)).text);
}

autocast_status
ac_tensors_check_apart(const char *what, const autocast_tensor *list,
    size_t count)
{
	const autocast_tensor **const sorted = calloc(count + 1,
	    sizeof *sorted);
	size_t used = 0;
	autocast_status status = AUTOCAST_OK;

	if (!sorted)
		return ac_status_fail(AUTOCAST_E_NO_MEMORY,
		    "no memory for a list of %zu tensors", count);
	for (size_t i = 0; i < count; i++)
		if (list[i].count)
			sorted[used++] = &list[i];
	qsort(sorted, used, sizeof *sorted, compare);
	/* If any two overlap, then two that are neighbours do. */
	for (size_t i = 1; i < used && !status; i++)
		status = check_pair(what, list, sorted[i - 1], sorted[i]);
	free(sorted);
	return status;
}
