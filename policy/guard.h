/* SPDX-License-Identifier: Apache-2.0 */
/* policy/guard.h -- is what was measured good enough? The rule of
 * doc/accuracy.md A4, as a pure function. */
#ifndef AC_POLICY_GUARD_H
#define AC_POLICY_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Why a rung was found wanting at a site; in the order of judging. */
enum ac_finding {
#define FINDING(id, name, meaning) AC_FINDING_##id,
#include "policy/words.def"
	AC_FINDING_COUNT
};
/* As the reports spell them: "large", "error", "line", ... */
extern const char *const ac_finding_names[AC_FINDING_COUNT];
/* One phrase each, for people. */
extern const char *const ac_finding_meanings[AC_FINDING_COUNT];

struct ac_guard_facts {
	double error, line_error;  /* 0 where no sample was taken */
	double exact;              /* worst of outputs that FP32 has exactly; 0:
	                            * there were none */
	bool   large;              /* an output is */
};

/* The first finding in the order above, against the tolerance `tol`. A NaN is
 * never good enough. */
enum ac_finding ac_guard_judge(const struct ac_guard_facts *facts, double tol);

#endif
