/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_record.c -- the records that processes leave
 * (shim/process/facts.c holds their format), and what their files tell beyond
 * that. A record is written by the user's process into our folder, so it may
 * hold anything. */
#include "cmd/doctor/doctor.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_BYTES = 4 << 20 };

/* ---- One process ------------------------------------------------------- */

void
ac_doctor_set(char **text, const char *value)
{
	free(*text);
	*text = ac_say_memory(strdup(value));
}

void
ac_doctor_add_object(struct ac_doctor_process *process, const char *path)
{
	process->objects = ac_say_memory(reallocarray(process->objects,
	    process->object_count + 1, sizeof *process->objects));
	process->objects[process->object_count] = NULL;
	ac_doctor_set(&process->objects[process->object_count++], path);
}

void
ac_doctor_forget_objects(struct ac_doctor_process *process)
{
	for (size_t i = 0; i < process->object_count; i++)
		free(process->objects[i]);
	free(process->objects);
	process->objects = NULL;
	process->object_count = 0;
}

void
ac_doctor_free(struct ac_doctor_process *process)
{
	char *texts[] = {
		process->exe, process->command, process->before,
		process->after, process->dlsym_before, process->inside,
		process->runtime,
		process->statistics
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		free(texts[i]);
	for (int v = 0; v < AC_VENDORS; v++) {
		free(process->loaded[v]);
		free(process->hidden[v]);
	}
	ac_doctor_forget_objects(process);
	memset(process, 0, sizeof *process);
}

/* ---- Lines ------------------------------------------------------------- */

static uint64_t
number(const char *digits)
{
	uint64_t value = 0;

	for (; *digits >= '0' && *digits <= '9' && value < UINT32_MAX; digits++)
		value = 10 * value + (uint64_t)(*digits - '0');
	return value;
}

static void
add_argument(struct ac_doctor_process *process, const char *argument)
{
	struct ac_text text = ac_say_buffer(AC_DOCTOR_FIX);

	if (process->command)
		ac_text_addf(&text, "%s ", process->command);
	ac_quote(&text, argument);
	if (!text.truncated)
		ac_doctor_set(&process->command, text.data);
	free(text.data);
}

/* Whether the LD_PRELOAD `list` names `path`. What is written there without a
 * folder was searched for. */
static bool
is_listed(const char *list, const char *path)
{
	while (*list) {
		const size_t length = strcspn(list, ": ");
		const char *same = memchr(list, '/', length) ? path
		    : basename(path);

		if (length == strlen(same) && !strncmp(list, same, length))
			return true;
		list += length + (list[length] != '\0');
	}
	return false;
}

/* FLAG SONAME PATH. An object that defines our names is an NVIDIA library,
 * another preload, or has cuBLAS inside; ac_doctor_read_files() tells. */
static void
add_object(struct ac_doctor_process *process, char *line, const char *preload)
{
	const char flag = *line;
	char *soname = strchr(line, ' '), *path;
	int vendor;

	if (!soname || !(path = strchr(++soname, ' ')))
		return;
	*path++ = '\0';
	vendor = ac_vendor_of_file(soname);
	if (flag == 'o')
		process->has_library = true;
	else if (vendor >= 0)
		ac_doctor_set(&process->loaded[vendor], path);
	else if (flag == 'd' && is_listed(preload, path))
		ac_doctor_set(process->has_library ? &process->after
		    : &process->before, path);
	else if (flag == 'd' && strncmp(soname, "libcu", 5) && !process->inside)
		ac_doctor_set(&process->inside, *path || !process->exe ? path
		    : process->exe);
	if (flag != 'o' && vendor < 0 && *path)
		ac_doctor_add_object(process, path);
}

static void
add_hidden(struct ac_doctor_process *process, const char *path)
{
	const int vendor = ac_vendor_of_file(basename(path));

	if (vendor >= 0)
		ac_doctor_set(&process->hidden[vendor], path);
}

bool
ac_doctor_read_record(char *text, struct ac_doctor_process *process)
{
	const char *preload = "";
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		char *value = strchr(line, ' ');

		if (!strcmp(line, "end"))
			return true;
		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(line, "argument"))
			add_argument(process, value);
		else if (!strcmp(line, "exe"))
			ac_doctor_set(&process->exe, value);
		else if (!strcmp(line, "preload"))
			preload = value;
		else if (!strcmp(line, "handles"))
			process->handles = number(value);
		else if (!strcmp(line, "deepbind"))
			process->deepbind = number(value);
		else if (!strcmp(line, "stripped"))
			process->stripped = number(value) != 0;
		else if (!strcmp(line, "left"))
			process->left = number(value);
		else if (!strcmp(line, "dlsym"))
			ac_doctor_set(&process->dlsym_before, value);
		else if (!strcmp(line, "object"))
			add_object(process, value, preload);
		else if (!strcmp(line, "hidden"))
			add_hidden(process, value);
	}
	return false;
}

