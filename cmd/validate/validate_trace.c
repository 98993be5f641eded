/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/validate/validate_trace.c -- compares two traces. They may be long, so
 * it reads them line by line. */
#include "cmd/validate/validate.h"

#include "base/text.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace {
	FILE    *file;
	char    *text;               /* the line that was read last */
	size_t   size;
	uint64_t program;
	size_t   files;
	bool     is_damaged;
	char     modules[AC_STAMP_MODULES];
	struct ac_trace_other others[AC_TRACE_OTHERS];
	size_t   other_count;
};

/* ---- Reading ------------------------------------------------------------- */

static bool
read_hash(const char *digits, uint64_t *hash_out)
{
	const size_t count = ac_text_digits(digits, hash_out);

	return count && count <= 16 && !digits[count];
}

static bool
read_word(const char *word, char *out, size_t size)
{
	const size_t length = strlen(word);

	if (!length || length >= size)
		return false;
	memcpy(out, word, length + 1);
	return true;
}

/* "KIND FATE FUNCTION N HASH SOURCE LIVE FINITE CALLER" */
static bool
parse(char *text, struct ac_trace_line *line)
{
	enum { KIND, FATE, FUNCTION, N, HASH, SOURCE, LIVE, FINITE,
		WORDS };
	char *words[WORDS];
	double n;

	memset(line, 0, sizeof *line);
	for (int i = 0; i < WORDS; i++)
		words[i] = strsep(&text, " ");
	if (!text || !words[FINITE] || !read_word(text, line->caller,
	    sizeof line->caller) || !read_word(words[FATE], line->fate,
	    sizeof line->fate) || !read_word(words[FUNCTION], line->symbol,
	    sizeof line->symbol) || !read_hash(words[HASH], &line->hash)
	    || !read_hash(words[SOURCE], &line->source)
	    || ac_text_number(words[N], strlen(words[N]), &n)
	    != strlen(words[N]))
		return false;
	line->n = (long long)n;
	line->live = !strcmp(words[LIVE], "1");
	line->finite = !strcmp(words[FINITE], "1");
	while (line->kind < AC_SCALING_COUNT
	    && strcmp(words[KIND], ac_scaling_names[line->kind]))
		line->kind++;
	return line->kind < AC_SCALING_COUNT;
}

static bool
add_module(struct trace *trace)
{
	const size_t used = strlen(trace->modules);
	struct ac_text text = ac_text_in(trace->modules + used,
	    sizeof trace->modules - used);

	ac_text_addf(&text, "%s\n", trace->text);
	return !text.truncated;
}

/* False at the end, which is damage anywhere but behind a whole line. */
static bool
read_any(struct trace *trace, struct ac_trace_line *line)
{
	const ssize_t length = getline(&trace->text, &trace->size, trace->file);

	if (length <= 0)
		return false;
	trace->is_damaged = trace->text[length - 1] != '\n';
	trace->text[length - 1] = '\0';
	if (!trace->is_damaged && !strncmp(trace->text, "module ", 7)) {
		trace->is_damaged = !add_module(trace);
		return !trace->is_damaged && read_any(trace, line);
	}
	trace->is_damaged |= !parse(trace->text, line);
	return !trace->is_damaged;
}

static bool
is_same_call(const struct ac_trace_line *a, const struct ac_trace_line *b)
{
	return a->kind == b->kind && a->n == b->n
	    && !strcmp(a->symbol, b->symbol) && !strcmp(a->caller, b->caller);
}

static struct ac_trace_other *
find_other(struct trace *trace, const struct ac_trace_line *line)
{
	for (size_t i = 0; i < trace->other_count; i++)
		if (is_same_call(&trace->others[i].line, line))
			return &trace->others[i];
	return NULL;
}

static void
add_other(struct trace *trace, const struct ac_trace_line *line)
{
	struct ac_trace_other *other = find_other(trace, line);

	if (!other && trace->other_count < AC_TRACE_OTHERS) {
		other = &trace->others[trace->other_count++];
		*other = (struct ac_trace_other){ .line = *line };
		other->line.hash = 0;
	}
	if (!other)
		return;
	other->line.hash = ac_text_hash(other->line.hash, &line->hash,
	    sizeof line->hash);
	other->calls++;
}

/* The next seed or update. */
static bool
read_line(struct trace *trace, struct ac_trace_line *line)
{
	while (trace->file && read_any(trace, line)) {
		if (line->kind != AC_SCALING_NONE)
			return true;
		add_other(trace, line);
	}
	return false;
}

/* ---- Files ------------------------------------------------------------- */

/* Past the first line, "program HASH". */
static bool
begin(struct trace *trace, const char *path)
{
	static const char head[] = "program ";
	ssize_t length = 0;

	trace->file = fopen(path, "re");
	if (trace->file)
		length = getline(&trace->text, &trace->size, trace->file);
	if (length <= 0 || trace->text[length - 1] != '\n')
		return false;
	trace->text[length - 1] = '\0';
	return !strncmp(trace->text, head, sizeof head - 1)
	    && read_hash(trace->text + sizeof head - 1, &trace->program);
}

static void
close_trace(struct trace *trace)
{
	if (trace->file)
		fclose(trace->file);
	free(trace->text);
	*trace = (struct trace){ .file = NULL };
}

