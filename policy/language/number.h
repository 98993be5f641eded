/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/number.h -- the numbers of the language and their suffixes.
 * Pure. */
#ifndef AC_POLICY_NUMBER_H
#define AC_POLICY_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

struct ac_text;

enum ac_number_kind {
	AC_NUMBER_SIZE,     /* whole, Ki Mi */
	AC_NUMBER_AMOUNT,   /* k M G T Ki Mi Gi */
	AC_NUMBER_RATIO,    /* no suffix */
	AC_NUMBER_WHOLE     /* whole, no suffix */
};

/* Read all `length` bytes of `s`. False: *why says what is wrong with them. */
bool ac_number_read(const char *s, size_t length, enum ac_number_kind kind,
    double *value_out, struct ac_text *why);

#endif
