/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/nvml/nvml.c -- the driver's management library, as far as frameworks
 * ask it: which GPUs there are, and how much memory they have. NVIDIA's header
 * for it is no part of CUDA's: its types stand here, by their ABI. It brings no
 * device up, so a process may ask it and fork. */
#include "emulator/driver/emu.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { OK, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND = 6,
	INSUFFICIENT_SIZE, DRIVER_NOT_LOADED = 9, UNKNOWN = 999 };
enum { PCI_BUS_ID = 33 }; /* an attribute of a device */
#define DRIVER "580.65.06" /* the first one of EMU_DRIVER_VERSION */

typedef int nvmlReturn_t;
typedef struct nvmlDevice_st { char none; } *nvmlDevice_t;
struct memory { unsigned long long total, free, used; };
struct memory_v2 {
	unsigned version; /* the struct's size, and 2 above 24 bits */
	unsigned long long total, reserved, free, used;
};
struct process { unsigned pid; unsigned long long used; };
struct process_v2 {
	unsigned pid;
	unsigned long long used;
	unsigned gpu_instance, compute_instance; /* ~0: none, without MIG */
};

static const struct emu_family emu_nvml = { UNKNOWN, UNINITIALIZED };
static struct nvmlDevice_st devices[EMU_DEVICES];
static atomic_int users;

#define EXPORTED __attribute__((visibility("default")))
#define NVML(name, ...)                                                   \
EXPORTED nvmlReturn_t name(__VA_ARGS__);                                  \
nvmlReturn_t                                                              \
name(__VA_ARGS__)
#define NVML_ENTER()                                                      \
	EMU_ENTER(&emu_nvml);                                             \
	if (atomic_load(&users) <= 0)                                     \
		return UNINITIALIZED
#define NVML_DEVICE(device, number)                                       \
	const int number = number_of(device);                             \
	NVML_ENTER();                                                     \
	if (number < 0)                                                   \
		return INVALID_ARGUMENT

/* -1: it is none. */
static int
number_of(nvmlDevice_t device)
{
	const int count = emu_device_count();

	for (int i = 0; i < count; i++)
		if (device == &devices[i])
			return i;
	return -1;
}

static nvmlReturn_t
answer(const char *text, char *out, unsigned size)
{
	if (!out)
		return INVALID_ARGUMENT;
	if (size <= strlen(text))
		return INSUFFICIENT_SIZE;
	memcpy(out, text, strlen(text) + 1);
	return OK;
}

/* ---- The library ------------------------------------------------------- */

static nvmlReturn_t
begin(void)
{
	if (emu_device_count() < 1)
		return DRIVER_NOT_LOADED;
	atomic_fetch_add(&users, 1);
	return OK;
}

NVML(nvmlInit, void)
{
	EMU_ENTER(&emu_nvml);
	return begin();
}

NVML(nvmlInit_v2, void)
{
	EMU_ENTER(&emu_nvml);
	return begin();
}

NVML(nvmlInitWithFlags, unsigned flags)
{
	EMU_ENTER(&emu_nvml);
	(void)flags;
	return begin();
}

NVML(nvmlShutdown, void)
{
	NVML_ENTER();
	atomic_fetch_sub(&users, 1);
	return OK;
}

EXPORTED const char *nvmlErrorString(nvmlReturn_t result);
const char *
nvmlErrorString(nvmlReturn_t result)
{
	static const char *const words[] = {
		[OK] = "Success", [UNINITIALIZED] = "Uninitialized",
		[INVALID_ARGUMENT] = "Invalid Argument",
		[NOT_SUPPORTED] = "Not Supported", [NOT_FOUND] = "Not Found",
		[INSUFFICIENT_SIZE] = "Insufficient Size",
		[DRIVER_NOT_LOADED] = "Driver Not Loaded"
	};
	const bool known = result >= 0 && result <= DRIVER_NOT_LOADED;

	return known && words[result] ? words[result] : "Unknown Error";
}

NVML(nvmlSystemGetDriverVersion, char *version, unsigned size)
{
	NVML_ENTER();
	return answer(DRIVER, version, size);
}

NVML(nvmlSystemGetNVMLVersion, char *version, unsigned size)
{
	NVML_ENTER();
	return answer("13." DRIVER, version, size);
}

NVML(nvmlSystemGetCudaDriverVersion, int *version)
{
	NVML_ENTER();
	if (!version)
		return INVALID_ARGUMENT;
	*version = EMU_DRIVER_VERSION;
	return OK;
}

NVML(nvmlSystemGetCudaDriverVersion_v2, int *version)
{
	return nvmlSystemGetCudaDriverVersion(version);
}

/* ---- Which devices there are ------------------------------------------- */

NVML(nvmlDeviceGetCount_v2, unsigned *count)
{
	NVML_ENTER();
	if (!count)
		return INVALID_ARGUMENT;
	*count = (unsigned)emu_device_count();
	return OK;
}

NVML(nvmlDeviceGetCount, unsigned *count)
{
	return nvmlDeviceGetCount_v2(count);
}

NVML(nvmlDeviceGetHandleByIndex_v2, unsigned index, nvmlDevice_t *device)
{
	NVML_ENTER();
	if (!device || index >= (unsigned)emu_device_count())
		return INVALID_ARGUMENT;
	*device = &devices[index];
	return OK;
}

