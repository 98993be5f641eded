/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/compared.c -- which output was compared with that of plain runs. */
#include "cmd/run/compared.h"
#include "base/env.h"
#include "cmd/run/launcher.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POLICY_BYTES = 1 << 20, HEAD_BYTES = PATH_MAX + 16 };

static const char folder[] = "compared", same[] = "same", differs[] = "differs";

/* ---- Which program ------------------------------------------------------- */

/* Whether the program runs the text behind -c, or the module behind -m. */
static bool
is_interpreter(const char *name)
{
	static const char *const begins[] = { "python", "pypy", "sh", "bash",
		"dash", "zsh" };

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
		const size_t length = strlen(begins[i]);

		if (!strncmp(name, begins[i], length) && name[length
		    + strspn(name + length, "0123456789.")] == '\0')
			return true;
	}
	return false;
}

/* Whether `path` is a file that a program may be told to run. */
static bool
is_program(const char *path)
{
	static const char *const ends[] = { ".py", ".sh", ".R", ".jl", ".lua",
		".pl", ".rb", ".m" };
	const char *dot = strrchr(basename(path), '.');
	char magic[4] = "";
	const int fd = ac_file_open_regular(AT_FDCWD, path);
	bool has_end = false;

	if (fd < 0)
		return false;
	for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
		has_end |= !strcmp(dot, ends[i]);
	if (read(fd, magic, sizeof magic) != sizeof magic)
		magic[0] = '\0';
	close(fd);
	return has_end || !memcmp(magic, "#!", 2)
	    || !memcmp(magic, "\177ELF", 4);
}

static bool
add_file(uint64_t *hash, const char *path)
{
	uint64_t other;

	if (!ac_stamp_of_program(path, &other))
		return false;
	*hash = ac_stamp_hash(*hash, &other, sizeof other);
	return true;
}

/* What an interpreter or a launcher runs: the first argument that says so. A
 * text has no path: it is a program of its own. */
static bool
find_script(const struct ac_program *program, char **arguments,
    const char **path_out, const char **text_out)
{
	const bool interprets = is_interpreter(basename(program->image));

	for (char **a = arguments + 1; *arguments && *a; a++) {
		if (interprets && a[1] && (!strcmp(*a, "-c") ||
		    !strcmp(*a, "-m"))) {
			*text_out = a[1];
			return true;
		}
		if (is_program(*a)) {
			*path_out = *a;
			return true;
		}
	}
	return false;
}

/* Whether the program does nothing but to start another one. */
static bool
is_starter(const char *path)
{
	static const char *const names[] = { "chrt", "env", "ionice", "nice",
		"nohup", "numactl", "setsid", "stdbuf", "taskset", "time",
		"timeout" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(basename(path), names[i]))
			return true;
	return ac_launcher_is(path);
}

/* What counts is the program behind it: the first word that is one. */
static const struct ac_program *
look_behind(const struct ac_program *program, char ***arguments)
{
	static struct ac_program behind, found;
	struct ac_text why = AC_TEXT_OF(HEAD_BYTES);

	for (char **a = *arguments; *a && is_starter(program->path);) {
		if (!*++a || ac_program_look(*a, &found, &why))
			continue;
		behind = found;
		program = &behind;
		*arguments = a;
	}
	return program;
}

static bool
find_program(const struct ac_program *program, char **arguments,
    struct ac_compared *compared)
{
	uint64_t *hash = &compared->stamp.program;
	const char *path, *text = "";
	char real[PATH_MAX];
	struct ac_text name = AC_TEXT_IN(compared->path);

	program = look_behind(program, &arguments);
	path = program->path;
	*hash = AC_STAMP_START;
	if (!add_file(hash, program->path) ||
	    (strcmp(program->image, program->path) &&
	    !add_file(hash, program->image)))
		return false;
	if (find_script(program, arguments, &path, &text) && !*text &&
	    !add_file(hash, path))
		return false;
	*hash = ac_stamp_hash(*hash, text, strlen(text));
	if (!realpath(path, real))
		return false;
	ac_text_add(&name, real);
	if (*text)
		ac_text_addf(&name, " %016llx", (unsigned long long)
		    ac_stamp_of_lines(text));
	return true;
}

/* ---- Which policy -------------------------------------------------------- */

static bool
find_policy(const struct ac_chosen *chosen, const char *gpu,
    struct ac_compared *compared)
{
	struct ac_text text = ac_say_buffer(POLICY_BYTES);
	const bool done = ac_chosen_print(chosen, &text);

