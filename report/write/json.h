/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/json.h -- JSON while it is written: a report, and what the
 * verbs of cmd/ print. */
#ifndef AC_REPORT_JSON_H
#define AC_REPORT_JSON_H

#include "base/text.h"
#include "report/report.h"

#include <string.h>

struct ac_json {
	struct ac_text  text;
	char            buffer[4096];
	ac_report_sink  sink;
	void           *context;
	unsigned        depth;
	bool            first;          /* nothing in this container yet */
};

/* Begin an object, which goes to `sink`; end it. */
void ac_json_begin(struct ac_json *w, ac_report_sink sink, void *context);
void ac_json_end(struct ac_json *w);

/* `count` bytes as a string, in quotes. */
void ac_json_add_bytes(struct ac_json *w, const char *s, size_t count);

/* ---- What they are made of ----------------------------------------------- */

enum {
	AC_JSON_ROOM = 512      /* no single item is longer */
};

/* As deep as containers are in each other, and one more. */
#define AC_JSON_INDENT ",\n                  "

void ac_json_flush(struct ac_json *w);
void ac_json_add_string(struct ac_json *w, const char *s);
void ac_json_add_whole(struct ac_json *w, uint64_t value);
void ac_json_add_real(struct ac_json *w, double value, int digits);
void ac_json_add_id(struct ac_json *w, uint32_t id);

#define AC_JSON_INLINE static inline __attribute__((always_inline))

AC_JSON_INLINE void
ac_json_room(struct ac_json *w)
{
	if (w->text.size - w->text.used < AC_JSON_ROOM)
		ac_json_flush(w);
}

AC_JSON_INLINE void
ac_json_add_byte(struct ac_json *w, char byte)
{
	w->text.data[w->text.used++] = byte;
}

/* ---- Elements ------------------------------------------------------------ */

/* Begin the next element, with its name inside an object; all that follow do,
 * too: `name` is NULL inside an array. Here, since a site has a hundred names,
 * whose lengths the compiler knows. */
AC_JSON_INLINE void
ac_json_next(struct ac_json *w, const char *name)
{
	char *to;

	ac_json_room(w);
	to = w->text.data + w->text.used;
	memcpy(to, &AC_JSON_INDENT[w->first], sizeof AC_JSON_INDENT - 2);
	to += 2 - w->first + w->depth * 2;
	if (name) {
		*to++ = '"';
		memcpy(to, name, strlen(name));
		to += strlen(name);
		memcpy(to, "\": ", 3);
		to += 3;
	}
	w->text.used = (size_t)(to - w->text.data);
	w->first = false;
}

/* "{" or "[", and its counterpart; seven deep at most. */
AC_JSON_INLINE void
ac_json_open(struct ac_json *w, const char *name, const char *bracket)
{
	ac_json_next(w, name);
	ac_json_add_byte(w, *bracket);
	w->depth++;
	w->first = true;
}

void ac_json_close(struct ac_json *w, const char *bracket);

AC_JSON_INLINE void
ac_json_string(struct ac_json *w, const char *name, const char *value)
{
	ac_json_next(w, name);
	ac_json_add_string(w, value);
}

/* A word of ours, all of whose bytes stand for themselves. */
AC_JSON_INLINE void
ac_json_word(struct ac_json *w, const char *name, const char *word)
{
	char *to;

	ac_json_next(w, name);
	to = w->text.data + w->text.used;
	*to++ = '"';
	while (*word)
		*to++ = *word++;
	*to++ = '"';
	w->text.used = (size_t)(to - w->text.data);
}

/* Eight hexadecimal digits, in quotes. */
AC_JSON_INLINE void
ac_json_id(struct ac_json *w, const char *name, uint32_t id)
{
	ac_json_next(w, name);
	ac_json_add_id(w, id);
}

/* When a process began: "2026-11-23T22:10:05Z". */
void ac_json_start(struct ac_json *w, const char *name, uint64_t start_s);

AC_JSON_INLINE void
ac_json_unsigned(struct ac_json *w, const char *name, uint64_t value)
{
	ac_json_next(w, name);
	if (value < 10)
		ac_json_add_byte(w, (char)('0' + value));
	else
		ac_json_add_whole(w, value);
}

AC_JSON_INLINE void
ac_json_integer(struct ac_json *w, const char *name, long long value)
{
	if (value >= 0) {
		ac_json_unsigned(w, name, (uint64_t)value);
		return;
	}
	ac_json_next(w, name);
	ac_json_add_byte(w, '-');
	ac_json_add_whole(w, -(uint64_t)value);
}

void ac_json_number(struct ac_json *w, const char *name, double value,
    int decimals);

/* Shortest that is right to so many digits, six at least; null if it is not
 * finite: what was estimated or compared, to six significant digits, and what
 * was measured, times and bytes, to nine. */
AC_JSON_INLINE void
ac_json_real(struct ac_json *w, const char *name, double value)
{
	ac_json_next(w, name);
	ac_json_add_real(w, value, 6);
}

AC_JSON_INLINE void
ac_json_measured(struct ac_json *w, const char *name, double value)
{
	ac_json_next(w, name);
	ac_json_add_real(w, value, 9);
}

AC_JSON_INLINE void
ac_json_bool(struct ac_json *w, const char *name, bool value)
{
	ac_json_next(w, name);
	memcpy(w->text.data + w->text.used, value ? "true" : "false", 5);
	w->text.used += value ? 4 : 5;
}

#endif
