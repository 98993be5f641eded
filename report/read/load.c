/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/load.c -- which files make a run, and the run they make together.
 * Of a folder, which holds one job, only what is asked for is read. Files that
 * cannot be used are named once on stderr (through base/log) and left out.
 * Called by the autocast program only: allocates freely. */
#include "report/read/read.h"
#include "base/log.h"
#include "report/count/parallel.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LENGTH = 64, NO_FOLDER = -1 };

/* One file that could be read, newest first in a list. */
struct candidate {
	char name[NAME_LENGTH];
	int  folder;                    /* that it is in, or NO_FOLDER */
	char run[40];
};

struct folder {
	char name[NAME_LENGTH];
	char run[40];                   /* "": not known yet */
};

struct listing {
	const char       *directory;
	struct candidate *found;
	size_t            count;
	struct folder    *folders;
	size_t            folder_count;
};

/* ---- Finding files ----------------------------------------------------- */

static int
by_name_descending(const void *a, const void *b)
{
	return strcmp(((const struct candidate *)b)->name,
	    ((const struct candidate *)a)->name);
}

static void
locate(const struct listing *l, size_t i, char *path, size_t size)
{
	const struct candidate *c = &l->found[i];
	struct ac_text t;

	ac_text_init(&t, path, size);
	ac_text_addf(&t, "%s/", l->directory);
	if (c->folder != NO_FOLDER)
		ac_text_addf(&t, "%s/", l->folders[c->folder].name);
	ac_text_add(&t, c->name);
}

static bool
add_folder(struct listing *l, const char *name)
{
	struct folder *more = realloc(l->folders,
	    (l->folder_count + 1) * sizeof *more);

	if (!more)
		return false;
	l->folders = more;
	memset(&more[l->folder_count], 0, sizeof *more);
	strcpy(more[l->folder_count++].name, name);
	return true;
}

static bool
add_candidate(struct listing *l, const char *name, int folder)
{
	struct candidate *more = realloc(l->found,
	    (l->count + 1) * sizeof *more);

	if (!more)
		return false;
	l->found = more;
	memset(&more[l->count], 0, sizeof *more);
	strcpy(more[l->count].name, name);
	more[l->count++].folder = folder;
	return true;
}

/* Collect the names of a directory; false if memory is short. */
static bool
collect(struct listing *l, DIR *stream, int folder)
{
	const struct dirent *entry;
	bool good = true;

	while (good && (entry = readdir(stream))) {
		if (strlen(entry->d_name) >= NAME_LENGTH)
			continue;
		if (ac_file_is_name(entry->d_name))
			good = add_candidate(l, entry->d_name, folder);
		else if (folder == NO_FOLDER &&
		    ac_parallel_is_folder(entry->d_name))
			good = add_folder(l, entry->d_name);
	}
	return good;
}

static bool
collect_folders(struct listing *l)
{
	char path[AC_FILE_PATH];
	bool good = true;

	for (size_t i = 0; i < l->folder_count && good; i++) {
		struct ac_text t;
		DIR *stream;

		ac_text_init(&t, path, sizeof path);
		ac_text_addf(&t, "%s/%s", l->directory, l->folders[i].name);
		stream = opendir(path);
		if (!stream)
			continue;
		good = collect(l, stream, (int)i);
		closedir(stream);
	}
	return good;
}

/* Keep the candidates whose header can be read, and note their runs. Of a
 * folder one is read. */
