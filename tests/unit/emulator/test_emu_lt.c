/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_lt.c -- the emulated cublasLt but its numbers:
 * handles, descriptors and their attributes, the heuristics, algorithms, what
 * a product refuses. */
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

/* ---- descriptors [measured on NVIDIA's 13.1] ----------------------------- */

/* Attributes by number: bytes, and the value of a new descriptor. */
struct row {
	int number;
	size_t bytes;
	int64_t value;
};
static const struct row operation_rows[] = {
	{ 0, 4, CUBLAS_COMPUTE_32F }, { 1, 4, CUDA_R_32F }, { 2, 4, 0 },
	{ 3, 4, 0 }, { 4, 4, 0 }, { 5, 4, 0 },
	{ 6, 4, CUBLAS_FILL_MODE_FULL }, { 7, 4, CUBLASLT_EPILOGUE_DEFAULT },
	{ 8, 8, 0 }, { 10, 8, 0 }, { 11, 8, 0 }, { 12, 8, 0 }, { 13, 8, 0 },
	{ 14, 8, 0 }, { 15, 4, 0 }, { 16, 4, 0 }, { 17, 8, 0 }, { 18, 8, 0 },
	{ 19, 8, 0 }, { 20, 8, 0 }, { 21, 8, 0 }, { 22, 4, 0xffffffff },
	{ 23, 8, 0 }, { 24, 8, 0 }, { 25, 1, 0 }, { 26, 4, 0xffffffff },
	{ 31, 4, 0 }, { 32, 4, 0 }, { 33, 4, 0 }, { 34, 4, 0 }, { 35, 4, 0 },
	{ 36, 8, 0 }, { 37, 4, 0 }, { 38, 8, 0 }, { 0, 0, 0 }
};
static const struct row layout_rows[] = {
	{ 0, 4, CUDA_R_32F }, { 1, 4, 0 }, { 2, 8, 5 }, { 3, 8, 6 },
	{ 4, 8, 7 }, { 5, 4, 1 }, { 6, 8, 0 }, { 7, 8, 0 }, { 8, 4, 0 },
	{ 0, 0, 0 }
};
static const struct row preference_rows[] = {
	{ 0, 4, 0 }, { 1, 8, 0 }, { 3, 4, 7 }, { 5, 4, 256 }, { 6, 4, 256 },
	{ 7, 4, 256 }, { 8, 4, 256 }, { 9, 4, 0 }, { 12, 8, -1 }, { 0, 0, 0 }
};
static const struct row config_rows[] = {
	{ 0, 4, 0 }, { 1, 4, 0 }, { 2, 4, 0 }, { 3, 4, 0 }, { 4, 4, 0 },
	{ 5, 4, 0 }, { 6, 4, 0 }, { 7, 2, 0 }, { 8, 2, 0 }, { 0, 0, 0 }
};

#define ATTRIBUTES(name, getter, setter, object, attributes)              \
static int                                                                \
name##_get(void *at, int attribute, void *value, size_t bytes,            \
    size_t *written)                                                      \
{                                                                         \
	return (int)getter((object *)at, (attributes)attribute, value,    \
	    bytes, written);                                              \
}                                                                         \
static int                                                                \
name##_set(void *at, int attribute, const void *value, size_t bytes)      \
{                                                                         \
	return (int)setter((object *)at, (attributes)attribute, value,    \
	    bytes);                                                       \
}
ATTRIBUTES(operation, cublasLtMatmulDescGetAttribute,
    cublasLtMatmulDescSetAttribute, cublasLtMatmulDescOpaque_t,
    cublasLtMatmulDescAttributes_t)
ATTRIBUTES(layout, cublasLtMatrixLayoutGetAttribute,
    cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayoutOpaque_t,
    cublasLtMatrixLayoutAttribute_t)
ATTRIBUTES(preference, cublasLtMatmulPreferenceGetAttribute,
    cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreferenceOpaque_t,
    cublasLtMatmulPreferenceAttributes_t)
ATTRIBUTES(config, cublasLtMatmulAlgoConfigGetAttribute,
    cublasLtMatmulAlgoConfigSetAttribute, cublasLtMatmulAlgo_t,
    cublasLtMatmulAlgoConfigAttributes_t)

typedef int (*get_call)(void *, int, void *, size_t, size_t *);
typedef int (*set_call)(void *, int, const void *, size_t);

/* One attribute: its size and no other, its value, NULLs. */
static void
attribute(void *at, get_call get, set_call set, const struct row *row,
    bool is_fixed)
{
	unsigned char buffer[64], new[64];
	size_t written = 99;
	int64_t value = 0;

	OK(get(at, row->number, NULL, 0, &written));
	assert_int_equal(written, row->bytes);
	assert_int_equal(get(at, row->number, buffer, 0, NULL), INVALID);
	OK(get(at, row->number, &value, row->bytes, NULL));
	if (row->bytes == 4)
		value &= 0xffffffff;
	assert_int_equal(value, row->value);
	memset(new, 0x3c, sizeof new);
	for (size_t bytes = 1; bytes <= 16; bytes++) {
		const bool fits = bytes == row->bytes;

		assert_int_equal(get(at, row->number, buffer, bytes, &written),
		    fits ? 0 : INVALID);
		assert_int_equal(set(at, row->number, new, bytes),
		    fits && !is_fixed ? 0 : INVALID);
	}
	assert_int_equal(get(at, row->number, NULL, row->bytes, &written),
	    INVALID);
	assert_int_equal(set(at, row->number, NULL, row->bytes), INVALID);
	assert_int_equal(get(NULL, row->number, buffer, row->bytes, &written),
	    INVALID);
	assert_int_equal(set(NULL, row->number, new, row->bytes), INVALID);
	if (is_fixed)
		return;
	OK(get(at, row->number, buffer, row->bytes, &written));
	assert_memory_equal(buffer, new, row->bytes);
}