NVML(nvmlDeviceGetHandleByIndex, unsigned index, nvmlDevice_t *device)
{
	return nvmlDeviceGetHandleByIndex_v2(index, device);
}

enum { UUID = sizeof "GPU-00112233-4455-6677-8899-aabbccddeeff" };

static void
write_uuid(int device, char text[static UUID])
{
	unsigned char uuid[16];
	int used = snprintf(text, UUID, "GPU");

	emu_device_uuid(device, uuid);
	for (int i = 0; i < 16; i++)
		used += snprintf(text + used, (size_t)(UUID - used), "%s%02x",
		    !i || (i >= 4 && i <= 10 && i % 2 == 0) ? "-" : "",
		    uuid[i]);
}

NVML(nvmlDeviceGetHandleByUUID, const char *uuid, nvmlDevice_t *device)
{
	char text[UUID];

	NVML_ENTER();
	if (!uuid || !device)
		return INVALID_ARGUMENT;
	for (int i = 0; i < emu_device_count(); i++) {
		write_uuid(i, text);
		if (!strcmp(text, uuid)) {
			*device = &devices[i];
			return OK;
		}
	}
	return NOT_FOUND;
}

NVML(nvmlDeviceGetHandleByPciBusId_v2, const char *id, nvmlDevice_t *device)
{
	char text[sizeof "00000000:01:00.0"];
	int bus;

	NVML_ENTER();
	if (!id || !device)
		return INVALID_ARGUMENT;
	for (int i = 0; i < emu_device_count(); i++) {
		if (emu_device_attribute(i, PCI_BUS_ID, &bus))
			continue;
		snprintf(text, sizeof text, "00000000:%02x:00.0",
		    (unsigned)bus & 0xff);
		/* The driver's other calls have four digits less. */
		if (!strcasecmp(id, text) || !strcasecmp(id, text + 4)) {
			*device = &devices[i];
			return OK;
		}
	}
	return NOT_FOUND;
}

/* ---- One of them ------------------------------------------------------- */

NVML(nvmlDeviceGetIndex, nvmlDevice_t device, unsigned *index)
{
	NVML_DEVICE(device, number);
	if (!index)
		return INVALID_ARGUMENT;
	*index = (unsigned)number;
	return OK;
}

NVML(nvmlDeviceGetName, nvmlDevice_t device, char *name, unsigned size)
{
	NVML_DEVICE(device, number);
	return answer(emu_device_model(number)->name, name, size);
}

NVML(nvmlDeviceGetUUID, nvmlDevice_t device, char *uuid, unsigned size)
{
	char text[UUID];

	NVML_DEVICE(device, number);
	write_uuid(number, text);
	return answer(text, uuid, size);
}

NVML(nvmlDeviceGetCudaComputeCapability, nvmlDevice_t device, int *major,
    int *minor)
{
	NVML_DEVICE(device, number);
	if (!major || !minor)
		return INVALID_ARGUMENT;
	*major = emu_device_model(number)->major;
	*minor = emu_device_model(number)->minor;
	return OK;
}

NVML(nvmlDeviceGetMemoryInfo, nvmlDevice_t device, struct memory *memory)
{
	size_t left, total;

	NVML_DEVICE(device, number);
	if (!memory)
		return INVALID_ARGUMENT;
	emu_memory_info(number, &left, &total);
	*memory = (struct memory){ total, left, total - left };
	return OK;
}

NVML(nvmlDeviceGetMemoryInfo_v2, nvmlDevice_t device,
    struct memory_v2 *memory)
{
	size_t left, total;

	NVML_DEVICE(device, number);
	if (!memory || memory->version != (sizeof *memory | 2u << 24))
		return INVALID_ARGUMENT;
	emu_memory_info(number, &left, &total);
	memory->total = total;
	memory->reserved = 0;
	memory->free = left;
	memory->used = total - left;
	return OK;
}

/* The one process that is known here, if it holds memory: PyTorch's report of
 * a lack of memory insists on an answer. */
static nvmlReturn_t
list_process(int number, unsigned *count, void *out, size_t bytes)
{
	const struct process_v2 process = { (unsigned)getpid(), 0, ~0u, ~0u };
	const unsigned room = count ? *count : 0;
	size_t left, total;

	if (!count || (room && !out))
		return INVALID_ARGUMENT;
	emu_memory_info(number, &left, &total);
	*count = left < total;
	if (*count > room)
		return INSUFFICIENT_SIZE;
	if (*count) {
		memcpy(out, &process, bytes);
		((struct process *)out)->used = total - left;
	}
	return OK;
}

NVML(nvmlDeviceGetComputeRunningProcesses, nvmlDevice_t device,
    unsigned *count, struct process *processes)
{
	NVML_DEVICE(device, number);
	return list_process(number, count, processes, sizeof *processes);
}

NVML(nvmlDeviceGetComputeRunningProcesses_v3, nvmlDevice_t device,
    unsigned *count, struct process_v2 *processes)
{
	NVML_DEVICE(device, number);
	return list_process(number, count, processes, sizeof *processes);
}
