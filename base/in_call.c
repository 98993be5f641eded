/* SPDX-License-Identifier: Apache-2.0 */
/* base/in_call.c -- the storage of the re-entry guard. */
#include "base/in_call.h"

__thread uintptr_t ac_in_call_frame;
