/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_text.c -- the policy that was found, or that a run had. What
 * becomes of convolutions is here: of each operation one line for the way of
 * most of the work, behind one each for those that go another way. */
#include "cmd/tune/tune_lines.h"
#include "policy/language/names.h"

#include <math.h>

/* Lines that are being made. */
struct making {
	const struct ac_tune_lines *lines;
	uint32_t operation;
	size_t   most;               /* the way of most of the work, */
	double   flops;              /* and the least that go it; 0: to keep */
	bool     is_general;         /* so do all with as many */
};

static bool
is_of(const struct making *m, size_t i)
{
	const struct ac_site_row *row = m->lines->plan->sites[i].row;

	return row->rungs[0]->key.operation == m->operation && row->share > 0
	    && m->lines->way[i] != AC_TUNE_LINE_NONE;
}

static double
flops_of(const struct making *m, size_t i)
{
	return m->lines->plan->sites[i].row->rungs[0]->flops;
}

/* False: there is none. */
static bool
find_usual(struct making *m)
{
	const struct ac_tune_plan *plan = m->lines->plan;
	double most = 0;

	for (size_t i = 0; i < plan->count; i++) {
		double share = 0;

		for (size_t j = 0; is_of(m, i) && j < plan->count; j++)
			if (is_of(m, j) && m->lines->way[j] == m->lines->way[i])
				share += plan->sites[j].row->share;
		if (share > most) {
			most = share;
			m->most = m->lines->way[i];
		}
	}
	return most > 0;
}

/* Whether one line may speak of the usual way: nothing that is as large is left
 * to what comes last. */
static void
find_width(struct making *m)
{
	const struct ac_tune_plan *plan = m->lines->plan;
	double least = HUGE_VAL;

	for (size_t i = 0; i < plan->count; i++)
		if (is_of(m, i) && m->lines->way[i] == m->most
		    && flops_of(m, i) < least)
			least = flops_of(m, i);
	m->flops = m->most == AC_TUNE_LINE_KEEP ? 0
	    : ac_tune_round_flops(least);
	m->is_general = true;
	for (size_t i = 0; i < plan->count; i++)
		m->is_general &= plan->sites[i].row->rungs[0]->key.operation
		    != m->operation || flops_of(m, i) < m->flops
		    || m->lines->way[i] != AC_TUNE_LINE_NONE;
}

/* Of one, or of all that go its way. */
static void
add_line(struct ac_text *text, const struct making *m, size_t of, bool is_one)
{
	const struct ac_tune_plan *plan = m->lines->plan;
	const size_t way = m->lines->way[of];
	struct ac_tune_evidence evidence = { .sites = 0 };

	for (size_t i = 0; i < plan->count; i++)
		if (is_one ? i == of : is_of(m, i) && m->lines->way[i] == way)
			ac_tune_evidence_add(&evidence, &plan->sites[i],
			    m->lines->ways[way].rung);
	ac_tune_add_evidence(text, &evidence);
	ac_text_add(text, ac_operation_names[m->operation]);
	if (is_one)
		ac_text_addf(text, " site=%08x",
		    plan->sites[of].row->rungs[0]->id);
	else if (m->flops > 0)
		ac_tune_add_flops(text, m->flops);
	ac_tune_add_way(text, &m->lines->ways[way]);
}

static void
add_lines(struct ac_text *text, const struct making *m)
{
	const size_t count = m->lines->plan->count;
	size_t first = count;

	for (size_t i = 0; i < count; i++) {
		if (!is_of(m, i))
			continue;
		if (!m->is_general || m->lines->way[i] != m->most)
			add_line(text, m, i, true);
		else if (first == count)
			first = i;
	}
	if (first < count)
		add_line(text, m, first, false);
}

static void
add_convs(struct ac_text *text, const struct ac_tune_lines *lines)
{
	for (uint32_t i = 0; i < AC_OP_COUNT; i++) {
		struct making m = { .lines = lines, .operation = i };

		if (!ac_operation_is_conv(i) || !find_usual(&m))
			continue;
		find_width(&m);
		add_lines(text, &m);
	}
}

/* ---- The policy --------------------------------------------------------- */

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
	add_convs(text, &lines);
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
