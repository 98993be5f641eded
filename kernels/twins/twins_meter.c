/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_meter.c -- what the twins count, and how they go. */
#include "kernels/twins/twins.h"

_Atomic uint64_t ac_twin_bytes_read, ac_twin_bytes_written;
_Thread_local uint64_t ac_twin_bytes_here;
_Thread_local double ac_twin_operations_here;
_Atomic bool ac_twin_plain;
