/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_lt_product.c -- what descriptors of cublasLt describe,
 * against a product by the definition: entry by entry of logical matrices. */
#include "shim/lt/product.h"
#include "tests/unit/cases.h"

/* As shim/site/site.c has them. */
enum ac_asked
ac_asked_by_compute(int compute)
{
	return compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? AC_ASKED_TF32
	    : AC_ASKED_UNSAID;
}

enum ac_type_class
ac_type_class_of(cudaDataType a, cudaDataType b, cudaDataType c, int compute)
{
	return a == CUDA_R_32F && b == CUDA_R_32F && c == CUDA_R_32F
	    ? AC_TYPE_F32 : AC_TYPE_OTHER;
}

enum { ROOM = 4096 };

static struct ac_lt_matrix
matrix(int64_t rows, int64_t cols, int32_t order, int32_t batch, int64_t extra)
{
	const int64_t ld = (order == CUBLASLT_ORDER_ROW ? cols : rows) + extra;
	const int64_t lines = order == CUBLASLT_ORDER_ROW ? rows : cols;

	return (struct ac_lt_matrix){ .type = CUDA_R_32F, .order = order,
		.rows = rows, .cols = cols, .ld = ld, .batch = batch,
		.stride = ld * lines + extra };
}

static struct ac_lt_content
good(void)
{
	return (struct ac_lt_content){
		.compute = CUBLAS_COMPUTE_32F, .scale = CUDA_R_32F,
		.epilogue = CUBLASLT_EPILOGUE_DEFAULT,
		.bias_type = -1, .aux_type = -1,
		.a = matrix(5, 7, CUBLASLT_ORDER_COL, 1, 0),
		.b = matrix(7, 6, CUBLASLT_ORDER_COL, 1, 0),
		.c = matrix(5, 6, CUBLASLT_ORDER_COL, 1, 0),
		.d = matrix(5, 6, CUBLASLT_ORDER_COL, 1, 0)
	};
}

/* Where entry (row, col) of matrix `index` lies. */
static int64_t
at(const struct ac_lt_matrix *x, int64_t index, int64_t row, int64_t col)
{
	return index * (x->batch > 1 ? x->stride : 0)
	    + (x->order == CUBLASLT_ORDER_ROW ? row * x->ld + col
	    : col * x->ld + row);
}

/* D = op(A) op(B) + 3 C, by the definition. */
static void
multiply(const struct ac_lt_content *x, const int64_t *a, const int64_t *b,
    const int64_t *c, int64_t *d)
{
	const int64_t k = x->transa ? x->a.rows : x->a.cols;

	for (int64_t i = 0; i < x->d.batch; i++)
		for (int64_t r = 0; r < x->d.rows; r++)
			for (int64_t s = 0; s < x->d.cols; s++) {
				int64_t sum = 3 * c[at(&x->c, i, r, s)];

				for (int64_t l = 0; l < k; l++)
					sum += a[x->transa ? at(&x->a, i, l, r)
					    : at(&x->a, i, r, l)]
					    * b[x->transb ? at(&x->b, i, s, l)
					    : at(&x->b, i, l, s)];
				d[at(&x->d, i, r, s)] = sum;
			}
}

/* The same as cuBLAS would, from the product. */
static void
multiply_columns(const struct ac_lt_product *p, const int64_t *a,
    const int64_t *b, const int64_t *c, int64_t *d)
{
	const int64_t *const first = p->swapped ? b : a;
	const int64_t *const second = p->swapped ? a : b;

	for (int64_t i = 0; i < p->batch; i++)
		for (int64_t r = 0; r < p->m; r++)
			for (int64_t s = 0; s < p->n; s++) {
				int64_t sum = 3 * c[i * p->c.stride
				    + s * p->c.ld + r];

				for (int64_t l = 0; l < p->k; l++)
					sum += first[i * p->a.stride
					    + (p->transa ? r * p->a.ld + l
					    : l * p->a.ld + r)]
					    * second[i * p->b.stride
					    + (p->transb ? l * p->b.ld + s
					    : s * p->b.ld + l)];
				d[i * p->d.stride + s * p->d.ld + r] = sum;
			}
}

