/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/roofline.c -- what the GPU can do with the work that each byte
 * brings, and what the products did, before and now. The rates are the policy's
 * own (policy/profit/rates.def). Pure but for the sink. */
#include "report/html/html.h"
#include "policy/profit/profit.h"

#include <string.h>

enum { LEFT = 52, TOP = 30, BOTTOM = 280, HEIGHT = 342, NEAR = 17 };

/* The next number of a shape, "32", or the product of "28x28"; 0 where there
 * is none. */
static double
next_extent(const char **shape)
{
	double product = 1;

	do {
		size_t used;
		double value;

		*shape += strcspn(*shape, "0123456789");
		used = ac_text_number(*shape, strlen(*shape), &value);
		if (!used)
			return 0;
		product *= value;
		*shape += used;
	} while (**shape == 'x');
	return product;
}

/* Of x, w and y, by the shape: "n32 c256 28x28 k256 3x3 s1 p1 d1 g1 nchw". What
 * was computed tells the size of y. */
static double
bytes_of_conv(const struct ac_site_total *site)
{
	const char *shape = site->key.shape, *groups = strstr(shape, " g");
	const double n = next_extent(&shape), c = next_extent(&shape);
	const double image = next_extent(&shape), k = next_extent(&shape);
	const double filter = next_extent(&shape);
	const double each = groups ? c / next_extent(&groups) * filter : 0;

	if (each <= 0 || !(each < 1e15))
		return 0;
	return 4 * (n * c * image + k * each + site->flops / 2 / each);
}

static double
bytes_of(const struct ac_site_total *site)
{
	const struct ac_site_key *key = &site->key;
	const double m = (double)key->m, n = (double)key->n;
	const double k = (double)key->k;

	if (ac_operation_is_conv(key->operation))
		return bytes_of_conv(site);
	return (strcmp(key->type, "c32") ? 4 : 8)
	    * (m * k + k * n + m * n) * (double)key->batch;
}

/* FLOP per byte of what a call reads and writes, as the program has it. 0: it
 * has no place in the plot. */
static double
intensity_of(const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];
	const double bytes = site->flops > 0 && row->keep_us > 0
	    && row->recast_us > 0 ? bytes_of(site) : 0;

	return bytes > 0 ? site->flops / bytes : 0;
}

static double
rate_of(const struct ac_site_row *row, double us)
{
	return row->rungs[0]->flops / (us * 1e-6);
}

static const char *
unit_rate(struct ac_text *t, double value)
{
	ac_flops_add(t, value);
	t->used -= 4;           /* "FLOP", which the axis says */
	t->data[t->used] = '\0';
	return t->data;
}

/* Lines, or labels, which are on top of all: one roof for each rate that the
 * GPU has; where two are one, the names are, too. A label that would touch the
 * one above goes below its line. */
static void
add_roofs(struct ac_html *w, const struct ac_svg *p,
    const struct ac_rates *rates, bool labels)
{
	const struct { const char *name; double rate; } roofs[] = {
		{ rates->fp16 == rates->bf16 ? "FP16, BF16" : "FP16",
		    rates->fp16 },
		{ "BF16", rates->fp16 == rates->bf16 ? 0 : rates->bf16 },
		{ "TF32", rates->tf32 }, { "FP32", rates->fp32 },
	};
	double last = -NEAR, y;

	for (size_t i = 0; i < sizeof roofs / sizeof *roofs; i++) {
		const double rate = roofs[i].rate;

		if (rate <= 0)
			continue;
		y = ac_scale_at(&p->y, rate);
		if (!labels) {
			ac_svg_line(w, "roof", ac_scale_at(&p->x,
			    rate / rates->bandwidth), y, p->right, y);
			continue;
		}
		ac_svg_label(w, "roof end", p->right, y - last < NEAR
		    ? y + 12 : y - 4, 0, "%s %s/s", roofs[i].name,
		    AC_FLOPS(rate));
		last = y;
	}
}

/* As steep as the scales are long, from the left or from below. */
static void
add_slope(struct ac_html *w, const struct ac_svg *p,
    const struct ac_rates *rates)
{
	const double fastest = rates->fp16 > rates->fp32 ? rates->fp16
	    : rates->fp32;
	const double low = p->y.low / rates->bandwidth > p->x.low
	    ? p->y.low / rates->bandwidth : p->x.low;
	const double high = fastest / rates->bandwidth;
	const double x1 = ac_scale_at(&p->x, low);
	const double y1 = ac_scale_at(&p->y, low * rates->bandwidth);
	const double x2 = ac_scale_at(&p->x, high);
	const double y2 = ac_scale_at(&p->y, high * rates->bandwidth);

	ac_svg_line(w, "roof", x1, y1, x2, y2);
	ac_svg_label(w, "roof end", x1 + (x2 - x1) * 0.4 - 6,
	    y1 + (y2 - y1) * 0.4 - 6, 0, "%s TB/s",
	    AC_DOUBLE(rates->bandwidth / 1e12, 3));
}

