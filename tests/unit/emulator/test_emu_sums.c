/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_sums.c -- how the emulated cuBLAS adds up: with
 * the GPU's bits, in FP64, or fast, and how far these are apart. */
#include "test_emu_exact.h"

enum { M = 33, N = 18, K = 77, LD = 80 };
enum { DEVICES = 3 };
static const struct test_blocks of_device[DEVICES][3] = {
	/* FP16, BF16, TF32 of an H200, an A100 and a T4, which has only FP16 */
	{ { 16, 25, -14 }, { 16, 25, -126 }, { 8, 25, -126 } },
	{ { 8, 24, -14 }, { 8, 24, -126 }, { 4, 24, -126 } },
	{ { 8, 24, -14 }, { 0, 0, 0 }, { 0, 0, 0 } },
};

static const struct kind {
	cublasComputeType_t compute;
	cudaDataType input, output;
	enum emu_rate format;
	int blocks; /* of of_device; -1: FMAs */
} kinds[] = {
	{ CUBLAS_COMPUTE_32F, CUDA_R_16F, CUDA_R_32F, EMU_FP16, 0 },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16F, CUDA_R_16F, EMU_FP16, 0 },
	{ CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_16F, CUDA_R_32F, EMU_FP16, -1 },
	{ CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, CUDA_R_32F, EMU_FP16, 0 },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_32F, EMU_BF16, 1 },
	{ CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, CUDA_R_32F, EMU_BF16, 1 },
	{ CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, EMU_TF32, 2 },
	{ CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, EMU_FP32, -1 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A matrix in the device's format, and in FP32. */
struct matrix {
	float value[LD * LD];
	void *device;
};

static void
encode(const struct matrix *x, cudaDataType type, uint16_t *to)
{
	for (int i = 0; i < LD * LD; i++) {
		const uint32_t bits = test_bits(x->value[i]);

		/* FP16: the data are normal numbers of it, or 0 */
		to[i] = type == CUDA_R_16BF ? (uint16_t)(bits >> 16) :
		    (uint16_t)((bits >> 16 & 0x8000) | (x->value[i] == 0 ? 0 :
		    (bits & 0x7fffffff) - 0x38000000) >> 13);
	}
}

static void
fill(struct matrix *x, cudaDataType type, uint64_t *seed)
{
	static uint16_t narrow[LD * LD];

	for (int i = 0; i < LD * LD; i++)
		x->value[i] = test_to_format(test_random(seed) + 1.25f,
		    type == CUDA_R_16F ? EMU_FP16 : type == CUDA_R_16BF ?
		    EMU_BF16 : EMU_FP32) * (i % 3 ? 1 : -1);
	if (type == CUDA_R_32F) {
		x->device = test_upload(x->value, sizeof x->value);
		return;
	}
	encode(x, type, narrow);
	x->device = test_upload(narrow, sizeof narrow);
}

static void
gather(const struct matrix *x, bool along_rows, int count, int k,
    enum emu_rate format, float *to)
{
	for (int i = 0; i < count; i++)
		for (int l = 0; l < k; l++)
			to[i * k + l] = test_to_format(x->value[along_rows ?
			    i * LD + l : l * LD + i], format);
}

static float
half_as_float(float x)
{
	return test_to_format(x, EMU_FP16);
}

static void
check(const struct kind *kind, const struct test_blocks *rules,
    const struct matrix m[3], bool ta, bool tb, float alpha, float beta)
{
	static float a[M * K], b[N * K], got[LD * LD];
	static uint16_t narrow[LD * LD], want_narrow[LD * LD];
	static struct matrix want;

	gather(&m[0], ta, M, K, kind->format, a);
	gather(&m[1], !tb, N, K, kind->format, b);
	want = m[2];
	for (int j = 0; j < N; j++)
	for (int i = 0; i < M; i++) {
		const float sum = rules ? test_sum(rules, K, a + i * K,
		    b + j * K) : test_chain(K, a + i * K, b + j * K);
		float *c = &want.value[j * LD + i];

		*c = beta == 0 ? alpha * sum : fmaf(alpha, sum, beta * *c);
	}
	if (kind->output == CUDA_R_32F) {
		OK(cudaMemcpy(got, m[2].device, sizeof got,
		    cudaMemcpyDeviceToHost));
		assert_memory_equal(got, want.value, sizeof got);
		return;
	}
	for (int i = 0; i < LD * LD; i++)
		want.value[i] = half_as_float(want.value[i]);
	encode(&want, CUDA_R_16F, want_narrow);
	OK(cudaMemcpy(narrow, m[2].device, sizeof narrow,
	    cudaMemcpyDeviceToHost));
	assert_memory_equal(narrow, want_narrow, sizeof narrow);
}

static void
run_kind(cublasHandle_t handle, const struct kind *kind,
    const struct test_blocks *rules, int variant)
{
	const bool ta = variant & 1, tb = variant & 2;
	const float alpha = variant & 4 ? 0.8125f : 1;
	const float beta = variant & 8 ? -1.25f : 0;
	static struct matrix m[3];
	uint64_t seed = (uint64_t)variant;

	fill(&m[0], kind->input, &seed);
	fill(&m[1], kind->input, &seed);
	fill(&m[2], kind->output, &seed);
	OK(cublasGemmEx(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
	    tb ? CUBLAS_OP_C : CUBLAS_OP_N, M, N, K, &alpha, m[0].device,
	    kind->input, LD, m[1].device, kind->input, LD, &beta, m[2].device,
	    kind->output, LD, kind->compute, CUBLAS_GEMM_DEFAULT));
	check(kind, rules, m, ta, tb, alpha, beta);
	for (int i = 0; i < 3; i++)
		OK(cudaFree(m[i].device));
}

/* Every format of every architecture, bit for bit, through cuBLAS: all
 * transposes, alpha and beta by one FMA, results of 16 bits. */
static void
exact(void **state)
{
	(void)state;
	for (int d = 0; d < DEVICES; d++) {
		cublasHandle_t handle;

		OK(cudaSetDevice(d));
		OK(cublasCreate(&handle));
		for (int t = 0; t < KINDS; t++)
		for (int variant = 0; variant < 16; variant++) {
			const struct test_blocks *rules = kinds[t].blocks < 0 ?
			    NULL : &of_device[d][kinds[t].blocks];

			if (!rules || rules->length)
				run_kind(handle, &kinds[t], rules, variant);
		}
		OK(cublasDestroy(handle));
	}
	OK(cudaSetDevice(0));
	assert_int_equal(emuCounter("products_not_exact"), 0);
}

/* `length` first terms, `length` second ones, and so on; zeros at the end. */
static void
interleave(const float *first, const float *second, float sign, int length,
    float *to)
{
	for (int l = 0; l < (K + length - 1) / length * length; l++) {
		const int at = l / length * 2 * length + l % length;

		to[at] = l < K ? first[l] : 0;
		to[at + length] = l < K ? sign * second[l] : 0;
	}
}

/* A complex sum is two real ones whose blocks alternate. */
static void
complex_sums(void **state)
{
	static const struct {
		cublasComputeType_t compute;
		enum emu_rate format;
		struct test_blocks blocks;
	} cases[] = {
		{ CUBLAS_COMPUTE_32F, EMU_FP32, { 0, 0, 0 } },
		{ CUBLAS_COMPUTE_32F_FAST_TF32, EMU_TF32, { 8, 25, -126 } },
		{ CUBLAS_COMPUTE_32F_FAST_16F, EMU_FP16, { 16, 25, -14 } },
	};
	static float a[2][K], b[2][K], mixed[2 * K], x[2][4 * K], y[2][4 * K];
	const cuComplex one = { 1, 0 }, zero = { 0, 0 };
	cuComplex *operand[2], *dc = test_device(sizeof *dc), got;
	cublasHandle_t handle;
	uint64_t seed = 31;

	(void)state;
	OK(cublasCreate(&handle));
	for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
		const int length = cases[t].blocks.length ?
		    cases[t].blocks.length : 1;
		const int count = (K + length - 1) / length * length * 2;
		float want[2];

		for (int s = 0; s < 2; s++) { /* A, then B */
			for (int l = 0; l < 2 * K; l++)
				mixed[l] = test_random(&seed);
			for (int l = 0; l < 2 * K; l++)
				(s ? b : a)[l % 2][l / 2] = test_to_format(
				    mixed[l], cases[t].format);
			operand[s] = test_upload(mixed, sizeof mixed);
		}
		interleave(a[0], a[1], -1, length, x[0]);
		interleave(b[0], b[1], 1, length, y[0]);
		interleave(a[0], a[1], 1, length, x[1]);
		interleave(b[1], b[0], 1, length, y[1]);
		OK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, K,
		    &one, operand[0], CUDA_C_32F, K, operand[1], CUDA_C_32F,
		    K, &zero, dc, CUDA_C_32F, 1, cases[t].compute,
		    CUBLAS_GEMM_DEFAULT));
		OK(cudaMemcpy(&got, dc, sizeof got, cudaMemcpyDeviceToHost));
		for (int i = 0; i < 2; i++)
			want[i] = cases[t].blocks.length ?
			    test_sum(&cases[t].blocks, count, x[i], y[i]) :
			    test_chain(count, x[i], y[i]);
		assert_int_equal(test_bits(got.x), test_bits(want[0]));
		assert_int_equal(test_bits(got.y), test_bits(want[1]));
		OK(cudaFree(operand[0]));
		OK(cudaFree(operand[1]));
	}
	OK(cudaFree(dc));
	OK(cublasDestroy(handle));
}

