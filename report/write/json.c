/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/json.c -- JSON while it is written: always valid, whatever bytes
 * names hold. Control characters (C1 ones too) are escaped, malformed UTF-8
 * becomes U+FFFD. Pure but for the sink. */
#include "report/write/json.h"
#include "report/read/read.h"

#include <math.h>
#include <string.h>

enum { LOW_WATER = 512 };       /* no single item is longer */

static void
flush(struct ac_json *w)
{
	w->sink(w->text.data, w->text.used, w->context);
	ac_text_init(&w->text, w->buffer, sizeof w->buffer);
}

void
ac_json_begin(struct ac_json *w, ac_report_sink sink, void *context)
{
	w->sink = sink;
	w->context = context;
	w->depth = 1;
	w->first = true;
	ac_text_init(&w->text, w->buffer, sizeof w->buffer);
	ac_text_add(&w->text, "{");
}

void
ac_json_end(struct ac_json *w)
{
	ac_json_close(w, "}");
	ac_text_add(&w->text, "\n");
	flush(w);
}

static void
room(struct ac_json *w)
{
	if (w->text.size - w->text.used < LOW_WATER)
		flush(w);
}

/* How many bytes from `s` on stand for themselves, as most do: so many at once
 * as there is room for. */
static size_t
plain_bytes(const char *s, const char *end)
{
	size_t count = 0;

	while (s + count < end && count < LOW_WATER / 2 && s[count] >= ' '
	    && s[count] < 127 && s[count] != '"' && s[count] != '\\')
		count++;
	return count;
}

/* A report has a hundred numbers per site. */
static void
add_whole(struct ac_json *w, uint64_t value)
{
	char digits[20];
	size_t at = sizeof digits;

	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	ac_text_add_bytes(&w->text, digits + at, sizeof digits - at);
}

void
ac_json_add_bytes(struct ac_json *w, const char *s, size_t count)
{
	const char *end = s + count;

	ac_text_add(&w->text, "\"");
	while (s < end) {
		const size_t plain = plain_bytes(s, end);
		const unsigned char c = (unsigned char)*s;
		size_t length = ac_text_sequence(s);

		room(w);
		if (plain) {
			ac_text_add_bytes(&w->text, s, plain);
			s += plain;
			continue;
		}
		if (length > (size_t)(end - s))
			length = 0;
		if (c == '"' || c == '\\')
			ac_text_addf(&w->text, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			ac_text_addf(&w->text, "\\u%04x", c);
		else if (c == 0xc2 && length && (unsigned char)s[1] < 0xa0)
			ac_text_addf(&w->text, "\\u00%02x",
			    (unsigned char)s[1]);
		else if (length)
			ac_text_add_bytes(&w->text, s, length);
		else
			ac_text_add(&w->text, "\\ufffd");
		s += length ? length : 1;
	}
	ac_text_add(&w->text, "\"");
}

/* A site has sixty of these: at once, and there is room. */
void
ac_json_next(struct ac_json *w, const char *name)
{
	char *to;

	room(w);
	to = w->text.data + w->text.used;
	if (!w->first)
		*to++ = ',';
	*to++ = '\n';
	for (unsigned i = 0; i < w->depth; i++, to += 2)
		memcpy(to, "  ", 2);
	if (name) {
		*to++ = '"';
		to = stpcpy(to, name);
		memcpy(to, "\": ", 3);
		to += 3;
	}
	*to = '\0';
	w->text.used = (size_t)(to - w->text.data);
	w->first = false;
}

void
ac_json_open(struct ac_json *w, const char *name, const char *bracket)
{
	ac_json_next(w, name);
	ac_text_add(&w->text, bracket);
	w->depth++;
	w->first = true;
}

void
ac_json_close(struct ac_json *w, const char *bracket)
{
	w->depth--;
	if (!w->first) {
		w->first = true;
		ac_json_next(w, NULL);
	}
	ac_text_add(&w->text, bracket);
	w->first = false;
}

void
ac_json_string(struct ac_json *w, const char *name, const char *value)
{
	ac_json_next(w, name);
	ac_json_add_bytes(w, value, strlen(value));
}

void
ac_json_integer(struct ac_json *w, const char *name, long long value)
{
	ac_json_next(w, name);
	if (value < 0)
		ac_text_add_bytes(&w->text, "-", 1);
	add_whole(w, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void
ac_json_unsigned(struct ac_json *w, const char *name, uint64_t value)
{
	ac_json_next(w, name);
	add_whole(w, value);
}

void
ac_json_number(struct ac_json *w, const char *name, double value, int decimals)
{
	const bool is_whole = decimals == 0 && value >= 0 && value < 0x1p53
	    && value == (double)(uint64_t)value;

	ac_json_next(w, name);
	if (is_whole)
		add_whole(w, (uint64_t)value);
	else
		ac_text_add_fixed(&w->text, value, decimals);
}

void
ac_json_bool(struct ac_json *w, const char *name, bool value)
{
	ac_json_next(w, name);
	ac_text_add(&w->text, value ? "true" : "false");
}

/* Shortest that is right to so many digits; what is no number in JSON is
 * null. */
static void
add_real(struct ac_json *w, const char *name, double value, int digits)
{
	const bool is_digit = value >= 0 && value < 10
	    && value == (double)(unsigned)value && !signbit(value);

	ac_json_next(w, name);
	if (is_digit)
		add_whole(w, (uint64_t)value);
	else if (isfinite(value))
		ac_text_add_double(&w->text, value, digits);
	else
		ac_text_add(&w->text, "null");
}

void
ac_json_real(struct ac_json *w, const char *name, double value)
{
	add_real(w, name, value, 6);
}

void
ac_json_measured(struct ac_json *w, const char *name, double value)
{
	add_real(w, name, value, 9);
}
