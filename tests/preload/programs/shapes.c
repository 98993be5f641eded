/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/shapes.c -- a dozen products of different shapes, over
 * and over: shapes CALLS. Times every call by a pair of events and prints, per
 * shape, the shortest of the last eight in microseconds. */
#include "client.h"

#include <float.h>

enum { SHAPES = 12, LAST = 8, BATCH_MOST = 8 };

static const struct shape {
	enum { SINGLE, STRIDED, POINTERS } form;
	int m, n, k, batch;
} shapes[SHAPES] = {
	{ SINGLE, 256, 256, 256, 1 }, { SINGLE, 208, 208, 208, 1 },
	{ SINGLE, 512, 128, 160, 1 }, { SINGLE, 1024, 1024, 8, 1 },
	{ SINGLE, 16, 2048, 256, 1 }, { SINGLE, 2048, 16, 256, 1 },
	{ SINGLE, 64, 64, 2048, 1 }, { SINGLE, 288, 288, 128, 1 },
	{ SINGLE, 384, 384, 64, 1 }, { SINGLE, 512, 512, 40, 1 },
	{ STRIDED, 128, 128, 128, 4 }, { POINTERS, 96, 96, 128, 8 },
};

struct site {
	const struct shape *shape;
	float *a, *b, *c;
	float *as[BATCH_MOST], *bs[BATCH_MOST], *cs[BATCH_MOST];
	float **device[3];
	cudaEvent_t start, end;
	float least;
};

static void
site_init(struct site *s, const struct shape *shape)
{
	const size_t a = (size_t)shape->m * (size_t)shape->k;
	const size_t b = (size_t)shape->n * (size_t)shape->k;
	const size_t c = (size_t)shape->m * (size_t)shape->n;
	const size_t batch = (size_t)shape->batch;

	s->shape = shape;
	s->a = client_random_device(a * batch, 1, 1);
	s->b = client_random_device(b * batch, 1, 2);
	s->c = client_random_device(c * batch, 1, 3);
	for (size_t i = 0; i < batch; i++) {
		s->as[i] = s->a + i * a;
		s->bs[i] = s->b + i * b;
		s->cs[i] = s->c + i * c;
	}
	s->device[0] = client_bytes(s->as, sizeof s->as);
	s->device[1] = client_bytes(s->bs, sizeof s->bs);
	s->device[2] = client_bytes(s->cs, sizeof s->cs);
	CUDA(cudaEventCreate(&s->start));
	CUDA(cudaEventCreate(&s->end));
	s->least = FLT_MAX;
}

static void
multiply(cublasHandle_t handle, const struct site *s)
{
	const cublasOperation_t no = CUBLAS_OP_N;
	const struct shape *x = s->shape;
	switch (x->form) {
	case SINGLE:
		BLAS(cublasSgemm(handle, no, no, x->m, x->n, x->k, &one, s->a,
		    x->m, s->b, x->k, &zero, s->c, x->m));
		break;
	case STRIDED:
		BLAS(cublasSgemmStridedBatched(handle, no, no, x->m, x->n,
		    x->k, &one, s->a, x->m, x->m * x->k, s->b, x->k,
		    x->k * x->n, &zero, s->c, x->m, x->m * x->n, x->batch));
		break;
	default:
		BLAS(cublasSgemmBatched(handle, no, no, x->m, x->n, x->k, &one,
		    (const float *const *)s->device[0], x->m,
		    (const float *const *)s->device[1], x->k, &zero,
		    s->device[2], x->m, x->batch));
	}
}

int
main(int argc, char **argv)
{
	const int calls = argc > 1 ? atoi(argv[1]) : 0;
	static struct site site[SHAPES];
	cublasHandle_t handle;

	if (calls < 1)
		return EXIT_USAGE;
	BLAS(cublasCreate(&handle));
	for (int i = 0; i < SHAPES; i++)
		site_init(&site[i], &shapes[i]);
	for (int call = 0; call < calls; call++) {
		for (int i = 0; i < SHAPES; i++) {
			CUDA(cudaEventRecord(site[i].start, NULL));
			multiply(handle, &site[i]);
			CUDA(cudaEventRecord(site[i].end, NULL));
		}
		CUDA(cudaDeviceSynchronize());
		for (int i = 0; call >= calls - LAST && i < SHAPES; i++) {
			float ms;

			CUDA(cudaEventElapsedTime(&ms, site[i].start,
			    site[i].end));
			if (ms < site[i].least)
				site[i].least = ms;
		}
	}
	for (int i = 0; i < SHAPES; i++)
		printf("%dx%dx%d %g\n", shapes[i].m, shapes[i].n, shapes[i].k,
		    1000 * (double)site[i].least);
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