/* A m x k times a k x n product of uniform numbers, in `to`. */
static void
multiply(cublasHandle_t handle, cublasComputeType_t compute, int m, int n,
    int k, const float *a, const float *b, float *to)
{
	const float one = 1, zero = 0;
	float *x = test_upload(a, (size_t)m * (size_t)k * 4);
	float *y = test_upload(b, (size_t)k * (size_t)n * 4);
	float *c = test_device((size_t)m * (size_t)n * 4);

	/* A transposed: the first rows are the same for any m */
	OK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, x,
	    CUDA_R_32F, k, y, CUDA_R_32F, k, &zero, c, CUDA_R_32F, m, compute,
	    CUBLAS_GEMM_DEFAULT));
	OK(cudaMemcpy(to, c, (size_t)m * (size_t)n * 4,
	    cudaMemcpyDeviceToHost));
	OK(cudaFree(x));
	OK(cudaFree(y));
	OK(cudaFree(c));
}

/* Long sums are the GPU's, too: they are at most (K/L + 4) 2^-23 |A||B| away
 * from FP64's. */
static void
bound(void **state)
{
	enum { ROWS = 20, COLS = 12, DEPTH = 2048 };
	static const struct {
		cublasComputeType_t compute;
		enum emu_rate format;
		double length[2];
	} cases[] = {
		{ CUBLAS_COMPUTE_32F_FAST_16F, EMU_FP16, { 16, 8 } },
		{ CUBLAS_COMPUTE_32F_FAST_16BF, EMU_BF16, { 16, 8 } },
		{ CUBLAS_COMPUTE_32F_FAST_TF32, EMU_TF32, { 8, 4 } },
	};
	static float a[ROWS * DEPTH], b[DEPTH * COLS], bits[ROWS * COLS];
	uint64_t seed = 9;

	(void)state;
	for (int d = 0; d < 2; d++)
	for (size_t t = 0; t < 3; t++)
	for (int positive = 0; positive < 2; positive++) {
		cublasHandle_t handle;
		double most = 0;

		for (int i = 0; i < ROWS * DEPTH; i++)
			a[i] = test_random(&seed) * 2 + (positive ? 2 : 0);
		for (int i = 0; i < DEPTH * COLS; i++)
			b[i] = test_random(&seed) + (positive ? 1 : 0);
		OK(cudaSetDevice(d));
		OK(cublasCreate(&handle));
		emuCountersReset();
		multiply(handle, cases[t].compute, ROWS, COLS, DEPTH, a, b,
		    bits);
		assert_int_equal(emuCounter("products_not_exact"), 0);
		for (int j = 0; j < COLS; j++)
		for (int i = 0; i < ROWS; i++) {
			double sizes = 0, sum = 0, apart;

			for (int l = 0; l < DEPTH; l++) {
				const double term = (double)test_to_format(
				    a[i * DEPTH + l], cases[t].format) *
				    (double)test_to_format(b[j * DEPTH + l],
				    cases[t].format);

				sum += term;
				sizes += fabs(term);
			}
			apart = fabs((double)bits[j * ROWS + i] - sum) /
			    ((DEPTH / cases[t].length[d] + 4) * 0x1p-23 *
			    sizes);
			most = apart > most ? apart : most;
		}
		print_message("# device %d, format %d, %s: %.0f %% of the "
		    "bound\n", d, (int)cases[t].format, positive ? "positive" :
		    "zero-mean", 100 * most);
		assert_true(most <= 1);
		/* Truncation drifts; FP32's rounding is a hundredth of it. */
		assert_true(most > (positive ? 0.1 : 0));
		OK(cublasDestroy(handle));
	}
	OK(cudaSetDevice(0));
}

