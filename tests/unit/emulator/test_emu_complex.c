/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_complex.c -- complex products of the emulated
 * cuBLAS: every function and every compute type against FP64. */
#include "test_emu_gemm.h"

#include <complex.h>
#include <math.h>

typedef double complex number;
enum { M = 5, N = 4, K = 9, BATCH = 3, LD = 11, SIZE = LD * LD };
static const cuComplex alpha = { 1.5f, -0.5f }, beta = { -0.25f, 2 };
static cublasHandle_t handle;

static number
make(double re, double im)
{
	number x = re;

	__imag__ x = im;
	return x;
}

/* Three stacks of matrices on the host and on the device, and C's pointers. */
static struct {
	cuComplex a[BATCH * SIZE], b[BATCH * SIZE], c[BATCH * SIZE];
	cuComplex *da, *db, *dc;
	cuComplex **pa, **pb, **pc;
} data;

static cuComplex **
pointers(cuComplex *first)
{
	cuComplex *host[BATCH];

	for (int i = 0; i < BATCH; i++)
		host[i] = first + i * SIZE;
	return test_upload(host, sizeof host);
}

static int
set_up(void **state)
{
	uint64_t seed = 3;
	float *all = &data.a[0].x;

	(void)state;
	for (int i = 0; i < 6 * BATCH * SIZE; i++)
		all[i] = test_random(&seed);
	data.da = test_upload(data.a, sizeof data.a);
	data.db = test_upload(data.b, sizeof data.b);
	data.dc = test_upload(data.c, sizeof data.c);
	data.pa = pointers(data.da);
	data.pb = pointers(data.db);
	data.pc = pointers(data.dc);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	OK(cudaFree(data.da));
	OK(cudaFree(data.db));
	OK(cudaFree(data.dc));
	OK(cudaFree(data.pa));
	OK(cudaFree(data.pb));
	OK(cudaFree(data.pc));
	return 0;
}

static void
restore_c(void)
{
	OK(cudaMemcpy(data.dc, data.c, sizeof data.c, cudaMemcpyHostToDevice));
}

/* Round to `bits` significant bits, ties to even; the data are far from the
 * ends of every format's range. */
static double
nearest(float x, int bits)
{
	int exponent;
	double unit;

	frexp((double)x, &exponent);
	unit = ldexp(1, exponent - bits);
	return nearbyint((double)x / unit) * unit;
}

static number
element(const cuComplex *matrix, cublasOperation_t op, int i, int j, int bits)
{
	const cuComplex x = op == CUBLAS_OP_N ? matrix[j * LD + i] :
	    matrix[i * LD + j];
	const double im = nearest(x.y, bits);

	return make(nearest(x.x, bits), op == CUBLAS_OP_C ? -im : im);
}

static void
check(int batch, cublasOperation_t ta, cublasOperation_t tb, int bits)
{
	static cuComplex got[BATCH * SIZE];

	OK(cudaMemcpy(got, data.dc, sizeof got, cudaMemcpyDeviceToHost));
	for (int z = 0; z < BATCH; z++)
	for (int j = 0; j < LD; j++)
	for (int i = 0; i < LD; i++) {
		const int at = z * SIZE + j * LD + i;
		const number old = make((double)data.c[at].x,
		    (double)data.c[at].y);
		number sum = 0, want;

		for (int l = 0; l < K; l++)
			sum += element(data.a + z * SIZE, ta, i < M ? i : 0, l,
			    bits) * element(data.b + z * SIZE, tb, l,
			    j < N ? j : 0, bits);
		want = make((double)alpha.x, (double)alpha.y) * sum +
		    make((double)beta.x, (double)beta.y) * old;
		if (i >= M || j >= N || z >= batch)
			want = old;
		/* K/4 + 4 truncations of 2^-23, |terms| below 2 * 1.6 */
		assert_true(cabs(make((double)got[at].x, (double)got[at].y) -
		    want) <= (K / 4.0 + 4) * 0x1p-23 * 3.2 * K);
	}
	restore_c();
}

static const cublasOperation_t operations[] = { CUBLAS_OP_N, CUBLAS_OP_T,
	CUBLAS_OP_C };

#define ONE_BY_ONE handle, ta, tb, M, N, K, &alpha, data.da, LD, data.db, LD, \
	&beta, data.dc, LD
