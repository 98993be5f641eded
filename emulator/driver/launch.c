/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/launch.c -- launches: keeps the arguments of one until its
 * turn, and runs it: a CPU twin of the kernel's name, or its text. */
#include "emulator/driver/launch.h"

#include "emulator/driver/capture.h"
#include "emulator/driver/device.h"
#include "emulator/driver/findings.h"
#include "emulator/driver/memory.h"
#include "emulator/driver/module.h"
#include "emulator/driver/print.h"
#include "emulator/driver/wait.h"

#include "base/env.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum {
	PARAMETER_ALIGNMENT = 16,
	SLACK = 8,      /* more: other threads may allocate meanwhile */
	FILL = 1,       /* the seed for unwritten memory */
	SHARED_STATIC = 48 * 1024, /* of a block: no PTX may declare more */
	/* Checks make kernels slower by this, so fewer instructions are as
	 * long. */
	CHECKS_COST = 16,
	/* A launch in which all only wait is endless for sure, unless the host
	 * or another stream writes what they read: there are seconds for it. */
	WAITS_END = 32,
	/* A lone thread runs them in one second: 4e9 are no less than ten. */
	WAITS_MILLISECOND = 400000
};

/* Followed by `count` pointers, the sizes of their targets, and the targets;
 * then the `regions` of memory that existed when the launch was queued. A task
 * must be copyable: the pointers are set when it runs. */
