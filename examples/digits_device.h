/* SPDX-License-Identifier: Apache-2.0 */
/* examples/digits_device.h -- what both digits programs do besides their
 * networks: memory on both sides, copies, random numbers that are the same on
 * every machine. Whatever fails ends the program: one line on stderr, exit
 * status 1. */
#ifndef EXAMPLES_DIGITS_DEVICE_H
#define EXAMPLES_DIGITS_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#define CUDA(call) check_cuda((call), #call)
#define BLAS(call) check_blas((call), #call)

void check_cuda(cudaError_t status, const char *call);
void check_blas(cublasStatus_t status, const char *call);
/* `call` failed because of `why`; never returns. */
void fail(const char *call, const char *why) __attribute__((noreturn));

/* Zero-filled; the caller frees them, device_floats with cudaFree. */
void *allocate(size_t count, size_t bytes);
float *device_floats(size_t count);

void upload(float *device, const float *host, size_t count);
void download(float *host, const float *device, size_t count);

/* -1 to 1. */
float random_symmetric(uint64_t *state);
void shuffle(int *order, int count, uint64_t *state);

/* Write `count` floats of device memory to the file `path`. */
void save(const char *path, const float *device, size_t count);

#endif
