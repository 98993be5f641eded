/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/plan_state.c -- where the numbers of a run go: to the user's
 * directory, or into a folder of the run's own, which goes with it. */
#include "cmd/run/again.h"
#include "cmd/run/plan.h"
#include "base/env.h"
#include "report/read/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_SHOWN = 300 };

static void
name_run(struct ac_plan *plan, const char *kind)
{
	struct timespec now;
	struct ac_text t;

	clock_gettime(CLOCK_REALTIME, &now);
	ac_text_init(&t, plan->run, sizeof plan->run);
	ac_text_addf(&t, "%s%llx-%lx-%d", kind, (unsigned long long)now.tv_sec,
	    (unsigned long)now.tv_nsec, (int)getpid());
}

/* Why `directory` ("": none was found) keeps nothing. */
static void
explain(struct ac_plan *plan, const char *directory, int error)
{
	struct ac_text t;

	ac_text_init(&t, plan->unkept, sizeof plan->unkept);
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

/* A run within a run: the folder is the outer one's, and goes with that. */
static void
explain_outer(struct ac_plan *plan)
{
	struct ac_text t;

	ac_text_init(&t, plan->unkept, sizeof plan->unkept);
	ac_text_add(&t, "the run around this one keeps nothing");
}

bool
ac_plan_begin(struct ac_plan *plan)
{
	struct ac_text path;
	size_t fixed;
	int error;

	name_run(plan, ac_file_is_once() ? AC_FILE_ONCE : "run-");
	*plan->unkept = '\0';
	ac_text_init(&path, plan->state, sizeof plan->state);
	if (ac_file_directory(&path, &fixed)) {
		error = ac_file_make_directory(path.data, fixed);
		if (!error)
			error = ac_file_try(path.data);
		if (!error && ac_file_is_once())
			explain_outer(plan);
		if (!error)
			return true;
	} else {
		error = errno;
		*plan->state = '\0';
	}
	explain(plan, plan->state, error);
	*plan->state = '\0';
	return false;
}

void
ac_plan_lend(const char *from, const char *to)
{
	static const char *const lent[] = { "validated", "rates" };
	char theirs[AC_FILE_PATH], link[AC_FILE_PATH];
	struct ac_text t;

	for (size_t i = 0; i < sizeof lent / sizeof *lent; i++) {
		ac_text_init(&t, theirs, sizeof theirs);
		ac_text_addf(&t, "%s/%s", from, lent[i]);
		ac_text_init(&t, link, sizeof link);
		ac_text_addf(&t, "%s/%s", to, lent[i]);
		if (symlink(theirs, link) && errno != EEXIST)
			(void)ac_say(0, "%s is not used: %s", theirs,
			    strerror(errno));
	}
}

/* A folder in `place` that statistics can be kept in. */
static bool
make_folder(struct ac_plan *plan, const char *place)
{
	char path[AC_FILE_PATH], *real;
	struct ac_text t;

	ac_text_init(&t, path, sizeof path);
	ac_text_addf(&t, "%s/" AC_FILE_ONCE_FOLDER "XXXXXX", place);
	if (t.truncated || !mkdtemp(path))
		return false;
	real = realpath(path, NULL);
	if (!real || ac_file_try(real)) {
		(void)rmdir(path);
		free(real);
		return false;
	}
	ac_text_init(&t, plan->state, sizeof plan->state);
	ac_text_add(&t, real);
	free(real);
	return true;
}

bool
ac_plan_begin_once(struct ac_plan *plan)
{
	const char *places[] = { getenv("TMPDIR"), "/tmp", "/dev/shm" };
	char theirs[AC_FILE_PATH];
	struct ac_text user;

	name_run(plan, AC_FILE_ONCE);
	ac_text_init(&user, theirs, sizeof theirs);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (!places[i] || !*places[i] || !make_folder(plan, places[i]))
			continue;
		plan->is_once = true;
		if (ac_file_directory(&user, NULL))
			ac_plan_lend(theirs, plan->state);
		return true;
	}
	return false;
}

void
ac_plan_end(struct ac_plan *plan)
{
	if (plan->is_once)
		ac_again_remove(plan->state);
	plan->is_once = false;
}
