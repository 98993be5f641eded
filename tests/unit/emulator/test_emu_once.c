/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_once.c -- AUTOCAST_EMU_SUMS=once: a product that
 * would give the same again is not computed, and counts the same bytes. */
#include "test_emu.h"

#include <cublasLt.h>

enum { N = 64, COUNT = N * N };

static cublasHandle_t handle;
static float *a, *b, *c, host[COUNT];

static void
fill(float *to, float value)
{
	for (int i = 0; i < COUNT; i++)
		host[i] = value;
	OK(cudaMemcpy(to, host, sizeof host, cudaMemcpyHostToDevice));
	OK(cudaStreamSynchronize(NULL));
}

/* The bytes that alpha A B + beta C moved. */
static uint64_t
multiply(float alpha, float beta)
{
	emuCountersReset();
	OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &alpha, a, N,
	    b, N, &beta, c, N));
	OK(cudaDeviceSynchronize());
	return emuCounter("gemm_bytes");
}

static void
holds(float value)
{
	for (int i = 0; i < COUNT; i++)
		assert_true(c[i] == value);
}

/* The first element of C that is not compared: a change by hand stays. */
static int
spoil(float value)
{
	for (int at = 1; at < COUNT; at++) {
		const float was = c[at];

		c[at] = value;
		multiply(1, 0);
		if (c[at] == value)
			return at;
		c[at] = was;
	}
	return -1;
}

static void
skips_only_what_is_there(void **state)
{
	const uint64_t bytes = 3 * COUNT * sizeof *a;

	(void)state;
	fill(a, 1);
	fill(b, 2);
	assert_int_equal(multiply(1, 0), bytes);
	holds(2 * N);
	assert_int_equal(multiply(1, 0), bytes);
	holds(2 * N);
	fill(c, 5); /* by somebody else */
	multiply(1, 0);
	holds(2 * N);
	fill(a, 3);
	multiply(1, 0);
	holds(6 * N);
	fill(b, 1);
	multiply(1, 0);
	holds(3 * N);
	multiply(2, 0);
	holds(6 * N);
	multiply(1, 1);
	multiply(1, 1);
	holds(12 * N);
}

/* It is skipped: a change at a place that is not compared stays. */
static void
skips(void **state)
{
	(void)state;
	if (TEST_WITH_TSAN)
		skip();
	fill(a, 1);
	fill(b, 1);
	multiply(1, 0);
	assert_true(spoil(7) > 0);
}

/* The bytes that an epilogue(A B) of cublasLt moved; its bias is a column. */
static uint64_t
follow(cublasLtEpilogue_t epilogue, const float *bias)
{
	const float one = 1, zero = 0;
	cublasLtMatmulDesc_t operation;
	cublasLtMatrixLayout_t layout;

	OK(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	OK(cublasLtMatmulDescSetAttribute(operation,
	    CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
	OK(cublasLtMatmulDescSetAttribute(operation,
	    CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
	OK(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, N, N, N));
	emuCountersReset();
	OK(cublasLtMatmul((cublasLtHandle_t)handle, operation, &one, a, layout,
	    b, layout, &zero, c, layout, c, layout, NULL, NULL, 0, NULL));
	OK(cudaDeviceSynchronize());
	OK(cublasLtMatrixLayoutDestroy(layout));
	OK(cublasLtMatmulDescDestroy(operation));
	return emuCounter("gemm_bytes");
}

/* Neither another epilogue nor another bias is what is there. */
static void
knows_what_follows(void **state)
{
	float *bias = test_device(COUNT * sizeof *bias);
	uint64_t bytes;

	(void)state;
	fill(a, -1);
	fill(b, 1);
	fill(bias, 2 * N);
	bytes = follow(CUBLASLT_EPILOGUE_RELU_BIAS, bias);
	holds(N);
	assert_int_equal(follow(CUBLASLT_EPILOGUE_RELU_BIAS, bias), bytes);
	holds(N);
	if (!TEST_WITH_TSAN) {
		c[1] = 7;
		(void)follow(CUBLASLT_EPILOGUE_RELU_BIAS, bias);
		assert_true(c[1] == 7);
	}
	bias[N - 1] = 3 * N;
	(void)follow(CUBLASLT_EPILOGUE_RELU_BIAS, bias);
	assert_true(c[1] == N && c[N - 1] == 2 * N);
	bias[N - 1] = 2 * N;
	(void)follow(CUBLASLT_EPILOGUE_BIAS, bias);
	holds(N);
	(void)follow(CUBLASLT_EPILOGUE_RELU, NULL);
	holds(0);
	multiply(1, 0);
	holds(-N);
	(void)follow(CUBLASLT_EPILOGUE_RELU, NULL);
	holds(0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skips_only_what_is_there),
		cmocka_unit_test(skips),
		cmocka_unit_test(knows_what_follows),
	};

	setenv("AUTOCAST_EMU_SUMS", "once", 1);
	OK(cublasCreate(&handle));
	a = test_device(sizeof host);
	b = test_device(sizeof host);
	c = test_device(sizeof host);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
