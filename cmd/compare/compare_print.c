/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_print.c -- a comparison as text for people. */
#include "cmd/compare/compare.h"

#include <stdio.h>
#include <string.h>

enum { FIRST = 14, WIDTH = 22, LINE_BYTES = 1024 };

/* How wide column `i` is: two blanks are behind its longest cell. */
static size_t
width(const struct ac_compare_table *table, size_t i)
{
	size_t widest = WIDTH;

	for (size_t k = 0; k < table->count; k++) {
		const size_t length = strlen(table->rows[k].cells[i]) + 2;

		if (length > widest)
			widest = length;
	}
	return widest;
}

static void
print_row(const struct ac_compare_table *table,
    const struct ac_compare_row *row)
{
	size_t column = FIRST;
	struct ac_text t = AC_TEXT_OF(LINE_BYTES);

	ac_text_add(&t, row->what);
	ac_text_pad(&t, column);
	for (size_t i = 0; i < table->columns && row->has_cells; i++) {
		ac_text_pad(&t, column);
		ac_text_add(&t, row->cells[i]);
		column += width(table, i);
	}
	if (*row->ratio)
		ac_text_pad(&t, column);
	ac_text_add(&t, row->ratio);
	/* Behind several policies it would seem to be the last one's. */
	if (row->has_cells && *row->note && table->columns > 2)
		ac_text_pad(&t, column);
	else if (row->has_cells && *row->note)
		ac_text_add(&t, ", ");
	ac_text_add(&t, row->note);
	puts(t.data);
}

static void
print_verdict(const struct ac_comparison *compare, size_t column)
{
	struct ac_text t = AC_TEXT_OF(LINE_BYTES);

	ac_text_addf(&t, "%-*s", FIRST, "verdict");
	ac_compare_add_verdict(&t, compare, column);
	puts(t.data);
	if (compare->columns[column].rejected)
		ac_compare_print_rejected(compare, column);
}

void
ac_compare_print(const struct ac_comparison *compare)
{
	static struct ac_compare_table table;

	ac_compare_table(compare, &table);
	for (size_t i = 0; i < table.count; i++)
		print_row(&table, &table.rows[i]);
	for (size_t i = AC_RECAST; i < compare->column_count; i++)
		print_verdict(compare, i);
	ac_compare_print_outputs(compare);
}
