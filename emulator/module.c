/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/module.c -- kernels: what a PTX text declares, and launching the CPU
 * twin of a name. PTX is read for entry names and parameter sizes only; the
 * sizes say how much of a launch's arguments must be kept. */
#include "emulator/module.h"
#include "emulator/capture.h"
#include "emulator/wait.h"

#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETER_ALIGNMENT = 16 };

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

/* The entry whose name starts at `s`; false if the text makes no sense. */
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
		free_library(library);
		free(library);
		emu_complain("the PTX declares no kernel we can read");
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
			if (!emu_twin_registered(name) &&
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

/* Whether it is there already; under the lock. */
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

/* Launches that are queued keep nothing of a library. */
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

		free_library(libraries);
		free(libraries);
		libraries = next;
	}
}

/* Followed by `count` pointers, the sizes of what they point to, and that. A
 * copy of a task is a task: the pointers are set when it runs. */
struct launch_task {
	emu_twin_run run;
	struct ac_twin_launch launch;
	size_t count;
	void *params[];
};

static size_t
padded(size_t bytes)
{
	return (bytes + PARAMETER_ALIGNMENT - 1) &
	    ~(size_t)(PARAMETER_ALIGNMENT - 1);
}

static size_t *
sizes_of(struct launch_task *task)
{
	return (size_t *)(void *)(task->params + task->count);
}

static size_t
head_bytes(size_t count)
{
	return padded(sizeof(struct launch_task) +
	    count * (sizeof(void *) + sizeof(size_t)));
}

static void
point(struct launch_task *task)
{
	unsigned char *at = (unsigned char *)task + head_bytes(task->count);

	for (size_t i = 0; i < task->count; i++) {
		task->params[i] = at;
		at += padded(sizes_of(task)[i]);
	}
}

static void
run_kernel(void *arguments)
{
	struct launch_task *task = arguments;

	point(task);
	ac_twin_bytes_here = 0;
	task->run(&task->launch, task->params);
	emu_clock_move(EMU_MEMORY, ac_twin_bytes_here);
}

static struct launch_task *
make_task(emu_twin_run run, const size_t *sizes, size_t count,
    const struct emu_launch *l)
{
	struct launch_task *task;
	size_t bytes = head_bytes(count);

	for (size_t i = 0; i < count; i++)
		bytes += padded(sizes[i]);
	task = emu_task_new(run_kernel, bytes);
	if (!task)
		return NULL;
	task->run = run;
	memcpy(task->launch.grid, l->grid, sizeof l->grid);
	memcpy(task->launch.block, l->block, sizeof l->block);
	task->count = count;
	memcpy(sizes_of(task), sizes, count * sizeof *sizes);
	point(task);
	for (size_t i = 0; i < count; i++)
		memcpy(task->params[i], l->params[i], sizes[i]);
	return task;
}

/* Any word of the arguments that is an address in another device's memory:
 * numbers that merely look like one are too rare to matter. */
static int
check_arguments(const char *name, const struct launch_task *task,
    const size_t *sizes)
{
	int status = EMU_OK;

	for (size_t i = 0; !status && i < task->count; i++)
		for (size_t at = 0; !status && at + sizeof(void *) <= sizes[i];
		    at += sizeof(void *)) {
			const void *word;

			memcpy(&word, (char *)task->params[i] + at,
			    sizeof word);
			status = emu_memory_check_reach(word, name);
		}
	return status;
}

int
emu_kernel_launch(const struct emu_launch *launch, struct CUstream_st *handle)
{
	const struct emu_twin *twin = emu_twin_registered(launch->name);
	const emu_twin_run run = twin ? twin->run :
	    emu_twin_built_in(launch->name);
	const size_t *sizes = twin ? twin->sizes : launch->sizes;
	const uint64_t threads = (uint64_t)launch->block[0] *
	    launch->block[1] * launch->block[2];
	struct CUstream_st *stream;
	struct launch_task *task;
	int status;

	if (!run || !sizes) {
		emu_complain("kernel %s has no CPU twin; register one from a "
		    "library that AUTOCAST_EMU_TWINS names", launch->name);
		return EMU_INVALID_FUNCTION;
	}
	if (!threads || threads > 1024 || !launch->grid[0] ||
	    !launch->grid[1] || !launch->grid[2])
		return EMU_INVALID_VALUE;
	status = emu_stream_find_here(handle, &stream);
	if (status)
		return status;
	task = make_task(run, sizes, twin ? twin->count : launch->count,
	    launch);
	if (!task)
		return EMU_OUT_OF_MEMORY;
	status = check_arguments(launch->name, task, sizes);
	if (status) {
		emu_device_poison(status);
		emu_task_drop(task);
		return status;
	}
	emu_task_tally(task, EMU_launches, 1);
	emu_stream_submit(stream, task);
	return EMU_OK;
}
