/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/find.c -- the statistics of one process that runs now, found and
 * looked at again and again without stopping it. Called by the autocast
 * program only. */
#include "report/count/parallel.h"
#include "report/count/process.h"
#include "report/read/listing.h"
#include "report/read/read.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct search {
	int    pid;                     /* 0: any */
	char   best[64];                /* names sort by time */
	char   path[AC_FILE_PATH];      /* of the best */
	char   program[64];
	int    best_pid;
	bool   past;                    /* it has statistics, but has ended */
	char   refused[128];            /* why a file of it cannot be used */
};

/* Whether file `name` may be of the process searched for, by its name alone. */
static bool
may_be(const struct search *s, const char *name)
{
	struct ac_text number = AC_TEXT_OF(16);

	if (!ac_file_is_name(name) || strlen(name) >= sizeof s->best ||
	    strcmp(name, s->best) < 0)
		return false;
	ac_text_addf(&number, "-%d-", s->pid);
	return !s->pid || strstr(name, number.data) == strchr(name, '-');
}

static void
consider(struct search *s, const char *directory, const char *name)
{
	char reason[sizeof s->refused];
	struct ac_text path = AC_TEXT_OF(sizeof s->path);
	struct ac_file_header header;
	struct ac_text why = AC_TEXT_IN(reason);

	if (!may_be(s, name))
		return;
	ac_text_addf(&path, "%s/%s", directory, name);
	if (!ac_report_read(path.data, &header, NULL, NULL, &why)) {
		memcpy(s->refused, reason, sizeof reason);
		return;
	}
	if (ac_process_is_elsewhere(&header))
		return;
	if (!ac_process_runs(&header)) {
		s->past = true;
		return;
	}
	strcpy(s->best, name);
	strcpy(s->path, path.data);
	strcpy(s->program, header.program);
	s->best_pid = header.pid;
}

/* The files of a directory and of the jobs' folders in it. */
static void
consider_all(struct search *s, DIR *stream, const char *directory)
{
	const struct dirent *entry, *inner;
	DIR *job;

	while ((entry = readdir(stream))) {
		struct ac_text folder = AC_TEXT_OF(AC_FILE_PATH);

		consider(s, directory, entry->d_name);
		if (!ac_parallel_is_folder(entry->d_name))
			continue;
		ac_text_addf(&folder, "%s/%s", directory, entry->d_name);
		job = opendir(folder.data);
		while (job && (inner = readdir(job)))
			consider(s, folder.data, inner->d_name);
		if (job)
			closedir(job);
	}
}

/* Nothing was found: of all that may be the reason, the nearest. */
static void
explain(const struct search *s, const char *directory, struct ac_text *why)
{
	struct ac_text proc = AC_TEXT_OF(32);
	struct stat status;
	bool ended = false;

	if (!s->pid) {
		ac_text_addf(why, "no running process has statistics in %s; "
		    "start one with 'autocast run ./program'", directory);
		return;
	}
	ac_text_addf(&proc, "/proc/%d", s->pid);
	if (stat(proc.data, &status) ||
	    (ac_process_start(s->pid, &ended) && ended))
		ac_text_addf(why, "there is no process %d%s", s->pid, s->past
		    ? " any more; 'autocast report' shows ended ones" : "");
	else if (status.st_uid != geteuid())
		ac_text_addf(why, "process %d belongs to another user, who "
		    "alone can watch it", s->pid);
	else if (*s->refused)
		ac_text_addf(why, "the statistics of process %d cannot be "
		    "used: %s", s->pid, s->refused);
	else
		ac_text_addf(why, "process %d has no statistics in %s: it made "
		    "no call that the library sees ('autocast run' preloads "
		    "it)", s->pid, directory);
}

bool
ac_report_find(int pid, struct ac_report_watched *found_out,
    struct ac_text *why)
{
	struct search s = { .pid = pid };
	struct ac_text directory = AC_TEXT_OF(AC_FILE_PATH);
	DIR *stream;

	if (!ac_listing_place(&directory, why))
		return false;
	stream = opendir(directory.data);
	if (!stream && errno != ENOENT) {
		ac_text_addf(why, "cannot read %s: %s", directory.data,
		    strerror(errno));
		return false;
	}
	if (stream) {
		consider_all(&s, stream, directory.data);
		closedir(stream);
	}
	if (!*s.best) {
		explain(&s, directory.data, why);
		return false;
	}
	found_out->pid = s.best_pid;
	memcpy(found_out->program, s.program, sizeof s.program);
	memcpy(found_out->path, s.path, sizeof s.path);
	return true;
}

struct ac_report *
ac_report_look(const struct ac_report_watched *watched, bool *runs_out,
    struct ac_text *why)
{
	struct ac_marker_record markers[AC_FILE_MARKERS];
	struct ac_report *report = calloc(1, sizeof *report);
	struct ac_site_record *records = NULL;
	struct ac_file_header header;
	bool runs, is_read;

	/* Asked before the numbers are read: an end finds them final. */
	is_read = report &&
	    ac_report_read(watched->path, &header, NULL, NULL, why);
	runs = is_read && ac_process_runs(&header);
	is_read = is_read && ac_report_read(watched->path, &header, &records,
	    &markers, why);
	if (is_read && ac_report_add(report, &header, records, markers)) {
		free(records);
		ac_report_arrange(report);
		*runs_out = runs;
		return report;
	}
	if (!report || is_read)
		ac_text_add(why, strerror(ENOMEM));
	free(records);
	ac_report_destroy(report);
	return NULL;
}
