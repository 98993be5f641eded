/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/launcher.c -- launchers that keep the library from ranks: Open MPI's
 * forward to other hosts only the variables that -x names, srun only what
 * --export says. Such ranks would run in FP32, in silence. */
#include "cmd/run/launcher.h"
#include "base/rank.h"
#include "report/count/file.h"
#include "report/count/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ADDED = 12, MOST_HOSTS = 1 << 16, WORD_BYTES = 64,
	COMMAND_BYTES = 8192 };

enum family { FAMILY_NONE, OPEN_MPI, SLURM, MPICH };

/* MPICH's and Intel MPI's forward all: behind their names there is another
 * file, mpiexec.hydra. */
static const struct {
	const char *name;            /* of the file, links followed */
	enum family family;
} launchers[] = {
	{ "mpirun", OPEN_MPI }, { "mpiexec", OPEN_MPI },
	{ "mpirun.openmpi", OPEN_MPI }, { "mpiexec.openmpi", OPEN_MPI },
	{ "orterun", OPEN_MPI }, { "prterun", OPEN_MPI }, { "srun", SLURM },
	{ "mpiexec.hydra", MPICH }, { "mpirun.hydra", MPICH },
	{ "mpiexec.mpich", MPICH }, { "mpirun.mpich", MPICH },
};

/* What a word says, with one dash or two. */
enum meaning { HOSTS, HOST_FILE, FORWARDS, TWO_VALUES, EXPORTS };

static const struct {
	enum family  family;
	const char  *word;
	enum meaning meaning;
} words[] = {
	{ OPEN_MPI, "H",           HOSTS },
	{ OPEN_MPI, "host",        HOSTS },
	{ OPEN_MPI, "hostfile",    HOST_FILE },
	{ OPEN_MPI, "machinefile", HOST_FILE },
	{ OPEN_MPI, "x",           FORWARDS },
	{ OPEN_MPI, "mca",         TWO_VALUES },
	{ OPEN_MPI, "gmca",        TWO_VALUES },
	{ OPEN_MPI, "prtemca",     TWO_VALUES },
	{ OPEN_MPI, "pmixmca",     TWO_VALUES },
	{ SLURM,    "export",      EXPORTS },
};

struct said {
	char        host[WORD_BYTES]; /* another one than this; "": none */
	bool        forwards;
	const char *exports;         /* of --export; NULL: not said */
};

static enum family
family_of(const char *path)
{
	char *real = realpath(path, NULL);
	const char *name = basename(real ? real : path);
	enum family family = FAMILY_NONE;

	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
		if (!strcmp(name, launchers[i].name))
			family = launchers[i].family;
	free(real);
	return family;
}

bool
ac_launcher_is(const char *path)
{
	return family_of(path) != FAMILY_NONE;
}

/* ---- Hosts ------------------------------------------------------------- */

static bool
is_this_host(const char *name)
{
	char own[256] = "";
	size_t length;

	(void)gethostname(own, sizeof own - 1);
	length = strcspn(own, ".");
	return !strcmp(name, "localhost") || !strncmp(name, "127.", 4)
	    || !strcmp(name, own) || (!strncmp(name, own, length)
	    && (!name[length] || name[length] == '.'));
}

/* "a:4", or the first word of a line. */
static void
look_at_host(struct said *said, const char *name, size_t length)
{
	char host[WORD_BYTES];
	struct ac_text t = AC_TEXT_IN(host);

	ac_text_add_bytes(&t, name, length);
	host[strcspn(host, ": \t")] = '\0';
	if (*host && *host != '#' && !is_this_host(host) && !*said->host)
		strcpy(said->host, host);
}

static void
look_at_hosts(struct said *said, const char *list, const char *ends)
{
	while (*list) {
		const size_t length = strcspn(list, ends);

		look_at_host(said, list, length);
		list += length + (list[length] != '\0');
	}
}

/* What cannot be read is the launcher's to complain about, and what can be read
 * only once is the launcher's to read. */
static void
look_at_file(struct said *said, const char *path)
{
	char line[512];
	const int fd = ac_file_open_regular(AT_FDCWD, path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	for (int i = 0; file && i < MOST_HOSTS
	    && fgets(line, sizeof line, file); i++)
		look_at_hosts(said, line, "\n");
	if (file)
		fclose(file);
}

/* ---- Words ------------------------------------------------------------- */

/* `word` is "--NAME", "-NAME" or "--NAME=VALUE" with a name of the table. */
static int
find_word(enum family family, const char *word)
{
	const char *name = word + 1 + (word[1] == '-');
	const size_t length = strcspn(name, "=");

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i].family == family
		    && strlen(words[i].word) == length
		    && !memcmp(words[i].word, name, length))
			return (int)i;
	return -1;
}

static void
take(struct said *said, enum meaning meaning, const char *value)
{
	static const char preload[] = "LD_PRELOAD";

	switch (meaning) {
	case HOSTS:
		look_at_hosts(said, value, ",");
		return;
	case HOST_FILE:
		look_at_file(said, value);
		return;
	case FORWARDS:
		said->forwards |= !strncmp(value, preload, sizeof preload - 1);
		return;
	case EXPORTS:
		said->exports = value;
		return;
	case TWO_VALUES:
		return;
	}
}

/* Up to the program: the first word that is neither an option nor may be the
 * value of one. */