	ac_text_addf(&text, "# %s, autocast %s\n", gpu, PACKAGE_VERSION);
	compared->stamp.lines = ac_stamp_of_lines(text.data);
	free(text.data);
	return done && !text.truncated;
}

bool
ac_compared_of(const struct ac_chosen *chosen,
    const struct ac_program *program, char **arguments, const char *gpu,
    struct ac_compared *compared_out)
{
	*compared_out = (struct ac_compared){ .stamp.folder = folder };
	return find_program(program, arguments, compared_out) &&
	    find_policy(chosen, gpu, compared_out);
}

/* ---- Stamps -------------------------------------------------------------- */

/* Names are of two hashes, sixteen digits each: of the policy, of the
 * program. */
enum { HASH_DIGITS = 16, NAME_LENGTH = 2 * HASH_DIGITS + 1 };

struct found {
	bool differs;
	char path[PATH_MAX];
};

/* The stamp called `name` in `directory`: "VERDICT\nPATH\n". */
static bool
read_stamp(int directory, const char *name, struct found *found)
{
	char head[HEAD_BYTES], *path, *end;
	ssize_t got;
	int fd;

	if (strlen(name) != NAME_LENGTH)
		return false;
	fd = ac_file_open_regular(directory, name);
	if (fd < 0)
		return false;
	got = read(fd, head, sizeof head - 1);
	close(fd);
	head[got > 0 ? got : 0] = '\0';
	path = strchr(head, '\n');
	end = path ? strchr(path + 1, '\n') : NULL;
	if (!end || end - path > PATH_MAX)
		return false;
	*path++ = *end = '\0';
	found->differs = !strcmp(head, differs);
	if (!found->differs && strcmp(head, same))
		return false;
	memcpy(found->path, path, strlen(path) + 1);
	return true;
}

/* Of a stamp that is `found` under this name, what it says of the program;
 * `state` if nothing more than was known. */
static enum ac_compared_state
weigh(const struct ac_compared *compared, const char *name,
    const struct found *found, enum ac_compared_state state)
{
	char own[NAME_LENGTH + 1];

	snprintf(own, sizeof own, "%016llx-%016llx",
	    (unsigned long long)compared->stamp.lines,
	    (unsigned long long)compared->stamp.program);
	if (!strcmp(name, own))
		return found->differs ? AC_COMPARED_DIFFERS : AC_COMPARED_SAME;
	if (!strcmp(name + HASH_DIGITS, own + HASH_DIGITS))
		return state == AC_COMPARED_NEVER ? AC_COMPARED_ELSEWHERE
		    : state;
	return strcmp(found->path, compared->path) ? state
	    : AC_COMPARED_BEFORE;
}

/* Every stamp in turn, until one counts; or those of other builds under this
 * policy go. */
static enum ac_compared_state
look(const struct ac_compared *compared, bool replaces)
{
	enum ac_compared_state state = AC_COMPARED_NEVER;
	char policy[HASH_DIGITS + 1];
	const struct dirent *entry;
	struct found found;
	DIR *stream;
	struct ac_text path = AC_TEXT_OF(AC_FILE_PATH);

	snprintf(policy, sizeof policy, "%016llx",
	    (unsigned long long)compared->stamp.lines);
	stream = ac_stamp_directory(&compared->stamp, &path, NULL)
	    ? opendir(path.data) : NULL;
	while (stream && (entry = readdir(stream)) && (replaces ||
	    (state != AC_COMPARED_SAME && state != AC_COMPARED_DIFFERS))) {
		if (!read_stamp(dirfd(stream), entry->d_name, &found))
			continue;
		state = weigh(compared, entry->d_name, &found, state);
		if (replaces && !strcmp(found.path, compared->path) &&
		    !strncmp(entry->d_name, policy, HASH_DIGITS))
			(void)ac_file_remove(dirfd(stream), entry->d_name);
	}
	if (stream)
		closedir(stream);
	return state;
}

enum ac_compared_state
ac_compared_look(const struct ac_compared *compared)
{
	return look(compared, false);
}

bool
ac_compared_leave(const struct ac_compared *compared, bool it_differs)
{
	struct ac_text head = AC_TEXT_OF(HEAD_BYTES);

	(void)look(compared, true);
	ac_text_addf(&head, "%s\n%s\n", it_differs ? differs : same,
	    compared->path);
	return ac_stamp_leave(&compared->stamp, "", head.data);
}
