/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/pool.c -- how much of a device's memory is taken, how much of
 * it each pool uses and keeps of what was freed. Bytes only: what is freed is
 * gone, so that its use is found. Workers free to a pool: nothing is locked.
 *
 * What a free leaves to a pool counts as taken until somebody waits for a
 * stream, an event or a context; then the pool keeps no more than its release
 * threshold [CUDA driver manual, cuMemPoolSetAttribute()]. A device that has
 * nothing left takes it before it refuses: assumed, as programs that mix
 * cudaMallocAsync() with cudaMalloc() run. */
#include "emulator/driver/pool.h"
#include "emulator/driver/device.h"

#include <stdlib.h>

/* CUmemPool_attribute and cudaMemPoolAttr. */
enum { FOLLOW = 1, OPPORTUNISTIC, INTERNAL, THRESHOLD, RESERVED, RESERVED_HIGH,
	USED, USED_HIGH };

/* What NVIDIA's headers know as CUmemoryPool. */
struct CUmemPoolHandle_st {
	_Atomic uint32_t mark;
	int              device;
	uint64_t         most;        /* bytes; 0: as many as there are */
	_Atomic int      reuse[INTERNAL + 1];
	_Atomic uint64_t threshold, used, kept, used_high, reserved_high;
	struct CUmemPoolHandle_st *next_all;
};

#define POOL(number) { .mark = EMU_MARK_POOL, .device = (number), \
	.reuse = { 0, 1, 1, 1 } }
static struct CUmemPoolHandle_st default_pools[EMU_DEVICES] = {
	POOL(0), POOL(1), POOL(2), POOL(3), POOL(4), POOL(5), POOL(6), POOL(7)
};
/* Created ones, until the library ends: frees may come after a pool's end. */
static _Atomic(struct CUmemPoolHandle_st *) created;
/* What cuMemAllocAsync() takes from; NULL, or a pool that is gone: the default
 * one. */
static _Atomic(struct CUmemPoolHandle_st *) current[EMU_DEVICES];

static _Atomic uint64_t device_bytes[EMU_DEVICES]; /* taken */

void
emu_memory_unreserve(int device, uint64_t bytes)
{
	atomic_fetch_sub_explicit(&device_bytes[device], bytes,
	    memory_order_relaxed);
}

bool
emu_memory_reserve(int device, uint64_t bytes)
{
	const uint64_t all = emu_device_memory(device);
	uint64_t now = atomic_load_explicit(&device_bytes[device],
	    memory_order_relaxed);

	do {
		if (bytes > all || now > all - bytes)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&device_bytes[device],
	    &now, now + bytes, memory_order_relaxed, memory_order_relaxed));
	return true;
}

void
emu_memory_info(int device, size_t *free_out, size_t *total_out)
{
	*total_out = emu_device_memory(device);
	*free_out = *total_out - atomic_load_explicit(&device_bytes[device],
	    memory_order_relaxed);
}

struct CUmemPoolHandle_st *
emu_pool_default(int device)
{
	return &default_pools[device];
}

int
emu_pool_find(struct CUmemPoolHandle_st *pool, int *device_out)
{
	if (!pool || atomic_load(&pool->mark) != EMU_MARK_POOL ||
	    !emu_device_exists(pool->device))
		return EMU_INVALID_VALUE;
	*device_out = pool->device;
	return EMU_OK;
}

int
emu_pool_create(int device, uint64_t most,
    struct CUmemPoolHandle_st **pool_out)
{
	struct CUmemPoolHandle_st *pool = calloc(1, sizeof *pool);

	if (!pool)
		return EMU_OUT_OF_MEMORY;
	pool->device = device;
	pool->most = most;
	for (int i = FOLLOW; i <= INTERNAL; i++)
		atomic_init(&pool->reuse[i], 1);
	atomic_init(&pool->mark, EMU_MARK_POOL);
	pool->next_all = atomic_load(&created);
	while (!atomic_compare_exchange_weak(&created, &pool->next_all, pool))
		;
	*pool_out = pool;
	return EMU_OK;
}

struct CUmemPoolHandle_st *
emu_pool_current(int device)
{
	struct CUmemPoolHandle_st *const pool = atomic_load(&current[device]);

	return pool && atomic_load(&pool->mark) == EMU_MARK_POOL ? pool
	    : emu_pool_default(device);
}

int
emu_pool_make_current(struct CUmemPoolHandle_st *pool, int device)
{
	int of;

	if (emu_pool_find(pool, &of) || of != device)
		return EMU_INVALID_VALUE;
	atomic_store(&current[device], pool);
	return EMU_OK;
}

/* ---- bytes -------------------------------------------------------------- */

static uint64_t
reserved(struct CUmemPoolHandle_st *pool)
{
	return atomic_load(&pool->used) + atomic_load(&pool->kept);
}

static void
raise(_Atomic uint64_t *high, uint64_t value)
{
	uint64_t there = atomic_load(high);

	while (value > there &&
	    !atomic_compare_exchange_weak(high, &there, value))
		;
}