static void
read_words(struct said *said, enum family family, char **word)
{
	bool may_be_value = false;

	for (; *word && (**word == '-' || may_be_value); word++) {
		const int i = **word == '-' ? find_word(family, *word) : -1;
		const char *value = strchr(*word, '=');

		may_be_value = **word == '-' && !value;
		if (i < 0)
			continue;
		if (value)
			value++;
		else if (!(value = *++word))
			return;
		take(said, words[i].meaning, value);
		may_be_value = words[i].meaning == TWO_VALUES;
	}
	/* A rank that is started by us has the library. */
	if (*word && !strcmp(basename(*word), "autocast"))
		said->forwards = true;
}

/* ---- What to type ------------------------------------------------------ */

/* The same command with the variables named that `run` sets. */
static void
add_command(struct ac_text *text, const struct ac_launch *launch,
    char **arguments)
{
	const struct { const char *name; bool is_set; } rows[] = {
		{ "LD_PRELOAD", true },
		{ "LD_LIBRARY_PATH", launch->emulate },
		{ ac_env_rows[AC_ENV_RUN].variable, true },
		{ ac_env_rows[AC_ENV_STATE].variable, *launch->state },
		{ ac_env_rows[AC_ENV_POLICY].variable, launch->chosen.policy
		    || ac_env_is_set(AC_ENV_POLICY) },
		{ ac_env_rows[AC_ENV_RULES].variable,
		    launch->chosen.rules.data != NULL },
	};
	char *start[2 + MOST_ADDED] = { arguments[0] };
	size_t count = 1;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!rows[i].is_set)
			continue;
		start[count++] = (char *)(uintptr_t)"-x";
		start[count++] = (char *)(uintptr_t)rows[i].name;
	}
	start[count] = NULL;
	ac_launch_add_command(text, "run", launch, start);
	ac_quote_all(text, arguments + 1);
}

/* Whether variables of ours get through --export=LIST. */
static bool
exports_all(const char *list)
{
	return !list || strstr(list, "ALL") || strstr(list, "LD_PRELOAD");
}

void
ac_launcher_warn(const struct ac_launch *launch,
    const struct ac_program *program, char **arguments)
{
	const enum family family = family_of(program->path);
	const char *name = basename(arguments[0]);
	struct said said = { .exports = NULL };
	bool is_list;
	struct ac_text command = AC_TEXT_OF(COMMAND_BYTES);

	if (family == FAMILY_NONE)
		return;
	read_words(&said, family, arguments + 1);
	if (said.forwards)
		return;
	is_list = said.exports && strcmp(said.exports, "NONE")
	    && strcmp(said.exports, "NIL");
	if (family == SLURM && !exports_all(said.exports))
		(void)ac_say(0, "%s --export=%s keeps the library from its "
		    "ranks: they start in FP32; type --export=ALL%s%s",
		    name, said.exports, is_list ? "," : "",
		    is_list ? said.exports : "");
	if (family != OPEN_MPI || !*said.host)
		return;
	add_command(&command, launch, arguments);
	(void)ac_say(0, "Open MPI's %s forwards no variable to other hosts: "
	    "ranks on %s start without the library, in FP32; type: %s", name,
	    said.host, command.data);
}

/* ---- The launcher above us --------------------------------------------- */

enum { LINE_BYTES = 1 << 16, MOST_WORDS = 1 << 12, DEEPEST = 16 };

struct line {
	char   bytes[LINE_BYTES];
	char  *words[2 * MOST_WORDS]; /* room for other ones at the end */
	size_t count;                 /* 0: it cannot be read */
};

static void
read_line(struct line *line, int pid)
{
	char name[32];
	size_t bytes;
	FILE *file;

	snprintf(name, sizeof name, "/proc/%d/cmdline", pid);
	file = fopen(name, "re");
	bytes = file ? fread(line->bytes, 1, LINE_BYTES, file) : 0;
	if (file)
		fclose(file);
	line->count = 0;
	if (!bytes || bytes == LINE_BYTES || line->bytes[bytes - 1])
		return;
	for (char *word = line->bytes; word < line->bytes + bytes;
	    word += strlen(word) + 1) {
		if (line->count == MOST_WORDS) {
			line->count = 0;
			return;
		}
		line->words[line->count++] = word;
	}
}

/* Whether `line` is more words and then our own command. */
static bool
ends_alike(const struct line *line, const struct line *own)
{
	char *const *end = line->words + line->count - own->count;

	if (!own->count || line->count <= own->count ||
	    strcmp(basename(end[0]), basename(own->words[0])))
		return false;
	for (size_t i = 1; i < own->count; i++)
		if (strcmp(end[i], own->words[i]))
			return false;
	return true;
}

/* A launcher that is a script has what runs it before its name. */
static char **
without_shell(struct line *line)
{
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
		if (!strcmp(basename(line->words[1]), launchers[i].name))
			return line->words + 1;
	return line->words;
}

/* What MPICH's mpiexec starts has a process of it in between that does not say
 * the program; what was started by `timeout` has that above it, too. */
char **
ac_launcher_words(char **arguments)
{
	static struct line own, above[2];
	struct ac_rank rank;
	unsigned found = 0, free_one = 0;
	int pid = getppid();
	size_t at;

	ac_rank_read(&rank);
	if (rank.rank < 0)
		return NULL;
	read_line(&own, getpid());
	for (int i = 0; i < DEEPEST && pid > 1; i++) {
		read_line(&above[free_one], pid);
		if (ends_alike(&above[free_one], &own)) {
			found = free_one + 1;
			free_one ^= 1;
		}
		pid = ac_process_parent(pid);
	}
	if (!found)
		return NULL;
	at = above[found - 1].count - own.count;
	while (*arguments && at < 2 * MOST_WORDS - 1)
		above[found - 1].words[at++] = *arguments++;
	above[found - 1].words[at] = NULL;
	return without_shell(&above[found - 1]);
}
