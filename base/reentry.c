/* SPDX-License-Identifier: Apache-2.0 */
/* base/reentry.c -- the storage of the re-entry guard. */
#include "base/reentry.h"

__thread uintptr_t ac_reentry_frame;
