/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/float_mode.h -- a stretch of arithmetic with the GPU's
 * modes. */
#ifndef AC_KERNELS_FLOAT_MODE_H
#define AC_KERNELS_FLOAT_MODE_H

#if defined(__x86_64__)
#include <immintrin.h>

/* The program's own rounding mode and flush-to-zero bits stay out of it: to
 * nearest even, subnormals honoured. Returns the program's, to be left with. */
static inline unsigned
ac_float_mode_enter(void)
{
	const unsigned mode = _mm_getcsr();

	_mm_setcsr(0x1f80);
	return mode;
}

static inline void
ac_float_mode_leave(unsigned mode)
{
	_mm_setcsr(mode);
}
#else
static inline unsigned
ac_float_mode_enter(void)
{
	return 0;
}

static inline void
ac_float_mode_leave(unsigned mode)
{
	(void)mode;
}
#endif

#endif
