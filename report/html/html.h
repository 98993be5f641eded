/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/html.h -- a page while it is written, for report/html/ only. What
 * programs and users named goes through ac_html_text() or ac_html_put(), which
 * escape it; everything else is markup of ours. */
#ifndef AC_REPORT_HTML_H
#define AC_REPORT_HTML_H

#include "base/text.h"
#include "report/write/page.h"

/* The texts of page.css and page.js, as embed.S has them. */
extern const char ac_html_style[], ac_html_script[];

enum {
	AC_HTML_BYTES = 9500000,     /* of a page, but for its foot */
	AC_HTML_BARS = 20,           /* sites in a plot of bars, at most */
	AC_HTML_DOTS = 400           /* in a plot of dots: those with most
	                              * work */
};

struct ac_html {
	struct ac_text  text;
	char            buffer[8192];
	struct ac_text  piece;
	char            piece_buffer[2048];
	ac_report_sink  sink;
	void           *context;
	size_t          sent;

	/* What is shown. */
	const struct ac_report *report;
	struct ac_report_totals totals;
	enum ac_clock           clock;
	const struct ac_site_row *rows;   /* by gain, the largest first */
	size_t                  row_count;
	bool                    is_whole; /* false: no memory for rows */
};

void ac_html_begin(struct ac_html *w, ac_report_sink sink, void *context);
void ac_html_end(struct ac_html *w);
/* Bytes so far. */
size_t ac_html_length(const struct ac_html *w);

/* Markup, as it is. */
void ac_html_add(struct ac_html *w, const char *markup);
__attribute__((format(printf, 2, 3)))
void ac_html_addf(struct ac_html *w, const char *format, ...);
/* Text of anybody: escaped, control characters replaced. */
void ac_html_text(struct ac_html *w, const char *s);

/* An empty text that writers of words add to; and put it where the page is,
 * escaped, with `markup` behind it. */
struct ac_text *ac_html_piece(struct ac_html *w);
void ac_html_put(struct ac_html *w, const char *markup);
/* `s` escaped as by ac_html_text(), added to `text`. These return all of it,
 * for AC_SAID() in a format: what is no word of ours has to be short. */
const char *ac_html_escape(struct ac_text *text, const char *s);
/* A number as it is said to people, and for machines, spelled as in the JSON:
 * <data value="3.62711e-4">0.36</data>. */
const char *ac_html_real(struct ac_text *text, const char *said, double value);
/* A whole number and its text, in groups of three digits from 10 000 on. */
const char *ac_html_whole(struct ac_text *text, uint64_t value);
/* 7 sites */
const char *ac_html_count(struct ac_text *text, uint64_t count,
    const char *noun);
/* The shares, times and bytes of words.c as numbers. */
const char *ac_html_share(struct ac_text *text, double part, double whole);
const char *ac_html_time(struct ac_text *text, double us);
const char *ac_html_bytes(struct ac_text *text, uint64_t bytes);
#define AC_HTML_REAL(said, value) AC_SAID(ac_html_real, (said), (value))
#define AC_HTML_WHOLE(value) AC_SAID(ac_html_whole, (value))
#define AC_HTML_COUNT(count, noun) AC_SAID(ac_html_count, (count), (noun))
#define AC_HTML_SHARE(part, whole) AC_SAID(ac_html_share, (part), (whole))
#define AC_HTML_TIME(us) AC_SAID(ac_html_time, (us))
#define AC_HTML_BYTES_OF(bytes) AC_SAID(ac_html_bytes, (bytes))

/* ---- Plots (report/html/svg.c) ----------------------------------------- */

enum { AC_SVG_WIDTH = 480 };     /* units of a plot */

/* A logarithmic scale: where `low` and `high` are, in units. */
struct ac_scale {
	double low, high, from, to;
};
struct ac_svg {
	struct ac_scale x, y;
	double          left, top, right, bottom;
};

/* Begin a figure with a title, which is ours, and the plot in it; its text for
 * those who cannot see it is the piece. */
void ac_svg_begin(struct ac_html *w, const char *id, const char *title,
    double height);
/* End the plot; a line below it is `caption`, which may be "". */
void ac_svg_end(struct ac_html *w, const char *caption);
/* <text class=... x= y=> and a formatted text, escaped and, unless that is 0,
 * cut to `most` letters, </text> */
__attribute__((format(printf, 6, 7)))
void ac_svg_label(struct ac_html *w, const char *style, double x, double y,
    size_t most, const char *format, ...);
void ac_svg_line(struct ac_html *w, const char *style, double x1, double y1,
    double x2, double y2);
void ac_svg_box(struct ac_html *w, const char *style, double x, double y,
    double width, double height);
/* The mark of a rung: circle, triangle, square or cross. Without an end: the
 * caller adds a title, and "</path>". */
void ac_svg_mark(struct ac_html *w, uint32_t rung, bool hollow, double x,
    double y);
/* A line that says which mark is which rung, at `y`, and, with `has_hollow`,
 * what a hollow one is. */
void ac_svg_legend(struct ac_html *w, bool has_hollow, double y);

/* Widen it to hold `value`, which is above 0 and finite. */
void ac_scale_take(struct ac_scale *scale, double value);
/* To round numbers: 1, 2 or 5 times a power of ten. */
void ac_scale_round(struct ac_scale *scale);
double ac_scale_at(const struct ac_scale *scale, double value);
/* Grid, numbers and names of both axes; `unit` says how numbers are spelled:
 * ac_svg_plain() to one digit. */
const char *ac_svg_plain(struct ac_text *text, double value);
void ac_svg_axes(struct ac_html *w, const struct ac_svg *plot,
    const char *x_name, const char *(*x_unit)(struct ac_text *, double),
    const char *y_name, const char *(*y_unit)(struct ac_text *, double));

/* ---- Parts of the page ------------------------------------------------- */

/* "c3367bcc" or the site's own name */
const char *ac_html_add_site(struct ac_text *text,
    const struct ac_site_total *site);
/* "c3367bcc gemm.nt 256x32x256" */
const char *ac_html_add_label(struct ac_text *text,
    const struct ac_site_total *site);

/* Lines of the text report as pieces of one paragraph: those that a comma ends
 * go on in the next. `open` is put before the first one, and is NULL from then
 * on. */
struct ac_html_lines {
	struct ac_html *w;
	const char     *open, *between;
	bool            goes_on;
	struct ac_page  page;           /* whose sink it is */
};
void ac_html_lines_begin(struct ac_html_lines *lines, struct ac_html *w,
    const char *open, const char *between);

void ac_html_head(struct ac_html *w);           /* head.c */
void ac_html_totals(struct ac_html *w);         /* totals.c */
void ac_html_times(struct ac_html *w);          /* times.c */
void ac_html_ranks(struct ac_html *w);          /* times.c */
void ac_html_errors(struct ac_html *w);         /* errors.c */
void ac_html_roofline(struct ac_html *w);       /* roofline.c */
void ac_html_kept(struct ac_html *w);           /* why.c */
void ac_html_guard(struct ac_html *w);          /* why.c */
void ac_html_events(struct ac_html *w);         /* events.c */
void ac_html_exponents(struct ac_html *w);      /* exponents.c */
void ac_html_sites(struct ac_html *w);          /* sites.c */
void ac_html_foot(struct ac_html *w);           /* head.c */

#endif
