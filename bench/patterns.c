/* SPDX-License-Identifier: Apache-2.0 */
/* bench/patterns.c -- other ways to interpose a function, for comparison: how
 * the next function is found and how it is decided what to do, and nothing
 * else. PATTERN chooses one:
 *   1  a getenv() and a dlsym(RTLD_NEXT) at every call
 *   2  a dlopen() of a rule library that need not be there, and a
 *      dlsym(RTLD_NEXT), at every call
 *   3  four getenv() at every call, the next function looked up once
 *   4  as 3, a fifth getenv(), and a state per handle: a map under one mutex,
 *      and a mutex of the state's own held over the call */
#include <cublas_api.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef __typeof__(&cublasSgemm_v2) product_fn;

static product_fn
look_up(void)
{
	return (product_fn)(uintptr_t)dlsym(RTLD_NEXT, "cublasSgemm_v2");
}

#if PATTERN >= 3
static product_fn
looked_up_once(void)
{
	static product_fn product;

	if (!product)
		product = look_up();
	return product;
}

static volatile int setting;

static void
read_settings(void)
{
	static const char *const names[] = { "BENCH_COUNT", "BENCH_FAST",
		"BENCH_SKIP_A", "BENCH_SKIP_B" };

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);

		setting = value ? atoi(value) : 0;
	}
}
#endif

#if PATTERN == 4
struct state {
	cublasHandle_t handle;
	pthread_mutex_t lock;
	struct state *next;
};

static struct state *
state_of(cublasHandle_t handle)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct state *table[64];
	struct state **bucket = &table[(uintptr_t)handle >> 4 & 63], *state;

	pthread_mutex_lock(&lock);
	for (state = *bucket; state && state->handle != handle;)
		state = state->next;
	if (!state) {
		state = calloc(1, sizeof *state);
		if (!state)
			abort();
		state->handle = handle;
		pthread_mutex_init(&state->lock, NULL);
		state->next = *bucket;
		*bucket = state;
	}
	pthread_mutex_unlock(&lock);
	return state;
}
#endif

cublasStatus_t
cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const float *alpha,
    const float *A, int lda, const float *B, int ldb, const float *beta,
    float *C, int ldc)
{
	cublasStatus_t status;
	product_fn product;

#if PATTERN == 1
	const char *disable = getenv("BENCH_DISABLE");
	static volatile int is_disabled;

	is_disabled = disable && strcmp(disable, "0") != 0;
	product = look_up();
#elif PATTERN == 2
	static volatile int has_rule;
	void *rules = dlopen("libbench_rules_absent.so", RTLD_NOW);

	has_rule = rules && dlsym(rules, "rule");
	product = look_up();
#else
	read_settings();
	product = looked_up_once();
#endif
#if PATTERN == 4
	setting = getenv("BENCH_BACKEND") != NULL;
	struct state *state = state_of(handle);

	pthread_mutex_lock(&state->lock);
#endif
	status = product ? product(handle, transa, transb, m, n, k, alpha, A,
	    lda, B, ldb, beta, C, ldc) : CUBLAS_STATUS_NOT_INITIALIZED;
#if PATTERN == 4
	pthread_mutex_unlock(&state->lock);
#endif
	return status;
}
