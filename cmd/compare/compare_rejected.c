/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_rejected.c -- a program that ends well when it runs plain
 * and says by its exit status that it is not content with the recast: that, and
 * which of its calls were recast. */
#include "cmd/compare/compare.h"
#include "report/write/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST = 14, LINE_BYTES = 1024, MOST_SITES = 5 };

void
ac_compare_add_whose(struct ac_text *t, const struct ac_comparison *compare,
    size_t column)
{
	if (compare->column_count > 2)
		ac_text_addf(t, "%s: ", compare->columns[column].name);
}

typedef void (*tell_site)(const struct ac_compare_column *column,
    const struct ac_site_row *row, void *context);

/* Tell the sites that were recast, largest first; returns how many there are.
 * Without memory none is told. */
static size_t
tell_sites(const struct ac_compare_column *column, tell_site tell,
    void *context)
{
	struct ac_site_row *rows = NULL;
	size_t count = 0, recast = 0;

	if (!column->report || !ac_rows_make(column->report, AC_SORT_WORK,
	    &rows, &count))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].recast && recast++ < MOST_SITES)
			tell(column, &rows[i], context);
	free(rows);
	return recast;
}

/* Of the rung that made results for the program: a site may have left it. */
static const char *
rung_name(const struct ac_site_row *row)
{
	size_t i = 0;

	while (i + 1 < row->rung_count && !row->rungs[i]->recast)
		i++;
	return ac_rung_names[row->rungs[i]->rung];
}

static void
print_site(const struct ac_compare_column *column,
    const struct ac_site_row *row, void *context)
{
	const struct ac_site_total *site = row->rungs[0];

	(void)context;
	printf("%*s%08x %s %s %s, %s, %s of the FP32 work\n", FIRST, "",
	    site->id, AC_SAID(ac_site_add_what, site),
	    AC_SAID(ac_site_add_caller, column->report, site), rung_name(row),
	    AC_COUNT(row->recast, "recast call"), AC_SHARE(row->share, 1));
}

static void
add_site(const struct ac_compare_column *column,
    const struct ac_site_row *row, void *context)
{
	struct ac_json *w = context;

	(void)column;
	ac_json_open(w, NULL, "{");
	ac_json_id(w, "id", row->rungs[0]->id);
	ac_json_string(w, "rung", rung_name(row));
	ac_json_unsigned(w, "recast_calls", row->recast);
	ac_json_real(w, "share", row->share);
	ac_json_close(w, "}");
}

void
ac_compare_add_rejected(struct ac_text *t, const struct ac_comparison *compare,
    size_t column)
{
	const struct ac_compare_column *c = &compare->columns[column];

	ac_text_addf(t, "the program rejects the %s: status %d in run %zu of "
	    "%zu, 0 in plain runs", c->totals.recast_calls ? "recast"
	    : "library", c->rejected, c->rejected_run, compare->pairs + 1);
}

void
ac_compare_print_rejected(const struct ac_comparison *compare, size_t column)
{
	const struct ac_compare_column *c = &compare->columns[column];
	size_t recast;
	struct ac_text t = AC_TEXT_OF(LINE_BYTES);

	ac_text_addf(&t, "%-*s", FIRST, "recast");
	ac_compare_add_whose(&t, compare, column);
	ac_text_add(&t, c->totals.recast_calls
	    ? "these sites, the largest first:"
	    : "nothing; see 'autocast doctor'");
	puts(t.data);
	recast = tell_sites(c, print_site, NULL);
	if (recast > MOST_SITES)
		printf("              and %zu more\n", recast - MOST_SITES);
}

void
ac_compare_json_rejected(struct ac_json *w,
    const struct ac_compare_column *column)
{
	size_t recast;

	ac_json_string(w, "verdict", "rejected");
	ac_json_integer(w, "exit_status", column->rejected);
	ac_json_unsigned(w, "run", column->rejected_run);
	ac_json_open(w, "recast_sites", "[");
	recast = tell_sites(column, add_site, w);
	ac_json_close(w, "]");
	ac_json_unsigned(w, "recast_site_count", recast);
}
