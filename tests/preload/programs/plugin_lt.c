/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/plugin_lt.c -- the same as plugin.c, by cublasLt. */
#include "by_lt.h"

#include "plugin.c"
