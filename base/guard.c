/* SPDX-License-Identifier: Apache-2.0 */
/* base/guard.c -- the storage of the re-entry guard. */
#include "base/guard.h"

__thread uintptr_t ac_guard_frame;
