/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/lines.c -- what the text report says in lines, as pieces of a
 * paragraph: one machine writes the words of both. Pure but for the sink. */
#include "report/html/html.h"

static void
take(const char *bytes, size_t count, void *context)
{
	struct ac_html_lines *l = context;

	while (count && (bytes[count - 1] == '\n' || bytes[count - 1] == ' '))
		count--;
	while (count && *bytes == ' ')
		bytes++, count--;
	if (!count)
		return;
	ac_html_add(l->w, l->open ? l->open : l->goes_on ? " " : l->between);
	ac_text_add_bytes(ac_html_piece(l->w), bytes, count);
	ac_html_put(l->w, "");
	l->open = NULL;
	l->goes_on = bytes[count - 1] == ',';
}

void
ac_html_lines_begin(struct ac_html_lines *lines, struct ac_html *w,
    const char *open, const char *between)
{
	*lines = (struct ac_html_lines){ .w = w, .open = open,
		.between = between,
		.page = { .sink = take, .context = lines } };
	ac_text_init(&lines->page.line, lines->page.buffer,
	    sizeof lines->page.buffer);
}
