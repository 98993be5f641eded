/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_rows.h -- what the rows of tests/golden/scaler.txt
 * must come to here: what PyTorch gave; where it has no answer, or a strict
 * scaler or this interface has another one, that, and why. */
#ifndef AC_TEST_SCALER_ROWS_H
#define AC_TEST_SCALER_ROWS_H

#include "tests/unit/scaler/scaler_script.h"

enum { ROWS_NUMBERED = 81 };  /* K1 to K81 */

/* `*why_out` is NULL if the answer is PyTorch's. Fails the test if there is
 * none. */
const char *rows_expected(const struct script_row *row, bool strict,
    const char **why_out);

/* The number of row K12b is 12; 0 of others. */
int rows_number(const struct script_row *row);

/* Runs the row; fails the test, and says which, if the result is another. */
void rows_check(const struct script_end *end, void *self,
    const struct script_row *row, bool strict);

/* More rows, of what PyTorch does not have. */
extern const struct script_row rows_own[];
extern const size_t rows_own_count;

#endif
