/* SPDX-License-Identifier: Apache-2.0 */
/* shim/process/facts.c -- tells `autocast doctor` what only this process knows:
 * what is loaded, in which order, and what the loader hooks met. Runs at
 * exit(); without AUTOCAST_FACTS it is one look at the environment. Never
 * prints.
 *
 * The record is a new file DIRECTORY/PID-N of lines that are a key and its
 * values, separated by spaces; what comes last runs to the end of its line,
 * control characters in it replaced by '?'. cmd/doctor/doctor_record.c reads
 * it.
 *
 * 	argument TEXT       one line each, the program's name first
 * 	exe PATH
 * 	preload LIST        LD_PRELOAD
 * 	handles N           handles that we saw made or ended, unloads
 * 	deepbind N          dlopen() calls with RTLD_DEEPBIND
 * 	stripped 0|1        `set deepbind=on` took the flag away
 * 	left N              look-ups we had no thunk for
 * 	dlsym PATH          a library before ours with a dlsym() of its own
 * 	object FLAG SONAME PATH
 * 	                    each loaded object, in link order; SONAME "-":
 * 	                    none; FLAG o: this library, d: defines a function
 * 	                    that we wrap, -: neither
 * 	hidden PATH         an NVIDIA library the loader does not show us
 * 	end                 the record is whole */
#include "base/elf.h"
#include "base/env.h"
#include "base/text.h"
#include "shim/bind/catalogue.h"
#include "shim/device/handle.h"
#include "shim/bind/loader_hooks.h"
#include "shim/start/start.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LINE_BYTES = 4096 + 256, IMAGES = 10, RECORD_BYTES = 4 << 20 };

/* One line at a time: nothing else of ours runs now. */
static char line_buffer[LINE_BYTES];

static void
put(int fd, const char *key, const char *value)
{
	struct ac_text line = ac_text_in(line_buffer, sizeof line_buffer - 1);

	ac_text_addf(&line, "%s %s", key, value);
	for (size_t i = 0; i < line.used; i++)
		if ((unsigned char)line.data[i] < ' ')
			line.data[i] = '?';
	line.data[line.used++] = '\n';
	if (write(fd, line.data, line.used) < 0)
		return; /* the reader misses "end" */
}

static void
put_number(int fd, const char *key, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
	put(fd, key, digits);
}

/* ---- The process ------------------------------------------------------- */

static void
put_program(int fd)
{
	static char text[4096];
	int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);

	if (file >= 0)
		close(file);
	for (ssize_t at = 0; at < length; ) {
		text[length] = '\0';
		put(fd, "argument", text + at);
		at += (ssize_t)strlen(text + at) + 1;
	}
	length = readlink("/proc/self/exe", text, sizeof text - 1);
	text[length > 0 ? length : 0] = '\0';
	put(fd, "exe", text);
	put(fd, "preload", ac_env(AC_ENV_LD_PRELOAD));
}

static void
put_hooks(int fd)
{
	const char *foreign = ac_shim_foreign_dlsym();
	const bool stripped = ac_shim_deepbind_opens()
	    && ac_policy_strips_deepbind(ac_shim_policy());

	put_number(fd, "handles", atomic_load(&ac_handle_generation) - 1);
	put_number(fd, "deepbind", ac_shim_deepbind_opens());
	put_number(fd, "stripped", stripped);
	put_number(fd, "left", ac_loader_left);
	if (foreign)
		put(fd, "dlsym", foreign);
}

/* ---- What is loaded ---------------------------------------------------- */

static bool
defines_wrapped(const struct ac_elf_object *object)
{
	for (unsigned i = 0; i < ENTRY_WRAPPED; i++)
		if (ac_elf_definition(object, ac_entries[i].symbol))
			return true;
	return false;
}

static bool
put_object(const struct ac_elf_object *object, void *fd)
{
	static char value[LINE_BYTES];
	const char *flag = ac_elf_is_ours(object) ? "o"
	    : defines_wrapped(object) ? "d" : "-";
	struct ac_text text = AC_TEXT_IN(value);

	ac_text_addf(&text, "%s %s %s", flag,
	    object->soname ? object->soname : "-", object->path);
	put(*(int *)fd, "object", value);
	return false;
}

/* One line of the map of memory: code of an NVIDIA library that belongs to no
 * object we can see is in a namespace of its own (dlmopen). */
static void
put_if_hidden(int fd, const char *line)
{
	const char *permissions = strchr(line, ' ');
	const char *path = strchr(line, '/');
	const char *name = path ? strrchr(path, '/') + 1 : "";
	struct ac_elf_object object;
	uint64_t address;

	(void)ac_text_digits(line, &address);
	if (!permissions || permissions[3] != 'x'
	    || (strncmp(name, "libcublas", 9) && strncmp(name, "libcudnn", 8)
	    && strncmp(name, "libcusolver", 11)))
		return;
	if (!ac_elf_object_at((const void *)(uintptr_t)address, &object))
		put(fd, "hidden", path);
}

static void
put_hidden(int fd)
{
	static char text[2 * LINE_BYTES];
	const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	while (file >= 0 && (got = read(file, text + used,
	    sizeof text - 1 - used)) > 0) {
		char *start = text, *end;

		used += (size_t)got;
		text[used] = '\0';
		while ((end = strchr(start, '\n'))) {
			*end = '\0';
			put_if_hidden(fd, start);
			start = end + 1;
		}
		used -= (size_t)(start - text);
		if (used == sizeof text - 1)
			break;
		memmove(text, start, used);
	}
	if (file >= 0)
		close(file);
}

/* ---- The record -------------------------------------------------------- */

/* Growing a file past its limit would kill the program. */
static bool
may_write(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit)
	    && (limit.rlim_cur == RLIM_INFINITY
	    || limit.rlim_cur >= RECORD_BYTES);
}

/* A process that called exec has the pid of the image before it. */
static int
create(const char *directory)
{
	char path[4096];

	for (int image = 0; image < IMAGES; image++) {
		int fd;
		struct ac_text text = AC_TEXT_IN(path);

		ac_text_addf(&text, "%s/%d-%d", directory, (int)getpid(),
		    image);
		if (text.truncated)
			return -1;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
		    | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

__attribute__((destructor)) static void
leave_record(void)
{
	const char *directory = ac_env(AC_ENV_FACTS);
	int fd;

	if (!*directory || !may_write())
		return;
	fd = create(directory);
	if (fd < 0)
		return;
	put_program(fd);
	put_hooks(fd);
	ac_elf_each(put_object, &fd);
	put_hidden(fd);
	if (write(fd, "end\n", 4) == 4)
		close(fd);
}
