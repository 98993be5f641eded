/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/device.h -- what the tests of kernels on a device share: the
 * driver's calls that the product never makes, memory, TAP. Every function ends
 * the program where the device does not do as told. */
#ifndef AC_TESTS_GPU_DEVICE_H
#define AC_TESTS_GPU_DEVICE_H

#include "kernels/load/kernels.h"

#include <stdbool.h>
#include <stddef.h>

typedef ac_cu_address address;

/* A stream of ours that waits for no other. */
extern ac_cu_stream device_stream;
/* Of recast calls, in the context of the test. */
extern const struct ac_kernels *device_kernels;

/* Kernels loaded, a context current; or the whole test is skipped (77). */
void device_start(void);
void device_must(int failed, const char *what);
#define MUST(call) device_must(call, #call)

address device_upload(const void *from, size_t bytes);
void device_copy_in(address to, const void *from, size_t bytes);
void device_copy_out(void *to, address from, size_t bytes);
bool device_is_same(address device, const void *expected, size_t bytes);
void device_free(address device);
void device_wait(void);
void *device_at(address where);

/* The CPU twin of a kernel, on arguments as cuLaunchKernel takes them. */
void run_twin(const char *name, void **arguments);

/* A test case, and the plan at the end: the program's status. */
void ok(bool passed, const char *name);
int done(void);

#endif
