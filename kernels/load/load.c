/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load/load.c -- brings a module into each context that uses it: as
 * machine code where there is some for the GPU, else as PTX.
 *
 * The driver compiles and loads a function when it is first needed, unless told
 * to do so before (CUDA_MODULE_LOADING is LAZY from CUDA 12.2 on). That first
 * launch could wait for the context, could break a capture, and a refusal would
 * come too late: so every function is loaded here, at once.
 *
 * One library of a module for the process where the driver knows libraries
 * (CUDA 12), else a module per context. Nothing is ever unloaded: a context
 * that dies takes its functions along, and its id never comes back. No lock is
 * held while the driver compiles: two threads that meet in a new context may
 * both load, and one result is kept. Contexts come and go without our notice,
 * so the oldest entry makes room for a new one; should its context still live,
 * it is loaded again there. */
#include "kernels/load/image.h"
#include "kernels/load/load.h"

#include "base/log.h"
#include "base/mapped.h"
#include "base/text.h"

#include <stddef.h>
#include <string.h>

#define SPACES " \t\r\n"

enum {
	OUT_OF_MEMORY = 2,      /* CUDA_ERROR_OUT_OF_MEMORY */
	NOT_FOUND = 500,        /* CUDA_ERROR_NOT_FOUND */
	CAPTURE_RELAXED = 2,    /* CU_STREAM_CAPTURE_MODE_RELAXED */
	SM_COUNT = 16,          /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */
	AFFINITY_SM_COUNT = 0,  /* CU_EXEC_AFFINITY_TYPE_SM_COUNT */
	RESOURCE_SM = 1,        /* CU_DEV_RESOURCE_TYPE_SM */
	NUM_REGS = 4,           /* CU_FUNC_ATTRIBUTE_NUM_REGS */
	JIT_LOG = 5,            /* CU_JIT_ERROR_LOG_BUFFER */
	JIT_LOG_BYTES = 6       /* CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES */
};

/* What the driver is told about one compilation. */
struct jit {
	int   options[2];
	void *values[2];
	char  log[960];
};

/* Never given back: the driver may compile, and write here, at any later time.
 * NULL without memory; the reason for a refusal then remains unknown. */
static struct jit *
make_jit(struct ac_kernels_table *table)
{
	struct jit *jit = ac_mapped_take(sizeof *jit);

	if (!jit)
		return NULL;
	jit->options[0] = JIT_LOG;
	jit->values[0] = jit->log;
	jit->options[1] = JIT_LOG_BYTES;
	jit->values[1] = (void *)(uintptr_t)(sizeof jit->log - 1);
	atomic_store(&table->log, jit->log);
	return jit;
}

