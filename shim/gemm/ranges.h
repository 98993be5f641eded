/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/ranges.h -- what the operands of a site are made of: their
 * exponents, counted on the device when AUTOCAST_RANGES=on asks for it. */
#ifndef AC_SHIM_RANGES_H
#define AC_SHIM_RANGES_H

#include "shim/gemm/gemm.h"
#include "shim/site/site.h"

/* Queue the counting of this call's operands, once it is known that the
 * provider takes them, and hand on what earlier calls have counted by now.
 * Nothing happens where that is impossible, or in a capture. */
void ac_ranges_count(const struct ac_gemm *g, const struct ac_site *site);

#endif
