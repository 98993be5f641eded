/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/program.c -- finds the program to run and says why it cannot be.
 * A refused program is better than one that runs as if autocast were not
 * there: the loader ignores LD_PRELOAD silently in every case below. */
#include "cmd/run/program.h"
#include "cmd/command.h"
#include "base/env.h"
#include "report/count/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
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
		struct ac_text t = ac_text_in(path_out, PATH_MAX);

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

__attribute__((format(printf, 3, 4)))
static enum ac_obstacle
because(struct ac_text *why, enum ac_obstacle obstacle, const char *format, ...)
{
	char line[2 * PATH_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	ac_text_add(why, line);
	return obstacle;
}

bool
ac_program_is_model(const char *name, size_t length)
{
	const char *at = AC_EMULATED_MODELS;

	while (*at) {
		const size_t word = strcspn(at, ", ");

		if (word == length && !strncasecmp(at, name, length))
			return strncmp(at, "or ", 3);
		at += word + strspn(at + word, ", ");
	}
	return false;
}

static enum ac_obstacle
find_in_path(const char *name, char *path_out, struct ac_text *why)
{
	const char *const ending = strrchr(name, '.');

	if (search(name, path_out))
		return AC_OBSTACLE_NONE;
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return because(why, AC_OBSTACLE_CANNOT_RUN,
		    "%s is a directory", name);
	if (is_program(name))
		return because(why, AC_OBSTACLE_NOT_FOUND, "%s is not in PATH; "
		    "did you mean './%s'?", name, name);
	if (ac_program_is_model(name, strlen(name)))
		return because(why, AC_OBSTACLE_NOT_FOUND, "%s: no such "
		    "program in PATH; did you mean '--emulate=%s'?", name,
		    name);
	if (ac_policy_profile_text(name))
		return because(why, AC_OBSTACLE_NOT_FOUND, "%s: no such "
		    "program in PATH; did you mean '--policy %s'?", name, name);
	if (strchr(name, '=') && strcspn(name, "=/ ") == strcspn(name, "="))
		return because(why, AC_OBSTACLE_NOT_FOUND, "%s: no such "
		    "program in PATH; 'env %s PROGRAM' sets a variable", name,
		    name);
	if (strchr(name, ' '))
		return because(why, AC_OBSTACLE_NOT_FOUND, "%s: no such "
		    "program in PATH; its arguments are words of their own",
		    name);
	if (ending && !access(name, F_OK) && (!strcmp(ending, ".py")
	    || !strcmp(ending, ".sh")))
		return because(why, AC_OBSTACLE_NOT_FOUND, "%s: no such "
		    "program in PATH; did you mean '%s %s'?", name,
		    ending[1] == 'p' ? "python3" : "bash", name);
	return because(why, AC_OBSTACLE_NOT_FOUND,
	    "%s: no such program in PATH", name);
}

static enum ac_obstacle
find(const char *name, char *path_out, struct ac_text *why)
{
	struct ac_text t = ac_text_in(path_out, PATH_MAX);
	struct stat status;

	if (!*name)
		return because(why, AC_OBSTACLE_NOT_FOUND,
		    "the program's name is empty");
	if (!strchr(name, '/'))
		return find_in_path(name, path_out, why);
	ac_text_add(&t, name);
	if (t.truncated)
		return because(why, AC_OBSTACLE_NOT_FOUND, "%s: %s", name,
		    strerror(ENAMETOOLONG));
	if (stat(name, &status) && errno == ENOENT && strchr(name, ' '))
		return because(why, AC_OBSTACLE_NOT_FOUND, "%s: %s; the "
		    "program's arguments are words of their own", name,
		    strerror(errno));
	if (stat(name, &status))
		return because(why, errno == EACCES ? AC_OBSTACLE_CANNOT_RUN
		    : AC_OBSTACLE_NOT_FOUND, "%s: %s", name, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return because(why, AC_OBSTACLE_CANNOT_RUN,
		    "%s is a directory", name);
	if (!S_ISREG(status.st_mode))
		return because(why, AC_OBSTACLE_CANNOT_RUN,
		    "%s is not a regular file", name);
	if (access(name, X_OK))
		return because(why, AC_OBSTACLE_CANNOT_RUN,
		    "%s is not executable; try 'chmod +x %s'", name, name);
	return AC_OBSTACLE_NONE;
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

/* The interpreter named by the first line of the script `path`, "" if it is no
 * script. */
static enum ac_obstacle
interpreter(const char *path, char *path_out, struct ac_text *why)
{
	char line[SCRIPT_LINE], *rest = line, *name;
	const int fd = ac_file_open_regular(AT_FDCWD, path);
	const ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
	enum ac_obstacle obstacle;
	const char *slash;

	if (fd >= 0)
		close(fd);
	*path_out = '\0';
	if (got < 2 || line[0] != '#' || line[1] != '!')
		return AC_OBSTACLE_NONE;
	line[got] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (strchr(line, '\r'))
		return because(why, AC_OBSTACLE_CANNOT_RUN, "%s: its lines end "
		    "as those of Windows; type: sed -i 's/\\r$//' %s", path,
		    path);
	rest += 2;
	name = word(&rest);
	slash = name ? strrchr(name, '/') : NULL;
	if (slash && !strcmp(slash, "/env"))
		name = word_for_env(&rest);
	if (!name)
		return because(why, AC_OBSTACLE_CANNOT_RUN,
		    "%s: its first line names no interpreter", path);
	obstacle = find(name, path_out, why);
	if (obstacle)
		ac_text_addf(why, " (the interpreter of %s)", path);
	return obstacle;
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

/* What cannot be preloaded into, worst first. */
static enum ac_obstacle
judge_facts(const struct ac_elf_facts *facts, const char **why_out)
{
	const struct {
		bool holds;
		enum ac_obstacle obstacle;
		const char *why;
	} rows[] = {
		{ !facts->is_elf, AC_OBSTACLE_CANNOT_RUN,
		    "is neither an ELF program nor a script with a #! line" },
		{ facts->is_damaged, AC_OBSTACLE_CANNOT_RUN,
		    "is damaged: it ends within its own headers" },
		{ !facts->is_native, AC_OBSTACLE_MACHINE,
		    "is for another machine than autocast" },
		{ !facts->is_dynamic, AC_OBSTACLE_STATIC,
		    "is statically linked: no library can be preloaded; "
		    "link it dynamically" },
		{ facts->is_musl, AC_OBSTACLE_MUSL,
		    "is linked against musl; autocast needs glibc programs" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!rows[i].holds)
			continue;
		*why_out = rows[i].why;
		return rows[i].obstacle;
	}
	return AC_OBSTACLE_NONE;
}

static enum ac_obstacle
judge(const struct ac_program *program, struct ac_text *why)
{
	const char *said = NULL, *rights;
	const enum ac_obstacle obstacle = judge_facts(&program->facts, &said);
	const bool is_script = strcmp(program->path, program->image) != 0;

	if (obstacle != AC_OBSTACLE_NONE)
		return because(why, obstacle, "%s%s%s %s", program->image,
		    is_script ? ", needed for " : "",
		    is_script ? program->path : "", said);
	rights = foreign_rights(program->image);
	if (rights)
		return because(why, AC_OBSTACLE_RIGHTS, "%s %s: the loader "
		    "preloads nothing into it; run a copy without that",
		    program->image, rights);
	return AC_OBSTACLE_NONE;
}

enum ac_obstacle
ac_program_look(const char *name, struct ac_program *program_out,
    struct ac_text *why)
{
	char next[PATH_MAX];
	enum ac_obstacle obstacle = find(name, program_out->path, why);

	strcpy(program_out->image, obstacle ? "" : program_out->path);
	for (int depth = 0; !obstacle; depth++) {
		obstacle = interpreter(program_out->image, next, why);
		if (obstacle || !*next)
			break;
		if (depth == SCRIPTS_DEEP)
			return because(why, AC_OBSTACLE_CANNOT_RUN,
			    "%s: too many scripts that run scripts", name);
		strcpy(program_out->image, next);
	}
	if (obstacle)
		return obstacle;
	if (!ac_elf_inspect(program_out->image, &program_out->facts))
		return because(why, AC_OBSTACLE_CANNOT_RUN, "%s: %s; autocast "
		    "must read a program to tell whether it can be preloaded",
		    program_out->image, strerror(errno));
	return judge(program_out, why);
}

int
ac_program_find(const char *name, struct ac_program *program_out)
{
	enum ac_obstacle obstacle;
	struct ac_text why = AC_TEXT_OF(2 * PATH_MAX);

	obstacle = ac_program_look(name, program_out, &why);
	if (obstacle == AC_OBSTACLE_NONE)
		return 0;
	return ac_say(obstacle == AC_OBSTACLE_NOT_FOUND ? AC_EXIT_NOT_FOUND
	    : AC_EXIT_CANNOT_RUN, "%s", why.data);
}