/* ---- The folder -------------------------------------------------------- */

static char *
read_whole(int directory, const char *name)
{
	const int fd = ac_file_open_regular(directory, name);
	size_t count;
	char *text;

	if (fd < 0)
		return NULL;
	text = ac_saved_bytes(fd, RECORD_BYTES, &count);
	close(fd);
	return text;
}

/* Where the process of the record goes: in the place of what was seen of it
 * from outside, else at the end. */
static struct ac_doctor_process *
place_for(struct ac_doctor_process *processes, size_t *count,
    const struct ac_doctor_process *told)
{
	for (size_t i = 0; i < *count; i++)
		if (processes[i].pid == told->pid && processes[i].exe &&
		    told->exe && !strcmp(processes[i].exe, told->exe))
			return &processes[i];
	memset(&processes[*count], 0, sizeof *processes);
	return &processes[(*count)++];
}

static void
add_told(struct ac_doctor_process *processes, size_t *count,
    const struct ac_doctor_process *told)
{
	struct ac_doctor_process *place = place_for(processes, count, told);
	struct ac_doctor_process seen = *place;

	*place = *told;
	place->seen = seen.seen;
	place->has_libc = true;
	place->is_privileged = seen.is_privileged;
	/* Loaded once, and gone by the end. */
	for (int v = 0; v < AC_VENDORS; v++) {
		if (place->loaded[v] || place->hidden[v])
			continue;
		place->loaded[v] = seen.loaded[v];
		seen.loaded[v] = NULL;
	}
	ac_doctor_free(&seen);
}

struct ac_doctor_process *
ac_doctor_read_records(const char *directory,
    struct ac_doctor_process *processes, size_t *count)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		struct ac_doctor_process told = {
			.pid = (pid_t)number(entry->d_name)
		};
		char *text;

		if (*entry->d_name == '.')
			continue;
		text = read_whole(dirfd(stream), entry->d_name);
		(void)unlinkat(dirfd(stream), entry->d_name, 0);
		processes = ac_say_memory(reallocarray(processes, *count + 1,
		    sizeof *processes));
		told.told = text && ac_doctor_read_record(text, &told);
		if (told.told)
			add_told(processes, count, &told);
		else
			ac_doctor_free(&told);
		free(text);
	}
	if (stream)
		closedir(stream);
	return processes;
}

/* ---- Their files ------------------------------------------------------- */

/* Many processes share few files; those that have nothing inside are read
 * once. */
static bool
has_inside(const char *path)
{
	static struct ac_doctor_process clean;
	struct ac_elf_facts facts;

	for (size_t i = 0; i < clean.object_count; i++)
		if (!strcmp(clean.objects[i], path))
			return false;
	if (ac_elf_inspect(path, &facts) && facts.has_static_cublas)
		return true;
	ac_doctor_add_object(&clean, path);
	return false;
}

void
ac_doctor_read_files(struct ac_doctor_process *process, bool also_objects)
{
	struct ac_elf_facts facts;

	/* It defines the names and needs libcublas: it passes calls on. */
	if (process->inside && !has_inside(process->inside)) {
		if (!process->after)
			ac_doctor_set(&process->after, process->inside);
		free(process->inside);
		process->inside = NULL;
	}
	if (!process->inside && process->exe && has_inside(process->exe))
		ac_doctor_set(&process->inside, process->exe);
	for (size_t i = 0; also_objects && !process->inside &&
	    i < process->object_count; i++)
		if (has_inside(process->objects[i]))
			ac_doctor_set(&process->inside, process->objects[i]);
	process->may_pass_on = process->inside &&
	    !(ac_elf_inspect(process->inside, &facts) &&
	    facts.has_cublas_text);
}

/* NVIDIA's own, which the emulated GPU replaces. */
static bool
is_shared_runtime(const char *path)
{
	return !strncmp(basename(path), "libcuda", 7);
}

void
ac_doctor_read_runtime(struct ac_doctor_process *process)
{
	struct ac_elf_facts facts;

	process->has_rpath = process->exe &&
	    ac_elf_inspect(process->exe, &facts) && facts.has_rpath;
	for (size_t i = 0; i < process->object_count; i++) {
		const char *path = process->objects[i];

		if (is_shared_runtime(path) || !ac_elf_inspect(path, &facts))
			continue;
		process->has_rpath |= facts.has_rpath;
		if (facts.has_static_cudart && !process->runtime)
			ac_doctor_set(&process->runtime, path);
	}
}
