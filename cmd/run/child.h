/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/child.h -- the program as a child process of `autocast run`. */
#ifndef AC_CMD_CHILD_H
#define AC_CMD_CHILD_H

#include "cmd/run/program.h"
#include "base/env.h"

#include <sys/types.h>

/* Called now and then while the program runs, often at first. */
struct ac_child_watch {
	void (*look)(pid_t pid, void *context); /* may be NULL */
	void  *context;
};

/* What a run cost: of the program and of all processes waited for in it. */
struct ac_child_cost {
	double wall, user, system;   /* seconds */
	double peak_bytes;           /* of memory, of the largest process */
};

struct ac_launch;

/* How the program is started. */
struct ac_child {
	const struct ac_launch  *launch;
	const struct ac_program *program;
	char       **arguments;      /* argv, NULL-terminated */
	const char  *library;        /* libautocast.so, or NULL: run it plain */
	const char  *emulator;       /* directory, or NULL: the real GPU */
	const char  *policy;         /* or NULL: as the environment says */
};

/* Put what the child needs into our own environment, which it inherits.
 * False if a path cannot be preloaded; one line on stderr says so. */
bool ac_child_prepare(const struct ac_child *child);

/* Give the processes that are started from now on a file without a name to add
 * to, with its path in the variable `name`. -1 and errno: there is no place. */
int ac_child_open_notes(enum ac_env_name name);
/* One for what the emulated GPU refused them. One run at a time. */
void ac_child_note_refusals(void);
/* Add the N-th of them, from 0: "cuGetExportTable: is not built"; false, and
 * nothing, where there is none. What is noted may be anything. */
bool ac_child_add_refusal(struct ac_text *text, unsigned n);

/* Start it and wait for its end, passing on the signals sent to us; afterwards
 * they do what they did before. The wait status to *status_out. Returns 0, or
 * an exit status after one line on stderr if it could not be started. */
int ac_child_run(const struct ac_child *child, int *status_out);

/* Catch the signals that are passed on from now on, and SIGPIPE, for a caller
 * who has something to tidy up; the last one caught, 0: none. Then have them do
 * what they did before. */
void ac_child_catch(void);
int ac_child_caught(void);
void ac_child_release(void);

/* Hold those signals back, while a temporary folder is read and removed;
 * then let them through again. */
void ac_child_hold(bool hold);

/* The exit status that `status` stands for. Does not return when a signal
 * ended the child: it ends us the same way, so that a shell sees it. */
int ac_child_exit(int status);

#endif
