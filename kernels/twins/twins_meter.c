/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_meter.c -- what the twins count, and how they go. */
#include "kernels/twins/twins.h"

_Atomic uint64_t ac_twin_bytes_read, ac_twin_bytes_written;
void (*ac_twin_moved)(uint64_t read, uint64_t written, double operations);
_Atomic bool ac_twin_plain;
