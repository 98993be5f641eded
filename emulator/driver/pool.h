/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/pool.h -- whose the bytes of a device are: memory pools, what
 * libraries hold, what is left. For the driver, the runtime and cuBLAS. */
#ifndef AC_EMULATOR_POOL_H
#define AC_EMULATOR_POOL_H

#include "emulator/driver/emu.h"

#pragma GCC visibility push(default)
struct CUmemPoolHandle_st *emu_pool_default(int device);
/* What allocations on a stream take from. */
struct CUmemPoolHandle_st *emu_pool_current(int device);
/* An attribute by NVIDIA's number, in the type that their manual has for it. */
int emu_pool_get(struct CUmemPoolHandle_st *pool, int attribute,
    void *value_out);
int emu_pool_set(struct CUmemPoolHandle_st *pool, int attribute,
    const void *value);
/* Give back what it keeps and does not use, but for `keep` bytes in all. */
int emu_pool_trim(struct CUmemPoolHandle_st *pool, uint64_t keep);

/* Bytes of the current context's device that a library takes for itself,
 * without an address; given back by their context's id, or with it. */
int emu_memory_hold(uint64_t bytes);
void emu_memory_unhold(struct CUctx_st *context, uint64_t id, uint64_t bytes);
#pragma GCC visibility pop

/* Its device; EMU_INVALID_VALUE if it is none. */
int emu_pool_find(struct CUmemPoolHandle_st *pool, int *device_out);
/* At most that many bytes, 0 for as many as the device has. */
int emu_pool_create(int device, uint64_t most,
    struct CUmemPoolHandle_st **pool_out);
int emu_pool_make_current(struct CUmemPoolHandle_st *pool, int device);
/* Not a device's default one. Memory of it that is left stays valid. */
int emu_pool_destroy(struct CUmemPoolHandle_st *pool);
bool emu_pool_take(struct CUmemPoolHandle_st *pool, uint64_t bytes);
/* Any thread, at any time. */
void emu_pool_give(struct CUmemPoolHandle_st *pool, uint64_t bytes);
/* Somebody has waited for the device (-1: for all): pools keep what they may,
 * or with `all` nothing. */
void emu_pools_relax(int device, bool all);
void emu_pools_release(void);

/* Take bytes of a device, or give them back; they have no address. */
bool emu_memory_reserve(int device, uint64_t bytes);
void emu_memory_unreserve(int device, uint64_t bytes);

#endif
