/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/ranks.c -- the first rank waits for the others a little, so that what
 * it says at its end is of all. */
#include "cmd/run/run.h"
#include "report/count/process.h"

#include <string.h>
#include <time.h>

enum { LOOKS = 20, PAUSE_NS = 50000000 };

void
ac_ranks_join(struct ac_launch *launch, const struct ac_parallel *job)
{
	if (job->size && *launch->state && !launch->is_once)
		strcpy(launch->run, job->run);
}

bool
ac_ranks_is_silent(const struct ac_parallel *job)
{
	return job->size && job->rank;
}

/* A process that was killed has ended, on this host; of another one only what
 * reached exit() is known to have. */
static bool
has_ended(const struct ac_file_header *process)
{
	return atomic_load(&process->finished) ||
	    (!ac_process_is_elsewhere(process) && !ac_process_runs(process));
}

struct count {
	int size, known;             /* ranks; those with statistics */
	int running;                 /* processes */
};

static struct count
count(const struct ac_report *report)
{
	const struct ac_file_header *h = report ? report->processes : NULL;
	struct count c = { .size = 0 };

	for (size_t i = 0, j; h && i < report->process_count; i++) {
		if (!h[i].ranks)
			continue;
		c.size = h[i].ranks > c.size ? h[i].ranks : c.size;
		c.running += !has_ended(&h[i]);
		for (j = 0; j < i && (!h[j].ranks || h[j].rank != h[i].rank);
		    j++)
			;
		c.known += j == i;
	}
	return c;
}

static bool
is_complete(const struct ac_report *report, int size)
{
	const struct count c = count(report);

	return c.known >= size && !c.running;
}

struct ac_report *
ac_ranks_report(const struct ac_launch *launch, const struct ac_parallel *job)
{
	const struct timespec pause = { 0, PAUSE_NS };
	struct ac_report *report = ac_launch_report(launch);

	if (!job->size)
		return report;
	for (int i = 0; i < LOOKS && !is_complete(report, job->size); i++) {
		ac_report_destroy(report);
		(void)nanosleep(&pause, NULL);
		report = ac_launch_report(launch);
	}
	return report;
}

void
ac_ranks_say(const struct ac_report *report)
{
	const struct count c = count(report);

	if (c.running)
		(void)ac_say(0, "those are sums so far over %d of %d ranks, "
		    "and not all of these have ended", c.known, c.size);
	else if (c.size)
		(void)ac_say(0, "those are sums over %d of %d ranks", c.known,
		    c.size);
}
