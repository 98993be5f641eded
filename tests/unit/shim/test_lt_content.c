/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_lt_content.c -- what a call of cublasLtMatmul() says is
 * read right, from descriptors of all sizes and with any attribute set. */
#include "tests/unit/cases.h"
#include "tests/unit/shim/lt_world.h"

#include "shim/lt/library.h"

static struct lt_call call;

static int
clear(void **state)
{
	lt_world_clear();
	lt_call_init(&call, 0);
	return 0;
}

static struct ac_lt_content
content(void)
{
	struct ac_lt_content read;

	memset(&read, LT_POISON, sizeof read);
	assert_true(ac_lt_read(&call.asked, &read));
	return read;
}

static void
expect_unsupported(const char *name)
{
	const struct ac_lt_content read = content();

	if (!read.unsupported)
		fail_msg("%s is supported", name);
	assert_string_equal(ac_lt_unsupported_name(read.unsupported), name);
}

CASE_WITH(test_a_plain_call, clear, NULL)
{
	const struct ac_lt_content expected = {
		.compute = CUBLAS_COMPUTE_32F, .scale = CUDA_R_32F,
		.epilogue = CUBLASLT_EPILOGUE_DEFAULT,
		.bias_type = -1, .aux_type = -1,
		.a = { .rows = 48, .cols = 32, .ld = 50, .batch = 1 },
		.b = { .rows = 32, .cols = 16, .ld = 33, .batch = 1 },
		.c = { .rows = 48, .cols = 16, .ld = 49, .batch = 1 },
		.d = { .rows = 48, .cols = 16, .ld = 48, .batch = 1 },
	};
	struct ac_lt_content read = content();

	/* Holes would be no part of a key. */
	assert_memory_equal(&read, &expected, sizeof read);
	assert_int_equal(sizeof read, 10 * sizeof(int32_t) + sizeof(int64_t)
	    + 4 * (4 * sizeof(int32_t) + 4 * sizeof(int64_t)));
	/* C may be left out. */
	call.asked.c = NULL;
	read = content();
	assert_memory_equal(&read.c, &expected.d, sizeof read.c);
}

CASE_WITH(test_each_attribute, clear, NULL)
{
	static const struct { int number; size_t at, bytes; } rows[] = {
#define ROW(name, member) { CUBLASLT_MATMUL_DESC_##name, \
	offsetof(struct ac_lt_content, member), \
	sizeof ((struct ac_lt_content *)0)->member },
		ROW(COMPUTE_TYPE, compute)
		ROW(SCALE_TYPE, scale)
		ROW(POINTER_MODE, pointer_mode)
		ROW(TRANSA, transa)
		ROW(TRANSB, transb)
		ROW(EPILOGUE, epilogue)
		ROW(BIAS_BATCH_STRIDE, bias_stride)
		ROW(SM_COUNT_TARGET, sm_count_target)
		ROW(EPILOGUE_AUX_DATA_TYPE, aux_type)
		ROW(BIAS_DATA_TYPE, bias_type)
	};
	const struct ac_lt_content plain = content();

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ac_lt_content expected = plain, read;
		/* One value that all can have. */
		const int64_t value = CUBLAS_POINTER_MODE_DEVICE;

		memcpy((char *)&expected + rows[i].at, &value, rows[i].bytes);
		lt_call_init(&call, 0);
		assert_int_equal(lt_set(&call, rows[i].number, &value,
		    rows[i].bytes), 0);
		read = content();
		assert_memory_equal(&read, &expected, sizeof read);
	}
}

CASE_WITH(test_each_attribute_of_a_layout, clear, NULL)
{
	const struct ac_lt_content plain = content();
	union lt_matrix *const matrices[] = { &call.a, &call.b, &call.c,
		&call.d };
	const uint32_t type = CUDA_R_16F;
	const int32_t order = CUBLASLT_ORDER_ROW, batch = 7;
	const uint64_t rows = UINT64_C(1) << 40, cols = rows + 1;
	const int64_t ld = INT64_C(-5), stride = INT64_C(1) << 50;

	for (int i = 0; i < 4; i++) {
		struct ac_lt_content expected = plain, read;
		struct ac_lt_matrix *to = &(&expected.a)[i];

		lt_call_init(&call, 0);
#define CHECK(name, value, member) \
		LT_SET_LAYOUT(matrices[i], name, value); \
		to->member = (__typeof__(to->member))(value); \
		read = content(); \
		assert_memory_equal(&read, &expected, sizeof read)
		CHECK(TYPE, type, type);
		CHECK(ORDER, order, order);
		CHECK(ROWS, rows, rows);
		CHECK(COLS, cols, cols);
		CHECK(LD, ld, ld);
		CHECK(STRIDED_BATCH_OFFSET, stride, stride);
		LT_SET_LAYOUT(matrices[i], BATCH_COUNT, batch);
		expect_unsupported("unequal BATCH_COUNTs");
	}
	for (int i = 0; i < 4; i++)
		LT_SET_LAYOUT(matrices[i], BATCH_COUNT, batch);
	assert_int_equal(content().unsupported, 0);
	assert_int_equal(content().c.batch, 7);
}

