/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_lt_describe.c -- descriptors of the emulated
 * cublasLt: every attribute that there is, and no other. The same passes on
 * NVIDIA's 13.1. */
#include "test_emu_lt.h"

enum { INVALID = CUBLAS_STATUS_INVALID_VALUE };

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
	{ 5, 4, 0 }, { 6, 4, 0 }, { 7, 2, 0 }, { 8, 2, 0 }, { 10, 2, 0 },
	{ 0, 0, 0 }
};

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptors),
		cmocka_unit_test(on_the_stack),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