#define STRIDED handle, ta, tb, M, N, K, &alpha, data.da, LD, SIZE,       \
	data.db, LD, SIZE, &beta, data.dc, LD, SIZE, BATCH
#define POINTERS handle, ta, tb, M, N, K, &alpha,                         \
	(const cuComplex *const *)data.pa, LD,                            \
	(const cuComplex *const *)data.pb, LD, &beta, data.pc, LD, BATCH
#define TYPED handle, ta, tb, M, N, K, &alpha, data.da, CUDA_C_32F, LD,   \
	data.db, CUDA_C_32F, LD, &beta, data.dc, CUDA_C_32F, LD

#define TRY(batch, call) do { OK(call); check(batch, ta, tb, 24); } while (0)

/* Every entry of the family, all operations. */
static void
entries(void **state)
{
	(void)state;
	for (int ops = 0; ops < 9; ops++) {
		const cublasOperation_t ta = operations[ops / 3];
		const cublasOperation_t tb = operations[ops % 3];

		TRY(1, cublasCgemm(ONE_BY_ONE));
		TRY(1, cublasCgemm3m(ONE_BY_ONE));
		TRY(1, cublasCgemmEx(TYPED));
		TRY(1, cublasCgemm3mEx(TYPED));
		TRY(BATCH, cublasCgemmStridedBatched(STRIDED));
		TRY(BATCH, cublasCgemm3mStridedBatched(STRIDED));
		TRY(BATCH, cublasCgemmBatched(POINTERS));
		TRY(BATCH, cublasCgemm3mBatched(POINTERS));
		TRY(1, cublasCgemm_64(ONE_BY_ONE));
		TRY(1, cublasCgemm3m_64(ONE_BY_ONE));
		TRY(1, cublasCgemmEx_64(TYPED));
		TRY(1, cublasCgemm3mEx_64(TYPED));
		TRY(BATCH, cublasCgemmStridedBatched_64(STRIDED));
		TRY(BATCH, cublasCgemm3mStridedBatched_64(STRIDED));
		TRY(BATCH, cublasCgemmBatched_64(POINTERS));
		TRY(BATCH, cublasCgemm3mBatched_64(POINTERS));
	}
}

/* The compute types round both parts of every input. */
static void
compute_types(void **state)
{
	static const struct {
		cublasComputeType_t compute;
		int bits;
	} types[] = {
		{ CUBLAS_COMPUTE_32F, 24 },
		{ CUBLAS_COMPUTE_32F_PEDANTIC, 24 },
		{ CUBLAS_COMPUTE_32F_FAST_TF32, 11 },
		{ CUBLAS_COMPUTE_32F_FAST_16F, 11 },
		{ CUBLAS_COMPUTE_32F_FAST_16BF, 8 },
	};
	const cublasOperation_t ta = CUBLAS_OP_C, tb = CUBLAS_OP_T;

	(void)state;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		OK(cublasGemmEx(TYPED, types[i].compute, CUBLAS_GEMM_DEFAULT));
		check(1, ta, tb, types[i].bits);
		OK(cublasGemmStridedBatchedEx(handle, ta, tb, M, N, K, &alpha,
		    data.da, CUDA_C_32F, LD, SIZE, data.db, CUDA_C_32F, LD,
		    SIZE, &beta, data.dc, CUDA_C_32F, LD, SIZE, BATCH,
		    types[i].compute, CUBLAS_GEMM_DEFAULT));
		check(BATCH, ta, tb, types[i].bits);
		OK(cublasGemmBatchedEx(handle, ta, tb, M, N, K, &alpha,
		    (const void *const *)data.pa, CUDA_C_32F, LD,
		    (const void *const *)data.pb, CUDA_C_32F, LD, &beta,
		    (void *const *)data.pc, CUDA_C_32F, LD, BATCH,
		    types[i].compute, CUBLAS_GEMM_DEFAULT));
		check(BATCH, ta, tb, types[i].bits);
	}
	OK(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
	OK(cublasCgemm(ONE_BY_ONE));
	check(1, ta, tb, 11);
	OK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries),
		cmocka_unit_test(compute_types),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cublasCreate(&handle))
		return 1;
	failed = cmocka_run_group_tests(tests, set_up, tear_down);
	cublasDestroy(handle);
	return failed;
}
