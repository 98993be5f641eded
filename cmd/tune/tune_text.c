/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_text.c -- the policy that was found, or that a run had. */
#include "cmd/tune/tune_lines.h"
#include "policy/language/names.h"

/* What a unit is called in a line: a product or a convolution. */
static const char *
family(const struct ac_tune_site *site)
{
	const uint32_t operation = site->row->rungs[0]->key.operation;

	return ac_operation_is_product(operation) ? "gemm" : "conv";
}

/* The profile that follows sets a tolerance for lines that name none. What is
 * known to err by more needs its own. */
static double
tol_of(enum ac_rung rung, double asked)
{
	const struct ac_rung_row *row = &ac_rung_rows[rung];

	return asked > 0 || row->error <= ac_rung_rows[AC_RUNG_KEEP].tol
	    ? asked : row->tol;
}

void
ac_tune_add_policy(struct ac_text *text, const struct ac_tune_plan *plan,
    const unsigned char *levels, double tol)
{
	struct ac_tune_lines lines;

	ac_tune_lines_begin(&lines, plan);
	for (size_t i = 0; i < plan->unit_count; i++) {
		const struct ac_tune_site *site = plan->units[i];
		const int way = ac_tune_way_of(site,
		    (enum ac_tune_level)levels[i]);
		enum ac_rung rung;

		if (site->is_left && levels[i] != AC_TUNE_KEPT)
			lines.way[site - plan->sites] = AC_TUNE_LINE_NONE;
		if (way == AC_TUNE_KEEP)
			continue;
		rung = (enum ac_rung)site->way[way].at->rung;
		ac_tune_lines_set(&lines, (size_t)(site - plan->sites),
		    &(struct ac_tune_line_way){ .rung = rung,
			.tol = tol_of(rung, tol), .guard = AC_GUARD_ON });
	}
	ac_tune_lines_add(text, &lines);
	ac_tune_lines_add_convs(text, &lines);
	ac_text_add(text, "otherwise amp\n");
	ac_tune_lines_end(&lines);
}

/* It on the rung of most of its recast calls, or NULL. */
static const struct ac_site_total *
most_of(const struct ac_site_row *row)
{
	const struct ac_site_total *most = NULL;

	for (size_t i = 0; i < row->rung_count; i++)
		if (row->rungs[i]->recast && (!most
		    || row->rungs[i]->recast > most->recast))
			most = row->rungs[i];
	return most;
}

/* Some rungs only a line has that names the operation. */
static void
add_other(struct ac_text *text, const struct ac_site_total *site)
{
	const struct ac_tune_line_way way = ac_tune_way_as(site);

	ac_text_addf(text, "%s site=%08x",
	    ac_operation_names[site->key.operation], site->id);
	ac_tune_add_way(text, &way);
}

void
ac_tune_add_frozen(struct ac_text *text, const struct ac_tune_plan *plan)
{
	struct ac_tune_lines lines;

	ac_tune_lines_begin(&lines, plan);
	ac_text_add(text, "set reproducible=on own=0\n");
	for (size_t i = 0; i < plan->count; i++) {
		const struct ac_site_total *site = most_of(&plan->rows[i]);
		struct ac_tune_line_way way;

		if (!site)
			continue;
		way = ac_tune_way_as(site);
		ac_tune_lines_set(&lines, i, &way);
	}
	ac_tune_lines_add(text, &lines);
	for (size_t i = 0; i < plan->count; i++) {
		const struct ac_site_total *site = most_of(&plan->rows[i]);

		if (site && !ac_tune_is_product(&plan->sites[i]))
			add_other(text, site);
	}
	ac_text_add(text, "otherwise off\n");
	ac_tune_lines_end(&lines);
}

void
ac_tune_add_kept(struct ac_text *text, const struct ac_tune_plan *plan,
    const unsigned char *levels)
{
	for (size_t i = 0; i < plan->unit_count; i++)
		if (levels[i] == AC_TUNE_KEPT)
			ac_text_addf(text, "%s site=%08x -> keep\n",
			    family(plan->units[i]),
			    plan->units[i]->row->rungs[0]->id);
}
