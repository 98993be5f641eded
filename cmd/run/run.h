/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/run.h -- `autocast run`: one that a launcher started once per rank,
 * and what it says when the program has ended. */
#ifndef AC_CMD_RUN_H
#define AC_CMD_RUN_H

#include "cmd/run/launch.h"
#include "report/count/parallel.h"
#include "report/read/read.h"

/* ---- Ranks share a run, and one speaks for all (cmd/run/ranks.c) --------- */

/* If this is a rank of `job`, and statistics are kept, let the run be the
 * job's. Comes after ac_launch_begin(). */
void ac_ranks_join(struct ac_launch *launch, const struct ac_parallel *job);

/* Whether the others speak: it is a rank, and not the first. */
bool ac_ranks_is_silent(const struct ac_parallel *job);

/* Give the other ranks a second to count and to end; then the run, NULL:
 * nothing was counted. */
struct ac_report *ac_ranks_report(const struct ac_launch *launch,
    const struct ac_parallel *job);

/* Say on stderr which ranks `report` is of, in one line; nothing of a run that
 * is of no job. */
void ac_ranks_say(const struct ac_report *report);

/* ---- The end (cmd/run/end.c) --------------------------------------------- */

/* One run that has ended. */
struct ac_end {
	const struct ac_launch  *launch;
	const struct ac_program *program;
	char                   **arguments;
	const struct ac_report  *report;   /* NULL: nothing was counted */
	double                   wall;     /* seconds that it took */
	int                      ended;    /* as waitpid() says */
	bool                     is_off;   /* nothing was to be counted */
	bool                     is_spoken_for; /* by a run within it */
	bool                     is_rank;  /* of several */
};

/* Say on stderr what the run gained and did, or why nothing is known of it, and
 * what to type next. */
void ac_end_say(const struct ac_end *end);

#endif
