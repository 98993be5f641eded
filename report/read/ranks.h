/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/ranks.h -- the ranks of a job, one by one, and where they went
 * different ways. */
#ifndef AC_REPORT_RANKS_H
#define AC_REPORT_RANKS_H

#include "report/read/read.h"

struct ac_rank_total {
	int      rank;
	size_t   processes;
	/* Of the first of them; what that forks ends in ways of its own. */
	enum ac_process_end end;
	uint64_t host, start_s;
	uint32_t start_ns;
	char     node[64];
	struct ac_report_totals totals;
};

/* What a rank did at a site where others did something else. */
struct ac_rank_way {
	int      rank;
	uint32_t rungs;              /* bits AC_RANK_RUNG(); 0: it kept all */
};
#define AC_RANK_RUNG(rung, tactic) \
	(UINT32_C(1) << ((rung) * AC_TACTIC_COUNT + (tactic)))

struct ac_rank_difference {
	struct ac_site_key key;
	uint32_t id;
	char     name[32];
	double   flops;              /* of all its calls */
	bool     is_asked_for;       /* other lines of the policy decided */
	size_t   first, count;       /* its ways, by rank */
};

struct ac_ranks {
	int      size;               /* ranks of the job */
	struct ac_rank_total *rank;  /* by rank; those with statistics */
	size_t   count;
	size_t   hosts;
	struct ac_rank_difference *difference; /* by FLOPs, most first */
	size_t   difference_count;
	struct ac_rank_way *way;
	size_t   way_count;
	bool     is_short;           /* of memory: they are not compared */
};

/* The sites of one more process, of a job or not, before they are added up:
 * their ways are noted, and what its rank did in all. */
void ac_ranks_add(struct ac_report *report,
    const struct ac_file_header *header, struct ac_site_total *sites,
    size_t count);
/* `other` becomes part of `into`; its ways are gone then. */
void ac_ranks_absorb(struct ac_site_total *into, struct ac_site_total *other);
/* Let report->ranks_of say what its sites do, which are added up and sorted by
 * ac_site_compare(), and forget their ways; NULL of a run that is of no job. */
void ac_ranks_make(struct ac_report *report);
void ac_ranks_destroy(struct ac_ranks *ranks);

#endif
