/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_blas.c -- one product in memory, by OpenBLAS. It
 * uses one thread, because its bits depend on their number. It is linked into
 * the library and hidden. TSan must see every access, so a plain loop takes its
 * place there, and with EMU_OWN_PRODUCT. */
#include "emulator/cublas/cublas_gemm.h"

#if EMU_TSAN && !defined(EMU_OWN_PRODUCT)
#define EMU_OWN_PRODUCT
#endif

#ifdef EMU_OWN_PRODUCT

#define OWN(name, type)                                                   \
void                                                                      \
name(bool transa, bool transb, int m, int n, int k, type alpha,           \
    const type *a, int64_t lda, const type *b, int64_t ldb, type beta,    \
    type *c, int64_t ldc)                                                 \
{                                                                         \
	const int64_t step_a = transa ? 1 : lda, row_a = transa ? lda : 1; \
	const int64_t step_b = transb ? ldb : 1, col_b = transb ? 1 : ldb; \
	for (int64_t j = 0; j < n; j++)                                   \
		for (int64_t i = 0; i < m; i++) {                         \
			type *const to = &c[j * ldc + i];                 \
			double sum = 0;                                   \
			for (int64_t l = 0; l < k; l++)                   \
				sum += (double)a[i * row_a + l * step_a] * \
				    (double)b[j * col_b + l * step_b];    \
			sum *= (double)alpha;                             \
			if (beta != 0)                                    \
				sum += (double)beta * (double)*to;        \
			*to = (type)sum;                                  \
		}                                                         \
}
OWN(emu_sgemm, float)
OWN(emu_dgemm, double)

#else

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, TRANSPOSE = 112 };

/* CBLAS's header declares this; this file is built without that header. */
void cblas_sgemm(int order, int transa, int transb, int m, int n, int k,
    float alpha, const float *a, int lda, const float *b, int ldb, float beta,
    float *c, int ldc);
void cblas_dgemm(int order, int transa, int transb, int m, int n, int k,
    double alpha, const double *a, int lda, const double *b, int ldb,
    double beta, double *c, int ldc);
void openblas_set_num_threads(int count);
int __wrap_openblas_num_threads_env(void);

/* OpenBLAS asks for the number of threads while it is loaded, before we could
 * set it. The linker redirects that call here (--wrap). */
int
__wrap_openblas_num_threads_env(void)
{
	return 1;
}

/* A shared OpenBLAS has its own function. */
static void
use_one_thread(void)
{
	openblas_set_num_threads(1);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* OpenBLAS clears C and adds to it, part by part of k. A GPU stores each result
 * once, so that two products that write the same values to one C at once leave
 * those: hence beta = 0 is computed aside, where there is memory for that. */
void
emu_sgemm(bool transa, bool transb, int m, int n, int k, float alpha,
    const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
    float *c, int64_t ldc)
{
	float *const aside = beta == 0 ? malloc((size_t)m * (size_t)n *
	    sizeof *aside) : NULL;

	pthread_once(&once, use_one_thread);
	cblas_sgemm(COLUMN_MAJOR, transa ? TRANSPOSE : NO_TRANSPOSE,
	    transb ? TRANSPOSE : NO_TRANSPOSE, m, n, k, alpha, a, (int)lda, b,
	    (int)ldb, beta, aside ? aside : c, aside ? m : (int)ldc);
	for (int j = 0; aside && j < n; j++)
		memcpy(c + j * ldc, aside + (size_t)j * (size_t)m,
		    (size_t)m * sizeof *c);
	free(aside);
}

void
emu_dgemm(bool transa, bool transb, int m, int n, int k, double alpha,
    const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
    double *c, int64_t ldc)
{
	pthread_once(&once, use_one_thread);
	cblas_dgemm(COLUMN_MAJOR, transa ? TRANSPOSE : NO_TRANSPOSE,
	    transb ? TRANSPOSE : NO_TRANSPOSE, m, n, k, alpha, a, (int)lda, b,
	    (int)ldb, beta, c, (int)ldc);
}

#endif