static void
read_headers(struct listing *l)
{
	char path[AC_FILE_PATH], reason[128], *folder_run;
	struct ac_file_header header;
	struct ac_text why;
	size_t kept = 0;
	unsigned foreign = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct candidate *c = &l->found[i];

		folder_run = c->folder == NO_FOLDER ? NULL
		    : l->folders[c->folder].run;
		locate(l, i, path, sizeof path);
		ac_text_init(&why, reason, sizeof reason);
		if (folder_run && *folder_run) {
			strcpy(c->run, folder_run);
			l->found[kept++] = *c;
		} else if (ac_report_read(path, &header, NULL, NULL, &why)) {
			strcpy(c->run, header.run);
			if (folder_run)
				strcpy(folder_run, header.run);
			l->found[kept++] = *c;
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
	good = !stream || (collect(l, stream, NO_FOLDER) && collect_folders(l));
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

/* Hosts, and the process on each that launched the job. */
struct launched {
	uint64_t host, launcher;
};

/* Note who launched the process. False: another did so on its host. */
static bool
fits(const struct ac_file_header *header, struct launched *known,
    size_t *count)
{
	size_t i = 0;

	if (!header->launcher)
		return true;
	while (i < *count && known[i].host != header->host)
		i++;
	if (i == *count)
		known[(*count)++] = (struct launched){ header->host,
			header->launcher };
	return known[i].launcher == header->launcher;
}

/* Launchers give names again. Where the files of `run` end that are of its
 * youngest job; all others, where it got its token from no launcher. */
static size_t
end_of_job(const struct listing *l, const char *run)
{
	struct launched *known = malloc((l->count + 1) * sizeof *known);
	char path[AC_FILE_PATH], reason[128];
	struct ac_file_header header;
	size_t count = 0, i;

	for (i = 0; known && i < l->count; i++) {
		struct ac_text why;

		if (strcmp(l->found[i].run, run) || l->found[i].folder
		    == NO_FOLDER || strncmp(run, AC_PARALLEL_FOLDER,
		    sizeof AC_PARALLEL_FOLDER - 1))
			continue;
		locate(l, i, path, sizeof path);
		ac_text_init(&why, reason, sizeof reason);
		if (!ac_report_read(path, &header, NULL, NULL, &why) ||
		    fits(&header, known, &count))
			continue;
		ac_log(AC_LOG_WARNING, "skipping %s and what is older there: "
		    "an earlier job had the same name", path);
		break;
	}
	free(known);
	return known ? i : l->count;
}

/* Add the file, if it is of the run, and of `rank` unless that is negative. */
static bool
add_file(struct ac_report *report, const char *path, const char *run,
    int rank, struct ac_text *why)
{
	struct ac_marker_record markers[AC_FILE_MARKERS];
	struct ac_site_record *records;
	struct ac_file_header header;
	char reason[128];
	struct ac_text t;
	bool good;

	ac_text_init(&t, reason, sizeof reason);
	if (!ac_report_read(path, &header, &records, &markers, &t)) {
		if (t.used)
			ac_log(AC_LOG_WARNING, "skipping %s: %s", path, reason);
		return true;
	}
	if (strcmp(header.run, run))
		ac_log(AC_LOG_WARNING, "skipping %s: it is of another run",
		    path);
	good = strcmp(header.run, run) ||
	    (rank >= 0 && (!header.ranks || header.rank != rank)) ||
	    (ac_report_add(report, &header, records, markers) &&
	    ac_report_add_ranges(report, path, &header, records));
	free(records);
	if (!good)
		ac_text_add(why, strerror(ENOMEM));
	return good;
}

static struct ac_report *
build(const struct listing *l, const char *run, int rank, struct ac_text *why)
{
	struct ac_report *report = calloc(1, sizeof *report);
	char path[AC_FILE_PATH];
	bool good = report != NULL;

	for (size_t i = end_of_job(l, run); i-- > 0 && good; ) {
		if (strcmp(l->found[i].run, run))
			continue;
		locate(l, i, path, sizeof path);
		good = add_file(report, path, run, rank, why);
	}
	if (good && report->process_count) {
		ac_report_arrange(report);
		return report;
	}
	if (!why->used && good && rank >= 0)
		ac_text_addf(why, "the run has no statistics of a rank %d",
		    rank);
	else if (!why->used)
		ac_text_add(why, good ? "its statistics are damaged"
		    : strerror(ENOMEM));
	ac_report_destroy(report);
	return NULL;
}

static struct ac_report *
load(unsigned which, const char *run, int rank, struct ac_text *why)
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
			report = build(&l, token, rank, why);
		else if (which > 1)
			ac_text_addf(why, "only %u runs are kept in %s",
			    count_runs(&l), directory);
		else
			ac_text_addf(why, "no run is kept in %s", directory);
	}
	free(l.found);
	free(l.folders);
	return report;
}

struct ac_report *
ac_report_load(unsigned which, const char *run, struct ac_text *why)
{
	return load(which, run, -1, why);
}

struct ac_report *
ac_report_load_rank(unsigned which, int rank, struct ac_text *why)
{
	return load(which, NULL, rank, why);
}
