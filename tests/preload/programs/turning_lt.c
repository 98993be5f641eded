/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/turning_lt.c -- the same as turning.c, by cublasLt. */
#include "by_lt.h"

#include "turning.c"
