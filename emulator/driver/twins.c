/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/twins.c -- the CPU twins of kernels that programs and
 * libraries register. Runs none of them. */
#include "emulator/driver/module.h"
#include "emulator/driver/wait.h"

#include "base/env.h"
#include "base/log.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct emu_twin *twins; /* newest first; never removed */

static void
add(const struct emu_twin_row *row, bool has_sizes, const size_t *sizes,
    size_t count)
{
	struct emu_twin *twin = calloc(1, sizeof *twin + count *
	    sizeof *sizes);

	if (!twin)
		emu_out_of_host_memory();
	twin->row = *row;
	twin->has_sizes = has_sizes;
	twin->count = count;
	if (count)
		memcpy(twin->sizes, sizes, count * sizeof *sizes);
	pthread_mutex_lock(&lock);
	twin->next = twins;
	twins = twin;
	pthread_mutex_unlock(&lock);
}

void
emuTwinRegister(const char *name, emu_twin_run run, const size_t *sizes,
    size_t count)
{
	add(&(struct emu_twin_row){ .name = name, .run = run, .bytes = 1 },
	    true, sizes, count);
}

void
emuTwinsRegister(const struct emu_twin_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(&rows[i], false, NULL, 0);
}

static const struct emu_twin *
find(const char *name)
{
	const struct emu_twin *t;

	pthread_mutex_lock(&lock);
	for (t = twins; t && strcmp(t->row.name, name); t = t->next)
		;
	pthread_mutex_unlock(&lock);
	return t;
}

/* In the folder of this library. */
static void
open_here(void)
{
	char path[PATH_MAX];
	Dl_info info;
	const char *end;

	if (!dladdr(&twins, &info) || !(end = strrchr(info.dli_fname, '/')))
		return;
	if (snprintf(path, sizeof path, "%.*s/" EMU_TWINS_HERE,
	    (int)(end - info.dli_fname), info.dli_fname) >= (int)sizeof path
	    || access(path, F_OK))
		return;
	if (!dlopen(path, RTLD_NOW))
		ac_log(AC_LOG_ERROR, "emulated GPU: %s", dlerror());
}

/* The constructor of such a library registers its twins. */
static void
open_libraries(void)
{
	const char *list = ac_env(AC_ENV_EMU_TWINS);
	char path[4096];

	open_here();
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

const struct emu_twin *
emu_twin_find(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct emu_twin *twin = find(name);

	if (twin)
		return twin;
	pthread_once(&once, open_libraries);
	return find(name);
}

bool
emu_twin_is_there(const char *name)
{
	return emu_twin_find(name) != NULL;
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
