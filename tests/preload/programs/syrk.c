/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/syrk.c -- a triangle of alpha op(A) op(B)^T + beta C:
 * syrk FORM UPLO TRANS N K ALPHA BETA DATA [WORD=VALUE...]
 * FORM: s s64, of A alone, x x64, with a B. UPLO: l u, or f, which is none.
 * TRANS: n t c, or x, which is none. Words: those of level3.h, ld= being of A,
 * and:
 *   scalars=device
 *   within=N      s, n, l: A and C are parts of one matrix, as in a Cholesky
 *                 factorisation: C begins N rows below A. 0: they share rows
 * Prints the last status, a checksum of C, whether all but the triangle is as
 * it was, and how far that is from FP64. */
#include "level3.h"

static struct words words = { .calls = 1 };
static struct {
	const char *form;
	cublasFillMode_t uplo;
	cublasOperation_t trans;
	int64_t n, k, within;
	int64_t lda, ldb, ldc;
	float alpha, beta;
	const struct distribution *data;
	bool is_within, on_device;
} asked;

static struct matrix lines;      /* A, or B, as stored */
static float *a, *b, *before, *after;
static size_t count_a, count_b, count_c;
static float *device_a, *device_b, *device_c, *device_scalars;
static cublasHandle_t handle;
static cudaStream_t stream;

static void
parse_word(char *text)
{
	const char *value = words_take(&words, text);

	if (value && !strcmp(text, "scalars=device"))
		asked.on_device = true;
	else if (value && !strncmp(text, "within=", 7))
		asked.is_within = true, asked.within = strtoll(value, NULL, 10);
	else
		client_expect(!value, "the word is known");
}

static void
parse(int argc, char **argv)
{
	client_expect(argc > 8, "there are eight arguments");
	asked.form = argv[1];
	asked.uplo = triangle_of(argv[2]);
	asked.trans = operation_of(argv[3]);
	asked.n = strtoll(argv[4], NULL, 10);
	asked.k = strtoll(argv[5], NULL, 10);
	asked.alpha = strtof(argv[6], NULL);
	asked.beta = strtof(argv[7], NULL);
	asked.data = distribution_find(argv[8]);
	client_expect(asked.data, "the distribution is known");
	for (int i = 9; i < argc; i++)
		parse_word(argv[i]);
}

/* ---- Matrices ------------------------------------------------------------ */

static float *
stored_lines(const double *from, int64_t ld, size_t *count_out)
{
	const int64_t n = largest(asked.n, 0), k = largest(asked.k, 0);
	const int64_t apart = largest(ld, lines.rows);
	float *x;

	*count_out = (size_t)(apart * largest(lines.cols, 1));
	x = blank((int64_t)*count_out);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			x[asked.trans == CUBLAS_OP_N ? i + j * apart
			    : j + i * apart] = (float)from[i * k + j];
	return x;
}

/* op(A), and op(B) as the columns of what is multiplied. */
static void
fill(void)
{
	const int64_t n = largest(asked.n, 0), k = largest(asked.k, 0);
	double *x = client_allocate((size_t)(n * k), sizeof *x);
	double *y = client_allocate((size_t)(k * n), sizeof *y);
	double *turned = client_allocate((size_t)(k * n), sizeof *y);
	uint64_t seed = 1;

	distribution_fill(asked.data, &seed, n, n, k, x, y);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < k; j++)
			turned[i * k + j] = y[j * n + i];
	a = stored_lines(x, asked.lda, &count_a);
	b = stored_lines(*asked.form == 's' ? x : turned, asked.ldb, &count_b);
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			before[i + j * asked.ldc] =
			    (float)(2 * client_uniform(&seed) - 1);
	free(x);
	free(y);
	free(turned);
}

static void
prepare(void)
{
	lines = stored(asked.trans, asked.n, asked.k);
	asked.lda = words.ld ? words.ld : largest(lines.rows, 1) + words.pad;
	asked.ldb = largest(lines.rows, 1) + words.pad;
	asked.ldc = largest(asked.n, 1) + words.pad;
	count_c = (size_t)(asked.ldc * largest(asked.n, 1));
	before = blank((int64_t)count_c);
	after = blank((int64_t)count_c);
	fill();
	device_a = client_device(a, count_a);
	device_b = client_device(b, count_b);
	device_c = client_device(before, count_c);
	device_scalars = client_device((float[]){ asked.alpha, asked.beta },
	    2);
}

