/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/gemm_client.c -- ask for one matrix product and look
 * at everything around it. `gemm_client` alone prints its arguments.
 *
 * Prints one line: status=S checksum=H padding=ok|BROKEN inputs=ok|BROKEN,
 * and what the options add. The checksum is that of C as it lies in memory,
 * padding rows included; so is the file OUT. Padding of A, B and C, and what
 * surrounds them, is filled with NaN, so that a stray read shows as well. */
#include "gemm_client.h"

#include <math.h>

enum { GUARD = 64 };

/* Host copies; each has GUARD floats before and after `count`. */
struct buffer {
	float *host, *device, *after;
	size_t count, offset; /* offset: of the matrix in the middle part */
};

static long long
stride(int64_t ld, struct matrix size, int64_t gap)
{
	return largest(ld, size.rows) * size.cols + gap;
}

static struct buffer
buffer_new(size_t count, int64_t offset)
{
	struct buffer b = { .count = count + (size_t)offset,
	    .offset = (size_t)offset };

	b.host = client_allocate(b.count + 2 * GUARD, sizeof(float));
	b.after = client_allocate(b.count + 2 * GUARD, sizeof(float));
	for (size_t i = 0; i < b.count + 2 * GUARD; i++)
		b.host[i] = NAN;
	return b;
}

static float *
buffer_matrix(float *base, const struct buffer *b)
{
	return base + GUARD + b->offset;
}

static void
buffer_upload(struct buffer *b)
{
	const size_t bytes = (b->count + 2 * GUARD) * sizeof(float);

	if (!b->device)
		b->device = client_device(b->host, b->count + 2 * GUARD);
	else
		CUDA(cudaMemcpy(b->device, b->host, bytes,
		    cudaMemcpyHostToDevice));
}

static void
buffer_download(struct buffer *b)
{
	client_host(b->after, b->device, b->count + 2 * GUARD);
}

static bool
buffer_unchanged(const struct buffer *b)
{
	return !memcmp(b->host, b->after,
	    (b->count + 2 * GUARD) * sizeof(float));
}

static void
buffer_free(struct buffer *b)
{
	CUDA(cudaFree(b->device));
	free(b->host);
	free(b->after);
}

/* Write rows-in-a-row doubles the way cuBLAS stores op(X). */
static void
store(float *to, const double *from, cublasOperation_t op, int64_t rows,
    int64_t cols, int64_t ld)
{
	const struct matrix size = stored(op, rows, cols);
	const int64_t apart = largest(ld, size.rows);

	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			to[op == CUBLAS_OP_N ? i + j * apart : j + i * apart] =
			    (float)from[i * cols + j];
}

static void
fill(const struct product *p, const struct distribution *d, uint64_t seed,
    float *a, float *b)
{
	const int64_t m = largest(p->m, 0), n = largest(p->n, 0);
	const int64_t k = largest(p->k, 0);
	double *wide_a = client_allocate((size_t)(m * k), sizeof *wide_a);
	double *wide_b = client_allocate((size_t)(k * n), sizeof *wide_b);

	for (int64_t i = 0; i < p->batch; i++) {
		distribution_fill(d, &seed, m, n, k, wide_a, wide_b);
		store(a + i * p->stride_a, wide_a, p->transa, m, k, p->lda);
		store(b + i * p->stride_b, wide_b, p->transb, k, n, p->ldb);
	}
	free(wide_a);
	free(wide_b);
}

/* C as the program finds it: small numbers, or NaN all over. */
static void
fill_c(const struct product *p, uint64_t seed, float *c)
{
	for (int64_t i = 0; i < p->batch; i++)
		for (int64_t j = 0; j < p->n; j++)
			for (int64_t r = 0; r < p->m; r++)
				c[i * p->stride_c + j * largest(p->ldc, p->m) +
				    r] = (float)(2 * client_uniform(&seed) - 1);
}

struct run {
	struct product p;
	struct options opt;
	const struct form *form;
	struct buffer a, b, c, workspace;
	cublasHandle_t handle;
	cudaStream_t stream;
	float *scalars; /* alpha, beta on the device */
};

