/* SPDX-License-Identifier: Apache-2.0 */
/* bench/loop.c -- see loop.h. The loops do as little as they can besides the
 * calls: sizes come from a table, since a division costs as much as a call. */
#include "loop.h"

#include <dlfcn.h>
#include <stdint.h>

#define BENCH __attribute__((visibility("default")))

static const float one = 1;

/* Device memory that nobody reads, far enough apart to be three matrices. */
#define DEVICE(i) ((float *)((uintptr_t)(i) << 40))

#define CALL(function, size) \
	(function)(step->handle, CUBLAS_OP_N, CUBLAS_OP_T, (size), 64, 64, \
	    &one, DEVICE(1), (size), DEVICE(2), 64, &one, DEVICE(3), (size))

static int sizes[BENCH_SIZES];

static __attribute__((constructor)) void
fill(void)
{
	/* Mixed, as sizes are: neither in order nor each in a line of its
	 * own. */
	for (unsigned i = 0; i < BENCH_SIZES; i++)
		sizes[i] = 64 + (int)(i * 389 % BENCH_SIZES) * 8;
}

BENCH int
bench_products(const struct bench_step *step)
{
	const unsigned mask = step->shapes - 1;
	int failed = 0;

	if (step->found)
		for (long i = 0; i < step->count; i++)
			failed |= (int)CALL(step->found,
			    sizes[(unsigned)i & mask]);
	else
		for (long i = 0; i < step->count; i++)
			failed |= (int)CALL(cublasSgemm_v2,
			    sizes[(unsigned)i & mask]);
	return failed;
}

BENCH int
bench_news(const struct bench_step *step)
{
	static int last = 100000;
	int failed = 0;

	for (long i = 0; i < step->count; i++, last++)
		failed |= (int)CALL(cublasSgemm_v2, last);
	return failed;
}

BENCH int
bench_wides(const struct bench_step *step)
{
#if CUBLAS_VERSION >= 120000
	int failed = 0;

	for (long i = 0; i < step->count; i++)
		failed |= (int)CALL(cublasSgemm_v2_64, INT64_C(1) << 33);
	return failed;
#else
	(void)step;
	return 1; /* no size of it is that wide */
#endif
}

/* ---- Places ------------------------------------------------------------ */

#define EIGHT(ROW, n) ROW(n##0) ROW(n##1) ROW(n##2) ROW(n##3) \
	ROW(n##4) ROW(n##5) ROW(n##6) ROW(n##7)
#define SIXTY_FOUR(ROW, n) EIGHT(ROW, n##0) EIGHT(ROW, n##1) EIGHT(ROW, n##2) \
	EIGHT(ROW, n##3) EIGHT(ROW, n##4) EIGHT(ROW, n##5) EIGHT(ROW, n##6) \
	EIGHT(ROW, n##7)
#define ALL(ROW) SIXTY_FOUR(ROW, 1) SIXTY_FOUR(ROW, 2) SIXTY_FOUR(ROW, 3)

/* A size of its own each, or the compiler makes them one. */
#define PLACE(n) \
static int \
place_##n(const struct bench_step *step) \
{ \
	return (int)CALL(cublasSgemm_v2, 20000 + n); \
}
ALL(PLACE)

BENCH int
bench_sites(const struct bench_step *step)
{
#define ROW(n) place_##n,
	static bench_loop *const places[BENCH_SITES] = { ALL(ROW) };
	static unsigned next;
	int failed = 0;

	for (long i = 0; i < step->count; i++)
		failed |= next >= BENCH_SITES || places[next++](step);
	return failed;
}

/* ---- Looking up -------------------------------------------------------- */

BENCH int
bench_dlsyms(const struct bench_step *step)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	int failed = 0;

	for (long i = 0; i < step->count; i++)
		failed |= !dlsym(libc, "strtol");
	return failed;
}

BENCH int
bench_defaults(const struct bench_step *step)
{
	int failed = 0;

	for (long i = 0; i < step->count; i++)
		failed |= !dlsym(RTLD_DEFAULT, "strtol");
	return failed;
}
