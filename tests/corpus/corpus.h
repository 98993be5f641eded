/* SPDX-License-Identifier: Apache-2.0 */
/* tests/corpus/corpus.h -- the guard corpus: random products from fifteen
 * families of data, what each rung makes of them, and what the guard says.
 *
 * A seed is a case, the same on every machine but for the last bits of libm.
 * Everything here works on the memory it is given: safe in many threads. */
#ifndef TESTS_CORPUS_CORPUS_H
#define TESTS_CORPUS_CORPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "policy/guard.h"

enum {
	CORPUS_SIDE = 128,   /* C is this by this */
	CORPUS_K_MIN = 64,
	CORPUS_K_MAX = 2048,
	CORPUS_FAMILIES = 15
};

/* ---- families.c: the data */

extern const char *const corpus_families[CORPUS_FAMILIES];

/* C = A B as cuBLAS has it: column-major, nothing transposed, no gaps. */
struct corpus_case {
	uint64_t seed;
	int      family;
	int64_t  k;
	float   *a, *b;      /* SIDE x k, k x SIDE */
};

/* `roomy`: 2 * SIDE * K_MAX doubles to draw in. Fills the case of `seed`; its
 * a and b point to SIDE * K_MAX floats each. */
void corpus_draw(uint64_t seed, double *roomy, struct corpus_case *c);

/* ---- product.c: what comes out */

/* SIDE x SIDE, column-major; `k` columns of a, rows of b. Sums in blocks. */
void corpus_product_double(const float *a, const float *b, int64_t k,
    double *wide, double *c_out); /* wide: 2 * SIDE * K_MAX doubles */
void corpus_product_float(const float *a, const float *b, int64_t k,
    float *c_out);

struct corpus_error {
	double norm;         /* Frobenius norm of the error over the truth's */
	double line;         /* worst row or column, likewise; empty ones not */
};
struct corpus_error corpus_error(const float *c, const double *truth);

/* ---- trial.c: one case on one rung */

struct corpus_rung {
	const char *name;
	double tol;          /* beyond it, the product is bad */
	double line_tol;     /* beyond it, a row or column of it is bad */
	bool   cast;         /* else by the library's compute type: tf32 */
	enum ac_format format;
	bool   scaled;
	int    calls;        /* 2: judged at the second call of the site, whose
	                      * exponents are predicted */
};

/* What a thread works in; trial_room_free() takes NULL. */
struct trial_room;
struct trial_room *trial_room_new(void);
void trial_room_free(struct trial_room *room);

/* The product as `rung` makes it, and what the guard gets to know. */
struct ac_guard_facts corpus_trial(const struct corpus_case *c,
    const struct corpus_rung *rung, struct trial_room *room,
    float *product_out);

#endif
