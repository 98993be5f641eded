/* SPDX-License-Identifier: Apache-2.0 */
/* base/rank.c -- the variables that launchers set for each process. */
#include "base/rank.h"
#include "base/text.h"

#include <limits.h>
#include <string.h>

/* The first row with a rank counts. A launcher that was started by another one
 * comes before it: torchrun by srun or mpirun, mpirun in a step of Slurm, whose
 * variables its processes inherit. `job` names the job only if its first one is
 * set. */
static const struct launcher {
	enum ac_env_name rank, size, job[2];
	bool needs_job;         /* others set the rank, too */
	bool job_is_mark;       /* the launcher may have that rank itself */
} launchers[] = {
	{ AC_ENV_TORCH_RANK, AC_ENV_TORCH_SIZE,
	    { AC_ENV_TORCH_JOB, AC_ENV_SLURM_JOB }, true, true },
	{ AC_ENV_OMPI_RANK, AC_ENV_OMPI_SIZE,
	    { AC_ENV_PMIX_JOB, AC_ENV_OMPI_JOB }, false, false },
	{ AC_ENV_PMIX_RANK, AC_ENV_SLURM_SIZE,
	    { AC_ENV_PMIX_JOB, AC_ENV_SLURM_JOB }, false, false },
	{ AC_ENV_PMI_RANK, AC_ENV_PMI_SIZE,
	    { AC_ENV_IMPI_JOB, AC_ENV_SLURM_JOB }, true, false },
	{ AC_ENV_PMI_RANK, AC_ENV_PMI_SIZE,
	    { AC_ENV_PMI_JOB, AC_ENV_SLURM_JOB }, false, false },
	{ AC_ENV_SLURM_RANK, AC_ENV_SLURM_SIZE,
	    { AC_ENV_SLURM_STEP, AC_ENV_SLURM_JOB }, false, false },
	{ AC_ENV_TORCH_RANK, AC_ENV_TORCH_SIZE,
	    { AC_ENV_TORCH_JOB, AC_ENV_SLURM_JOB }, false, false },
};

/* The number in a variable; -1: none. */
static int
number_in(enum ac_env_name name)
{
	const char *const text = ac_env(name);
	const size_t length = strlen(text);
	double number;

	if (length && ac_text_number(text, length, &number) == length &&
	    number <= INT_MAX && number >= 0 && number == (int)number)
		return (int)number;
	return -1;
}

static void
name_job(const struct launcher *launcher, struct ac_rank *rank)
{
	const char *first = ac_env(launcher->job[0]);
	struct ac_text t = AC_TEXT_IN(rank->job);

	/* torchrun's word for a job that nobody gave a name. */
	if (!*first || !strcmp(first, "none"))
		return;
	ac_text_addf(&t, "%s %s %s", ac_env_rows[launcher->job[0]].variable,
	    first, ac_env(launcher->job[1]));
}

void
ac_rank_read(struct ac_rank *rank_out)
{
	struct ac_rank rank = { .rank = -1 };

	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
		const struct launcher *launcher = &launchers[i];

		if (launcher->needs_job && !ac_env_is_set(launcher->job[0]))
			continue;
		rank.rank = number_in(launcher->rank);
		if (rank.rank < 0)
			continue;
		rank.size = number_in(launcher->size);
		if (rank.size < 0)
			rank.size = 0;
		rank.mark = launcher->job_is_mark ? launcher->job[0]
		    : launcher->rank;
		name_job(launcher, &rank);
		break;
	}
	*rank_out = rank;
}
