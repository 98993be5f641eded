/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/json.c -- JSON while it is written: always valid, whatever bytes
 * names hold. Control characters (C1 ones too) are escaped, malformed UTF-8
 * becomes U+FFFD. Pure but for the sink. */
#include "report/write/json.h"
#include "report/read/read.h"

#include <math.h>
#include <string.h>

enum {
	LOW_WATER = 512,        /* no single item is longer */
	DEEPEST = 8             /* containers in each other */
};

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

static void
add_byte(struct ac_json *w, char byte)
{
	w->text.data[w->text.used++] = byte;
}

/* Whether it stands for itself, as most bytes do. */
static bool
is_plain(char c)
{
	return c >= ' ' && c < 127 && c != '"' && c != '\\';
}

/* So many bytes from `s` on as stand for themselves and have room; returns the
 * first that does not. */
static const char *
add_plain(struct ac_json *w, const char *s, const char *end)
{
	char *to = w->text.data + w->text.used;

	if (end - s > LOW_WATER / 2)
		end = s + LOW_WATER / 2;
	while (s < end && is_plain(*s))
		*to++ = *s++;
	w->text.used = (size_t)(to - w->text.data);
	return s;
}

/* One character that does not stand for itself, or not alone; returns what
 * follows it. */
static const char *
add_other(struct ac_json *w, const char *s, const char *end)
{
	const unsigned char c = (unsigned char)*s;
	const size_t length = ac_text_sequence(s, (size_t)(end - s));

	if (c == '"' || c == '\\')
		ac_text_addf(&w->text, "\\%c", c);
	else if (c < 0x20 || c == 0x7f)
		ac_text_addf(&w->text, "\\u%04x", c);
	else if (c == 0xc2 && length && (unsigned char)s[1] < 0xa0)
		ac_text_addf(&w->text, "\\u00%02x", (unsigned char)s[1]);
	else if (length)
		ac_text_add_bytes(&w->text, s, length);
	else
		ac_text_add(&w->text, "\\ufffd");
	return s + (length ? length : 1);
}

void
ac_json_add_bytes(struct ac_json *w, const char *s, size_t count)
{
	const char *end = s + count;

	add_byte(w, '"');
	while ((s = add_plain(w, s, end)) < end) {
		room(w);
		if (!is_plain(*s))
			s = add_other(w, s, end);
	}
	add_byte(w, '"');
}

/* There is room. */
static void
add_whole(struct ac_json *w, uint64_t value)
{
	char *to = w->text.data + w->text.used, *at = to + 1;

	for (uint64_t rest = value; rest > 9; rest /= 10)
		at++;
	w->text.used = (size_t)(at - w->text.data);
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
}

/* A site has a hundred of these: at once, and there is room. */
void
ac_json_next(struct ac_json *w, const char *name)
{
	char *to;

	room(w);
	to = w->text.data + w->text.used;
	if (!w->first)
		*to++ = ',';
	*to++ = '\n';
	memset(to, ' ', DEEPEST * 2);
	to += w->depth * 2;
	if (name) {
		*to++ = '"';
		to = stpcpy(to, name);
		memcpy(to, "\": ", 3);
		to += 3;
	}
	w->text.used = (size_t)(to - w->text.data);
	w->first = false;
}

void
ac_json_open(struct ac_json *w, const char *name, const char *bracket)
{
	ac_json_next(w, name);
	add_byte(w, *bracket);
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
	add_byte(w, *bracket);
	w->first = false;
}

void
ac_json_string(struct ac_json *w, const char *name, const char *value)
{
	ac_json_next(w, name);
	ac_json_add_bytes(w, value, strlen(value));
}

void
ac_json_id(struct ac_json *w, const char *name, uint32_t id)
{
	ac_json_next(w, name);
	add_byte(w, '"');
	for (int bits = 28; bits >= 0; bits -= 4)
		add_byte(w, "0123456789abcdef"[id >> bits & 15]);
	add_byte(w, '"');
}

void
ac_json_start(struct ac_json *w, const char *name, uint64_t start_s)
{
	ac_json_next(w, name);
	add_byte(w, '"');
	ac_start_add_utc(&w->text, start_s);
	add_byte(w, '"');
}

void
ac_json_integer(struct ac_json *w, const char *name, long long value)
{
	ac_json_next(w, name);
	if (value < 0)
		add_byte(w, '-');
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

/* Shortest that is right to so many digits, six at least; what is no number in
 * JSON is null. */
static void
add_real(struct ac_json *w, const char *name, double value, int digits)
{
	const bool is_whole = value >= 0 && value < 1e6
	    && value == (double)(unsigned)value;

	ac_json_next(w, name);
	if (is_whole)
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
