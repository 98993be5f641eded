/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_device.h -- scripts run on the product's gradient
 * scaler, through its public functions, with gradients in memory of the
 * (emulated) GPU. */
#ifndef AC_TEST_SCALER_DEVICE_H
#define AC_TEST_SCALER_DEVICE_H

#include "tests/unit/scaler/scaler_script.h"

#include <cuda_runtime_api.h>

struct device_end {
	cudaStream_t stream;      /* set by the test; of device 0 */
	autocast_scaler_options options;
	autocast_scaler *scaler;
	autocast_group  *groups[SCRIPT_GROUPS];
	struct script_gradients layouts[SCRIPT_GROUPS];
	void   *memory[SCRIPT_GROUPS][2];
	float  *seed, *norm;
	int     devices;          /* 1, or 2 where there are two */
	int     applied;          /* calls of `apply` */
	float   others;           /* what the reduce hook brings */
};

/* Memory for all scripts of the test program; stream NULL. */
void device_open(struct device_end *d);
void device_close(struct device_end *d);

extern const struct script_end device_script_end;

/* The text that autocast_scaler_save() gives, NUL-terminated; freed by the
 * caller. */
char *device_saved(autocast_scaler *scaler, size_t *size_out);

#endif
