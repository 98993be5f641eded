/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_register.h -- the kernels and variables that nvcc's
 * generated code registers, for launches and symbols. */
#ifndef AC_EMULATOR_CUDART_REGISTER_H
#define AC_EMULATOR_CUDART_REGISTER_H

#include "emulator/runtime/cudart.h"
#include "emulator/driver/launch.h"

/* The mangled name that was registered for a host stub; NULL, after a
 * complaint: none was. */
const char *emu_registered_name(const void *host);
/* Its kernel on the current device. The device code is read when it is first
 * needed. A kernel with a twin needs none: *kernel_out may be NULL then. */
int emu_registered_kernel(const void *host, struct CUkern_st **kernel_out);
/* A variable, by the host's address of it. */
int emu_registered_variable(const void *host, void **address_out,
    size_t *bytes_out);

#endif
