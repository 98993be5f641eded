/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/csv.c -- comma-separated values while they are written. Pure but
 * for the sink. */
#include "report/write/csv.h"
#include "report/read/read.h"

#include <math.h>
#include <string.h>

static void
begin_row(struct ac_csv *w)
{
	ac_text_init(&w->row, w->buffer, sizeof w->buffer);
	w->has_cells = false;
}

static void
begin_cell(struct ac_csv *w)
{
	if (w->has_cells)
		ac_text_add(&w->row, ",");
	w->has_cells = true;
}

void
ac_csv_end_row(struct ac_csv *w)
{
	ac_text_add(&w->row, "\n");
	w->sink(w->row.data, w->row.used, w->context);
	begin_row(w);
}

void
ac_csv_begin(struct ac_csv *w, const char *names, ac_report_sink sink,
    void *context)
{
	w->sink = sink;
	w->context = context;
	begin_row(w);
	ac_text_add(&w->row, names);
	ac_csv_end_row(w);
}

void
ac_csv_name(struct ac_csv *w, const char *name)
{
	struct ac_text t = AC_TEXT_OF(512);

	ac_text_add_clean(&t, name);
	begin_cell(w);
	if (!strpbrk(t.data, ",\"") && *t.data != ' ') {
		ac_text_add(&w->row, t.data);
		return;
	}
	ac_text_add(&w->row, "\"");
	for (const char *s = t.data; *s; s++) {
		ac_text_add_bytes(&w->row, s, 1);
		if (*s == '"')
			ac_text_add(&w->row, "\"");
	}
	ac_text_add(&w->row, "\"");
}

void
ac_csv_integer(struct ac_csv *w, long long value)
{
	begin_cell(w);
	ac_text_addf(&w->row, "%lld", value);
}

void
ac_csv_unsigned(struct ac_csv *w, uint64_t value)
{
	begin_cell(w);
	ac_text_addf(&w->row, "%llu", (unsigned long long)value);
}

void
ac_csv_number(struct ac_csv *w, double value)
{
	begin_cell(w);
	if (isfinite(value))
		ac_text_add_double(&w->row, value, 9);
	else if (!isnan(value))
		ac_text_add(&w->row, value > 0 ? "inf" : "-inf");
}

void
ac_csv_whole(struct ac_csv *w, double value)
{
	begin_cell(w);
	if (!isnan(value))
		ac_text_add_fixed(&w->row, value, 0);
}

void
ac_csv_site(struct ac_csv *w, const struct ac_site_total *site)
{
	begin_cell(w);
	ac_text_addf(&w->row, "%08x", (unsigned)site->id);
	ac_csv_name(w, site->name);
	ac_csv_name(w, site->region.name);
	ac_csv_name(w, AC_SAID(ac_site_add_operation, site));
	ac_csv_name(w, site->key.shape);
	ac_csv_integer(w, site->key.m);
	ac_csv_integer(w, site->key.n);
	ac_csv_integer(w, site->key.k);
	ac_csv_integer(w, site->key.batch);
	ac_csv_name(w, site->key.type);
}
