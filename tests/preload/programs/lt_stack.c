/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lt_stack.c -- threads that share a handle of cublasLt
 * and use their descriptors roughly. On the stack: in memory with leftovers, at
 * one address for products of ever other sizes, types and epilogues, with no
 * more bytes than an older header's. On the heap: destroyed right after the
 * call, while the product is queued; another thread's come to lie there.
 *
 *   lt_stack [threads=N] [rounds=N] [bits=N] [sizes=N] [few]
 * `sizes`: how many there are of each dimension. `few`: four kinds of products,
 * all of FP32. Prints a checksum of all
 * results. Exit status 1: an error is beyond its bound, or something was
 * written that must not be. */
#include "lt_client.h"

#include <pthread.h>

enum { MOST = 16, NEIGHBOUR = 64, OLDER = 23 * 8 };

static cublasLtHandle_t handle;
static int threads = 8, rounds = 24, bits = 24, sizes = 3;
static bool few;

/* As a compiler may lay them out: what is behind one is not its own. */
struct frame {
	cublasLtMatrixLayoutOpaque_t a;
	unsigned char behind_a[NEIGHBOUR];
	cublasLtMatrixLayoutOpaque_t b;
	unsigned char behind_b[NEIGHBOUR];
	cublasLtMatrixLayoutOpaque_t d;
	unsigned char behind_d[NEIGHBOUR];
	cublasLtMatmulDescOpaque_t operation;
};

static void
init_layout(cublasLtMatrixLayout_t at, const struct lt_matrix *x)
{
	const int32_t batch = x->batch;

	BLAS(cublasLtMatrixLayoutInit_internal(at, sizeof *at, x->type,
	    (uint64_t)x->rows, (uint64_t)x->cols, x->ld));
	if (batch > 1) {
		LT_LAYOUT_SET(at, BATCH_COUNT, batch);
		LT_LAYOUT_SET(at, STRIDED_BATCH_OFFSET, x->stride);
	}
}

/* A header of CUDA 12 has a shorter operation. */
static void
init_operation(cublasLtMatmulDesc_t at, const struct lt_problem *p,
    bool older)
{
	const int32_t ta = p->w.turn_a ? CUBLAS_OP_T : CUBLAS_OP_N;
	const int32_t tb = p->w.turn_b ? CUBLAS_OP_T : CUBLAS_OP_N;
	const size_t bytes = older && sizeof *at > OLDER ? OLDER : sizeof *at;

	BLAS(cublasLtMatmulDescInit_internal(at, bytes, p->w.kind->compute,
	    p->w.kind->scale));
	LT_SET(at, TRANSA, ta);
	LT_SET(at, TRANSB, tb);
	LT_SET(at, EPILOGUE, p->w.epilogue);
	if (p->vector.device) {
		LT_SET(at, BIAS_POINTER, p->vector.device);
		LT_SET(at, BIAS_BATCH_STRIDE, p->vector.stride);
	}
	if (p->aux.device) {
		LT_SET(at, EPILOGUE_AUX_POINTER, p->aux.device);
		LT_SET(at, EPILOGUE_AUX_LD, p->aux_ld);
		LT_SET(at, EPILOGUE_AUX_BATCH_STRIDE, p->aux_stride);
	}
}

static void
on_stack(const struct lt_problem *p, struct frame *f, uint64_t *seed,
    cudaStream_t stream)
{
	const unsigned char leftover = (unsigned char)client_random(seed);
	const bool older = client_random(seed) % 2;

	memset(f, leftover, sizeof *f);
	init_layout(&f->a, &p->a);
	init_layout(&f->b, &p->b);
	init_layout(&f->d, &p->d);
	init_operation(&f->operation, p, older);
	BLAS(cublasLtMatmul(handle, &f->operation, lt_alpha(p), p->a.device,
	    &f->a, p->b.device, &f->b, lt_beta(p), lt_c(p), &f->d,
	    p->d.device, &f->d, NULL, NULL, 0, stream));
	for (int i = 0; i < NEIGHBOUR; i++)
		client_expect(f->behind_a[i] == leftover &&
		    f->behind_b[i] == leftover && f->behind_d[i] == leftover,
		    "what is behind a layout stays");
	/* Dead from here on. */
	memset(f, 0xa5, sizeof *f);
}

