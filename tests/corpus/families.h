/* SPDX-License-Identifier: Apache-2.0 */
/* tests/corpus/families.h -- random products from fifteen families of data, and
 * what comes out of them. Knows nothing of the product: clients of cuBLAS draw
 * from here as well.
 *
 * A seed is a case, the same on every machine but for the last bits of libm.
 * Everything here works on the memory it is given: safe in many threads. */
#ifndef TESTS_CORPUS_FAMILIES_H
#define TESTS_CORPUS_FAMILIES_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
