/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_check.c -- is what a run left good? A command of the user's
 * says so, or numbers that moved by no more than he allows, or the exit
 * status. */
#include "cmd/tune/tune.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_TELL = 125 };

/* ---- Outputs ------------------------------------------------------------- */

/* Copies of the last run's, as `kind`NAME; errno. */
static bool
copy_outputs(const struct ac_tune *t, const char *folder, const char *kind)
{
	DIR *stream = opendir(t->folder);
	const struct dirent *entry;
	bool done = stream != NULL;

	while (done && (entry = readdir(stream))) {
		struct ac_text from = AC_TEXT_OF(PATH_MAX);
		struct ac_text to = AC_TEXT_OF(PATH_MAX);

		if (*entry->d_name == '.')
			continue;
		ac_text_addf(&from, "%s/%s", t->folder, entry->d_name);
		ac_text_addf(&to, "%s/%s%s", folder, kind, entry->d_name);
		done = !to.truncated && ac_tune_copy(from.data, to.data);
	}
	if (stream)
		(void)closedir(stream);
	return done;
}

/* Where they lie for a command that is asked again. */
static void
name_same(const struct ac_tune *t, char path_out[PATH_MAX])
{
	snprintf(path_out, PATH_MAX, "%s/same", t->base);
}

static bool
keep_same(const struct ac_tune *t)
{
	char same[PATH_MAX];

	name_same(t, same);
	ac_tune_remove(same);
	return (!mkdir(same, 0700) && copy_outputs(t, same, ""))
	    || ac_say(0, "%s: cannot write in %s: %s", t->verb, same,
	    strerror(errno));
}

/* ---- A command ----------------------------------------------------------- */

