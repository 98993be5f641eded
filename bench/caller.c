/* SPDX-License-Identifier: Apache-2.0 */
/* bench/caller.c -- caller [-d] [-j THREADS] [-r REPEATS] {WHAT COUNT
 * SHAPES}...
 *
 * Does WHAT (a row below) COUNT times, of SHAPES sizes in turn. -d: by the
 * pointer that dlsym() answers. With -r it prints the best of REPEATS: the
 * picoseconds of processor time one of them took, on each of THREADS threads;
 * nothing if those never ran at the same time.
 * Without, it does COUNT of them and then twice COUNT, each in a call of
 * window(): callgrind writes what each of those cost, and their difference is
 * COUNT of them and nothing else (bench/measure.sh). */
#include "loop.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct row {
	const char *name;
	bench_loop *loop;
	bool        is_first;  /* measured without having been done before */
} rows[] = {
	{ "product", bench_products, false },
	{ "new",     bench_news,     true },
	{ "wide",    bench_wides,    false },
	{ "site",    bench_sites,    true },
	{ "dlsym",   bench_dlsyms,   false },
	{ "default", bench_defaults, false },
};

static __typeof__(&cublasSgemm_v2) found;
static int threads = 1, repeats;

static void
die(const char *why)
{
	fprintf(stderr, "caller: %s\n", why);
	exit(2);
}

int window(const struct row *row, const struct bench_step *step);

__attribute__((noinline)) int
window(const struct row *row, const struct bench_step *step)
{
	const int failed = row->loop(step);

	__asm__ volatile (""); /* no jump instead of a call and a return */
	return failed;
}

/* What is not to be measured: the first calls of the process and the thread. */
static int
warm_up(const struct row *row, const struct bench_step *step)
{
	struct bench_step warm = *step;

	warm.count = 2 * (long)warm.shapes;
	return row->is_first ? bench_products(&warm) : row->loop(&warm);
}

/* ---- Times ------------------------------------------------------------- */

static double
nanoseconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct task {
	const struct row *row;
	struct bench_step step;
	pthread_barrier_t *gate;
	double start, end;   /* by the clock */
	double used;         /* processor time in between */
};

static void *
perform(void *data)
{
	struct task *task = data;
	int failed = warm_up(task->row, &task->step);

	pthread_barrier_wait(task->gate);
	task->start = nanoseconds_of(CLOCK_MONOTONIC);
	task->used = -nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
	failed |= window(task->row, &task->step);
	task->used += nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
	task->end = nanoseconds_of(CLOCK_MONOTONIC);
	if (failed)
		die(task->row->name);
	return NULL;
}

/* Each on a core of its own, if there are as many. */
static void
set_apart(pthread_t *ids)
{
	cpu_set_t all, one;
	int core = -1;

	if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) < threads)
		return;
	for (int i = 0; i < threads; i++) {
		while (!CPU_ISSET(++core, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(core, &one);
		pthread_setaffinity_np(ids[i], sizeof one, &one);
	}
}

/* Whether all of them ran all the time: what they cost each other shows only
 * then. */
static bool
met(const struct task *tasks)
{
	double start = tasks[0].start, end = tasks[0].end;

	for (int i = 0; i < threads; i++) {
		if (tasks[i].used < 0.9 * (tasks[i].end - tasks[i].start))
			return false;
		start = tasks[i].start > start ? tasks[i].start : start;
		end = tasks[i].end < end ? tasks[i].end : end;
	}
	for (int i = 0; i < threads; i++)
		if (end - start < 0.8 * (tasks[i].end - tasks[i].start))
			return false;
	return true;
}

/* Once on every thread, each with a handle of its own; the mean of them, 0 if
 * they did not run together. */
static double
together(const struct row *row, const struct bench_step *step,
    const cublasHandle_t *handles)
{
	struct task tasks[16];
	pthread_t ids[16];
	pthread_barrier_t gate;
	double sum = 0;

	pthread_barrier_init(&gate, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		tasks[i] = (struct task){ row, *step, &gate, 0, 0, 0 };
		tasks[i].step.handle = handles[i];
		if (pthread_create(&ids[i], NULL, perform, &tasks[i]))
			die("no thread");
	}
	if (threads > 1)
		set_apart(ids);
	for (int i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		sum += tasks[i].used;
	}
	pthread_barrier_destroy(&gate);
	if (threads > 1 && !met(tasks))
		return 0;
	return sum / threads / (double)step->count;
}

/* ---- Steps ------------------------------------------------------------- */

static void
take_step(const struct row *row, struct bench_step *step,
    const cublasHandle_t *handles)
{
	double best = 0;

	for (int i = 0; i < repeats; i++) {
		const double one = together(row, step, handles);

		if (one > 0 && (!(best > 0) || one < best))
			best = one;
	}
	if (best > 0)
		printf("%.0f\n", 1000 * best);
	if (repeats)
		return;
	const long count = step->count;
	int failed;

	step->handle = handles[0];
	failed = warm_up(row, step) | window(row, step);
	step->count = 2 * count;
	if (failed | window(row, step))
		die(row->name);
}

static const struct row *
row_called(const char *name)
{
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	die(name);
	return NULL;
}

int
main(int argc, char **argv)
{
	cublasHandle_t handles[16];
	bool by_dlsym = false;
	int option;

	while ((option = getopt(argc, argv, "+dj:r:")) != -1)
		switch (option) {
		case 'd': by_dlsym = true; break;
		case 'j': threads = atoi(optarg); break;
		case 'r': repeats = atoi(optarg); break;
		default:  die("wrong option");
		}
	if (threads < 1 || threads > 16 || (argc - optind) % 3)
		die("wrong arguments");
	if (by_dlsym)
		found = (__typeof__(found))(uintptr_t)dlsym(
		    dlopen("libcublas.so.13", RTLD_NOW), "cublasSgemm_v2");
	for (int i = 0; i < threads; i++)
		if (cublasCreate_v2(&handles[i]) != CUBLAS_STATUS_SUCCESS)
			die("no handle");
	for (; optind < argc; optind += 3) {
		struct bench_step step = { NULL, found,
			atol(argv[optind + 1]),
			(unsigned)atoi(argv[optind + 2]) };

		take_step(row_called(argv[optind]), &step, handles);
	}
	for (int i = 0; i < threads; i++)
		cublasDestroy_v2(handles[i]);
	return 0;
}
