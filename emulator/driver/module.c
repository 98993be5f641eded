/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/module.c -- kernels: what a PTX text declares. Reads entry
 * names and the sizes of their parameters, which say how much of a launch's
 * arguments to keep; with AUTOCAST_EMU_KERNELS=ptx it parses the whole text. */
#include "emulator/driver/module.h"
#include "emulator/driver/capture.h"
#include "emulator/driver/wait.h"

#include "base/env.h"
#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUlib_st *libraries;

static const char *
skip_space(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

static size_t
word_length(const char *s)
{
	return strcspn(s, " \t\r\n(),[];{");
}

/* Bytes of a fundamental type such as .u64: its trailing number over eight. */
static size_t
type_bytes(const char *type, size_t length)
{
	size_t digits = length;
	double bits = 0;

	while (digits && type[digits - 1] >= '0' && type[digits - 1] <= '9')
		digits--;
	ac_text_number(type + digits, length - digits, &bits);
	return (size_t)bits / 8;
}

/* One declaration, up to `end`: .param [.align N] .TYPE NAME [COUNT]. */
static size_t
parameter_bytes(const char *s, const char *end)
{
	double count = 1;
	size_t bytes = 0;

	while ((s = skip_space(s)) < end) {
		const size_t length = word_length(s);

		if (*s == '[')
			ac_text_number(s + 1, (size_t)(end - s - 1), &count);
		else if (length >= 2 && *s == '.' && strncmp(s, ".param", 6) &&
		    strncmp(s, ".align", 6) && strncmp(s, ".ptr", 4) &&
		    !bytes)
			bytes = type_bytes(s, length);
		s += length ? length : 1;
	}
	return bytes * (size_t)count;
}

/* The entry whose name starts at `s`; false: the text is not valid. */
static bool
parse_entry(const char *s, struct CUkern_st *kernel)
{
	const size_t length = word_length(s);
	const char *end;

	if (!length || length >= sizeof kernel->name)
		return false;
	memcpy(kernel->name, s, length);
	s = skip_space(s + length);
	if (*s != '(')
		return true; /* no parameters */
	for (s++; *s && *s != ')'; s = *end == ',' ? end + 1 : end) {
		end = s + strcspn(s, ",)");
		if (end == s + strspn(s, " \t\r\n"))
			continue;
		if (kernel->count == EMU_KERNEL_PARAMETERS)
			return false;
		kernel->sizes[kernel->count++] = parameter_bytes(s, end);
	}
	return *s == ')';
}

/* A context, by its id, that has a function loaded. */
struct emu_loaded {
	uint64_t           context;
	struct emu_loaded *next;
};

static void
free_library(struct CUlib_st *library)
{
	while (library->kernels) {
		struct CUkern_st *next = library->kernels->next;
		struct emu_loaded *l = library->kernels->all_loaded, *more;

		for (; l; l = more) {
			more = l->next;
			free(l);
		}
		free(library->kernels);
		library->kernels = next;
	}
}

static bool
parse(const char *s, struct CUlib_st *library)
{
	while ((s = strstr(s, ".entry"))) {
		struct CUkern_st *kernel = calloc(1, sizeof *kernel);

		if (!kernel)
			emu_out_of_host_memory();
		s = skip_space(s + strlen(".entry"));
		atomic_store(&kernel->mark, EMU_MARK_KERNEL);
		kernel->library = library;
		kernel->next = library->kernels;
		library->kernels = kernel;
		if (!parse_entry(s, kernel))
			return false;
	}
	return library->kernels != NULL;
}

static void
forget(struct CUlib_st *library)
{
	free_library(library);
	if (library->ptx)
		ptx_module_free(library->ptx);
	free(library);
}

/* Parse the text for the interpreter. */
static bool
read_whole(const char *text, struct CUlib_st *library)
{
	char message[256];

	if (strcmp(ac_env(AC_ENV_EMU_KERNELS), "ptx"))
		return true;
	library->ptx = ptx_module_load(text, strlen(text), message,
	    sizeof message);
	if (!library->ptx) {
		emu_complain("the PTX: %s", message);
		return false;
	}
	for (struct CUkern_st *k = library->kernels; k; k = k->next)
		k->ptx = ptx_module_kernel(library->ptx, k->name);
	return true;
}

int
emu_library_load(const void *code, struct CUlib_st **library_out)
{
	struct CUlib_st *library;
	const int status = emu_capture_forbid();

	if (status)
		return status;
	emu_capture_count(EMU_loads_in_capture);
	if (!code)
		return EMU_INVALID_VALUE;
	if (memcmp(code, "//", 2) && memcmp(code, ".version", 8))
		return EMU_INVALID_IMAGE;
	library = calloc(1, sizeof *library);
	if (!library)
		emu_out_of_host_memory();
	if (!parse(code, library)) {
		forget(library);
		emu_complain("the PTX declares no kernel we can read");
		return EMU_INVALID_IMAGE;
	}
	if (!read_whole(code, library)) {
		forget(library);
		return EMU_INVALID_IMAGE;
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
emu_library_kernel(struct CUlib_st *library, const char *name,
    struct CUkern_st **kernel_out)
{
	if (!library || !name ||
	    atomic_load(&library->mark) != EMU_MARK_LIBRARY)
		return EMU_INVALID_HANDLE;
	for (struct CUkern_st *k = library->kernels; k; k = k->next)
		if (!strcmp(k->name, name)) {
			if (!k->ptx && !emu_twin_registered(name) &&
			    !emu_twin_built_in(name)) {
				emu_complain("kernel %s has no CPU twin",
				    name);
				return EMU_NOT_FOUND;
			}
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
 * until the end. */
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
	free_library(library);
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
