/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/problems.h -- what is wrong with a policy, collected while it
 * loads and shown at the end in order of appearance. One thread. */
#ifndef AC_POLICY_PROBLEMS_H
#define AC_POLICY_PROBLEMS_H

#include "policy/language/rule.h"

/* As many as are shown; the others are only counted. */
enum { AC_PROBLEMS_SHOWN = 200 };

struct ac_problem;
struct ac_problem_list {
	struct ac_arena    arena;
	struct ac_problem *first, *last;
	unsigned           stored, errors, warnings;
};

/* Add an error or a warning about what stands at `place` (a place without a
 * source line names only its source). */
__attribute__((format(printf, 3, 4)))
void ac_problem_error(struct ac_problem_list *list,
    const struct ac_spot *place, const char *format, ...);
__attribute__((format(printf, 3, 4)))
void ac_problem_warn(struct ac_problem_list *list,
    const struct ac_spot *place, const char *format, ...);

/* Append everything to the caller's, and forget it. */
void ac_problem_report(struct ac_problem_list *list,
    struct ac_policy_problems *problems);

#endif