static void
on_heap(const struct lt_problem *p, cudaStream_t stream)
{
	struct lt_descriptors d;

	lt_describe(p, &d);
	BLAS(lt_multiply(handle, p, &d, NULL, NULL, 0, stream));
	lt_undescribe(&d);
}

static struct lt_wanted
drawn(uint64_t *seed)
{
	static const int kinds[] = { LT_FP32, LT_FP32, LT_FP32, LT_FAST_TF32,
		LT_FP16_FP32 };
	static const cublasLtEpilogue_t plain[] = { CUBLASLT_EPILOGUE_DEFAULT,
		CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
		CUBLASLT_EPILOGUE_GELU_AUX };
	struct lt_wanted w = { .kind = &lt_kinds[LT_FP32], .alpha = 1,
		.batch = 1 };

	w.m = 16 + 8 * (int64_t)(client_random(seed) % (uint64_t)sizes);
	w.n = 8 + 8 * (int64_t)(client_random(seed) % (uint64_t)sizes);
	w.k = 24 + 8 * (int64_t)(client_random(seed) % (uint64_t)sizes);
	if (few) {
		w.epilogue = plain[client_random(seed) % 4];
		return w;
	}
	w.kind = &lt_kinds[kinds[client_random(seed) % 5]];
	w.batch = client_random(seed) % 4 ? 1 : 2;
	w.turn_a = client_random(seed) % 2;
	w.turn_b = client_random(seed) % 2;
	w.epilogue = lt_epilogues[client_random(seed) % LT_EPILOGUES].value;
	w.beta = client_random(seed) % 2 ? 0 : 0.5f;
	return w;
}

static void *
work(void *number)
{
	uint64_t seed = (uint64_t)(uintptr_t)number, *sum;
	cudaStream_t stream;
	struct frame frame;

	sum = client_allocate(1, sizeof *sum);
	/* cublasLt wants a current context, which this thread has not made. */
	CUDA(cudaSetDevice(0));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < rounds; i++) {
		const struct lt_wanted wanted = drawn(&seed);
		struct lt_problem *p = lt_make(&wanted, client_random(&seed));
		struct lt_error error;
		uint64_t hash;

		if (client_random(&seed) % 3)
			on_stack(p, &frame, &seed, stream);
		else
			on_heap(p, stream);
		CUDA(cudaStreamSynchronize(stream));
		error = lt_check(p);
		if (!(error.worst <= lt_bound(p, bits))) {
			fprintf(stderr, "broken: %s, epilogue %u: error %g, "
			    "bound %g %s\n", wanted.kind->name,
			    wanted.epilogue, error.worst, lt_bound(p, bits),
			    error.broken ? error.broken : "");
			exit(EXIT_FAILURE);
		}
		hash = lt_hash(p);
		*sum = client_hash(*sum, &hash, sizeof hash);
		lt_drop(p);
	}
	CUDA(cudaStreamDestroy(stream));
	return sum;
}

int
main(int argc, char **argv)
{
	pthread_t started[MOST];
	uint64_t hash = 0;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "few"))
			few = true;
		else if (sscanf(argv[i], "threads=%d", &threads) != 1 &&
		    sscanf(argv[i], "rounds=%d", &rounds) != 1 &&
		    sscanf(argv[i], "sizes=%d", &sizes) != 1 &&
		    sscanf(argv[i], "bits=%d", &bits) != 1)
			return EXIT_USAGE;
	if (threads < 1 || threads > MOST || sizes < 1)
		return EXIT_USAGE;
	BLAS(cublasLtCreate(&handle));
	for (int i = 0; i < threads; i++)
		client_expect(!pthread_create(&started[i], NULL, work,
		    (void *)(uintptr_t)(i + 1)), "a thread starts");
	for (int i = 0; i < threads; i++) {
		void *sum;

		pthread_join(started[i], &sum);
		hash = client_hash(hash, sum, sizeof(uint64_t));
		free(sum);
	}
	BLAS(cublasLtDestroy(handle));
	printf("products=%d checksum=%016" PRIx64 "\n", threads * rounds,
	    hash);
	return EXIT_SUCCESS;
}