static ac_cu_result
load_library(const struct ac_kernels_module *module, enum ac_kernels_form form,
    const void *code, const struct ac_driver *driver, struct ac_kernels *k)
{
	_Atomic(ac_cu_library) *shared = &module->table->library[form];
	ac_cu_library library = atomic_load(shared), none = NULL;
	ac_cu_result failed = 0;
	ac_cu_kernel kernel;

	if (!library) {
		struct jit *jit = make_jit(module->table);

		failed = driver->cuLibraryLoadData(&library, code,
		    jit ? jit->options : NULL, jit ? jit->values : NULL,
		    jit ? 2 : 0, NULL, NULL, 0);
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
load_module(const struct ac_kernels_module *module, const void *code,
    const struct ac_driver *driver, struct ac_kernels *k)
{
	struct jit *jit = make_jit(module->table);
	ac_cu_module loaded;
	ac_cu_result failed = driver->cuModuleLoadDataEx(&loaded, code,
	    jit ? 2 : 0, jit ? jit->options : NULL, jit ? jit->values : NULL);

	for (int i = 0; i < module->count && !failed; i++)
		failed = driver->cuModuleGetFunction(&k->function[i], loaded,
		    module->names[i]);
	return failed;
}

/* Before 12.4 there is no call for it, but asking for an attribute loads. */
static ac_cu_result
load_now(const struct ac_driver *driver, ac_cu_function function)
{
	int unused;

	if (driver->cuFuncLoad)
		return driver->cuFuncLoad(function);
	return driver->cuFuncGetAttribute
	    ? driver->cuFuncGetAttribute(&unused, NUM_REGS, function) : 0;
}

/* Those of the device, or the part of them that the context was given: under
 * MPS, or as a green context. */
static ac_cu_result
count_sms(const struct ac_driver *driver, struct ac_kernels *k)
{
	struct ac_cu_affinity affinity = { .type = AFFINITY_SM_COUNT };
	struct ac_cu_resource resource = { .type = RESOURCE_SM };
	ac_cu_result failed;
	int device;

	failed = driver->cuCtxGetDevice(&device);
	if (!failed)
		failed = driver->cuDeviceGetAttribute(&k->sm_count, SM_COUNT,
		    device);
	if (failed)
		return failed;
	if (driver->cuCtxGetExecAffinity && !driver->cuCtxGetExecAffinity(
	    &affinity, AFFINITY_SM_COUNT) && affinity.sm_count > 0
	    && affinity.sm_count < (unsigned)k->sm_count)
		k->sm_count = (int)affinity.sm_count;
	if (driver->cuCtxGetDevResource && !driver->cuCtxGetDevResource(
	    k->context, &resource, RESOURCE_SM) && resource.sm_count > 0
	    && resource.sm_count < (unsigned)k->sm_count)
		k->sm_count = (int)resource.sm_count;
	return 0;
}

static ac_cu_result
load_code(const struct ac_kernels_module *module, enum ac_kernels_form form,
    const void *code, const struct ac_driver *driver, struct ac_kernels *k)
{
	ac_cu_result failed;

	if (driver->cuLibraryLoadData && driver->cuLibraryGetKernel
	    && driver->cuKernelGetFunction)
		failed = load_library(module, form, code, driver, k);
	else if (driver->cuModuleLoadDataEx && driver->cuModuleGetFunction)
		failed = load_module(module, code, driver, k);
	else
		failed = NOT_FOUND;
	for (int i = 0; i < module->count && !failed; i++)
		failed = load_now(driver, k->function[i]);
	return failed;
}

/* What was read is the driver's own by then. */
static ac_cu_result
load_image(const struct ac_kernels_module *module,
    const struct ac_driver *driver, struct ac_kernels *k)
{
	struct ac_image image = { NULL, 0 };
	ac_cu_result failed;

	if (!atomic_load(&module->table->library[AC_KERNELS_IMAGE])
	    && !ac_image_open(module->image, &module->packed, &image))
		return NOT_FOUND;
	failed = load_code(module, AC_KERNELS_IMAGE, image.data, driver, k);
	ac_image_close(&image);
	return failed;
}

static ac_cu_result
load_text(const struct ac_kernels_module *module,
    const struct ac_driver *driver, struct ac_kernels *k)
{
	struct ac_unpacked unpacked = { NULL, 0 };
	ac_cu_result failed;

	if (!atomic_load(&module->table->library[AC_KERNELS_TEXT])
	    && !ac_packed_open(&module->packed, &unpacked))
		return OUT_OF_MEMORY;
	failed = load_code(module, AC_KERNELS_TEXT, unpacked.text, driver, k);
	ac_packed_close(&unpacked);
	return failed;
}

/* Machine code may be of a newer CUDA than the driver, or for other GPUs; the
 * PTX is taken then. */
static ac_cu_result
load(const struct ac_kernels_module *module, const struct ac_driver *driver,
    struct ac_kernels *k)
{
	ac_cu_result failed = count_sms(driver, k);

	if (!failed && module->image && !load_image(module, driver, k))
		return 0;
	return failed ? failed : load_text(module, driver, k);
}

/* What the compiler said comes in several lines; here it is one. */
static void
say_refused(const struct ac_kernels_module *module, ac_cu_result failed)
{
	const char *log = atomic_load(&module->table->log);
	struct ac_text why = AC_TEXT_OF(400);

	for (log = log ? log : ""; *log; log += strcspn(log, SPACES)) {
		log += strspn(log, SPACES);
		if (*log)
			ac_text_add(&why, why.used ? " " : ": ");
		ac_text_add_bytes(&why, log, strcspn(log, SPACES));
	}
	ac_log(AC_LOG_INFO, "the CUDA driver did not take our kernels (error "
	    "%d%s): %s in this context", failed, why.data, module->refused);
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
		say_refused(module, failed);
}

const struct ac_kernels *
ac_kernels_known(const struct ac_kernels_module *module, ac_cu_context context,
    uint64_t id)
{
	for (int i = 0; i < AC_KERNELS_CONTEXTS; i++) {
		const struct ac_kernels *k = atomic_load_explicit(
		    &module->table->entry[i], memory_order_acquire);

		if (!k)
			break;
		if (k->context == context && k->id == id)
			return k;
	}
	return NULL;
}

/* Keep `k` unless another thread was first. NULL if there is no memory. */
static const struct ac_kernels *
add(const struct ac_kernels_module *module, const struct ac_kernels *k)
{
	struct ac_kernels_table *table = module->table;
	const struct ac_kernels *kept;
	struct ac_kernels *copy;

	ac_lock_take(&table->adding);
	kept = ac_kernels_known(module, k->context, k->id);
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
	    : add(module, &fresh);
}

enum ac_kernels_status
ac_kernels_find(const struct ac_kernels_module *module,
    const struct ac_driver *driver, ac_cu_context context, uint64_t id,
    const struct ac_kernels **kernels_out)
{
	const struct ac_kernels *found = ac_kernels_known(module, context, id);

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
	struct ac_cu_current now;

	if (!driver)
		return AC_KERNELS_NO_DRIVER;
	if (!ac_driver_current(driver, &now))
		return AC_KERNELS_NO_CONTEXT;
	return ac_kernels_find(module, driver, now.context, now.id,
	    kernels_out);
}
