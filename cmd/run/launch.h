/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/launch.h -- how a program is run with the library preloaded: the
 * choices of a command line, checked, then carried out. For every command that
 * runs a program. */
#ifndef AC_CMD_LAUNCH_H
#define AC_CMD_LAUNCH_H

#include "cmd/run/child.h"
#include "cmd/command.h"
#include "report/count/file.h"

struct ac_launch {
	struct ac_chosen chosen;
	bool        emulate;
	const char *model;               /* of --emulate=MODEL, or NULL: the
	                                  * environment's */
	const char *facts;               /* directory for records, or NULL */
	char        state[AC_FILE_PATH]; /* absolute; "": none is kept */
	char        unkept[512];         /* why not in the user's directory */
	bool        is_once;             /* `state` goes with the run */
	char        run[40];             /* ties the run's processes together */
	bool        plain;               /* without the library */
	struct ac_child_watch watch;     /* see cmd/run/child.h; may be empty */
	struct ac_child_cost *cost;      /* set when it has ended, or NULL */
};

/* Say that an option of ours stands behind the program, and so is its own. */
void ac_launch_warn(char **words);

/* One more option that these commands share, and the first id of one's own. */
enum { AC_LAUNCH_EMULATE = AC_OPTION_OWN, AC_LAUNCH_OWN };

/* Take that or AC_POLICY_OPTIONS; false: it is another option. */
bool ac_launch_take(struct ac_launch *launch, int option, const char *value);

/* Give the run its token and the user's directory of statistics, created as far
 * as that is possible. False: nothing can be kept there, launch->unkept says
 * why. */
bool ac_launch_begin(struct ac_launch *launch);
/* Then: let the numbers of this run go into a folder of its own, in TMPDIR,
 * /tmp or /dev/shm. False: there is no place for one. */
bool ac_launch_begin_once(struct ac_launch *launch);
/* What was counted in the run, once it has ended; NULL: nothing. */
struct ac_report *ac_launch_report(const struct ac_launch *launch);
/* Remove that folder, if there is one. */
void ac_launch_end(struct ac_launch *launch);
/* Remove the files in the folder `path`, and it. */
void ac_launch_remove(const char *path);
/* Let what decides in the user's directory `from`, validated lines and measured
 * rates, do so in the directory `to`. */
void ac_launch_lend(const char *from, const char *to);

/* 0, or an exit status after one line on stderr that `verb` is named in. */
int ac_launch_check_model(const struct ac_launch *launch, const char *verb);
/* For a GPU in this process: the folder of the emulated one, with its model in
 * the environment; NULL: the real one is wanted. The same result. */
int ac_launch_emulator(const struct ac_launch *launch, const char **folder_out);
/* Find the program that was typed as `name`; the emulated GPU, if it is wanted,
 * can serve it. */
int ac_launch_find(const struct ac_launch *launch, const char *name,
    struct ac_program *program_out);
/* Both, and the policy, whose problems are shown line by line. */
int ac_launch_check(const struct ac_launch *launch, const char *verb,
    const char *name, struct ac_program *program_out);

/* Its options, for a shell, with a blank before each
 * (cmd/run/quote.c); and the command that does VERB to this very run. */
void ac_launch_add_options(struct ac_text *text,
    const struct ac_launch *launch);
void ac_launch_add_command(struct ac_text *text, const char *verb,
    const struct ac_launch *launch, char **arguments);

/* Run the program to its end; its wait status to *status_out. Returns 0, or
 * an exit status after one line on stderr if it could not be started. */
int ac_launch_run(const struct ac_launch *launch,
    const struct ac_program *program, char **arguments, int *status_out);

#endif