static void
add_dot(struct ac_html *w, const struct ac_svg *p,
    const struct ac_site_row *row, double intensity)
{
	const double x = ac_scale_at(&p->x, intensity);
	const double from = ac_scale_at(&p->y, rate_of(row, row->keep_us));
	const double to = ac_scale_at(&p->y, rate_of(row, row->recast_us));
	uint32_t rung = row->rungs[0]->rung;

	/* Times of a site that is kept are those of what it tried. */
	for (size_t i = 1; i < row->rung_count && rung == AC_RUNG_KEEP; i++)
		rung = row->rungs[i]->rung;
	ac_html_addf(w, "<a href=\"#s-%08x\">", (unsigned)row->rungs[0]->id);
	ac_svg_line(w, "rise", x, from, x, to);
	ac_svg_mark(w, AC_RUNG_KEEP, false, x, from);
	ac_html_add(w, "</path>");
	if (rung != AC_RUNG_KEEP) {
		ac_svg_mark(w, rung, row->basis == AC_BASIS_PREDICTED, x, to);
		ac_html_add(w, "</path>");
	}
	ac_html_add(w, "<title>");
	ac_text_addf(ac_html_piece(w), "%s, %s FLOP per byte: %s/s before, "
	    "%s/s as %s, %s", AC_SAID(ac_html_add_label, row->rungs[0]),
	    AC_DOUBLE(intensity, 3), AC_FLOPS(rate_of(row, row->keep_us)),
	    AC_FLOPS(rate_of(row, row->recast_us)), ac_rung_names[rung],
	    ac_basis_names[row->basis]);
	ac_html_put(w, "</title></a>\n");
}

static size_t
fit(const struct ac_html *w, const struct ac_rates *rates, struct ac_svg *p)
{
	const double most = rates->fp16 > rates->fp32 ? rates->fp16
	    : rates->fp32;
	size_t count = 0;

	for (size_t i = 0; i < w->row_count; i++) {
		const struct ac_site_row *row = &w->rows[i];
		const double intensity = intensity_of(row);

		if (intensity <= 0)
			continue;
		count++;
		ac_scale_take(&p->x, intensity);
		ac_scale_take(&p->y, rate_of(row, row->keep_us));
		ac_scale_take(&p->y, rate_of(row, row->recast_us));
	}
	ac_scale_take(&p->x, most / rates->bandwidth * 4);
	ac_scale_take(&p->x, rates->fp32 / rates->bandwidth / 2);
	ac_scale_take(&p->y, most);
	ac_scale_take(&p->y, rates->fp32 / 2);
	ac_scale_round(&p->x);
	ac_scale_round(&p->y);
	return count;
}

static void
end(struct ac_html *w, const struct ac_rates *rates, size_t shown, size_t count)
{
	struct ac_text source = AC_TEXT_OF(256);

	ac_html_add(w, "</svg>\n<figcaption>Work for each byte of the "
	    "operands and the result, and how fast. A cross is the site "
	    "before, the mark joined to it the site now. ");
	if (shown < count)
		ac_html_addf(w, "The %zu largest gains of %zu products. ",
		    shown, count);
	ac_html_add(w, "Roofs: ");
	ac_html_text(w, rates->name);
	ac_rates_add_source(rates, &source);
	ac_html_add(w, ", ");
	ac_html_text(w, source.data);
	ac_html_add(w, ".</figcaption>\n</figure>\n");
}

void
ac_html_roofline(struct ac_html *w)
{
	const struct ac_file_header *h = w->report->processes;
	const struct ac_rates *rates = ac_rates_find(*h->gpu ? h->gpu : NULL,
	    h->sm);
	struct ac_svg p = { .x = { .from = LEFT, .to = AC_SVG_WIDTH - 12 },
		.y = { .from = BOTTOM, .to = TOP }, .left = LEFT, .top = TOP,
		.right = AC_SVG_WIDTH - 12, .bottom = BOTTOM };
	size_t count, shown = 0;

	if (!rates || rates->bandwidth <= 0)
		return;
	count = fit(w, rates, &p);
	if (!count)
		return;
	ac_text_add(ac_html_piece(w), "The rate of each product against its "
	    "work per byte, before and now, below the rates of ");
	ac_text_add(&w->piece, rates->name);
	ac_svg_begin(w, "roofline", "Roofline", HEIGHT);
	ac_svg_axes(w, &p, "FLOP per byte", ac_svg_plain, "FLOP/s",
	    unit_rate);
	add_slope(w, &p, rates);
	add_roofs(w, &p, rates, false);
	for (size_t i = 0; i < w->row_count && shown < AC_HTML_DOTS; i++) {
		const double intensity = intensity_of(&w->rows[i]);

		if (intensity <= 0)
			continue;
		add_dot(w, &p, &w->rows[i], intensity);
		shown++;
	}
	add_roofs(w, &p, rates, true);
	ac_svg_legend(w, true, HEIGHT - 4);
	end(w, rates, shown, count);
}
