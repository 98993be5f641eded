/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/validate.h -- what seed and update lines do to a program, as the traces
 * of two runs tell: cmd/validate.c is the verb, cmd/validate_trace.c compares. */
#ifndef AC_CMD_VALIDATE_H
#define AC_CMD_VALIDATE_H

#include "policy/policy.h"

#include <stddef.h>
#include <stdint.h>

/* Exit statuses of the verb, with AC_EXIT_USAGE and those of 125 and up. */
enum { AC_VALIDATE_GOOD = 0, AC_VALIDATE_REFUSED = 1,
	AC_VALIDATE_RUN_FAILED = 3 };

/* A line of a trace (shim/scaling_trace.c writes them). */
struct ac_trace_line {
	enum ac_scaling kind;
	char      fate[12];          /* "scaled", or why it could not be */
	char      symbol[48], caller[64];
	long long n;
	uint64_t  hash;              /* of the vector it changed */
};

enum ac_trace_verdict {
	AC_TRACE_SAME,               /* updates, bit for bit */
	AC_TRACE_UNREADABLE,
	AC_TRACE_PROCESSES,          /* more than one has a trace */
	AC_TRACE_NO_SEED,            /* before the first update */
	AC_TRACE_NO_UPDATE,
	AC_TRACE_UNFIT,              /* `line` cannot be scaled */
	AC_TRACE_OTHER_CALLS,        /* before `line` both made the same */
	AC_TRACE_OTHER_UPDATE,       /* `line` wrote something else */
	AC_TRACE_UNCHANGED           /* no seed wrote something else */
};

struct ac_trace_result {
	enum ac_trace_verdict verdict;
	struct ac_trace_line  line;
	size_t   seeds, updates;     /* up to the line, it included */
	size_t   processes;
	uint64_t program;            /* of the stamp that it would be */
};

/* Compare what the runs whose traces are in two folders wrote. */
void ac_trace_compare(const char *first, const char *second,
    struct ac_trace_result *result_out);

#endif
