/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/listing.c -- the statistics files that are kept, newest first,
 * and which run each is of. Of a folder, which holds one job, one file is read.
 * Files that cannot be used are named once on stderr (through base/log) and
 * left out. Called by the autocast program only. */
#include "report/read/listing.h"
#include "base/env.h"
#include "base/log.h"
#include "report/count/parallel.h"
#include "report/read/read.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Finding files ----------------------------------------------------- */

static int
by_name_descending(const void *a, const void *b)
{
	return strcmp(((const struct ac_listed *)b)->name,
	    ((const struct ac_listed *)a)->name);
}

void
ac_listing_locate(const struct ac_listing *l, size_t i, char *path,
    size_t size)
{
	const struct ac_listed *c = &l->found[i];
	struct ac_text t = ac_text_in(path, size);

	ac_text_addf(&t, "%s/", l->directory);
	if (c->folder != AC_NO_FOLDER)
		ac_text_addf(&t, "%s/", l->folders[c->folder].name);
	ac_text_add(&t, c->name);
}

static bool
add_folder(struct ac_listing *l, const char *name)
{
	if (!AC_GROW(l->folders, l->folder_count + 1))
		return false;
	l->folders[l->folder_count] = (struct ac_listed_folder){ .run = "" };
	strcpy(l->folders[l->folder_count++].name, name);
	return true;
}

static bool
add_candidate(struct ac_listing *l, const char *name, int folder)
{
	if (!AC_GROW(l->found, l->count + 1))
		return false;
	l->found[l->count] = (struct ac_listed){ .folder = folder };
	strcpy(l->found[l->count++].name, name);
	return true;
}

/* Collect the names of a directory; false if memory is short. */
static bool
collect(struct ac_listing *l, DIR *stream, int folder)
{
	const struct dirent *entry;
	bool good = true;

	while (good && (entry = readdir(stream))) {
		if (strlen(entry->d_name) >= AC_LISTING_NAME)
			continue;
		if (ac_file_is_name(entry->d_name))
			good = add_candidate(l, entry->d_name, folder);
		else if (folder == AC_NO_FOLDER &&
		    ac_parallel_is_folder(entry->d_name))
			good = add_folder(l, entry->d_name);
	}
	return good;
}

static bool
collect_folders(struct ac_listing *l)
{
	char path[AC_FILE_PATH];
	bool good = true;

	for (size_t i = 0; i < l->folder_count && good; i++) {
		struct ac_text t = AC_TEXT_IN(path);
		DIR *stream;

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
read_headers(struct ac_listing *l)
{
	char path[AC_FILE_PATH], *folder_run;
	struct ac_file_header header;
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct ac_listed *c = &l->found[i];
		struct ac_text why = AC_TEXT_OF(128);

		folder_run = c->folder == AC_NO_FOLDER ? NULL
		    : l->folders[c->folder].run;
		ac_listing_locate(l, i, path, sizeof path);
		if (folder_run && *folder_run) {
			strcpy(c->run, folder_run);
			l->found[kept++] = *c;
		} else if (ac_report_read(path, &header, NULL, NULL, &why)) {
			strcpy(c->run, header.run);
			if (folder_run)
				strcpy(folder_run, header.run);
			l->found[kept++] = *c;
		} else if (why.used && !strcmp(why.data, AC_READ_FOREIGN)) {
			l->foreign++;   /* after an upgrade, all of them */
		} else if (why.used) {
			ac_log(AC_LOG_WARNING, "skipping %s: %s", path,
			    why.data);
		}
	}
	l->count = kept;
}

bool
ac_listing_place(struct ac_text *directory, struct ac_text *why)
{
	if (ac_file_directory(directory, NULL))
		return true;
	ac_text_add(why, "no statistics are kept: ");
	ac_text_add(why, !errno ? "AUTOCAST_STATE is off; unset it"
	    : errno == ENOENT && !ac_env_is_set(AC_ENV_STATE)
	    ? "there is no home directory; set AUTOCAST_STATE to a directory"
	    : strerror(errno));
	return false;
}

bool
ac_listing_make(struct ac_listing *l, struct ac_text *why)
{
	DIR *stream = opendir(l->directory);
	bool good;

	if (!stream && errno != ENOENT) {
		ac_text_addf(why, "cannot read %s: %s; set AUTOCAST_STATE to a "
		    "directory", l->directory, strerror(errno));
		return false;
	}
	good = !stream || (collect(l, stream, AC_NO_FOLDER) &&
	    collect_folders(l));
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

void
ac_listing_warn(const struct ac_listing *l)
{
	if (l->foreign)
		ac_log(AC_LOG_WARNING, "skipping %u statistics file%s in %s of "
		    "another version of autocast", l->foreign,
		    l->foreign == 1 ? "" : "s", l->directory);
}

/* Whether file `i` is of the youngest process of its run. */
static bool
leads(const struct ac_listing *l, size_t i)
{
	size_t younger = 0;

	while (younger < i && strcmp(l->found[younger].run, l->found[i].run))
		younger++;
	return younger == i;
}

unsigned
ac_listing_runs(const struct ac_listing *l)
{
	unsigned runs = 0;

	for (size_t i = 0; i < l->count; i++)
		runs += leads(l, i);
	return runs;
}

const char *
ac_listing_choose(const struct ac_listing *l, unsigned which)
{
	unsigned runs = 0;

	for (size_t i = 0; i < l->count; i++)
		if (leads(l, i) && ++runs == which)
			return l->found[i].run;
	return "";
}

bool
ac_listing_has(const struct ac_listing *l, const char *token)
{
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->found[i].run, token))
			return true;
	return false;
}

void
ac_listing_free(struct ac_listing *l)
{
	free(l->found);
	free(l->folders);
}
