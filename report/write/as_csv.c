/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_csv.c -- a run as comma-separated values (RFC 4180), a line
 * per site behind one with the names. What is not known is empty. Pure but for
 * the sink. */
#include "report/callers/functions.h"
#include "report/read/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct csv {
	struct ac_text line;
	char           buffer[2048];
};

static void
begin_cell(struct csv *w)
{
	if (w->line.used)
		ac_text_add(&w->line, ",");
}

/* Names may hold anything: quoted where they have to be, without what could
 * steer a terminal. */
static void
add_name(struct csv *w, const char *name)
{
	char cell[512];
	struct ac_text t;

	ac_text_init(&t, cell, sizeof cell);
	ac_text_add_clean(&t, name);
	begin_cell(w);
	if (!strpbrk(cell, ",\"") && *cell != ' ') {
		ac_text_add(&w->line, cell);
		return;
	}
	ac_text_add(&w->line, "\"");
	for (const char *s = cell; *s; s++) {
		ac_text_add_bytes(&w->line, s, 1);
		if (*s == '"')
			ac_text_add(&w->line, "\"");
	}
	ac_text_add(&w->line, "\"");
}

static void
add_count(struct csv *w, uint64_t count)
{
	begin_cell(w);
	ac_text_addf(&w->line, "%llu", (unsigned long long)count);
}

static void
add_number(struct csv *w, double value, bool known)
{
	begin_cell(w);
	if (known && isfinite(value))
		ac_text_add_double(&w->line, value, 9);
	else if (known)
		ac_text_add(&w->line, value > 0 ? "inf" : "-inf");
}

static void
add_whole(struct csv *w, double value)
{
	begin_cell(w);
	ac_text_add_fixed(&w->line, value, 0);
}

static const char heading[] = "site,name,region,operation,shape,m,n,k,batch,"
    "type,caller,function,rung,how,source,line,calls,recast_calls,flops,share,"
    "before_us,after_us,gain_us,basis,keep_us,recast_us,speed,error,tol,"
    "caller_name,caller_file,caller_line\n";

static void
add_identity(struct csv *w, const struct ac_site_total *site)
{
	char operation[64];
	struct ac_text t;

	ac_text_init(&t, operation, sizeof operation);
	ac_site_add_operation(&t, site);
	ac_text_addf(&w->line, "%08x", (unsigned)site->id);
	add_name(w, site->name);
	add_name(w, site->region.name);
	add_name(w, operation);
	add_name(w, site->key.shape);
	for (int i = 0; i < 4; i++) {
		const int64_t sizes[] = { site->key.m, site->key.n,
			site->key.k, site->key.batch };

		begin_cell(w);
		ac_text_addf(&w->line, "%lld", (long long)sizes[i]);
	}
	add_name(w, site->key.type);
}

static void
add_row(struct csv *w, const struct ac_report *report,
    const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];
	enum ac_reason reason = (enum ac_reason)site->reason;
	const bool is_kept = ac_site_row_is_kept(row, &reason)
	    || site->rung == AC_RUNG_KEEP;
	const bool has_times = row->basis != AC_BASIS_NONE;
	static const struct ac_caller nothing;
	const struct ac_caller *found = ac_report_caller(report,
	    site->key.caller), *known = found ? found : &nothing;

	add_identity(w, site);
	add_name(w, site->key.caller);
	add_name(w, known->function);
	add_name(w, ac_rung_names[is_kept ? AC_RUNG_KEEP : site->rung]);
	add_name(w, is_kept ? ac_reason_names[reason]
	    : ac_tactic_names[site->tactic]);
	add_name(w, site->source);
	add_count(w, site->line);
	add_count(w, row->calls);
	add_count(w, row->recast);
	add_whole(w, row->flops);
	add_number(w, row->share, true);
	add_number(w, row->before_us, has_times);
	add_number(w, row->after_us, has_times);
	add_number(w, row->gain_us, has_times);
	add_name(w, ac_basis_names[row->basis]);
	add_number(w, row->keep_us, has_times);
	add_number(w, row->recast_us, has_times);
	add_number(w, row->speed, has_times);
	add_number(w, row->error * site->tol, row->error >= 0);
	add_number(w, site->tol, site->tol > 0);
	add_name(w, known->name);
	add_name(w, known->file);
	add_count(w, known->line);
	ac_text_add(&w->line, "\n");
}

bool
ac_report_as_csv(const struct ac_report *report, enum ac_sort sort,
    ac_report_sink sink, void *context)
{
	struct ac_site_row *rows = NULL;
	size_t count = 0;
	struct csv w;

	if (report && !ac_rows_make(report, sort, &rows, &count))
		return false;
	sink(heading, strlen(heading), context);
	for (size_t i = 0; i < count; i++) {
		ac_text_init(&w.line, w.buffer, sizeof w.buffer);
		add_row(&w, report, &rows[i]);
		sink(w.line.data, w.line.used, context);
	}
	free(rows);
	return true;
}