/* In the folder with the run's outputs, but ./check is the caller's. */
static void
start(const struct ac_tune *t, const char *from)
{
	const bool is_here = !strncmp(t->check, "./", 2)
	    || !strncmp(t->check, "../", 3);
	struct ac_text text = AC_TEXT_OF(PATH_MAX * 2);

	if (is_here)
		ac_quotef(&text, "%s/", from);
	ac_text_add(&text, t->check);
	if (text.truncated || chdir(t->folder))
		_exit(CANNOT_TELL);
	(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	execl("/bin/sh", "sh", "-c", text.data, (char *)NULL);
	_exit(127);
}

/* Its exit status; 128 and more: a signal; negative: it could not begin. */
static int
ask(const struct ac_tune *t)
{
	char from[PATH_MAX];
	int status;
	pid_t child;

	if (!getcwd(from, sizeof from))
		return -1;
	ac_again_environment(t->environment);
	child = fork();
	if (!child)
		start(t, from);
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	if (child < 0)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
	    : WEXITSTATUS(status);
}

static enum ac_tune_verdict
judge_by_command(const struct ac_tune *t)
{
	const int status = ask(t);

	switch (status) {
	case 0:
		return AC_TUNE_GOOD;
	case CANNOT_TELL:
		return AC_TUNE_UNKNOWN;
	case 126:
	case 127:
		(void)ac_say(0, "%s: the check '%s' cannot be started: its "
		    "status is %d", t->verb, t->check, status);
		return AC_TUNE_FAILED;
	default:
		if (status < 0)
			(void)ac_say(0, "%s: the check cannot be started: %s",
			    t->verb, strerror(errno));
		return status < 0 ? AC_TUNE_FAILED : AC_TUNE_BAD;
	}
}

/* ---- Numbers ------------------------------------------------------------- */

/* All of a file, malloc'ed; NULL with errno. */
static char *
read_file(const char *folder, const char *kind, const char *file,
    size_t *count_out)
{
	struct ac_text path = AC_TEXT_OF(PATH_MAX);
	char *bytes;
	int fd;

	ac_text_addf(&path, "%s/%s%s", folder, kind, file);
	fd = path.truncated ? -1 : open(path.data, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	bytes = ac_saved_bytes(fd, SIZE_MAX, count_out);
	(void)close(fd);
	return bytes;
}

static void
note_compared(struct ac_tune_compared *c, const struct ac_numbers_result *r)
{
	c->count += r->numbers - r->unstable + (r->is_binary
	    && !r->unstable_bytes);
	c->left_out += r->unstable + r->unstable_bytes;
}

static bool
is_near(struct ac_tune *t, const char *file, const char *plain,
    size_t plain_count)
{
	size_t count, again_count;
	char *now = read_file(t->folder, "", file, &count);
	char *again = t->has_again ? read_file(t->memory, "again-", file,
	    &again_count) : NULL;
	struct ac_numbers *numbers = ac_numbers_create(plain, plain_count);
	struct ac_numbers_result result = { .beyond = 1 };

	if (now && numbers && (!again
	    || ac_numbers_learn(numbers, again, again_count))
	    && ac_numbers_compare(numbers, now, count, t->within))
		ac_numbers_result(numbers, &result);
	note_compared(&t->compared, &result);
	ac_numbers_destroy(numbers);
	free(again);
	free(now);
	return !result.beyond && !result.differing_lines
	    && !result.differing_bytes;
}

/* Each output of the plain run, but for what it says on the standard error. */
static enum ac_tune_verdict
judge_by_numbers(struct ac_tune *t)
{
	static const char kind[] = "plain-";
	enum ac_tune_verdict verdict = AC_TUNE_GOOD;
	DIR *stream = opendir(t->memory);
	const struct dirent *entry;

	if (!stream)
		return AC_TUNE_FAILED;
	t->compared = (struct ac_tune_compared){ 0 };
	while (verdict == AC_TUNE_GOOD && (entry = readdir(stream))) {
		const char *file = entry->d_name + sizeof kind - 1;
		size_t count;
		char *plain;

		if (strncmp(entry->d_name, kind, sizeof kind - 1)
		    || !strcmp(file, "stderr"))
			continue;
		plain = read_file(t->memory, kind, file, &count);
		if (!plain || !is_near(t, file, plain, count))
			verdict = AC_TUNE_BAD;
		free(plain);
	}
	(void)closedir(stream);
	return verdict;
}

bool
ac_tune_has_outputs(const struct ac_tune *t)
{
	size_t count = 0;

	if (t->lacks_files || t->glob_count)
		return !t->lacks_files; /* a line said which */
	free(read_file(t->folder, "", "stdout", &count));
	return count || ac_say(0, "%s: the program prints nothing that "
	    "--within could compare; --files names what it writes", t->verb);
}

bool
ac_tune_keep_plain(struct ac_tune *t, bool again)
{
	const bool done = copy_outputs(t, t->memory, again ? "again-"
	    : "plain-") && (!again || ac_tune_note_again(t));

	return done || ac_say(0, "%s: the outputs cannot be kept in %s: %s",
	    t->verb, t->memory, strerror(errno));
}

bool
ac_tune_compared_nothing(const struct ac_tune *t)
{
	return t->compared.left_out && !t->compared.count;
}

/* ---- Both ---------------------------------------------------------------- */

enum ac_tune_verdict
ac_tune_judge(struct ac_tune *t, int status)
{
	if (status != t->plain_exit)
		return AC_TUNE_BAD;
	if (t->check)
		return keep_same(t) ? judge_by_command(t) : AC_TUNE_FAILED;
	return t->within > 0 ? judge_by_numbers(t) : AC_TUNE_GOOD;
}

enum ac_tune_verdict
ac_tune_judge_again(struct ac_tune *t)
{
	char same[PATH_MAX];

	name_same(t, same);
	ac_tune_remove(t->folder);
	if (!rename(same, t->folder))
		return judge_by_command(t);
	(void)ac_say(0, "%s: cannot write in %s: %s", t->verb, t->base,
	    strerror(errno));
	return AC_TUNE_FAILED;
}
