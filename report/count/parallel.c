/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/parallel.c -- which job a process belongs to. Runs inside any
 * program: no heap, no descriptor kept. */
#include "report/count/parallel.h"
#include "base/rank.h"
#include "report/count/process.h"
#include "report/count/stamp.h"

#include <string.h>

/* Jobs with a name are told apart by it; what reads a folder tells those of one
 * name apart by their launchers. */
static void
name_run(struct ac_parallel *job, const struct ac_rank *rank)
{
	const uint64_t host = ac_process_host();
	struct ac_text t = AC_TEXT_IN(job->run);
	uint64_t hash = AC_STAMP_START;

	ac_text_add(&t, ac_env(AC_ENV_RUN));
	if (t.used)
		return;
	if (*rank->job) {
		hash = ac_stamp_hash(hash, rank->job, strlen(rank->job));
	} else if (job->launcher) {
		hash = ac_stamp_hash(hash, &host, sizeof host);
		hash = ac_stamp_hash(hash, &job->launcher,
		    sizeof job->launcher);
	} else {
		return;
	}
	ac_text_addf(&t, AC_PARALLEL_FOLDER "%016llx",
	    (unsigned long long)hash);
}

void
ac_parallel_read(struct ac_parallel *job_out)
{
	static char entry[512];
	struct ac_parallel job = { .size = 0 };
	struct ac_rank rank;

	ac_rank_read(&rank);
	if (ac_rank_is_parallel(&rank)) {
		struct ac_text t = AC_TEXT_IN(entry);

		ac_text_addf(&t, "%s=%s", ac_env_rows[rank.mark].variable,
		    ac_env(rank.mark));
		job.launcher = ac_process_launcher(entry);
		name_run(&job, &rank);
	}
	if (*job.run) {
		job.rank = rank.rank;
		job.size = rank.size;
	}
	*job_out = job;
}

void
ac_parallel_add_folder(struct ac_text *path, const char *run)
{
	ac_text_addf(path, AC_PARALLEL_FOLDER "%016llx", (unsigned long long)
	    ac_stamp_hash(AC_STAMP_START, run, strlen(run)));
}
