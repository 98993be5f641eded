/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/json.h -- JSON while it is written: a report, and what the
 * verbs of cmd/ print. */
#ifndef AC_REPORT_JSON_H
#define AC_REPORT_JSON_H

#include "base/text.h"
#include "report/report.h"

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

/* Begin the next element, with its name inside an object; all that follow do,
 * too: `name` is NULL inside an array. */
void ac_json_next(struct ac_json *w, const char *name);

/* "{" or "[", and its counterpart; seven deep at most. */
void ac_json_open(struct ac_json *w, const char *name, const char *bracket);
void ac_json_close(struct ac_json *w, const char *bracket);

void ac_json_string(struct ac_json *w, const char *name, const char *value);
/* Eight hexadecimal digits, in quotes. */
void ac_json_id(struct ac_json *w, const char *name, uint32_t id);
/* When a process began: "2026-11-23T22:10:05Z". */
void ac_json_start(struct ac_json *w, const char *name, uint64_t start_s);
void ac_json_integer(struct ac_json *w, const char *name, long long value);
void ac_json_unsigned(struct ac_json *w, const char *name, uint64_t value);
void ac_json_number(struct ac_json *w, const char *name, double value,
    int decimals);
/* Null if it is not finite: what was estimated or compared, to six significant
 * digits, and what was measured, times and bytes, to nine. */
void ac_json_real(struct ac_json *w, const char *name, double value);
void ac_json_measured(struct ac_json *w, const char *name, double value);
void ac_json_bool(struct ac_json *w, const char *name, bool value);

#endif
