/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/handle.c -- wrappers of create and destroy, and the handle
 * table. */
#include "shim/device/handle.h"

#include "base/reentry.h"
#include "base/lock.h"
#include "kernels/load/driver.h"
#include "shim/device/lane.h"
#include "shim/bind/thunk.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { HANDLE_SLOTS = 4096 }; /* power of two; further handles pass through */

/* Linear probing; a destroyed handle leaves GONE behind, so that the probe
 * runs of others stay whole. Writers hold the lock, readers do not. */
#define GONE ((uintptr_t)1)
static struct {
	_Atomic uintptr_t key;
	struct ac_handle record;
} table[HANDLE_SLOTS];
static struct ac_lock table_lock;
_Atomic uint32_t ac_handle_generation = 1;
__thread struct ac_handle_cache ac_handle_last;

static unsigned
start_slot(uintptr_t key)
{
	return (unsigned)((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 48)
	    & (HANDLE_SLOTS - 1);
}

/* The slot that holds `key` (0: the first one that is free). */
static int
find_slot(uintptr_t key)
{
	const unsigned start = start_slot(key);

	for (unsigned i = 0; i < HANDLE_SLOTS; i++) {
		const unsigned slot = (start + i) & (HANDLE_SLOTS - 1);
		const uintptr_t at = atomic_load_explicit(&table[slot].key,
		    memory_order_acquire);

		if (at == key)
			return (int)slot;
		if (!at)
			break;
	}
	return -1;
}

static cublasStatus_t CUBLASWINAPI
know_no_mode(cublasHandle_t handle, cublasMath_t *mode)
{
	(void)handle, (void)mode;
	return CUBLAS_STATUS_NOT_INITIALIZED;
}

static const struct ac_handle unknown = { NULL, -1, 0, know_no_mode };

const struct ac_handle *
ac_handle_search(const void *handle)
{
	const uintptr_t key = (uintptr_t)handle;
	const uint32_t now = atomic_load_explicit(&ac_handle_generation,
	    memory_order_acquire);
	const int slot = key > GONE ? find_slot(key) : -1;

	ac_handle_last.key = key;
	ac_handle_last.generation = now;
	ac_handle_last.record = slot < 0 ? &unknown : &table[slot].record;
	return ac_handle_last.record;
}

/* Where a handle lives: what is current when it is created. */
static void
find_place(struct ac_handle *record)
{
	const struct ac_driver *driver = ac_driver_loaded();
	struct ac_cu_current now;

	if (!driver || !ac_driver_current(driver, &now))
		return;
	record->device = now.device;
	record->context = now.id;
}

void
ac_handle_remember(const void *handle, struct ac_provider *provider)
{
	const uintptr_t key = (uintptr_t)handle;
	const unsigned start = start_slot(key);
	struct ac_handle record = { provider, -1, 0,
		PROVIDER(provider, cublasGetMathMode) };
	int stale;

	if (!record.get_math_mode)
		record.get_math_mode = know_no_mode;
	find_place(&record);
	ac_lock_take(&table_lock);
	/* Destroyed behind our back, and its address is in use again. */
	stale = find_slot(key);
	if (stale >= 0)
		atomic_store_explicit(&table[stale].key, GONE,
		    memory_order_release);
	for (unsigned i = 0; i < HANDLE_SLOTS; i++) {
		const unsigned slot = (start + i) & (HANDLE_SLOTS - 1);
		const uintptr_t at = atomic_load_explicit(&table[slot].key,
		    memory_order_relaxed);

		if (at > GONE)
			continue;
		table[slot].record = record;
		atomic_store_explicit(&table[slot].key, key,
		    memory_order_release);
		break;
	}
	atomic_fetch_add_explicit(&ac_handle_generation, 1,
	    memory_order_release);
	ac_lock_give(&table_lock);
}

bool
ac_handle_forget(const void *handle, struct ac_handle *record_out)
{
	bool last = true;
	int slot;

	ac_lock_take(&table_lock);
	slot = find_slot((uintptr_t)handle);
	if (slot >= 0) {
		*record_out = table[slot].record;
		atomic_store_explicit(&table[slot].key, GONE,
		    memory_order_release);
		atomic_fetch_add_explicit(&ac_handle_generation, 1,
		    memory_order_release);
	}
	for (unsigned i = 0; slot >= 0 && i < HANDLE_SLOTS && last; i++)
		if (atomic_load_explicit(&table[i].key, memory_order_relaxed)
		    > GONE && table[i].record.provider == record_out->provider
		    && table[i].record.context == record_out->context)
			last = false;
	ac_lock_give(&table_lock);
	return slot >= 0 && last;
}

void
ac_handle_forget_all(const struct ac_provider *provider)
{
	ac_lock_take(&table_lock);
	for (unsigned i = 0; i < HANDLE_SLOTS; i++)
		if (atomic_load_explicit(&table[i].key, memory_order_relaxed)
		    > GONE && table[i].record.provider == provider)
			atomic_store_explicit(&table[i].key, GONE,
			    memory_order_release);
	atomic_fetch_add_explicit(&ac_handle_generation, 1,
	    memory_order_release);
	ac_lock_give(&table_lock);
}

AC_WRAPPER_DOOR(cublasCreate_v2);
AC_WRAPPER_DOOR(cublasDestroy_v2);

AC_EXPORT cublasStatus_t CUBLASWINAPI
cublasCreate_v2(cublasHandle_t *handle)
{
	const uint32_t via = ac_thunk_take();
	const bool outermost = ac_reentry_enter();
	const struct ac_binding binding = ac_provider_bind(
	    ENTRY_cublasCreate_v2, __builtin_return_address(0), via);
	const cublasStatus_t status =
	    ((__typeof__(&cublasCreate_v2))binding.next)(handle);

	if (outermost && status == CUBLAS_STATUS_SUCCESS && binding.provider)
		ac_handle_remember(*handle, binding.provider);
	if (outermost)
		ac_reentry_leave();
	return status;
}

/* The record goes first: once the provider has freed the handle, another
 * thread may be given the same address. */
AC_EXPORT cublasStatus_t CUBLASWINAPI
cublasDestroy_v2(cublasHandle_t handle)
{
	const uint32_t via = ac_thunk_take();
	const bool outermost = ac_reentry_enter();
	const struct ac_binding binding = ac_provider_bind(
	    ENTRY_cublasDestroy_v2, __builtin_return_address(0), via);
	struct ac_handle record;
	const bool was_last = outermost
	    && ac_handle_forget(handle, &record);
	const cublasStatus_t status =
	    ((__typeof__(&cublasDestroy_v2))binding.next)(handle);

	if (was_last)
		ac_lane_destroy_all(record.provider, record.context);
	if (outermost)
		ac_reentry_leave();
	return status;
}
