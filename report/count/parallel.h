/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/parallel.h -- the job that this process is a rank of: its ranks
 * make one run, and keep their statistics in one folder. */
#ifndef AC_REPORT_PARALLEL_H
#define AC_REPORT_PARALLEL_H

#include "report/count/file.h"

/* How the folder of a job is named, before 16 hexadecimal digits. */
#define AC_PARALLEL_FOLDER "job-"

struct ac_parallel {
	int      rank, size;         /* size 0: of no job of several ranks */
	uint64_t launcher;           /* ac_process_launcher(); 0: unknown */
	char     run[40];            /* the token that its ranks share */
};

/* What the environment says. A job has the token AUTOCAST_RUN, or one made of
 * what the launcher calls the job; where that has no name, of this host's
 * process of the launcher, so that it is a job per host. Without any of these
 * the process is of no job. Allocates nothing. */
void ac_parallel_read(struct ac_parallel *job_out);

/* Append the folder of the run, "job-" and a hash of its token. */
void ac_parallel_add_folder(struct ac_text *path, const char *run);

/* Whether `name` is the name of such a folder. */
static inline bool
ac_parallel_is_folder(const char *name)
{
	return ac_file_has_hash(name, AC_PARALLEL_FOLDER);
}

#endif