/* Draw `n` of them: all orders, transposes, paddings, batches. */
static struct ac_lt_content
drawn(unsigned draw)
{
	const int64_t m = 1 + rand() % 6, n = 1 + rand() % 6;
	const int64_t k = 1 + rand() % 6;
	const int32_t batch = 1 + (int32_t)(draw >> 5 & 1) * (rand() % 3);
	const int32_t order[3] = { draw & 1, draw >> 1 & 1, draw >> 2 & 1 };
	const bool ta = draw >> 3 & 1, tb = draw >> 4 & 1;
	struct ac_lt_content x = good();

	x.transa = ta ? CUBLAS_OP_T : CUBLAS_OP_N;
	x.transb = tb ? 1 + rand() % 2 : CUBLAS_OP_N; /* T or C */
	x.a = matrix(ta ? k : m, ta ? m : k, order[0], batch, rand() % 3);
	x.b = matrix(tb ? n : k, tb ? k : n, order[1], batch, rand() % 3);
	x.c = matrix(m, n, order[2], batch, rand() % 3);
	x.d = matrix(m, n, order[2], batch, rand() % 3);
	return x;
}

CASE(test_products)
{
	static int64_t a[ROOM], b[ROOM], c[ROOM], d[ROOM], e[ROOM];

	_Static_assert(CUBLASLT_ORDER_COL == 0 && CUBLASLT_ORDER_ROW == 1,
	    "an order is a bit");
	for (unsigned i = 0; i < ROOM; i++) {
		a[i] = rand() % 100;
		b[i] = rand() % 100;
		c[i] = rand() % 100;
	}
	for (unsigned draw = 0; draw < 64 * 40; draw++) {
		const struct ac_lt_content x = drawn(draw);
		const struct ac_lt_product p = ac_lt_product_of(&x);

		memset(d, 0, sizeof d);
		memset(e, 0, sizeof e);
		multiply(&x, a, b, c, d);
		multiply_columns(&p, a, b, c, e);
		assert_memory_equal(d, e, sizeof d);
		assert_int_equal(p.epilogue, AC_EPILOGUE_DEFAULT);
		assert_int_equal(p.batch, x.d.batch);
		assert_int_equal(p.swapped, x.d.order == CUBLASLT_ORDER_ROW);
	}
}

CASE(test_epilogues)
{
	static const int known[] = {
		CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU,
		CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
		CUBLASLT_EPILOGUE_RELU_AUX, CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
		CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS,
		CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
		CUBLASLT_EPILOGUE_DRELU, CUBLASLT_EPILOGUE_DRELU_BGRAD,
		CUBLASLT_EPILOGUE_DGELU, CUBLASLT_EPILOGUE_DGELU_BGRAD
	};
	struct ac_lt_content x = good();

	_Static_assert(sizeof known / sizeof *known == AC_EPILOGUE_INPUT_SUMS,
	    "in the order of enum ac_epilogue");
	for (unsigned i = 0; i < AC_EPILOGUE_INPUT_SUMS; i++) {
		x = good();
		x.epilogue = known[i];
		assert_int_equal(ac_lt_product_of(&x).epilogue, i);
		assert_int_equal(ac_lt_epilogues[i].value, known[i]);
		/* Along the rows of a D in row order: only the plain one. */
		x.d.order = x.c.order = CUBLASLT_ORDER_ROW;
		assert_int_equal(ac_lt_product_of(&x).epilogue,
		    i ? AC_EPILOGUE_OTHER : AC_EPILOGUE_DEFAULT);
	}
	x = good();
	x.epilogue = CUBLASLT_EPILOGUE_BGRADA;
	assert_int_equal(ac_lt_product_of(&x).epilogue,
	    AC_EPILOGUE_INPUT_SUMS);
	x.epilogue = CUBLASLT_EPILOGUE_BGRADB;
	assert_int_equal(ac_lt_product_of(&x).epilogue,
	    AC_EPILOGUE_INPUT_SUMS);
	x.epilogue = 12345;
	assert_int_equal(ac_lt_product_of(&x).epilogue, AC_EPILOGUE_OTHER);
	assert_int_equal(ac_lt_epilogues[AC_EPILOGUE_GELU_AUX_BIAS].aux,
	    AC_LT_AUX_OUT);
	assert_int_equal(ac_lt_epilogues[AC_EPILOGUE_DGELU_BGRAD].aux,
	    AC_LT_AUX_IN);
}

