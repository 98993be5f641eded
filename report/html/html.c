/* SPDX-License-Identifier: Apache-2.0 */
/* report/html/html.c -- markup, text and numbers, piece by piece, into a sink.
 * Pure but for that. */
#include "report/html/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LOW_WATER = 1024 };      /* no single item is longer */

static void
flush(struct ac_html *w)
{
	w->sink(w->text.data, w->text.used, w->context);
	w->sent += w->text.used;
	ac_text_init(&w->text, w->buffer, sizeof w->buffer);
}

void
ac_html_begin(struct ac_html *w, ac_report_sink sink, void *context)
{
	w->sink = sink;
	w->context = context;
	w->sent = 0;
	ac_text_init(&w->text, w->buffer, sizeof w->buffer);
	(void)ac_html_piece(w);
}

void
ac_html_end(struct ac_html *w)
{
	flush(w);
}

size_t
ac_html_length(const struct ac_html *w)
{
	return w->sent + w->text.used;
}

static void
room(struct ac_html *w)
{
	if (w->text.size - w->text.used < LOW_WATER)
		flush(w);
}

/* Style and script are longer than the buffer. */
void
ac_html_add(struct ac_html *w, const char *markup)
{
	size_t left = strlen(markup);

	while (left) {
		const size_t now = left < LOW_WATER / 2 ? left : LOW_WATER / 2;

		room(w);
		ac_text_add_bytes(&w->text, markup, now);
		markup += now;
		left -= now;
	}
}

void
ac_html_addf(struct ac_html *w, const char *format, ...)
{
	char buffer[2 * LOW_WATER];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(buffer, sizeof buffer, format, arguments);
	va_end(arguments);
	ac_html_add(w, buffer);
}

/* Bytes of what could steer a reader's eye: control characters, and those that
 * turn the direction of writing, U+202A to U+202E and U+2066 to U+2069. */
static bool
steers(const unsigned char *c, size_t length)
{
	if (length == 1)
		return *c < ' ' || *c == 127;
	if (length == 2)
		return c[0] == 0xc2 && c[1] < 0xa0;
	return length == 3 && c[0] == 0xe2 &&
	    ((c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) ||
	    (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

static const char *
entity_of(char c)
{
	static const char *const entities[] = { ['&'] = "&amp;",
		['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;",
		['\''] = "&#39;" };
	const unsigned char i = (unsigned char)c;

	return i < sizeof entities / sizeof *entities ? entities[i] : NULL;
}

/* One character, escaped; returns what follows it. */
static const char *
add_escaped(struct ac_text *text, const char *s)
{
	const size_t length = ac_text_sequence(s, SIZE_MAX);
	const char *entity = entity_of(*s);

	if (entity)
		ac_text_add(text, entity);
	else if (!length || steers((const unsigned char *)s, length))
		ac_text_add(text, "?");
	else
		ac_text_add_bytes(text, s, length);
	return s + (length ? length : 1);
}

const char *
ac_html_escape(struct ac_text *text, const char *s)
{
	while (*s)
		s = add_escaped(text, s);
	return text->data;
}

void
ac_html_text(struct ac_html *w, const char *s)
{
	while (*s) {
		room(w);
		s = add_escaped(&w->text, s);
	}
}

struct ac_text *
ac_html_piece(struct ac_html *w)
{
	ac_text_init(&w->piece, w->piece_buffer, sizeof w->piece_buffer);
	return &w->piece;
}

void
ac_html_put(struct ac_html *w, const char *markup)
{
	ac_html_text(w, w->piece.data);
	(void)ac_html_piece(w);
	ac_html_add(w, markup);
}

const char *
ac_html_real(struct ac_text *text, const char *said, double value)
{
	ac_text_add(text, "<data value=\"");
	if (isinf(value))       /* which scripts read; JSON has null */
		ac_text_add(text, value > 0 ? "Infinity" : "-Infinity");
	else
		ac_text_add_double(text, value, 6);
	ac_text_addf(text, "\">%s</data>", AC_SAID(ac_html_escape, said));
	return text->data;
}

static const char *
add_whole(struct ac_text *text, const char *said, uint64_t value)
{
	ac_text_addf(text, "<data value=\"%llu\">%s</data>",
	    (unsigned long long)value, said);
	return text->data;
}

/* A thin space that does not break. */
static const char *
add_groups(struct ac_text *t, uint64_t value)
{
	char digits[24];
	const int count = snprintf(digits, sizeof digits, "%llu",
	    (unsigned long long)value);

	for (int i = 0; i < count; i++) {
		if (i && count > 4 && (count - i) % 3 == 0)
			ac_text_add(t, "\u202f");
		ac_text_add_bytes(t, digits + i, 1);
	}
	return t->data;
}

const char *
ac_html_whole(struct ac_text *text, uint64_t value)
{
	return add_whole(text, AC_SAID(add_groups, value), value);
}

const char *
ac_html_count(struct ac_text *text, uint64_t count, const char *noun)
{
	ac_html_whole(text, count);
	ac_text_addf(text, " %s%s", noun, count == 1 ? "" : "s");
	return text->data;
}

const char *
ac_html_share(struct ac_text *text, double part, double whole)
{
	return ac_html_real(text, AC_SHARE(part, whole), whole > 0
	    ? part / whole : 0);
}

const char *
ac_html_time(struct ac_text *text, double us)
{
	return ac_html_real(text, AC_TIME(us), us);
}

const char *
ac_html_bytes(struct ac_text *text, uint64_t bytes)
{
	return add_whole(text, AC_BYTES(bytes), bytes);
}

const char *
ac_html_add_site(struct ac_text *text, const struct ac_site_total *site)
{
	if (*site->name)
		ac_text_add_clean(text, site->name);
	else
		ac_text_addf(text, "%08x", (unsigned)site->id);
	return text->data;
}

const char *
ac_html_add_label(struct ac_text *text, const struct ac_site_total *site)
{
	ac_html_add_site(text, site);
	ac_text_add(text, " ");
	return ac_site_add_what(text, site);
}

/* ---- Lines of the text report ------------------------------------------- */

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