static void
prepare(struct run *r, const struct distribution *d, uint64_t seed)
{
	struct product *p = &r->p;
	const struct matrix a = stored(p->transa, p->m, p->k);
	const struct matrix b = stored(p->transb, p->k, p->n);
	const struct matrix c = stored(CUBLAS_OP_N, p->m, p->n);
	const int64_t offset = r->opt.offset;

	p->stride_a = r->opt.share_a ? 0 : stride(p->lda, a, r->opt.gap);
	p->stride_b = r->opt.share_b ? 0 : stride(p->ldb, b, r->opt.gap);
	p->stride_c = stride(p->ldc, c, r->opt.gap);
	r->a = buffer_new(extent(a.rows, a.cols, p->lda, p->stride_a,
	    p->batch), offset);
	r->b = buffer_new(extent(b.rows, b.cols, p->ldb, p->stride_b,
	    p->batch), offset);
	r->c = buffer_new(extent(c.rows, c.cols, p->ldc, p->stride_c,
	    p->batch), offset);
	fill(p, d, seed, buffer_matrix(r->a.host, &r->a),
	    buffer_matrix(r->b.host, &r->b));
	if (!r->opt.nan_c)
		fill_c(p, seed, buffer_matrix(r->c.host, &r->c));
	buffer_upload(&r->a);
	buffer_upload(&r->b);
}

/* alias=XY: operand X is where operand Y is; the larger one sets the room. */
static void
alias(struct run *r, struct operands *o)
{
	const char *which = r->opt.alias;

	if (!which)
		return;
	if (!strcmp(which, "ab") && r->a.count >= r->b.count)
		o->b = o->a;
	else if (!strcmp(which, "ac") && r->a.count >= r->c.count)
		o->c = buffer_matrix(r->a.device, &r->a);
	else if (!strcmp(which, "bc") && r->b.count >= r->c.count)
		o->c = buffer_matrix(r->b.device, &r->b);
	else
		arguments_reject("cannot alias ", which);
}

static void
configure(struct run *r)
{
	BLAS(cublasCreate(&r->handle));
	if (r->opt.stream) {
		CUDA(cudaStreamCreate(&r->stream));
		BLAS(cublasSetStream(r->handle, r->stream));
	}
	if (r->opt.math != CUBLAS_DEFAULT_MATH)
		BLAS(cublasSetMathMode(r->handle, r->opt.math));
	if (r->opt.workspace) {
		r->workspace = buffer_new((size_t)r->opt.workspace /
		    sizeof(float), 0);
		buffer_upload(&r->workspace);
		BLAS(cublasSetWorkspace(r->handle, r->workspace.device +
		    GUARD, (size_t)r->opt.workspace));
	}
	if (r->opt.device_scalars) {
		const float host[2] = { r->p.alpha, r->p.beta };
		r->scalars = client_device(host, 2);
		BLAS(cublasSetPointerMode(r->handle,
		    CUBLAS_POINTER_MODE_DEVICE));
	}
}

/* Returns the status of the last call; all of them found the same C. */
static cublasStatus_t
multiply(struct run *r, bool *same_out)
{
	struct operands o = {
		r->scalars ? r->scalars : &r->p.alpha,
		r->scalars ? r->scalars + 1 : &r->p.beta,
		buffer_matrix(r->a.device, &r->a),
		buffer_matrix(r->b.device, &r->b), NULL
	};
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	uint64_t first = 0;

	*same_out = true;
	for (int64_t i = 0; i < r->opt.repeat; i++) {
		uint64_t now;
		buffer_upload(&r->c);
		o.c = buffer_matrix(r->c.device, &r->c);
		alias(r, &o);
		status = form_call(r->form, r->handle, &r->p, &o);
		CUDA(cudaStreamSynchronize(r->stream));
		buffer_download(&r->c);
		now = client_hash(0, r->c.after, r->c.count * sizeof(float));
		*same_out &= !i || now == first;
		first = i ? first : now;
	}
	return status;
}

