/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_rejected.c -- a program that ends well when it runs plain
 * and says by its exit status that it is not content with the recast: that, and
 * which of its calls were recast. */
#include "cmd/compare/compare.h"
#include "report/write/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST = 14, LINE_BYTES = 1024, MOST_SITES = 5 };

typedef void (*tell_site)(const struct ac_comparison *compare,
    const struct ac_site_row *row, void *context);

/* Tell the sites that were recast, largest first; returns how many there are.
 * Without memory none is told. */
static size_t
tell_sites(const struct ac_comparison *compare, tell_site tell, void *context)
{
	struct ac_site_row *rows = NULL;
	size_t count = 0, recast = 0;

	if (!compare->report || !ac_rows_make(compare->report, AC_SORT_WORK,
	    &rows, &count))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].recast && recast++ < MOST_SITES)
			tell(compare, &rows[i], context);
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
print_site(const struct ac_comparison *compare, const struct ac_site_row *row,
    void *context)
{
	const struct ac_site_total *site = row->rungs[0];
	char line[LINE_BYTES];
	struct ac_text t;

	(void)context;
	ac_text_init(&t, line, sizeof line);
	ac_text_pad(&t, FIRST);
	ac_text_addf(&t, "%08x ", site->id);
	ac_site_add_operation(&t, site);
	ac_text_add(&t, " ");
	ac_site_add_sizes(&t, site);
	ac_text_add(&t, " ");
	ac_site_add_caller(&t, compare->report, site);
	ac_text_addf(&t, " %s, ", rung_name(row));
	ac_text_add_count(&t, row->recast, "recast call");
	ac_text_add(&t, ", ");
	ac_share_add(&t, row->share, 1);
	ac_text_add(&t, " of the FP32 work");
	puts(line);
}

static void
add_site(const struct ac_comparison *compare, const struct ac_site_row *row,
    void *context)
{
	const struct ac_site_total *site = row->rungs[0];
	struct ac_json *w = context;
	char id[16];
	struct ac_text t;

	(void)compare;
	ac_text_init(&t, id, sizeof id);
	ac_text_addf(&t, "%08x", site->id);
	ac_json_open(w, NULL, "{");
	ac_json_string(w, "id", id);
	ac_json_string(w, "rung", rung_name(row));
	ac_json_unsigned(w, "recast_calls", row->recast);
	ac_json_real(w, "share", row->share);
	ac_json_close(w, "}");
}

static void
print_text(const struct ac_comparison *compare)
{
	const bool any = compare->totals.recast_calls;
	size_t recast;

	printf("verdict       the program rejects the %s: status %d in run "
	    "%zu of %zu, 0 in plain runs\n", any ? "recast" : "library",
	    compare->rejected, compare->rejected_run, compare->pairs + 1);
	puts(any ? "recast        these sites, the largest first:"
	    : "recast        nothing; see 'autocast doctor'");
	recast = tell_sites(compare, print_site, NULL);
	if (recast > MOST_SITES)
		printf("              and %zu more\n", recast - MOST_SITES);
}

void
ac_compare_print_rejected(const struct ac_comparison *compare)
{
	struct ac_json json, *w = &json;
	size_t recast;

	if (!compare->json) {
		print_text(compare);
		return;
	}
	ac_json_begin(w, ac_say_stdout, NULL);
	ac_compare_json_head(w, compare, AC_COMPARE_DIFFERS);
	ac_json_string(w, "verdict", "rejected");
	ac_json_integer(w, "exit_status", compare->rejected);
	ac_json_unsigned(w, "run", compare->rejected_run);
	ac_json_open(w, "recast_sites", "[");
	recast = tell_sites(compare, add_site, w);
	ac_json_close(w, "]");
	ac_json_unsigned(w, "recast_site_count", recast);
	ac_json_end(w);
}
