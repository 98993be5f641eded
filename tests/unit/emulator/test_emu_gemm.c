/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_gemm.c -- products of the emulated cuBLAS:
 * results of every compute type against FP64, and how inputs are rounded. */
#include "test_emu_format.h"
#include "test_emu_gemm.h"

#include <math.h>

static cublasHandle_t handle;

/* ---- one case ---------------------------------------------------------- */

struct shape {
	int m, n, k, pad, batch;
};
struct kind {
	cublasComputeType_t compute;
	cudaDataType input, output;
	enum format rounded; /* the rounded inputs */
};

struct matrix {
	int rows, cols, ld, batch;
	cudaDataType type;
	double *values; /* as stored, padding included */
	void *device;
	size_t bytes;
};

static struct matrix
make(int rows, int cols, int pad, int batch, cudaDataType type, uint64_t *seed)
{
	struct matrix m = { rows, cols, rows + pad, batch, type, NULL, NULL,
		0 };
	const size_t count = (size_t)m.ld * (size_t)cols * (size_t)batch;
	void *stored = malloc(count * width(type));

	m.bytes = count * width(type);
	m.values = malloc(count * sizeof *m.values);
	for (size_t i = 0; i < count; i++) {
		m.values[i] = to_format((double)test_random(seed),
		    format_of(type));
		put(stored, i, m.values[i], type);
	}
	m.device = test_upload(stored, m.bytes);
	free(stored);
	return m;
}

static void
drop(struct matrix *m)
{
	OK(cudaFree(m->device));
	free(m->values);
}

static double
at(const struct matrix *x, int b, cublasOperation_t op, int i, int j,
    enum format rounded)
{
	const size_t row = (size_t)(op == CUBLAS_OP_N ? i : j);
	const size_t col = (size_t)(op == CUBLAS_OP_N ? j : i);
	const size_t matrix = (size_t)b * (size_t)x->ld * (size_t)x->cols;

	return to_format(x->values[matrix + col * (size_t)x->ld + row],
	    rounded);
}

/* doc/accuracy.md A7: (K/L + 4) 2^-23 |alpha| |A||B| + 2^-22 (|alpha AB| +
 * |beta C|), L = 4; a 16-bit result is rounded once more. */
static void
check_element(double got, double sum, double sizes, double alpha,
    double beta_c, const struct kind *kind, int k)
{
	const double want = alpha * sum + beta_c;
	double tolerance = (k / 4.0 + 4) * 0x1p-23 * fabs(alpha) * sizes +
	    0x1p-22 * (fabs(alpha * sum) + fabs(beta_c));

	if (kind->output == CUDA_R_16F)
		tolerance += fabs(want) * 0x1p-11 + 0x1p-25;
	if (kind->output == CUDA_R_16BF)
		tolerance += fabs(want) * 0x1p-8;
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.9g, want %.9g within %.3g", got, want,
		    tolerance);
}

static void
check_result(const struct matrix *a, const struct matrix *b,
    const struct matrix *c, cublasOperation_t ta, cublasOperation_t tb,
    const struct shape *s, const struct kind *kind, float alpha, float beta)
{
	void *result = malloc(c->bytes);

	OK(cudaMemcpy(result, c->device, c->bytes, cudaMemcpyDeviceToHost));
	for (int z = 0; z < s->batch; z++)
	for (int j = 0; j < s->n; j++)
	for (int i = 0; i < c->ld; i++) {
		const size_t to = ((size_t)z * (size_t)s->n + (size_t)j) *
		    (size_t)c->ld + (size_t)i;
		const double got = kind->output == CUDA_R_32F ?
		    (double)((float *)result)[to] :
		    decode(((uint16_t *)result)[to], format_of(kind->output));
		double sum = 0, sizes = 0;

		if (i >= s->m) { /* gaps keep their values */
			assert_true(got == c->values[to]);
			continue;
		}
		for (int l = 0; l < s->k; l++) {
			const double x = at(a, z, ta, i, l, kind->rounded);
			const double y = at(b, z, tb, l, j, kind->rounded);

			sum += x * y;
			sizes += fabs(x * y);
		}
		check_element(got, sum, sizes, (double)alpha,
		    (double)beta * c->values[to], kind, s->k);
	}
	free(result);
}

