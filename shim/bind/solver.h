/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/solver.h -- which modules factorise or solve in FP32: those whose
 * solves are more than one in 1,000 of their products, lately. One solve does
 * not keep all that a library ever multiplies. Learnt from the counted-only
 * symbols, asked when a site is decided. */
#ifndef AC_SHIM_SOLVER_H
#define AC_SHIM_SOLVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A module that has solved once. Never freed; a module that is unloaded leaves
 * its place to another. */
struct ac_solver {
	_Atomic uintptr_t base;      /* + 1: programs may lie at 0; 0: free */
	_Atomic uint64_t  ratio;     /* products; above 2^32: solves */
	_Atomic bool      counts;    /* as one, by the ratio */
	_Atomic uint32_t  changes;   /* of that */
};

/* A call from `caller` factorised or solved. Cheap after the first time. */
void ac_solver_mark(const void *caller);

/* The module loaded at `base`, NULL if it never solved. */
struct ac_solver *ac_solver_of(uintptr_t base);

/* Whether it counts as a solver; not if NULL. */
static inline bool
ac_solver_counts(const struct ac_solver *solver)
{
	return solver && atomic_load_explicit(&solver->counts,
	    memory_order_relaxed);
}

/* It multiplied. */
void ac_solver_multiplied(struct ac_solver *solver);

/* Libraries were unloaded: what is mapped at their addresses next is judged by
 * what it does itself. */
void ac_solver_forget_unloaded(void);

#endif