/* 2581^3 is more than 2^34: too much to be added as a GPU adds; in another
 * process. */
static int
large(void)
{
	enum { SIZE = 2581 };
	const float one = 1, zero = 0;
	float *const x = test_device(sizeof *x * SIZE * SIZE);
	float *const c = test_device(sizeof *c * SIZE * SIZE);
	cublasHandle_t handle;

	OK(cudaMemset(x, 0, sizeof *x * SIZE * SIZE));
	OK(cublasCreate(&handle));
	for (int n = SIZE; n > 0; n -= SIZE - 1)
		OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIZE, n, SIZE,
		    &one, x, SIZE, x, SIZE, &zero, c, SIZE));
	OK(cublasDestroy(handle));
	fprintf(stderr, "%d not exact\n",
	    (int)emuCounter("products_not_exact"));
	return 0;
}

/* It is never silent about that. */
static void
said(void **state)
{
	static char text[4096];

	(void)state;
	if (TEST_WITH_TSAN) {
		print_message("# skipped: TSan's loop takes minutes for 2^34\n");
		skip();
	}
	assert_int_equal(test_again("large", "AUTOCAST_EMU_SUMS", "exact",
	    text, sizeof text), 0);
	assert_string_equal(text, "autocast: emulated GPU: AUTOCAST_EMU_SUMS="
	    "exact: not the GPU's sums: a product of 2581 x 2581 x 2581, 1 "
	    "times, has more than 2^34 terms and is added in FP32, in the "
	    "CPU's order (said once)\n1 not exact\n");
}

