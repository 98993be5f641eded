/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/load.c -- which files make a run, and the run they make together.
 * Files that cannot be used are named once on stderr (through base/log) and
 * left out. Called by the autocast program only: allocates freely. */
#include "report/read/read.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One file that could be read, newest first in a list. */
struct candidate {
	char name[64];
	char run[40];
};

struct listing {
	const char       *directory;
	struct candidate *found;
	size_t            count;
};

/* ---- Finding files ----------------------------------------------------- */

static int
by_name_descending(const void *a, const void *b)
{
	return strcmp(((const struct candidate *)b)->name,
	    ((const struct candidate *)a)->name);
}

static void
join(struct ac_text *path, char *buffer, size_t size, const char *directory,
    const char *name)
{
	ac_text_init(path, buffer, size);
	ac_text_addf(path, "%s/%s", directory, name);
}

/* Collect the names of the directory; false if memory is short. */
static bool
collect(struct listing *l, DIR *stream)
{
	const struct dirent *entry;

	while ((entry = readdir(stream))) {
		struct candidate *more;

		if (strlen(entry->d_name) >= sizeof more->name ||
		    !ac_file_is_name(entry->d_name))
			continue;
		more = realloc(l->found, (l->count + 1) * sizeof *more);
		if (!more)
			return false;
		l->found = more;
		strcpy(l->found[l->count++].name, entry->d_name);
	}
	return true;
}

/* Keep the candidates whose header can be read, and note their runs. */
static void
read_headers(struct listing *l)
{
	char path[AC_FILE_PATH], reason[128];
	struct ac_file_header header;
	struct ac_text t, why;
	size_t kept = 0;
	unsigned foreign = 0;

	for (size_t i = 0; i < l->count; i++) {
		join(&t, path, sizeof path, l->directory, l->found[i].name);
		ac_text_init(&why, reason, sizeof reason);
		if (ac_report_read(path, &header, NULL, NULL, &why)) {
			strcpy(l->found[i].run, header.run);
			l->found[kept++] = l->found[i];
		} else if (why.used && !strcmp(reason, AC_READ_FOREIGN)) {
			foreign++;      /* after an upgrade, all of them */
		} else if (why.used) {
			ac_log(AC_LOG_WARNING, "skipping %s: %s", path, reason);
		}
	}
	if (foreign)
		ac_log(AC_LOG_WARNING, "skipping %u statistics files in %s: "
		    AC_READ_FOREIGN, foreign, l->directory);
	l->count = kept;
}

static bool
list(struct listing *l, struct ac_text *why)
{
	DIR *stream = opendir(l->directory);
	bool good;

	if (!stream && errno != ENOENT) {
		ac_text_addf(why, "cannot read %s: %s", l->directory,
		    strerror(errno));
		return false;
	}
	good = !stream || collect(l, stream);
	if (stream)
		closedir(stream);
	if (!good) {
		ac_text_add(why, strerror(ENOMEM));
		return false;
	}
	if (l->count)
		qsort(l->found, l->count, sizeof *l->found, by_name_descending);
	read_headers(l);
	return true;
}

/* Whether candidate `i` is the youngest process of its run. */
static bool
leads_run(const struct listing *l, size_t i)
{
	size_t younger = 0;

	while (younger < i && strcmp(l->found[younger].run, l->found[i].run))
		younger++;
	return younger == i;
}

static unsigned
count_runs(const struct listing *l)
{
	unsigned runs = 0;

	for (size_t i = 0; i < l->count; i++)
		runs += leads_run(l, i);
	return runs;
}

/* The token of the `which`-th last run, "" if there are fewer. A run is as
 * young as its youngest process. */
static const char *
choose(const struct listing *l, unsigned which)
{
	unsigned runs = 0;

	for (size_t i = 0; i < l->count; i++)
		if (leads_run(l, i) && ++runs == which)
			return l->found[i].run;
	return "";
}

static bool
has_run(const struct listing *l, const char *token)
{
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->found[i].run, token))
			return true;
	return false;
}

/* ---- Building the run -------------------------------------------------- */

static bool
add_file(struct ac_report *report, const char *path, struct ac_text *why)
{
	struct ac_marker_record markers[AC_FILE_MARKERS];
	struct ac_site_record *records;
	struct ac_file_header header;
	char reason[128];
	struct ac_text t;
	bool good;

	ac_text_init(&t, reason, sizeof reason);
	if (!ac_report_read(path, &header, &records, &markers, &t)) {
		ac_log(AC_LOG_WARNING, "skipping %s: %s", path, reason);
		return true;
	}
	good = ac_report_add(report, &header, records, markers) &&
	    ac_report_add_ranges(report, path, &header, records);
	free(records);
	if (!good)
		ac_text_add(why, strerror(ENOMEM));
	return good;
}

static struct ac_report *
build(const struct listing *l, const char *run, struct ac_text *why)
{
	struct ac_report *report = calloc(1, sizeof *report);
	char path[AC_FILE_PATH];
	struct ac_text t;
	bool good = report != NULL;

	for (size_t i = l->count; i-- > 0 && good; ) {
		if (strcmp(l->found[i].run, run))
			continue;
		join(&t, path, sizeof path, l->directory, l->found[i].name);
		good = add_file(report, path, why);
	}
	if (good && report->process_count) {
		ac_report_arrange(report);
		return report;
	}
	if (!why->used)
		ac_text_add(why, good ? "its statistics are damaged"
		    : strerror(ENOMEM));
	ac_report_destroy(report);
	return NULL;
}

struct ac_report *
ac_report_load(unsigned which, const char *run, struct ac_text *why)
{
	static char directory[AC_FILE_PATH];
	struct listing l = { .directory = directory };
	struct ac_report *report = NULL;
	char token[40];
	struct ac_text t;

	ac_text_init(&t, directory, sizeof directory);
	if (!ac_file_directory(&t, NULL)) {
		ac_text_add(why, "no statistics are kept: AUTOCAST_STATE=off, "
		    "or there is no home directory");
		return NULL;
	}
	if (list(&l, why)) {
		/* Copied like the process that counts did, which cuts it. */
		ac_text_init(&t, token, sizeof token);
		ac_text_add(&t, run ? run : choose(&l, which));
		if (*token && has_run(&l, token))
			report = build(&l, token, why);
		else if (which > 1)
			ac_text_addf(why, "only %u runs are kept in %s",
			    count_runs(&l), directory);
		else
			ac_text_addf(why, "no run is kept in %s", directory);
	}
	free(l.found);
	return report;
}
