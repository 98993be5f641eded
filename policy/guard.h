/* SPDX-License-Identifier: Apache-2.0 */
/* policy/guard.h -- is what was measured good enough? The rule of
 * doc/accuracy.md A4, as a pure function. */
#ifndef AC_POLICY_GUARD_H
#define AC_POLICY_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Why a rung was found wanting at a site. */
enum ac_finding {
	AC_FINDING_NONE,
	AC_FINDING_RANGE,    /* a finite input became inf in the cast */
	AC_FINDING_LARGE,    /* an output above half of what FP16 holds, which
	                      * an inner sum may have exceeded */
	AC_FINDING_CAST,     /* the cast loses too much: rho > tol / 2 */
	AC_FINDING_TILE,     /* it does so in one place: tile_rho > tol */
	AC_FINDING_ERROR,    /* the sampled outputs are off: error > 0.8 tol */
	AC_FINDING_LINE,     /* one row or column of them: line_error > 3 tol */
	AC_FINDING_EXACT,    /* numbers that FP32 has exactly changed: exact >
	                      * 1e-6, sixteen times what FP32's rounding is */
	AC_FINDING_CHAIN,    /* what it adds to C leaves less than a quarter of
	                      * it: what was lost before counts by then */
	AC_FINDING_SLOW,     /* measured slower than leaving the call alone */
	AC_FINDING_REFUSED,  /* the provider refused the candidate */
	AC_FINDING_COUNT
};
/* As the reports spell them: "range", "cast", "tile", ... */
extern const char *const ac_finding_names[AC_FINDING_COUNT];
/* One phrase each, for people. */
extern const char *const ac_finding_meanings[AC_FINDING_COUNT];

struct ac_guard_facts {
	double rho, tile_rho;      /* 0 where nothing was cast */
	double error, line_error;  /* 0 where no sample was taken */
	double exact;              /* worst of outputs that FP32 has exactly; 0:
	                            * there were none, or nobody asks */
	bool   overflowed;
	bool   large;              /* an output is: never asked of a GEMM */
	bool   batched;            /* several matrices: a tile may be one of
	                            * them, so it is held to tol / 2 */
};

/* The first finding in the order above, against the tolerance `tol`. A NaN is
 * never good enough. */
enum ac_finding ac_guard_judge(const struct ac_guard_facts *facts, double tol);

#endif