static void
run_case(const struct shape *s, const struct kind *kind, cublasOperation_t ta,
    cublasOperation_t tb, float alpha, float beta)
{
	uint64_t seed = 7;
	struct matrix a = make(ta == CUBLAS_OP_N ? s->m : s->k,
	    ta == CUBLAS_OP_N ? s->k : s->m, s->pad, s->batch, kind->input,
	    &seed);
	struct matrix b = make(tb == CUBLAS_OP_N ? s->k : s->n,
	    tb == CUBLAS_OP_N ? s->n : s->k, s->pad, s->batch, kind->input,
	    &seed);
	struct matrix c = make(s->m, s->n, s->pad, s->batch, kind->output,
	    &seed);

	OK(cublasGemmStridedBatchedEx(handle, ta, tb, s->m, s->n, s->k,
	    &alpha, a.device, kind->input, a.ld, (long long)a.ld * a.cols,
	    b.device, kind->input, b.ld, (long long)b.ld * b.cols, &beta,
	    c.device, kind->output, c.ld, (long long)c.ld * c.cols, s->batch,
	    kind->compute, CUBLAS_GEMM_DEFAULT));
	check_result(&a, &b, &c, ta, tb, s, kind, alpha, beta);
	drop(&a);
	drop(&b);
	drop(&c);
}

static const struct kind kinds[] = {
	{ CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, FP32 },
	{ CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, CUDA_R_32F, FP32 },
	{ CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, TF32 },
	{ CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, CUDA_R_32F, BF16 },
	{ CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, CUDA_R_32F, FP16 },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16F, CUDA_R_32F, FP32 },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_32F, FP32 },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16F, CUDA_R_16F, FP32 },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_16BF, FP32 },
};

/* Each compute type rounds inputs as its name says and sums in FP32, for all
 * operations, leading dimensions and batches. */
static void
numbers(void **state)
{
	static const struct shape shapes[] = {
		{ 1, 1, 1, 0, 1 }, { 17, 5, 33, 0, 1 }, { 8, 24, 256, 3, 1 },
		{ 7, 9, 40, 5, 3 }
	};

	(void)state;
	for (size_t t = 0; t < sizeof kinds / sizeof *kinds; t++)
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
	for (int ops = 0; ops < 9; ops++)
		run_case(&shapes[i], &kinds[t],
		    (cublasOperation_t)(ops / 3),
		    (cublasOperation_t)(ops % 3), ops % 2 ? 1.0f : -0.75f,
		    ops % 3 ? 0.5f : 0.0f);
}

/* Rounding is to nearest, ties to even, subnormals kept; FAST_16F does not
 * scale: it overflows and underflows. */
static void
rounding(void **state)
{
	static const struct {
		cublasComputeType_t compute;
		float x, rounded;
	} cases[] = {
		{ CUBLAS_COMPUTE_32F, 1 + 0x1p-23f, 1 + 0x1p-23f },
		{ CUBLAS_COMPUTE_32F_FAST_TF32, 1 + 0x1p-11f, 1 },
		{ CUBLAS_COMPUTE_32F_FAST_TF32, 1 + 0x3p-11f, 1 + 0x1p-9f },
		{ CUBLAS_COMPUTE_32F_FAST_16BF, 1 + 0x1p-8f, 1 },
		{ CUBLAS_COMPUTE_32F_FAST_16BF, 1 + 0x3p-8f, 1 + 0x1p-6f },
		{ CUBLAS_COMPUTE_32F_FAST_16F, 65519, 65504 },
		{ CUBLAS_COMPUTE_32F_FAST_16F, 65520, INFINITY },
		{ CUBLAS_COMPUTE_32F_FAST_16F, 0x3p-25f, 0x1p-23f },
		{ CUBLAS_COMPUTE_32F_FAST_16F, 0x1p-25f, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_true(test_one_by_one(handle, cases[i].compute,
		    cases[i].x, 1) == cases[i].rounded);
	assert_true(isnan(test_one_by_one(handle,
	    CUBLAS_COMPUTE_32F_FAST_TF32, NAN, 1)));
}

static float
sgemm_1(float x)
{
	const float one = 1, zero = 0;
	float *a = test_upload(&x, 4), *c = test_device(4), result;

	OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, 1,
	    a, 1, &zero, c, 1));
	OK(cudaMemcpy(&result, c, 4, cudaMemcpyDeviceToHost));
	OK(cudaFree(a));
	OK(cudaFree(c));
	return result;
}

