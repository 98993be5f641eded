/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/csv.h -- comma-separated values (RFC 4180) while they are
 * written: a report, and what the verbs of cmd/ print. */
#ifndef AC_REPORT_CSV_H
#define AC_REPORT_CSV_H

#include "base/text.h"
#include "report/report.h"

struct ac_csv {
	struct ac_text  row;
	char            buffer[4096];
	bool            has_cells;      /* the row has one already */
	ac_report_sink  sink;
	void           *context;
};

/* Begin a table with the row of its names: "site,name,calls". */
void ac_csv_begin(struct ac_csv *w, const char *names, ac_report_sink sink,
    void *context);

/* A cell of the row. A name may hold anything: it is quoted where it has to be,
 * what could steer a terminal becomes '?', and it ends after 511 bytes. */
void ac_csv_name(struct ac_csv *w, const char *name);
void ac_csv_integer(struct ac_csv *w, long long value);
void ac_csv_unsigned(struct ac_csv *w, uint64_t value);
/* To nine significant digits, or with none behind the point. Empty where it is
 * a NaN: not known. */
void ac_csv_number(struct ac_csv *w, double value);
void ac_csv_whole(struct ac_csv *w, double value);

/* What a site is: so many cells, with these names. */
#define AC_CSV_SITE "site,name,region,operation,shape,m,n,k,batch,type"
struct ac_site_total;
void ac_csv_site(struct ac_csv *w, const struct ac_site_total *site);

/* The row is complete. */
void ac_csv_end_row(struct ac_csv *w);

#endif
