/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/page.c -- what lines of text for people are made of. */
#include "report/write/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
ac_page_ink(struct ac_page *p, enum ac_ink ink)
{
	static const char *const codes[] = {
		[AC_INK_PLAIN] = "\033[m", [AC_INK_BOLD] = "\033[1m",
		[AC_INK_FAINT] = "\033[2m", [AC_INK_GOOD] = "\033[32m",
		[AC_INK_BAD] = "\033[31m",
	};

	if (p->is_colored && p->inked != ink)
		ac_text_add(&p->line, codes[ink]);
	p->inked = ink;
}

void
ac_page_end_line(struct ac_page *p)
{
	while (p->line.used && p->line.data[p->line.used - 1] == ' ')
		p->line.used--;
	ac_text_add(&p->line, "\n");
	p->sink(p->line.data, p->line.used, p->context);
	ac_text_init(&p->line, p->buffer, sizeof p->buffer);
}

void
ac_page_print(struct ac_page *p, const char *format, ...)
{
	char end[sizeof p->buffer];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(end, sizeof end, format, arguments);
	va_end(arguments);
	ac_text_add_clean(&p->line, end);
	ac_page_end_line(p);
}

void
ac_page_add_inked_cell(struct ac_page *p, const struct ac_page_column *column,
    const char *cell, enum ac_ink ink)
{
	const size_t width = column->width, length = strlen(cell);
	const size_t blanks = length < width ? width - length : 0;

	if (!width)
		return;
	if (column->right)
		ac_text_pad(&p->line, p->line.used + blanks);
	ac_page_ink(p, ink);
	if (length > width && column->shows_end) {
		ac_text_addf(&p->line, "<%s", cell + length - width + 1);
	} else if (length <= width || column->right) {
		ac_text_add(&p->line, cell);
	} else {
		ac_text_add_bytes(&p->line, cell, width - 1);
		ac_text_add(&p->line, ">");
	}
	ac_page_ink(p, AC_INK_PLAIN);
	ac_text_pad(&p->line, p->line.used + column->gap
	    + (column->right ? 0 : blanks));
}

void
ac_page_add_cell(struct ac_page *p, const struct ac_page_column *column,
    const char *cell)
{
	ac_page_add_inked_cell(p, column, cell, AC_INK_PLAIN);
}

struct ac_text *
ac_page_cell(struct ac_page_row *row)
{
	struct ac_text *cell = &row->cell[row->count];

	ac_text_init(cell, row->bytes[row->count++], AC_PAGE_CELL);
	return cell;
}

void
ac_page_fill_gain_and_error(struct ac_page_row *row,
    const struct ac_site_row *site)
{
	const bool is_known = site->before_us > 0;

	ac_text_addf(ac_page_cell(row), "%s%s", is_known
	    && site->basis == AC_BASIS_PREDICTED ? "~" : "",
	    is_known ? AC_TIME(site->gain_us) : "-");
	ac_text_add(ac_page_cell(row), site->error >= 0
	    ? AC_RATIO(site->error) : "-");
}

void
ac_page_add_row(struct ac_page *p, const struct ac_page_column *columns,
    const struct ac_page_row *row)
{
	for (size_t i = 0; i < row->count; i++)
		ac_page_add_cell(p, &columns[i], row->cell[i].data);
}

void
ac_page_widen(struct ac_page_column *columns, const struct ac_page_row *row)
{
	for (size_t i = 0; i < row->count; i++)
		if (columns[i].width && row->cell[i].used > columns[i].width)
			columns[i].width = row->cell[i].used;
}

void
ac_page_print_titles(struct ac_page *p, const struct ac_page_column *columns,
    size_t count)
{
	ac_text_pad(&p->line, AC_PAGE_INDENT);
	for (size_t i = 0; i < count; i++)
		ac_page_add_cell(p, &columns[i], columns[i].title);
	ac_page_end_line(p);
}

void
ac_page_label(struct ac_page *p, const char *name)
{
	ac_text_addf(&p->line, "  %s", name);
	ac_text_pad(&p->line, 11);
}
