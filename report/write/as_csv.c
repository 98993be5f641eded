/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_csv.c -- a run as comma-separated values (RFC 4180), a line
 * per site behind one with the names. What is not known is empty. Pure but for
 * the sink. */
#include "report/callers/functions.h"
#include "report/read/rows.h"
#include "report/write/csv.h"

#include <math.h>
#include <stdlib.h>

static const char names[] = AC_CSV_SITE ",caller,function,rung,how,source,line,"
    "calls,recast_calls,flops,share,before_us,after_us,gain_us,basis,keep_us,"
    "recast_us,speed,error,tol,caller_name,caller_file,caller_line";

static double
if_known(double value, bool is_known)
{
	return is_known ? value : NAN;
}

static void
add_numbers(struct ac_csv *w, const struct ac_site_row *row)
{
	const bool has_times = row->basis != AC_BASIS_NONE;
	const double tol = row->rungs[0]->tol;

	ac_csv_unsigned(w, row->calls);
	ac_csv_unsigned(w, row->recast);
	ac_csv_whole(w, row->flops);
	ac_csv_number(w, row->share);
	ac_csv_number(w, if_known(row->before_us, has_times));
	ac_csv_number(w, if_known(row->after_us, has_times));
	ac_csv_number(w, if_known(row->gain_us, has_times));
	ac_csv_name(w, ac_basis_names[row->basis]);
	ac_csv_number(w, if_known(row->keep_us, has_times));
	ac_csv_number(w, if_known(row->recast_us, has_times));
	ac_csv_number(w, if_known(row->speed, has_times));
	ac_csv_number(w, if_known(row->error * tol, row->error >= 0));
	ac_csv_number(w, if_known(tol, tol > 0));
}

static void
add_row(struct ac_csv *w, const struct ac_report *report,
    const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];
	const char *how;
	const enum ac_rung rung = ac_site_row_rung(row, &how);
	const struct ac_caller *known = ac_report_caller(report,
	    site->key.caller);

	ac_csv_site(w, site);
	ac_csv_name(w, site->key.caller);
	ac_csv_name(w, known->function);
	ac_csv_name(w, ac_rung_names[rung]);
	ac_csv_name(w, how);
	ac_csv_name(w, site->source);
	ac_csv_unsigned(w, site->line);
	add_numbers(w, row);
	ac_csv_name(w, known->name);
	ac_csv_name(w, known->file);
	ac_csv_unsigned(w, known->line);
	ac_csv_end_row(w);
}

bool
ac_report_as_csv(const struct ac_report *report, enum ac_sort sort,
    ac_report_sink sink, void *context)
{
	struct ac_site_row *rows = NULL;
	size_t count = 0;
	struct ac_csv w;

	if (report && !ac_rows_make(report, sort, &rows, &count))
		return false;
	ac_csv_begin(&w, names, sink, context);
	for (size_t i = 0; i < count; i++)
		add_row(&w, report, &rows[i]);
	free(rows);
	return true;
}
