/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_convs.c -- what becomes of convolutions as lines of a policy:
 * of each operation one for the way of most of the work, behind one each for
 * those that go another way. */
#include "cmd/tune/tune_lines.h"

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

void
ac_tune_lines_add_convs(struct ac_text *text,
    const struct ac_tune_lines *lines)
{
	for (uint32_t i = 0; i < AC_OP_COUNT; i++) {
		struct making m = { .lines = lines, .operation = i };

		if (!ac_operation_is_conv(i) || !find_usual(&m))
			continue;
		find_width(&m);
		add_lines(text, &m);
	}
}
