/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_run.c -- one run of the program; what it writes goes to a
 * folder of ours. */
#include "cmd/tune/tune.h"
#include "base/env.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int
remove_one(const char *path, const struct stat *status, int type,
    struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	(void)remove(path);
	return 0;
}

void
ac_tune_remove(const char *path)
{
	(void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Where the run counts. */
static void
state_of(const struct ac_tune *t, char path_out[PATH_MAX])
{
	if (t->is_learning)
		ac_tune_learnt_path(t, path_out);
	else
		snprintf(path_out, PATH_MAX, "%s/state", t->base);
}

static int
open_output(const struct ac_tune *t, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/%s", t->folder, file);
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
	    0600);
}

/* With the standard error in a file as well. */
static int
run_with_files(struct ac_tune *t, const struct ac_launch *launch,
    int *ended_out)
{
	const int out = open_output(t, "stdout");
	const int err = open_output(t, "stderr");
	const int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	int status;

	if (out < 0 || err < 0) {
		status = ac_say(AC_EXIT_FAILED, "%s: cannot write in %s: %s",
		    t->verb, t->folder, strerror(errno));
	} else {
		(void)dup2(err, STDERR_FILENO);
		status = ac_again_run(launch, &t->program, t->arguments, out,
		    ended_out);
		(void)dup2(own, STDERR_FILENO);
		if (!status)
			status = ac_again_room(t->verb, t->folder);
		if (!status)
			status = ac_again_room(t->verb, t->memory);
	}
	close(own);
	if (out >= 0)
		close(out);
	if (err >= 0)
		close(err);
	return status;
}

/* An empty folder for it. */
static int
make_room(const struct ac_tune *t)
{
	char state[PATH_MAX];

	state_of(t, state);
	ac_launch_remove(state);
	ac_tune_remove(t->folder); /* what the run before left, and its check */
	ac_again_environment(t->environment);
	return mkdir(t->folder, 0700) ? ac_say(AC_EXIT_FAILED, "%s: cannot "
	    "write in %s: %s", t->verb, t->folder, strerror(errno)) : 0;
}

static int
run(struct ac_tune *t, struct ac_launch *launch, int *exit_out)
{
	int ended = 0, status = make_room(t);
	char state[PATH_MAX];

	if (status)
		return status;
	state_of(t, state);
	if (!launch->plain)
		ac_again_state(launch, state);
	ac_tune_files_note(t);
	status = run_with_files(t, launch, &ended);
	if (status)
		return status;
	if (ac_child_caught())
		return AC_EXIT_FAILED;
	*exit_out = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended)
	    : WEXITSTATUS(ended);
	ac_report_destroy(t->last);
	t->last = launch->plain ? NULL : ac_launch_report(launch);
	return ac_tune_files_take(t) && (!t->is_learning || !t->last
	    || ac_tune_keep_learnt(t, launch->run)) ? 0 : AC_EXIT_FAILED;
}

int
ac_tune_run(struct ac_tune *t, const char *policy, const char *lines,
    int *exit_out)
{
	struct ac_launch launch = t->launch;
	const char *typed = t->launch.chosen.rules.data;
	int status;

	ac_again_environment(t->environment); /* the rules are the user's */
	if (!typed)
		typed = ac_env(AC_ENV_RULES);
	if (policy)
		launch.chosen.policy = policy;
	launch.chosen.rules = (struct ac_text){ 0 };
	if (lines)
		ac_chosen_add_rule(&launch.chosen, lines);
	if (*typed)
		ac_chosen_add_rule(&launch.chosen, typed);
	status = run(t, &launch, exit_out);
	free(launch.chosen.rules.data);
	return status;
}

int
ac_tune_run_plain(struct ac_tune *t, int *exit_out)
{
	struct ac_launch launch = t->launch;

	launch.plain = true;
	return run(t, &launch, exit_out);
}
