/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/product.c -- descriptors made one product (shim/lt/product.h). A
 * matrix in row order is the transpose of one in column order, so a D in row
 * order is computed as D^T = op(B)^T op(A)^T. */
#include "shim/lt/product.h"

#include <cublasLt.h>

const struct ac_lt_epilogue ac_lt_epilogues[AC_EPILOGUE_INPUT_SUMS] = {
#define EPILOGUE(id, value, activation, aux, bias, gradient)              \
	[AC_EPILOGUE_##id] = { value, AC_ACTIVATION_##activation,         \
	    AC_LT_AUX_##aux, bias, gradient },
#include "shim/lt/epilogues.def"
};

/* By its value alone. */
static enum ac_epilogue
epilogue_named(const struct ac_lt_content *x)
{
	unsigned i = 0;

	if (x->epilogue == CUBLASLT_EPILOGUE_BGRADA
	    || x->epilogue == CUBLASLT_EPILOGUE_BGRADB)
		return AC_EPILOGUE_INPUT_SUMS;
	while (i < AC_EPILOGUE_INPUT_SUMS
	    && (int32_t)ac_lt_epilogues[i].value != x->epilogue)
		i++;
	return i == AC_EPILOGUE_INPUT_SUMS ? AC_EPILOGUE_OTHER
	    : (enum ac_epilogue)i;
}

/* A bias runs along the rows of D: columns, where D is in row order. */
static enum ac_epilogue
epilogue_of(const struct ac_lt_content *x)
{
	const enum ac_epilogue named = epilogue_named(x);
	const bool follows = named != AC_EPILOGUE_DEFAULT
	    && named != AC_EPILOGUE_INPUT_SUMS;

	return follows && x->d.order == CUBLASLT_ORDER_ROW ? AC_EPILOGUE_OTHER
	    : named;
}

const char *
ac_lt_other_name(const struct ac_lt_content *x)
{
	if (epilogue_named(x) == AC_EPILOGUE_OTHER)
		return "an unknown epilogue";
	if (epilogue_of(x) == AC_EPILOGUE_OTHER)
		return "an epilogue in row order";
	return "types or sizes";
}

static bool
is_fp32(int32_t type)
{
	return type == -1 || type == CUDA_R_32F; /* -1: as D */
}

static bool
is_transposed(int32_t trans, const struct ac_lt_matrix *x)
{
	return (trans != CUBLAS_OP_N) != (x->order == CUBLASLT_ORDER_ROW);
}

static bool
is_matrix(const struct ac_lt_matrix *x, int32_t batch)
{
	return x->rows > 0 && x->cols > 0 && x->batch == batch
	    && (x->order == CUBLASLT_ORDER_COL
	    || x->order == CUBLASLT_ORDER_ROW);
}

/* One matrix has no stride. */
static struct ac_lt_stored
stored(const struct ac_lt_matrix *x)
{
	return (struct ac_lt_stored){ x->ld, x->batch > 1 ? x->stride : 0 };
}

static bool
is_operation(int32_t trans)
{
	return trans == CUBLAS_OP_N || trans == CUBLAS_OP_T
	    || trans == CUBLAS_OP_C;
}

/* Whether the sizes, orders and types make a product that a recipe knows. */
static bool
is_understood(const struct ac_lt_content *x, int64_t k)
{
	const bool ta = x->transa != CUBLAS_OP_N, tb = x->transb != CUBLAS_OP_N;

	return !x->unsupported
	    && is_operation(x->transa) && is_operation(x->transb)
	    && is_matrix(&x->a, x->d.batch)
	    && is_matrix(&x->b, x->d.batch) && is_matrix(&x->c, x->d.batch)
	    && is_matrix(&x->d, x->d.batch) && x->c.order == x->d.order
	    && x->c.rows == x->d.rows && x->c.cols == x->d.cols
	    && (ta ? x->a.cols : x->a.rows) == x->d.rows
	    && (tb ? x->b.rows : x->b.cols) == x->d.cols
	    && (tb ? x->b.cols : x->b.rows) == k
	    && x->c.type == x->d.type && x->scale == CUDA_R_32F
	    && is_fp32(x->bias_type) && is_fp32(x->aux_type)
	    && (x->pointer_mode == CUBLAS_POINTER_MODE_HOST
	    || x->pointer_mode == CUBLAS_POINTER_MODE_DEVICE);
}

/* D^T: A and B change places, and each is transposed once more. */
static void
swap(struct ac_lt_product *p)
{
	const struct ac_lt_stored a = p->a;
	const bool ta = p->transa == CUBLAS_OP_N, tb = p->transb == CUBLAS_OP_N;
	const int64_t m = p->m;

	p->a = p->b, p->b = a;
	p->m = p->n, p->n = m;
	p->transa = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
	p->transb = ta ? CUBLAS_OP_T : CUBLAS_OP_N;
	p->swapped = true;
}

struct ac_lt_product
ac_lt_product_of(const struct ac_lt_content *x)
{
	const enum ac_asked asked = ac_asked_by_compute(x->compute);
	struct ac_lt_product p = {
		.transa = is_transposed(x->transa, &x->a) ? CUBLAS_OP_T
		    : CUBLAS_OP_N,
		.transb = is_transposed(x->transb, &x->b) ? CUBLAS_OP_T
		    : CUBLAS_OP_N,
		.m = x->d.rows, .n = x->d.cols,
		.k = x->transa == CUBLAS_OP_N ? x->a.cols : x->a.rows,
		.batch = x->d.batch, .a = stored(&x->a), .b = stored(&x->b),
		.c = stored(&x->c), .d = stored(&x->d),
		.pointer_mode = (cublasPointerMode_t)x->pointer_mode,
		.epilogue = epilogue_of(x),
		.type = ac_type_class_of((cudaDataType)x->a.type,
		    (cudaDataType)x->b.type, (cudaDataType)x->d.type,
		    x->compute),
		.asked = asked == AC_ASKED_UNSAID ? AC_ASKED_FP32 : asked
	};

	if (!is_understood(x, p.k))
		p.epilogue = AC_EPILOGUE_OTHER;
	if (x->d.order == CUBLASLT_ORDER_ROW)
		swap(&p);
	return p;
}
