/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_table.h -- times, memory and work of a comparison as a
 * table of words, made once, for compare_print.c and compare_markdown.c. */
#ifndef AC_CMD_COMPARE_TABLE_H
#define AC_CMD_COMPARE_TABLE_H

#include "cmd/compare/compare.h"

enum { AC_COMPARE_ROWS = 16, AC_COMPARE_CELL = 48 };

struct ac_compare_row {
	const char *what;            /* "": the row says more of that before */
	bool        has_cells;       /* else there is only the note */
	char        cells[AC_COMPARE_COLUMNS][AC_COMPARE_CELL];
	char        ratio[AC_COMPARE_CELL];  /* to plain; "": none */
	char        note[128];       /* on all of the row; "": none */
};

/* Row 0 is the head. Of several policies no row has a `ratio`: that is a row of
 * its own. */
struct ac_compare_table {
	size_t columns, count;
	struct ac_compare_row rows[AC_COMPARE_ROWS];
};

/* Without rows if the program rejects every policy. */
void ac_compare_table(const struct ac_comparison *compare,
    struct ac_compare_table *table_out);

#endif
