/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/grouped.c -- calls of cuBLAS's grouped products, each
 * group with sizes, transposes, scalars and data of its own:
 * grouped FORM [WORD=VALUE...] TA,TB,M,N,K,SIZE,ALPHA,BETA,DATA...
 * FORM: s s64 ex ex64. Words: those of level3.h, ld= being of the last group's
 * matrices and null= one of handle, transa ... size, and:
 *   good=N          before them so many of all groups but the last, with
 *                   nothing of what null=, count= and mode= say
 *   count=N         the number of groups that is passed
 *   arrays=pinned   the arrays of pointers lie in pinned host memory
 *   mode=device     the handle's pointer mode
 *   math=tf32       its math mode
 *   compute=N       of ex
 * Prints the last status, a checksum of all Cs, what became of the padding, and
 * a line for each group: a checksum of its Cs, how far they are from FP64. */
#include "level3.h"

enum { MOST = 16 };

struct group {
	struct product p;
	const struct distribution *data;
	float *a, *b, *before, *after;  /* on the host */
	float *device_a, *device_b, *device_c;
	size_t count_a, count_b, count_c;
};

static struct group groups[MOST];
static int group_count;

static struct words words = { .calls = 1 };
static struct {
	const char *form;
	int64_t good, count;
	bool has_count, is_pinned, is_good;
	cublasPointerMode_t mode;
	cublasMath_t math;
	cublasComputeType_t compute;
} asked = { .compute = CUBLAS_COMPUTE_32F };

/* As both kinds of call want them. */
static struct {
	cublasOperation_t ta[MOST], tb[MOST];
	int64_t number[7][MOST]; /* m n k lda ldb ldc size */
	int narrow[7][MOST];
	float alpha[MOST], beta[MOST];
} host;

static const void *const *arrays[3];
static cublasHandle_t handle;
static cudaStream_t stream;

static int64_t
leading(const struct group *g, int64_t rows)
{
	return words.ld && g == &groups[group_count - 1] ? words.ld
	    : largest(rows, 1) + words.pad;
}

static void
parse_group(char *text)
{
	struct group *g = &groups[group_count++];
	struct product *p = &g->p;
	char *field[9], *left = text;

	client_expect(group_count <= MOST, "no more groups than there is room");
	for (int i = 0; i < 9; i++) {
		field[i] = strsep(&left, ",");
		client_expect(field[i], "a group has nine fields");
	}
	p->transa = operation_of(field[0]);
	p->transb = operation_of(field[1]);
	p->m = strtoll(field[2], NULL, 10);
	p->n = strtoll(field[3], NULL, 10);
	p->k = strtoll(field[4], NULL, 10);
	p->batch = strtoll(field[5], NULL, 10);
	p->alpha = strtof(field[6], NULL);
	p->beta = strtof(field[7], NULL);
	g->data = distribution_find(field[8]);
	client_expect(g->data, "the distribution is known");
}

static void
parse_word(char *text)
{
	char *value = words_take(&words, text);
	const int64_t n = value ? strtoll(value, NULL, 10) : 0;

	if (!value)
		return;
	if (!strncmp(text, "good=", 5))
		asked.good = n;
	else if (!strncmp(text, "count=", 6))
		asked.has_count = true, asked.count = n;
	else if (!strcmp(text, "arrays=pinned"))
		asked.is_pinned = true;
	else if (!strcmp(text, "mode=device"))
		asked.mode = CUBLAS_POINTER_MODE_DEVICE;
	else if (!strcmp(text, "math=tf32"))
		asked.math = CUBLAS_TF32_TENSOR_OP_MATH;
	else if (!strncmp(text, "compute=", 8))
		asked.compute = (cublasComputeType_t)n;
	else
		client_expect(false, "the word is known");
}

/* ---- Matrices ------------------------------------------------------------ */

static void
store(float *to, const double *from, cublasOperation_t op, int64_t rows,
    int64_t cols, int64_t ld)
{
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < cols; j++)
			to[op == CUBLAS_OP_N ? i + j * ld : j + i * ld] =
			    (float)from[i * cols + j];
}

