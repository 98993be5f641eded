/* SPDX-License-Identifier: Apache-2.0 */
/* base/rank.h -- which process of a parallel job this one is, as its launcher
 * (mpirun, srun, torchrun ...) says in the environment. No library of the
 * launcher's is asked. */
#ifndef AC_BASE_RANK_H
#define AC_BASE_RANK_H

#include "base/env.h"

struct ac_rank {
	int  rank;                   /* -1: no launcher says one */
	int  size;                   /* ranks in the job; 0: unknown */
	/* What all that descend from the process that the launcher started
	 * have in their environment, and the launcher has not. */
	enum ac_env_name mark;
	/* What the launcher calls the job, the same on all its hosts; "" if
	 * that is not known. */
	char job[160];
};

void ac_rank_read(struct ac_rank *rank_out);

/* Whether it is one of several ranks. */
static inline bool
ac_rank_is_parallel(const struct ac_rank *rank)
{
	return rank->rank >= 0 && rank->rank < rank->size && rank->size > 1;
}

#endif
