/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/validate/validate.h -- what seed and update lines do to a program, as the
 * traces of two runs tell. */
#ifndef AC_CMD_VALIDATE_H
#define AC_CMD_VALIDATE_H

#include "policy/policy.h"
#include "report/count/stamp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses of the verb, with AC_EXIT_USAGE and those of 125 and up. */
enum { AC_VALIDATE_GOOD = 0, AC_VALIDATE_REFUSED = 1,
	AC_VALIDATE_RUN_FAILED = 3 };

/* A line of a trace; shim/scaling/scaling.h says what it tells. */
struct ac_trace_line {
	enum ac_scaling kind;        /* NONE: no line of the policy means it */
	char      fate[12];          /* "scaled", or why it could not be */
	char      symbol[48], caller[64];
	long long n;
	uint64_t  hash, source;
	bool      live, finite;
};

/* Calls that no line of the policy means, of one kind. */
struct ac_trace_other {
	struct ac_trace_line line;   /* hash: of all these calls */
	size_t calls;
	bool   differs;              /* they wrote something else when scaled */
};
enum { AC_TRACE_OTHERS = 16 };       /* kinds that are remembered */

enum ac_trace_verdict {
	AC_TRACE_SAME,               /* updates, bit for bit */
	AC_TRACE_UNREADABLE,
	AC_TRACE_PROCESSES,          /* more than one has seeds or updates */
	AC_TRACE_NO_SEED,            /* before the first update */
	AC_TRACE_NO_UPDATE,
	AC_TRACE_UNFIT,              /* `line` cannot be scaled */
	AC_TRACE_OTHER_CALLS,        /* before `line` both made the same */
	AC_TRACE_OTHER_UPDATE,       /* `line` wrote something else */
	AC_TRACE_UNCHANGED,          /* no seed wrote something else */
	AC_TRACE_UNSEEN,             /* nor did an update read something else
	                              * and change its vector by it */
	AC_TRACE_SHORT,              /* no seed follows an update */
	AC_TRACE_OVERFLOW            /* of `line`, under the whole policy */
};

struct ac_trace_result {
	enum ac_trace_verdict verdict;
	struct ac_trace_line  line;
	size_t   seeds, updates;     /* up to the line, it included */
	size_t   processes;
	char     modules[AC_STAMP_MODULES]; /* their lines, as for the stamp */
	struct ac_trace_other others[AC_TRACE_OTHERS];
	size_t   other_count;
	uint64_t program;            /* of the stamp that it would be */
};

/* Compare what the runs whose traces are in two folders wrote. */
void ac_trace_compare(const char *first, const char *second,
    struct ac_trace_result *result_out);

/* Whether, of two runs whose traces are in two folders, the second one has an
 * update that wrote what is not finite, and the first one has none; the first
 * of them to *result_out then. Also if the second one's trace cannot be read,
 * with that verdict. */
bool ac_trace_overflows(const char *without, const char *with,
    struct ac_trace_result *result_out);

/* ---- cmd/validate/validate_say.c --------------------------------------- */

/* Say on standard error why `scale` is refused, `reproducible` telling whether
 * two runs without it are the same. An exit status; AC_EXIT_FAILED, and nothing
 * said: the traces cannot be read. */
int ac_validate_refuse(const struct ac_trace_result *result, unsigned scale,
    bool reproducible);

/* A line on standard output for each kind of call that no line means and that
 * wrote something else with the scale. */
void ac_validate_print_others(const struct ac_trace_result *result);

#endif
