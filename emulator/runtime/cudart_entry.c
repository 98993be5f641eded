/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_entry.c -- runtime calls: entry points of the driver.
 * Contracts are NVIDIA's. */
#include "emulator/runtime/cudart.h"

/* The driver's; its header and the runtime's do not go together here. */
int cuGetProcAddress_v2(const char *symbol, void **function, int version,
    uint64_t flags, int *result);

cudaError_t
cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
    unsigned version, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *result)
{
	int found = 0, status;

	RUNTIME_ENTER();
	status = cuGetProcAddress_v2(symbol, function, (int)version, flags,
	    &found);
	if (status && status != EMU_NOT_FOUND)
		return emu_runtime_keep(status);
	/* A name that is not there is an answer. */
	if (result)
		*result = (enum cudaDriverEntryPointQueryResult)found;
	return cudaSuccess;
}

cudaError_t
cudaGetDriverEntryPoint(const char *symbol, void **function,
    unsigned long long flags, enum cudaDriverEntryPointQueryResult *result)
{
	return cudaGetDriverEntryPointByVersion(symbol, function,
	    EMU_DRIVER_VERSION, flags, result);
}