static void
attributes(void *at, get_call get, set_call set, const struct row *rows,
    bool first_is_fixed)
{
	const struct row *row = rows;
	unsigned char buffer[8];
	size_t written;

	for (int number = -1; number < 64; number++)
		if (row->bytes && row->number == number) {
			attribute(at, get, set, row, first_is_fixed &&
			    row == rows);
			row++;
		} else {
			assert_int_equal(get(at, number, buffer, 0, &written),
			    INVALID);
			assert_int_equal(set(at, number, buffer, 4), INVALID);
		}
	assert_int_equal(row->bytes, 0);
}

static void
descriptors(void **state)
{
	cublasLtMatmulPreference_t preference;
	cublasLtMatmulDesc_t operation;
	cublasLtMatrixLayout_t layout;
	cublasLtMatmulAlgo_t algorithm = { { 0 } };

	(void)state;
	OK(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	OK(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 5, 6, 7));
	OK(cublasLtMatmulPreferenceCreate(&preference));
	attributes(operation, operation_get, operation_set, operation_rows,
	    false);
	attributes(layout, layout_get, layout_set, layout_rows, false);
	attributes(preference, preference_get, preference_set,
	    preference_rows, false);
	attributes(&algorithm, config_get, config_set, config_rows, true);
	OK(cublasLtMatmulDescDestroy(operation));
	OK(cublasLtMatrixLayoutDestroy(layout));
	OK(cublasLtMatmulPreferenceDestroy(preference));
	OK(cublasLtMatmulDescDestroy(NULL));
	OK(cublasLtMatrixLayoutDestroy(NULL));
	OK(cublasLtMatmulPreferenceDestroy(NULL));
	assert_int_equal(cublasLtMatmulDescCreate(NULL, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F), INVALID);
	assert_int_equal(cublasLtMatrixLayoutCreate(NULL, CUDA_R_32F, 1, 1,
	    1), INVALID);
	assert_int_equal(cublasLtMatmulPreferenceCreate(NULL), INVALID);
}

/* On the stack, too: nothing outside the struct belongs to it. The descriptors
 * of older headers are shorter, and lack what came later. */
static void
on_the_stack(void **state)
{
	enum { OLDER = 184 };
	struct {
		cublasLtMatmulDescOpaque_t operation;
		uint64_t after;
	} kept;
	cublasLtMatrixLayoutOpaque_t layout;
	cublasLtMatmulPreferenceOpaque_t preference;
	unsigned char *bytes = (unsigned char *)&kept;
	const int32_t value = 1;
	const void *none = NULL;

	(void)state;
	memset(&kept, 0xa5, sizeof kept);
	OK(cublasLtMatmulDescInit(&kept.operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	OK(cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, 5, 6, 7));
	OK(cublasLtMatmulPreferenceInit(&preference));
	attributes(&kept.operation, operation_get, operation_set,
	    operation_rows, false);
	attributes(&layout, layout_get, layout_set, layout_rows, false);
	attributes(&preference, preference_get, preference_set,
	    preference_rows, false);
	assert_true(kept.after == 0xa5a5a5a5a5a5a5a5);
	memset(&kept, 0xa5, sizeof kept);
	OK(cublasLtMatmulDescInit_internal(&kept.operation, OLDER,
	    CUBLAS_COMPUTE_32F, CUDA_R_32F));
	OK(operation_set(&kept.operation, 26, &value, sizeof value));
	assert_int_equal(operation_set(&kept.operation, 38, &none,
	    sizeof none), INVALID);
	for (size_t i = OLDER; i < sizeof kept; i++)
		assert_int_equal(bytes[i], 0xa5);
	assert_int_equal(cublasLtMatmulDescInit_internal(&kept.operation, 48,
	    CUBLAS_COMPUTE_32F, CUDA_R_32F), CUBLAS_STATUS_ALLOC_FAILED);
	assert_int_equal(cublasLtMatrixLayoutInit_internal(&layout, 56,
	    CUDA_R_32F, 1, 1, 1), CUBLAS_STATUS_ALLOC_FAILED);
	assert_int_equal(cublasLtMatmulPreferenceInit_internal(&preference,
	    56), CUBLAS_STATUS_ALLOC_FAILED);
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
	cublasLtHandle_t good = lt;
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
	TEST_SET(operation, EPILOGUE, with_bias);
	assert_int_equal(matmul(NULL, NULL, 0), INVALID);
	TEST_SET(operation, EPILOGUE, with_mask);
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
	OK(cudaDeviceSynchronize());
	drop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(library),
		cmocka_unit_test(descriptors),
		cmocka_unit_test(on_the_stack),
		cmocka_unit_test(refusals),
		cmocka_unit_test(row_order),
		cmocka_unit_test(pointers),
		cmocka_unit_test(heuristics),
		cmocka_unit_test(by_hand),
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
