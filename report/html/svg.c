/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/svg.c -- plots: scales, axes, marks, labels. Plots are as wide as
 * their column; labels are of letters of one width, so that what fits is known
 * here. Pure but for the sink. */
#include "report/html/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Elements ---------------------------------------------------------- */

/* "12.3" */
#define AT(value) AC_FIXED((value), 1)

void
ac_svg_begin(struct ac_html *w, const char *id, const char *title,
    double height)
{
	ac_html_addf(w, "<figure id=\"%s\" class=\"card\"><h2>%s</h2>\n"
	    "<svg viewBox=\"0 0 %d %s\" role=\"img\" "
	    "aria-labelledby=\"%s-t %s-d\">\n<title id=\"%s-t\">%s</title>"
	    "<desc id=\"%s-d\">", id, title, AC_SVG_WIDTH, AC_FIXED(height, 0),
	    id, id, id, title, id);
	ac_html_put(w, "</desc>\n");
}

void
ac_svg_end(struct ac_html *w, const char *caption)
{
	ac_html_add(w, "</svg>\n");
	if (*caption) {
		ac_html_add(w, "<figcaption>");
		ac_html_add(w, caption);
		ac_html_add(w, "</figcaption>\n");
	}
	ac_html_add(w, "</figure>\n");
}

/* Letters beyond ASCII may be two wide. */
static void
cut(struct ac_text *t, size_t most)
{
	size_t wide = 0, fits = 0;

	for (size_t i = 0; i < t->used;) {
		size_t length = ac_text_sequence(t->data + i, SIZE_MAX);

		wide += length > 1 ? 2 : 1;
		if (wide > most) {
			t->used = fits;
			t->data[fits] = '\0';
			ac_text_add(t, "…");
			return;
		}
		i += length ? length : 1;
		if (wide < most)
			fits = i;
	}
}

void
ac_svg_label(struct ac_html *w, const char *style, double x, double y,
    size_t most, const char *format, ...)
{
	char label[512];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(label, sizeof label, format, arguments);
	va_end(arguments);
	ac_text_add(ac_html_piece(w), label);
	if (most)
		cut(&w->piece, most);
	ac_html_addf(w, "<text class=\"%s\" x=\"%s\" y=\"%s\">", style,
	    AT(x), AT(y));
	ac_html_put(w, "</text>\n");
}

void
ac_svg_line(struct ac_html *w, const char *style, double x1, double y1,
    double x2, double y2)
{
	ac_html_addf(w, "<line class=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" "
	    "y2=\"%s\"/>\n", style, AT(x1), AT(y1), AT(x2), AT(y2));
}

void
ac_svg_box(struct ac_html *w, const char *style, double x, double y,
    double width, double height)
{
	ac_html_addf(w, "<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" "
	    "height=\"%s\"/>\n", style, AT(x), AT(y), AT(width), AT(height));
}

void
ac_svg_mark(struct ac_html *w, uint32_t rung, bool hollow, double x, double y)
{
	static const char *const paths[AC_RUNG_COUNT] = {
		[AC_RUNG_KEEP] = "m-4-4l8 8m0-8l-8 8",
		[AC_RUNG_TF32] = "m0-5.5l5 9h-10z",
		[AC_RUNG_FP16] = "m-4.5 0a4.5 4.5 0 1 1 9 0a4.5 4.5 0 1 1-9 0z",
		[AC_RUNG_BF16] = "m-4-4h8v8h-8z",
		[AC_RUNG_FP16X2] = "m0-5.5l5 5.5-5 5.5-5-5.5z",
		[AC_RUNG_FP16X3] = "m-5-3.5h10l-5 9z",
		[AC_RUNG_BF16X3] = "m-1.5-5h3v10h-3z",
		[AC_RUNG_BF16X6] = "m-5-1.5h10v3h-10z",
	};

	ac_html_addf(w, "<path class=\"mark %s%s\" d=\"M%s %s%s\">",
	    ac_rung_names[rung], hollow ? " hollow" : "", AT(x), AT(y),
	    paths[rung]);
}

