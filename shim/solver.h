/* SPDX-License-Identifier: Apache-2.0 */
/* shim/solver.h -- which modules factorise or solve in FP32 (recasting.md R8).
 * Learnt from the counted-only symbols, asked when a site is decided. */
#ifndef AC_SHIM_SOLVER_H
#define AC_SHIM_SOLVER_H

#include <stdbool.h>
#include <stdint.h>

/* A call from `caller` factorised or solved. Cheap after the first time. */
void ac_solver_mark(const void *caller);

/* Whether the module loaded at `base` is a solver. */
bool ac_solver_is(uintptr_t base);

/* Libraries were unloaded: what is mapped at their addresses next is judged by
 * what it does itself. */
void ac_solver_forget_unloaded(void);

#endif
