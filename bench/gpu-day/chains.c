/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/chains.c -- several products for one: what adding up over
 * chunks of K costs (n5), FP32 out of three or four FP16 products (a4), and one
 * of rounder sizes, its C copied (n11), by plain cuBLAS calls.
 *
 *   chains chunks | split | odd */
#include "gpu.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HIGH, LOW };

/* N x N operands: A and B as FP16 (high and low), or as FP32. */
struct chain {
	int n, chunk;                /* of the main product; 0: one call */
	bool corrected, fourth;      /* Al Bh + Ah Bl; and Al Bl */
	float scale;                 /* of the result */
	const void *a[2], *b[2];
	const float *plain[2];
	float *c;
};

static void
product(const struct chain *s, int a, int b, int from, int k, bool add)
{
	const float alpha = s->scale, beta = add;
	const size_t half = sizeof(uint16_t);

	MUST(cublasGemmEx(gpu.handle, CUBLAS_OP_N, CUBLAS_OP_N, s->n, s->n, k,
	    &alpha, (const char *)s->a[a] + (size_t)from * (size_t)s->n * half,
	    CUDA_R_16F, s->n, (const char *)s->b[b] + (size_t)from * half,
	    CUDA_R_16F, s->n, &beta, s->c, CUDA_R_32F, s->n,
	    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/* Small terms first (numerics: the other order costs four times the error). */
static void
call(void *context)
{
	const struct chain *s = context;
	const int chunk = s->chunk ? s->chunk : s->n;
	bool add = false;

	if (s->fourth) {
		product(s, LOW, LOW, 0, s->n, add);
		add = true;
	}
	if (s->corrected) {
		product(s, LOW, HIGH, 0, s->n, add);
		product(s, HIGH, LOW, 0, s->n, true);
		add = true;
	}
	for (int from = 0; from < s->n; from += chunk, add = true)
		product(s, HIGH, HIGH, from,
		    s->n - from < chunk ? s->n - from : chunk, add);
}

static void
call_plain(void *context)
{
	const struct chain *s = context;
	const float one = 1, zero = 0;

	MUST(cublasSgemm(gpu.handle, CUBLAS_OP_N, CUBLAS_OP_N, s->n, s->n,
	    s->n, &one, s->plain[0], s->n, s->plain[1], s->n, &zero, s->c,
	    s->n));
}

static void *
operand(unsigned seed, enum gpu_store store, int n)
{
	return gpu_fill(gpu_pool_get(DATA_NORMAL, seed), store,
	    (size_t)n * (size_t)n);
}

static void
release(const void *device)
{
	if (device)
		gpu_free((void *)(uintptr_t)device);
}

static void
chain_free(struct chain *s)
{
	for (int i = 0; i < 2; i++) {
		release(s->a[i]);
		release(s->b[i]);
		release(s->plain[i]);
	}
	gpu_free(s->c);
}

/* ---- n5 */

static void
chunks_of(int n, double rate)
{
	struct chain s = { .n = n, .scale = 1 };
	double whole;

	s.a[HIGH] = operand(0, STORE_FP16, n);
	s.b[HIGH] = operand(1, STORE_FP16, n);
	s.c = gpu_alloc((size_t)n * (size_t)n * sizeof(float));
	whole = gpu_time(call, &s).median;
	for (int chunk = 256; chunk <= 2048 && chunk < n; chunk *= 2) {
		const int count = (n + chunk - 1) / chunk;
		/* C read and written once more by each but the first. */
		const double traffic = (count - 1) * 8.0 * n * n / rate;
		double seconds, part_seen;
		char part[64];

		s.chunk = chunk;
		seconds = gpu_time(call, &s).median;
		part_seen = (seconds - whole) / traffic;
		snprintf(part, sizeof part, "N=%d chunks of %d", n, chunk);
		row_item("n5", part, part_seen, "of C's traffic",
		    part_seen < 0.35 ? "mostly overlapped" :
		    part_seen < 0.75 ? "half overlapped, as assumed" :
		    "not overlapped", "%.4g s instead of %.4g s: %.3g times",
		    seconds, whole, seconds / whole);
	}
	chain_free(&s);
}

static void
chunks(void)
{
	const double rate = gpu_copy_rate();

	row("rate", "what=copy\tbytes_per_second=%.5g", rate);
	chunks_of(gpu.quick ? 512 : 4096, rate);
	if (!gpu.quick)
		chunks_of(8192, rate);
}

/* ---- a4 */

static const struct recipe {
	const char *name;
	int  chunk;
	bool corrected, fourth;
} recipes[] = {
	{ "1 product", 0, false, false },
	{ "3 products", 0, true, false },
	{ "3 products, chunks of 1024", 1024, true, false },
	{ "3 products, chunks of 512", 512, true, false },
	{ "3 products, chunks of 256", 256, true, false },
	{ "4 products, chunks of 512", 512, true, true },
};

static struct gpu_error
error_of(const struct chain *s)
{
	const struct gpu_product p = { s->n, s->n, s->n, 1,
		gpu_pool_get(DATA_NORMAL, 0), gpu_pool_get(DATA_NORMAL, 1),
		STORE_FP32, 1 };

	return gpu_error_of(&p, s->c);
}

static void
split_of(int n)
{
	struct chain s = { .n = n,
		.scale = ldexpf(1, -2 * GPU_SPLIT_SHIFT) };
	double plain, plain_error;
	char part[80];

	s.c = gpu_alloc((size_t)n * (size_t)n * sizeof(float));
	for (unsigned i = 0; i < 2; i++) {
		s.plain[i] = operand(i, STORE_FP32, n);
		s.a[i] = operand(0, i ? STORE_FP16_LOW : STORE_FP16_HIGH, n);
		s.b[i] = operand(1, i ? STORE_FP16_LOW : STORE_FP16_HIGH, n);
	}
	plain = gpu_time(call_plain, &s).median;
	plain_error = error_of(&s).norm;
	for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
		double seconds, error;

		s.chunk = recipes[i].chunk;
		s.corrected = recipes[i].corrected;
		s.fourth = recipes[i].fourth;
		seconds = gpu_time(call, &s).median;
		error = error_of(&s).norm;
		snprintf(part, sizeof part, "N=%d %s", n, recipes[i].name);
		row_item("a4", part, plain / seconds, "x SGEMM",
		    error > 1.05 * plain_error ? "less accurate than SGEMM" :
		    plain >= 3 * seconds ? "3x at SGEMM's accuracy" :
		    "accurate, below 3x",
		    "error %.3g, SGEMM %.3g; without the splitting itself",
		    error, plain_error);
	}
	chain_free(&s);
}

static void
split(void)
{
	if (gpu.quick) {
		split_of(256);
		return;
	}
	split_of(8192);
	if (!gpu_is_late())
		split_of(4096);
}

/* ---- n11 */

/* A and B in FP16, with leading dimensions of whole 16 bytes, as a cast leaves
 * them; C packed along m. */
struct odd {
	int m, n, k, lda, ldb;
	bool trans_a;
	const void *a, *b;
	float *c, *apart;
};

static int
padded(int lines)
{
	return (lines + 7) / 8 * 8;
}

static void
call_odd(void *context)
{
	const struct odd *o = context;
	const float one = 1, zero = 0;

	MUST(cublasGemmEx(gpu.handle, o->trans_a ? CUBLAS_OP_T : CUBLAS_OP_N,
	    CUBLAS_OP_N, o->m, o->n, o->k, &one, o->a, CUDA_R_16F, o->lda,
	    o->b, CUDA_R_16F, o->ldb, &zero, o->c, CUDA_R_32F, o->m,
	    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

static void
call_copy(void *context)
{
	const struct odd *o = context;
	const size_t packed = (size_t)o->m * sizeof(float);

	MUST(cudaMemcpy2DAsync(o->c, packed, o->apart, (size_t)padded(o->m) *
	    sizeof(float), packed, (size_t)o->n, cudaMemcpyDeviceToDevice,
	    gpu.stream));
}

/* The sizes in `which` (m, n, k) made whole multiples of eight: more of the
 * same memory is read, where a cast would have written zeros. */
static void
padded_row(const struct odd *whole, const char *which, double packed)
{
	struct odd o = *whole;
	double seconds;
	char part[80];

	o.m = strchr(which, 'm') ? padded(o.m) : o.m;
	o.n = strchr(which, 'n') ? padded(o.n) : o.n;
	o.k = strchr(which, 'k') ? padded(o.k) : o.k;
	if (o.m == whole->m && o.n == whole->n && o.k == whole->k)
		return;
	seconds = gpu_time(call_odd, &o).median;
	snprintf(part, sizeof part, "%dx%dx%d %s, %s padded", whole->m,
	    whole->n, whole->k, whole->trans_a ? "TN" : "NN", which);
	row_item("n11", part, packed / seconds, "times as fast",
	    packed > 1.1 * seconds ? "faster" : "the same",
	    "%.4g s as it is, %.4g s padded", packed, seconds);
}

static void
odd_of(int m, int n, int k, bool trans_a)
{
	static const char *const ways[] = { "k", "m", "n", "mk", "mnk" };
	const size_t rows = (size_t)padded(m), columns = (size_t)padded(n);
	const size_t depth = (size_t)padded(k);
	struct odd o = { .m = m, .n = n, .k = k, .trans_a = trans_a,
		.lda = padded(trans_a ? k : m), .ldb = padded(k) };
	double packed;
	char part[80];

	o.a = gpu_fill(gpu_pool_get(DATA_NORMAL, 0), STORE_FP16, rows * depth);
	o.b = gpu_fill(gpu_pool_get(DATA_NORMAL, 1), STORE_FP16,
	    depth * columns);
	o.c = gpu_alloc(rows * columns * sizeof(float));
	o.apart = gpu_alloc(rows * columns * sizeof(float));
	packed = gpu_time(call_odd, &o).median;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		padded_row(&o, ways[i], packed);
	snprintf(part, sizeof part, "%dx%dx%d, C copied", m, n, k);
	row_item("n11", part, gpu_time(call_copy, &o).median, "s", "-",
	    "from scratch with leading dimension %d", padded(m));
	release(o.a);
	release(o.b);
	gpu_free(o.c);
	gpu_free(o.apart);
}

static void
odd(void)
{
	if (gpu.quick) {
		odd_of(129, 128, 127, false);
		return;
	}
	odd_of(1023, 1023, 1023, false);
	odd_of(4097, 4097, 4097, false);
	odd_of(4098, 4098, 4098, false);
	odd_of(4100, 4100, 4100, false);
	odd_of(50257, 8192, 768, true);
	odd_of(768, 8192, 50257, false);
	odd_of(4096, 4096, 4095, true);
}

static void
take(int option, const char *value)
{
	(void)option, (void)value;
}

int
main(int argc, char **argv)
{
	const int first = gpu_start(argc, argv, "", take);

	if (first < argc && !strcmp(argv[first], "chunks"))
		chunks();
	else if (first < argc && !strcmp(argv[first], "split"))
		split();
	else if (first < argc && !strcmp(argv[first], "odd"))
		odd();
	else
		gpu_must(2, "chains: no such question");
	return 0;
}
