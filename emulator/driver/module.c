/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/module.c -- libraries of kernels, and which contexts they are
 * loaded into. The text of one whose kernels all have twins is not read but for
 * its entries; any other is parsed when it is loaded, and once more for each
 * further context: each has the variables for itself. */
#include "emulator/driver/module.h"
#include "emulator/driver/capture.h"
#include "emulator/driver/memory.h"
#include "emulator/driver/wait.h"

#include "base/env.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUlib_st *libraries;

/* A context, by its id, that has a function loaded. */
struct emu_loaded {
	uint64_t           context;
	struct emu_loaded *next;
};

/* A library's text in one context. */
struct emu_instance {
	uint64_t              context; /* its id; 0: nobody's yet */
	struct ptx_module    *ptx;
	struct ptx_function **functions; /* by the number of the kernel */
	struct emu_instance  *next;
};

/* ---- One instance -------------------------------------------------------- */

/* The variables are device memory: copies and kernels of all modules reach
 * them. */
static void
enter_variables(const struct emu_instance *instance, struct CUctx_st *context)
{
	struct emu_allocation new = { .kind = EMU_MEMORY_DEVICE,
		.context = context, .variable = true };
	void *at;

	for (size_t i = 0; ptx_module_variable_at(instance->ptx, i, &at,
	    &new.bytes); i++) {
		new.base = at;
		if (new.bytes)
			(void)emu_table_enter(&new);
	}
}

static void
drop_variables(const struct emu_instance *instance)
{
	size_t bytes;
	void *at;

	for (size_t i = 0; ptx_module_variable_at(instance->ptx, i, &at,
	    &bytes); i++)
		emu_table_forget(at);
}

static struct emu_instance *
add_instance(struct CUlib_st *library, struct ptx_module *ptx)
{
	struct emu_instance *new = calloc(1, sizeof *new);

	if (new)
		new->functions = calloc(library->kernel_count + 1,
		    sizeof *new->functions);
	if (!new || !new->functions)
		emu_out_of_host_memory();
	new->ptx = ptx;
	for (struct CUkern_st *k = library->kernels; k; k = k->next)
		new->functions[k->number] = ptx_module_kernel(ptx, k->name);
	new->next = library->instances;
	library->instances = new;
	return new;
}

/* The one of the current context. It parsed before. Lock held. */
static struct emu_instance *
instance_here(struct CUlib_st *library)
{
	struct CUctx_st *const context = emu_context_current();
	const uint64_t id = emu_context_id(context);
	struct emu_instance *i = library->instances;
	char message[256];

	if (!library->text || !id)
		return NULL;
	while (i && i->context && i->context != id)
		i = i->next;
	if (!i) {
		struct ptx_module *const ptx = ptx_module_load(library->text,
		    strlen(library->text), message, sizeof message);

		if (!ptx)
			emu_out_of_host_memory();
		i = add_instance(library, ptx);
	}
	if (!i->context) {
		i->context = id;
		enter_variables(i, context);
	}
	return i;
}

struct ptx_function *
emu_kernel_text(struct CUkern_st *kernel)
{
	struct emu_instance *instance;

	pthread_mutex_lock(&lock);
	instance = instance_here(kernel->library);
	pthread_mutex_unlock(&lock);
	return instance ? instance->functions[kernel->number] : NULL;
}

int
emu_library_variable(struct CUlib_st *library, const char *name,
    void **address_out, size_t *bytes_out)
{
	struct emu_instance *instance;
	void *at = NULL;

	if (!library || !name ||
	    atomic_load(&library->mark) != EMU_MARK_LIBRARY)
		return EMU_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	instance = instance_here(library);
	if (instance)
		at = ptx_module_variable(instance->ptx, name, bytes_out);
	pthread_mutex_unlock(&lock);
	if (!at)
		return EMU_NOT_FOUND;
	*address_out = at;
	return EMU_OK;
}

/* ---- Load and unload ----------------------------------------------------- */

static void
free_kernels(struct CUlib_st *library)
{
	while (library->kernels) {
		struct CUkern_st *next = library->kernels->next;
		struct emu_loaded *l = library->kernels->all_loaded, *more;

		for (; l; l = more) {
			more = l->next;
			free(l);
		}
		free(library->kernels->name);
		free(library->kernels->sizes);
		free(library->kernels->offsets);
		free(library->kernels);
		library->kernels = next;
	}
	library->kernel_count = 0;
}

static void
forget(struct CUlib_st *library)
{
	free_kernels(library);
	while (library->instances) {
		struct emu_instance *i = library->instances;

		library->instances = i->next;
		ptx_module_free(i->ptx);
		free(i->functions);
		free(i);
	}
	free(library->text);
	free(library);
}

/* Whether twins run all that a quick look at the text finds. */
static bool
has_twins(const char *text, struct CUlib_st *library)
{
	if (!strcmp(ac_env(AC_ENV_EMU_KERNELS), "ptx") ||
	    !emu_entries_scan(text, library))
		return false;
	for (const struct CUkern_st *k = library->kernels; k; k = k->next)
		if (!emu_twin_is_there(k->name))
			return false;
	return true;
}

