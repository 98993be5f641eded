/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_process.c -- running processes as /proc shows them. Reads
 * only; never stops a process. */
#include "cmd/doctor/doctor.h"
#include "report/count/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 26 };

/* The file `name` of the process, as by ac_saved_bytes(). */
static char *
read_file(pid_t pid, const char *name, size_t *size_out)
{
	char path[64], *bytes;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	bytes = ac_saved_bytes(fd, MOST_BYTES, size_out);
	close(fd);
	return bytes;
}

/* ---- One process ------------------------------------------------------- */

/* Into PATH_MAX bytes. */
static int
read_exe(pid_t pid, char *exe_out)
{
	static const char deleted[] = " (deleted)";
	char path[64];
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	length = readlink(path, exe_out, PATH_MAX - 1);
	if (length < 0)
		return errno;
	exe_out[length] = '\0';
	length -= (ssize_t)sizeof deleted - 1;
	if (length > 0 && !strcmp(exe_out + length, deleted))
		exe_out[length] = '\0';
	return 0;
}

static void
read_command(pid_t pid, struct ac_doctor_process *process)
{
	size_t size = 0;
	char *words = read_file(pid, "cmdline", &size);
	struct ac_text text = ac_say_buffer(AC_DOCTOR_FIX);

	for (size_t at = 0; words && at < size; at += strlen(words + at) + 1) {
		ac_text_add(&text, at ? " " : "");
		ac_quote(&text, words + at);
	}
	if (text.used && !text.truncated)
		ac_doctor_set(&process->command, text.data);
	free(text.data);
	free(words);
}

/* The file that an interposer or a dlsym() of its own is in, by the order of
 * LD_PRELOAD. */
static void
read_preload(struct ac_doctor_process *process, const char *list)
{
	char path[PATH_MAX];
	bool past_us = false;

	while (*list) {
		const size_t length = strcspn(list, ": ");
		struct ac_elf_facts facts;

		snprintf(path, sizeof path, "%.*s", (int)length, list);
		list += length + (list[length] != '\0');
		if (strstr(path, "libautocast.so")) {
			past_us = process->was_asked = true;
			continue;
		}
		if (!ac_elf_inspect(path, &facts))
			continue;
		if (facts.defines_cublas)
			ac_doctor_set(past_us ? &process->after
			    : &process->before, path);
		if (facts.defines_dlsym && !past_us)
			ac_doctor_set(&process->dlsym_before, path);
	}
	if (process->was_asked)
		return;
	/* Who comes before us when we are not there? */
	free(process->before);
	free(process->dlsym_before);
	process->before = process->dlsym_before = NULL;
}

static void
read_environment(pid_t pid, struct ac_doctor_process *process)
{
	char exe[PATH_MAX];
	size_t size = 0;
	char *all = read_file(pid, "environ", &size);

	/* Nothing is also what a process shows that begins or has ended. */
	process->has_environment = size || (all && process->has_libc &&
	    !read_exe(pid, exe));
	for (size_t at = 0; all && at < size; at += strlen(all + at) + 1)
		if (!strncmp(all + at, "LD_PRELOAD=", 11))
			read_preload(process, all + at + 11);
	free(all);
}

static void
read_auxiliary(pid_t pid, struct ac_doctor_process *process)
{
	size_t size = 0;
	char *bytes = read_file(pid, "auxv", &size);
	ElfW(auxv_t) entry;

	for (size_t at = 0; bytes && at + sizeof entry <= size;
	    at += sizeof entry) {
		memcpy(&entry, bytes + at, sizeof entry);
		if (entry.a_type == AT_SECURE && entry.a_un.a_val)
			process->is_privileged = true;
	}
	free(bytes);
}

/* One line of the map: ADDRESSES PERMISSIONS OFFSET DEVICE INODE PATH. */
static void
read_mapping(struct ac_doctor_process *process, const char *line,
    unsigned *libcs)
{
	const char *path = strchr(line, '/');
	const char *permissions = strchr(line, ' ');
	const char *name;
	int vendor;

	if (!path || !permissions)
		return;
	name = basename(path);
	if (ac_file_is_name(name))
		ac_doctor_set(&process->statistics, path);
	if (permissions[3] != 'x')
		return;
	vendor = ac_vendor_of_file(name);
	if (vendor >= 0)
		ac_doctor_set(&process->loaded[vendor], path);
	else if (!strcmp(name, "libautocast.so"))
		process->has_library = true;
	else if (!strcmp(name, "libc.so.6") || !strncmp(name, "libc-2.", 7))
		(*libcs)++;
	else
		ac_doctor_add_object(process, path);
}

/* A process that begins or ends has no libraries: what was seen in between
 * stays. */
static int
read_maps(pid_t pid, struct ac_doctor_process *process)
{
	size_t size = 0;
	char *maps = read_file(pid, "maps", &size), *rest = maps, *line;
	unsigned libcs = 0;

	if (!maps)
		return errno;
	if (strstr(maps, "/libc.so.6\n") || strstr(maps, "/libc-2.")) {
		process->has_library = false;
		ac_doctor_forget_objects(process);
	}
	while ((line = strsep(&rest, "\n")))
		read_mapping(process, line, &libcs);
	process->has_libc |= libcs > 0;
	process->has_namespaces |= libcs > 1;
	process->seen = true;
	free(maps);
	return 0;
}

int
ac_doctor_look_at(pid_t pid, struct ac_doctor_process *process)
{
	char exe[PATH_MAX];
	int error = read_exe(pid, exe);

	if (error)
		return error;
	if (process->exe && strcmp(process->exe, exe))
		return ESTALE;
	process->pid = pid;
	if (!process->exe)
		ac_doctor_set(&process->exe, exe);
	error = read_maps(pid, process);
	if (error || process->has_environment)
		return error;
	read_command(pid, process);
	read_environment(pid, process);
	read_auxiliary(pid, process);
	return 0;
}

/* ---- Families ---------------------------------------------------------- */

void
ac_doctor_name_of(pid_t pid, char name_out[16])
{
	size_t size = 0;
	char *name = read_file(pid, "comm", &size);

	if (name && size) /* a newline is behind it */
		snprintf(name_out, 16, "%.*s", (int)size - 1, name);
	free(name);
}

struct relation {
	pid_t pid, parent;
};

static size_t
list_all(struct relation **all_out)
{
	DIR *stream = opendir("/proc");
	const struct dirent *entry;
	struct relation *all = NULL;
	size_t count = 0;

	while (stream && (entry = readdir(stream))) {
		pid_t pid = 0;

		for (const char *d = entry->d_name; *d >= '0' && *d <= '9'; d++)
			pid = 10 * pid + (*d - '0');
		if (!pid)
			continue;
		all = ac_say_memory(reallocarray(all, count + 1, sizeof *all));
		all[count++] = (struct relation){ pid, ac_process_parent(pid) };
	}
	if (stream)
		closedir(stream);
	*all_out = all;
	return count;
}

size_t
ac_doctor_family(pid_t pid, pid_t *pids_out, size_t size)
{
	struct relation *all;
	const size_t count = list_all(&all);
	size_t members = 0;

	pids_out[members++] = pid;
	for (size_t known = 0; known < members; known++)
		for (size_t i = 0; i < count && members < size; i++)
			if (all[i].parent == pids_out[known])
				pids_out[members++] = all[i].pid;
	free(all);
	return members;
}
