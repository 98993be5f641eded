/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/twins.c -- the CPU twins of kernels: the product's own, and
 * those that programs and libraries register. Runs none of them. */
#include "emulator/driver/module.h"
#include "emulator/driver/wait.h"

#include "base/env.h"
#include "base/log.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct emu_twin *twins; /* newest first; never removed */

void
emuTwinRegister(const char *name, emu_twin_run run, const size_t *sizes,
    size_t count)
{
	struct emu_twin *twin = calloc(1, sizeof *twin + count *
	    sizeof *sizes);

	if (!twin)
		emu_out_of_host_memory();
	twin->name = name;
	twin->run = run;
	twin->count = count;
	memcpy(twin->sizes, sizes, count * sizeof *sizes);
	pthread_mutex_lock(&lock);
	twin->next = twins;
	twins = twin;
	pthread_mutex_unlock(&lock);
}

static const struct emu_twin *
find(const char *name)
{
	const struct emu_twin *t;

	pthread_mutex_lock(&lock);
	for (t = twins; t && strcmp(t->name, name); t = t->next)
		;
	pthread_mutex_unlock(&lock);
	return t;
}

/* The constructor of such a library registers its twins. */
static void
open_libraries(void)
{
	const char *list = ac_env(AC_ENV_EMU_TWINS);
	char path[4096];

	while (*list) {
		const size_t length = strcspn(list, ":");

		if (length && length < sizeof path) {
			memcpy(path, list, length);
			path[length] = '\0';
			if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL))
				ac_log(AC_LOG_ERROR, "emulated GPU: "
				    "AUTOCAST_EMU_TWINS: %s", dlerror());
		}
		list += length + (list[length] == ':');
	}
}

emu_twin_run
emu_twin_built_in(const char *name)
{
	for (size_t i = 0; i < ac_twin_count; i++)
		if (!strcmp(ac_twins[i].name, name))
			return ac_twins[i].run;
	return NULL;
}

const char *
emu_twin_name(emu_twin_run run)
{
	for (size_t i = 0; i < ac_twin_count; i++)
		if (ac_twins[i].run == run)
			return ac_twins[i].name;
	return NULL;
}

const struct emu_twin *
emu_twin_registered(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct emu_twin *twin = find(name);

	if (twin || emu_twin_built_in(name))
		return twin;
	pthread_once(&once, open_libraries);
	return find(name);
}

bool
emu_twin_is_there(const char *name)
{
	return emu_twin_registered(name) || emu_twin_built_in(name);
}

void
emu_twins_release(void)
{
	while (twins) {
		struct emu_twin *next = twins->next;

		free(twins);
		twins = next;
	}
}