CASE_WITH(test_layouts_that_are_odd, clear, NULL)
{
	union lt_matrix *const matrices[] = { &call.a, &call.b, &call.c,
		&call.d };
	const int32_t order = CUBLASLT_ORDER_COL32;
	const int64_t plane = 4096;
	const uint64_t huge = UINT64_MAX;
	const uint32_t mode = 1;

	for (int i = 0; i < 4; i++) {
		lt_call_init(&call, 0);
		LT_SET_LAYOUT(matrices[i], ORDER, order);
		expect_unsupported("layout's ORDER");
		lt_call_init(&call, 0);
		LT_SET_LAYOUT(matrices[i], PLANE_OFFSET, plane);
		expect_unsupported("layout's PLANE_OFFSET");
		lt_call_init(&call, 0);
		LT_SET_LAYOUT(matrices[i], ROWS, huge);
		expect_unsupported("layout's ROWS");
		lt_call_init(&call, 0);
		LT_SET_LAYOUT(matrices[i], COLS, huge);
		expect_unsupported("layout's COLS");
		lt_call_init(&call, 0);
		assert_int_equal(lt_set_layout(matrices[i], 8, &mode,
		    sizeof mode), 0);
		expect_unsupported("layout's BATCH_MODE");
	}
}

/* Everything that the library has and that is not read, but for what may change
 * at every call: set, it is odd; set to what it was, it is not. */
CASE_WITH(test_attributes_that_are_odd, clear, NULL)
{
	static const int understood[] = { 0, 1, 3, 4, 7, 8, 10, 11, 12, 13, 15,
		22, 26 };
	unsigned odd = 0;
	bool is_understood;

	for (int number = 0; number < AC_LT_ATTRIBUTES; number++) {
		unsigned char value[16];
		size_t bytes;

		lt_call_init(&call, 0);
		bytes = lt_get(&call, number, value);
		if (!bytes)
			continue;
		is_understood = false;
		for (unsigned i = 0; i < sizeof understood
		    / sizeof *understood; i++)
			is_understood |= understood[i] == number;
		assert_int_equal(lt_set(&call, number, value, bytes), 0);
		assert_int_equal(content().unsupported, 0);
		value[0] ^= 0x40;
		assert_int_equal(lt_set(&call, number, value, bytes), 0);
		if ((content().unsupported != 0) == is_understood)
			fail_msg("attribute %d", number);
		odd += !is_understood;
		value[0] ^= 0x40;
		assert_int_equal(lt_set(&call, number, value, bytes), 0);
		assert_int_equal(content().unsupported, 0);
	}
	/* 2, 5, 6, 14, 16 to 21, 23 to 25 are in all of them. */
	assert_true(odd >= 13);
}

CASE_WITH(test_names_of_what_is_odd, clear, NULL)
{
	const int32_t transposed = CUBLAS_OP_T, vector =
	    CUBLASLT_POINTER_MODE_DEVICE_VECTOR, unnamed = 1;
	const void *scale = &call;

	LT_SET(&call, TRANSC, transposed);
	expect_unsupported("TRANSC");
	lt_call_init(&call, 0);
	LT_SET(&call, POINTER_MODE, vector);
	expect_unsupported("POINTER_MODE");
	lt_call_init(&call, 0);
	LT_SET(&call, B_SCALE_POINTER, scale);
	expect_unsupported("B_SCALE_POINTER");
	lt_call_init(&call, 0);
	assert_int_equal(lt_set(&call, 16, &unnamed, sizeof unnamed), 0);
	expect_unsupported("an unknown attribute");
	assert_string_equal(ac_lt_unsupported_name(-1), "an unknown attribute");
	assert_string_equal(ac_lt_unsupported_name(1 << 20),
	    "an unknown attribute");
}

/* Headers have had descriptors of 80, 184 and 256 bytes; libraries are built
 * with larger ones. What lies behind is not looked at. */