/* What is changed makes it none that a recipe knows. */
#define REFUSES(change) \
	do { \
		struct ac_lt_content x = good(); \
		change; \
		if (ac_lt_product_of(&x).epilogue != AC_EPILOGUE_OTHER) \
			fail_msg("understood: %s", #change); \
	} while (0)

CASE(test_what_is_not_understood)
{
	REFUSES(x.unsupported = 3);
	REFUSES(x.a.rows = 4);
	REFUSES(x.b.rows = 8);
	REFUSES(x.b.cols = 5);
	REFUSES(x.c.rows = 4);
	REFUSES(x.c.cols = 4);
	REFUSES(x.a.rows = 0; x.d.rows = x.c.rows = 0);
	REFUSES(x.a.batch = 2);
	REFUSES(x.b.batch = 2);
	REFUSES(x.c.batch = 2);
	REFUSES(x.a.order = 2);
	REFUSES(x.b.order = CUBLASLT_ORDER_COL32);
	REFUSES(x.d.order = x.c.order = CUBLASLT_ORDER_COL32);
	REFUSES(x.c.order = CUBLASLT_ORDER_ROW);
	REFUSES(x.c.type = CUDA_R_16F);
	REFUSES(x.scale = CUDA_R_64F);
	REFUSES(x.bias_type = CUDA_R_16BF);
	REFUSES(x.aux_type = CUDA_R_16BF);
	REFUSES(x.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE_VECTOR);
	REFUSES(x.transa = CUBLAS_OP_T);
	REFUSES(x.transa = 9);
	REFUSES(x.transb = -1);
	REFUSES(x.transb = CUBLAS_OP_T);
}

/* The first of what stands in the way. */
CASE(test_names_of_others)
{
	struct ac_lt_content x = good();

	x.c.type = CUDA_R_16F;
	assert_string_equal(ac_lt_other_name(&x), "types or sizes");
	x.epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
	x.d.order = x.c.order = CUBLASLT_ORDER_ROW;
	assert_string_equal(ac_lt_other_name(&x), "an epilogue in row order");
	x.epilogue = 77;
	assert_string_equal(ac_lt_other_name(&x), "an unknown epilogue");
}

CASE(test_asked)
{
	struct ac_lt_content x = good();

	x.bias_type = x.aux_type = CUDA_R_32F;
	x.pointer_mode = CUBLASLT_POINTER_MODE_DEVICE;
	assert_int_equal(ac_lt_product_of(&x).epilogue, AC_EPILOGUE_DEFAULT);
	assert_int_equal(ac_lt_product_of(&x).pointer_mode,
	    CUBLAS_POINTER_MODE_DEVICE);
	assert_int_equal(ac_lt_product_of(&x).asked, AC_ASKED_FP32);
	assert_int_equal(ac_lt_product_of(&x).type, AC_TYPE_F32);
	x.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
	assert_int_equal(ac_lt_product_of(&x).asked, AC_ASKED_TF32);
	x.a.type = CUDA_R_16F;
	assert_int_equal(ac_lt_product_of(&x).type, AC_TYPE_OTHER);
}

CASES_RUN(NULL, NULL)
