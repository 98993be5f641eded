/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_lt.c -- the emulated cublasLt but its numbers:
 * handles, the heuristics, algorithms, what a product refuses. */
#include "test_emu_lt.h"

enum { INVALID = CUBLAS_STATUS_INVALID_VALUE,
	UNSUPPORTED = CUBLAS_STATUS_NOT_SUPPORTED,
	NOT_READY = CUBLAS_STATUS_NOT_INITIALIZED };

static cublasHandle_t blas;
static cublasLtHandle_t lt;

/* ---- the library --------------------------------------------------------- */

static void
ignore(int level, const char *function, const char *message)
{
	(void)level;
	(void)function;
	(void)message;
}

static void
library(void **state)
{
	cublasLtHandle_t handle;
	int value;

	(void)state;
	assert_int_equal(cublasLtGetVersion(), CUBLAS_VERSION);
	assert_int_equal(cublasLtGetCudartVersion(), CUDART_VERSION);
	OK(cublasLtGetProperty(MAJOR_VERSION, &value));
	assert_int_equal(value, CUBLAS_VER_MAJOR);
	assert_int_equal(cublasLtGetProperty(MAJOR_VERSION, NULL), INVALID);
	assert_int_equal(cublasLtGetProperty((libraryPropertyType)3, &value),
	    INVALID);
	assert_string_equal(cublasLtGetStatusName(CUBLAS_STATUS_SUCCESS),
	    "CUBLAS_STATUS_SUCCESS");
	assert_string_equal(cublasLtGetStatusString(CUBLAS_STATUS_SUCCESS),
	    "success");
	OK(cublasLtLoggerSetLevel(5));
	assert_int_equal(cublasLtLoggerSetLevel(6), INVALID);
	OK(cublasLtLoggerSetMask(31));
	OK(cublasLtLoggerSetFile(stderr));
	OK(cublasLtLoggerOpenFile("/dev/null"));
	OK(cublasLtLoggerSetCallback(ignore));
	OK(cublasLtCreate(&handle));
	OK(cublasLtDestroy(handle));
	assert_int_equal(cublasLtDestroy(handle), INVALID);
	assert_int_equal(cublasLtDestroy(NULL), INVALID);
	assert_int_equal(cublasLtCreate(NULL), INVALID);
}

/* ---- one small product --------------------------------------------------- */

enum { M = 16, N = 8, K = 32 };
static struct test_matrix a, b, c, d;
static cublasLtMatmulDesc_t operation;
static cublasLtMatmulPreference_t preference;
static const float one = 1, half = 0.5f;

static void
make(cudaDataType input, cudaDataType output, cublasComputeType_t compute)
{
	uint64_t seed = 3;

	a = test_matrix(M, K, false, 0, 1, false, input, &seed);
	b = test_matrix(K, N, false, 0, 1, false, input, &seed);
	c = test_matrix(M, N, false, 0, 1, false, output, &seed);
	d = test_matrix(M, N, false, 0, 1, false, output, &seed);
	operation = test_operation(compute, CUBLAS_OP_N, CUBLAS_OP_N);
	OK(cublasLtMatmulPreferenceCreate(&preference));
}

static void
drop(void)
{
	test_matrix_drop(&a);
	test_matrix_drop(&b);
	test_matrix_drop(&c);
	test_matrix_drop(&d);
	OK(cublasLtMatmulDescDestroy(operation));
	OK(cublasLtMatmulPreferenceDestroy(preference));
}

static int
matmul(const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t bytes)
{
	return (int)cublasLtMatmul(lt, operation, &one, a.device, a.layout,
	    b.device, b.layout, &half, c.device, c.layout, d.device, d.layout,
	    algorithm, workspace, bytes, NULL);
}

static int
heuristic(int requested, cublasLtMatmulHeuristicResult_t *results, int *found)
{
	return (int)cublasLtMatmulAlgoGetHeuristic(lt, operation, a.layout,
	    b.layout, c.layout, d.layout, preference, requested, results,
	    found);
}

/* What a product with this one change says, and what the heuristics say. */
static void
refused(int want)
{
	cublasLtMatmulHeuristicResult_t result;
	int found = 5;

	assert_int_equal(matmul(NULL, NULL, 0), want);
	assert_int_equal(heuristic(1, &result, &found), want);
	assert_int_equal(found, 0);
}

