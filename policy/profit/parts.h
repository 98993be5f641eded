/* SPDX-License-Identifier: Apache-2.0 */
/* policy/profit/parts.h -- what a part of a call adds to it, as the program
 * makes the call: less than it would take alone, since the rest fills the GPU
 * meanwhile. The formulas are in profit.h. Pure; asked by profit.c. Infinite
 * where the GPU lacks the arithmetic. */
#ifndef AC_POLICY_PARTS_H
#define AC_POLICY_PARTS_H

#include "policy/profit/tiles.h"

/* A group of a grouped product. */
double ac_group_seconds(const struct ac_rates *rates,
    const struct ac_tiled *group);

/* What is between the two halves, of m and of n, of a triangle's diagonal. */
double ac_syrk_seconds(const struct ac_rates *rates,
    const struct ac_tiled *block);

#endif
