/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/page.h -- a text report while it is written, for report/
 * only. */
#ifndef AC_REPORT_PAGE_H
#define AC_REPORT_PAGE_H

#include "report/read/rows.h"

enum { AC_PAGE_INDENT = 2, AC_PAGE_ROWS = 100 };

struct ac_page {
	struct ac_text  line;
	char            buffer[4096];
	ac_report_sink  sink;
	void           *context;
	double          flops;          /* of the whole run */
	double          seconds;        /* it took: rates. 0: sums */
	size_t          rows;           /* of the table, at most */
	const struct ac_report *report; /* of the table */
	size_t          indent;         /* of the lines below a row */
	enum ac_sort    sort;
	bool            tells_line;     /* below a row: no column has it */
	bool            tells_file;     /* of callers: their column does not */
	bool            is_colored;
	bool            is_detailed;    /* with lines below each row */
	const char     *filter;         /* of rows, or NULL */
	unsigned        inked;          /* enum ac_ink of what follows */
};

/* Send the line off, without white space at its end, and begin the next; with
 * a formatted text at its end, cleaned. */
void ac_page_end_line(struct ac_page *p);
__attribute__((format(printf, 2, 3)))
void ac_page_print(struct ac_page *p, const char *format, ...);

enum ac_ink {
	AC_INK_PLAIN, AC_INK_BOLD, AC_INK_FAINT, AC_INK_GOOD, AC_INK_BAD
};
/* What follows in the line is of that colour, on a page that has any. */
void ac_page_ink(struct ac_page *p, enum ac_ink ink);

/* A column of a table with fixed widths. */
struct ac_page_column {
	const char *title;
	size_t      width;           /* 0: it is not shown */
	size_t      gap;             /* blanks behind it */
	bool        right;           /* numbers: cut only if shows_end */
	bool        shows_end;       /* of what is too long: the beginning says
	                              * less */
};
void ac_page_add_cell(struct ac_page *p, const struct ac_page_column *column,
    const char *cell);
void ac_page_add_inked_cell(struct ac_page *p,
    const struct ac_page_column *column, const char *cell, enum ac_ink ink);
/* What stands in a line of the table, column by column. */
enum { AC_PAGE_COLUMNS = 16, AC_PAGE_CELL = 256 };
struct ac_page_row {
	size_t         count;        /* of cells that were begun */
	struct ac_text cell[AC_PAGE_COLUMNS];
	char           bytes[AC_PAGE_COLUMNS][AC_PAGE_CELL];
};
/* The next cell, empty, for the caller to add to. */
struct ac_text *ac_page_cell(struct ac_page_row *row);
/* Two cells: what a site gained, and its error as a part of tol. */
void ac_page_fill_gain_and_error(struct ac_page_row *row,
    const struct ac_site_row *site);
void ac_page_add_row(struct ac_page *p, const struct ac_page_column *columns,
    const struct ac_page_row *row);
/* Make columns that are shown as wide as the cells, if they are not. */
void ac_page_widen(struct ac_page_column *columns,
    const struct ac_page_row *row);
/* The line of their titles, indented. */
void ac_page_print_titles(struct ac_page *p,
    const struct ac_page_column *columns, size_t count);

/* Begin a line of the head, which starts with `name`. */
void ac_page_label(struct ac_page *p, const char *name);
/* "autocast report: PROGRAM, WHEN, PROCESS, STATE" */
void ac_page_print_title(struct ac_page *p, const struct ac_report *report);
/* Policy and GPU, a line each. */
void ac_page_print_origin(struct ac_page *p, const struct ac_file_header *h);

/* The ranks of a job: which are missing, how far they are apart, where they
 * went different ways (report/write/rank_lines.c). Nothing of a run of none. */
void ac_page_print_ranks(struct ac_page *p, const struct ac_report *report);

/* What was checked, the worst error that was measured, and how often rungs were
 * left; nothing where nothing was recast. */
void ac_page_print_verdicts(struct ac_page *p,
    const struct ac_report_totals *totals);

/* The table of sites (report/write/table.c). */
void ac_page_print_table(struct ac_page *p, const struct ac_report *report);

/* What a row cannot say: the lines below it (report/write/site_lines.c). */
void ac_page_print_site_lines(struct ac_page *p, const struct ac_site_row *row);

#endif
