/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/netlib_sgemm.c -- netlib_sgemm: the products with
 * which netlib's test of the level 3 BLAS tries SGEMM: M, N and K of its list,
 * all transposes, its alphas and betas: 17,496. Numbers are thousandths from
 * -1/2 to 1/2, what lies outside a matrix is -1e10. An error counts in units of
 * FP32's epsilon times the gauge, |alpha| |A| |B| + |beta| |C|; 16 is the most
 * that netlib accepts. Prints the calls, those with something to multiply, and
 * the worst ratio. Exit 1: something outside C was written. */
#include "client.h"

#include <float.h>
#include <math.h>

static const int sizes[] = { 0, 1, 2, 3, 5, 9 };
static const float alphas[] = { 0, 1, 0.7f }, betas[] = { 0, 1, 1.3f };
static const cublasOperation_t ops[] = { CUBLAS_OP_N, CUBLAS_OP_T,
	CUBLAS_OP_C };

enum { N_SIZES = 6, N_EACH = 3, MOST = 128 };
static const float ROGUE = -1e10f;

/* A matrix on the host and the device; `ld` is the rows and one more. */
struct matrix {
	int rows, cols, ld;
	float host[MOST];
	float *device;
};

static uint64_t seed = 7;

static void
fill(struct matrix *m, int rows, int cols)
{
	m->rows = rows;
	m->cols = cols;
	m->ld = rows + 1;
	for (int i = 0; i < MOST; i++)
		m->host[i] = i % m->ld < rows && i / m->ld < cols
		    ? (float)((int)(client_random(&seed) % 1001) - 500) / 1001
		    : ROGUE;
	CUDA(cudaMemcpy(m->device, m->host, sizeof m->host,
	    cudaMemcpyHostToDevice));
}

/* Of the matrix or of its transpose. */
static double
at(const struct matrix *m, bool is_turned, int i, int j)
{
	return (double)m->host[is_turned ? j + i * m->ld : i + j * m->ld];
}

struct product {
	bool turns_a, turns_b;
	int k;
	float alpha, beta;
};

/* The worst ratio of one product; `after` is C as the call left it. */
static double
judge(const struct product *p, const struct matrix *a, const struct matrix *b,
    const struct matrix *c, const float *after)
{
	double worst = 0;

	for (int at_c = 0; at_c < MOST; at_c++) {
		const int i = at_c % c->ld, j = at_c / c->ld;
		double sum = 0, gauge = 0;

		if (i >= c->rows || j >= c->cols) {
			client_expect(after[at_c] == ROGUE,
			    "nothing outside C is written");
			continue;
		}
		for (int l = 0; l < p->k; l++) {
			const double x = at(a, p->turns_a, i, l)
			    * at(b, p->turns_b, l, j);

			sum += x;
			gauge += fabs(x);
		}
		sum = (double)p->alpha * sum
		    + (double)p->beta * (double)c->host[at_c];
		gauge = fabs((double)p->alpha) * gauge
		    + fabs((double)p->beta * (double)c->host[at_c]);
		worst = fmax(worst, fabs(sum - (double)after[at_c])
		    / (double)FLT_EPSILON / (gauge > 0 ? gauge : 1));
	}
	return worst;
}

static struct matrix a, b, c;

/* All alphas and betas of one shape. */
static double
try_shape(cublasHandle_t handle, int m, int n, int k, int op_a, int op_b)
{
	struct product p = { .turns_a = op_a, .turns_b = op_b, .k = k };
	double worst = 0;

	fill(&a, op_a ? k : m, op_a ? m : k);
	fill(&b, op_b ? n : k, op_b ? k : n);
	for (int i = 0; i < N_EACH * N_EACH; i++) {
		float after[MOST];

		p.alpha = alphas[i / N_EACH];
		p.beta = betas[i % N_EACH];
		fill(&c, m, n);
		BLAS(cublasSgemm(handle, ops[op_a], ops[op_b], m, n, k,
		    &p.alpha, a.device, a.ld, b.device, b.ld, &p.beta,
		    c.device, c.ld));
		CUDA(cudaMemcpy(after, c.device, sizeof after,
		    cudaMemcpyDeviceToHost));
		worst = fmax(worst, judge(&p, &a, &b, &c, after));
	}
	return worst;
}

int
main(void)
{
	cublasHandle_t handle;
	double worst = 0;
	int calls = 0, products = 0;

	BLAS(cublasCreate(&handle));
	CUDA(cudaMalloc((void **)&a.device, sizeof a.host));
	CUDA(cudaMalloc((void **)&b.device, sizeof b.host));
	CUDA(cudaMalloc((void **)&c.device, sizeof c.host));
	for (int s = 0; s < N_SIZES * N_SIZES * N_SIZES; s++)
		for (int op = 0; op < N_EACH * N_EACH; op++) {
			const int m = sizes[s / N_SIZES / N_SIZES];
			const int n = sizes[s / N_SIZES % N_SIZES];
			const int k = sizes[s % N_SIZES];

			worst = fmax(worst, try_shape(handle, m, n, k,
			    op / N_EACH, op % N_EACH));
			calls += N_EACH * N_EACH;
			products += m && n && k ? 6 : 0;
		}
	printf("netlib_sgemm calls=%d products=%d ratio=%.3g\n", calls, products,
	    worst);
	BLAS(cublasDestroy(handle));
	CUDA(cudaFree(a.device));
	CUDA(cudaFree(b.device));
	CUDA(cudaFree(c.device));
	return 0;
}
