/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/again.h -- runs a program several times, each time as if it were the
 * first, for `compare`, `validate` and `tune`. */
#ifndef AC_CMD_AGAIN_H
#define AC_CMD_AGAIN_H

#include "cmd/run/launch.h"

/* Make a folder of our own in TMPDIR, its absolute path to path_out. 0, or an
 * exit status after one line on stderr that `verb` is named in. */
int ac_again_folder(const char *verb, char *path_out, size_t size);

/* After a run: 0, or an exit status after one line where the disk of `folder`
 * is full, so that what the run wrote there may be cut short. */
int ac_again_room(const char *verb, const char *folder);

/* Where standard input or error is closed, open /dev/null there: what is opened
 * next would take its place. 0, or an exit status after one line on stderr if
 * standard output is. */
int ac_again_streams(const char *verb);

/* All of `in` to `out`; false with errno. */
bool ac_again_copy(int in, int out);

/* Let the next run count in the folder `state`, quietly, with what decides as
 * in any other run: what was validated and calibrated. */
void ac_again_state(struct ac_launch *launch, const char *state);

/* The environment as `environment`, ours when we started, had it. */
void ac_again_environment(char **environment);

/* ac_launch_run() with the standard input as it was at first (of a pipe, with
 * nothing) and `output` as the standard output. */
int ac_again_run(const struct ac_launch *launch,
    const struct ac_program *program, char **arguments, int output,
    int *ended_out);

/* 0 if it ended well, `ended` being its wait status; AC_EXIT_FAILED if a signal
 * told us to stop; else `failed` after one line on stderr about `which` run. */
int ac_again_check(const char *verb, const char *which, int ended, int failed);

#endif
