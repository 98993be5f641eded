/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/end.h -- what `autocast run` says when the program has ended. */
#ifndef AC_CMD_END_H
#define AC_CMD_END_H

#include "cmd/run/launch.h"
#include "report/read/read.h"

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
