/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/handle.c -- wrappers of create and destroy, and the handle
 * table. */
#include "shim/device/handle.h"

#include "base/lock.h"
#include "base/table.h"
#include "kernels/load/driver.h"
#include "shim/device/lane.h"
#include "shim/bind/trampoline.h"
#include "shim/bind/wrapper.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Further handles pass through. */
enum { BITS = 12, WINDOW = 64, ROWS = (1 << BITS) + WINDOW };

static struct known {
	struct ac_row    row;
	struct ac_handle handle;
} table[ROWS];
static const struct ac_rows rows = { table, sizeof *table, BITS, WINDOW };
static struct ac_lock table_lock;
_Atomic uint32_t ac_handle_generation = 1;
__thread struct ac_handle_cache ac_handle_last;

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
	const uint32_t now = atomic_load_explicit(&ac_handle_generation,
	    memory_order_acquire);
	const struct known *known = (const struct known *)ac_rows_find(&rows,
	    handle);

	ac_handle_last.key = (uintptr_t)handle;
	ac_handle_last.generation = now;
	ac_handle_last.record = known ? &known->handle : &unknown;
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

/* Under the lock, as what follows. */
static void
end_generation(void)
{
	atomic_fetch_add_explicit(&ac_handle_generation, 1,
	    memory_order_release);
}

static bool
is_made_by(const struct known *known, const struct ac_provider *provider)
{
	return atomic_load_explicit(&known->row.address, memory_order_relaxed)
	    && known->handle.provider == provider;
}

__attribute__((cold))
void
ac_handle_remember(const void *handle, struct ac_provider *provider)
{
	struct ac_handle record = { provider, -1, 0,
		PROVIDER(provider, cublasGetMathMode) };
	struct known *known;

	if (!record.get_math_mode)
		record.get_math_mode = know_no_mode;
	find_place(&record);
	ac_lock_take(&table_lock);
	/* Its row may be one's that was destroyed behind our back. */
	known = (struct known *)ac_rows_take(&rows, handle);
	if (known) {
		known->handle = record;
		ac_row_set(&known->row, handle);
	}
	end_generation();
	ac_lock_give(&table_lock);
}

__attribute__((cold))
bool
ac_handle_forget(const void *handle, struct ac_handle *record_out)
{
	struct known *known;
	bool last;

	ac_lock_take(&table_lock);
	known = (struct known *)ac_rows_find(&rows, handle);
	last = known != NULL;
	if (known) {
		*record_out = known->handle;
		ac_row_set(&known->row, NULL);
		end_generation();
	}
	for (unsigned i = 0; last && i < ROWS; i++)
		last = !is_made_by(&table[i], record_out->provider)
		    || table[i].handle.context != record_out->context;
	ac_lock_give(&table_lock);
	return last;
}

__attribute__((cold))
void
ac_handle_forget_all(const struct ac_provider *provider)
{
	ac_lock_take(&table_lock);
	for (unsigned i = 0; i < ROWS; i++)
		if (is_made_by(&table[i], provider))
			ac_row_set(&table[i].row, NULL);
	end_generation();
	ac_lock_give(&table_lock);
}

void (*_Atomic ac_handle_waited[AC_WAITED_COUNT])(void);

AC_WRAPPER(cublasStatus_t CUBLASWINAPI, cublasCreate_v2)(
    cublasHandle_t *handle)
{
	const struct ac_wrapped call = AC_ENTER(cublasCreate_v2);
	struct ac_provider *maker;
	cublasStatus_t status;

	ac_trampoline_begin(&call);
	status = ORIGINAL(call, cublasCreate_v2)(handle);
	maker = ac_trampoline_maker(&call, ENTRY_cublasCreate_v2,
	    status ? NULL : *handle);
	if (maker)
		ac_handle_remember(*handle, maker);
	ac_wrapper_leave(&call);
	return status;
}

/* The record goes first: once the provider has freed the handle, another
 * thread may be given the same address. */
AC_WRAPPER(cublasStatus_t CUBLASWINAPI, cublasDestroy_v2)(
    cublasHandle_t handle)
{
	const struct ac_wrapped call = AC_ENTER(cublasDestroy_v2);
	struct ac_handle record;
	const bool was_last = call.outermost
	    && ac_handle_forget(handle, &record);
	const cublasStatus_t status = ORIGINAL(call, cublasDestroy_v2)(handle);

	for (int i = 0; i < AC_WAITED_COUNT && call.outermost; i++) {
		void (*waited)(void) = atomic_load(&ac_handle_waited[i]);

		if (waited)
			waited();
	}
	if (was_last)
		ac_lane_destroy_all(record.provider, record.context);
	ac_wrapper_leave(&call);
	return status;
}
