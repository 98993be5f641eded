/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_rank_lines.c -- the ranks of a job in a report: how
 * far they are apart, which are missing, where they went different ways. Also
 * how long it takes to read many. */
#include "with_report.h"

#include "report/count/process.h"
#include "report/read/ranks.h"

#include <time.h>

enum { RANKS = 64, SITES = 1000, GATE_S = 2 };

static struct ac_report *report;

static int
begin(void **state)
{
	report = calloc(1, sizeof *report);
	memset(&made_header, 0, sizeof made_header);
	memset(made, 0, sizeof made);
	memset(made_markers, 0, sizeof made_markers);
	strcpy(made_header.program, "train");
	strcpy(made_header.node, "n01");
	made_header.pid = 99999999;
	made_header.host = ac_process_host();
	made_header.ranks = 4;
	atomic_store(&made_header.finished, 1);
	atomic_store(&made_header.sites, 2);
	return 0;
}

static int
end(void **state)
{
	ac_report_destroy(report);
	return 0;
}

/* A process of `rank`: one site recast `recast` times by `rung` and kept
 * `kept` times, another always kept. */
static void
add(int rank, enum ac_rung rung, uint64_t recast, uint64_t kept)
{
	make_calls(make_site(0, rung, AC_TACTIC_CAST, AC_REASON_NONE), recast,
	    AC_REASON_PROBATION, kept);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 1);
	made_header.rank = rank;
	assert_true(ac_report_add(report, &made_header, made, made_markers));
}

static const char *
text(void)
{
	ac_report_arrange(report);
	return written(as_text, report);
}

static void
expect(const char *what, bool there)
{
	if (!strstr(sunk, what) == there)
		print_message("# %s'%s' in:\n%s", there ? "no " : "", what,
		    sunk);
	assert_int_equal(strstr(sunk, what) != NULL, there);
}

CASE_WITH(test_no_job, begin, end)
{
	made_header.ranks = 0;
	add(0, AC_RUNG_FP16, 1, 0);
	text();
	assert_null(report->ranks_of);
	expect("rank", false);
	written(ac_report_as_json, report);
	expect("\"ranks\"", false);
}

/* 2 FLOPs x 1000 at the first site, 4 x 1000 at the second. */
CASE_WITH(test_rank_lines, begin, end)
{
	atomic_store(&made_header.wall_ns, 2000000000);
	add(0, AC_RUNG_FP16, 8, 0);     /* 16 of 20 */
	atomic_store(&made_header.wall_ns, 3000000000);
	made_header.host++;
	add(3, AC_RUNG_FP16, 4, 4);     /* 8 of 20 */
	made_header.host--;
	atomic_store(&made_header.wall_ns, 2500000000);
	add(1, AC_RUNG_FP16, 8, 0);
	text();
	expect("  ranks    3 of 4, on 2 hosts; no statistics of rank 2\n",
	    true);
	expect("  spread   recast 40.0 % (rank 3) to 80.0 % (rank 0) of the "
	    "FLOPs\n", true);
	expect("           wall time 2 s (rank 0) to 3 s (rank 3)\n", true);
	expect("no end", false);
	expect("differ", false);
	assert_int_equal(report->ranks_of->rank[1].totals.calls, 9);
	assert_int_equal(report->ranks_of->rank[2].totals.recast_calls, 4);
}

/* The first process of a rank says how the rank ended. */
CASE_WITH(test_ends, begin, end)
{
	made_header.start_s = 5;
	add(0, AC_RUNG_FP16, 1, 0);
	atomic_store(&made_header.finished, 0);
	made_header.start_s = 6;
	add(0, AC_RUNG_FP16, 1, 0);     /* a child of it that called _exit() */
	made_header.start_s = 5;
	add(1, AC_RUNG_FP16, 1, 0);
	add(2, AC_RUNG_FP16, 1, 0);
	made_header.host++;
	add(3, AC_RUNG_FP16, 1, 0);
	text();
	expect("  ranks    4 of 4, on 2 hosts\n", true);
	expect("  no end   ranks 1-2: killed, or ended without exit()\n", true);
	expect("  no end   rank 3: running or killed: another host knows\n",
	    true);
	assert_int_equal(report->ranks_of->rank[0].processes, 2);
}

CASE_WITH(test_differ, begin, end)
{
	strcpy(made[0].name, "head");
	add(0, AC_RUNG_FP16, 8, 0);
	add(1, AC_RUNG_FP16, 7, 1);
	add(2, AC_RUNG_TF32, 8, 0);
	add(2, AC_RUNG_FP16, 1, 0);     /* two processes of it */
	add(3, AC_RUNG_FP16, 0, 8);
	text();
	expect("  differ   ranks do, at 1 of 2 sites; with "
	    "'set reproducible=on'", true);
	expect("           00000010: fp16 on ranks 0-1; tf32 and fp16 on rank "
	    "2; kept on rank 3\n", true);
	written(ac_report_as_json, report);
	expect("\"job_size\": 4", true);
	expect("\"rank_differences\"", true);
	expect("\"asked_for\": false", true);
}

/* Lines with `rank` in them are meant to differ. */
CASE_WITH(test_asked_for, begin, end)
{
	add(0, AC_RUNG_FP16, 8, 0);
	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_CAST, AC_REASON_NONE),
	    1, AC_REASON_NONE, 0);
	made[0].line = 5;
	made_header.rank = 1;
	assert_true(ac_report_add(report, &made_header, made, made_markers));
	text();
	expect("  differ   ranks do, at 1 of 2 sites\n", true);
	expect("tf32 on rank 1, as lines of the policy say\n", true);
}

/* Long lists are cut, whatever a file says of the size of its job. */
CASE_WITH(test_long_list, begin, end)
{
	made_header.ranks = 1 << 20;
	for (int i = 0; i < 40; i += 2)
		add(i, AC_RUNG_FP16, 1, 0);
	text();
	expect("no statistics of ranks 1, 3, 5, 7, 9, 11, 13, 15, ...\n", true);
}

/* ---- How long it takes -------------------------------------------------- */

static void
count_sites(void)
{
	for (int i = 1; i <= SITES; i++)
		ac_report_count(site_of(i), AC_REASON_NONE);
}

/* Of processor time, so that other programs do not matter; a sanitizer's does
 * not count. */
CASE_WITH(test_time, begin, end)
{
	struct ac_report *loaded;
	clock_t start;
	double took;

	make_state(state);
	setenv("PMIX_NAMESPACE", "77", 1);
	setenv("OMPI_COMM_WORLD_SIZE", "64", 1);
	for (int i = 0; i < RANKS; i++) {
		char rank[16];

		snprintf(rank, sizeof rank, "%d", i);
		setenv("OMPI_COMM_WORLD_RANK", rank, 1);
		assert_int_equal(in_child(count_sites), 0);
	}
	unsetenv("OMPI_COMM_WORLD_RANK");
	start = clock();
	loaded = load(1);
	assert_non_null(loaded);
	written(as_text, loaded);
	took = (double)(clock() - start) / CLOCKS_PER_SEC;
	print_message("# %d ranks x %d sites: %.2f s\n", RANKS, SITES, took);
	assert_int_equal(loaded->process_count, RANKS);
	assert_int_equal(loaded->site_count, SITES);
	assert_int_equal(loaded->sites[0].calls, RANKS);
	assert_int_equal(loaded->ranks_of->count, RANKS);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(took <= GATE_S);
#endif
	ac_report_destroy(loaded);
	remove_state(state);
}

CASES_RUN(NULL, NULL)
