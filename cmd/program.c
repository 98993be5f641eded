/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/program.c -- finds the program to run and says why it cannot be.
 * A refused program is better than one that runs as if autocast were not
 * there: the loader ignores LD_PRELOAD silently in every case below. */
#include "cmd/program.h"
#include "cmd/command.h"
#include "base/env.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPTS_DEEP = 4, SCRIPT_LINE = 256 };

/* ---- Finding ----------------------------------------------------------- */

static bool
is_program(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) &&
	    !access(path, X_OK);
}

/* The first executable `name` of PATH. An empty element is the current
 * directory. */
static bool
search(const char *name, char *path_out)
{
	const char *element = ac_env(AC_ENV_PATH);

	for (;;) {
		const size_t length = strcspn(element, ":");
		struct ac_text t;

		ac_text_init(&t, path_out, PATH_MAX);
		ac_text_add_bytes(&t, element, length);
		ac_text_add(&t, length ? "/" : "./");
		ac_text_add(&t, name);
		if (!t.truncated && is_program(path_out))
			return true;
		if (!element[length])
			return false;
		element += length + 1;
	}
}

static int
find(const char *name, char *path_out)
{
	struct ac_text t;
	struct stat status;

	if (!*name)
		return ac_say(AC_EXIT_NOT_FOUND, "the program's name is empty");
	if (!strchr(name, '/')) {
		if (search(name, path_out))
			return 0;
		if (is_program(name))
			return ac_say(AC_EXIT_NOT_FOUND, "%s is not in PATH; "
			    "did you mean './%s'?", name, name);
		return ac_say(AC_EXIT_NOT_FOUND, "%s: no such program in PATH",
		    name);
	}
	ac_text_init(&t, path_out, PATH_MAX);
	ac_text_add(&t, name);
	if (t.truncated)
		return ac_say(AC_EXIT_NOT_FOUND, "%s: %s", name,
		    strerror(ENAMETOOLONG));
	if (stat(name, &status))
		return ac_say(errno == EACCES ? AC_EXIT_CANNOT_RUN
		    : AC_EXIT_NOT_FOUND, "%s: %s", name, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return ac_say(AC_EXIT_CANNOT_RUN, "%s is a directory", name);
	if (!S_ISREG(status.st_mode))
		return ac_say(AC_EXIT_CANNOT_RUN, "%s is not a regular file",
		    name);
	if (access(name, X_OK))
		return ac_say(AC_EXIT_CANNOT_RUN,
		    "%s is not executable; try 'chmod +x %s'", name, name);
	return 0;
}

/* ---- Scripts ----------------------------------------------------------- */

/* The next word of *line, cut out of it. NULL at the end. */
static char *
word(char **line)
{
	char *start = *line + strspn(*line, " \t");
	const size_t length = strcspn(start, " \t");

	if (!length)
		return NULL;
	*line = start + length;
	if (**line)
		*(*line)++ = '\0';
	return start;
}

/* The program that env(1) starts: its first word that is neither an option
 * nor an assignment. */
static char *
word_for_env(char **line)
{
	char *w;

	while ((w = word(line)))
		if (*w != '-' && !strchr(w, '='))
			return w;
	return NULL;
}

/* Read the interpreter named by the first line of the script `path`. Returns
 * 1 if there is one, 0 if `path` is no script, or an exit status. */
static int
interpreter(const char *path, char *path_out)
{
	char line[SCRIPT_LINE], *rest = line, *name;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
	const char *slash;
	int status;

	if (fd >= 0)
		close(fd);
	if (got < 2 || line[0] != '#' || line[1] != '!')
		return 0;
	line[got] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	rest += 2;
	name = word(&rest);
	slash = name ? strrchr(name, '/') : NULL;
	if (slash && !strcmp(slash, "/env"))
		name = word_for_env(&rest);
	if (!name)
		return ac_say(AC_EXIT_CANNOT_RUN,
		    "%s: its first line names no interpreter", path);
	status = find(name, path_out);
	return status ? status : 1;
}

/* ---- Judging ----------------------------------------------------------- */

/* With other rights than ours the loader drops LD_PRELOAD. */
static const char *
foreign_rights(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return NULL;
	if (status.st_mode & S_ISUID && status.st_uid != geteuid())
		return "is set-uid";
	if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP &&
	    status.st_gid != getegid())
		return "is set-gid";
	if (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0)
		return "has file capabilities";
	return NULL;
}

static int
judge(const char *name, const struct ac_program *program)
{
	const struct ac_elf_facts *facts = &program->facts;
	const char *why = NULL;

	if (!facts->is_elf)
		why = "is neither an ELF program nor a script with a #! line";
	else if (facts->is_damaged)
		why = "is damaged: it ends within its own headers";
	else if (!facts->is_native)
		why = "is for another machine than autocast";
	else if (!facts->is_dynamic)
		why = "is statically linked: no library can be preloaded; "
		    "link it dynamically";
	else if (facts->is_musl)
		why = "is linked against musl; autocast needs glibc programs";
	else if ((why = foreign_rights(program->image)))
		return ac_say(AC_EXIT_CANNOT_RUN, "%s %s: the loader preloads "
		    "nothing into it; run a copy without that",
		    program->image, why);
	if (!why)
		return 0;
	return ac_say(AC_EXIT_CANNOT_RUN, "%s%s%s %s", program->image,
	    strcmp(name, program->image) ? ", needed for " : "",
	    strcmp(name, program->image) ? name : "", why);
}

int
ac_program_find(const char *name, struct ac_program *program_out)
{
	char next[PATH_MAX];
	int status = find(name, program_out->path);

	if (status)
		return status;
	strcpy(program_out->image, program_out->path);
	for (int depth = 0; ; depth++) {
		status = interpreter(program_out->image, next);
		if (status != 1)
			break;
		if (depth == SCRIPTS_DEEP)
			return ac_say(AC_EXIT_CANNOT_RUN,
			    "%s: too many scripts that run scripts", name);
		strcpy(program_out->image, next);
	}
	if (status)
		return status;
	if (!ac_elf_inspect(program_out->image, &program_out->facts))
		return ac_say(AC_EXIT_CANNOT_RUN, "%s: %s; autocast must read "
		    "a program to tell whether it can be preloaded",
		    program_out->image, strerror(errno));
	return judge(program_out->path, program_out);
}
