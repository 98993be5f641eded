/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_verified.h -- what the twins of verified.h's kernels
 * share. */
#ifndef AC_KERNELS_TWINS_VERIFIED_H
#define AC_KERNELS_TWINS_VERIFIED_H

#include "kernels/twins/twins_inside.h"

/* Whether this CPU fuses a multiply and an add itself. */
static inline bool
ac_has_fma(void)
{
#if defined(__x86_64__)
	return ac_has_eight() && __builtin_cpu_supports("fma");
#else
	return false;
#endif
}

#endif
