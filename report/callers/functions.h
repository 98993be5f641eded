/* SPDX-License-Identifier: Apache-2.0 */
/* report/callers/functions.h -- in which functions the callers of a run
 * are. */
#ifndef AC_REPORT_FUNCTIONS_H
#define AC_REPORT_FUNCTIONS_H

#include "report/read/read.h"

/* What is known of that caller; all empty, `caller` too: nothing. */
const struct ac_caller *ac_report_caller(const struct ac_report *report,
    const char *caller);

/* ---- What tools know (report/callers/lines.c) --------------------------- */

enum { AC_LINES_MOST = 4096 };  /* callers of one object that are asked for */

/* Give the callers, which call at `at` in the object `path`, in order, their
 * names, files and lines. Those that are not known stay empty. It takes
 * *seconds at most, which it subtracts from. */
void ac_lines_find(const char *path, const uint64_t *at,
    struct ac_caller *callers, size_t count, double *seconds);

/* Give callers whose function's name is one of C++, and that have no name yet,
 * that as people write it. */
void ac_lines_demangle(struct ac_caller *callers, size_t count,
    double *seconds);

/* ---- How they are asked (report/callers/tool.c) ------------------------- */

enum { AC_TOOL_BYTES = 1 << 22 };       /* of an answer, at most */

/* What `argv`, of PATH, answers to the `count` bytes of `input`: malloc'ed,
 * with a NUL after it. Its environment is LC_ALL=C and PATH. It has *seconds,
 * of which what it took is subtracted: then it is killed, and the answer is
 * what came until then. NULL: there is no such tool, or no time left. */
char *ac_tool_ask(const char *const *argv, const char *input, size_t count,
    double *seconds);

#endif
