/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_lt_run.c -- what the emulated cublasLt computes:
 * products in every order, type and batch against plain sums in FP64, every
 * epilogue against its formula; the bits of cublasGemmEx(). */
#include "test_emu_lt.h"

static cublasHandle_t blas;
static cublasLtHandle_t lt;

/* ---- one case ---------------------------------------------------------- */

struct shape {
	int m, n, k, batch, pad;
	bool row_a, row_b, row_d, turn_a, turn_b;
	bool broadcast_b, in_place, on_device;
};
struct kind {
	cublasComputeType_t compute;
	cudaDataType input, output;
};

/* Everything of one call. The vector is the bias, or its gradient; the aux
 * matrix has room for numbers or bits. */
struct problem {
	const struct shape *s;
	const struct kind *kind;
	unsigned epilogue;
	double alpha, beta;
	struct test_matrix a, b, c, d;
	double *vector, *aux;
	void *vector_at, *aux_at;
	int64_t vector_stride, aux_ld, aux_stride;
	size_t vectors, auxes;
	cublasLtMatmulDesc_t operation;
};

static bool
has_mask(const struct problem *p)
{
	return p->epilogue & (2 | 8);
}

static void
attach(struct problem *p, uint64_t *seed)
{
	const struct shape *s = p->s;
	const int unit = has_mask(p) ? 128 : 8;

	p->vector_stride = (s->m > s->n ? s->m : s->n) + 1;
	p->vectors = (size_t)(p->vector_stride * s->batch);
	p->vector = test_numbers(p->vectors, seed);
	p->vector_at = test_stored(p->vector, p->vectors, p->kind->output);
	p->aux_ld = (s->m + unit - 1) / unit * unit;
	p->aux_stride = p->aux_ld * (s->n + 1);
	p->auxes = (size_t)(p->aux_stride * s->batch);
	p->aux = test_numbers(p->auxes, seed);
	p->aux_at = test_stored(p->aux, p->auxes, p->kind->output);
	TEST_SET(p->operation, EPILOGUE, p->epilogue);
	TEST_SET(p->operation, BIAS_POINTER, p->vector_at);
	TEST_SET(p->operation, BIAS_BATCH_STRIDE, p->vector_stride);
	if (!(p->epilogue & 128))
		return;
	TEST_SET(p->operation, EPILOGUE_AUX_POINTER, p->aux_at);
	TEST_SET(p->operation, EPILOGUE_AUX_LD, p->aux_ld);
	TEST_SET(p->operation, EPILOGUE_AUX_BATCH_STRIDE, p->aux_stride);
}

static struct problem
make(const struct shape *s, const struct kind *kind, unsigned epilogue,
    double alpha, double beta)
{
	struct problem p = { .s = s, .kind = kind, .epilogue = epilogue,
		.alpha = alpha, .beta = beta };
	uint64_t seed = 11;

	p.a = test_matrix(s->turn_a ? s->k : s->m, s->turn_a ? s->m : s->k,
	    s->row_a, s->pad, s->batch, false, kind->input, &seed);
	p.b = test_matrix(s->turn_b ? s->n : s->k, s->turn_b ? s->k : s->n,
	    s->row_b, s->pad, s->batch, s->broadcast_b, kind->input, &seed);
	p.c = test_matrix(s->m, s->n, s->row_d, 2 * s->pad, s->batch, false,
	    kind->output, &seed);
	p.d = test_matrix(s->m, s->n, s->row_d, s->pad, s->batch, false,
	    kind->output, &seed);
	p.operation = test_operation(kind->compute,
	    s->turn_a ? CUBLAS_OP_T : CUBLAS_OP_N,
	    s->turn_b ? CUBLAS_OP_C : CUBLAS_OP_N);
	attach(&p, &seed);
	return p;
}

static void
drop(struct problem *p)
{
	test_matrix_drop(&p->a);
	test_matrix_drop(&p->b);
	test_matrix_drop(&p->c);
	test_matrix_drop(&p->d);
	OK(cudaFree(p->vector_at));
	OK(cudaFree(p->aux_at));
	free(p->vector);
	free(p->aux);
	OK(cublasLtMatmulDescDestroy(p->operation));
}