static void
fill(struct group *g, uint64_t seed)
{
	const struct product *p = &g->p;
	const int64_t m = largest(p->m, 0), n = largest(p->n, 0);
	const int64_t k = largest(p->k, 0);
	double *a = client_allocate((size_t)(m * k), sizeof *a);
	double *b = client_allocate((size_t)(k * n), sizeof *b);

	for (int64_t i = 0; i < p->batch; i++) {
		float *c = g->before + i * p->stride_c;

		distribution_fill(g->data, &seed, m, n, k, a, b);
		store(g->a + i * p->stride_a, a, p->transa, m, k,
		    largest(p->lda, stored(p->transa, m, k).rows));
		store(g->b + i * p->stride_b, b, p->transb, k, n,
		    largest(p->ldb, stored(p->transb, k, n).rows));
		for (int64_t j = 0; j < n; j++)
			for (int64_t r = 0; r < m; r++)
				c[j * largest(p->ldc, m) + r] =
				    (float)(2 * client_uniform(&seed) - 1);
	}
	free(a);
	free(b);
}

static void
prepare(struct group *g, uint64_t seed)
{
	struct product *p = &g->p;
	const struct matrix a = stored(p->transa, p->m, p->k);
	const struct matrix b = stored(p->transb, p->k, p->n);

	p->lda = leading(g, a.rows);
	p->ldb = leading(g, b.rows);
	p->ldc = leading(g, p->m);
	p->stride_a = largest(p->lda, a.rows) * largest(a.cols, 1) + 3;
	p->stride_b = largest(p->ldb, b.rows) * largest(b.cols, 1) + 5;
	p->stride_c = largest(p->ldc, p->m) * largest(p->n, 1) + 7;
	g->count_a = (size_t)(p->stride_a * largest(p->batch, 0));
	g->count_b = (size_t)(p->stride_b * largest(p->batch, 0));
	g->count_c = (size_t)(p->stride_c * largest(p->batch, 0));
	g->a = blank((int64_t)g->count_a);
	g->b = blank((int64_t)g->count_b);
	g->before = blank((int64_t)g->count_c);
	g->after = blank((int64_t)g->count_c);
	fill(g, seed);
	g->device_a = client_device(g->a, g->count_a);
	g->device_b = client_device(g->b, g->count_b);
	g->device_c = client_device(g->before, g->count_c);
}

static void
restore(void)
{
	for (int i = 0; i < group_count; i++)
		CUDA(cudaMemcpyAsync(groups[i].device_c, groups[i].before,
		    groups[i].count_c * sizeof(float), cudaMemcpyHostToDevice,
		    stream));
	CUDA(cudaStreamSynchronize(stream));
}

/* ---- Arguments ----------------------------------------------------------- */

static void
point(int which, float *const base[], const long long stride[])
{
	const float *all[1024];
	size_t count = 0;
	void *to;

	for (int i = 0; i < group_count; i++)
		for (int64_t j = 0; j < groups[i].p.batch; j++)
			all[count++] = base[i] + j * stride[i];
	if (asked.is_pinned)
		CUDA(cudaMallocHost(&to, (count + 1) * sizeof *all));
	else
		CUDA(cudaMalloc(&to, (count + 1) * sizeof *all));
	CUDA(cudaMemcpy(to, all, count * sizeof *all, cudaMemcpyDefault));
	arrays[which] = to;
}

static void
pack(void)
{
	float *base[3][MOST];
	long long stride[3][MOST];

	for (int i = 0; i < group_count; i++) {
		const struct group *g = &groups[i];
		const int64_t numbers[7] = { g->p.m, g->p.n, g->p.k, g->p.lda,
			g->p.ldb, g->p.ldc, g->p.batch };

		for (int j = 0; j < 7; j++) {
			host.number[j][i] = numbers[j];
			host.narrow[j][i] = (int)numbers[j];
		}
		host.ta[i] = g->p.transa;
		host.tb[i] = g->p.transb;
		host.alpha[i] = g->p.alpha;
		host.beta[i] = g->p.beta;
		base[0][i] = g->device_a, stride[0][i] = g->p.stride_a;
		base[1][i] = g->device_b, stride[1][i] = g->p.stride_b;
		base[2][i] = g->device_c, stride[2][i] = g->p.stride_c;
	}
	for (int i = 0; i < 3; i++)
		point(i, base[i], stride[i]);
}

#define HEAD(numbers) OR_NULL(handle, handle), OR_NULL(transa, host.ta), \
	OR_NULL(transb, host.tb), OR_NULL(m, host.numbers[0]), \
	OR_NULL(n, host.numbers[1]), OR_NULL(k, host.numbers[2]), \
	OR_NULL(alpha, host.alpha)
