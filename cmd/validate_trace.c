/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/validate_trace.c -- two traces side by side. They may be long: read line
 * by line. */
#include "cmd/validate.h"

#include <dirent.h>
#include <limits.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace {
	FILE    *file;
	uint64_t program;
	size_t   processes;
};

/* ---- Reading ------------------------------------------------------------- */

/* The only trace in `folder`. A run that made no such call has none. */
static void
open_trace(const char *folder, struct trace *trace)
{
	DIR *stream = opendir(folder);
	const struct dirent *entry;
	char path[PATH_MAX];

	*trace = (struct trace){ .file = NULL };
	while (stream && (entry = readdir(stream))) {
		if (*entry->d_name == '.' || trace->processes++)
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		trace->file = fopen(path, "re");
		if (trace->file && fscanf(trace->file, "program %" SCNx64,
		    &trace->program) != 1) {
			fclose(trace->file);
			trace->file = NULL;
		}
	}
	if (stream)
		closedir(stream);
}

static bool
read_line(const struct trace *trace, struct ac_trace_line *line)
{
	char kind[8];

	memset(line, 0, sizeof *line);
	if (!trace->file || fscanf(trace->file,
	    "%7s %11s %47s %lld %63s %" SCNx64, kind, line->fate, line->symbol,
	    &line->n, line->caller, &line->hash) != 6)
		return false;
	line->kind = strcmp(kind, ac_scaling_names[AC_SCALING_SEED])
	    ? AC_SCALING_UPDATE : AC_SCALING_SEED;
	return true;
}

/* ---- Comparing ------------------------------------------------------------- */

static bool
is_same_call(const struct ac_trace_line *a, const struct ac_trace_line *b)
{
	return a->kind == b->kind && a->n == b->n
	    && !strcmp(a->symbol, b->symbol) && !strcmp(a->caller, b->caller);
}

static enum ac_trace_verdict
compare(const struct trace *first, const struct trace *second,
    struct ac_trace_result *result)
{
	struct ac_trace_line other;
	bool changed = false;

	for (;;) {
		const bool has = read_line(first, &result->line);
		const bool has_other = read_line(second, &other);

		if (!has && !has_other)
			break;
		if (!has)
			result->line = other;
		result->seeds += result->line.kind == AC_SCALING_SEED;
		result->updates += result->line.kind == AC_SCALING_UPDATE;
		if (has != has_other || !is_same_call(&result->line, &other))
			return AC_TRACE_OTHER_CALLS;
		if (strcmp(other.fate, "scaled"))
			memcpy(result->line.fate, other.fate,
			    sizeof other.fate);
		if (strcmp(result->line.fate, "scaled"))
			return AC_TRACE_UNFIT;
		if (result->line.hash == other.hash)
			continue;
		if (result->line.kind == AC_SCALING_UPDATE)
			return result->seeds ? AC_TRACE_OTHER_UPDATE
			    : AC_TRACE_NO_SEED;
		changed = true;
	}
	if (!result->seeds)
		return AC_TRACE_NO_SEED;
	if (!result->updates)
		return AC_TRACE_NO_UPDATE;
	return changed ? AC_TRACE_SAME : AC_TRACE_UNCHANGED;
}

void
ac_trace_compare(const char *first, const char *second,
    struct ac_trace_result *result_out)
{
	struct ac_trace_result result = { .verdict = AC_TRACE_UNREADABLE };
	struct trace a, b;

	open_trace(first, &a);
	open_trace(second, &b);
	result.program = a.program;
	result.processes = a.processes > b.processes ? a.processes
	    : b.processes;
	if (result.processes > 1)
		result.verdict = AC_TRACE_PROCESSES;
	else if (a.processes == (a.file != NULL)
	    && b.processes == (b.file != NULL))
		result.verdict = compare(&a, &b, &result);
	if (a.file)
		fclose(a.file);
	if (b.file)
		fclose(b.file);
	*result_out = result;
}