static void
run(struct problem *p, cudaStream_t stream)
{
	float scalars[2] = { (float)p->alpha, (float)p->beta };
	float *on_device = test_upload(scalars, sizeof scalars);
	const int32_t mode = CUBLASLT_POINTER_MODE_DEVICE;
	const float *at = scalars;

	if (p->s->on_device) {
		TEST_SET(p->operation, POINTER_MODE, mode);
		at = on_device;
	}
	OK(cublasLtMatmul(lt, p->operation, at, p->a.device, p->a.layout,
	    p->b.device, p->b.layout, at + 1,
	    p->s->in_place ? p->d.device : p->beta == 0 ? NULL :
	    p->c.device, p->s->in_place ? p->d.layout : p->c.layout,
	    p->d.device, p->d.layout, NULL, NULL, 0, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaFree(on_device));
}

/* ---- what must come out ------------------------------------------------ */

static double
product(const struct problem *p, int b, int i, int j)
{
	const struct test_matrix *c = p->s->in_place ? &p->d : &p->c;
	double sum = 0;

	for (int l = 0; l < p->s->k; l++)
		sum += test_at(&p->a, b, p->s->turn_a, i, l) *
		    test_at(&p->b, b, p->s->turn_b, l, j);
	sum *= p->alpha;
	if (p->beta != 0)
		sum += p->beta * test_at(c, b, false, i, j);
	if (p->epilogue & 4)
		sum += p->vector[b * p->vector_stride + i];
	return sum;
}

static double
tanh_part(double x)
{
	return tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * pow(x, 3)));
}

/* The derivative of x (1 + tanh(u)) / 2 by the product rule. */
static double
gelu_slope(double x)
{
	const double inner = sqrt(2 / acos(-1)) * (1 + 3 * 0.044715 * x * x);

	return (1 + tanh_part(x)) / 2 +
	    x * (1 - pow(tanh_part(x), 2)) * inner / 2;
}

static size_t
aux_place(const struct problem *p, int b, int i, int j)
{
	return (size_t)(b * p->aux_stride + j * p->aux_ld + i);
}

static bool
bit_of(const void *mask, size_t at)
{
	return ((const unsigned char *)mask)[at / 8] >> at % 8 & 1;
}

static double
finished(const struct problem *p, const void *mask, int b, int i, int j)
{
	const double x = product(p, b, i, j);
	const size_t at = aux_place(p, b, i, j);

	if (p->epilogue & 8)
		return bit_of(mask, at) ? x : 0;
	if (p->epilogue & 64)
		return x * gelu_slope(p->aux[at]);
	if (p->epilogue & 2)
		return x > 0 ? x : 0;
	return p->epilogue & 32 ? x * (1 + tanh_part(x)) / 2 : x;
}

/* Products are exact in FP32, and a narrower D has each rounded once. GELU is
 * computed in FP64 and rounded to FP32: half a unit, 2^-24, to which FP64 adds
 * a rounding here and there, less than 2^-24 of that for |x| < 2^9. If that
 * moves a number over a middle in the narrower format, it is one unit of it:
 * 2^-10, 2^-7 of the number, or 2^-24 if that is subnormal in FP16. */
static void
check(const struct problem *p, double got, double want)
{
	const enum format f = format_of(p->kind->output);
	const double unit = f == FP16 ? 0x1p-10 : f == BF16 ? 0x1p-7 :
	    0x1p-24 + 0x1p-45;
	double tolerance = 0;

	if (p->epilogue & (32 | 64))
		tolerance = fabs(want) * unit + (f == FP16 ? 0x1p-24 :
		    0x1p-45);
	else
		want = to_format(want, f);
	if (!(fabs(got - want) <= tolerance))
		fail_msg("epilogue %u: got %.9g, want %.9g within %.3g",
		    p->epilogue, got, want, tolerance);
}

static void
check_d(const struct problem *p, const void *mask)
{
	const struct shape *s = p->s;
	double *d = test_fetched(p->d.device, p->d.count, p->kind->output);
	double *wanted = malloc(p->d.count * sizeof *wanted);

	memcpy(wanted, p->d.values, p->d.count * sizeof *wanted);
	for (int b = 0; b < s->batch; b++)
		for (int j = 0; j < s->n; j++)
			for (int i = 0; i < s->m; i++) {
				const size_t at = test_place(&p->d, b, i, j);

				check(p, d[at], finished(p, mask, b, i, j));
				wanted[at] = d[at];
			}
	/* Gaps keep their numbers. */
	for (size_t i = 0; i < p->d.count; i++)
		assert_true(d[i] == wanted[i]);
	free(wanted);
	free(d);
}

