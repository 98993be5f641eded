/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/base/test_rank.c -- which rank launchers say, of which job. */
#include "base/rank.h"
#include "tests/unit/cases.h"

static const struct {
	const char *set;                /* "NAME=VALUE NAME=VALUE ..." */
	int         rank, size;
	const char *mark, *job;
} rows[] = {
	{ "", -1, 0, NULL, "" },
	/* As Open MPI 4.1.4 and MPICH 4.0.2 set them. */
	{ "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1 "
	    "PMIX_NAMESPACE=591331329 "
	    "OMPI_MCA_orte_precondition_transports=b0-d7", 1, 2,
	    "OMPI_COMM_WORLD_RANK", "PMIX_NAMESPACE 591331329 b0-d7" },
	{ "PMI_RANK=3 PMI_SIZE=4", 3, 4, "PMI_RANK", "" },
	{ "PMI_RANK=3 PMI_SIZE=4 I_MPI_HYDRA_UUID=ab", 3, 4, "PMI_RANK",
	    "I_MPI_HYDRA_UUID ab " },
	{ "PMI_RANK=3 PMI_SIZE=4 PMI_JOBID=9.0", 3, 4, "PMI_RANK",
	    "PMI_JOBID 9.0 " },
	{ "SLURM_PROCID=7 SLURM_STEP_NUM_TASKS=8 SLURM_JOB_ID=5 "
	    "SLURM_STEP_ID=0", 7, 8, "SLURM_PROCID", "SLURM_STEP_ID 0 5" },
	/* A batch script is a rank of no step. */
	{ "SLURM_PROCID=0 SLURM_JOB_ID=5 SLURM_NTASKS=8", 0, 0,
	    "SLURM_PROCID", "" },
	{ "PMIX_RANK=2 PMIX_NAMESPACE=slurm.pmix.5.0 SLURM_PROCID=2 "
	    "SLURM_STEP_NUM_TASKS=8 SLURM_JOB_ID=5 SLURM_STEP_ID=0", 2, 8,
	    "PMIX_RANK", "PMIX_NAMESPACE slurm.pmix.5.0 5" },
	{ "RANK=5 WORLD_SIZE=8 TORCHELASTIC_RUN_ID=x", 5, 8,
	    "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RUN_ID x " },
	{ "RANK=5 WORLD_SIZE=8 TORCHELASTIC_RUN_ID=none", 5, 8,
	    "TORCHELASTIC_RUN_ID", "" },
	/* What srun started has the variables of both: the inner one counts. */
	{ "RANK=5 WORLD_SIZE=8 TORCHELASTIC_RUN_ID=x SLURM_PROCID=1 "
	    "SLURM_STEP_NUM_TASKS=2 SLURM_JOB_ID=5 SLURM_STEP_ID=0", 5, 8,
	    "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RUN_ID x 5" },
	{ "RANK=5 SLURM_PROCID=1", 1, 0, "SLURM_PROCID", "" },
	{ "RANK=5 WORLD_SIZE=6", 5, 6, "RANK", "" },
	/* What is no number is no rank, and no size. */
	{ "OMPI_COMM_WORLD_RANK=x PMI_RANK=1 PMI_SIZE=-2", 1, 0, "PMI_RANK",
	    "" },
	{ "RANK=1.5", -1, 0, NULL, "" },
	{ "RANK=99999999999", -1, 0, NULL, "" },
};

static void
set_all(const char *list, int on)
{
	char buffer[512], *rest = buffer, *word;

	strcpy(buffer, list);
	while ((word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (on)
			setenv(word, value, 1);
		else
			unsetenv(word);
	}
}

CASE(test_rows)
{
	struct ac_rank rank;

	for (int i = 0; i < AC_ENV_COUNT; i++)
		if (i >= AC_ENV_OMPI_RANK && i <= AC_ENV_TORCH_JOB)
			unsetenv(ac_env_rows[i].variable);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		set_all(rows[i].set, 1);
		ac_rank_read(&rank);
		set_all(rows[i].set, 0);
		assert_int_equal(rank.rank, rows[i].rank);
		assert_int_equal(rank.size, rows[i].size);
		assert_string_equal(rank.job, rows[i].job);
		if (rows[i].mark)
			assert_string_equal(ac_env_rows[rank.mark].variable,
			    rows[i].mark);
	}
}

CASES_RUN(NULL, NULL)
