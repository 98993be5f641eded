/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/two_toolkits_lt.c -- the same as two_toolkits.c, by
 * cublasLt, which is recast from the fifth call on. */
#include "by_lt.h"

#define FIRST 4
#include "two_toolkits.c"