/* FP64 sums of rounded inputs, rounded once; in another process. */
static int
reference(void)
{
	enum { SIZE = 40, DEPTH = 600 };
	static const cublasComputeType_t computes[] = { CUBLAS_COMPUTE_32F,
		CUBLAS_COMPUTE_32F_FAST_16F };
	static float a[SIZE * DEPTH], b[SIZE * DEPTH], got[SIZE * SIZE];
	cublasHandle_t handle;
	uint64_t seed = 21;
	int wrong = 0;

	OK(cublasCreate(&handle));
	for (int i = 0; i < SIZE * DEPTH; i++) {
		a[i] = test_random(&seed);
		b[i] = test_random(&seed);
	}
	for (int t = 0; t < 2; t++) {
		const enum emu_rate format = t ? EMU_FP16 : EMU_FP32;

		multiply(handle, computes[t], SIZE, SIZE, DEPTH, a, b, got);
		for (int j = 0; j < SIZE; j++)
		for (int i = 0; i < SIZE; i++) {
			long double sum = 0;

			for (int l = 0; l < DEPTH; l++)
				sum += (long double)test_to_format(
				    a[i * DEPTH + l], format) *
				    (long double)test_to_format(
				    b[j * DEPTH + l], format);
			wrong += got[j * SIZE + i] != (float)sum;
		}
	}
	OK(cublasDestroy(handle));
	fprintf(stderr, "%d not exact, %d wrong\n",
	    (int)emuCounter("products_not_exact"), wrong);
	return wrong > 0;
}

static void
words(void **state)
{
	static char text[4096];

	(void)state;
	assert_int_equal(test_again("reference", "AUTOCAST_EMU_SUMS",
	    "reference", text, sizeof text), 0);
	assert_string_equal(text, "0 not exact, 0 wrong\n");
	/* The fast way is less exact, except for TSan's plain loop; an unknown
	 * word means the fast way. */
	assert_int_equal(test_again("reference", "AUTOCAST_EMU_SUMS",
	    "precise", text, sizeof text) != 0, !TEST_WITH_TSAN);
	assert_non_null(strstr(text, "AUTOCAST_EMU_SUMS=precise is not known: "
	    "fast is taken"));
	(void)test_again("reference", "AUTOCAST_EMU_KERNELS", "cubins", text,
	    sizeof text);
	assert_non_null(strstr(text, "AUTOCAST_EMU_KERNELS=cubins is not "
	    "known: twins is taken"));
	(void)test_again("reference", "AUTOCAST_EMU_QUEUE", "long", text,
	    sizeof text);
	assert_non_null(strstr(text, "AUTOCAST_EMU_QUEUE=long is not a "
	    "number: 1024 is taken"));
	(void)test_again("reference", "AUTOCAST_EMU_MEMORY", "lots", text,
	    sizeof text);
	assert_non_null(strstr(text, "AUTOCAST_EMU_MEMORY=lots is not a "
	    "number: the model's is taken"));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),
		cmocka_unit_test(complex_sums),
		cmocka_unit_test(bound),
		cmocka_unit_test(said),
		cmocka_unit_test(words),
	};

	if (argc > 1) {
		setenv("AUTOCAST_LOG", "error", 1);
		return strcmp(argv[1], "large") ? reference() : large();
	}
	(void)argv;
	setenv("AUTOCAST_EMU_MODEL", "h200,a100,t4", 1);
	setenv("AUTOCAST_EMU_SUMS", "exact", 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
