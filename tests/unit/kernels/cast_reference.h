/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/cast_reference.h -- what the casts must give, computed
 * another way than the kernels do. */
#ifndef AC_TESTS_CAST_REFERENCE_H
#define AC_TESTS_CAST_REFERENCE_H

#include "kernels/load/kernels.h"

#include <stdbool.h>

struct cast_expected {
	int      exponent[2];
	float    alpha;
};

/* x rounded to the format, as bits. */
uint16_t cast_reference_element(double x, enum ac_format format);
/* The value of a finite 16-bit number; inf and NaN as such. */
double cast_reference_value(uint16_t bits, enum ac_format format);
/* doc/rules.md R2, one binade at a time. */
struct cast_expected cast_reference_scale(const double amax[2], bool scaled,
    float alpha);

#endif