#define REFUSE(status, set, object, number, type, bad)                    \
	do {                                                              \
		type was_;                                                \
		type bad_ = bad;                                          \
		OK(set##_get(object, number, &was_, sizeof was_, NULL));  \
		OK(set##_set(object, number, &bad_, sizeof bad_));        \
		refused(status);                                          \
		OK(set##_set(object, number, &was_, sizeof was_));        \
	} while (0)

/* AUTOCAST_EMU_FAIL, which main() sets: the first call fails and leaves nothing
 * queued. */
static void
failure(void **state)
{
	cublasLtMatmulHeuristicResult_t result;
	int found;

	(void)state;
	make(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
	emuCountersReset();
	assert_int_equal(matmul(NULL, NULL, 0), CUBLAS_STATUS_INTERNAL_ERROR);
	assert_int_equal(heuristic(1, &result, &found),
	    CUBLAS_STATUS_INTERNAL_ERROR);
	assert_int_equal(emuCounter("launches"), 0);
	OK(matmul(NULL, NULL, 0));
	assert_int_equal(emuCounter("launches"), 1);
	drop();
}

/* FP64 with FP64 scalars, without an epilogue. */
static void
doubles(void **state)
{
	static const double a4[] = { 1, 2, 3, 4 }, two = 2, none = 0;
	static const double want[] = { 14, 20, 30, 44 };
	const uint32_t relu = CUBLASLT_EPILOGUE_RELU;
	double *in = test_upload(a4, sizeof a4), *out = test_device(32);
	cublasLtMatmulDesc_t product;
	cublasLtMatrixLayout_t square;
	double got[4];

	(void)state;
	OK(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_64F,
	    CUDA_R_64F));
	OK(cublasLtMatrixLayoutCreate(&square, CUDA_R_64F, 2, 2, 2));
	OK(cublasLtMatmul(lt, product, &two, in, square, in, square, &none,
	    NULL, NULL, out, square, NULL, NULL, 0, NULL));
	OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
	assert_memory_equal(got, want, sizeof got);
	TEST_SET(product, EPILOGUE, relu);
	assert_int_equal(cublasLtMatmul(lt, product, &two, in, square, in,
	    square, &none, NULL, NULL, out, square, NULL, NULL, 0, NULL),
	    UNSUPPORTED);
	OK(cublasLtMatmulDescDestroy(product));
	OK(cublasLtMatrixLayoutDestroy(square));
	OK(cudaFree(in));
	OK(cudaFree(out));
}

enum { IM = 12, IN = 3, IK = 12, ILD = 16 };

static cublasLtMatrixLayout_t integer_a, integer_b, integer_c;

static int
integer_product(const int32_t *scalars, const int8_t *at_a,
    const int8_t *at_b, const int32_t *at_c, int32_t *at_d)
{
	return (int)cublasLtMatmul(lt, operation, &scalars[0], at_a,
	    integer_a, at_b, integer_b, &scalars[1], at_c, integer_c, at_d,
	    integer_c, NULL, NULL, 0, NULL);
}

static void
integer_layouts(void)
{
	const int32_t turned = CUBLAS_OP_T;

	OK(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32I,
	    CUDA_R_32I));
	TEST_SET(operation, TRANSA, turned);
	OK(cublasLtMatrixLayoutCreate(&integer_a, CUDA_R_8I, IK, IM, ILD));
	OK(cublasLtMatrixLayoutCreate(&integer_b, CUDA_R_8I, IK, IN, ILD));
	OK(cublasLtMatrixLayoutCreate(&integer_c, CUDA_R_32I, IM, IN, IM));
}

static void
integer_drop(void)
{
	OK(cublasLtMatmulDescDestroy(operation));
	OK(cublasLtMatrixLayoutDestroy(integer_a));
	OK(cublasLtMatrixLayoutDestroy(integer_b));
	OK(cublasLtMatrixLayoutDestroy(integer_c));
}

/* INT8 by plain sums, transposed A and plain B only. */
static void
integers(void **state)
{
	const int32_t scalars[2] = { -3, 2 };
	const int32_t plain = CUBLAS_OP_N, turned = CUBLAS_OP_T;
	const int64_t bad_ld = 15, good_ld = ILD, dense = IM;
	const uint32_t relu = CUBLASLT_EPILOGUE_RELU;
	int8_t in_a[ILD * IM], in_b[ILD * IN];
	int32_t in_c[IM * IN], out[IM * IN];
	uint64_t seed = 9;
	int8_t *at_a, *at_b;
	int32_t *at_c, *at_d = test_device(sizeof out);

	(void)state;
	for (int i = 0; i < ILD * IM; i++)
		in_a[i] = (int8_t)(test_random(&seed) * 128);
	for (int i = 0; i < ILD * IN; i++)
		in_b[i] = (int8_t)(test_random(&seed) * 128);
	for (int i = 0; i < IM * IN; i++)
		in_c[i] = (int32_t)(test_random(&seed) * 1000000);
	at_a = test_upload(in_a, sizeof in_a);
	at_b = test_upload(in_b, sizeof in_b);
	at_c = test_upload(in_c, sizeof in_c);
	integer_layouts();
	OK(integer_product(scalars, at_a, at_b, at_c, at_d));
	OK(cudaMemcpy(out, at_d, sizeof out, cudaMemcpyDeviceToHost));
	for (int j = 0; j < IN; j++)
		for (int i = 0; i < IM; i++) {
			int32_t sum = 0;

			for (int l = 0; l < IK; l++)
				sum += in_a[i * ILD + l] * in_b[j * ILD + l];
			assert_int_equal(out[j * IM + i], -3 * sum +
			    2 * in_c[j * IM + i]);
		}
	assert_int_equal(integer_product(scalars, at_a + 1, at_b, at_c, at_d),
	    UNSUPPORTED);
	OK(layout_set(integer_a, 4, &bad_ld, sizeof bad_ld));
	assert_int_equal(integer_product(scalars, at_a, at_b, at_c, at_d),
	    UNSUPPORTED);
	OK(layout_set(integer_a, 4, &good_ld, sizeof good_ld));
	OK(layout_set(integer_c, 4, &bad_ld, sizeof bad_ld));
	assert_int_equal(integer_product(scalars, at_a, at_b, at_c, at_d),
	    UNSUPPORTED);
	OK(layout_set(integer_c, 4, &dense, sizeof dense));
	TEST_SET(operation, TRANSA, plain);
	assert_int_equal(integer_product(scalars, at_a, at_b, at_c, at_d),
	    UNSUPPORTED);
	TEST_SET(operation, TRANSA, turned);
	TEST_SET(operation, EPILOGUE, relu);
	assert_int_equal(integer_product(scalars, at_a, at_b, at_c, at_d),
	    UNSUPPORTED);
	OK(cudaDeviceSynchronize());
	OK(cudaFree(at_a));
	OK(cudaFree(at_b));
	OK(cudaFree(at_c));
	OK(cudaFree(at_d));
	integer_drop();
}

/* Described wrongly, or not supported. */
static void
refusals(void **state)
{
	(void)state;
	make(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
	OK(matmul(NULL, NULL, 0));
	REFUSE(INVALID, operation, operation, 3, int32_t, 9);
	REFUSE(INVALID, operation, operation, 7, uint32_t, 12345);
	REFUSE(INVALID, operation, operation, 17, void *, d.device);
	REFUSE(INVALID, operation, operation, 21, void *, d.device);
	REFUSE(INVALID, operation, operation, 3, int32_t, CUBLAS_OP_T);
	REFUSE(UNSUPPORTED, operation, operation, 0, int32_t,
	    CUBLAS_COMPUTE_16F);
	REFUSE(UNSUPPORTED, operation, operation, 1, int32_t, CUDA_R_64F);
	REFUSE(UNSUPPORTED, operation, operation, 2, int32_t,
	    CUBLASLT_POINTER_MODE_DEVICE_VECTOR);
	REFUSE(UNSUPPORTED, operation, operation, 5, int32_t, CUBLAS_OP_T);
	REFUSE(UNSUPPORTED, operation, operation, 6, int32_t,
	    CUBLAS_FILL_MODE_LOWER);
	REFUSE(INVALID, layout, a.layout, 2, uint64_t, M + 1);
	REFUSE(INVALID, layout, b.layout, 2, uint64_t, K - 1);
	REFUSE(INVALID, layout, a.layout, 4, int64_t, M - 1);
	REFUSE(INVALID, layout, d.layout, 4, int64_t, 0);
	REFUSE(INVALID, layout, a.layout, 5, int32_t, 2);
	REFUSE(INVALID, layout, c.layout, 1, int32_t, CUBLASLT_ORDER_ROW);
	REFUSE(UNSUPPORTED, layout, c.layout, 0, uint32_t, CUDA_R_16F);
	REFUSE(UNSUPPORTED, layout, a.layout, 0, uint32_t, CUDA_R_16F);
	REFUSE(UNSUPPORTED, layout, a.layout, 1, int32_t,
	    CUBLASLT_ORDER_COL32);
	REFUSE(UNSUPPORTED, layout, a.layout, 7, int64_t, 64);
	REFUSE(UNSUPPORTED, layout, a.layout, 8, uint32_t, 1);
	drop();
}

/* In row order, an activation with a bias [the manual], and more outputs. */
static void
row_order(void **state)
{
	static const uint32_t never[] = { CUBLASLT_EPILOGUE_RELU_BIAS,
		CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_DRELU_BGRAD,
		CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_GELU_AUX,
		CUBLASLT_EPILOGUE_BGRADA };
	const int32_t order = CUBLASLT_ORDER_ROW;

	(void)state;
	make(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
	OK(layout_set(c.layout, 1, &order, sizeof order));
	OK(layout_set(d.layout, 1, &order, sizeof order));
	for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
		TEST_SET(operation, EPILOGUE, never[i]);
		refused(UNSUPPORTED);
	}
	drop();
}

/* Handles, and pointers that only the product has. */
static void
pointers(void **state)
{
	const uint32_t with_bias = CUBLASLT_EPILOGUE_BIAS;
	const uint32_t with_mask = CUBLASLT_EPILOGUE_RELU_AUX;
	const int64_t bad_ld = 64, good_ld = 128;
	cublasLtMatmulHeuristicResult_t result;
	cublasLtHandle_t good = lt;
	int found;
	void *aux = test_device(N * 16), *was;

	(void)state;
	make(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
	lt = NULL;
	assert_int_equal(matmul(NULL, NULL, 0), NOT_READY);
	lt = (cublasLtHandle_t)blas;
	OK(matmul(NULL, NULL, 0));
	lt = good;
	assert_int_equal(cublasSetPointerMode((cublasHandle_t)lt,
	    CUBLAS_POINTER_MODE_HOST), NOT_READY);
	was = d.device;
	d.device = NULL;
	assert_int_equal(matmul(NULL, NULL, 0), INVALID);
	d.device = was;
	was = a.device;
	a.device = NULL;
	assert_int_equal(matmul(NULL, NULL, 0), INVALID);
	a.device = was;
	was = c.device;
	c.device = NULL; /* and beta is not 0 */
	assert_int_equal(matmul(NULL, NULL, 0), INVALID);
	c.device = was;
	/* XLA asks before it sets them. */
	TEST_SET(operation, EPILOGUE, with_bias);
	OK(heuristic(1, &result, &found));
	assert_int_equal(matmul(NULL, NULL, 0), INVALID);
	TEST_SET(operation, EPILOGUE, with_mask);
	OK(heuristic(1, &result, &found));
	TEST_SET(operation, EPILOGUE_AUX_POINTER, aux);
	assert_int_equal(matmul(NULL, NULL, 0), INVALID);
	TEST_SET(operation, EPILOGUE_AUX_LD, bad_ld);
	assert_int_equal(matmul(NULL, NULL, 0), INVALID);
	TEST_SET(operation, EPILOGUE_AUX_LD, good_ld);
	OK(matmul(NULL, NULL, 0));
	OK(cudaDeviceSynchronize());
	OK(cudaFree(aux));
	drop();
}

/* ---- algorithms ---------------------------------------------------------- */

/* No more than was asked for, no more workspace than is allowed, no stricter
 * alignment than is promised; each runs in what it says it needs. */
static void
heuristics(void **state)
{
	cublasLtMatmulHeuristicResult_t results[16];
	const uint64_t none = 0, much = 1 << 20;
	const uint32_t element = 2;
	void *workspace = test_device(much);
	int found, all, least;

	(void)state;
	make(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
	OK(preference_set(preference, 1, &much, sizeof much));
	OK(heuristic(16, results, &all));
	assert_true(all > 2);
	for (int i = 0; i < all; i++) {
		const size_t bytes = results[i].workspaceSize;

		assert_int_equal(results[i].state, 0);
		OK(matmul(&results[i].algo, workspace, bytes));
		if (bytes)
			assert_int_equal(matmul(&results[i].algo, workspace,
			    bytes - 1), INVALID);
	}
	OK(heuristic(2, results, &found));
	assert_int_equal(found, 2);
	assert_int_equal(heuristic(0, results, &found), INVALID);
	OK(preference_set(preference, 1, &none, sizeof none));
	OK(heuristic(16, results, &least));
	assert_true(least < all);
	for (int i = 0; i < least; i++)
		assert_int_equal(results[i].workspaceSize, 0);
	OK(preference_set(preference, 5, &element, sizeof element));
	OK(heuristic(16, results, &found));
	assert_true(found < least);
	assert_int_equal(matmul(NULL, (char *)workspace + 16, 16), INVALID);
	OK(cudaDeviceSynchronize());
	OK(cudaFree(workspace));
	drop();
}

/* Made by hand, as TunableOp and NVIDIA's samples do. */
static void
by_hand(void **state)
{
	int ids[16], found, id, split = 4;
	const uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
	const cudaDataType half_type = CUDA_R_16F, single = CUDA_R_32F;
	cublasLtMatmulHeuristicResult_t result;
	cublasLtMatmulDescOpaque_t garbage;
	cublasLtMatmulAlgo_t algorithm;
	uint32_t tiles[8], mask;
	size_t written;

	(void)state;
	make(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
	OK(cublasLtMatmulAlgoGetIds(lt, CUBLAS_COMPUTE_32F, single,
	    half_type, half_type, single, single, 16, ids, &found));
	for (int i = 0; i < found; i++) {
		OK(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F, single,
		    half_type, half_type, single, single, ids[i],
		    &algorithm));
		OK(config_get(&algorithm, 0, &id, sizeof id, &written));
		assert_int_equal(id, ids[i]);
		OK(cublasLtMatmulAlgoCheck(lt, operation, a.layout, b.layout,
		    c.layout, d.layout, &algorithm, &result));
		assert_int_equal(result.workspaceSize, 0);
		OK(matmul(&algorithm, NULL, 0));
		OK(cublasLtMatmulAlgoCapGetAttribute(&algorithm,
		    CUBLASLT_ALGO_CAP_TILE_IDS, tiles, sizeof tiles,
		    &written));
		assert_int_equal(written, 4);
		OK(cublasLtMatmulAlgoCapGetAttribute(&algorithm,
		    CUBLASLT_ALGO_CAP_POINTER_MODE_MASK, &mask, sizeof mask,
		    &written));
		assert_int_equal(mask, 3);
	}
	OK(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F, single, half_type,
	    half_type, single, single, 21, &algorithm));
	OK(config_set(&algorithm, 2, &split, sizeof split));
	assert_int_equal(matmul(&algorithm, NULL, 0), UNSUPPORTED);
	OK(config_set(&algorithm, 3, &scheme, sizeof scheme));
	OK(cublasLtMatmulAlgoCheck(lt, operation, a.layout, b.layout,
	    c.layout, d.layout, &algorithm, &result));
	assert_int_equal(result.workspaceSize, split * M * N * 4);
	assert_int_equal(matmul(&algorithm, NULL, 0), INVALID);
	assert_int_equal(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F,
	    single, half_type, half_type, single, single, 9999, &algorithm),
	    INVALID);
	assert_int_equal(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F,
	    single, single, single, single, single, 66, &algorithm),
	    UNSUPPORTED);
	/* One of another product. */
	OK(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F, single, single,
	    single, single, single, 0, &algorithm));
	assert_int_equal(matmul(&algorithm, NULL, 0), INVALID);
	memset(&algorithm, 0x5a, sizeof algorithm);
	assert_int_equal(matmul(&algorithm, NULL, 0), INVALID);
	memset(garbage.data, 0xff, sizeof garbage.data);
	assert_int_equal(cublasLtMatmul(lt, &garbage, &one, a.device,
	    a.layout, b.device, b.layout, &half, c.device, c.layout, d.device,
	    d.layout, NULL, NULL, 0, NULL), INVALID);
	OK(cudaDeviceSynchronize());
	drop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(library),
		cmocka_unit_test(failure),
		cmocka_unit_test(doubles),
		cmocka_unit_test(integers),
		cmocka_unit_test(refusals),
		cmocka_unit_test(row_order),
		cmocka_unit_test(pointers),
		cmocka_unit_test(heuristics),
		cmocka_unit_test(by_hand),
	};
	int failed;

	setenv("AUTOCAST_EMU_FAIL",
	    "cublasLtMatmul:1,cublasLtMatmulAlgoGetHeuristic:1", 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cublasCreate(&blas) || cublasLtCreate(&lt))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cublasLtDestroy(lt);
	cublasDestroy(blas);
	return failed;
}