/* As many as there are of `bytes`. */
static uint64_t
take_kept(struct CUmemPoolHandle_st *pool, uint64_t bytes)
{
	uint64_t kept = atomic_load(&pool->kept), taken;

	do
		taken = kept < bytes ? kept : bytes;
	while (!atomic_compare_exchange_weak(&pool->kept, &kept,
	    kept - taken));
	return taken;
}

static void
shrink(struct CUmemPoolHandle_st *pool, uint64_t keep)
{
	const uint64_t now = reserved(pool);

	if (now > keep)
		emu_memory_unreserve(pool->device, take_kept(pool,
		    now - keep));
}

int
emu_pool_trim(struct CUmemPoolHandle_st *pool, uint64_t keep)
{
	int device;
	const int status = emu_pool_find(pool, &device);

	if (!status)
		shrink(pool, keep);
	return status;
}

void
emu_pools_relax(int device, bool all)
{
	struct CUmemPoolHandle_st *pool = atomic_load(&created);

	for (int i = 0; i < emu_device_count(); i++)
		if (device < 0 || i == device)
			shrink(&default_pools[i], all ? 0 :
			    atomic_load(&default_pools[i].threshold));
	for (; pool; pool = pool->next_all)
		if (device < 0 || pool->device == device)
			shrink(pool, all || atomic_load(&pool->mark) !=
			    EMU_MARK_POOL ? 0 : atomic_load(&pool->threshold));
}

bool
emu_pool_take(struct CUmemPoolHandle_st *pool, uint64_t bytes)
{
	const uint64_t kept = take_kept(pool, bytes);

	if ((pool->most && (bytes > pool->most ||
	    reserved(pool) > pool->most - bytes)) ||
	    !emu_memory_reserve(pool->device, bytes - kept)) {
		atomic_fetch_add(&pool->kept, kept);
		return false;
	}
	atomic_fetch_add(&pool->used, bytes);
	raise(&pool->used_high, atomic_load(&pool->used));
	raise(&pool->reserved_high, reserved(pool));
	return true;
}

void
emu_pool_give(struct CUmemPoolHandle_st *pool, uint64_t bytes)
{
	atomic_fetch_add(&pool->kept, bytes);
	atomic_fetch_sub(&pool->used, bytes);
}

/* ---- attributes --------------------------------------------------------- */

int
emu_pool_get(struct CUmemPoolHandle_st *pool, int attribute, void *value_out)
{
	int device;

	if (!value_out || emu_pool_find(pool, &device))
		return EMU_INVALID_VALUE;
	switch (attribute) {
	case FOLLOW:
	case OPPORTUNISTIC:
	case INTERNAL:
		*(int *)value_out = atomic_load(&pool->reuse[attribute]);
		return EMU_OK;
	case THRESHOLD:
		*(uint64_t *)value_out = atomic_load(&pool->threshold);
		return EMU_OK;
	case RESERVED:
		*(uint64_t *)value_out = reserved(pool);
		return EMU_OK;
	case RESERVED_HIGH:
		*(uint64_t *)value_out = atomic_load(&pool->reserved_high);
		return EMU_OK;
	case USED:
		*(uint64_t *)value_out = atomic_load(&pool->used);
		return EMU_OK;
	case USED_HIGH:
		*(uint64_t *)value_out = atomic_load(&pool->used_high);
		return EMU_OK;
	default:
		return EMU_INVALID_VALUE;
	}
}

/* The highest values can only be set back, by 0. */
int
emu_pool_set(struct CUmemPoolHandle_st *pool, int attribute, const void *value)
{
	int device;

	if (!value || emu_pool_find(pool, &device))
		return EMU_INVALID_VALUE;
	switch (attribute) {
	case FOLLOW:
	case OPPORTUNISTIC:
	case INTERNAL:
		atomic_store(&pool->reuse[attribute],
		    *(const int *)value != 0);
		return EMU_OK;
	case THRESHOLD:
		atomic_store(&pool->threshold, *(const uint64_t *)value);
		return EMU_OK;
	case RESERVED_HIGH:
	case USED_HIGH:
		if (*(const uint64_t *)value)
			return EMU_INVALID_VALUE;
		atomic_store(attribute == USED_HIGH ? &pool->used_high :
		    &pool->reserved_high, attribute == USED_HIGH ?
		    atomic_load(&pool->used) : reserved(pool));
		return EMU_OK;
	default:
		return EMU_INVALID_VALUE;
	}
}

int
emu_pool_destroy(struct CUmemPoolHandle_st *pool)
{
	int device;
	const int status = emu_pool_find(pool, &device);

	if (status)
		return status;
	if (pool >= default_pools && pool < default_pools + EMU_DEVICES)
		return EMU_INVALID_VALUE;
	shrink(pool, 0);
	atomic_store(&pool->mark, 0);
	return EMU_OK;
}

void
emu_pools_release(void)
{
	struct CUmemPoolHandle_st *pool = atomic_exchange(&created, NULL);

	for (int i = 0; i < EMU_DEVICES; i++)
		atomic_store(&current[i], NULL);
	while (pool) {
		struct CUmemPoolHandle_st *next = pool->next_all;

		free(pool);
		pool = next;
	}
}
