/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/load.c -- which files make a run, and the run they make together.
 * Files that cannot be used are named on stderr (base/log) and left out.
 * Called by the autocast program only: allocates freely. */
#include "report/read/read.h"
#include "base/log.h"
#include "report/count/parallel.h"
#include "report/count/process.h"
#include "report/past.h"
#include "report/read/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
end_of_job(const struct ac_listing *l, const char *run)
{
	struct launched *known = malloc((l->count + 1) * sizeof *known);
	char path[AC_FILE_PATH];
	struct ac_file_header header;
	size_t count = 0, i;

	for (i = 0; known && i < l->count; i++) {
		struct ac_text why = AC_TEXT_OF(128);

		if (strcmp(l->found[i].run, run) || l->found[i].folder
		    == AC_NO_FOLDER || strncmp(run, AC_PARALLEL_FOLDER,
		    sizeof AC_PARALLEL_FOLDER - 1))
			continue;
		ac_listing_locate(l, i, path, sizeof path);
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
	struct ac_text reason = AC_TEXT_OF(128);
	bool good;

	if (!ac_report_read(path, &header, &records, &markers, &reason)) {
		if (reason.used)
			ac_log(AC_LOG_WARNING, "skipping %s: %s", path,
			    reason.data);
		return true;
	}
	if (strcmp(header.run, run))
		ac_log(AC_LOG_WARNING, "skipping %s: it is of another run",
		    path);
	good = strcmp(header.run, run) ||
	    (rank >= 0 && (!header.ranks || header.rank != rank)) ||
	    (ac_report_add(report, &header, records, markers) &&
	    ac_report_add_events(report, &header, records) &&
	    ac_report_add_ranges(report, path, &header, records));
	free(records);
	if (!good)
		ac_text_add(why, strerror(ENOMEM));
	return good;
}

static struct ac_report *
build(const struct ac_listing *l, const char *run, int rank,
    struct ac_text *why)
{
	struct ac_report *report = calloc(1, sizeof *report);
	char path[AC_FILE_PATH];
	bool good = report != NULL;

	for (size_t i = end_of_job(l, run); i-- > 0 && good; ) {
		if (strcmp(l->found[i].run, run))
			continue;
		ac_listing_locate(l, i, path, sizeof path);
		good = add_file(report, path, run, rank, why);
	}
	if (good && report->process_count) {
		report->is_one_rank = rank >= 0;
		ac_report_arrange(report);
		return report;
	}
	if (!why->used && good && rank >= 0)
		ac_text_addf(why, "the run has no statistics of a rank %d; "
		    "'autocast report' names the ranks of a job", rank);
	else if (!why->used)
		ac_text_add(why, good ? "the run's statistics are damaged; "
		    "'autocast report --list' shows others"
		    : strerror(ENOMEM));
	ac_report_destroy(report);
	return NULL;
}

/* ---- Runs that are kept ------------------------------------------------ */

struct ac_past {
	struct ac_listing files;
	char              directory[AC_FILE_PATH];
};

static struct ac_past *
look(struct ac_text *why)
{
	struct ac_past *past = calloc(1, sizeof *past);
	struct ac_text t;

	if (!past) {
		ac_text_add(why, strerror(ENOMEM));
		return NULL;
	}
	past->files.directory = past->directory;
	ac_text_init(&t, past->directory, sizeof past->directory);
	if (ac_listing_place(&t, why) && ac_listing_make(&past->files, why))
		return past;
	ac_past_close(past);
	return NULL;
}

void
ac_past_prune(const char *run)
{
	static struct ac_file_header header;
	struct ac_text directory = AC_TEXT_OF(AC_FILE_PATH);
	struct ac_text token = AC_TEXT_IN(header.run);

	if (!ac_file_directory(&directory, NULL))
		return;
	header.start_s = (uint64_t)time(NULL);
	header.host = ac_process_host();
	ac_text_add(&token, run ? run : "");
	ac_file_prune(directory.data, &header);
}

struct ac_past *
ac_past_open(struct ac_text *why)
{
	struct ac_past *past;

	ac_past_prune(NULL);
	past = look(why);

	if (past)
		ac_listing_warn(&past->files);
	return past;
}

void
ac_past_close(struct ac_past *past)
{
	if (past)
		ac_listing_free(&past->files);
	free(past);
}

unsigned
ac_past_runs(const struct ac_past *past)
{
	return ac_listing_runs(&past->files);
}

static struct ac_report *
load(const struct ac_past *past, unsigned which, const char *run, int rank,
    struct ac_text *why)
{
	const struct ac_listing *l = &past->files;
	struct ac_text token = AC_TEXT_OF(40);

	/* Copied like the process that counts did, which cuts it. */
	ac_text_add(&token, run ? run : ac_listing_choose(l, which));
	if (*token.data && ac_listing_has(l, token.data))
		return build(l, token.data, rank, why);
	if (l->count)
		ac_text_addf(why, "only %u run%s kept in %s; 'autocast report "
		    "--list' shows them", ac_listing_runs(l),
		    ac_listing_runs(l) == 1 ? " is" : "s are", past->directory);
	else
		ac_text_addf(why, "no run is kept in %s; try 'autocast run "
		    "./program' first", past->directory);
	return NULL;
}

struct ac_report *
ac_past_load(const struct ac_past *past, unsigned which, struct ac_text *why)
{
	return load(past, which, NULL, -1, why);
}

static struct ac_report *
load_and_close(struct ac_past *past, unsigned which, const char *run, int rank,
    struct ac_text *why)
{
	struct ac_report *report = past ? load(past, which, run, rank, why)
	    : NULL;

	ac_past_close(past);
	return report;
}

struct ac_report *
ac_report_load(unsigned which, struct ac_text *why)
{
	return load_and_close(ac_past_open(why), which, NULL, -1, why);
}

struct ac_report *
ac_report_load_rank(unsigned which, int rank, struct ac_text *why)
{
	return load_and_close(ac_past_open(why), which, NULL, rank, why);
}

struct ac_report *
ac_report_of(const char *run, struct ac_text *why)
{
	return load_and_close(look(why), 1, run, -1, why);
}