void
ac_svg_legend(struct ac_html *w, bool has_hollow, double y)
{
	static const enum ac_rung rungs[] = { AC_RUNG_FP16, AC_RUNG_BF16,
		AC_RUNG_TF32, AC_RUNG_FP16X2, AC_RUNG_FP16X3, AC_RUNG_BF16X3,
		AC_RUNG_BF16X6 };
	double x = 10;

	/* Those by parts where there are any. */
	for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
		if (i > 2 && !(w->totals.flops_by_rung[rungs[i]] > 0))
			continue;
		ac_svg_mark(w, rungs[i], false, x, y - 4);
		ac_html_add(w, "</path>");
		ac_svg_label(w, "key", x + 10, y, 0, "%s",
		    ac_rung_names[rungs[i]]);
		x += 60;
	}
	if (!has_hollow)
		return;
	ac_svg_mark(w, AC_RUNG_FP16, true, x, y - 4);
	ac_html_add(w, "</path>");
	ac_svg_label(w, "key", x + 10, y, 0, "hollow: not timed");
}

/* ---- Scales ------------------------------------------------------------ */

void
ac_scale_take(struct ac_scale *scale, double value)
{
	if (!(value > 0) || isinf(value))
		return;
	if (scale->low <= 0 || value < scale->low)
		scale->low = value;
	if (value > scale->high)
		scale->high = value;
}

/* 1, 2 or 5 times a power of ten: the largest up to `value`, or with `up` the
 * smallest from it on. */
static double
round_to(double value, bool up)
{
	static const double steps[] = { 1, 2, 5, 10 };
	const double ten = pow(10, floor(log10(value)));
	double below = ten;

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		/* Rounding of the power itself does not count. */
		const bool reached = steps[i] * ten >= value * (1 - 1e-9);

		if (up && reached)
			return steps[i] * ten;
		if (steps[i] * ten <= value * (1 + 1e-9))
			below = steps[i] * ten;
	}
	return below;
}

void
ac_scale_round(struct ac_scale *scale)
{
	if (scale->low <= 0)
		scale->low = scale->high = 1;
	scale->low = round_to(scale->low, false);
	scale->high = round_to(scale->high, true);
	if (scale->high < scale->low * 9.9) {
		scale->low = round_to(scale->low / 2.1, false);
		scale->high = round_to(scale->high * 2.1, true);
	}
}

double
ac_scale_at(const struct ac_scale *s, double value)
{
	double part;

	if (!(value > s->low))
		return s->from;
	if (!(value < s->high))
		return s->to;
	part = log10(value / s->low) / log10(s->high / s->low);
	return s->from + part * (s->to - s->from);
}

/* ---- Axes -------------------------------------------------------------- */

/* The number behind `value` on an axis with room for 5 to 9 of them. */
static double
next_tick(const struct ac_scale *scale, double value)
{
	const double decades = log10(scale->high / scale->low);
	const double ten = pow(10, floor(log10(value) + 1e-9));
	const int first = (int)(value / ten + 0.5);

	if (decades > 8)
		return first > 1 ? ten * 10 : ten * 100;
	if (decades > 2.5)
		return ten * 10;
	return first == 1 ? ten * 2 : first == 2 ? ten * 5 : ten * 10;
}

static double
first_tick(const struct ac_scale *scale)
{
	const double ten = pow(10, floor(log10(scale->low) + 1e-9));

	if (log10(scale->high / scale->low) <= 2.5 ||
	    scale->low < ten * 1.01)
		return scale->low;
	return ten * 10;
}

const char *
ac_svg_plain(struct ac_text *text, double value)
{
	return ac_double_add(text, value, 1);
}

void
ac_svg_axes(struct ac_html *w, const struct ac_svg *p, const char *x_name,
    const char *(*x_unit)(struct ac_text *, double), const char *y_name,
    const char *(*y_unit)(struct ac_text *, double))
{
	for (double v = first_tick(&p->x); v <= p->x.high * 1.001;
	    v = next_tick(&p->x, v)) {
		const double x = ac_scale_at(&p->x, v);

		ac_svg_line(w, "grid", x, p->top, x, p->bottom);
		ac_svg_label(w, "tick middle", x, p->bottom + 19, 0, "%s",
		    AC_SAID(x_unit, v));
	}
	for (double v = first_tick(&p->y); v <= p->y.high * 1.001;
	    v = next_tick(&p->y, v)) {
		const double y = ac_scale_at(&p->y, v);

		ac_svg_line(w, "grid", p->left, y, p->right, y);
		ac_svg_label(w, "tick end", p->left - 6, y + 4, 0, "%s",
		    AC_SAID(y_unit, v));
	}
	ac_svg_label(w, "axis end", p->right, p->bottom + 35, 0, "%s", x_name);
	ac_svg_label(w, "axis", 0, p->top - 10, 0, "%s", y_name);
}