/* Prints the line; whether every promise held. */
static bool
inspect(struct run *r, cublasStatus_t status, bool same)
{
	const bool into_input = r->opt.alias && r->opt.alias[1] == 'c';
	const struct buffer *into = !into_input ? &r->c :
	    r->opt.alias[0] == 'a' ? &r->a : &r->b;
	bool inputs, padding, guards = true;

	buffer_download(&r->a);
	buffer_download(&r->b);
	inputs = into_input || (buffer_unchanged(&r->a) &&
	    buffer_unchanged(&r->b));
	if (status || into_input)
		padding = buffer_unchanged(&r->c);
	else {
		struct product shifted = r->p;
		const size_t lead = GUARD + r->c.offset;
		padding = !memcmp(r->c.host, r->c.after, lead * sizeof(float));
		padding &= padding_is_kept(&shifted, r->c.host + lead,
		    r->c.after + lead, r->c.count - r->c.offset + GUARD);
	}
	printf("status=%d checksum=%016" PRIx64 " padding=%s inputs=%s",
	    (int)status, client_hash(0, buffer_matrix(into->after, into),
	    (into->count - into->offset) * sizeof(float)),
	    padding ? "ok" : "BROKEN", inputs ? "ok" : "BROKEN");
	if (r->opt.workspace) {
		const size_t last = GUARD + r->workspace.count;
		buffer_download(&r->workspace);
		guards = !memcmp(r->workspace.host, r->workspace.after,
		    GUARD * sizeof(float)) && !memcmp(r->workspace.host + last,
		    r->workspace.after + last, GUARD * sizeof(float));
		printf(" workspace=%s", !guards ? "BROKEN" :
		    buffer_unchanged(&r->workspace) ? "untouched" : "used");
	}
	if (r->opt.repeat > 1)
		printf(" repeats=%s", same ? "same" : "differ");
	return inputs && padding && guards;
}

static void
print_error(struct run *r, cublasStatus_t status)
{
	struct error e;
	const float *a = buffer_matrix(r->a.host, &r->a);

	if (!r->opt.reference || status || (r->opt.alias &&
	    r->opt.alias[1] == 'c'))
		return;
	e = error_measure(&r->p, a, r->opt.alias ? a :
	    buffer_matrix(r->b.host, &r->b), buffer_matrix(r->c.host, &r->c),
	    buffer_matrix(r->c.after, &r->c));
	printf(" err=%.3e comp=%.3e row=%.3e classes=%" PRId64
	    " compared=%" PRId64, e.normwise, e.component, e.row, e.classes,
	    e.compared);
}

static void
write_file(const char *path, const struct buffer *c)
{
	FILE *file;

	if (!strcmp(path, "-"))
		return;
	file = fopen(path, "wb");
	client_expect(file && fwrite(buffer_matrix(c->after, c),
	    sizeof(float), c->count - c->offset, file) ==
	    c->count - c->offset && !fclose(file), "OUT can be written");
}

static void
finish(struct run *r)
{
	BLAS(cublasDestroy(r->handle));
	buffer_free(&r->a);
	buffer_free(&r->b);
	buffer_free(&r->c);
	buffer_free(&r->workspace);
	CUDA(cudaFree(r->scalars));
	if (r->stream)
		CUDA(cudaStreamDestroy(r->stream));
}

int
main(int argc, char **argv)
{
	struct run r = { .scalars = NULL };
	struct arguments args;
	cublasStatus_t status;
	bool same, held;

	args = arguments_parse(argc, argv);
	r.p = args.product;
	r.opt = args.options;
	r.form = args.form;
	if (!form_exists(r.form)) {
		fprintf(stderr, "%s: not in this libcublas\n", argv[1]);
		return EXIT_ABSENT;
	}
	prepare(&r, args.distribution, args.seed);
	configure(&r);
	status = multiply(&r, &same);
	held = inspect(&r, status, same);
	print_error(&r, status);
	putchar('\n');
	write_file(args.out, &r.c);
	finish(&r);
	return held ? EXIT_SUCCESS : EXIT_FAILURE;
}
