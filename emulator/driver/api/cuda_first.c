/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_first.c -- driver calls by their first names: those
 * that headers have called NAME_v2 for years, with the same arguments. Programs
 * that look names up ask for these. Without NVIDIA's header, which renames. */

#define FIRST(name, parameters, arguments)                                \
__attribute__((visibility("default"))) int name parameters;               \
int name##_v2 parameters;                                                 \
int                                                                       \
name parameters                                                           \
{                                                                         \
	return name##_v2 arguments;                                       \
}
FIRST(cuCtxDestroy, (void *context), (context))
FIRST(cuCtxPopCurrent, (void **context), (context))
FIRST(cuCtxPushCurrent, (void *context), (context))
FIRST(cuDeviceGetUuid, (void *uuid, int device), (uuid, device))
FIRST(cuDevicePrimaryCtxRelease, (int device), (device))
FIRST(cuDevicePrimaryCtxReset, (int device), (device))
FIRST(cuDevicePrimaryCtxSetFlags, (int device, unsigned flags),
    (device, flags))
FIRST(cuEventDestroy, (void *event), (event))
FIRST(cuEventElapsedTime, (float *ms, void *from, void *to), (ms, from, to))
FIRST(cuStreamDestroy, (void *stream), (stream))