struct launch_task {
	const struct emu_twin *twin;    /* or NULL */
	struct ptx_function *ptx;       /* or NULL */
	const char *call;               /* that queued it */
	struct emu_twin_launch launch;
	bool cooperative;
	size_t shared, regions, count;
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

/* Returns where the regions are. */
static struct ptx_region *
point(struct launch_task *task)
{
	unsigned char *at = (unsigned char *)task + head_bytes(task->count);

	for (size_t i = 0; i < task->count; i++) {
		task->params[i] = at;
		at += padded(sizes_of(task)[i]);
	}
	return (struct ptx_region *)(void *)at;
}

static void
bound(struct ptx_options *options)
{
	const uint64_t endless = emu_device_endless();

	options->spin_limit = !endless ? UINT64_MAX : options->check ?
	    endless / CHECKS_COST + 1 : endless;
	/* Checks make no wait slower: the host has as long as without. */
	options->idle_limit = endless ? endless / WAITS_END + 1 : 0;
	options->idle_milliseconds = endless / WAITS_MILLISECOND;
}

static void
interpret(struct launch_task *task, const struct ptx_region *regions)
{
	const struct emu_model *m = emu_device_model(emu_context_device());
	struct ptx_options options = { .check = emu_findings_wanted(),
		.bounds = true, .region = regions,
		.region_count = task->regions,
		.cooperative = task->cooperative, .print = emu_print,
		.threads = emu_device_threads(),
		.capability = m->major * 10 + m->minor };
	struct ptx_result result = {0};
	char *said = NULL;
	size_t bytes = 0;

	if (options.check)
		options.fill = FILL;
	bound(&options);
	options.report = open_memstream(&said, &bytes);
	if (!options.report)
		emu_out_of_host_memory();
	(void)ptx_launch(task->ptx, task->launch.grid, task->launch.block,
	    task->shared, task->params, &options, &result);
	fclose(options.report);
	emu_call_name(task->call);
	emu_findings_say(said, &result);
	free(said);
	ac_log(AC_LOG_DEBUG, "emulated GPU: kernel %s: %llu instructions of "
	    "warps", ptx_kernel_name(task->ptx),
	    (unsigned long long)result.instructions);
	emu_clock_move(EMU_MEMORY, result.bytes);
}

/* What the twin that runs on this thread has moved so far, and computed. */
static _Thread_local struct {
	double bytes, operations;
} moved;

void
emuTwinMoved(uint64_t read, uint64_t written, double operations)
{
	emu_count(EMU_kernel_bytes_read, read);
	emu_count(EMU_kernel_bytes_written, written);
	moved.bytes += (double)(read + written);
	moved.operations += operations;
}

static void
run_twin(struct launch_task *task)
{
	const struct emu_twin_row *twin = &task->twin->row;
	const int status = EMU_TSAN || !twin->check ? EMU_OK
	    : twin->check(task->params);

	if (status) {
		emu_device_poison(status);
		return;
	}
	moved.bytes = moved.operations = 0;
	twin->run(&task->launch, task->params);
	if (twin->idle > 0)
		emu_clock_idle(twin->idle);
	emu_clock_compute(EMU_FP32, moved.operations,
	    (uint64_t)(twin->bytes * moved.bytes));
}

static void
run_kernel(void *arguments)
{
	struct launch_task *task = arguments;
	const struct ptx_region *regions = point(task);

	if (task->ptx) {
		interpret(task, regions);
		return;
	}
	emu_call_name(task->call);
	run_twin(task);
}

/* Up to the regions. */
static size_t
bytes_of(const size_t *sizes, size_t count)
{
	size_t bytes = head_bytes(count);

	for (size_t i = 0; i < count; i++)
		bytes += padded(sizes[i]);
	return bytes;
}

static size_t
regions_wanted(const struct ptx_function *ptx)
{
	return ptx ? emu_table_regions(NULL, 0) + SLACK : 0;
}

/* Those that other threads add meanwhile do not matter. */
static void
set_regions(struct launch_task *task, size_t room)
{
	struct ptx_region *const at = point(task);

	task->regions = room ? emu_table_regions(at, room) : 0;
	if (task->regions > room)
		task->regions = room;
}

/* A graph may be launched when there is other memory than when it was
 * captured. */
static void *
copy_launch(const void *arguments)
{
	struct launch_task *task = (void *)(uintptr_t)arguments;
	const size_t room = regions_wanted(task->ptx);

	task = emu_task_resize(arguments, bytes_of(sizes_of(task),
	    task->count) + room * sizeof(struct ptx_region));
	set_regions(task, room);
	return task;
}

/* What runs: one of these. */
struct runner {
	const struct emu_twin *twin;
	struct ptx_function *ptx;
	const size_t *sizes;
	size_t count;
};

static struct launch_task *
make_task(const struct runner *r, const struct emu_launch *l)
{
	const size_t room = regions_wanted(r->ptx);
	struct launch_task *task = emu_task_new(run_kernel, bytes_of(r->sizes,
	    r->count) + room * sizeof(struct ptx_region));

	if (!task)
		return NULL;
	emu_task_copy_by(task, copy_launch);
	task->twin = r->twin;
	task->ptx = r->ptx;
	task->call = emu_call_current();
	task->shared = l->shared;
	task->cooperative = l->cooperative;
	memcpy(task->launch.grid, l->grid, sizeof l->grid);
	memcpy(task->launch.block, l->block, sizeof l->block);
	task->count = r->count;
	if (r->count)
		memcpy(sizes_of(task), r->sizes, r->count * sizeof *r->sizes);
	(void)point(task);
	for (size_t i = 0; i < r->count; i++)
		memcpy(task->params[i], l->params[i], r->sizes[i]);
	set_regions(task, room);
	return task;
}

/* Find any word of the arguments that is an address in another device's memory;
 * numbers that only look like one are too rare to matter. */
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

/* A twin that somebody registered, or the text; false, after a complaint: none.
 * With AUTOCAST_EMU_KERNELS=ptx the text comes first. */
static bool
choose(const struct emu_launch *l, struct runner *r)
{
	const bool text_first = !strcmp(ac_env(AC_ENV_EMU_KERNELS), "ptx");
	struct CUkern_st *const k = l->kernel;

	*r = (struct runner){ .ptx = k && text_first ? emu_kernel_text(k) :
	    NULL };
	if (!r->ptx)
		r->twin = emu_twin_find(l->name);
	if (r->twin && r->twin->has_sizes) {
		r->sizes = r->twin->sizes;
		r->count = r->twin->count;
		return true;
	}
	if (k && !r->ptx && !r->twin)
		r->ptx = emu_kernel_text(k);
	if (k && (r->ptx || r->twin)) {
		r->sizes = k->sizes;
		r->count = k->count;
		return true;
	}
	emu_complain("kernel %s has neither PTX nor a CPU twin; register one "
	    "from a library that AUTOCAST_EMU_TWINS names", l->name);
	return false;
}

/* What a GPU would not launch. */
static int
check_shape(const struct emu_launch *l, const struct runner *r)
{
	const uint64_t threads = (uint64_t)l->block[0] * l->block[1] *
	    l->block[2];
	struct emu_kernel_facts facts;
	int status, blocks = 0;

	if (!threads || threads > 1024 || l->block[2] > 64 || !l->grid[0] ||
	    !l->grid[1] || !l->grid[2] || l->grid[0] > INT32_MAX ||
	    l->grid[1] > UINT16_MAX || l->grid[2] > UINT16_MAX)
		return EMU_INVALID_VALUE;
	if (!r->ptx)
		return EMU_OK;
	status = emu_kernel_facts(l->kernel, &facts);
	if (status)
		return status;
	if (threads > facts.threads) {
		emu_complain("kernel %s: %llu threads in a block; it was built "
		    "for %u at most", l->name, (unsigned long long)threads,
		    facts.threads);
		return EMU_OUT_OF_RESOURCES;
	}
	if (facts.shared > SHARED_STATIC) {
		emu_complain("kernel %s: %zu bytes of static shared memory; a "
		    "GPU has %d for that (more is dynamic: "
		    "cudaFuncSetAttribute)", l->name, facts.shared,
		    SHARED_STATIC);
		return EMU_OUT_OF_RESOURCES;
	}
	if (l->shared > facts.dynamic) {
		emu_complain("kernel %s: %zu bytes of dynamic shared memory; "
		    "it may have %zu (cudaFuncSetAttribute allows more, as far "
		    "as the GPU has it)", l->name, l->shared, facts.dynamic);
		return EMU_INVALID_VALUE;
	}
	if (!l->cooperative)
		return EMU_OK;
	status = emu_kernel_blocks(l->kernel, (unsigned)threads, l->shared,
	    &blocks);
	if (!status && (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] >
	    (uint64_t)blocks * (unsigned)emu_device_model(
	    emu_context_device())->multiprocessors)
		status = EMU_COOPERATIVE_TOO_LARGE;
	return status;
}

/* The runtime loads a kernel that was never launched, in a capture too.
 * Launches of the driver have it loaded by then. */
static int
load(struct CUkern_st *kernel)
{
	const unsigned mode = emu_capture_swap_mode(EMU_CAPTURE_RELAXED);
	const int status = kernel ? emu_function_load(kernel) : EMU_OK;

	emu_capture_swap_mode(mode);
	return status;
}

int
emu_kernel_launch(const struct emu_launch *launch, struct CUstream_st *handle)
{
	struct CUstream_st *stream;
	struct launch_task *task;
	struct runner runner;
	int status;

	if (!choose(launch, &runner))
		return EMU_INVALID_FUNCTION;
	status = check_shape(launch, &runner);
	if (!status)
		status = load(launch->kernel);
	if (!status)
		status = emu_stream_find_here(handle, &stream);
	if (status)
		return status;
	task = make_task(&runner, launch);
	if (!task)
		return EMU_OUT_OF_MEMORY;
	status = check_arguments(launch->name, task, runner.sizes);
	if (status) {
		emu_device_poison(status);
		emu_task_drop(task);
		return status;
	}
	emu_task_tally(task, EMU_launches, 1);
	emu_stream_submit(stream, task);
	return EMU_OK;
}
