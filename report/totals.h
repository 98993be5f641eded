/* SPDX-License-Identifier: Apache-2.0 */
/* report/totals.h -- a whole run in numbers. */
#ifndef AC_REPORT_TOTALS_H
#define AC_REPORT_TOTALS_H

#include "policy/op.h"
#include "policy/policy.h"
#include "report/scaled.h"

#include <stdbool.h>
#include <stdint.h>

/* Why no verdict is about a site. */
enum ac_unjudged {
	AC_UNJUDGED_NONE,            /* there is one */
	AC_UNJUDGED_KEPT,            /* no call was recast */
	AC_UNJUDGED_OFF,             /* guard=off */
	AC_UNJUDGED_LIBRARY,         /* a product that cuBLAS converts */
	AC_UNJUDGED_GRAPHS,          /* every call was recorded */
	AC_UNJUDGED_UNREAD,          /* none arrived, or all were zeros */
	AC_UNJUDGED_COUNT
};

struct ac_report_totals {
	uint64_t processes, sites, calls, recast_calls;
	double   flops, recast_flops;              /* of FP32 work */
	uint64_t kept_calls[AC_REASON_COUNT];
	double   kept_flops[AC_REASON_COUNT];
	double   flops_by_rung[AC_RUNG_COUNT];
	uint64_t peak_scratch_bytes;
	/* Recast calls of products; those of them that were checked; what was
	 * recomputed; checks that had not come back; recast calls that nothing
	 * judged. */
	uint64_t products, judged, mended_lines, mended_calls, unread;
	uint64_t unjudged[AC_UNJUDGED_COUNT];
	/* Calls next to which rungs were measured (learn=on); of the most of
	 * them at each site. */
	uint64_t learnt;
	uint64_t samples, late, demotions, captured;
	uint64_t convolutions;                     /* calls among `calls` */
	uint64_t unread_sizes;                     /* of them; not in flops */
	uint64_t plans, workspace;                 /* workspace: the largest */
	double   plan_ms;
	/* The error that was the largest part of its tolerance, and the worst
	 * line of that site. */
	double   worst_error, worst_line, worst_tol; /* tol 0: none is known */
	uint32_t worst_site;
	/* Calls that were recast, times what one call takes kept and recast:
	 * of sites whose time was measured, and of those predicted only. */
	double   measured_keep_us, measured_recast_us;
	double   predicted_keep_us, predicted_recast_us;
	uint64_t measured_calls, predicted_calls;
	/* Of all FP32 calls, those of known time: as the program made them, how
	 * much of that was not timed, as they ran. */
	uint64_t whole_calls, known_calls;
	double   before_us, estimated_us, now_us;
	/* From the start of each process to its end, added up; 0: not known.
	 * At least that, if one of them told no end. On an emulated GPU it says
	 * nothing of a real one. */
	double   wall_us;
	bool     wall_is_least;
	struct ac_scaled_total scaled;             /* the scale: the last one */
};
struct ac_report;
void ac_report_totals(const struct ac_report *report,
    struct ac_report_totals *totals_out);

#endif
