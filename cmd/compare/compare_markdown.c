/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_markdown.c -- a comparison as GitHub's markdown. What the
 * program wrote stands in a fenced block, where it is no markup and calls
 * nobody; no line of ours is only backticks, so none ends the block. */
#include "cmd/compare/compare.h"

#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1024 };

/* `text` where markup counts. */
static void
put_escaped(const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>|~#@&", *text))
			putchar('\\');
		putchar(*text);
	}
}

static void
put_row(const struct ac_compare_table *table, const struct ac_compare_row *row)
{
	printf("| ");
	put_escaped(row->what);
	if (*row->note)
		printf(row->has_cells ? ", " : *row->what ? " " : "");
	put_escaped(row->note);
	for (size_t i = 0; i < table->columns; i++) {
		printf(" | ");
		put_escaped(row->cells[i]);
	}
	if (table->columns == 2) {
		printf(" | ");
		put_escaped(row->ratio);
	}
	puts(" |");
}

static void
put_table(const struct ac_compare_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		put_row(table, &table->rows[i]);
		for (size_t k = 0; !i && k <= table->columns; k++)
			printf(k ? " ---: |" : "| --- |");
		if (!i)
			puts(table->columns == 2 ? " ---: |" : "");
	}
	if (table->count)
		puts("");
}

void
ac_compare_markdown(const struct ac_comparison *compare)
{
	static struct ac_compare_table table;
	char line[LINE_BYTES];
	struct ac_text t;

	ac_compare_table(compare, &table);
	put_table(&table);
	for (size_t i = AC_RECAST; i < compare->column_count; i++) {
		ac_text_init(&t, line, sizeof line);
		ac_compare_add_verdict(&t, compare, i);
		printf("**verdict**: ");
		put_escaped(line);
		puts("\n");
	}
	ac_text_init(&t, line, sizeof line);
	ac_compare_add_command(&t, compare);
	printf("```text\n$ %s\n", t.truncated ? "autocast compare" : line);
	for (size_t i = AC_RECAST; i < compare->column_count; i++)
		if (compare->columns[i].rejected)
			ac_compare_print_rejected(compare, i);
	ac_compare_print_outputs(compare);
	puts("```");
}
