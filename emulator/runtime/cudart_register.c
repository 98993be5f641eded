/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_register.c -- what nvcc's generated code registers:
 * fat binaries, and the kernels and variables in them. Registration runs in
 * constructors and needs nothing but memory; device code is read when a launch
 * or a copy first needs it. */
#include "emulator/runtime/cudart_register.h"

#include <pthread.h>
#include <stdlib.h>

/* A kernel or a variable: what the host calls it, and the device. Names belong
 * to the module, like the stubs. */
struct registered {
	const void    *host;
	const char    *name;
	struct module *module;
	struct registered *next;
};

/* What a handle of __cudaRegisterFatBinary() points to. */
struct module {
	void            *unused;
	const void      *image;
	bool             is_read;
	struct CUlib_st *library;  /* once it was read; NULL: refused */
	int              status;
	uint64_t         context;  /* its managed variables are there; or 0 */
	struct emu_refusal refusal;
	struct module   *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered *kernels, *variables;
static struct registered *managed; /* `host`: where the host's pointer is */
static struct module *modules;

#pragma GCC visibility push(default)
void **__cudaRegisterFatBinary(void *fat_binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device,
    const char *name, int thread_limit, uint3 *thread, uint3 *block,
    dim3 *block_size, dim3 *grid_size, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *address,
    const char *name, int external, size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *address,
    const char *name, int external, size_t size, int constant, int global);
#pragma GCC visibility pop

void **
__cudaRegisterFatBinary(void *fat_binary)
{
	struct module *new = calloc(1, sizeof *new);

	if (!new)
		return NULL;
	new->image = fat_binary;
	pthread_mutex_lock(&lock);
	new->next = modules;
	modules = new;
	pthread_mutex_unlock(&lock);
	return &new->unused;
}

void
__cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* Lock held. */
static void
drop_symbols(struct registered **link, const struct module *module)
{
	while (*link) {
		struct registered *s = *link;

		if (s->module != module) {
			link = &s->next;
			continue;
		}
		*link = s->next;
		free(s);
	}
}

/* After the end of the library the list and the handle are gone. */
void
__cudaUnregisterFatBinary(void **handle)
{
	struct module **link = &modules, *module;

	pthread_mutex_lock(&lock);
	while (*link && &(*link)->unused != handle)
		link = &(*link)->next;
	module = *link;
	if (module) {
		drop_symbols(&kernels, module);
		drop_symbols(&variables, module);
		drop_symbols(&managed, module);
		*link = module->next;
	}
	pthread_mutex_unlock(&lock);
	if (module && module->library)
		(void)emu_library_unload(module->library);
	free(module);
}

static void
add(struct registered **list, void **handle, const void *host, const char *name)
{
	struct registered *new = malloc(sizeof *new);

	if (!new)
		return;
	pthread_mutex_lock(&lock);
	*new = (struct registered){ host, name, (struct module *)(void *)handle,
	    *list };
	*list = new;
	pthread_mutex_unlock(&lock);
}

void
__cudaRegisterFunction(void **handle, const char *host, char *device,
    const char *name, int thread_limit, uint3 *thread, uint3 *block,
    dim3 *block_size, dim3 *grid_size, int *warp_size)
{
	(void)device;
	(void)thread_limit;
	(void)thread;
	(void)block;
	(void)block_size;
	(void)grid_size;
	(void)warp_size;
	add(&kernels, handle, host, name);
}

void
__cudaRegisterVar(void **handle, char *host, char *address, const char *name,
    int external, size_t size, int constant, int global)
{
	(void)address;
	(void)external;
	(void)size;
	(void)constant;
	(void)global;
	add(&variables, handle, host, name);
}

void
__cudaRegisterManagedVar(void **handle, void **host, char *address,
    const char *name, int external, size_t size, int constant, int global)
{
	(void)address;
	(void)external;
	(void)size;
	(void)constant;
	(void)global;
	add(&managed, handle, host, name);
}

/* ---- what is registered ------------------------------------------------- */

/* Lock held. */
static const struct registered *
find(const struct registered *list, const void *host)
{
	while (list && list->host != host)
		list = list->next;
	return list;
}

/* Read the device code of a module, once. Lock held. */
static int
read_module(struct module *m)
{
	if (!m->is_read) {
		m->is_read = true;
		m->status = emu_library_load(m->image, &m->library,
		    &m->refusal);
	}
	return m->status;
}

/* nvcc's code calls it before the host first uses a managed variable, and has
 * the pointers to them set. */
char
__cudaInitModule(void **handle)
{
	struct module *const m = (struct module *)(void *)handle;
	size_t bytes;
	void *at;

	if (emu_device_enter())
		return 0;
	pthread_mutex_lock(&lock);
	for (struct registered *r = managed; r; r = r->next)
		if (r->module == m && !read_module(m) &&
		    !emu_library_variable(m->library, r->name, &at, &bytes)) {
			*(void **)(uintptr_t)r->host = at;
			m->context = emu_context_id(emu_context_current());
		}
	pthread_mutex_unlock(&lock);
	return 1;
}

/* The host's pointers are to the variables of one context. Lock held. */
static int
check_managed(const struct module *m)
{
	if (!m->context || m->context == emu_context_id(emu_context_current()))
		return cudaSuccess;
	emu_complain("a module with __managed__ variables is used on one "
	    "device only here");
	return cudaErrorNotSupported;
}

const char *
emu_registered_name(const void *host)
{
	const struct registered *s;

	pthread_mutex_lock(&lock);
	s = find(kernels, host);
	pthread_mutex_unlock(&lock);
	if (!s)
		emu_complain("no kernel was registered for %p", host);
	return s ? s->name : NULL;
}

int
emu_registered_kernel(const void *host, struct CUkern_st **kernel_out)
{
	const char *const name = emu_registered_name(host);
	const struct registered *s;
	int status = cudaErrorInvalidDeviceFunction;

	*kernel_out = NULL;
	if (!name)
		return status;
	pthread_mutex_lock(&lock);
	s = find(kernels, host);
	if (s)
		status = read_module(s->module);
	if (s && !status)
		status = check_managed(s->module);
	if (s && !status && emu_library_kernel(s->module->library, name,
	    kernel_out))
		status = cudaErrorInvalidDeviceFunction;
	pthread_mutex_unlock(&lock);
	if (!status || emu_twin_is_there(name))
		return cudaSuccess;
	emu_complain("kernel %s: %s", name, s && *s->module->refusal.text ?
	    s->module->refusal.text : "the program's PTX does not have it");
	return status;
}

int
emu_registered_variable(const void *host, void **address_out,
    size_t *bytes_out)
{
	const struct registered *s;
	int status = cudaErrorInvalidSymbol;

	pthread_mutex_lock(&lock);
	s = find(variables, host);
	if (s)
		status = read_module(s->module);
	if (s && !status && emu_library_variable(s->module->library, s->name,
	    address_out, bytes_out))
		status = cudaErrorInvalidSymbol;
	pthread_mutex_unlock(&lock);
	if (!s)
		emu_complain("no variable was registered for %p", host);
	else if (status)
		emu_complain("variable %s: %s", s->name,
		    *s->module->refusal.text ? s->module->refusal.text :
		    "the program's PTX does not have it");
	return status;
}

__attribute__((destructor))
static void
release(void)
{
	while (modules)
		__cudaUnregisterFatBinary(&modules->unused);
}