CASE_WITH(test_descriptors_of_other_sizes, clear, NULL)
{
	static const size_t sizes[] = { 80, 96, 184, 208, 256, 320, 512 };
	const struct ac_lt_content plain = content();
	const int32_t transb = CUBLAS_OP_T, relu = CUBLASLT_EPILOGUE_RELU;
	unsigned accepted = 0;

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct ac_lt_content read;

		memset(&call.operation, LT_POISON, sizeof call.operation);
		if (LT(cublasLtMatmulDescInit_internal)(
		    &call.operation.opaque, sizes[i], CUBLAS_COMPUTE_32F,
		    CUDA_R_32F))
			continue;
		accepted++;
		read = content();
		assert_memory_equal(&read, &plain, sizeof read);
		LT_SET(&call, TRANSB, transb);
		LT_SET(&call, EPILOGUE, relu);
		read = content();
		assert_int_equal(read.transb, transb);
		assert_int_equal(read.epilogue, relu);
		assert_int_equal(read.unsupported, 0);
		for (size_t j = sizes[i]; j < sizeof call.operation; j++)
			assert_int_equal(call.operation.bytes[j], LT_POISON);
	}
	assert_true(accepted >= 4);
}

/* On the heap they are as large as the library likes. */
CASE_WITH(test_descriptors_on_the_heap, clear, NULL)
{
	const struct ac_lt_content plain = content();
	struct ac_lt_content read;

	assert_int_equal(LT(cublasLtMatmulDescCreate)(&call.asked.desc,
	    CUBLAS_COMPUTE_32F, CUDA_R_32F), 0);
	assert_int_equal(LT(cublasLtMatrixLayoutCreate)(&call.asked.a,
	    CUDA_R_32F, 48, 32, 50), 0);
	read = content();
	assert_memory_equal(&read, &plain, sizeof read);
	assert_int_equal(LT(cublasLtMatrixLayoutDestroy)(call.asked.a), 0);
	assert_int_equal(LT(cublasLtMatmulDescDestroy)(call.asked.desc), 0);
}

CASE_WITH(test_nothing_to_read, clear, NULL)
{
	struct ac_lt_content read, untouched;
	struct ac_lt_asked asked = call.asked;

	memset(&read, LT_POISON, sizeof read);
	untouched = read;
#define WITHOUT(member) \
	call.asked.member = NULL; \
	assert_false(ac_lt_read(&call.asked, &read)); \
	call.asked = asked
	WITHOUT(desc);
	WITHOUT(a);
	WITHOUT(b);
	WITHOUT(d);
	lt_world_clear();
	lt_lacks = "cublasLtMatrixLayoutGetAttribute";
	assert_false(ac_lt_read(&asked, &read));
	assert_memory_equal(&read, &untouched, sizeof read);
	/* It stays so, until another library is loaded there. */
	lt_lacks = NULL;
	assert_false(ac_lt_read(&asked, &read));
	ac_lt_library_forget(asked.provider);
	lt_world_clear();
	assert_true(ac_lt_read(&asked, &read));
}

/* ---- Pointers ------------------------------------------------------------ */

CASE_WITH(test_pointers, clear, NULL)
{
	static const struct { int epilogue; bool bias, aux; } rows[] = {
		{ CUBLASLT_EPILOGUE_DEFAULT, false, false },
		{ CUBLASLT_EPILOGUE_RELU, false, false },
		{ CUBLASLT_EPILOGUE_GELU, false, false },
		{ CUBLASLT_EPILOGUE_BIAS, true, false },
		{ CUBLASLT_EPILOGUE_RELU_BIAS, true, false },
		{ CUBLASLT_EPILOGUE_GELU_BIAS, true, false },
		{ CUBLASLT_EPILOGUE_RELU_AUX, false, true },
		{ CUBLASLT_EPILOGUE_GELU_AUX, false, true },
		{ CUBLASLT_EPILOGUE_RELU_AUX_BIAS, true, true },
		{ CUBLASLT_EPILOGUE_GELU_AUX_BIAS, true, true },
		{ CUBLASLT_EPILOGUE_DRELU, false, true },
		{ CUBLASLT_EPILOGUE_DGELU, false, true },
		{ CUBLASLT_EPILOGUE_DRELU_BGRAD, true, true },
		{ CUBLASLT_EPILOGUE_DGELU_BGRAD, true, true },
		{ CUBLASLT_EPILOGUE_BGRADA, true, false },
		{ CUBLASLT_EPILOGUE_BGRADB, true, false },
	};
	const void *bias = &call.a;
	void *aux = &call.b;
	const int64_t ld = 128, stride = INT64_C(1) << 40;

	LT_SET(&call, BIAS_POINTER, bias);
	LT_SET(&call, EPILOGUE_AUX_POINTER, aux);
	LT_SET(&call, EPILOGUE_AUX_LD, ld);
	LT_SET(&call, EPILOGUE_AUX_BATCH_STRIDE, stride);
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		const uint32_t epilogue = (uint32_t)rows[i].epilogue;
		struct ac_lt_content read;
		struct ac_lt_pointers pointers;

		LT_SET(&call, EPILOGUE, epilogue);
		read = content();
		assert_int_equal(read.unsupported, 0);
		assert_true(ac_lt_read_pointers(&call.asked, &read, NULL,
		    &pointers));
		assert_ptr_equal(pointers.bias, rows[i].bias ? bias : NULL);
		assert_ptr_equal(pointers.aux, rows[i].aux ? aux : NULL);
		assert_int_equal(pointers.aux_ld, rows[i].aux ? ld : 0);
		assert_int_equal(pointers.aux_stride, rows[i].aux ? stride : 0);
	}
}

