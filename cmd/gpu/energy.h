/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/gpu/energy.h -- what this machine's GPUs draw, by the counters of the
 * driver's management library (NVML). Its functions are declared here by their
 * ABI, as those of gpu.h are. */
#ifndef AC_CMD_ENERGY_H
#define AC_CMD_ENERGY_H

#include <stdbool.h>
#include <stddef.h>

/* Every function used: FUNCTION(name, parameters). All return 0 on success. */
#define AC_ENERGY_NVML(FUNCTION) \
	FUNCTION(nvmlInit_v2, (void)) \
	FUNCTION(nvmlShutdown, (void)) \
	FUNCTION(nvmlDeviceGetCount_v2, (unsigned *count)) \
	FUNCTION(nvmlDeviceGetHandleByIndex_v2, \
	    (unsigned index, void **device)) \
	FUNCTION(nvmlDeviceGetHandleByUUID, \
	    (const char *uuid, void **device)) \
	FUNCTION(nvmlDeviceGetTotalEnergyConsumption, \
	    (void *device, unsigned long long *millijoules))

enum { AC_ENERGY_DEVICES = 64 };

struct ac_energy {
#define AC_ENERGY_MEMBER(name, params) int (*name) params;
	AC_ENERGY_NVML(AC_ENERGY_MEMBER)
#undef AC_ENERGY_MEMBER
	bool   is_open;
	void  *devices[AC_ENERGY_DEVICES];
	size_t count;
	char   why[128];             /* nothing is known: why; "" */
};

/* Open the GPUs that CUDA_VISIBLE_DEVICES shows, all if it is not set. Where
 * that fails, ac_energy_joules() knows nothing. ac_energy_close() in either
 * case; a zeroed one counts as closed. */
void ac_energy_open(struct ac_energy *energy);
void ac_energy_close(struct ac_energy *energy);

/* What all of them have drawn since the driver was loaded; < 0: unknown, and
 * energy->why says why. */
double ac_energy_joules(struct ac_energy *energy);

#endif
