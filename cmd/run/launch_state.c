/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/launch_state.c -- where the numbers of a run go: to the user's
 * directory, or into a temporary folder that is removed after the run. */
#include "cmd/run/launch.h"
#include "base/env.h"
#include "report/count/parallel.h"
#include "report/past.h"
#include "report/read/read.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_SHOWN = 300 };

/* Remove what is in the folder `path`, and folders of jobs there. */
static void
empty(const char *path, bool with_jobs)
{
	DIR *stream = opendir(path);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		char job[PATH_MAX];

		if (*entry->d_name == '.' ||
		    !unlinkat(dirfd(stream), entry->d_name, 0) || !with_jobs ||
		    !ac_parallel_is_folder(entry->d_name))
			continue;
		snprintf(job, sizeof job, "%s/%s", path, entry->d_name);
		empty(job, false);
		(void)rmdir(job);
	}
	if (stream)
		closedir(stream);
}

void
ac_launch_remove(const char *path)
{
	empty(path, true);
	(void)rmdir(path);
}

static void
name_run(struct ac_launch *launch, const char *kind)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(launch->run, sizeof launch->run, "%s%llx-%lx-%d", kind,
	    (unsigned long long)now.tv_sec, (unsigned long)now.tv_nsec,
	    (int)getpid());
}

/* Why `directory` ("": none was found) keeps nothing. */
static void
explain(struct ac_launch *launch, const char *directory, int error)
{
	struct ac_text t = AC_TEXT_IN(launch->unkept);

	if (!error)
		ac_text_add(&t, "AUTOCAST_STATE is off");
	else if (!*directory && !ac_env_is_set(AC_ENV_STATE) &&
	    error == ENOENT)
		ac_text_add(&t, "there is no home directory");
	else {
		ac_text_add_clean(&t, *directory && strlen(directory) <=
		    LONGEST_SHOWN ? directory : "its directory");
		ac_text_addf(&t, " cannot be used: %s", ac_file_trouble(error));
	}
	if (error)
		ac_text_add(&t, "; set AUTOCAST_STATE to a directory");
}

bool
ac_launch_begin(struct ac_launch *launch)
{
	struct ac_text path = AC_TEXT_IN(launch->state);
	struct ac_text unkept = AC_TEXT_IN(launch->unkept);
	size_t fixed;
	int error;

	name_run(launch, ac_file_is_once() ? AC_FILE_ONCE : "run-");
	if (ac_file_directory(&path, &fixed)) {
		error = ac_file_make_directory(path.data, fixed);
		if (!error)
			error = ac_file_try(path.data);
		/* A run within a run: the folder goes with the outer one. */
		if (!error && ac_file_is_once())
			ac_text_add(&unkept, "the run around this one keeps "
			    "nothing");
		if (!error) {
			ac_past_prune(launch->run);
			return true;
		}
	} else {
		error = errno;
		*launch->state = '\0';
	}
	explain(launch, launch->state, error);
	*launch->state = '\0';
	return false;
}

void
ac_launch_lend(const char *from, const char *to)
{
	static const char *const lent[] = { "validated", "rates" };
	char theirs[AC_FILE_PATH], link[AC_FILE_PATH];

	for (size_t i = 0; i < sizeof lent / sizeof *lent; i++) {
		snprintf(theirs, sizeof theirs, "%s/%s", from, lent[i]);
		snprintf(link, sizeof link, "%s/%s", to, lent[i]);
		if (symlink(theirs, link) && errno != EEXIST)
			(void)ac_say(0, "%s is not used: %s", theirs,
			    strerror(errno));
	}
}

/* A folder in `place` that statistics can be kept in. */
static bool
make_folder(struct ac_launch *launch, const char *place)
{
	struct ac_text path = AC_TEXT_OF(AC_FILE_PATH);
	char *real;

	ac_text_addf(&path, "%s/" AC_FILE_ONCE_FOLDER "XXXXXX", place);
	if (path.truncated || !mkdtemp(path.data))
		return false;
	real = realpath(path.data, NULL);
	if (!real || ac_file_try(real)) {
		(void)rmdir(path.data);
		free(real);
		return false;
	}
	snprintf(launch->state, sizeof launch->state, "%s", real);
	free(real);
	return true;
}

bool
ac_launch_begin_once(struct ac_launch *launch)
{
	const char *places[] = { getenv("TMPDIR"), "/tmp", "/dev/shm" };
	struct ac_text theirs = AC_TEXT_OF(AC_FILE_PATH);

	name_run(launch, AC_FILE_ONCE);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (!places[i] || !*places[i] ||
		    !make_folder(launch, places[i]))
			continue;
		launch->is_once = true;
		if (ac_file_directory(&theirs, NULL))
			ac_launch_lend(theirs.data, launch->state);
		return true;
	}
	return false;
}

struct ac_report *
ac_launch_report(const struct ac_launch *launch)
{
	struct ac_text why = AC_TEXT_OF(512);

	return *launch->state ? ac_report_of(launch->run, &why) : NULL;
}

void
ac_launch_end(struct ac_launch *launch)
{
	if (launch->is_once)
		ac_launch_remove(launch->state);
	launch->is_once = false;
}
