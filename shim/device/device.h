/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/device.h -- what the shim knows of each GPU, read once. */
#ifndef AC_SHIM_DEVICE_H
#define AC_SHIM_DEVICE_H

#include "policy/profit/profit.h"

#include <stdbool.h>
#include <stddef.h>

struct ac_device {
	int    sm;             /* compute capability, 90 for 9.0 */
	char   name[96];       /* "NVIDIA H200" */
	bool   emulated;
};

/* The device with CUDA ordinal `ordinal`, NULL if there is no driver, no such
 * device, or its ordinal is past what the table holds. Thread-safe. */
const struct ac_device *ac_device_get(int ordinal);

/* Whether a device that was asked about is emulated: then all are. */
bool ac_device_is_emulated(void);

/* What it can do: as measured by `autocast calibrate` with this driver and
 * `library` ("cublas-13.1"), else the built-in rates; NULL: nothing is known.
 * The first library asked about counts. Reads a file once, says once if that
 * is not good. */
const struct ac_rates *ac_device_rates(int ordinal, const char *library);

/* Whether events on it measure time: on an emulated one only under
 * AUTOCAST_EMU_CLOCK=model. Tells the report which clock it is. */
bool ac_device_may_time(int ordinal);

#endif
