/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_shard.c -- who counts where: every thread in a shard
 * of its own while there are any, else in the records; and the sum is right. */
#include "tests/unit/with_state.h"

#include "tests/unit/child.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { CROWD = AC_FILE_SHARDS + 8, EACH = 1000 };

static uint64_t
in_record(struct ac_site_record *site)
{
	return atomic_load(&site->recast) +
	    atomic_load(&site->kept[AC_REASON_GUARD]);
}

static void
expect_recast(int64_t site, uint64_t calls)
{
	struct ac_report *report = load(1);

	assert_non_null(report);
	assert_int_equal(site_in(report, site)->recast, calls);
	assert_int_equal(site_in(report, site)->calls, calls);
	ac_report_destroy(report);
}

/* ---- One thread -------------------------------------------------------- */

static void
count_one(void)
{
	struct ac_site_record *site = site_of(1), *second = site_of(2);

	errno = ENOTTY;
	ac_report_count_decided(site);
	CHECK(errno == ENOTTY);
	ac_report_count(site, AC_REASON_NONE);
	CHECK(in_record(site) == 0);
	CHECK(ac_report_mine.calls[site->number] == 2);
	CHECK(ac_report_mine.calls[second->number] == 0);
	ac_report_count(site, AC_REASON_GUARD);
	CHECK(in_record(site) == 1);
	CHECK(ac_report_mine.calls[site->number] == 2);
}

CASE_WITH(test_decided, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(count_one), 0);
	report = load(1);
	assert_int_equal(report->site_count, 1);
	assert_int_equal(site_in(report, 1)->calls, 3);
	assert_int_equal(site_in(report, 1)->recast, 2);
	assert_int_equal(site_in(report, 1)->kept[AC_REASON_GUARD], 1);
	ac_report_destroy(report);
}

/* A kept site's slot is for its own reason; a recast of it is not. */
static void
count_kept(void)
{
	static const struct ac_decision keep = { .reason = AC_REASON_RULE };
	const struct ac_site_key key = key_of(1);
	struct ac_site_record *site = ac_report_site(&ac_outside, &key, &keep,
	    NULL, NULL);

	ac_report_count(site, AC_REASON_RULE);
	ac_report_count_decided(site);
	ac_report_count(site, AC_REASON_NONE);
	CHECK(ac_report_mine.calls[site->number] == 2);
	CHECK(in_record(site) == 1);
}

CASE_WITH(test_kept, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(count_kept), 0);
	report = load(1);
	assert_int_equal(site_in(report, 1)->kept[AC_REASON_RULE], 2);
	assert_int_equal(site_in(report, 1)->recast, 1);
	ac_report_destroy(report);
}

/* A shard has room for the first sites only. */
static void
count_far(void)
{
	struct ac_site_record *site = NULL;

	for (int i = 1; i <= AC_REPORT_SHARD_SITES + 1; i++) {
		site = site_of(i);
		ac_report_count_decided(site);
	}
	CHECK(site->number == AC_REPORT_SHARD_SITES);
	CHECK(in_record(site) == 1);
	CHECK(in_record(site_of(AC_REPORT_SHARD_SITES)) == 0);
}

CASE_WITH(test_far, make_state, remove_state)
{
	assert_int_equal(in_child(count_far), 0);
	expect_recast(AC_REPORT_SHARD_SITES, 1);
	expect_recast(AC_REPORT_SHARD_SITES + 1, 1);
}

/* ---- Several ----------------------------------------------------------- */

static pthread_barrier_t together;
static uint64_t *owned[CROWD];          /* NULL: counted in the records */

static void *
count_in_crowd(void *place)
{
	struct ac_site_record *site = site_of(1);

	ac_report_count_decided(site);
	*(uint64_t **)place = ac_report_mine.limit ? ac_report_mine.calls
	    : NULL;
	pthread_barrier_wait(&together);
	for (int i = 1; i < EACH; i++)
		ac_report_count_decided(site);
	pthread_barrier_wait(&together);
	return NULL;
}

static unsigned
run_crowd(unsigned threads)
{
	pthread_t thread[CROWD];
	unsigned owners = 0;

	pthread_barrier_init(&together, NULL, threads);
	for (unsigned i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, count_in_crowd, &owned[i]);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&together);
	for (unsigned i = 0; i < threads; i++) {
		owners += owned[i] != NULL;
		for (unsigned j = 0; j < i; j++)
			CHECK(!owned[i] || owned[i] != owned[j]);
	}
	return owners;
}

static void
count_crowds(void)
{
	CHECK(run_crowd(CROWD) == AC_FILE_SHARDS);
	CHECK(in_record(site_of(1)) == (CROWD - AC_FILE_SHARDS) * EACH);
	/* Those have ended; what they counted stays. */
	CHECK(run_crowd(CROWD) == AC_FILE_SHARDS);
	for (int i = 0; i < 100; i++)
		CHECK(run_crowd(1) == 1);
}

