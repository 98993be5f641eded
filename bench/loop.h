/* SPDX-License-Identifier: Apache-2.0 */
/* bench/loop.h -- what is measured, apart from who measures it: a library of
 * its own, so that the caller can be put into another object. */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <cublas_api.h>

enum {
	BENCH_SITES = 192,   /* call sites that are called once each */
	BENCH_SIZES = 1024   /* shapes to choose from; a power of two */
};

struct bench_step {
	cublasHandle_t handle;
	/* Where dlsym() says the product is; NULL: as the loader bound it. */
	__typeof__(&cublasSgemm_v2) found;
	long count;          /* how often */
	unsigned shapes;     /* how many sizes in turn, a power of two */
};

/* `count` times one thing. Nonzero if an answer was no success. */
typedef int bench_loop(const struct bench_step *step);

bench_loop bench_products;  /* the same few sizes again and again */
bench_loop bench_news;      /* sizes that nobody saw before, from one place */
bench_loop bench_wides;     /* a size past 32 bits: decided at each call */
bench_loop bench_sites;     /* places that nobody saw before, one size each */
bench_loop bench_dlsyms;    /* dlsym() of a foreign name in its library */
bench_loop bench_defaults;  /* the same by RTLD_DEFAULT */

#endif