/* What the forward epilogues leave for the backward ones. */
static void
check_aux(const struct problem *p, const unsigned char *mask)
{
	double *aux = test_fetched(p->aux_at, p->auxes, p->kind->output);

	for (int b = 0; b < p->s->batch; b++)
		for (int j = 0; j < p->s->n; j++)
			for (int i = 0; i < p->s->m; i++) {
				const double x = product(p, b, i, j);
				const size_t at = aux_place(p, b, i, j);

				if (has_mask(p))
					assert_int_equal(bit_of(mask, at),
					    !(x < 0));
				else
					assert_true(aux[at] == to_format(x,
					    format_of(p->kind->output)));
			}
	free(aux);
}

static double
gradient(const struct problem *p, const void *mask, int b, int i)
{
	double sum = 0;

	if (p->epilogue == CUBLASLT_EPILOGUE_BGRADA) {
		for (int l = 0; l < p->s->k; l++)
			sum += test_at(&p->a, b, p->s->turn_a, i, l);
	} else if (p->epilogue == CUBLASLT_EPILOGUE_BGRADB) {
		for (int l = 0; l < p->s->k; l++)
			sum += test_at(&p->b, b, p->s->turn_b, l, i);
	} else {
		for (int j = 0; j < p->s->n; j++)
			sum += finished(p, mask, b, i, j);
	}
	return sum;
}

/* Each of the n numbers of a GELU sum is off by 2^-24 of at most 2^9. */
static void
check_gradient(const struct problem *p, const void *mask)
{
	double *vector = test_fetched(p->vector_at, p->vectors,
	    p->kind->output);
	const enum format f = format_of(p->kind->output);
	const int length = p->epilogue == CUBLASLT_EPILOGUE_BGRADB ?
	    p->s->n : p->s->m;

	for (int b = 0; b < p->s->batch; b++)
		for (int i = 0; i < length; i++) {
			const double got = vector[b * p->vector_stride + i];
			const double want = gradient(p, mask, b, i);
			const double unit = f == FP16 ? 0x1p-10 :
			    f == BF16 ? 0x1p-7 : 0x1p-23;

			if (p->epilogue & 64)
				assert_true(fabs(got - want) <=
				    p->s->n * 0x1p-15 + fabs(want) * unit);
			else
				assert_true(got == to_format(want, f));
		}
	free(vector);
}

static void
run_case(const struct shape *s, const struct kind *kind, unsigned epilogue,
    double alpha, double beta)
{
	struct problem p = make(s, kind, epilogue, alpha, beta);
	const size_t bytes = p.auxes * width(kind->output);
	unsigned char *mask = malloc(bytes);

	if (epilogue & 8) /* what goes in, not what is there after */
		OK(cudaMemcpy(mask, p.aux_at, bytes, cudaMemcpyDeviceToHost));
	run(&p, NULL);
	if (!(epilogue & 8))
		OK(cudaMemcpy(mask, p.aux_at, bytes, cudaMemcpyDeviceToHost));
	check_d(&p, mask);
	if ((epilogue & (8 | 64 | 128)) == 128)
		check_aux(&p, mask);
	if (epilogue & (16 | CUBLASLT_EPILOGUE_BGRADA |
	    CUBLASLT_EPILOGUE_BGRADB))
		check_gradient(&p, mask);
	free(mask);
	drop(&p);
}

/* ---- products ---------------------------------------------------------- */

static const struct kind kinds[] = {
	{ CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F },
	{ CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F, CUDA_R_32F },
	{ CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F },
	{ CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, CUDA_R_32F },
	{ CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, CUDA_R_32F },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16F, CUDA_R_32F },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_32F },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16F, CUDA_R_16F },
	{ CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_16BF },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* All orders and transposes, in and out of place, with scalars on the host and
 * on the device, with a batch and a matrix that all of it reads. */
static void
orders(void **state)
{
	(void)state;
	for (int bits = 0; bits < 256; bits++) {
		const struct shape s = { 5, 7, 9, bits & 128 ? 3 : 1, 2,
			bits & 1, bits & 2, bits & 4, bits & 8, bits & 16,
			bits & 128, bits & 32, bits & 64 };

		run_case(&s, &kinds[0], CUBLASLT_EPILOGUE_DEFAULT, 0.5, 0.25);
	}
}

static void
types(void **state)
{
	static const struct shape s = { .m = 17, .n = 6, .k = 40, .batch = 2,
		.turn_a = true };

	(void)state;
	for (int i = 0; i < KINDS; i++) {
		run_case(&s, &kinds[i], CUBLASLT_EPILOGUE_DEFAULT, 0.5, 0.25);
		run_case(&s, &kinds[i], CUBLASLT_EPILOGUE_DEFAULT, 1, 0);
		run_case(&s, &kinds[i], CUBLASLT_EPILOGUE_DEFAULT, 0, 0.5);
	}
}

