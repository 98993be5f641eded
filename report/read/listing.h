/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/listing.h -- the statistics files that are kept, for report/
 * only. */
#ifndef AC_REPORT_LISTING_H
#define AC_REPORT_LISTING_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum { AC_LISTING_NAME = 64, AC_NO_FOLDER = -1 };

/* One file that could be read, newest first in a list. */
struct ac_listed {
	char name[AC_LISTING_NAME];
	int  folder;                    /* that it is in, or AC_NO_FOLDER */
	char run[40];
};

struct ac_listed_folder {
	char name[AC_LISTING_NAME];
	char run[40];                   /* "": not known yet */
};

struct ac_listing {
	const char       *directory;
	struct ac_listed *found;
	size_t            count;
	struct ac_listed_folder    *folders;
	size_t            folder_count;
	unsigned          foreign;      /* files of another version */
};

/* The user's directory of statistics. False: one line in `why`. */
bool ac_listing_place(struct ac_text *directory, struct ac_text *why);

/* Find them in l->directory, which is set; ac_listing_free() ends it. False:
 * one line in `why`. */
bool ac_listing_make(struct ac_listing *l, struct ac_text *why);
void ac_listing_free(struct ac_listing *l);

/* Say on stderr how many files another version wrote, if any: to those who ask
 * what is kept, not to a program that ends and looks for its own run. */
void ac_listing_warn(const struct ac_listing *l);

/* The path of file `i`. */
void ac_listing_locate(const struct ac_listing *l, size_t i, char *path,
    size_t size);

/* A run is as young as its youngest process. */
unsigned ac_listing_runs(const struct ac_listing *l);
/* The token of the `which`-th last run, "" if there are fewer. */
const char *ac_listing_choose(const struct ac_listing *l, unsigned which);
bool ac_listing_has(const struct ac_listing *l, const char *token);

#endif