CASE_WITH(test_crowd, make_state, remove_state)
{
	assert_int_equal(in_child(count_crowds), 0);
	expect_recast(1, (2 * CROWD + 100) * EACH);
}

/* A destructor that runs after the library's counts, but takes no shard. */
static pthread_key_t late;

static void
count_late(void *unused)
{
	CHECK(!ac_report_mine.limit);
	ac_report_count_decided(site_of(1));
	CHECK(!ac_report_mine.limit);
}

static void *
end_late(void *value)
{
	pthread_setspecific(late, value);
	ac_report_count_decided(site_of(1));
	CHECK(ac_report_mine.limit);
	return NULL;
}

static void
count_after_end(void)
{
	pthread_t thread;

	ac_report_count_decided(site_of(1));    /* makes the library's key */
	CHECK(!pthread_key_create(&late, count_late));
	pthread_create(&thread, NULL, end_late, &late);
	pthread_join(thread, NULL);
	CHECK(in_record(site_of(1)) == 1);
}

CASE_WITH(test_late, make_state, remove_state)
{
	assert_int_equal(in_child(count_after_end), 0);
	expect_recast(1, 3);
}

/* ---- Children ---------------------------------------------------------- */

static struct ac_site_record *held;
static uint64_t *parents;

static void
count_in_child(void)
{
	struct ac_site_record *site = held ? held : site_of(1);

	CHECK(!ac_report_mine.limit);
	for (int i = 0; i < EACH; i++)
		ac_report_count_decided(site);
	CHECK(ac_report_mine.limit && in_record(site) == 0);
	CHECK(ac_report_mine.calls[0] == EACH);
}

static void
count_and_fork(void)
{
	held = site_of(1);
	ac_report_count_decided(held);
	parents = ac_report_mine.calls;
	CHECK(child_run(count_in_child) == 0);
	CHECK(parents == ac_report_mine.calls && *parents == 1);
	ac_report_count_decided(site_of(1));
	CHECK(*parents == 2);
}

CASE_WITH(test_fork, make_state, remove_state)
{
	assert_int_equal(in_child(count_and_fork), 0);
	assert_int_equal(each_file(NULL), 2);
	expect_recast(1, 2 + EACH);
}

/* Where no handler runs, the first look-up of a site notices. */
static void
fork_unheard(void)
{
	int status = -1;
	pid_t pid;

	ac_report_count_decided(site_of(1));
	parents = ac_report_mine.calls;
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		count_in_child();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(*parents == 1);
}

CASE_WITH(test_fork_unheard, make_state, remove_state)
{
	assert_int_equal(in_child(fork_unheard), 0);
	assert_int_equal(each_file(NULL), 2);
	expect_recast(1, 1 + EACH);
}

/* ---- Want -------------------------------------------------------------- */

static void *
count_in_record(void *unused)
{
	for (int i = 0; i < EACH; i++)
		ac_report_count_decided(site_of(1));
	CHECK(!ac_report_mine.limit && in_record(site_of(1)) == EACH);
	return unused;
}

/* No room in the file for a second shard: the records count, nothing is
 * lost. */
static void
count_without_room(void)
{
	const struct rlimit limit = { .rlim_cur = AC_FILE_FIRST_BYTES,
		.rlim_max = AC_FILE_FIRST_BYTES };
	pthread_t thread;

	setrlimit(RLIMIT_FSIZE, &limit);
	ac_report_count_decided(site_of(1));
	CHECK(ac_report_mine.limit && !in_record(site_of(1)));
	pthread_create(&thread, NULL, count_in_record, NULL);
	pthread_join(thread, NULL);
}

CASE_WITH(test_no_room, make_state, remove_state)
{
	assert_int_equal(in_child(count_without_room), 0);
	expect_recast(1, 1 + EACH);
}

/* A program that has used up all keys: nobody could tell the thread's end. */
static void
count_without_key(void)
{
	pthread_key_t key;

	while (!pthread_key_create(&key, NULL))
		;
	for (int i = 0; i < EACH; i++)
		ac_report_count_decided(site_of(1));
	CHECK(!ac_report_mine.limit && in_record(site_of(1)) == EACH);
}

CASE_WITH(test_no_key, make_state, remove_state)
{
	assert_int_equal(in_child(count_without_key), 0);
	expect_recast(1, EACH);
}

/* Without a file a thread is as fast as with one. */
static void
count_in_memory(void)
{
	ac_report_count_decided(site_of(1));
	CHECK(ac_report_mine.limit && in_record(site_of(1)) == 0);
	CHECK(child_run(count_in_child) == 0);
	CHECK(ac_report_mine.calls[0] == 1);
}

CASE_WITH(test_no_file, make_state, remove_state)
{
	setenv("AUTOCAST_STATE", "off", 1);
	assert_int_equal(in_child(count_in_memory), 0);
}

CASES_RUN(NULL, NULL)
