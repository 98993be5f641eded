/* SPDX-License-Identifier: Apache-2.0 */
/* report/callers/tool.h -- asks a tool that may be installed, such as
 * addr2line, by its standard input and output. In the autocast program only. */
#ifndef AC_REPORT_TOOL_H
#define AC_REPORT_TOOL_H

#include <stddef.h>

enum { AC_TOOL_BYTES = 1 << 22 };       /* of an answer, at most */

/* What `argv`, of PATH, answers to the `count` bytes of `input`: malloc'ed,
 * with a NUL after it. Its environment is LC_ALL=C and PATH. It has *seconds,
 * of which what it took is subtracted: then it is killed, and the answer is
 * what came until then. NULL: there is no such tool, or no time left. */
char *ac_tool_ask(const char *const *argv, const char *input, size_t count,
    double *seconds);

#endif
