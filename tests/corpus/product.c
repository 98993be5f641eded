/* SPDX-License-Identifier: Apache-2.0 */
/* tests/corpus/product.c -- small products, in FP32 and FP64, and how far one
 * is from the other. No BLAS: the same sums on every machine. */
#include "tests/corpus/families.h"

#include <math.h>
#include <string.h>

enum {
	SIDE = CORPUS_SIDE,
	DEPTH = 128,         /* of a block: what a cache holds */
	ACROSS = 4           /* columns of C at once */
};

/* Two vectors of rows by ACROSS columns stay in registers over a block. */
#define PRODUCT(name, real, lanes)                                        \
typedef real name##_vector __attribute__((vector_size(16),             \
    aligned(4), may_alias));                                              \
									  \
static void                                                               \
name##_tile(const real *a, const real *b, int64_t k, int64_t depth,       \
    real *c)                                                              \
{                                                                         \
	name##_vector sum[ACROSS][2] = {{{0}}};                           \
									  \
	for (int64_t p = 0; p < depth; p++)                               \
		for (int j = 0; j < ACROSS; j++)                          \
			for (int v = 0; v < 2; v++)                       \
				sum[j][v] += b[p + j * k] *               \
				    *(const name##_vector *)(const void *)\
				    (a + p * SIDE + v * (lanes));         \
	for (int j = 0; j < ACROSS; j++)                                  \
		for (int i = 0; i < 2 * (lanes); i++)                     \
			c[i + j * SIDE] += sum[j][i / (lanes)]            \
			    [i % (lanes)];                                \
}                                                                         \
									  \
static void                                                               \
name(const real *a, const real *b, int64_t k, real *c)                    \
{                                                                         \
	memset(c, 0, SIDE * SIDE * sizeof *c);                            \
	for (int64_t p = 0; p < k; p += DEPTH)                            \
		for (int64_t j = 0; j < SIDE; j += ACROSS)                \
			for (int64_t i = 0; i < SIDE; i += 2 * (lanes))   \
				name##_tile(a + i + p * SIDE,             \
				    b + p + j * k, k,                     \
				    k - p < DEPTH ? k - p : DEPTH,        \
				    c + i + j * SIDE);                    \
}

PRODUCT(multiply_float, float, 4)
PRODUCT(multiply_double, double, 2)

void
corpus_product_float(const float *a, const float *b, int64_t k, float *c_out)
{
	multiply_float(a, b, k, c_out);
}

void
corpus_product_double(const float *a, const float *b, int64_t k,
    double *wide, double *c_out)
{
	for (int64_t i = 0; i < SIDE * k; i++) {
		wide[i] = (double)a[i];
		wide[SIDE * k + i] = (double)b[i];
	}
	multiply_double(wide, wide + SIDE * k, k, c_out);
}

struct sums {
	double wrong, size;
};

static void
add(struct sums *s, double wrong, double size)
{
	s->wrong += wrong * wrong;
	s->size += size * size;
}

/* The worse of `worst` and this line; a NaN is the worst. */
static double
worse(double worst, struct sums line)
{
	const double ratio = line.size > 0 ? sqrt(line.wrong / line.size) : 0;

	return isnan(worst) || ratio <= worst ? worst : ratio;
}

struct corpus_error
corpus_error(const float *c, const double *truth)
{
	struct sums all = { 0, 0 }, row[SIDE] = {{ 0, 0 }};
	struct corpus_error e = { 0, 0 };

	for (int j = 0; j < SIDE; j++) {
		struct sums column = { 0, 0 };
		for (int i = 0; i < SIDE; i++) {
			const double wanted = truth[i + j * SIDE];
			const double wrong = (double)c[i + j * SIDE] - wanted;
			add(&all, wrong, wanted);
			add(&row[i], wrong, wanted);
			add(&column, wrong, wanted);
		}
		e.line = worse(e.line, column);
	}
	for (int i = 0; i < SIDE; i++)
		e.line = worse(e.line, row[i]);
	e.norm = all.size > 0 ? sqrt(all.wrong / all.size) : sqrt(all.wrong);
	return e;
}
