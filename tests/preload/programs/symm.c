/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/symm.c -- alpha A B + beta C, or alpha B A + beta C,
 * of a symmetric A: symm FORM SIDE UPLO M N ALPHA BETA DATA [WORD=VALUE...]
 * FORM: int, 64. SIDE: l r, or x, which is none. UPLO: l u, or f, which is
 * none. What is not stored of A is NaN. Words: those of level3.h, ld= being of
 * A, and scalars=device.
 * Prints the last status, a checksum of C, whether what surrounds it is as it
 * was, how far it is from FP64, and how many classes of inf and NaN differ. */
#include "level3.h"

static struct words words = { .calls = 1 };
static struct {
	cublasSideMode_t side;
	cublasFillMode_t uplo;
	int64_t order, lda;
	const struct distribution *data;
	bool is_64, on_device;
} asked;

static struct product product;   /* by a whole A */
static float *whole, *stored_a, *b, *before, *after;
static float *device_a, *device_b, *device_c, *device_scalars;
static size_t count_c;
static cublasHandle_t handle;
static cudaStream_t stream;

static void
parse(int argc, char **argv)
{
	client_expect(argc > 8, "there are eight arguments");
	asked.is_64 = !strcmp(argv[1], "64");
	asked.side = *argv[2] == 'l' ? CUBLAS_SIDE_LEFT : *argv[2] == 'r'
	    ? CUBLAS_SIDE_RIGHT : (cublasSideMode_t)2;
	asked.uplo = triangle_of(argv[3]);
	product.m = strtoll(argv[4], NULL, 10);
	product.n = strtoll(argv[5], NULL, 10);
	product.alpha = strtof(argv[6], NULL);
	product.beta = strtof(argv[7], NULL);
	asked.data = distribution_find(argv[8]);
	client_expect(asked.data, "the distribution is known");
	for (int i = 9; i < argc; i++)
		if (words_take(&words, argv[i])) {
			client_expect(!strcmp(argv[i], "scalars=device"),
			    "the word is known");
			asked.on_device = true;
		}
}

/* ---- Matrices ------------------------------------------------------------ */

static bool
is_stored(int64_t row, int64_t col)
{
	return asked.uplo == CUBLAS_FILL_MODE_LOWER ? row >= col : row <= col;
}

/* From the numbers of a product of that order: its lower triangle, turned over
 * where `whole` is made. */
static void
fill(void)
{
	const int64_t m = largest(product.m, 0), n = largest(product.n, 0);
	const int64_t order = largest(asked.order, 0);
	const int64_t other = asked.side == CUBLAS_SIDE_LEFT ? n : m;
	double *x = client_allocate((size_t)(order * order), sizeof *x);
	double *y = client_allocate((size_t)(order * other), sizeof *y);
	uint64_t seed = 1;

	distribution_fill(asked.data, &seed, order, other, order, x, y);
	for (int64_t i = 0; i < order; i++)
		for (int64_t j = 0; j < order; j++) {
			const int64_t p = i > j ? i : j, q = i > j ? j : i;
			const float value = (float)x[p * order + q];

			whole[i + j * order] = value;
			stored_a[i + j * asked.lda] = is_stored(i, j) ? value
			    : NAN;
		}
	for (int64_t p = 0; p < order; p++)
		for (int64_t j = 0; j < other; j++)
			b[asked.side == CUBLAS_SIDE_LEFT ? p + j * product.ldb
			    : j + p * product.lda] = (float)y[p * other + j];
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++)
			before[i + j * product.ldc] =
			    (float)(2 * client_uniform(&seed) - 1);
	free(x);
	free(y);
}

/* On the right A is the second operand of the product. */
static void
prepare(void)
{
	const int64_t m = largest(product.m, 1), n = largest(product.n, 1);
	const bool left = asked.side == CUBLAS_SIDE_LEFT;
	const int64_t order = left ? m : n, ldb = m + words.pad;

	asked.order = left ? product.m : product.n;
	product.k = asked.order;
	product.batch = 1;
	product.ldc = m + words.pad;
	product.lda = left ? order : ldb;
	product.ldb = left ? ldb : order;
	asked.lda = words.ld ? words.ld : order + words.pad;
	count_c = (size_t)(product.ldc * n);
	whole = blank(order * order);
	stored_a = blank((asked.lda > order ? asked.lda : order) * order);
	b = blank(ldb * n);
	before = blank((int64_t)count_c);
	after = blank((int64_t)count_c);
	if (asked.lda >= order)
		fill();
	device_a = client_device(stored_a,
	    (size_t)((asked.lda > order ? asked.lda : order) * order));
	device_b = client_device(b, (size_t)(ldb * n));
	device_c = client_device(before, count_c);
	device_scalars = client_device((float[]){ product.alpha,
		product.beta }, 2);
}

static void
restore(void)
{
	CUDA(cudaMemcpyAsync(device_c, before, count_c * sizeof *before,
	    cudaMemcpyHostToDevice, stream));
	CUDA(cudaStreamSynchronize(stream));
}

/* ---- Calls --------------------------------------------------------------- */

#define SYMM(symbol, index) \
	symbol(OR_NULL(handle, handle), asked.side, asked.uplo, \
	(index)product.m, (index)product.n, OR_NULL(alpha, asked.on_device \
	? device_scalars : &product.alpha), OR_NULL(a, device_a), \
	(index)asked.lda, OR_NULL(b, device_b), (index)(asked.side \
	== CUBLAS_SIDE_LEFT ? product.ldb : product.lda), OR_NULL(beta, \
	asked.on_device ? device_scalars + 1 : &product.beta), \
	OR_NULL(c, device_c), (index)product.ldc)

/* From one place in the program. */
static cublasStatus_t __attribute__((noinline))
call(void)
{
	return asked.is_64 ? SYMM(cublasSsymm_64, int64_t)
	    : SYMM(cublasSsymm, int);
}

static void
print(cublasStatus_t status, bool is_kept)
{
	printf("status=%d checksum=%016" PRIx64 " rest=%s", (int)status,
	    client_hash(0, after, count_c * sizeof *after),
	    is_kept ? "ok" : "BROKEN");
	if (!status && asked.order > 0 && asked.lda >= asked.order) {
		const struct error error = error_measure(&product,
		    asked.side == CUBLAS_SIDE_LEFT ? whole : b,
		    asked.side == CUBLAS_SIDE_LEFT ? b : whole, before, after);

		printf(" err=%.3e classes=%" PRId64, error.normwise,
		    error.classes);
	}
	putchar('\n');
}

int
main(int argc, char **argv)
{
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	bool is_kept;

	parse(argc, argv);
	prepare();
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
	is_kept = status || padding_is_kept(&product, before, after, count_c);
	print(status, is_kept);
	return is_kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