/* Whether a trace has a seed or an update, or cannot be read. */
static bool
counts(const char *path)
{
	struct trace trace = { .file = NULL };
	struct ac_trace_line line;
	const bool found = !begin(&trace, path) || read_line(&trace, &line)
	    || trace.is_damaged;

	close_trace(&trace);
	return found;
}

/* The only trace in `folder` that counts, else any. A run that made no call has
 * none. False: it cannot be read. */
static bool
open_trace(const char *folder, struct trace *trace)
{
	DIR *stream = opendir(folder);
	const struct dirent *entry;
	char path[PATH_MAX], chosen[PATH_MAX] = "";
	size_t files = 0;

	while (stream && (entry = readdir(stream))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (counts(path))
			files++;
		else if (*chosen)
			continue;
		memcpy(chosen, path, sizeof chosen);
	}
	if (stream)
		closedir(stream);
	*trace = (struct trace){ .file = NULL };
	trace->files = files;
	return !*chosen || begin(trace, chosen);
}

/* ---- Comparing --------------------------------------------------------- */

/* Two updates wrote the same. Did the scale reach what was added, and was that
 * anything? Else that they are the same says nothing. */
static bool
is_proof(const struct ac_trace_line *plain, const struct ac_trace_line *scaled)
{
	return plain->kind == AC_SCALING_UPDATE && plain->live
	    && plain->source != scaled->source;
}

static enum ac_trace_verdict
compare(struct trace *first, struct trace *second,
    struct ac_trace_result *result)
{
	struct ac_trace_line *const line = &result->line, other;
	bool changed = false, proven = false, goes_on = false;

	for (;;) {
		const bool has = read_line(first, line);
		const bool has_other = read_line(second, &other);

		if (first->is_damaged || second->is_damaged)
			return AC_TRACE_UNREADABLE;
		if (!has && !has_other)
			break;
		if (!has)
			*line = other;
		result->seeds += line->kind == AC_SCALING_SEED;
		result->updates += line->kind == AC_SCALING_UPDATE;
		if (has != has_other || !is_same_call(line, &other))
			return AC_TRACE_OTHER_CALLS;
		if (strcmp(other.fate, "scaled"))
			memcpy(line->fate, other.fate, sizeof other.fate);
		if (strcmp(line->fate, "scaled"))
			return AC_TRACE_UNFIT;
		goes_on |= result->updates && line->kind == AC_SCALING_SEED;
		if (line->hash == other.hash) {
			proven |= is_proof(line, &other);
			continue;
		}
		if (line->kind == AC_SCALING_UPDATE)
			return result->seeds ? AC_TRACE_OTHER_UPDATE
			    : AC_TRACE_NO_SEED;
		changed = true;
	}
	return !result->seeds ? AC_TRACE_NO_SEED
	    : !result->updates ? AC_TRACE_NO_UPDATE
	    : !changed ? AC_TRACE_UNCHANGED
	    : !proven ? AC_TRACE_UNSEEN
	    : goes_on ? AC_TRACE_SAME : AC_TRACE_SHORT;
}

/* What both runs did that no line means. */
static void
compare_others(struct trace *first, struct trace *second,
    struct ac_trace_result *result)
{
	memcpy(result->others, first->others, sizeof result->others);
	result->other_count = first->other_count;
	for (size_t i = 0; i < result->other_count; i++) {
		struct ac_trace_other *one = &result->others[i];
		const struct ac_trace_other *other = find_other(second,
		    &one->line);

		one->differs = !other || other->calls != one->calls
		    || other->line.hash != one->line.hash;
	}
}

void
ac_trace_compare(const char *first, const char *second,
    struct ac_trace_result *result_out)
{
	struct ac_trace_result result = { .verdict = AC_TRACE_UNREADABLE };
	struct trace a, b;
	const bool is_readable = open_trace(first, &a);

	if (open_trace(second, &b) && is_readable)
		result.verdict = compare(&a, &b, &result);
	result.program = a.program;
	result.processes = a.files > b.files ? a.files : b.files;
	if (result.processes > 1)
		result.verdict = AC_TRACE_PROCESSES;
	compare_others(&a, &b, &result);
	memcpy(result.modules, a.modules, sizeof result.modules);
	close_trace(&a);
	close_trace(&b);
	*result_out = result;
}

/* The first update of the run that is not finite, or what is damaged before. */
static bool
find_bad(const char *folder, struct ac_trace_result *result)
{
	struct trace trace;
	const bool is_open = open_trace(folder, &trace);
	bool found = false;

	if (is_open)
		while (!found && read_line(&trace, &result->line)) {
			const enum ac_scaling kind = result->line.kind;

			result->seeds += kind == AC_SCALING_SEED;
			result->updates += kind == AC_SCALING_UPDATE;
			found = kind == AC_SCALING_UPDATE
			    && !result->line.finite;
		}
	if (!is_open || trace.is_damaged)
		result->verdict = AC_TRACE_UNREADABLE;
	close_trace(&trace);
	return found || result->verdict == AC_TRACE_UNREADABLE;
}

bool
ac_trace_overflows(const char *without, const char *with,
    struct ac_trace_result *result_out)
{
	struct ac_trace_result before = { .seeds = 0 }, result = {
		.verdict = AC_TRACE_OVERFLOW
	};

	if (find_bad(without, &before) || !find_bad(with, &result))
		return false;
	*result_out = result;
	return true;
}
