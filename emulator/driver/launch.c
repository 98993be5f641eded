/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/launch.c -- launches: keeps the arguments of one until its
 * turn, and runs it: the CPU twin of the kernel's name, or, with
 * AUTOCAST_EMU_KERNELS=ptx, its text, checked. */
#include "emulator/driver/launch.h"

#include "emulator/driver/capture.h"
#include "emulator/driver/memory.h"
#include "emulator/driver/module.h"
#include "emulator/driver/wait.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum {
	PARAMETER_ALIGNMENT = 16,
	SLACK = 8,      /* more: other threads may allocate meanwhile */
	FILL = 1        /* the seed for unwritten memory */
};

/* Followed by `count` pointers, the sizes of their targets, and the targets;
 * then the `regions` of memory that existed when the launch was queued. A task
 * must be copyable: the pointers are set when it runs. */
struct launch_task {
	emu_twin_run run;
	struct ptx_function *ptx;       /* or NULL */
	struct ac_twin_launch launch;
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

/* Errors that would end the context on a GPU, and errors that go unnoticed
 * there by luck: both fail. Each line of `said` is one finding. */
static _Noreturn void
end_program(char *said)
{
	char *next;

	for (char *line = strtok_r(said, "\n", &next); line;
	    line = strtok_r(NULL, "\n", &next))
		ac_log(AC_LOG_ERROR, "emulated GPU: kernel %s", line);
	abort();
}

static void
interpret(struct launch_task *task, const struct ptx_region *regions)
{
	struct ptx_options options = { .check = true, .region = regions,
		.region_count = task->regions, .fill = FILL };
	struct ptx_result result = {0};
	uint64_t findings = 0;
	char *said = NULL;
	size_t bytes = 0;
	bool good;

	options.report = open_memstream(&said, &bytes);
	if (!options.report)
		emu_out_of_host_memory();
	good = ptx_launch(task->ptx, task->launch.grid, task->launch.block,
	    task->shared, task->params, &options, &result);
	fclose(options.report);
	for (int i = 0; i < PTX_FINDINGS; i++)
		findings += result.findings[i];
	if (findings || !good)
		end_program(said);
	free(said);
	ac_log(AC_LOG_DEBUG, "emulated GPU: kernel %s: %llu instructions of "
	    "warps", ptx_kernel_name(task->ptx),
	    (unsigned long long)result.instructions);
	emu_clock_move(EMU_MEMORY, result.bytes);
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
	ac_twin_bytes_here = 0;
	task->run(&task->launch, task->params);
	emu_clock_move(EMU_MEMORY, ac_twin_bytes_here);
}

/* `regions`: room for that many. */
static struct launch_task *
make_task(emu_twin_run run, const size_t *sizes, size_t count,
    const struct emu_launch *l, size_t regions)
{
	struct launch_task *task;
	size_t bytes = head_bytes(count);
	struct ptx_region *at;

	for (size_t i = 0; i < count; i++)
		bytes += padded(sizes[i]);
	task = emu_task_new(run_kernel, bytes + regions *
	    sizeof(struct ptx_region));
	if (!task)
		return NULL;
	task->run = run;
	task->ptx = l->ptx;
	task->shared = l->shared;
	memcpy(task->launch.grid, l->grid, sizeof l->grid);
	memcpy(task->launch.block, l->block, sizeof l->block);
	task->count = count;
	memcpy(sizes_of(task), sizes, count * sizeof *sizes);
	at = point(task);
	for (size_t i = 0; i < count; i++)
		memcpy(task->params[i], l->params[i], sizes[i]);
	task->regions = regions ? emu_table_regions(at, regions) : 0;
	/* Those that other threads add meanwhile do not matter. */
	if (task->regions > regions)
		task->regions = regions;
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

int
emu_kernel_launch(const struct emu_launch *launch, struct CUstream_st *handle)
{
	const struct emu_twin *twin = launch->ptx ? NULL :
	    emu_twin_registered(launch->name);
	const emu_twin_run run = twin ? twin->run :
	    emu_twin_built_in(launch->name);
	const size_t *sizes = twin ? twin->sizes : launch->sizes;
	const uint64_t threads = (uint64_t)launch->block[0] *
	    launch->block[1] * launch->block[2];
	struct CUstream_st *stream;
	struct launch_task *task;
	int status;

	if ((!run && !launch->ptx) || !sizes) {
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
	    launch, launch->ptx ? emu_table_regions(NULL, 0) + SLACK : 0);
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