/* A leading dimension of 0 repeats one column of C. */
static void
broadcast_c(void **state)
{
	static const struct shape s = { .m = 6, .n = 4, .k = 3, .batch = 1 };
	struct problem p = make(&s, &kinds[0], 1, 1, 1);
	const int64_t none = 0;

	(void)state;
	OK(cublasLtMatrixLayoutSetAttribute(p.c.layout,
	    CUBLASLT_MATRIX_LAYOUT_LD, &none, sizeof none));
	p.c.ld = 0;
	run(&p, NULL);
	check_d(&p, NULL);
	drop(&p);
}

/* Random numbers and sizes: every sum rounds. */
static void *
random_matrix(size_t count, cudaDataType type, uint64_t *seed)
{
	double *values = malloc(count * sizeof *values);
	void *device;

	for (size_t i = 0; i < count; i++)
		values[i] = to_format((double)test_random(seed),
		    format_of(type));
	device = test_stored(values, count, type);
	free(values);
	return device;
}

static void
like_gemm_ex_in(const struct kind *kind)
{
	enum { M = 37, N = 21, K = 130, BYTES = 4 * M * N };
	static const float alpha = 0.7f, beta = -0.3f;
	uint64_t seed = 5;
	void *a = random_matrix(M * K, kind->input, &seed);
	void *b = random_matrix(K * N, kind->input, &seed);
	void *c = random_matrix(M * N, kind->output, &seed);
	void *d = test_device(BYTES);
	const size_t bytes = M * N * width(kind->output);
	unsigned char got[BYTES], want[BYTES];
	cublasLtMatmulDesc_t operation = test_operation(kind->compute,
	    CUBLAS_OP_T, CUBLAS_OP_N);
	cublasLtMatrixLayout_t in_a, in_b, out;

	OK(cublasLtMatrixLayoutCreate(&in_a, kind->input, K, M, K));
	OK(cublasLtMatrixLayoutCreate(&in_b, kind->input, K, N, K));
	OK(cublasLtMatrixLayoutCreate(&out, kind->output, M, N, M));
	OK(cublasLtMatmul(lt, operation, &alpha, a, in_a, b, in_b, &beta, c,
	    out, d, out, NULL, NULL, 0, NULL));
	OK(cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, M, N, K, &alpha, a,
	    kind->input, K, b, kind->input, K, &beta, c, kind->output, M,
	    kind->compute, CUBLAS_GEMM_DEFAULT));
	OK(cudaMemcpy(got, d, bytes, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(want, c, bytes, cudaMemcpyDeviceToHost));
	assert_memory_equal(got, want, bytes);
	OK(cublasLtMatrixLayoutDestroy(in_a));
	OK(cublasLtMatrixLayoutDestroy(in_b));
	OK(cublasLtMatrixLayoutDestroy(out));
	OK(cublasLtMatmulDescDestroy(operation));
	OK(cudaFree(a));
	OK(cudaFree(b));
	OK(cudaFree(c));
	OK(cudaFree(d));
}

static void
like_gemm_ex(void **state)
{
	(void)state;
	for (int i = 0; i < KINDS; i++)
		like_gemm_ex_in(&kinds[i]);
}

/* ---- epilogues --------------------------------------------------------- */

static const unsigned epilogues[] = {
	CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU,
	CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_RELU_AUX,
	CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_GELU,
	CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_GELU_AUX,
	CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_DRELU,
	CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_DGELU,
	CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
	CUBLASLT_EPILOGUE_BGRADB
};

static void
each_epilogue(void **state)
{
	static const struct shape shapes[] = {
		{ .m = 13, .n = 9, .k = 11, .batch = 1 },
		{ .m = 13, .n = 9, .k = 11, .batch = 3, .pad = 3,
		  .turn_a = true, .broadcast_b = true },
		{ .m = 130, .n = 3, .k = 4, .batch = 1, .turn_b = true,
		  .in_place = true, .on_device = true }
	};

	(void)state;
	for (size_t e = 0; e < sizeof epilogues / sizeof *epilogues; e++)
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
			for (int t = 0; t < KINDS; t++) {
				run_case(&shapes[i], &kinds[t], epilogues[e],
				    0.5, 0.25);
				run_case(&shapes[i], &kinds[t], epilogues[e],
				    0.5, 0);
			}
}

