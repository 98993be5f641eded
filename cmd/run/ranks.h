/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/ranks.h -- `autocast run` that a launcher started once per rank: the
 * ranks share a run, and one of them speaks for all. */
#ifndef AC_CMD_RANKS_H
#define AC_CMD_RANKS_H

#include "cmd/run/launch.h"
#include "report/count/parallel.h"

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

#endif
