/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load.c -- brings a module's PTX into each context that uses it.
 *
 * One library of a module for the process where the driver knows libraries
 * (CUDA 12), else a module per context. Nothing is ever unloaded: a context that
 * dies takes its functions along, and its id never comes back. No lock is held
 * while the driver compiles: two threads that meet in a new context may both load, and
 * one result is kept. Contexts come and go without our notice, so the oldest
 * entry makes room for a new one; should its context still live, it is loaded
 * again there. */
#include "kernels/load.h"

#include "base/log.h"
#include "base/mapped.h"

#include <stddef.h>

enum {
	CAPTURE_RELAXED = 2,    /* CU_STREAM_CAPTURE_MODE_RELAXED */
	SM_COUNT = 16           /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
};

static ac_cu_result
load_library(const struct ac_kernels_module *module,
    const struct ac_driver *driver, struct ac_kernels *k)
{
	_Atomic(ac_cu_library) *shared = &module->table->library;
	ac_cu_library library = atomic_load(shared), none = NULL;
	ac_cu_result failed = 0;
	ac_cu_kernel kernel;

	if (!library) {
		failed = driver->cuLibraryLoadData(&library, module->text, NULL,
		    NULL, 0, NULL, NULL, 0);
		if (failed)
			return failed;
		if (!atomic_compare_exchange_strong(shared, &none, library))
			library = none; /* another thread's; ours idles */
	}
	for (int i = 0; i < module->count && !failed; i++) {
		failed = driver->cuLibraryGetKernel(&kernel, library,
		    module->names[i]);
		if (!failed)
			failed = driver->cuKernelGetFunction(&k->function[i],
			    kernel);
	}
	return failed;
}

static ac_cu_result
load_module(const struct ac_kernels_module *module,
    const struct ac_driver *driver, struct ac_kernels *k)
{
	ac_cu_module loaded;
	ac_cu_result failed = driver->cuModuleLoadData(&loaded, module->text);

	for (int i = 0; i < module->count && !failed; i++)
		failed = driver->cuModuleGetFunction(&k->function[i], loaded,
		    module->names[i]);
	return failed;
}

static ac_cu_result
load(const struct ac_kernels_module *module, const struct ac_driver *driver,
    struct ac_kernels *k)
{
	enum { NOT_FOUND = 500 };
	ac_cu_result failed;
	int device;

	failed = driver->cuCtxGetDevice(&device);
	if (!failed)
		failed = driver->cuDeviceGetAttribute(&k->sm_count, SM_COUNT,
		    device);
	if (failed)
		return failed;
	if (driver->cuLibraryLoadData && driver->cuLibraryGetKernel
	    && driver->cuKernelGetFunction)
		return load_library(module, driver, k);
	if (driver->cuModuleLoadData && driver->cuModuleGetFunction)
		return load_module(module, driver, k);
	return NOT_FOUND;
}

/* Loading is not allowed to a thread that captures, except in relaxed mode;
 * the thread's own mode comes back whatever happened. */
static void
load_relaxed(const struct ac_kernels_module *module,
    const struct ac_driver *driver, struct ac_kernels *k)
{
	int mode = CAPTURE_RELAXED;
	ac_cu_result failed = driver->cuThreadExchangeStreamCaptureMode(&mode);

	if (!failed) {
		failed = load(module, driver, k);
		(void)driver->cuThreadExchangeStreamCaptureMode(&mode);
	}
	k->status = failed ? AC_KERNELS_NO_MODULE : AC_KERNELS_OK;
	if (failed)
		ac_log(AC_LOG_INFO, "the CUDA driver did not take our kernels "
		    "(error %d): %s in this context", failed,
		    module->refused);
}

static const struct ac_kernels *
look_up(const struct ac_kernels_table *table, ac_cu_context context,
    uint64_t id)
{
	for (int i = 0; i < AC_KERNELS_CONTEXTS; i++) {
		const struct ac_kernels *k = atomic_load_explicit(
		    &table->entry[i], memory_order_acquire);

		if (!k)
			break;
		if (k->context == context && k->id == id)
			return k;
	}
	return NULL;
}

/* Keep `k` unless another thread was first. NULL if there is no memory. */
static const struct ac_kernels *
add(struct ac_kernels_table *table, const struct ac_kernels *k)
{
	const struct ac_kernels *kept;
	struct ac_kernels *copy;

	ac_lock_take(&table->adding);
	kept = look_up(table, k->context, k->id);
	copy = kept ? NULL : ac_mapped_take(sizeof *copy);
	if (copy) {
		*copy = *k;
		kept = copy;
		atomic_store_explicit(&table->entry[table->added++
		    % AC_KERNELS_CONTEXTS], copy, memory_order_release);
	}
	ac_lock_give(&table->adding);
	return kept;
}

static const struct ac_kernels *
load_and_add(const struct ac_kernels_module *module,
    const struct ac_driver *driver, ac_cu_context context, uint64_t id)
{
	struct ac_kernels fresh = {
		.driver = driver, .context = context, .id = id
	};

	load_relaxed(module, driver, &fresh);
	return fresh.status && module->asks_again ? NULL
	    : add(module->table, &fresh);
}

enum ac_kernels_status
ac_kernels_find(const struct ac_kernels_module *module,
    const struct ac_driver *driver, ac_cu_context context, uint64_t id,
    const struct ac_kernels **kernels_out)
{
	const struct ac_kernels *found = look_up(module->table, context, id);

	if (!found)
		found = load_and_add(module, driver, context, id);
	if (!found || found->status)
		return AC_KERNELS_NO_MODULE;
	*kernels_out = found;
	return AC_KERNELS_OK;
}

enum ac_kernels_status
ac_kernels_get(const struct ac_kernels_module *module,
    const struct ac_kernels **kernels_out)
{
	const struct ac_driver *driver = ac_driver_get();
	unsigned long long id = 0;
	ac_cu_context context;

	if (!driver)
		return AC_KERNELS_NO_DRIVER;
	if (driver->cuCtxGetCurrent(&context) || !context
	    || (driver->cuCtxGetId && driver->cuCtxGetId(context, &id)))
		return AC_KERNELS_NO_CONTEXT;
	return ac_kernels_find(module, driver, context, id, kernels_out);
}
