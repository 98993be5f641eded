/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_parallel.c -- the ranks of a job: one folder, one run;
 * jobs that launchers gave one name; files in the folder that cannot be used;
 * how many jobs are kept. */
#include "tests/unit/with_state.h"

#include "base/env.h"
#include "report/count/parallel.h"
#include "report/count/process.h"
#include "report/past.h"

static int64_t number;

static void
count_number(void)
{
	ac_report_count(site_of(number), AC_REASON_NONE);
}

/* The same by another launcher: one process more is in between. */
static void
count_below(void)
{
	assert_int_equal(in_child(count_number), 0);
}

static int
make_job(void **state)
{
	for (int i = AC_ENV_OMPI_RANK; i <= AC_ENV_TORCH_JOB; i++)
		unsetenv(ac_env_rows[i].variable);
	setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
	setenv("PMIX_NAMESPACE", "77", 1);
	return make_state(state);
}

/* Rank `rank` calls site `n`. */
static void
run_rank(const char *rank, int64_t n, void (*body)(void))
{
	number = n;
	setenv("OMPI_COMM_WORLD_RANK", rank, 1);
	assert_int_equal(in_child(body), 0);
	unsetenv("OMPI_COMM_WORLD_RANK");
}

static char folder[512];

/* How many folders of jobs there are; one goes to `folder`. */
static unsigned
folders(void)
{
	DIR *stream = opendir(state_directory);
	const struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(stream)))
		if (ac_parallel_is_folder(entry->d_name)) {
			snprintf(folder, sizeof folder, "%s/%s",
			    state_directory, entry->d_name);
			count++;
		}
	closedir(stream);
	return count;
}

/* The path of the `which`-th of its files, by time; NULL: there are fewer. */
static const char *
file_in_folder(int which)
{
	static char path[1024];
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);
	bool found = false;

	for (int i = 0; i < count; i++) {
		if (ac_file_is_name(entries[i]->d_name) && which-- == 0) {
			snprintf(path, sizeof path, "%s/%s", folder,
			    entries[i]->d_name);
			found = true;
		}
		free(entries[i]);
	}
	free(entries);
	return found ? path : NULL;
}

static void
edit(const char *path, void (*change)(struct ac_file_header *header))
{
	struct ac_file_header header;
	const int fd = open(path, O_RDWR);

	assert_int_equal(pread(fd, &header, sizeof header, 0), sizeof header);
	change(&header);
	assert_int_equal(pwrite(fd, &header, sizeof header, 0), sizeof header);
	close(fd);
}

static void
expect(unsigned which, size_t processes, int64_t site, bool has_site)
{
	struct ac_report *report = load(which);

	assert_non_null(report);
	assert_int_equal(report->process_count, processes);
	assert_int_equal(site_in(report, site) != NULL, has_site);
	ac_report_destroy(report);
}

CASE_WITH(test_one_run, make_job, remove_state)
{
	struct ac_report *report;
	struct ac_text why;

	run_rank("0", 1, count_number);
	run_rank("1", 2, count_number);
	run_rank("2", 2, count_number);
	assert_int_equal(each_file(NULL), 0);
	assert_int_equal(folders(), 1);
	report = load(1);
	assert_non_null(report);
	assert_int_equal(report->process_count, 3);
	assert_int_equal(site_in(report, 1)->calls, 1);
	assert_int_equal(site_in(report, 2)->calls, 2);
	assert_int_equal(report->processes[0].ranks, 3);
	assert_true(*report->processes[0].node);
	ac_report_destroy(report);
	assert_null(load(2));
	ac_text_init(&why, load_why, sizeof load_why);
	report = ac_report_load_rank(1, 1, &why);
	assert_non_null(report);
	assert_int_equal(report->process_count, 1);
	assert_null(site_in(report, 1));
	ac_report_destroy(report);
	assert_null(ac_report_load_rank(1, 3, &why));
	assert_non_null(strstr(load_why, "no statistics of a rank 3"));
}

/* Another name, and a job of one: runs of their own. */
CASE_WITH(test_other_runs, make_job, remove_state)
{
	run_rank("0", 1, count_number);
	setenv("PMIX_NAMESPACE", "78", 1);
	run_rank("0", 2, count_number);
	assert_int_equal(folders(), 2);
	expect(1, 1, 2, true);
	setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
	run_rank("0", 3, count_number);
	assert_int_equal(folders(), 2);
	assert_int_equal(each_file(NULL), 1);
	expect(1, 1, 3, true);
	expect(3, 1, 1, true);
}

/* Without a name the launcher's process stands for the job: here the one above,
 * as none was started with these variables. */
CASE_WITH(test_no_name, make_job, remove_state)
{
	unsetenv("PMIX_NAMESPACE");
	run_rank("0", 1, count_number);
	run_rank("1", 1, count_number);
	assert_int_equal(folders(), 1);
	expect(1, 2, 1, true);
	run_rank("0", 1, count_below);
	assert_int_equal(folders(), 2);
	expect(1, 1, 1, true);
}

/* What `autocast run` around mpirun says is the run of processes that are no
 * ranks, too. */
