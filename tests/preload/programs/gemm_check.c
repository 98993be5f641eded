/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/gemm_check.c -- a product in FP64, and what the
 * result and its surroundings must look like. Pure: no CUDA call. */
#include "gemm_client.h"

#include <float.h>
#include <math.h>

int64_t
largest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

struct matrix
stored(cublasOperation_t op, int64_t rows, int64_t cols)
{
	const bool plain = op == CUBLAS_OP_N;

	return (struct matrix){ largest(plain ? rows : cols, 0),
	    largest(plain ? cols : rows, 0) };
}

size_t
extent(int64_t rows, int64_t cols, int64_t ld, long long stride, int64_t batch)
{
	const int64_t apart = ld > rows ? ld : rows;

	if (rows <= 0 || cols <= 0 || batch <= 0)
		return 0;
	return (size_t)((batch - 1) * stride + apart * cols);
}

/* op(X) with its rows in a row: out[row * cols + col]. */
static double *
unpack(const float *x, cublasOperation_t op, int64_t rows, int64_t cols,
    int64_t ld)
{
	double *out = client_allocate((size_t)(rows * cols), sizeof *out);

	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			out[i * cols + j] = (double)(op == CUBLAS_OP_N ?
			    x[i + j * ld] : x[j + i * ld]);
	return out;
}

/* One element: alpha a.b + beta c, and the same with every sign dropped. As
 * cuBLAS: beta = 0 does not read C, alpha = 0 reads neither A nor B. */
static double
element(const struct product *p, const double *a, const double *b, float c,
    double *size_out)
{
	double sum = 0, size = 0;

	for (int64_t i = 0; p->alpha != 0 && i < p->k; i++) {
		sum += a[i] * b[i];
		size += fabs(a[i] * b[i]);
	}
	sum *= p->alpha != 0 ? (double)p->alpha : 1;
	size *= fabs((double)p->alpha);
	if (p->beta != 0) {
		sum += (double)p->beta * (double)c;
		size += fabs((double)p->beta * (double)c);
	}
	*size_out = size;
	return sum;
}

/* Beyond FP32 the order of the sum decides between inf and NaN. */
static bool
same_kind(float got, double wanted)
{
	if (isnan(wanted))
		return isnan(got);
	if (isfinite(wanted))
		return !isfinite(got);
	return isinf(got) && (got > 0) == (wanted > 0);
}

struct sums {
	double wrong, size;
};

static double
ratio(struct sums s)
{
	if (s.wrong == 0)
		return 0;
	return s.size > 0 ? sqrt(s.wrong / s.size) : INFINITY;
}

/* The largest double that rounds to a finite float. */
static bool
fits(double wanted)
{
	return fabs(wanted) < (double)FLT_MAX * (1 + (double)FLT_EPSILON / 4);
}

static void
compare(float got, double wanted, double size, struct sums *row,
    struct error *e)
{
	double wrong = fabs((double)got - wanted);

	if (!fits(wanted)) { /* NaN as well */
		e->classes += !same_kind(got, wanted);
		return;
	}
	if (!isfinite(got)) {
		e->classes++;
		return;
	}
	if (wrong < (double)FLT_MIN) /* a GPU may flush subnormals */
		wrong = 0;
	e->compared++;
	row->wrong += wrong * wrong;
	row->size += wanted * wanted;
	if (wrong > 0)
		e->component = fmax(e->component,
		    size > 0 ? wrong / size : INFINITY);
}

static void
measure_one(const struct product *p, const float *a, const float *b,
    const float *before, const float *after, struct sums *all,
    struct error *e)
{
	double *op_a = unpack(a, p->transa, p->m, p->k, p->lda);
	/* op(B)'s columns in a row are op'(B)'s rows */
	double *op_b = unpack(b, p->transb == CUBLAS_OP_N ? CUBLAS_OP_T :
	    CUBLAS_OP_N, p->n, p->k, p->ldb);

	for (int64_t i = 0; i < p->m; i++) {
		struct sums row = { 0, 0 };
		for (int64_t j = 0; j < p->n; j++) {
			const int64_t at = i + j * p->ldc;
			double size, wanted = element(p, op_a + i * p->k,
			    op_b + j * p->k, before[at], &size);
			compare(after[at], wanted, size, &row, e);
		}
		e->row = fmax(e->row, ratio(row));
		all->wrong += row.wrong;
		all->size += row.size;
	}
	free(op_a);
	free(op_b);
}

struct error
error_measure(const struct product *p, const float *a, const float *b,
    const float *before, const float *after)
{
	struct error e = { .normwise = 0 };
	struct sums all = { 0, 0 };

	for (int64_t i = 0; i < p->batch; i++)
		measure_one(p, a + i * p->stride_a, b + i * p->stride_b,
		    before + i * p->stride_c, after + i * p->stride_c, &all,
		    &e);
	e.normwise = ratio(all);
	return e;
}

bool
padding_is_kept(const struct product *p, const float *before,
    const float *after, size_t count)
{
	bool *inside = client_allocate(count, sizeof *inside);
	bool kept = true;

	for (int64_t i = 0; i < p->batch; i++)
		for (int64_t j = 0; j < p->n; j++)
			for (int64_t r = 0; r < p->m; r++)
				inside[i * p->stride_c + j * p->ldc + r] = true;
	for (size_t i = 0; i < count; i++)
		if (!inside[i] && memcmp(&before[i], &after[i], sizeof *after))
			kept = false;
	free(inside);
	return kept;
}