/* The handle's math mode changes plain FP32 products, and only those. */
static void
math_mode(void **state)
{
	const float x = 1 + 0x1p-12f;

	(void)state;
	assert_true(sgemm_1(x) == x * x);
	OK(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
	assert_true(sgemm_1(x) == 1);
	assert_true(test_one_by_one(handle, CUBLAS_COMPUTE_32F, x, 1) == 1);
	assert_true(test_one_by_one(handle, CUBLAS_COMPUTE_32F_PEDANTIC, x, 1)
	    == x);
	OK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
	assert_int_equal(cublasSetMathMode(handle, (cublasMath_t)99),
	    CUBLAS_STATUS_INVALID_VALUE);
}

/* How FP64 may be made of integers is a hint: it is kept, no number of an FP32
 * product changes. */
static void
hints(void **state)
{
	cublasEmulationStrategy_t strategy;

	(void)state;
	OK(cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER));
	OK(cublasGetEmulationStrategy(handle, &strategy));
	assert_int_equal(strategy, CUBLAS_EMULATION_STRATEGY_EAGER);
	assert_int_equal(cublasSetEmulationStrategy(handle,
	    (cublasEmulationStrategy_t)3), CUBLAS_STATUS_INVALID_VALUE);
	assert_true(sgemm_1(1.5f) == 2.25f);
}

static void
fixed_point_hints(void **state)
{
#if CUBLAS_VERSION >= 130100
	cudaEmulationSpecialValuesSupport special;
	cudaEmulationMantissaControl control;
	int bits, *pointer;

	(void)state;
	OK(cublasGetEmulationSpecialValuesSupport(handle, &special));
	assert_int_equal(special,
	    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT);
	OK(cublasSetEmulationSpecialValuesSupport(handle,
	    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NONE));
	OK(cublasSetFixedPointEmulationMantissaControl(handle,
	    CUDA_EMULATION_MANTISSA_CONTROL_FIXED));
	OK(cublasGetFixedPointEmulationMantissaControl(handle, &control));
	assert_int_equal(control, CUDA_EMULATION_MANTISSA_CONTROL_FIXED);
	OK(cublasSetFixedPointEmulationMaxMantissaBitCount(handle, 55));
	OK(cublasGetFixedPointEmulationMaxMantissaBitCount(handle, &bits));
	assert_int_equal(bits, 55);
	OK(cublasSetFixedPointEmulationMantissaBitOffset(handle, -2));
	OK(cublasGetFixedPointEmulationMantissaBitOffset(handle, &bits));
	assert_int_equal(bits, -2);
	OK(cublasSetFixedPointEmulationMantissaBitCountPointer(handle, &bits));
	OK(cublasGetFixedPointEmulationMantissaBitCountPointer(handle,
	    &pointer));
	assert_ptr_equal(pointer, &bits);
	assert_true(sgemm_1(1.5f) == 2.25f);
#else
	(void)state;
	print_message("# skipped: the headers are older than cuBLAS 13.1\n");
	skip();
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(rounding),
		cmocka_unit_test(math_mode),
		cmocka_unit_test(hints),
		cmocka_unit_test(fixed_point_hints),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cublasCreate(&handle))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cublasDestroy(handle);
	return failed;
}