/* In columns of C's, A first: C is behind its K columns. */
static void
join(void)
{
	const int64_t ld = asked.n + asked.within;
	float *parent = blank((ld * (asked.k + asked.n)));

	for (int64_t j = 0; j < asked.k; j++)
		memcpy(parent + j * ld + (asked.within ? asked.within : 0),
		    a + j * asked.lda, (size_t)asked.n * sizeof *a);
	device_a = client_device(parent, (size_t)(ld * (asked.k + asked.n)));
	free(parent);
	device_c = device_a + (asked.within ? asked.k * ld + asked.within
	    : 0);
	device_a += asked.within;
	asked.lda = ld;
	free(before);
	free(after);
	asked.ldc = ld;
	count_c = (size_t)(ld * (asked.n - 1) + asked.n);
	before = client_allocate(count_c, sizeof *before);
	after = client_allocate(count_c, sizeof *after);
	for (size_t i = 0; i < count_c; i++)
		before[i] = (float)i;
	if (!asked.within)
		client_host(before, device_c, count_c);
}

static void
restore(void)
{
	CUDA(cudaMemcpyAsync(device_c, before, count_c * sizeof *before,
	    cudaMemcpyHostToDevice, stream));
	CUDA(cudaStreamSynchronize(stream));
}

/* ---- Calls --------------------------------------------------------------- */

#define HEAD(index) OR_NULL(handle, handle), asked.uplo, asked.trans, \
	(index)asked.n, (index)asked.k, OR_NULL(alpha, asked.on_device \
	? device_scalars : &asked.alpha), OR_NULL(a, device_a), \
	(index)asked.lda
#define TAIL(index) OR_NULL(beta, asked.on_device ? device_scalars + 1 \
	: &asked.beta), OR_NULL(c, device_c), (index)asked.ldc

/* From one place in the program. */
static cublasStatus_t __attribute__((noinline))
call(void)
{
	if (!strcmp(asked.form, "s"))
		return cublasSsyrk(HEAD(int), TAIL(int));
	if (!strcmp(asked.form, "s64"))
		return cublasSsyrk_64(HEAD(int64_t), TAIL(int64_t));
	if (!strcmp(asked.form, "x"))
		return cublasSsyrkx(HEAD(int), OR_NULL(b, device_b),
		    (int)asked.ldb, TAIL(int));
	client_expect(!strcmp(asked.form, "x64"), "the form is known");
	return cublasSsyrkx_64(HEAD(int64_t), OR_NULL(b, device_b), asked.ldb,
	    TAIL(int64_t));
}

/* ---- Results ------------------------------------------------------------- */

static bool
is_inside(int64_t row, int64_t col)
{
	return row >= 0 && row < asked.n && col < asked.n
	    && (asked.uplo == CUBLAS_FILL_MODE_LOWER ? row >= col
	    : row <= col);
}

static bool
rest_is_kept(void)
{
	bool kept = true;

	for (size_t i = 0; i < count_c; i++)
		kept &= is_inside((int64_t)i % asked.ldc,
		    (int64_t)i / asked.ldc)
		    || !memcmp(&before[i], &after[i], sizeof *after);
	return kept;
}

static double
wanted(int64_t row, int64_t col)
{
	const int64_t apart = largest(words.pad + lines.rows, 1);
	const bool plain = asked.trans == CUBLAS_OP_N;
	double sum = 0;

	for (int64_t p = 0; p < asked.k; p++)
		sum += (double)a[plain ? row + p * apart : p + row * apart]
		    * (double)b[plain ? col + p * apart : p + col * apart];
	return asked.alpha * sum + (asked.beta != 0 ? (double)asked.beta
	    * (double)before[row + col * asked.ldc] : 0);
}

/* Of a large one some columns are enough. */
static double
error(void)
{
	const int64_t step = asked.n > 1000 ? 61 : 1;
	double wrong = 0, size = 0;

	for (int64_t j = 0; j < asked.n; j += step)
		for (int64_t i = 0; i < asked.n; i++) {
			double x, y;

			if (!is_inside(i, j))
				continue;
			x = wanted(i, j);
			y = (double)after[i + j * asked.ldc] - x;
			if (!isfinite(x) && !isfinite(y))
				continue;
			wrong += y * y;
			size += x * x;
		}
	return wrong > 0 ? sqrt(wrong / size) : 0;
}

int
main(int argc, char **argv)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	bool kept;

	parse(argc, argv);
	prepare();
	if (asked.is_within)
		join();
	CUDA(cudaStreamCreate(&stream));
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetStream(handle, stream));
	BLAS(cublasSetPointerMode(handle, asked.on_device
	    ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
	for (int64_t i = 0; i < words.calls; i++) {
		restore();
		status = call();
		CUDA(cudaStreamSynchronize(stream));
	}
	if (words.captured)
		client_replay(stream, words.captured, call, restore);
	client_host(after, device_c, count_c);
	kept = status || rest_is_kept();
	printf("status=%d checksum=%016" PRIx64 " rest=%s", (int)status,
	    client_hash(0, after, count_c * sizeof *after),
	    kept ? "ok" : "BROKEN");
	if (!status && (!asked.is_within || asked.within))
		printf(" err=%.3e", error());
	putchar('\n');
	return kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
