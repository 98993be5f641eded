/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/gpu/energy.c -- what this machine's GPUs draw, by NVML. */
#include "cmd/gpu/energy.h"
#include "cmd/command.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name, params) { #name, offsetof(struct ac_energy, name) },
static const struct { const char *name; size_t offset; } rows[] = {
	AC_ENERGY_NVML(ROW)
};
#undef ROW

/* Returns false. */
static bool
fail(struct ac_energy *energy, const char *what, int result)
{
	struct ac_text t = AC_TEXT_IN(energy->why);

	ac_text_add(&t, what);
	if (result)
		ac_text_addf(&t, ": error %d", result);
	return false;
}

/* The library is never closed: what it has started may still run. */
static bool
find_functions(struct ac_energy *energy)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	if (!library)
		return fail(energy, "libnvidia-ml.so.1 cannot be loaded", 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		void *function = dlsym(library, rows[i].name);

		if (!function)
			return fail(energy, "libnvidia-ml.so.1 is too old", 0);
		memcpy((char *)energy + rows[i].offset, &function,
		    sizeof function);
	}
	return true;
}

static bool
add_device(struct ac_energy *energy, void *device)
{
	if (energy->count == AC_ENERGY_DEVICES)
		return fail(energy, "there are too many GPUs", 0);
	energy->devices[energy->count++] = device;
	return true;
}

static bool
add_index(struct ac_energy *energy, unsigned index)
{
	void *device = NULL;
	const int result = energy->nvmlDeviceGetHandleByIndex_v2(index,
	    &device);

	return result ? fail(energy, "nvmlDeviceGetHandleByIndex", result)
	    : add_device(energy, device);
}

static bool
add_all(struct ac_energy *energy)
{
	unsigned count = 0;
	const int result = energy->nvmlDeviceGetCount_v2(&count);
	bool done = !result || fail(energy, "nvmlDeviceGetCount", result);

	for (unsigned i = 0; i < count && done; i++)
		done = add_index(energy, i);
	return done;
}

/* One word of CUDA_VISIBLE_DEVICES. */
static bool
add_named(struct ac_energy *energy, const char *word)
{
	const double index = ac_arguments_whole(word, 0, 1000);
	void *device = NULL;
	int result;

	if (index >= 0)
		return add_index(energy, (unsigned)index);
	if (!strncmp(word, "MIG", 3))
		return fail(energy, "a part of a GPU (MIG) has no counter of "
		    "its own", 0);
	result = energy->nvmlDeviceGetHandleByUUID(word, &device);
	return result ? fail(energy, "CUDA_VISIBLE_DEVICES names no GPU",
	    result) : add_device(energy, device);
}

static bool
add_visible(struct ac_energy *energy, const char *visible)
{
	char *words = strdup(visible), *rest = words, *word;
	bool done = words || fail(energy, "out of memory", 0);

	while (done && (word = strsep(&rest, ",")))
		done = add_named(energy, word);
	free(words);
	return done;
}

void
ac_energy_open(struct ac_energy *energy)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	bool done;
	int result;

	memset(energy, 0, sizeof *energy);
	if (!find_functions(energy))
		return;
	result = energy->nvmlInit_v2();
	if (result) {
		(void)fail(energy, "nvmlInit", result);
		return;
	}
	energy->is_open = true;
	done = visible ? add_visible(energy, visible) : add_all(energy);
	if (done && !energy->count)
		done = fail(energy, "there is no GPU", 0);
	if (!done)
		energy->count = 0;
}

void
ac_energy_close(struct ac_energy *energy)
{
	if (energy->is_open)
		(void)energy->nvmlShutdown();
	energy->is_open = false;
	energy->count = 0;
}

double
ac_energy_joules(struct ac_energy *energy)
{
	double joules = 0;

	for (size_t i = 0; i < energy->count; i++) {
		unsigned long long drawn = 0;
		const int result = energy->nvmlDeviceGetTotalEnergyConsumption(
		    energy->devices[i], &drawn);

		if (result) {
			(void)fail(energy,
			    "nvmlDeviceGetTotalEnergyConsumption", result);
			return -1;
		}
		joules += (double)drawn / 1e3;
	}
	return energy->count ? joules : -1;
}
