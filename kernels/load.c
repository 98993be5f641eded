/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load.c -- brings the embedded PTX into each context that recasts.
 *
 * One library for the process where the driver knows libraries (CUDA 12), else
 * a module per context. Nothing is ever unloaded: a context that dies takes its
 * functions along, and its id never comes back. No lock is held while the
 * driver compiles: two threads that meet in a new context may both load, and
 * one result is kept. Contexts come and go without our notice, so the oldest
 * entry makes room for a new one; should its context still live, it is loaded
 * again there. */
#include "kernels/load.h"

#include "base/lock.h"
#include "base/log.h"
#include "base/mapped.h"

#include <stdatomic.h>
#include <stddef.h>

extern const char ac_ptx[] __attribute__((visibility("hidden")));

enum {
	CONTEXTS = 64,          /* remembered at a time */
	CAPTURE_RELAXED = 2,    /* CU_STREAM_CAPTURE_MODE_RELAXED */
	SM_COUNT = 16           /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
};

static const char *const names[AC_KERNEL_COUNT] = {
	"ac_recast_cast", "ac_recast_settle", "ac_recast_finish",
	"ac_recast_write", "ac_recast_ranges", "ac_conv_check"
};

/* What is pointed to never changes and is never freed, so readers take no lock
 * and may keep it. */
static _Atomic(const struct ac_kernels *) table[CONTEXTS];
static unsigned added;          /* under the lock */
static struct ac_lock adding;

static ac_cu_result
load_library(const struct ac_driver *driver, struct ac_kernels *k)
{
	static _Atomic(ac_cu_library) shared;
	ac_cu_library library = atomic_load(&shared), none = NULL;
	ac_cu_result failed = 0;
	ac_cu_kernel kernel;

	if (!library) {
		failed = driver->cuLibraryLoadData(&library, ac_ptx, NULL, NULL,
		    0, NULL, NULL, 0);
		if (failed)
			return failed;
		if (!atomic_compare_exchange_strong(&shared, &none, library))
			library = none; /* another thread's; ours idles */
	}
	for (int i = 0; i < AC_KERNEL_COUNT && !failed; i++) {
		failed = driver->cuLibraryGetKernel(&kernel, library, names[i]);
		if (!failed)
			failed = driver->cuKernelGetFunction(&k->function[i],
			    kernel);
	}
	return failed;
}

static ac_cu_result
load_module(const struct ac_driver *driver, struct ac_kernels *k)
{
	ac_cu_module module;
	ac_cu_result failed = driver->cuModuleLoadData(&module, ac_ptx);

	for (int i = 0; i < AC_KERNEL_COUNT && !failed; i++)
		failed = driver->cuModuleGetFunction(&k->function[i], module,
		    names[i]);
	return failed;
}

static ac_cu_result
load(const struct ac_driver *driver, struct ac_kernels *k)
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
		return load_library(driver, k);
	if (driver->cuModuleLoadData && driver->cuModuleGetFunction)
		return load_module(driver, k);
	return NOT_FOUND;
}

/* Loading is not allowed to a thread that captures, except in relaxed mode;
 * the thread's own mode comes back whatever happened. */
static void
load_relaxed(const struct ac_driver *driver, struct ac_kernels *k)
{
	int mode = CAPTURE_RELAXED;
	ac_cu_result failed = driver->cuThreadExchangeStreamCaptureMode(&mode);

	if (!failed) {
		failed = load(driver, k);
		(void)driver->cuThreadExchangeStreamCaptureMode(&mode);
	}
	k->status = failed ? AC_KERNELS_NO_MODULE : AC_KERNELS_OK;
	if (failed)
		ac_log(AC_LOG_INFO, "the CUDA driver did not take the cast "
		    "kernels (error %d): no recast in this context", failed);
}

static const struct ac_kernels *
look_up(ac_cu_context context, unsigned long long id)
{
	for (int i = 0; i < CONTEXTS; i++) {
		const struct ac_kernels *k = atomic_load_explicit(&table[i],
		    memory_order_acquire);

		if (!k)
			break;
		if (k->context == context && k->id == id)
			return k;
	}
	return NULL;
}

/* Keep `k` unless another thread was first. NULL if there is no memory. */
static const struct ac_kernels *
add(const struct ac_kernels *k)
{
	const struct ac_kernels *kept;
	struct ac_kernels *copy;

	ac_lock_take(&adding);
	kept = look_up(k->context, k->id);
	copy = kept ? NULL : ac_mapped_take(sizeof *copy);
	if (copy) {
		*copy = *k;
		kept = copy;
		atomic_store_explicit(&table[added++ % CONTEXTS], copy,
		    memory_order_release);
	}
	ac_lock_give(&adding);
	return kept;
}

enum ac_kernels_status
ac_kernels_get(const struct ac_kernels **kernels_out)
{
	const struct ac_driver *driver = ac_driver_get();
	struct ac_kernels fresh = { .driver = driver };
	const struct ac_kernels *found;

	if (!driver)
		return AC_KERNELS_NO_DRIVER;
	if (driver->cuCtxGetCurrent(&fresh.context) || !fresh.context)
		return AC_KERNELS_NO_CONTEXT;
	if (driver->cuCtxGetId && driver->cuCtxGetId(fresh.context, &fresh.id))
		return AC_KERNELS_NO_CONTEXT;
	found = look_up(fresh.context, fresh.id);
	if (!found) {
		load_relaxed(driver, &fresh);
		found = add(&fresh);
	}
	if (!found || found->status)
		return AC_KERNELS_NO_MODULE;
	*kernels_out = found;
	return AC_KERNELS_OK;
}

enum ac_kernels_status
ac_kernels_load(void)
{
	const struct ac_kernels *kernels;

	return ac_kernels_get(&kernels);
}