CASE_WITH(test_pointers_of_a_short_descriptor, clear, NULL)
{
	const struct ac_lt_content needs = { .epilogue =
	    CUBLASLT_EPILOGUE_RELU_AUX };
	struct ac_lt_pointers pointers;

	memset(&call.operation, LT_POISON, sizeof call.operation);
	if (LT(cublasLtMatmulDescInit_internal)(&call.operation.opaque, 80,
	    CUBLAS_COMPUTE_32F, CUDA_R_32F))
		skip();
	assert_int_equal(content().unsupported, 0);
	assert_false(ac_lt_read_pointers(&call.asked, &needs, NULL,
	    &pointers));
}

/* ---- A library that is made up ------------------------------------------- */

static int get_calls, failing_call;
static bool has_large;

static cublasStatus_t CUBLASWINAPI
get_made_up(cublasLtMatmulDesc_t desc,
    cublasLtMatmulDescAttributes_t attribute, void *value, size_t bytes,
    size_t *written)
{
	if (++get_calls == failing_call)
		return CUBLAS_STATUS_INTERNAL_ERROR;
	if (!has_large || (int)attribute != AC_LT_ATTRIBUTES - 1)
		return LT(cublasLtMatmulDescGetAttribute)(desc, attribute,
		    value, bytes, written);
	*written = AC_LT_VALUE + 1;
	if (bytes)
		memset(value, 0, bytes);
	return CUBLAS_STATUS_SUCCESS;
}

static void
make_up(bool with_large, int failing)
{
	lt_world_clear();
	get_calls = 0;
	has_large = with_large;
	failing_call = failing;
	atomic_store(&lt_providers[0].real[
	    ENTRY_cublasLtMatmulDescGetAttribute], (ac_fn)get_made_up);
}

CASE_WITH(test_a_large_attribute, clear, NULL)
{
	make_up(true, 0);
	expect_unsupported("a large attribute");
	make_up(false, 0);
	assert_int_equal(content().unsupported, 0);
}

/* A failure is no answer: neither to what there is, which is asked first, nor
 * to what is set, which is asked last. In between is the proof that
 * test_lt_known_calls.c is about. */
CASE_WITH(test_each_call_fails_once, clear, NULL)
{
	enum { LEARNING = 64 + 10, READING = 20 }; /* at least */
	const struct ac_lt_content plain = content();
	struct ac_lt_content read;
	int calls;

	make_up(false, 0);
	content();
	calls = get_calls;
	assert_true(calls > LEARNING + READING);
	for (int i = 1; i <= calls; i++) {
		if (i == LEARNING + 1)
			i = calls - READING + 1;
		make_up(false, i);
		assert_false(ac_lt_read(&call.asked, &read));
		read = content();
		assert_memory_equal(&read, &plain, sizeof read);
	}
}

/* What shim/lt/plan.c relies on: a copy is a descriptor of its own. */
CASE_WITH(test_copies, clear, NULL)
{
	const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
	const uintptr_t one = 0x100, two = 0x200;
	struct lt_call copy, fresh;
	uint64_t found[2];

	lt_call_init(&call, sizeof call.operation);
	LT_SET(&call, EPILOGUE, epilogue);
	copy = call;
	copy.asked.desc = &copy.operation.opaque;
	LT_SET(&call, BIAS_POINTER, one);
	LT_SET(&copy, BIAS_POINTER, two);
	lt_get(&call, CUBLASLT_MATMUL_DESC_BIAS_POINTER, found);
	assert_int_equal(found[0], one);
	lt_get(&copy, CUBLASLT_MATMUL_DESC_BIAS_POINTER, found);
	assert_int_equal(found[0], two);
	lt_call_init(&fresh, sizeof fresh.operation);
	LT_SET(&fresh, EPILOGUE, epilogue);
	LT_SET(&fresh, BIAS_POINTER, two);
	assert_memory_equal(&copy.operation, &fresh.operation,
	    sizeof copy.operation);
}

int
main(void)
{
	lt_world_open();
	return cases_run(NULL, NULL);
}