CASE_WITH(test_run_around, make_job, remove_state)
{
	setenv("AUTOCAST_RUN", "around", 1);
	number = 5;
	assert_int_equal(in_child(count_number), 0);
	run_rank("0", 1, count_number);
	run_rank("1", 1, count_below);
	unsetenv("AUTOCAST_RUN");
	assert_int_equal(each_file(NULL), 1);
	assert_int_equal(folders(), 1);
	expect(1, 3, 5, true);
}

static void
launch_elsewhere(struct ac_file_header *header)
{
	header->launcher++;
}

static void
move_to_other_host(struct ac_file_header *header)
{
	header->host++;
	header->launcher++;
}

/* A later job has the name of an earlier one: its processes are another
 * launcher's. On another host there is another one anyway. */
CASE_WITH(test_name_again, make_job, remove_state)
{
	run_rank("0", 1, count_number);
	run_rank("0", 2, count_number);
	run_rank("1", 2, count_number);
	folders();
	edit(file_in_folder(0), move_to_other_host);
	expect(1, 3, 1, true);
	edit(file_in_folder(1), launch_elsewhere);
	expect(1, 1, 1, false);
}

static void
rename_run(struct ac_file_header *header)
{
	strcpy(header->run, "foreign");
}

static void
spoil_version(struct ac_file_header *header)
{
	header->version++;
}

CASE_WITH(test_bad_files, make_job, remove_state)
{
	char note[600];

	run_rank("0", 1, count_number);
	run_rank("1", 2, count_number);
	run_rank("2", 3, count_number);
	run_rank("0", 4, count_number);
	folders();
	snprintf(note, sizeof note, "%s/note", folder);
	close(open(note, O_CREAT | O_WRONLY, 0600));
	edit(file_in_folder(0), rename_run);
	expect(1, 3, 1, false);
	edit(file_in_folder(1), spoil_version);
	expect(1, 2, 2, false);
	/* The youngest says which run the folder holds, if it can. */
	assert_int_equal(truncate(file_in_folder(3), 100), 0);
	expect(1, 1, 3, true);
}

static void
age_folder(int i)
{
	const struct timespec times[2] = { { i, 0 }, { i, 0 } };
	char name[128];

	snprintf(name, sizeof name, "%s/job-%016x", state_directory,
	    (unsigned)i);
	assert_int_equal(mkdir(name, 0700), 0);
	snprintf(folder, sizeof folder,
	    "%s/0000000001.000000000-99999999-0-00000000.stats", name);
	close(open(folder, O_CREAT | O_WRONLY, 0600));
	snprintf(folder, sizeof folder,
	    "%s/0000000001.000000000-99999998-0-00000000.stats", name);
	close(open(folder, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
}

static bool
has_folder(int i)
{
	char name[128];

	snprintf(name, sizeof name, "%s/job-%016x", state_directory,
	    (unsigned)i);
	return !access(name, F_OK);
}

/* 32 runs are kept, a job counts as one. */
CASE_WITH(test_kept, make_job, remove_state)
{
	char living[600];

	for (int i = 1; i <= 40; i++)
		age_folder(i);
	snprintf(living, sizeof living, "%s/job-%016x/"
	    "0000000001.000000000-%d-0-00000000.stats", state_directory, 1,
	    (int)getpid());
	close(open(living, O_CREAT | O_WRONLY, 0600));
	for (int i = 0; i < 40; i++)
		run_rank("0", 1, count_number);
	assert_int_equal(folders(), 41);        /* a program removes none */
	ac_past_prune(NULL);
	assert_int_equal(folders(), 32);
	assert_true(has_folder(1));             /* in use */
	assert_false(has_folder(10));
	assert_true(has_folder(11));
	number = 1;
	assert_int_equal(in_child(count_number), 0);
	ac_past_prune(NULL);
	assert_int_equal(folders() + each_file(NULL), 32);
	assert_false(has_folder(11));
}

static void
find_own(void)
{
	struct ac_report_watched found;
	struct ac_text why;

	count_number();
	ac_text_init(&why, load_why, sizeof load_why);
	assert_true(ac_report_find(getpid(), &found, &why));
	assert_non_null(strstr(found.path, "/job-"));
	assert_true(ac_report_find(0, &found, &why));
	folders();
	edit(file_in_folder(0), move_to_other_host);
	assert_false(ac_report_find(0, &found, &why));
}

/* A rank that runs is found, unless it is one of another host. */
CASE_WITH(test_find, make_job, remove_state)
{
	run_rank("0", 1, find_own);
}

static void
claim(void)
{
	_exit(ac_report_claim_notice());
}

CASE_WITH(test_notice, make_job, remove_state)
{
	setenv("OMPI_COMM_WORLD_RANK", "1", 1);
	assert_int_equal(WEXITSTATUS(in_child(claim)), 1);
	setenv("OMPI_COMM_WORLD_RANK", "0", 1);
	assert_int_equal(WEXITSTATUS(in_child(claim)), 0);
	setenv("PMIX_NAMESPACE", "78", 1);
	assert_int_equal(WEXITSTATUS(in_child(claim)), 1);
	/* Where nothing is kept the first rank gives it. */
	setenv("AUTOCAST_STATE", "off", 1);
	assert_int_equal(WEXITSTATUS(in_child(claim)), 1);
	setenv("OMPI_COMM_WORLD_RANK", "1", 1);
	assert_int_equal(WEXITSTATUS(in_child(claim)), 0);
	unsetenv("OMPI_COMM_WORLD_RANK");
}

CASES_RUN(NULL, NULL)
