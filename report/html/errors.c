/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/errors.c -- a dot per site: how accurate it was against how much
 * faster it is. Pure but for the sink. */
#include "report/html/html.h"

#include <math.h>

enum { LEFT = 52, TOP = 30, BOTTOM = 244, HEIGHT = 306 };

static bool
has_dot(const struct ac_site_row *row)
{
	return row->error >= 0 && row->speed > 0;
}

static const char *
unit_speed(struct ac_text *t, double value)
{
	ac_text_addf(t, "%sx", AC_DOUBLE(value, 1));
	return t->data;
}

static void
add_dot(struct ac_html *w, const struct ac_svg *p,
    const struct ac_site_row *row)
{
	ac_html_addf(w, "<a href=\"#s-%08x\">", (unsigned)row->rungs[0]->id);
	ac_svg_mark(w, row->rungs[0]->rung,
	    row->basis == AC_BASIS_PREDICTED, ac_scale_at(&p->x, row->speed),
	    ac_scale_at(&p->y, row->error));
	ac_html_add(w, "<title>");
	ac_text_addf(ac_html_piece(w), "%s, %s: %s %s, error %s of tol",
	    AC_SAID(ac_html_add_label, row->rungs[0]),
	    ac_rung_names[row->rungs[0]->rung], AC_SPEED(row->speed),
	    ac_basis_names[row->basis], AC_RATIO(row->error));
	ac_html_put(w, "</title></path></a>\n");
}

/* Those beyond the tolerance first, that none of them be left out. */
static size_t
add_dots(struct ac_html *w, const struct ac_svg *p)
{
	size_t shown = 0;

	for (int within = 0; within < 2; within++)
		for (size_t i = 0; i < w->row_count && shown < AC_HTML_DOTS;
		    i++) {
			const struct ac_site_row *row = &w->rows[i];

			if (!has_dot(row) || (row->error <= 1) != within)
				continue;
			add_dot(w, p, row);
			shown++;
		}
	return shown;
}

static void
describe(struct ac_html *w, size_t count, size_t beyond)
{
	ac_text_addf(ac_html_piece(w), "A mark for each of %s: to the right "
	    "what is faster, above the line what erred by more than its "
	    "tolerance: %s.", AC_COUNT(count, "site"), AC_COUNT(beyond,
	    "site"));
}

/* Where nothing changes: as fast as before, or just within the tolerance. */
static void
add_lines(struct ac_html *w, const struct ac_svg *p)
{
	const double x = ac_scale_at(&p->x, 1), y = ac_scale_at(&p->y, 1);

	ac_svg_line(w, "limit", p->left, y, p->right, y);
	ac_svg_label(w, "limit end", p->right, y - 5, 0, "tolerance");
	ac_svg_line(w, "even", x, p->top, x, p->bottom);
}

void
ac_html_errors(struct ac_html *w)
{
	struct ac_svg p = { .x = { .from = LEFT, .to = AC_SVG_WIDTH - 12 },
		.y = { .from = BOTTOM, .to = TOP }, .left = LEFT, .top = TOP,
		.right = AC_SVG_WIDTH - 12, .bottom = BOTTOM };
	size_t count = 0, beyond = 0, shown;
	struct ac_text t = AC_TEXT_OF(160);

	ac_scale_take(&p.x, 1);
	ac_scale_take(&p.y, 1.5);
	for (size_t i = 0; i < w->row_count; i++) {
		if (!has_dot(&w->rows[i]))
			continue;
		count++;
		beyond += w->rows[i].error > 1;
		ac_scale_take(&p.x, w->rows[i].speed);
		/* Below this an error is rounding of FP32 itself. */
		ac_scale_take(&p.y, fmax(w->rows[i].error, 1e-4));
	}
	if (!count)
		return;
	ac_scale_round(&p.x);
	ac_scale_round(&p.y);
	describe(w, count, beyond);
	ac_svg_begin(w, "errors", "Error against gain", HEIGHT);
	ac_svg_axes(w, &p, "times as fast", unit_speed,
	    "worst error, as a part of tol", ac_svg_plain);
	add_lines(w, &p);
	shown = add_dots(w, &p);
	ac_svg_legend(w, true, HEIGHT - 4);
	ac_text_add(&t, "Each mark is a site whose results were checked or "
	    "sampled.");
	if (shown < count)
		ac_text_addf(&t, " %zu of %zu: those beyond the tolerance, "
		    "then the largest gains.", shown, count);
	ac_svg_end(w, t.data);
}
