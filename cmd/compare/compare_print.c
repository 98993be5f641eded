/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_print.c -- a comparison as text for people, and as
 * markdown of GitHub; its runs as comma-separated values, as autocast-json(5)
 * documents them. */
#include "cmd/compare/compare.h"
#include "report/write/csv.h"

#include <math.h>
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

/* ---- Markdown ----------------------------------------------------------- */

/* What the program wrote stands in a fenced block, where it is no markup and
 * calls nobody; no line of ours is only backticks, so none ends the block. */

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

/* ---- Comma-separated values --------------------------------------------- */

static void
add_run(struct ac_csv *w, const struct ac_compare_column *column, size_t pair)
{
	const char *policy = column->launch.chosen.policy;
	const struct ac_compare_run *run = &column->runs[pair];

	ac_csv_unsigned(w, pair);
	ac_csv_name(w, column->name);
	ac_csv_name(w, policy ? policy : "");
	ac_csv_integer(w, column->rejected && pair + 1 == column->rejected_run
	    ? column->rejected : 0);
	for (size_t i = 0; i < AC_COMPARE_QUANTITIES; i++) {
		double value;

		memcpy(&value, (const char *)run
		    + ac_compare_quantities[i].offset, sizeof value);
		ac_csv_number(w, value < 0 ? NAN : value);
	}
	ac_csv_end_row(w);
}

/* Why the exit status is what it is. A table has no room for that. */
static void
say_verdict(const struct ac_comparison *compare, size_t column)
{
	size_t differing = 0;
	struct ac_text t = AC_TEXT_OF(1024);

	ac_compare_add_verdict(&t, compare, column);
	for (size_t i = 0; i < compare->output_count; i++)
		differing += ac_compare_differs(&compare->outputs[i]
		    .found[column]);
	if (differing && !compare->columns[column].rejected)
		ac_text_addf(&t, "; %zu of %zu outputs differ", differing,
		    compare->output_count);
	(void)ac_say(0, "compare: %s", t.data);
}

void
ac_compare_csv(const struct ac_comparison *compare)
{
	struct ac_csv w;
	struct ac_text t = AC_TEXT_OF(256);

	ac_text_add(&t, "pair,side,policy,exit_status");
	for (size_t i = 0; i < AC_COMPARE_QUANTITIES; i++)
		ac_text_addf(&t, ",%s", ac_compare_quantities[i].name);
	ac_csv_begin(&w, t.data, ac_say_stdout, NULL);
	/* Once a policy is rejected no more runs are made by it. */
	for (size_t pair = 0; pair <= compare->pairs; pair++)
		for (size_t i = 0; i < compare->column_count; i++)
			if (compare->columns[i].runs[pair].cost.wall > 0)
				add_run(&w, &compare->columns[i], pair);
	for (size_t i = AC_RECAST; i < compare->column_count; i++)
		say_verdict(compare, i);
}