/* The bias belongs to the rows of D in row order, too. */
static void
row_order(void **state)
{
	static const unsigned allowed[] = { CUBLASLT_EPILOGUE_BIAS,
		CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_GELU };
	static const struct shape s = { .m = 5, .n = 8, .k = 6, .batch = 2,
		.pad = 1, .row_a = true, .row_b = true, .row_d = true };

	(void)state;
	for (int i = 0; i < 3; i++)
		run_case(&s, &kinds[0], allowed[i], 0.5, 0.25);
}

/* ---- the stream -------------------------------------------------------- */

/* A captured product runs at each launch, with the scalars of that time; it is
 * one launch, and asking the heuristics meanwhile ends no capture. */
static void
captured(void **state)
{
	static const struct shape s = { .m = 8, .n = 4, .k = 4, .batch = 1,
		.on_device = true };
	const int32_t mode = CUBLASLT_POINTER_MODE_DEVICE;
	struct problem p = make(&s, &kinds[0], CUBLASLT_EPILOGUE_RELU_BIAS, 1,
	    0.5);
	const float scalars[2] = { 1, 0.5f }, later[2] = { 0.25f, 2 };
	float *at = test_upload(scalars, sizeof scalars);
	cublasLtMatmulHeuristicResult_t answer;
	cublasLtMatmulPreference_t preference;
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;
	int found;

	(void)state;
	OK(cudaStreamCreate(&stream));
	OK(cublasLtMatmulPreferenceCreate(&preference));
	TEST_SET(p.operation, POINTER_MODE, mode);
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	OK(cublasLtMatmulAlgoGetHeuristic(lt, p.operation, p.a.layout,
	    p.b.layout, p.c.layout, p.d.layout, preference, 1, &answer,
	    &found));
	OK(cublasLtMatmul(lt, p.operation, at, p.a.device, p.a.layout,
	    p.b.device, p.b.layout, at + 1, p.c.device, p.c.layout,
	    p.d.device, p.d.layout, &answer.algo, NULL, 0, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++) {
		OK(cudaMemset(p.d.device, 0, p.d.count * 4));
		OK(cudaMemcpy(at, i == 1 ? later : scalars, sizeof later,
		    cudaMemcpyHostToDevice));
		OK(cudaDeviceSynchronize());
		emuCountersReset();
		OK(cudaGraphLaunch(exec, stream));
		OK(cudaStreamSynchronize(stream));
		assert_int_equal(emuCounter("launches"), 1);
		p.alpha = i == 1 ? 0.25 : 1;
		p.beta = i == 1 ? 2 : 0.5;
		check_d(&p, NULL);
	}
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaStreamDestroy(stream));
	OK(cublasLtMatmulPreferenceDestroy(preference));
	OK(cudaFree(at));
	drop(&p);
}

/* Each byte that the program's matrices give or take counts once. */
static void
bytes(void **state)
{
	static const struct shape s = { .m = 16, .n = 8, .k = 4, .batch = 2 };
	enum { IN = 2 * (16 * 4 + 4 * 8), ONE = 2 * 16 * 8, OUT = 2 * ONE };
	static const struct {
		int kind;
		unsigned epilogue;
		uint64_t bytes;
	} cases[] = {
		{ 0, 1, 4 * (IN + OUT) }, { 7, 1, 2 * (IN + OUT) },
		{ 0, 2, 4 * (IN + OUT) }, { 7, 2, 2 * (IN + OUT) },
		{ 0, 2 | 128, 4 * (IN + OUT) + ONE / 8 },
		{ 7, 32 | 128, 2 * (IN + OUT + ONE) }
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct problem p = make(&s, &kinds[cases[i].kind],
		    cases[i].epilogue, 1, 0.5);

		emuCountersReset();
		run(&p, NULL);
		assert_int_equal(emuCounter("gemm_bytes"), cases[i].bytes);
		assert_int_equal(emuCounter("cublasLtMatmul"), 1);
		drop(&p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders),
		cmocka_unit_test(types),
		cmocka_unit_test(broadcast_c),
		cmocka_unit_test(like_gemm_ex),
		cmocka_unit_test(each_epilogue),
		cmocka_unit_test(row_order),
		cmocka_unit_test(captured),
		cmocka_unit_test(bytes),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cublasCreate(&blas) || cublasLtCreate(&lt))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cublasLtDestroy(lt);
	cublasDestroy(blas);
	return failed;
}