#define TAIL(numbers, index) OR_NULL(ldc, host.numbers[5]), \
	(index)(asked.is_good ? group_count - 1 : asked.has_count \
	    ? asked.count : group_count), \
	OR_NULL(size, host.numbers[6])
#define PLAIN(symbol, numbers, index) symbol(HEAD(numbers), \
	(const float *const *)OR_NULL(a, arrays[0]), \
	OR_NULL(lda, host.numbers[3]), \
	(const float *const *)OR_NULL(b, arrays[1]), \
	OR_NULL(ldb, host.numbers[4]), OR_NULL(beta, host.beta), \
	(float *const *)(uintptr_t)OR_NULL(c, arrays[2]), TAIL(numbers, index))
#define EX(symbol, numbers, index) symbol(HEAD(numbers), \
	OR_NULL(a, arrays[0]), CUDA_R_32F, OR_NULL(lda, host.numbers[3]), \
	OR_NULL(b, arrays[1]), CUDA_R_32F, OR_NULL(ldb, host.numbers[4]), \
	OR_NULL(beta, host.beta), \
	(void *const *)(uintptr_t)OR_NULL(c, arrays[2]), CUDA_R_32F, \
	TAIL(numbers, index), asked.compute)

/* From one place in the program. */
static cublasStatus_t __attribute__((noinline))
call(void)
{
	if (!strcmp(asked.form, "s"))
		return PLAIN(cublasSgemmGroupedBatched, narrow, int);
	if (!strcmp(asked.form, "s64"))
		return PLAIN(cublasSgemmGroupedBatched_64, number, int64_t);
	if (!strcmp(asked.form, "ex"))
		return EX(cublasGemmGroupedBatchedEx, narrow, int);
	client_expect(!strcmp(asked.form, "ex64"), "the form is known");
	return EX(cublasGemmGroupedBatchedEx_64, number, int64_t);
}

/* ---- Results ------------------------------------------------------------- */

static bool
report(cublasStatus_t status)
{
	uint64_t checksum = 0;
	bool kept = true;

	for (int i = 0; i < group_count; i++) {
		struct group *g = &groups[i];

		client_host(g->after, g->device_c, g->count_c);
		checksum = client_hash(checksum, g->after,
		    g->count_c * sizeof(float));
		kept &= status || g->p.m < 0 || g->p.n < 0
		    || padding_is_kept(&g->p, g->before, g->after, g->count_c);
	}
	printf("status=%d checksum=%016" PRIx64 " padding=%s\n", (int)status,
	    checksum, kept ? "ok" : "BROKEN");
	for (int i = 0; i < group_count && !status; i++) {
		const struct group *g = &groups[i];
		const struct error e = error_measure(&g->p, g->a, g->b,
		    g->before, g->after);

		printf("group=%d checksum=%016" PRIx64 " err=%.3e row=%.3e "
		    "classes=%" PRId64 "\n", i, client_hash(0, g->after,
		    g->count_c * sizeof(float)), e.normwise, e.row,
		    e.classes);
	}
	return kept;
}

static void
make_good_calls(void)
{
	const char *null = words.null;

	words.null = NULL;
	asked.is_good = true;
	for (int64_t i = 0; i < asked.good; i++)
		BLAS(call());
	words.null = null;
	asked.is_good = false;
}

int
main(int argc, char **argv)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

	client_expect(argc > 1, "there is a form");
	asked.form = argv[1];
	for (int i = 2; i < argc; i++)
		if (strchr(argv[i], '='))
			parse_word(argv[i]);
		else
			parse_group(argv[i]);
	for (int i = 0; i < group_count; i++)
		prepare(&groups[i], (uint64_t)i + 1);
	CUDA(cudaStreamCreate(&stream));
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetStream(handle, stream));
	BLAS(cublasSetMathMode(handle, asked.math));
	pack();
	make_good_calls();
	BLAS(cublasSetPointerMode(handle, asked.mode));
	for (int64_t i = 0; i < words.calls; i++) {
		restore();
		status = call();
		CUDA(cudaStreamSynchronize(stream));
	}
	if (words.captured)
		client_replay(stream, words.captured, call, restore);
	return report(status) ? EXIT_SUCCESS : EXIT_FAILURE;
}