/* Takes `text`. */
static int
read_text(char *text, struct CUlib_st *library, struct emu_refusal *refusal)
{
	struct ptx_function *f;
	struct ptx_module *ptx;
	char message[256];

	library->capability = emu_entries_target(text);
	if (has_twins(text, library)) {
		free(text);
		return EMU_OK;
	}
	free_kernels(library);
	library->text = text;
	ptx = ptx_module_load(text, strlen(text), message, sizeof message);
	if (!ptx) {
		snprintf(refusal->text, sizeof refusal->text, "the PTX: %s",
		    message);
		return EMU_INVALID_PTX;
	}
	for (size_t i = 0; (f = ptx_module_kernel_at(ptx, i)); i++) {
		const char *const name = ptx_kernel_name(f);
		struct CUkern_st *const k = emu_entries_add(library, name,
		    strlen(name));

		for (size_t n = 0; n < ptx_kernel_parameters(f); n++)
			emu_entries_size(k, ptx_kernel_parameter_bytes(f, n),
			    ptx_kernel_parameter_align(f, n));
	}
	(void)add_instance(library, ptx);
	return EMU_OK;
}

int
emu_library_load(const void *code, struct CUlib_st **library_out,
    struct emu_refusal *refusal)
{
	const struct emu_model *m = emu_device_model(emu_context_device());
	struct CUlib_st *library;
	char *text;
	int status = (int)emu_image_text(code, SIZE_MAX, (unsigned)(m->major *
	    10 + m->minor), &text, refusal);

	if (status)
		return status;
	library = calloc(1, sizeof *library);
	if (!library)
		emu_out_of_host_memory();
	status = read_text(text, library, refusal);
	if (status) {
		forget(library);
		return status;
	}
	atomic_store(&library->mark, EMU_MARK_LIBRARY);
	pthread_mutex_lock(&lock);
	library->next = libraries;
	libraries = library;
	pthread_mutex_unlock(&lock);
	*library_out = library;
	return EMU_OK;
}

int
emu_module_load(const void *code, struct CUlib_st **library_out,
    struct emu_refusal *refusal_out)
{
	int status = emu_capture_forbid();

	refusal_out->text[0] = '\0';
	if (status)
		return status;
	emu_capture_count(EMU_loads_in_capture);
	if (!code)
		return EMU_INVALID_VALUE;
	status = emu_library_load(code, library_out, refusal_out);
	if (status)
		emu_complain("%s", refusal_out->text);
	return status;
}

int
emu_library_kernel(struct CUlib_st *library, const char *name,
    struct CUkern_st **kernel_out)
{
	if (!library || !name ||
	    atomic_load(&library->mark) != EMU_MARK_LIBRARY)
		return EMU_INVALID_HANDLE;
	for (struct CUkern_st *k = library->kernels; k; k = k->next)
		if (!strcmp(k->name, name)) {
			*kernel_out = k;
			return EMU_OK;
		}
	return EMU_NOT_FOUND;
}

/* Whether it is loaded already; the caller holds the lock. */
static bool
is_loaded(const struct CUkern_st *function, uint64_t context)
{
	const struct emu_loaded *l = function->all_loaded;

	while (l && l->context != context)
		l = l->next;
	return l != NULL;
}

static void
set_loaded(struct CUkern_st *function, uint64_t context)
{
	struct emu_loaded *loaded = malloc(sizeof *loaded);

	if (!loaded)
		emu_out_of_host_memory();
	loaded->context = context;
	loaded->next = function->all_loaded;
	function->all_loaded = loaded;
}

/* Counted and failed on demand as if it were a call: AUTOCAST_EMU_FAIL has its
 * name. It may lack memory, whatever the module took. */
static int
load(void)
{
	static const struct emu_family family = { EMU_OUT_OF_MEMORY,
		EMU_DEINITIALIZED };
	static struct emu_call this_call = { .name = "functionLoad" };
	const char *const caller = emu_call_current();
	const int status = emu_call_enter(&this_call, &family);

	emu_call_name(caller);
	return status;
}

int
emu_function_load(struct CUkern_st *function)
{
	const uint64_t context = emu_context_id(emu_context_current());
	int status;

	if (atomic_load(&function->loaded) == context)
		return EMU_OK;
	pthread_mutex_lock(&lock);
	if (!is_loaded(function, context)) {
		pthread_mutex_unlock(&lock);
		status = emu_capture_forbid();
		if (!status)
			status = load();
		if (status)
			return status;
		emu_capture_count(EMU_loads_in_capture);
		pthread_mutex_lock(&lock);
		if (!is_loaded(function, context))
			set_loaded(function, context);
	}
	pthread_mutex_unlock(&lock);
	atomic_store(&function->loaded, context);
	return EMU_OK;
}

/* Queued launches need nothing of a library but its parsed text, which stays
 * until the end. A kernel that is unloaded keeps its memory, without its mark:
 * a stale handle is found. */
int
emu_library_unload(struct CUlib_st *library)
{
	const int status = emu_capture_forbid();

	if (status)
		return status;
	if (!library || atomic_load(&library->mark) != EMU_MARK_LIBRARY)
		return EMU_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	atomic_store(&library->mark, 0);
	for (struct CUkern_st *k = library->kernels; k; k = k->next)
		atomic_store(&k->mark, 0);
	for (struct emu_instance *i = library->instances; i; i = i->next)
		drop_variables(i);
	free(library->text);
	library->text = NULL;
	pthread_mutex_unlock(&lock);
	return EMU_OK;
}

void
emu_libraries_release(void)
{
	while (libraries) {
		struct CUlib_st *next = libraries->next;

		forget(libraries);
		libraries = next;
	}
}
