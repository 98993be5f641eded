/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/short_threads.c -- `short_threads THREADS CALLS
 * [ALIVE]`: each thread makes CALLS calls, and one from each of two of its
 * destructors, of which one runs before and one after the library's own. All
 * threads run at once, or ALIVE at a time. Then tells how much the process grew
 * after the first tenth: "mappings N, KiB N". */
#include <cublas_api.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 64 };

static cublasHandle_t handle;
static pthread_key_t early, late;
static pthread_barrier_t together;
static int calls;

static void
multiply(void)
{
	static float x[64];
	const float one = 1;

	if (cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, x,
	    8, x, 8, &one, x, 8) != CUBLAS_STATUS_SUCCESS)
		_exit(99);
}

static void
destroy(void *unused)
{
	(void)unused;
	multiply();
}

static void *
run(void *value)
{
	pthread_setspecific(early, value);
	pthread_setspecific(late, value);
	pthread_barrier_wait(&together);
	for (int i = 0; i < calls; i++)
		multiply();
	/* Every thread still lives, and has its share of everything. */
	pthread_barrier_wait(&together);
	return NULL;
}

static void
run_at_once(int count)
{
	pthread_t threads[MOST];

	if (pthread_barrier_init(&together, NULL, (unsigned)count))
		_exit(98);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run, &calls))
			_exit(97);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&together);
}

static long
mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	long lines = 0;
	int c;

	while (maps && (c = getc(maps)) != EOF)
		lines += c == '\n';
	if (maps)
		fclose(maps);
	return lines;
}

static long
resident_kib(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	long size, resident = 0;

	if (statm && fscanf(statm, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (statm)
		fclose(statm);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int
main(int argc, char **argv)
{
	const int threads = argc > 2 ? atoi(argv[1]) : 0;
	const int alive = argc > 3 ? atoi(argv[3]) : threads;
	long lines = 0, kib = 0;

	calls = argc > 2 ? atoi(argv[2]) : 0;
	if (alive < 1 || alive > MOST || threads % alive)
		return 96;
	if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS ||
	    pthread_key_create(&early, destroy))
		return 95;
	multiply();
	if (pthread_key_create(&late, destroy))
		return 94;
	for (int i = 0; i < threads / alive; i++) {
		run_at_once(alive);
		if (i == threads / alive / 10) {
			lines = mappings();
			kib = resident_kib();
		}
	}
	printf("mappings %ld, KiB %ld\n", mappings() - lines,
	    resident_kib() - kib);
	return 0;
}
