/* SPDX-License-Identifier: Apache-2.0 */
/* base/log.h -- what the product says on stderr, one line at a time.
 * Lines start with "autocast: " and leave in one write(2), so lines of several
 * threads never mix. Nothing allocates; longer lines are cut at 1 KiB. */
#ifndef AC_BASE_LOG_H
#define AC_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum ac_log_level {
	AC_LOG_OFF, AC_LOG_ERROR, AC_LOG_WARNING, AC_LOG_INFO, AC_LOG_DEBUG
};

/* Print if AUTOCAST_LOG asks for `level`; no trailing newline in `format`. */
__attribute__((format(printf, 2, 3)))
void ac_log(enum ac_log_level level, const char *format, ...);

/* Whether AUTOCAST_LOG asks for `level` now. */
bool ac_log_wants(enum ac_log_level level);

/* Warn if AUTOCAST_LOG is no level. */
void ac_log_check(void);

/* Print `text` verbatim, whatever AUTOCAST_LOG says short of off: reports,
 * notices and policy diagnostics that carry their own line structure. */
void ac_log_text(const char *text);

/* Write bytes to stderr, all or what goes; keeps errno. Where nobody reads any
 * more no SIGPIPE comes of it. */
void ac_log_write(const char *bytes, size_t count);

/* Whether stderr is a terminal (for the notice). */
bool ac_log_to_terminal(void);

#endif
