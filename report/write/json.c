/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/json.c -- JSON while it is written: always valid, whatever bytes
 * names hold. Control characters (C1 ones too) are escaped, malformed UTF-8
 * becomes U+FFFD. Pure but for the sink. */
#include "report/write/json.h"
#include "report/read/read.h"

#include <math.h>
#include <string.h>

void
ac_json_flush(struct ac_json *w)
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
	ac_json_flush(w);
}

/* Whether it stands for itself, as most bytes do. */
static inline bool
is_plain(char c)
{
	return (unsigned char)(c - ' ') < 95 && c != '"' && c != '\\';
}

/* So many bytes from `s` on as stand for themselves and have room; returns the
 * first that does not. */
static const char *
add_plain(struct ac_json *w, const char *s, const char *end)
{
	char *to = w->text.data + w->text.used;

	if (end - s > AC_JSON_ROOM / 2)
		end = s + AC_JSON_ROOM / 2;
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

	ac_json_add_byte(w, '"');
	while ((s = add_plain(w, s, end)) < end) {
		ac_json_room(w);
		if (!is_plain(*s))
			s = add_other(w, s, end);
	}
	ac_json_add_byte(w, '"');
}

/* Mostly short, and all of it stands for itself. */
void
ac_json_add_string(struct ac_json *w, const char *s)
{
	const char *at = s;
	char *to = w->text.data + w->text.used;

	*to++ = '"';
	while (is_plain(*at) && at - s < AC_JSON_ROOM / 2)
		*to++ = *at++;
	*to++ = '"';
	if (*at)
		ac_json_add_bytes(w, s, strlen(s));
	else
		w->text.used = (size_t)(to - w->text.data);
}

void
ac_json_add_whole(struct ac_json *w, uint64_t value)
{
	enum { MOST = 20 };
	static const char pairs[] =
	    "000102030405060708091011121314151617181920212223242526272829"
	    "303132333435363738394041424344454647484950515253545556575859"
	    "606162636465666768697071727374757677787980818283848586878889"
	    "90919293949596979899";
	char digits[2 * MOST] = "", *at = digits + MOST;

	for (; value > 99; value /= 100) {
		*--at = pairs[value % 100 * 2 + 1];
		*--at = pairs[value % 100 * 2];
	}
	*--at = pairs[value * 2 + 1];
	if (value > 9)
		*--at = pairs[value * 2];
	memcpy(w->text.data + w->text.used, at, MOST);
	w->text.used += (size_t)(digits + MOST - at);
}

void
ac_json_close(struct ac_json *w, const char *bracket)
{
	w->depth--;
	if (!w->first) {
		w->first = true;
		ac_json_next(w, NULL);
	}
	ac_json_add_byte(w, *bracket);
	w->first = false;
}

void
ac_json_add_id(struct ac_json *w, uint32_t id)
{
	ac_json_add_byte(w, '"');
	for (int bits = 28; bits >= 0; bits -= 4)
		ac_json_add_byte(w, "0123456789abcdef"[id >> bits & 15]);
	ac_json_add_byte(w, '"');
}

void
ac_json_start(struct ac_json *w, const char *name, uint64_t start_s)
{
	ac_json_next(w, name);
	ac_json_add_byte(w, '"');
	ac_start_add_utc(&w->text, start_s);
	ac_json_add_byte(w, '"');
}

void
ac_json_number(struct ac_json *w, const char *name, double value, int decimals)
{
	const bool is_whole = decimals == 0 && value >= 0 && value < 0x1p53
	    && value == (double)(uint64_t)value;

	ac_json_next(w, name);
	if (is_whole)
		ac_json_add_whole(w, (uint64_t)value);
	else
		ac_text_add_fixed(&w->text, value, decimals);
}

void
ac_json_add_real(struct ac_json *w, double value, int digits)
{
	const bool is_whole = value >= 0 && value < 1e6
	    && value == (double)(unsigned)value;

	if (is_whole)
		ac_json_add_whole(w, (unsigned)value);
	else if (isfinite(value))
		ac_text_add_double(&w->text, value, digits);
	else
		ac_text_add(&w->text, "null");
}
