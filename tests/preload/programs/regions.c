/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/regions.c -- one product, at one place, in whatever
 * regions the words open: regions WORD...
 *   push=NAME,ENABLED,RUNG,CACHE   RUNG - is none, its commas are plus signs
 *   pop
 *   mul       a product; prints a hash of its bits
 *   look      the same twice, by an address that dlsym() tells
 *   thread    the same in a thread that is started for it
 *   many=N    four products in each of N regions
 *   both=A,B  two threads at once, each opening and closing its own, disabled
 *             and not, and multiplying; prints a hash for each
 * A word that fails prints its status. */
#include "client.h"

#include "include/autocast.h"

#include <dlfcn.h>
#include <pthread.h>

enum { SIZE = 96, ROUNDS = 30 };

static float *a, *b;
static __typeof__(&cublasSgemm_v2) sgemm = cublasSgemm_v2;

/* The place. */
static __attribute__((noinline)) uint64_t
multiply(cublasHandle_t handle)
{
	float *host = client_allocate(SIZE * SIZE, sizeof *host);
	float *c = client_device(host, SIZE * SIZE);
	uint64_t hash;

	BLAS(sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, SIZE, SIZE,
	    &one, a, SIZE, b, SIZE, &zero, c, SIZE));
	client_host(host, c, SIZE * SIZE);
	hash = client_hash(0, host, SIZE * SIZE * sizeof *host);
	CUDA(cudaFree(c));
	free(host);
	return hash;
}

static uint64_t
multiply_once(void)
{
	cublasHandle_t handle;
	uint64_t hash;

	BLAS(cublasCreate(&handle));
	hash = multiply(handle);
	BLAS(cublasDestroy(handle));
	return hash;
}

static void *
multiply_there(void *hash_out)
{
	*(uint64_t *)hash_out = multiply_once();
	return NULL;
}

static int
push(char *words)
{
	char *name = strsep(&words, ","), *enabled = strsep(&words, ",");
	char *rung = words;

	for (char *c = rung; c && *c; c++)
		if (*c == '+')
			*c = ',';
	return (int)autocast_region_push(name, enabled ? atoi(enabled) : 1,
	    rung && strcmp(rung, "-") ? rung : NULL);
}

/* ---- Two at once ------------------------------------------------------- */

struct worker {
	const char *name;
	int enabled;
	uint64_t hash;
};

static void *
work(void *argument)
{
	struct worker *w = argument;
	cublasHandle_t handle;

	BLAS(cublasCreate(&handle));
	for (int i = 0; i < ROUNDS; i++) {
		client_expect(!autocast_region_push(w->name, w->enabled, NULL),
		    "a region opens");
		w->hash = multiply(handle);
		client_expect(!autocast_region_pop(), "and closes");
	}
	BLAS(cublasDestroy(handle));
	return NULL;
}

static void
work_both(char *names)
{
	struct worker worker[2] = { { strsep(&names, ","), 0, 0 },
		{ names, 1, 0 } };
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		client_expect(!pthread_create(&thread[i], NULL, work,
		    &worker[i]), "a thread starts");
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%016" PRIx64 "\n%016" PRIx64 "\n", worker[0].hash,
	    worker[1].hash);
}

/* ---- Words ------------------------------------------------------------- */

/* In the library itself, which is loaded already. */
static void
look_up_and_multiply(void)
{
	void *library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_NOLOAD);

	client_expect(library, "libcublas.so.13 is loaded");
	*(void **)&sgemm = dlsym(library, "cublasSgemm_v2");
	client_expect(sgemm, "it has a product");
	for (int i = 0; i < 2; i++)
		printf("%016" PRIx64 "\n", multiply_once());
	sgemm = cublasSgemm_v2;
	dlclose(library);
}

static void
multiply_in_many(int count)
{
	cublasHandle_t handle;
	char name[16];

	BLAS(cublasCreate(&handle));
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof name, "r%d", i);
		client_expect(!autocast_region_push(name, 1, NULL),
		    "a region opens");
		for (int j = 0; j < 4; j++)
			multiply(handle);
		client_expect(!autocast_region_pop(), "and closes");
	}
	BLAS(cublasDestroy(handle));
}

static void
multiply_in_thread(void)
{
	pthread_t thread;
	uint64_t hash = 0;

	client_expect(!pthread_create(&thread, NULL, multiply_there, &hash),
	    "a thread starts");
	pthread_join(thread, NULL);
	printf("%016" PRIx64 "\n", hash);
}

int
main(int argc, char **argv)
{
	a = client_random_device(SIZE * SIZE, 1, 1);
	b = client_random_device(SIZE * SIZE, 1, 2);
	for (int i = 1; i < argc; i++) {
		char *word = argv[i];
		int status = 0;

		if (!strncmp(word, "push=", 5))
			status = push(word + 5);
		else if (!strcmp(word, "pop"))
			status = (int)autocast_region_pop();
		else if (!strcmp(word, "mul"))
			printf("%016" PRIx64 "\n", multiply_once());
		else if (!strcmp(word, "look"))
			look_up_and_multiply();
		else if (!strcmp(word, "thread"))
			multiply_in_thread();
		else if (!strncmp(word, "many=", 5))
			multiply_in_many(atoi(word + 5));
		else if (!strncmp(word, "both=", 5))
			work_both(word + 5);
		else
			return EXIT_USAGE;
		if (status)
			printf("status %d\n", status);
	}
	return EXIT_SUCCESS;
}
