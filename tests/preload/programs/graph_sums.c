/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/graph_sums.c -- sums of two products, C = A B and then
 * C - A' B, of which CUDA graphs are captured before they cancel:
 * graph_sums WHICH
 *   whole   both are in one graph
 *   part    the first one is; the second is called
 *   added   the second one is; the first is called
 *   places  the same, where another line of the program calls it
 *   two     each is in a graph of its own
 *   apart   cublasLt writes what is left to another place, in a graph
 *   halves  the second one is two, of C's upper and of its lower rows
 *   never   as whole, and no sum cancels
 * Ten sums are called; the graphs are captured at the eighth and at the tenth.
 * In 20 more little is left. Prints how many of these are wrong: off by more
 * than 3 % of themselves, where FP32 is by 0.3 %. */
#include "client.h"

#include <cublasLt.h>
#include <math.h>

enum { M = 96, N = 80, K = 128, WARM = 10, ROUNDS = 30 };
enum which { WHOLE, PART, ADDED, PLACES, TWO, APART, HALVES, NEVER, COUNT };

static struct {
	enum which which;
	cublasHandle_t blas;
	cublasLtHandle_t lt;
	cublasLtMatmulDesc_t operation;
	cublasLtMatrixLayout_t of_a, of_b, of_c;
	cudaStream_t stream;
	cudaGraphExec_t graph[2];
	float *a, *a2, *b, *c, *d;
	uint64_t seed;
} s;

static void
set_up(void)
{
	BLAS(cublasCreate(&s.blas));
	BLAS(cublasLtCreate(&s.lt));
	CUDA(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
	BLAS(cublasSetStream(s.blas, s.stream));
	BLAS(cublasLtMatmulDescCreate(&s.operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	BLAS(cublasLtMatrixLayoutCreate(&s.of_a, CUDA_R_32F, M, K, M));
	BLAS(cublasLtMatrixLayoutCreate(&s.of_b, CUDA_R_32F, K, N, K));
	BLAS(cublasLtMatrixLayoutCreate(&s.of_c, CUDA_R_32F, M, N, M));
	s.a = client_random_device(M * K, 1, 1);
	s.a2 = client_random_device(M * K, 1, 2);
	s.b = client_random_device(K * N, 1, 3);
	s.c = client_random_device(M * N, 1, 4);
	s.d = client_random_device(M * N, 1, 5);
	CUDA(cudaDeviceSynchronize());
}

/* The one place that calls cublasSgemm, but for PLACES. */
static void
multiply(int m, float alpha, const float *a, float beta, float *c)
{
	BLAS(cublasSgemm(s.blas, CUBLAS_OP_N, CUBLAS_OP_N, m, N, K, &alpha, a,
	    M, s.b, K, &beta, c, M));
}

static void
subtract(void)
{
	const float minus = -1;

	switch (s.which) {
	case PLACES:
		BLAS(cublasSgemm(s.blas, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K,
		    &minus, s.a2, M, s.b, K, &one, s.c, M));
		break;
	case APART:
		BLAS(cublasLtMatmul(s.lt, s.operation, &minus, s.a2, s.of_a,
		    s.b, s.of_b, &one, s.c, s.of_c, s.d, s.of_c, NULL, NULL, 0,
		    s.stream));
		break;
	case HALVES:
		multiply(M / 2, -1, s.a2, 1, s.c);
		multiply(M / 2, -1, s.a2 + M / 2, 1, s.c + M / 2);
		break;
	default:
		multiply(M, -1, s.a2, 1, s.c);
	}
}

static void
add_up(int parts)
{
	if (parts & 1)
		multiply(M, 1, s.a, 0, s.c);
	if (parts & 2)
		subtract();
}

static void
capture(int parts, cudaGraphExec_t *executable)
{
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeGlobal));
	add_up(parts);
	CUDA(cudaStreamEndCapture(s.stream, &graph));
	CUDA(cudaGraphInstantiate(executable, graph, 0));
	CUDA(cudaGraphDestroy(graph));
}

static void
take_round(int round)
{
	const bool is_added = s.which == ADDED || s.which == PLACES;
	const bool has_two = s.which == PART || is_added || s.which == TWO;

	if (round == WARM - 3 && has_two && !is_added)
		capture(1, &s.graph[0]);
	if (round == WARM - 1 && s.which != PART)
		capture(has_two ? 2 : 3, &s.graph[has_two]);
	for (int i = 0; i < 2; i++)
		if (s.graph[i])
			CUDA(cudaGraphLaunch(s.graph[i], s.stream));
		else if (has_two || (!i && !s.graph[1]))
			add_up(has_two ? 1 << i : 3);
}

/* ---- What is left -------------------------------------------------------- */

static void
fill(float *host, int count)
{
	for (int i = 0; i < count; i++)
		host[i] = (float)(2 * client_uniform(&s.seed) - 1);
}

static bool
is_wrong(const float *a, const float *a2, const float *b, const float *left)
{
	double off = 0, all = 0;

	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			double sum = 0;

			for (int p = 0; p < K; p++)
				sum += ((double)a[p * M + i] - a2[p * M + i])
				    * b[j * K + p];
			off += pow(left[j * M + i] - sum, 2);
			all += sum * sum;
		}
	return !(off <= 0.03 * 0.03 * all);
}

static bool
round_is_wrong(int round)
{
	static float a[M * K], a2[M * K], b[K * N], left[M * N];

	s.seed = (uint64_t)round + 1;
	fill(a, M * K);
	fill(a2, M * K);
	fill(b, K * N);
	for (int i = 0; round >= WARM && s.which != NEVER && i < M * K; i++)
		a2[i] = a[i] * (1 + 1e-4f * a2[i]);
	CUDA(cudaMemcpyAsync(s.a, a, sizeof a, cudaMemcpyHostToDevice,
	    s.stream));
	CUDA(cudaMemcpyAsync(s.a2, a2, sizeof a2, cudaMemcpyHostToDevice,
	    s.stream));
	CUDA(cudaMemcpyAsync(s.b, b, sizeof b, cudaMemcpyHostToDevice,
	    s.stream));
	CUDA(cudaStreamSynchronize(s.stream));
	take_round(round);
	CUDA(cudaStreamSynchronize(s.stream));
	client_host(left, s.which == APART ? s.d : s.c, M * N);
	return is_wrong(a, a2, b, left);
}

int
main(int argc, char **argv)
{
	static const char *const names[COUNT] = { "whole", "part", "added",
		"places", "two", "apart", "halves", "never" };
	int wrong = 0;

	while (argc == 2 && s.which < COUNT && strcmp(argv[1], names[s.which]))
		s.which++;
	if (argc != 2 || s.which == COUNT)
		return EXIT_USAGE;
	set_up();
	for (int round = 0; round < ROUNDS; round++)
		wrong += round_is_wrong(round) && round >= WARM;
	printf("%d\n", wrong);
	return EXIT_SUCCESS;
}
